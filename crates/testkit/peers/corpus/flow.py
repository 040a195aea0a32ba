"""Reads the one-line form of a YAML mapping: `{ a: b, 'c': [1, 2.5], d: { e: null } }`."""

import json
import re

PLAIN = re.compile(r"[^,\[\]{}]*?(?=\s*(?:[,\]}]|:\s))")
QUOTED = re.compile(r"'((?:[^']|'')*)'")
DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")


class Number(str):
    """A number as it is written."""


def record(text):
    """The members of a mapping."""
    found, _ = mapping(text, 0)
    return found


def space(text, at):
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def value(text, at):
    if text[at] == "{":
        return mapping(text, at)
    if text[at] == "[":
        found, at = [], space(text, at + 1)
        while text[at] != "]":
            element, at = value(text, at)
            found.append(element)
            at = space(text, at)
            if text[at] == ",":
                at = space(text, at + 1)
        return found, at + 1
    if text[at] == "'":
        quoted = QUOTED.match(text, at)
        return quoted[1].replace("''", "'"), quoted.end()
    if text[at] == '"':
        quoted = DOUBLE.match(text, at)
        return json.loads(quoted[0]), quoted.end()
    plain = PLAIN.match(text, at)
    return scalar(plain[0].strip()), plain.end()


def scalar(text):
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    return Number(text) if NUMBER.fullmatch(text) else text


def mapping(text, at):
    found, at = {}, space(text, at + 1)
    while text[at] != "}":
        key, at = value(text, at)
        at = space(text, space(text, at) + 1)
        found[key], at = value(text, at)
        at = space(text, at)
        if text[at] == ",":
            at = space(text, at + 1)
    return found, at + 1
