"""Reads documents into tables, with Python's own parsers.

A table of cells is a number of records and, for each field, how often each value occurs; a value is a
pair: its sort (`number`, `boolean`, `text`) and its text. Records that may hold others are kept whole:
numbers as they are written, everything else as Python has it.
Nothing here is shared with Forebay, nor made after it. What takes long is read once and remembered.
"""

import csv
import dataclasses
import functools
import io
import itertools
import json
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter

import flow
from flow import Number

csv.field_size_limit(sys.maxsize)

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
STEP = re.compile(
    r'\.\{(?P<names>[^}]*)\}|\.(?P<name>[^.\[]+)|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]|(?P<each>\[\])|\[(?P<place>[0-9]+)\]'
)
CHUNK = 20_000


class Table:
    """Records of cells."""

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


@dataclasses.dataclass
class Row:
    """A record, and what is known of it from around it: the keys of maps, and what it lies in."""

    record: dict
    around: dict = dataclasses.field(default_factory=dict)
    # The columns of a parent that come with it, by their names in SQL.
    carried: dict = dataclasses.field(default_factory=dict)


class NoSuchTable(Exception):
    """The document has no table of this kind at this path."""


# JSON


@functools.cache
def parsed(text):
    """The document, with numbers as they are written."""
    return json.loads(
        text, parse_int=Number, parse_float=Number, object_pairs_hook=first_of_each, strict=False
    )


def first_of_each(members):
    """An object; of several members with the same name, the first counts."""
    found = dict(members)
    if len(found) < len(members):
        found.update(reversed(members))
    return found


EACH, ANY = object(), object()


def steps(path):
    """`$.data.edges[].node` → ["data", "edges", EACH, "node"]; `*` is ANY member, `{a,b}` one of these."""
    if not path.startswith("$"):
        raise NoSuchTable(f"{path} is not a path")
    at, found = 1, []
    while at < len(path):
        step = STEP.match(path, at)
        if not step:
            raise NoSuchTable(f"{path} is not a path")
        if step["each"]:
            found.append(EACH)
        elif step["names"]:
            found.append(frozenset(step["names"].split(",")))
        elif step["quoted"]:
            found.append(json.loads(step["quoted"]))
        elif step["place"]:
            found.append(int(step["place"]))
        else:
            found.append(ANY if step["name"] == "*" else step["name"])
        at = step.end()
    return found


def places(document, path):
    """What is at `path`, each with what is around it."""
    found, is_inside = [(document, {})], False
    for step in steps(path):
        after = []
        for value, around in found:
            if step is EACH and isinstance(value, list):
                after += [(element, around) for element in value]
            elif is_any(step) and isinstance(value, dict):
                keyed = ((key, inner) for key, inner in value.items() if step is ANY or key in step)
                after += [(inner, {**around, "key": key}) for key, inner in keyed]
            elif isinstance(value, dict) and step in value:
                after.append((value[step], {**around, **value} if is_inside else around))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                after.append((value[step], around))
        is_inside = is_inside or step is EACH or is_any(step)
        found = after
    if not found:
        raise NoSuchTable(f"there is nothing at {path}")
    return found, is_inside


def is_any(step):
    return step is ANY or isinstance(step, frozenset)


@functools.cache
def json_table(text, path, kind):
    """The rows of the table of this kind at `path` in a JSON document."""
    found, is_inside = places(parsed(text), path)
    readers = {
        "list": (list, listed), "grouped": (list, listed), "map": (dict, mapped), "object": (dict, single),
        "columns": (dict, columns), "rows": (list, rows), "values": (list, values),
    }
    sort, reader = readers.get(kind, (None, None))
    table = []
    for value, around in found:
        if kind in ("list", "grouped") and is_inside and isinstance(value, dict):
            table.append(Row(value, around))
        elif sort is None or not isinstance(value, sort):
            raise NoSuchTable(f"what is at {path} cannot be of kind {kind}")
        else:
            table += [Row(record, {**around, **more}) for record, more in reader(value)]
    return table


def without(rows, path, lists):
    """The rows of the table at `path`, without what is at `lists` in each of them."""
    way = steps(lists)[len(steps(path)) + 1 :]
    return [Row(pruned(row.record, way), row.around) for row in rows]


def pruned(value, way):
    if not isinstance(value, dict) or way[0] not in value:
        return value
    if len(way) == 1:
        return {name: inner for name, inner in value.items() if name != way[0]}
    return {**value, way[0]: pruned(value[way[0]], way[1:])}


def listed(value):
    for element in value:
        if element is not None and not isinstance(element, dict):
            raise NoSuchTable(f"a record is no object: {str(element)[:40]}")
        yield element or {}, {}


def mapped(value):
    for key, element in value.items():
        yield element if isinstance(element, dict) else {"value": element}, {"key": key}


def single(value):
    yield value, {}


def columns(value):
    lengths = {len(column) if isinstance(column, list) else -1 for column in value.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise NoSuchTable("the members are not columns of one length")
    for cells in zip(*value.values()):
        yield dict(zip(value, cells)), {}


def rows(value):
    header, *lines = value
    for line in lines:
        if not isinstance(line, list):
            raise NoSuchTable("a row is no list")
        yield dict(itertools.zip_longest(header, line)), {}


def values(value):
    for element in value:
        yield {"value": element}, {}


def ndjson(text):
    return [Row(parsed(line)) for line in text.split("\n") if line.strip()]


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


def ruled(text):
    """Columns as wide as the runs of a line such as `+++-====-====`, with names above it."""
    lines = text.splitlines()
    rule = next(place for place, line in enumerate(lines) if re.fullmatch(r"[+=]+(-[+=]+)+", line))
    spans = [run.span() for run in re.finditer(r"[+=]+", lines[rule])]
    # The last column may be longer than its name.
    spans[-1] = (spans[-1][0], None)
    header = [lines[rule - 1][start:end].strip() for start, end in spans]
    names = [name if name[:1].isalpha() else "status" for name in header]
    rows = ([line[start:end].strip() for start, end in spans] for line in lines[rule + 1 :] if line)
    return grid(names, rows)


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
    table = []
    for line in text.splitlines():
        if not line.startswith("- {"):
            raise NoSuchTable(f"not read by this check: {line[:40]}")
        table.append(Row(flow.record(line[2:])))
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
