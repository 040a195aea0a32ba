"""A client of both eras in front of many servers: the Python SDK (mcp 2.x), over stdio or HTTP.

    python clients/py_gateway.py --era legacy|modern --plan JSON -- COMMAND ARGS…   or a URL

What it does and prints is what ts_gateway.mjs does and prints.
"""

import argparse
import json
from typing import Any

import anyio

from py_client import Peer

# Eight servers start at once, which takes a while on a busy machine.
START_SECS = 60


class Gateway:
    def __init__(self, era: str, plan: dict[str, Any], words: list[str]) -> None:
        self.plan = plan
        self.client = Peer(era, words).client

    async def report(self) -> dict[str, Any]:
        async with self.client as client:
            # In the modern era nothing else says that somebody is there: it is what starts the servers.
            await client.list_tools()
            with anyio.fail_after(START_SECS):
                while not await self.every_server_is_open():
                    await anyio.sleep(0.05)
            return {
                "version": client.protocol_version,
                "tools": [tool.name for tool in (await client.list_tools()).tools],
                "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
                "resources": [str(resource.uri) for resource in (await client.list_resources()).resources],
                "calls": [await self.call(*call) for call in self.plan["calls"]],
                "gotPrompts": [
                    (await client.get_prompt(*prompt)).messages[0].content.text for prompt in self.plan["prompts"]
                ],
                "readResources": [(await client.read_resource(uri)).contents[0].text for uri in self.plan["resources"]],
            }

    async def every_server_is_open(self) -> bool:
        servers = json.loads(await self.call("list_servers", {}))["servers"]
        opened = {server["name"] for server in servers if server["state"] == "open" and "tools" in server}
        return opened.issuperset(self.plan["servers"])

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        return (await self.client.call_tool(name, arguments)).content[0].text


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern"], required=True)
    parser.add_argument("--plan", type=json.loads, required=True)
    parser.add_argument("words", nargs="+")
    arguments = parser.parse_args()
    print(json.dumps(anyio.run(Gateway(arguments.era, arguments.plan, arguments.words).report), ensure_ascii=False))
