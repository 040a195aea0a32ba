"""An MCP server on stdio whose tools, whatever they are called, return what a file holds.

The file is named by the argument `file`, and has the result of the call as JSON. It is passed on as it
is, so that what is in it need not be anything that Python would write: numbers of many digits, keys
that stand twice.
"""

import json
import sys
from pathlib import Path


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params", {}))
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":{result}}}\n')
            sys.stdout.flush()


def answer(method, parameters):
    if method == "initialize":
        about = {"name": "nested", "version": "1"}
        version = parameters["protocolVersion"]
        return json.dumps({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
    if method == "tools/list":
        return json.dumps({"tools": [{"name": "records", "inputSchema": {"type": "object"}}]})
    if method == "tools/call":
        return Path(parameters["arguments"]["file"]).read_text(encoding="utf-8")
    return "{}"


if __name__ == "__main__":
    main()
