"""Reads the names out of a summary that is a text, as a model would use them: written as they are there."""

import re

IDENTIFIER = r'(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*")'
JSON_MEMBER = rf"\({IDENTIFIER}(?:->'(?:[^']|'')*')*->>'(?:[^']|'')*'\)"
FIELD = re.compile(rf"({IDENTIFIER}|{JSON_MEMBER}) \(")
VALUE = re.compile(r'"(?:[^"\\]|\\.)*"')
MAIN = re.compile(r"- Fields(?: \(of the first \d+ records\))?: (.*)")
TABLE = re.compile(rf"- Table ({IDENTIFIER}): (\d+) records at (.*)")
WITH = re.compile(rf", each with ({IDENTIFIER}(?:, {IDENTIFIER})*)(?:[:;]|$)")


def fields(line):
    """The names in a list of fields, each with those that it lies in: `a (struct: b (integer 1..2))`."""
    found, within, place = [], [], 0
    while place < len(line):
        if field := FIELD.match(line, place):
            within.append(field[1])
            found.append(tuple(within))
            place = field.end()
        elif value := VALUE.match(line, place):
            place = value.end()
        else:
            if line[place] == ")" and within:
                within.pop()
            # A word is read whole: its end is no name.
            word = re.compile(r"[A-Za-z0-9_]+").match(line, place)
            place = word.end() if word else place + 1
    return found


def tables(text, dataset):
    """For each table of a summary: its name, how many records it is told to have, and its fields."""
    for line in text.split("\n"):
        if main := MAIN.fullmatch(line):
            yield dataset, None, fields(main[1])
        elif table := TABLE.fullmatch(line):
            rest = table[3]
            start = rest.find(": ")
            carried = WITH.search(rest[:start] if start >= 0 else rest)
            names = re.findall(IDENTIFIER, carried[1]) if carried else []
            listed = fields(rest[start + 2 :]) if start >= 0 else []
            yield table[1], int(table[2]), [(name,) for name in names] + listed


def expression(within):
    """How SQL gets to a field: what is reached within JSON says so itself."""
    if within[-1].startswith("("):
        outer = [name for name in within[:-1] if not name.startswith("(")]
        return f"({'.'.join(outer[:-1] + [within[-1][1:-1]])})"
    return ".".join(within)


def plain(name):
    """A name without its quotes."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def keys(member):
    """The keys on the way to a member of a value that is JSON."""
    return [key.replace("''", "'") for key in re.findall(r"->>?'((?:[^']|'')*)'", member)]
