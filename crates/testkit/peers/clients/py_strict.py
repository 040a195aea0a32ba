"""A strict client: the Python SDK (mcp 2.x) holds structured content against the output schema.

    python clients/py_strict.py TOOL,TOOL… --era legacy|modern -- COMMAND ARGS…

Calls the tools, lists them, calls them again, and prints one line of JSON:
`{"schemas": {TOOL: its schema}, "unlisted": {TOOL: OUTCOME}, "listed": {TOOL: OUTCOME}}`, where an
outcome is `{"result": …}` or `{"error": its message}`. Called before the tools are listed, the SDK
lists them by itself.
"""

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import Implementation
from py_client import PATIENCE_SECS, Tasks


async def report(names: list[str], era: str, command: list[str]) -> dict[str, Any]:
    client = Client(
        # The whole environment goes on: the SDK would hand down a handful of variables only.
        StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ)),
        mode="legacy" if era == "legacy" else "auto",
        client_info=Implementation(name="py-strict-peer", version="1.0.0"),
        read_timeout_seconds=PATIENCE_SECS,
        extensions=[Tasks()],
    )
    async with client:
        if (client.protocol_version == "2026-07-28") != (era == "modern"):
            raise RuntimeError(f"the server speaks {client.protocol_version}")
        unlisted = {name: await outcome(client, name) for name in names}
        tools = (await client.list_tools()).tools
        listed = {name: await outcome(client, name) for name in names}
    schemas = {tool.name: tool.output_schema for tool in tools}
    return {"schemas": schemas, "unlisted": unlisted, "listed": listed}


async def outcome(client: Client, name: str) -> dict[str, Any]:
    try:
        result = await client.call_tool(name, {})
    except Exception as error:
        return {"error": str(error)}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}


async def main() -> None:
    names, flag, era, dashes, *command = sys.argv[1:]
    if (flag, dashes) != ("--era", "--") or era not in ("legacy", "modern"):
        sys.exit(__doc__)
    # A hang must end as a failed run, not as a stuck test.
    with anyio.fail_after(60):
        print(json.dumps(await report(names.split(","), era, command)))


if __name__ == "__main__":
    anyio.run(main)
