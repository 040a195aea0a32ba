"""A session with Forebay, as a client has one: a server of ours behind `forebay wrap`."""

import json
import os
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")


class Refused(Exception):
    """Forebay answered with an error."""


class Session:
    """Calls tools through Forebay. What is kept lies in `home`."""

    def __init__(self, program, home, summary_tokens):
        self.program, self.home, self.count = program, Path(home), 0
        self.home.mkdir(parents=True, exist_ok=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
        self.environment |= {
            "FOREBAY_HOME": str(self.home), "FOREBAY_REPLY_TOKENS": "1000000",
            "FOREBAY_SUMMARY_TOKENS": str(summary_tokens), "FOREBAY_TOKENIZER": "estimate", "FOREBAY_QUERY_THREADS": "1",
        }
        command = [program, "wrap", "--threshold", "1", "--tools", "full", "--", sys.executable, "-B", str(SERVER)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment
        )
        client = {"name": "nested", "version": "0"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, parameters):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": parameters})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the program ended with {self.process.wait()}")
            message = json.loads(line)
            if message.get("id") == self.count and "method" not in message:
                if "error" in message:
                    raise Refused(json.dumps(message["error"]))
                return message["result"]

    def produce(self, result, tool="records"):
        """What the model gets of a result, given as JSON."""
        file = self.home / "result.json"
        file.write_text(result, encoding="utf-8")
        return self.request("tools/call", {"name": tool, "arguments": {"file": str(file)}})

    def rows(self, query):
        """The rows of a query, each an object."""
        result = self.request("tools/call", {
            "name": "analyze-with-duckdb", "arguments": {"query": query, "format": "json", "max_tokens": 1000000},
        })
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise Refused(text)
        # What else is said is that there are more rows than are shown, or none.
        if len(result["content"]) > 1 and text != "[]":
            raise Refused(result["content"][1]["text"])
        return json.loads(text)

    def metadata(self, dataset):
        """What is known of a dataset, as its file has it."""
        return json.loads(self.kept(f"{dataset}_metadata.json"))

    def kept(self, name):
        """The text of a file of a dataset."""
        (file,) = self.home.glob(f"datasets/*/*/*/{name}")
        return file.read_bytes().decode()
