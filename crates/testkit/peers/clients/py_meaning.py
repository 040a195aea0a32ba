"""Finds again what was kept: the Python SDK (mcp 2.x) in front of a wrapped server, over stdio.

    python clients/py_meaning.py --era legacy|modern --path FILE --query WORDS -- COMMAND ARGS…

It has a file read, which is kept, asks until that is found, and prints one line of JSON: what each tool said.
"""

import argparse
import json
from typing import Any

import anyio

from py_client import Peer

# What is kept is indexed when nothing else has been kept for a moment.
PATIENCE_SECS = 60


class Reader:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.path, self.query = arguments.path, arguments.query
        self.client = Peer(arguments.era, arguments.words).client

    async def report(self) -> dict[str, Any]:
        async with self.client as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            kept = await self.texts("file", {"path": self.path})
            with anyio.fail_after(PATIENCE_SECS):
                while not (found := await self.said("semantic_search", {"query": self.query}))["results"]:
                    await anyio.sleep(0.1)
            best = found["results"][0]
            listed = await self.said("search_workspace", {"query": self.query, "tags": ["kind:text"]})
            ids = {"ids": [best["artifactId"]], "maxTokens": 300}
            lines = {"dataset_id": best["artifactId"], "lines": best["lines"]}
            return {
                "tools": tools,
                "kept": kept[0],
                "found": found,
                "lines": await self.said("read-saved-dataset", lines),
                "context": (await self.texts("get_artifact_context", ids))[0],
                "listed": listed,
                "file": await self.said("get_workspace_file", {"path": listed["files"][0]["path"], "limit": 100}),
            }

    async def texts(self, name: str, arguments: dict[str, Any]) -> list[str]:
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result
        return [block.text for block in result.content if block.type == "text"]

    async def said(self, name: str, arguments: dict[str, Any]) -> Any:
        return json.loads((await self.texts(name, arguments))[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern"], required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--query", required=True)
    parser.add_argument("words", nargs="+")
    print(json.dumps(anyio.run(Reader(parser.parse_args()).report), ensure_ascii=False))
