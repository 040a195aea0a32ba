"""Reads answers from replies, and compares them with what is expected."""

import json
import math
import re

CELL = re.compile(r'"((?:[^"]|"")*)"|([^,\n]*)')
WORDS = {"": None, "true": True, "false": False}
INTEGER = re.compile(r"[-+]?[0-9]+")
NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?")
TOLERANCE = 1e-9


def parsed(text):
    return json.loads(text)


def table(text):
    """The rows of a reply: CSV with a header, or a JSON array a line if values are nested."""
    if text.startswith("["):
        _, *rows = [json.loads(line) for line in text.split("\n")]
        return [tuple(row) for row in rows]
    _, *rows = csv_rows(text)
    return rows


def csv_rows(text):
    """Cells as a model reads them: quoted is text, bare is a number, a truth value or nothing."""
    rows, row, at = [], [], 0
    while True:
        cell = CELL.match(text, at)
        row.append(bare(cell[2]) if cell[1] is None else cell[1].replace('""', '"'))
        at = cell.end()
        if at == len(text) or text[at] == "\n":
            rows.append(tuple(row))
            row = []
        if at == len(text):
            return rows
        at += 1


def bare(text):
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if NUMBER.fullmatch(text) else text


def same(expected, got):
    """True if both are the same answer; a set has no order."""
    is_ordered = not isinstance(expected, (set, frozenset))
    expected, got = as_rows(expected), as_rows(got)
    if not is_ordered:
        expected, got = sorted(expected, key=repr), sorted(got, key=repr)
    return len(expected) == len(got) and all(map(same_value, expected, got))


def as_rows(answer):
    """One value is a row of one; a list of values is a column."""
    if not isinstance(answer, (list, set, frozenset)):
        answer = [answer]
    return [row if isinstance(row, tuple) else (row,) for row in answer]


def same_value(one, other):
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if is_number(one) and is_number(other):
        return math.isclose(one, other, rel_tol=TOLERANCE)
    return type(one) is type(other) and one == other


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
