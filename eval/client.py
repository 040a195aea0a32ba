"""Real servers behind `forebay wrap`, asked through the official Python SDK over stdio.

Beside each runs the same server on its own, which gives what a model would have to read without
Forebay.
"""

import os
import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

import peers
import tokens
from direct import Direct

PATIENCE_SECS = 120
# Even middling results are kept. Not by the general threshold, which replies may not exceed either.
SETTINGS = """
[tools."*"]
threshold = 500
"""
HANDLE = re.compile(r"\bdataset_[a-z0-9]{8}(?![a-z0-9])")


def servers():
    """The commands of the real servers, by the names that items give them."""
    filesystem = peers.ROOT / "node/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    return {
        "filesystem": ["node", str(filesystem), str(peers.ROOT)],
        "git": [str(peers.python_of("python")), "-m", "mcp_server_git"],
    }


@dataclass
class Reply:
    """What a tool gave: the data, and a note for the model if there is one."""

    text: str
    note: str
    is_error: bool

    @property
    def handle(self):
        """The dataset that the reply points to."""
        found = HANDLE.search(self.note) or HANDLE.search(self.text)
        return found[0] if found else None

    @property
    def tokens(self):
        return tokens.count(self.text) + tokens.count(self.note)


@dataclass
class Session:
    """A server, on its own and behind Forebay."""

    direct: Direct
    wrapped: Client
    definitions: list = field(default_factory=list)

    async def find_injected_tools(self):
        """Notes the definitions of the tools that only the wrapped server has."""
        own = {tool["name"] for tool in self.direct.ask("tools/list", {})["tools"]}
        tools = (await self.wrapped.list_tools()).tools
        dumped = (tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools)
        self.definitions = [tool for tool in dumped if tool["name"] not in own]

    async def ask(self, tool, arguments):
        try:
            result = await self.wrapped.call_tool(tool, arguments)
        except MCPError as error:
            return Reply(str(error), "", is_error=True)
        texts = [block.text for block in result.content if block.type == "text"]
        return Reply(texts[0] if texts else "", "\n".join(texts[1:]), bool(result.is_error))


async def open_sessions(stack: AsyncExitStack, forebay, home):
    """A session with each server, until `stack` closes. What they log goes to a file."""
    sessions = {}
    (Path(home) / "forebay.toml").write_text(SETTINGS)
    log = stack.enter_context(open(peers.TARGET / "eval/servers.log", "w"))

    def connect(command):
        # The whole environment goes on: the SDK would hand down a handful of variables only.
        environment = dict(os.environ) | {"FOREBAY_HOME": str(home)}
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=environment)
        transport = stdio_client(parameters, errlog=log)
        client = Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_SECS)
        return stack.enter_async_context(client)

    for name, command in servers().items():
        direct = stack.enter_context(Direct(command, log))
        wrap = [forebay, "wrap", "--name", name, "--", *command]
        wrapped = await connect(wrap)
        sessions[name] = Session(direct, wrapped)
        await sessions[name].find_injected_tools()
    return sessions


def run(main, *arguments):
    return anyio.run(main, *arguments)
