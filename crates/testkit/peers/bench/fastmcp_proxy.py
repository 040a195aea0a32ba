"""FastMCP's proxy in front of an HTTP server, as fast as it can be had.

The arguments are the server's address and `legacy` or a modern revision. One upstream session for all
clients and JSON replies, because what it does unless told (a session for each call, SSE) is slower.
"""

import asyncio
import socket
import sys

from fastmcp import Client
from fastmcp.server import create_proxy


async def main(url, mode):
    # By the protocol's number asyncio knows that it is TCP, and does not hold small packets back.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    async with Client(url, mode=mode) as client:
        proxy = create_proxy(client)
        print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        await proxy.run_http_async(
            show_banner=False, sockets=[listener], json_response=True, log_level="error"
        )


asyncio.run(main(*sys.argv[1:]))
