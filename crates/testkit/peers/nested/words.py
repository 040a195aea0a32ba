"""Reads the names out of a summary that is a text, as a model would use them: written as they are there.

A field is told of in full, `name (type facts: members)`, or in brief: `name`, `name type`, `name {members}`,
`name [{members}]`, `name {*: {members}}`. Members of values that are JSON are told of by the way to them.
"""

import re

IDENTIFIER = r'(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*")'
LITERAL = r"'(?:[^']|'')*'"
STRING = r'"(?:[^"\\]|\\.)*"'
VALUE = rf"(?:{STRING}|[^\s\",:()]+) \d+"
NAME = re.compile(
    rf"(?P<plain>{IDENTIFIER})|(?P<way>\({IDENTIFIER}(?:\.{IDENTIFIER})*(?:->{LITERAL})*->>{LITERAL}\))|(?P<step>->>{LITERAL})"
)
MORE = re.compile(r"(?:and )?\d+ (?:more(?: fields)?|members|fields)")
AND_MORE = re.compile(r" and \d+ more")
LISTS = r"(?:lists? of )*structs"
HEADS = [
    (re.compile(rf"list of {LISTS}[^:()]*"), "items"),
    (re.compile(rf"map of (?:about )?\d+ keys to {LISTS}(?:: {VALUE}(?:, {VALUE})*(?:, \d+ more)?)?(?:, \d+ null)?"), "items"),
    (re.compile(r"struct(?:, \d+ null)?"), "member"),
    (re.compile(r"json(?:: [a-z]+ \d+(?:, [a-z]+ \d+)*)?(?:, \d+ null)?"), "json"),
]
TYPE = re.compile(r" (?:integer|float|boolean|string|timestamp|date|uuid|url|null|json|list|map|struct)(?![A-Za-z0-9_])(?: \(UTC; [^)]*\))?")
MAIN = re.compile(r"- Fields(?: \(of the first \d+ records\))?, string if no type: (.*)")
TABLE = re.compile(rf"- Table ({IDENTIFIER}): (\d+) records at (.*)")
TABLES_INSIDE = re.compile(rf"- Tables inside(?:, named (\w+_)NAME)?(?:, each with ({IDENTIFIER}(?:, {IDENTIFIER})*))?: (.*)")
INSIDE = re.compile(rf"({IDENTIFIER}) \((\d+) rows( of key[a-z, ]*?)?(?:, with ({IDENTIFIER}(?:, {IDENTIFIER})*))?\)")


class Unreadable(Exception):
    """The text is not written as such texts are."""


class Told:
    """A name: what it lies in, how it lies in that (`member`, `items` or `json`), and the name as it is written."""

    def __init__(self, outer, how, name):
        self.outer, self.how, self.name = outer, how, name

    def way(self):
        """The names from the outermost on, each with how it lies in the one before."""
        return (self.outer.way() if self.outer else []) + [(self.how, self.name)]

    def is_asked_directly(self):
        """True if nothing on the way is a list or a map."""
        return all(how != "items" for how, _ in self.way())

    def expression(self):
        """How SQL gets there."""
        if self.how == "member" or self.how == "items":
            return f"{self.outer.expression()}.{self.name}" if self.outer else self.name
        if self.name.startswith("("):
            return self.name
        before = self.outer.expression().strip("()").replace("->>", "->")
        return f"({before}{self.name})"


class Reader:
    """Reads a list of fields."""

    def __init__(self, text):
        self.text, self.place, self.found = text, 0, []

    def all(self):
        self.fields(None, "member")
        if self.place < len(self.text):
            raise Unreadable(self.text[max(0, self.place - 20) : self.place + 40])
        return self.found

    def fields(self, outer, how):
        """Reads fields that lie in `outer`, as far as they go."""
        first = len(self.found)
        while True:
            if self.take("each with "):
                for told in [told for told in self.found[first:] if told.outer is outer]:
                    start = self.place
                    self.fields(told, "member")
                    end, self.place = self.place, start
                self.place = end
            elif more := MORE.match(self.text, self.place):
                self.place = more.end()
            else:
                self.field(outer, how)
            if more := AND_MORE.match(self.text, self.place):
                self.place = more.end()
            if not self.take(", "):
                return

    def field(self, outer, how):
        name = NAME.match(self.text, self.place)
        if not name:
            raise Unreadable(self.text[max(0, self.place - 20) : self.place + 40])
        self.place = name.end()
        told = Told(outer, how if name["plain"] else "json", name[0])
        self.found.append(told)
        if self.take(" ("):
            self.facts(told)
        elif self.text.startswith((" {", " [", " json {"), self.place):
            self.place += 1
            self.brief(told, "member")
        elif kind := TYPE.match(self.text, self.place):
            self.place = kind.end()

    def brief(self, told, how):
        """Reads `{…}`, `[…]`, `{*: …}`, `json {…}`, or a type."""
        if self.take("{*: "):
            self.brief(told, "items")
            self.expect("}")
        elif self.take("{"):
            if not self.text.startswith("}", self.place):
                self.fields(told, how)
            self.expect("}")
        elif self.take("["):
            self.brief(told, "items")
            self.expect("]")
        elif self.take("json {"):
            self.fields(told, "json")
            self.expect("}")
        else:
            self.place = re.compile("[a-z]*").match(self.text, self.place).end()

    def facts(self, told):
        """Reads what is told in full, up to the bracket that ends it."""
        for head, how in HEADS:
            found = head.match(self.text, self.place)
            if found and self.text.startswith((": ", ")"), found.end()):
                self.place = found.end()
                if self.take(": "):
                    self.fields(told, how)
                self.expect(")")
                return
        value = re.compile(rf"(?:{STRING}|[^\")])*\)").match(self.text, self.place)
        if not value:
            raise Unreadable(self.text[self.place : self.place + 60])
        self.place = value.end()

    def take(self, word):
        is_there = self.text.startswith(word, self.place)
        self.place += len(word) if is_there else 0
        return is_there

    def expect(self, word):
        if not self.take(word):
            raise Unreadable(f"{word} expected: {self.text[max(0, self.place - 20) : self.place + 40]}")


def tables(text, dataset):
    """For each table of a summary: its name, how many records it is told to have, and its fields."""
    for line in text.split("\n"):
        if main := MAIN.fullmatch(line):
            yield dataset, None, Reader(main[1]).all()
        elif table := TABLE.fullmatch(line):
            listed = table[3].split(": ", 1)
            yield table[1], int(table[2]), Reader(listed[1]).all() if listed[1:] and listed[1] else []
        elif listed := TABLES_INSIDE.fullmatch(line):
            for inside in INSIDE.finditer(listed[3]):
                names = re.findall(IDENTIFIER, listed[2] or inside[4] or "") + (["key"] if inside[3] else [])
                yield (listed[1] or "") + inside[1], int(inside[2]), [Told(None, "member", name) for name in names]


def plain(name):
    """A name without its quotes."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def keys(member):
    """The keys on the way to a member of a value that is JSON."""
    found = [key[1:-1].replace("''", "'") for key in re.findall(rf"->>?({LITERAL})", member)]
    return [unquoted(key) for key in found]


def unquoted(key):
    """A key that could be a path is written as one."""
    if key == "/":
        return ""
    if key.startswith('$."'):
        return key[3:-1].replace('\\"', '"').replace("\\\\", "\\")
    return key
