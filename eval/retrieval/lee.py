"""50 news articles, and how alike people found each two of them (Lee, Pincombe and Welsh, 2005).

From the tests of the package gensim. A question is the first sentence of an article; relevant are the
article itself and those that people found at least half alike, graded by how alike.
"""

import hashlib
import re

DATA = "gensim/test/test_data"
SHA256 = {
    "lee.cor": "a878f9a58f6743c32985c56c2f2f75988386216b38a4023a01fd3bcf7884d93e",
    "similarities0-1.txt": "23762bc6b728897144dda3d324a2c032dc1e059e1009806226d64b6dd123ed79",
}
MIN_SIMILARITY = 0.5


def read(directory):
    """The documents and the queries; `directory` is where the package is installed."""
    articles = verified(directory, "lee.cor").strip().split("\n")
    rows = verified(directory, "similarities0-1.txt").strip().split("\n")
    similarities = [[float(cell) for cell in row.split()] for row in rows]
    documents, queries = [], []
    for number, article in enumerate(articles):
        text = " ".join(article.split())
        id = str(number + 1)
        documents.append({"id": id, "title": "", "text": text, "server": "news", "tool": "article"})
        relevant = {
            str(other + 1): value
            for other, value in enumerate(alike(similarities, number))
            if value >= MIN_SIMILARITY
        }
        queries.append({"id": id, "text": first_sentence(text), "relevant": relevant})
    return documents, queries


def alike(similarities, number):
    """How like an article each is; of a pair only the lower number's row tells, the other has 0 there."""
    return [
        max(similarities[number][other], similarities[other][number])
        for other in range(len(similarities))
    ]


def first_sentence(text):
    return re.split(r"(?<=[.!?]) (?=[A-Z\"'])", text)[0]


def verified(directory, name):
    content = (directory / DATA / name).read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        raise SystemExit(f"{name} of the package is another than the figures are about")
    return content.decode("latin-1")
