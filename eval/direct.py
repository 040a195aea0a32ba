"""A server asked without Forebay, for what a model would have to read.

Not through the SDK, which takes a minute for a line of some ten megabytes.
"""

import json
import subprocess


class Direct:
    """A server on its own, after the handshake."""

    def __init__(self, command, log):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log)
        client = {"name": "eval", "version": "0"}
        self.ask(
            "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        )
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def call(self, tool, arguments):
        """The text that a tool returns."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise SystemExit(f"{tool} failed: {result}")
        return result["content"][0]["text"]

    def ask(self, method, parameters):
        """The result of a request; what else the server says in between is passed over."""
        self.send({"id": 1, "method": method, "params": parameters})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == 1 and "method" not in message:
                return message["result"]
        raise SystemExit(f"the server ended before it answered {method}")

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        self.process.stdin.flush()
