"""A client of both eras that follows links: the Python SDK (mcp 2.x), over stdio or HTTP.

    python clients/py_links.py --era legacy|modern --tool NAME [--arguments JSON] -- COMMAND ARGS…   or a URL

It calls the tool, reads everything that the result links to with `resources/read`, whole and in a range, and
over HTTP too where the link is a URL. It prints one line of JSON: how long the reply was, the progress that came
before it, and the SHA-256 of what was read. ts_links.mjs does the same.
"""

import argparse
import base64
import hashlib
import json
import urllib.request
from typing import Any

import anyio

from py_client import Peer

RANGE = (1000, 4999)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def payload(content: Any) -> bytes:
    blob = getattr(content, "blob", None)
    return base64.b64decode(blob) if blob is not None else content.text.encode()


def fetched(uri: str, headers: dict[str, str]) -> dict[str, Any]:
    with urllib.request.urlopen(urllib.request.Request(uri, headers=headers)) as answer:
        data = answer.read()
        length = int(answer.headers["Content-Length"])
        return {"status": answer.status, "type": answer.headers["Content-Type"], "length": length, "sha256": sha256(data)}


async def follow(client: Any, link: Any) -> dict[str, Any]:
    uri = str(link.uri)
    whole = (await client.read_resource(uri)).contents[0]
    report = {
        "uri": uri,
        "name": link.name,
        "mimeType": link.mime_type,
        "size": link.size,
        "description": link.description,
        "read": sha256(payload(whole)),
    }
    first, last = RANGE
    if uri.startswith("http"):
        report["fetched"] = await anyio.to_thread.run_sync(fetched, uri, {})
        report["part"] = await anyio.to_thread.run_sync(fetched, uri, {"Range": f"bytes={first}-{last}"})
    else:
        part = (await client.read_resource(f"{uri}&bytes={first}-{last}")).contents[0]
        report["part"] = {"sha256": sha256(payload(part))}
    return report


async def run(era: str, tool: str, given: dict[str, Any], words: list[str]) -> dict[str, Any]:
    progress: list[float] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)

    async with Peer(era, words).client as client:
        result = await client.call_tool(tool, given, progress_callback=on_progress)
        reply = result.model_dump_json(by_alias=True, exclude_none=True)
        links = [block for block in result.content if block.type == "resource_link"]
        return {
            "bytes": len(reply),
            "progress": len(progress),
            "links": [await follow(client, link) for link in links],
            "texts": [block.text for block in result.content if block.type == "text"],
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern"], required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--arguments", type=json.loads, default={})
    parser.add_argument("words", nargs="+")
    given = parser.parse_args()
    print(json.dumps(anyio.run(run, given.era, given.tool, given.arguments, given.words), ensure_ascii=False))
