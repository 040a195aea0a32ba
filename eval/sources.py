"""What the servers return without Forebay, read with Python's own means for the expected answers."""

import csv
import io
import json
import re
import xml.etree.ElementTree as xml
from collections import namedtuple
from functools import cached_property

import yaml

NO_VALUE = {"", "NA"}


class Source:
    """The text of one item, and what it reads as."""

    def __init__(self, text):
        self.text = text

    @cached_property
    def lines(self):
        """As `wc -l` and editors count them."""
        lines = self.text.removesuffix("\n").split("\n")
        return [line.removesuffix("\r") for line in lines]

    @cached_property
    def json(self):
        return json.loads(self.text)

    @cached_property
    def ndjson(self):
        return [json.loads(line) for line in self.lines]

    @cached_property
    def rows(self):
        """The records of a CSV file, as tuples with names; `a.b` becomes `a_b`."""
        header, *cells = csv.reader(io.StringIO(self.text, newline=""))
        columns = [typed(column) for column in zip(*cells)]
        row = namedtuple("row", [re.sub(r"\W", "_", name) for name in header])
        return [row(*values) for values in zip(*columns)]

    @cached_property
    def xml(self):
        """The attributes of the root's children."""
        return [child.attrib for child in xml.fromstring(self.text)]

    @cached_property
    def yaml(self):
        """The document, with every scalar as it is written."""
        return yaml.load(self.text, yaml.CBaseLoader)

    @cached_property
    def stanzas(self):
        """Paragraphs of `Name: value`; further lines of a value are joined to it."""
        return [stanza(part) for part in self.text.split("\n\n") if part.strip()]

    @cached_property
    def commits(self):
        """What `git_log` prints; a message may hold blank lines."""
        parts = re.split(r"(?m)^(?=Commit: )", self.text)[1:]
        pattern = r"Commit: (.*)\nAuthor: (.*)\nDate: (.*)\nMessage: ((?s:.*))"
        commit = namedtuple("commit", ["hash", "author", "date", "message"])
        return [commit(*re.match(pattern, part).groups()) for part in parts]

    @cached_property
    def cells(self):
        """The rows of the first Markdown table, without the header."""
        rows = [line for line in self.lines if line.startswith("|")]
        return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def typed(column):
    """A column of cells: numbers if all that have a value are, else texts."""
    given = set(column)
    for kind in (int, float):
        try:
            read = {text: None if text in NO_VALUE else kind(text) for text in given}
        except ValueError:
            continue
        return [read[text] for text in column]
    texts = {text: text or None for text in given}
    return [texts[text] for text in column]


def stanza(part):
    found, name = {}, None
    for line in part.splitlines():
        if line[0] in " \t":
            found[name] += "\n" + line
        else:
            name, _, value = line.partition(":")
            found[name] = value.strip()
    return found
