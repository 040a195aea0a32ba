"""Cranfield 1400: abstracts about aerodynamics, 225 questions of engineers, and what is relevant to them.

Read from the collection's own files. The codes of `cranqrel` are Cleverdon's: 1 for a complete answer
down to 4 for minimum interest; the gain is 5 less the code, so that 4 is the best. A code of -1, which
he does not define, stands once with each question; it gains nothing.
"""

import hashlib
import re

# The words of the collection, however its lines end; another edition would give other figures.
SHA256 = {
    "cran.all.1400": "185d63846dc0bd92912f720caf9c575e72114dd0681e89ec5e8963779ba359ed",
    "cran.qry": "ab57cb655059ad2bff462564f47b8708070155a0202d0cdfd362a7e229fdea3d",
}
JUDGEMENTS = 1837


def read(directory):
    """The documents and the queries, from a folder with `cran.all.1400`, `cran.qry` and `cranqrel`."""
    judged = gains((directory / "cranqrel").read_text())
    documents = [document(part) for part in parts(verified(directory, "cran.all.1400"))]
    # The judgements number the questions in their order, not by the numbers that they bear.
    queries = [
        {"id": str(number), "text": joined(part.split(".W\n")[1]), "relevant": judged[str(number)]}
        for number, part in enumerate(parts(verified(directory, "cran.qry")), 1)
    ]
    return documents, queries


def verified(directory, name):
    text = (directory / name).read_text()
    if hashlib.sha256(joined(text).encode()).hexdigest() != SHA256[name]:
        raise SystemExit(f"{directory / name} is not the edition that the figures are about")
    return text


def parts(text):
    return re.split(r"(?m)^\.I ", text)[1:]


def document(part):
    """An abstract begins with its title, which is told once here."""
    number, title, text = re.match(r"(\d+)\s*\n\.T\n(.*?)\.A\n.*?\.W\n(.*)", part, re.DOTALL).groups()
    title, text = joined(title), joined(text)
    text = text.removeprefix(title).strip()
    return {"id": number, "title": title, "text": text, "server": "cranfield", "tool": "abstract"}


def joined(text):
    return " ".join(text.split())


def gains(text):
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if len(lines) != JUDGEMENTS:
        raise SystemExit(f"there are {len(lines)} judgements in cranqrel, not {JUDGEMENTS}")
    judged = {}
    for query, found, code in lines:
        if int(code) > 0:
            judged.setdefault(query, {})[found] = 5 - int(code)
    return judged
