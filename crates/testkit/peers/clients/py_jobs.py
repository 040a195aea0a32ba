"""A client whose calls become jobs: the Python SDK (mcp 2.x).

    python clients/py_jobs.py TOOL,TOOL… --era legacy|modern -- COMMAND ARGS…

Lists the tools, calls each that is named and asks about its job until that has ended, and prints one line of
JSON: `{TOOL: {"notice": what the call gave, "status": what the job ended with}}`.
"""

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import Implementation
from py_client import PATIENCE_SECS


async def report(names: list[str], era: str, command: list[str]) -> dict[str, Any]:
    client = Client(
        # The whole environment goes on: the SDK would hand down a handful of variables only.
        StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ)),
        mode="legacy" if era == "legacy" else "auto",
        client_info=Implementation(name="py-jobs-peer", version="1.0.0"),
        read_timeout_seconds=PATIENCE_SECS,
    )
    async with client:
        await client.list_tools()
        return {name: await outcome(client, name) for name in names}


async def outcome(client: Client, name: str) -> dict[str, Any]:
    notice = await call(client, name, {})
    job = json.loads(notice["content"][0]["text"])["job_id"]
    while True:
        status = await call(client, "get_run_status", {"job_id": job, "wait_seconds": 10})
        if json.loads(status["content"][0]["text"])["status"] != "running":
            return {"notice": notice, "status": status}


async def call(client: Client, name: str, given: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, given)
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main() -> None:
    names, flag, era, dashes, *command = sys.argv[1:]
    if (flag, dashes) != ("--era", "--") or era not in ("legacy", "modern"):
        sys.exit(__doc__)
    # A hang must end as a failed run, not as a stuck test.
    with anyio.fail_after(60):
        print(json.dumps(await report(names.split(","), era, command)))


if __name__ == "__main__":
    anyio.run(main)
