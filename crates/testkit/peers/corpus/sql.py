"""What SQL has of the fields that are told: types, counts and ranges, asked of the program itself.

Every path is asked for, through structs, lists and maps, or a sample of paths and tables if there are
many, and what comes back is compared with what Python finds in the rows.
"""

import json
import random
import re
import subprocess
from collections import Counter
from dataclasses import dataclass

import nested
import scalars
from nested import column_of, present

MAX_PATHS = 60
# Each has to be made before it can be asked.
MAX_TABLES = 12
TYPES = {
    "integer": r"BIGINT|HUGEINT|DECIMAL\(38,0\)", "float": "DOUBLE", "boolean": "BOOLEAN",
    "timestamp": r"TIMESTAMP( WITH TIME ZONE)?", "date": "DATE", "struct": r"STRUCT\(.*\)",
    "list": r".*\[\]", "map": r"MAP\(.*\)", "json": "JSON", "string": "VARCHAR", "uuid": "VARCHAR|UUID",
    "url": "VARCHAR", "null": "VARCHAR|JSON",
}
# Kinds of which nothing is asked but what they are and how many.
NO_RANGE = ("struct", "json", "null")
JSON_TYPES = {
    "struct": ["OBJECT"], "list": ["ARRAY"], "string": ["VARCHAR"], "boolean": ["BOOLEAN"],
    "number": ["BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"],
}


class Refused(Exception):
    """The program did not answer a query."""


class Program:
    """Forebay's command line; FOREBAY_HOME says where it keeps what."""

    def __init__(self, path):
        self.path = path

    def __call__(self, query):
        words = [self.path, "query", "--json", "-"]
        done = subprocess.run(words, input=query, capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.stderr.strip() or done.stdout.strip())
        return json.loads(done.stdout)


@dataclass
class Path:
    """A path in SQL, what is told of it, and its values as Python finds them."""

    name: str
    source: str
    expression: str
    said: dict
    values: list

    def query(self):
        """One row: the type, and what else is to be compared."""
        kind, it = self.said["type"], self.expression
        if kind in NO_RANGE:
            facts = "NULL, NULL, NULL"
        elif kind in ("list", "map"):
            size = "len" if kind == "list" else "cardinality"
            facts = f"sum({size}({it})), CAST(min({size}({it})) AS VARCHAR), CAST(max({size}({it})) AS VARCHAR)"
        else:
            facts = f"count(DISTINCT {it}), CAST(min({it}) AS VARCHAR), CAST(max({it}) AS VARCHAR)"
        kinds = json_counts(it) if kind == "json" else "NULL"
        return f"SELECT any_value(typeof({it})), count({it}), {facts}, {kinds} FROM {self.source}"

    def compare(self, type_, count, distinct, low, high, kinds):
        kind = self.said["type"]
        is_type = type_ is None or re.fullmatch(TYPES[kind], type_, re.DOTALL)
        if not is_type:
            yield f"{self.name} is told as {kind}, SQL has {type_}"
            return
        true = [len(self.values), *self.facts()]
        found = [count, distinct, self.read(low), self.read(high)]
        if found != true:
            yield f"{self.name} in SQL: count, distinct, min, max are {found}, should be {true}"
        if kind == "json" and json.loads(kinds) != self.kinds():
            yield f"{self.name} in SQL: of each kind there are {kinds}, should be {self.kinds()}"

    def facts(self):
        """The number of different values or, of lists and maps, of elements, and the range."""
        kind = self.said["type"]
        if kind in NO_RANGE:
            return [None, None, None]
        if kind in ("list", "map"):
            sizes = [len(value) for value in self.values]
            return [sum(sizes), min(sizes), max(sizes)] if sizes else [None, None, None]
        values = {self.read(nested.pair(value)[1]) for value in self.values}
        return [len(values), min(values), max(values)] if values else [0, None, None]

    def read(self, text):
        """A value such that equal ones are the same and their order is that of SQL."""
        if text is None:
            return None
        kind = self.said["type"]
        if kind in ("integer", "list", "map"):
            return int(text)
        if kind == "float":
            return float(text)
        return str(scalars.instant(text)) if kind == "timestamp" else text

    def kinds(self):
        """How many values of each sort that JSON knows there are."""
        counts = Counter(nested.sort_of(value) for value in self.values)
        counts["string"] += counts.pop("text", 0)
        return [counts[sort] for sort in JSON_TYPES]


