"""Reads documents into tables, each value as it is written, with Python's own parsers.

A table is a number of records and, for each field, how often each value occurs. A value is a pair:
its sort (`number`, `boolean`, `text`, `list`, `struct`) and its text, decoded if it is a string.
Nothing here is shared with Forebay, nor made after it. What takes long is read once and remembered.
"""

import csv
import functools
import io
import itertools
import json
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter

import flow

csv.field_size_limit(sys.maxsize)

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
SPACE = re.compile(r"[ \t\r\n]*")
STEP = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]|(?P<each>\[\])')
CHUNK = 20_000


class Table:
    def __init__(self):
        self.records = 0
        self.fields = {}
        # Fields with values of several lines, whose exact text is a matter of taste.
        self.several_lines = set()

    def count(self, name, value):
        if value is not None:
            self.fields.setdefault(name, Counter())[value] += 1
        else:
            self.fields.setdefault(name, Counter())

    def nulls(self, name):
        return self.records - self.fields[name].total()


class NoSuchTable(Exception):
    """The document has no table of this kind at this path."""


# JSON


def skip(text, at):
    return SPACE.match(text, at).end()


def value_at(text, at):
    """The value that starts at `at`, and where it ends."""
    decoded, end = DECODER.raw_decode(text, at)
    first = text[at]
    if first == "{":
        return ("struct", text[at:end]), end
    if first == "[":
        return ("list", text[at:end]), end
    if first == '"':
        return ("text", decoded), end
    if decoded is None:
        return None, end
    return ("boolean" if isinstance(decoded, bool) else "number", text[at:end]), end


DECODER = json.JSONDecoder(strict=False)


def members(text, at):
    """The members of the object at `at`: key, where its value starts, the value."""
    at = skip(text, at + 1)
    while text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        start = skip(text, skip(text, at) + 1)
        value, at = value_at(text, start)
        yield key, start, value
        at = skip(text, at)
        if text[at] == ",":
            at = skip(text, at + 1)


def elements(text, at):
    """The elements of the array at `at`: where each starts, its value."""
    at = skip(text, at + 1)
    while text[at] != "]":
        value, end = value_at(text, at)
        yield at, value
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def steps(path):
    """`$.data.edges[].node` → ["data", "edges", None, "node"]."""
    if not path.startswith("$"):
        raise NoSuchTable(f"{path} is not a path")
    at, found = 1, []
    while at < len(path):
        step = STEP.match(path, at)
        if not step:
            raise NoSuchTable(f"{path} is not a path")
        quoted = step["quoted"]
        found.append(None if step["each"] else json.loads(quoted) if quoted else step["name"])
        at = step.end()
    return found


def member(text, at, name, path):
    if text[at] == "{":
        for key, start, _ in members(text, at):
            if key == name:
                return start
    raise NoSuchTable(f"there is nothing at {path}")


@functools.cache
def json_table(text, path, kind):
    """The table of this kind at `path` in a JSON document."""
    way = steps(path)
    wrappers = []
    if None in way:
        each = way.index(None)
        way, wrappers = way[:each], way[each + 1 :]
    at = skip(text, 0)
    for name in way:
        at = member(text, at, name, path)
    readers = {
        "list": ("[", listed),
        "map": ("{", mapped),
        "columns": ("{", columns),
        "rows": ("[", rows),
        "values": ("[", values),
        "object": ("{", single),
    }
    opening, reader = readers.get(kind, (None, None))
    if text[at] != opening:
        raise NoSuchTable(f"what is at {path} cannot be of kind {kind}")
    return reader(text, at, path, wrappers)


def add_record(table, text, at, path):
    if text[at] != "{":
        raise NoSuchTable(f"a record at {path} is no object: {text[at : at + 40]}")
    table.records += 1
    for name, _, value in members(text, at):
        table.count(name, value)


def listed(text, at, path, wrappers):
    table = Table()
    for start, _ in elements(text, at):
        for name in wrappers:
            start = member(text, start, name, path)
        add_record(table, text, start, path)
    return table


def mapped(text, at, path, _):
    table = Table()
    for key, start, value in members(text, at):
        table.count(None, ("text", key))
        if text[start] == "{":
            add_record(table, text, start, path)
        else:
            table.records += 1
            table.count("value", value)
    # The keys are a column, under another name if the records have one that is called so.
    name = "_key" if "key" in table.fields else "key"
    table.fields = {name if field is None else field: counts for field, counts in table.fields.items()}
    return table


