"""FastMCP's proxy in front of a command, on stdio. The arguments are the command.

One upstream session for all calls, because what it does unless told (a session for each) is slower.
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


async def main(command, *arguments):
    async with Client(StdioTransport(command, list(arguments)), mode="legacy") as client:
        await create_proxy(client).run_stdio_async(show_banner=False, log_level="error")


asyncio.run(main(*sys.argv[1:]))