def json_counts(expression):
    filters = (", ".join(f"'{name}'" for name in names) for names in JSON_TYPES.values())
    counts = (f"count(*) FILTER (WHERE json_type({expression}) IN ({names}))" for names in filters)
    return f"CAST(to_json([{', '.join(counts)}]) AS VARCHAR)"


def paths(table, name):
    """Every path of a table that SQL calls `name`."""
    for column, field in table.columns.items():
        values = [table.value(row, [column]) for row in table.rows]
        yield from within(field, f"{name}.{column}", name, quoted(column), values)
    for column, said in table.carried.items():
        values = [row.carried[column] for row in table.rows]
        yield from within(said, f"{name}.{column}", name, quoted(column), values)


def within(said, name, source, expression, values):
    """The path to `values`, and those to what lies in them."""
    values = present(values, said["type"])
    yield Path(name, source, expression, said, values)
    kind = said["type"]
    if kind == "struct":
        for field in said.get("fields", []):
            inner = [value.get(field["name"]) for value in values]
            column = column_of(field)
            yield from within(field, f"{name}.{column}", source, f"{expression}.{quoted(column)}", inner)
    elif kind == "list" and "items" in said:
        elements = [element for value in values for element in value]
        yield from within(said["items"], f"{name}[]", *unnested(expression, source), elements)
    elif kind == "map" and "keys" in said:
        for part, inner in (
            ("keys", [key for value in values for key in value]),
            ("values", [inner for value in values for inner in value.values()]),
        ):
            place = unnested(f"map_{part}({expression})", source)
            yield from within(said[part], f"{name}.{part}", *place, inner)


def unnested(expression, source):
    """The elements of lists as a table, and what they are called there."""
    name = f"element{source.count('unnest')}"
    return f"(SELECT unnest({expression}) AS {name} FROM {source})", name


def compare(ask, tables, seed):
    """What is wrong with the rows and the paths of `tables`, which are pairs of a name in SQL and a table."""
    chance, found = random.Random(seed), []
    if len(tables) > MAX_TABLES:
        tables = [tables[0], *chance.sample(tables[1:], MAX_TABLES - 1)]
    counts = [f"SELECT count(*) FROM {name}" for name, _ in tables]
    for (name, table), answer in zip(tables, answers(ask, counts)):
        if isinstance(answer, Refused):
            yield f"{name} cannot be asked: {answer}"
        elif answer != [len(table.rows)]:
            yield f"{name} has {answer[0]} rows in SQL, not {len(table.rows)}"
        else:
            found += paths(table, name)
    if len(found) > MAX_PATHS:
        found = chance.sample(found, MAX_PATHS)
    for path, answer in zip(found, answers(ask, [path.query() for path in found])):
        if isinstance(answer, Refused):
            yield f"{path.name} cannot be asked for: {answer}"
        else:
            yield from path.compare(*answer)


def answers(ask, queries):
    """The only row of each query. All are asked at once; if that is refused, each half of them."""
    if not queries:
        return []
    numbered = (f"SELECT {number} AS number, * FROM ({query})" for number, query in enumerate(queries))
    try:
        rows = ask(" UNION ALL ".join(numbered) + " ORDER BY number")
    except Refused as why:
        if len(queries) == 1:
            return [why]
        half = len(queries) // 2
        return answers(ask, queries[:half]) + answers(ask, queries[half:])
    return [list(row.values())[1:] for row in rows]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'