def single(text, at, path, _):
    table = Table()
    add_record(table, text, at, path)
    return table


def columns(text, at, path, _):
    table, lengths = Table(), set()
    for name, start, value in members(text, at):
        if value is None or value[0] != "list":
            raise NoSuchTable(f"{path} has a member that is no column: {name}")
        cells = [cell for _, cell in elements(text, start)]
        lengths.add(len(cells))
        for cell in cells:
            table.count(name, cell)
    if len(lengths) != 1:
        raise NoSuchTable(f"the columns at {path} are of different lengths")
    table.records = lengths.pop()
    return table


def rows(text, at, path, _):
    table, header = Table(), None
    for start, value in elements(text, at):
        if value is None or value[0] != "list":
            raise NoSuchTable(f"a row at {path} is no list")
        cells = [cell for _, cell in elements(text, start)]
        if header is None:
            header = [cell[1] for cell in cells]
            continue
        table.records += 1
        for name, cell in itertools.zip_longest(header, cells):
            table.count(name, cell)
    return table


def values(text, at, _path, _wrappers):
    table = Table()
    for _, value in elements(text, at):
        table.records += 1
        table.count("value", value)
    return table


def ndjson(text):
    table = Table()
    for line in text.split("\n"):
        if line.strip():
            add_record(table, line, skip(line, 0), "$")
    return table


# Cells


def cell(text):
    """A cell is typed by its text; an empty one has no value."""
    if text == "":
        return None
    if NUMBER.fullmatch(text):
        return ("number", text)
    if text.lower() in ("true", "false"):
        return ("boolean", text)
    return ("text", text)


def grid(header, lines):
    """A table of rows of cells. They are counted before they are typed: there may be millions."""
    table = Table()
    counts = [Counter() for _ in header]
    lines = (line for line in lines if line)
    while chunk := list(itertools.islice(lines, CHUNK)):
        table.records += len(chunk)
        for count, column in zip(counts, itertools.zip_longest(*chunk, fillvalue="")):
            count.update(column)
    for name, count in zip(header, counts):
        typed = ((cell(text), times) for text, times in count.items())
        table.fields[name] = Counter({value: times for value, times in typed if value})
    return table


@functools.cache
def separated(text, delimiter):
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return grid(next(lines), lines)


def markdown(text):
    """Every pipe table outside code."""
    lines = iter(re.sub(r"(?ms)^(```|~~~).*?^\1", "", text).splitlines())
    tables, header = [], None
    for line in lines:
        if header and re.fullmatch(r"\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*", line) and "-" in line:
            body = itertools.takewhile(lambda row: "|" in row, lines)
            tables.append(grid(header, [pipe_cells(row) for row in body]))
            header = None
        else:
            header = pipe_cells(line) if "|" in line else None
    return tables


def pipe_cells(line):
    inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
    return [part.strip() for part in re.split(r"(?<!\\)\|", inner)]


# Others


def yaml(text):
    """A list of records in YAML, each `- { … }` on its line."""
    table = Table()
    for line in text.splitlines():
        if not line.startswith("- {"):
            raise NoSuchTable(f"not read by this check: {line[:40]}")
        table.records += 1
        for name, value in flow.record(line[2:]).items():
            table.count(name, value)
    return table


def xml_records(text):
    """The children of the root that have the same name, with their attributes."""
    root = xml.fromstring(text)
    name, _ = Counter(child.tag for child in root).most_common(1)[0]
    table = Table()
    for child in root.iterfind(name):
        table.records += 1
        for field, value in child.attrib.items():
            table.count(field, cell(value))
    return table


def stanzas(text, first):
    """Paragraphs of `Name: value` that begin with the field `first`; a value may have more lines."""
    table = Table()
    for stanza in re.split(rf"(?m)^(?={first}: )", text)[1:]:
        table.records += 1
        found = {}
        name = None
        for line in stanza.splitlines():
            named = re.match(r"([A-Za-z][A-Za-z0-9-]*):(?: |$)(.*)", line)
            if named and named[1] not in found:
                name = named[1]
                found[name] = named[2]
            elif line.strip():
                found[name] += "\n" + line
                table.several_lines.add(name)
        for name, value in found.items():
            table.count(name, cell(value))
    return table


def lines(text):
    """Each line that is not blank, as it is."""
    table = Table()
    table.fields["value"] = Counter(("text", line) for line in text.splitlines() if line.strip())
    table.records = table.fields["value"].total()
    return table
