"""100 questions about the real results of the corpus, each with the results that answer it.

`corpus.tsv` was written from what the sources are and hold, without a look at any index: keywords,
sentences, names of fields, values.
"""

import csv
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from direct import Direct  # noqa: E402 (lies in the folder above)


def read(peers, calls):
    """The documents and the queries; questions about results that cannot be had here are left out."""
    available = [call for call in calls if "unavailable" not in call]
    documents = list(results(peers, available))
    names = {call["name"] for call in available}
    with open(HERE / "corpus.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    queries = []
    for number, row in enumerate(rows, 1):
        sources = [name for name in row["sources"].split(" | ") if name in names]
        if sources:
            relevant = dict.fromkeys(sources, 1)
            queries.append({"id": str(number), "text": row["question"], "relevant": relevant})
    left_out = len(rows) - len(queries)
    if left_out:
        print(f"{left_out} questions about the corpus are left out: their sources are not there")
    return documents, queries


def results(peers, calls):
    """What the real servers return, whole."""
    with open(os.devnull, "w") as log:
        servers = {name: Direct(command, log) for name, command in commands(peers).items()}
        try:
            for call in calls:
                text = servers[call["server"]].call(call["tool"], call["arguments"])
                yield {
                    "id": call["name"],
                    "title": title(peers, call),
                    "text": text,
                    "server": call["server"],
                    "tool": call["tool"],
                }
        finally:
            for server in servers.values():
                server.__exit__()


def title(peers, call):
    """The call itself; paths from the folder of the packages on, which is another on each machine."""
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    return f"{call['tool']} {arguments}".replace(f"{peers.ROOT}/", "")


def commands(peers):
    filesystem = peers.ROOT / "node/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    return {
        "filesystem": ["node", str(filesystem), str(peers.ROOT)],
        "git": [str(peers.python_of("python")), "-m", "mcp_server_git"],
    }
