"""40 questions whose answers say the same in other words, among passages that answer nothing.

The questions, their answers and passages of the same servers stand in `paraphrased.tsv` and
`beside.tsv`; 200 further passages are descriptions of browsers' features and of Kubernetes' objects,
from the packages of the corpus.
"""

import csv
import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
FROM_EACH = 100
MIN_CHARACTERS, MAX_CHARACTERS = 80, 600


def pairs():
    return rows("paraphrased.tsv")


def rows(name):
    with open(HERE / name, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read(root):
    """The documents and the queries; `root` holds the packages of the corpus."""
    documents = [
        document(f"answer {number}", one, one["answer"]) for number, one in enumerate(pairs(), 1)
    ]
    documents += [
        document(f"beside {number}", one, one["text"]) for number, one in enumerate(rows("beside.tsv"), 1)
    ]
    documents += described(root)
    queries = [
        {"id": str(number), "text": one["question"], "relevant": {f"answer {number}": 1}}
        for number, one in enumerate(pairs(), 1)
    ]
    return documents, queries


def document(id, row, text):
    return {"id": id, "title": "", "text": text, "server": row["server"], "tool": row["tool"]}


def described(root):
    """Descriptions from two sources; which ones is chosen by a hash of the name, always the same."""
    features = json.loads((root / "node/node_modules/caniuse-db/data.json").read_text())["data"]
    objects = json.loads((root / "corpus/kubernetes-swagger.json").read_text())["definitions"]
    for source, records in (("caniuse", features), ("kubernetes", objects)):
        texts = {name: one.get("description", "") for name, one in records.items()}
        fitting = [name for name in texts if MIN_CHARACTERS <= len(texts[name]) <= MAX_CHARACTERS]
        fitting.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
        for name in fitting[:FROM_EACH]:
            title = records[name].get("title")
            text = f"{title}: {texts[name]}" if title else texts[name]
            yield document(f"{source} {name}", {"server": source, "tool": "describe"}, text)
