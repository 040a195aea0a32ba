"""Reads the one-line form of a YAML mapping: `{ a: b, 'c': [1, 2.5], d: { e: null } }`."""

import json
import re

PLAIN = re.compile(r"[^,\[\]{}]*?(?=\s*(?:[,\]}]|:\s))")
QUOTED = re.compile(r"'((?:[^']|'')*)'")
DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")


def record(text):
    """The members of a mapping, each as its sort and its text."""
    found, _ = mapping(text, 0)
    return found


def space(text, at):
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def value(text, at):
    if text[at] == "{":
        end = mapping(text, at)[1]
        return ("struct", text[at:end]), end
    if text[at] == "[":
        start, at = at, space(text, at + 1)
        while text[at] != "]":
            at = space(text, value(text, at)[1])
            if text[at] == ",":
                at = space(text, at + 1)
        return ("list", text[start : at + 1]), at + 1
    if text[at] == "'":
        quoted = QUOTED.match(text, at)
        return ("text", quoted[1].replace("''", "'")), quoted.end()
    if text[at] == '"':
        quoted = DOUBLE.match(text, at)
        return ("text", json.loads(quoted[0])), quoted.end()
    plain = PLAIN.match(text, at)
    return scalar(plain[0].strip()), plain.end()


def scalar(text):
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "false", "True", "False", "TRUE", "FALSE"):
        return ("boolean", text)
    return ("number", text) if NUMBER.fullmatch(text) else ("text", text)


def mapping(text, at):
    found, at = {}, space(text, at + 1)
    while text[at] != "}":
        key, at = value(text, at)
        at = space(text, space(text, at) + 1)
        found[key[1]], at = value(text, at)
        at = space(text, at)
        if text[at] == ",":
            at = space(text, at + 1)
    return found, at + 1
