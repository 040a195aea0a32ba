"""FastMCP's proxy in front of the servers of a client's file, on stdio. The argument is the file.

One upstream session for all calls, because what it does unless told (all servers started anew for each
call) is slower.
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.server import create_proxy


async def main(file):
    with open(file) as text:
        config = json.load(text)
    async with Client(config, mode="legacy") as client:
        await create_proxy(client).run_stdio_async(show_banner=False, log_level="error")


asyncio.run(main(*sys.argv[1:]))
