"""Runs the example queries of a summary, and compares the counts that they give with what is told."""

import re

from nested import column_of
from scalars import instant
from sql import Refused

EXAMPLE = re.compile(r"(?m)^- Example query: (.*)$")
COUNTING = re.compile(r"SELECT (?P<path>.+?), count\(\*\).*? FROM (?P<table>\w+)\b.* GROUP BY ")
LIMIT = re.compile(r" LIMIT ([0-9]+)$")
NAME = re.compile(r'"((?:[^"]|"")*)"|(\w+)')


def compare(ask, summary, tables):
    """What is wrong with the queries of a summary. `tables` says what is told of each, by its name."""
    queries = EXAMPLE.findall(summary)
    if not queries:
        yield "there is no example query"
    for query in queries:
        try:
            rows = ask(query)
        except Refused as why:
            yield f"{query}: {why}"
            continue
        if not rows:
            yield f"{query}: there are no rows"
        counting = COUNTING.match(query)
        if counting and rows:
            said = told(tables.get(counting["table"], {}), counting["path"])
            yield from compare_counts(query, rows, said)


def told(table, path):
    """What is told of a path in SQL; nothing if it is none."""
    said = {"fields": table.get("fields", [])}
    for quoted, plain in NAME.findall(path):
        name = quoted.replace('""', '"') or plain
        found = [field for field in said.get("fields", []) if column_of(field).lower() == name.lower()]
        if not found:
            return {}
        said = found[0]
    return said


def compare_counts(query, rows, said):
    def key(value):
        return shown(value, said.get("type"))

    counted = {key(next(iter(row.values()))): row for row in rows}
    limit = LIMIT.search(query)
    is_whole = not limit or len(rows) < int(limit[1])
    for value, times in said.get("top", []):
        row = counted.get(key(value), {})
        if times not in row.values() and (row or is_whole):
            yield f"{query}: {value} is counted {list(row.values())[1:]} times, not {times}"


def shown(value, kind):
    """A value such that equal ones are the same, however they are written."""
    if value is None:
        return None
    if kind in ("integer", "float"):
        return float(value)
    if kind == "timestamp":
        return instant(value)
    return str(value).lower() if kind == "boolean" else value
