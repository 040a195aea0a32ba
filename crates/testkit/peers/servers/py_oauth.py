"""An upstream on the Python SDK (mcp 2.x) over HTTP that asks for a login, and gives its tokens.

    python servers/py_oauth.py [--secret] [--open]

Prints its URL. Whoever opens the page to log in is let in at once. A refresh token can be spent
once: whoever spends it twice has all tokens revoked. `--secret` gives clients a secret, even if they
do not ask for one; with `--open` nobody has to log in. For tests there are `GET /seen`, which counts
what was asked for, and `POST /forget/access` and `POST /forget/all`, which make tokens invalid.
"""

import argparse
import secrets
import socket
import time
from collections import Counter

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth import routes
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken
from starlette.responses import JSONResponse, Response

arguments = argparse.ArgumentParser()
arguments.add_argument("--secret", action="store_true")
arguments.add_argument("--open", action="store_true")
options = arguments.parse_args()


class Provider:
    def __init__(self):
        self.seen = Counter()
        self.clients = {}
        self.codes = {}
        self.forget()

    def forget(self):
        self.access = {}
        self.refresh = {}
        self.spent = set()

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.seen["registered"] += 1
        if options.secret:
            client.client_secret = secrets.token_hex()
            client.token_endpoint_auth_method = "client_secret_post"
        self.clients[client.client_id] = client

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_hex(),
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, code):
        return self.codes.get(code)

    async def exchange_authorization_code(self, client, code):
        self.seen["logged_in"] += 1
        del self.codes[code.code]
        return self.give(client, code.scopes, code.resource)

    async def load_refresh_token(self, client, token):
        if token in self.spent:
            self.seen["spent_twice"] += 1
            self.forget()
        return self.refresh.get(token)

    async def exchange_refresh_token(self, client, token, scopes):
        self.seen["refreshed"] += 1
        del self.refresh[token.token]
        self.spent.add(token.token)
        self.access.clear()
        return self.give(client, scopes, token.resource)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.seen["revoked"] += 1
        self.forget()

    def give(self, client, scopes, resource):
        common = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        access = AccessToken(token="access-" + secrets.token_hex(), **common)
        refresh = RefreshToken(token="refresh-" + secrets.token_hex(), **common)
        self.access[access.token] = access
        self.refresh[refresh.token] = refresh
        return OAuthToken(
            access_token=access.token,
            refresh_token=refresh.token,
            expires_in=3600,
            scope=" ".join(scopes),
        )


def only_secrets_in_forms(*given, build=routes.build_metadata, **named):
    """The SDK takes an id from forms alone, though it offers the other way, too."""
    metadata = build(*given, **named)
    metadata.token_endpoint_auth_methods_supported = ["client_secret_post"]
    return metadata


routes.build_metadata = only_secrets_in_forms

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
provider = Provider()
if options.open:
    server = MCPServer("open")
else:
    settings = AuthSettings(
        issuer_url=origin,
        resource_server_url=f"{origin}/mcp",
        validate_token_resource=True,
        required_scopes=["orders"],
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["orders", "refunds"]
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    server = MCPServer("oauth", auth=settings, auth_server_provider=provider)


@server.tool()
def orders(count: int) -> list[dict]:
    return [{"id": number, "total": number * 3} for number in range(count)]


@server.custom_route("/seen", methods=["GET"])
async def seen(_):
    return JSONResponse(provider.seen)


@server.custom_route("/forget/{what}", methods=["POST"])
async def forget(request):
    if request.path_params["what"] == "all":
        provider.forget()
    else:
        provider.access.clear()
    return Response()


print(f"{origin}/mcp", flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="error")
uvicorn.Server(config).run(sockets=[listener])
