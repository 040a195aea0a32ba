"""The paths that are told of a table, with the values that lie there, and what SQL must answer.

A path is a column, a member of a struct, the elements of a list, or the keys and values of a map. It is
asked for in the way that it is written: `"a"."b"`, or `e` of `(SELECT unnest("a") AS e FROM …)`.
"""

import re
from collections import Counter
from datetime import datetime, timedelta

import truth
from tables import column_name

LIST = re.compile(r"[A-Z].*\[\]", re.DOTALL)
MAX_JSON_CHARS = 3000
SQL_TYPES = {
    "integer": ("BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT", "DECIMAL(38,0)"), "float": ("DOUBLE",), "boolean": ("BOOLEAN",),
    "string": ("VARCHAR",), "timestamp": ("TIMESTAMP",), "date": ("DATE",), "uuid": ("VARCHAR", "UUID"),
    "url": ("VARCHAR",), "null": ("VARCHAR", "JSON"), "struct": ("STRUCT(",), "map": ("MAP(",), "json": ("JSON",),
}


class Path:
    """One path of a table."""

    def __init__(self, told, label, source, expression, values):
        self.told, self.label, self.source, self.expression = told, label, source, expression
        self.kind = told["type"]
        self.values = truth.settled(values) if self.kind in ("struct", "map") else values
        self.members = {}
        # Those of objects that are among other values: they are told of, but are no columns.
        self.told_members = {}
        self.is_carried = False
        self.items = self.keys = self.each = None
        match self.kind:
            case "struct":
                self.members = self.inner_paths()
            case "json":
                self.told_members = self.inner_paths()
            case "list":
                elements = [element for value in self.of(list) for element in value]
                self.items = self.inside("items", "[]", f"unnest({expression})", elements)
            case "map":
                keys = [key for value in self.of(dict) for key in value]
                self.keys = self.inside("keys", " keys", f"unnest(map_keys({expression}))", keys)
                values = [inner for value in self.of(dict) for inner in value.values()]
                self.each = self.inside("values", "{}", f"unnest(map_values({expression}))", values)

    def of(self, kind):
        return [value for value in self.values if isinstance(value, kind)]

    def inner_paths(self):
        """The members of objects, by their names in SQL."""
        found = {}
        for field in self.told.get("fields", []):
            name = column_name(field)
            values = [value.get(field["name"]) if isinstance(value, dict) else None for value in self.values]
            label, expression = f"{self.label}.{name}", f"{self.expression}.{quoted(name)}"
            found[name] = Path(field, label, self.source, expression, values)
        return found

    def inside(self, fact, ending, expression, values):
        source = f"(SELECT {expression} AS e FROM {self.source})"
        told = self.told.get(fact) or {"type": "null"}
        return Path(told, self.label + ending, source, '"e"', values)

    def all(self):
        """This path and those inside it."""
        yield self
        for path in [*self.members.values(), self.items, self.keys, self.each]:
            if path:
                yield from path.all()

    def is_scalar(self):
        return self.kind in truth.SCALAR_KINDS

    def present(self):
        return truth.present(self.values)


def of_table(tables, index, name):
    """The paths of the columns of a table, by their names in SQL."""
    rows = tables.rows(index)
    own = tables.told[index]["fields"]
    found = {}
    for key, field in tables.columns(index):
        column = column_name(field)
        values = [row.get(key) for row in rows]
        found[column] = Path(field, column, quoted(name), quoted(column), values)
        for path in found[column].all():
            path.is_carried = not any(field is one for one in own)
    return found


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(kind, value):
    """A value in SQL."""
    match kind:
        case "integer":
            return str(value)
        case "float":
            text = repr(float(value))
            return text if "e" in text else text + "e0"
        case "boolean":
            return str(value).lower()
        case "timestamp":
            # In UTC, as columns are: DuckDB passes over an offset in a text.
            value = str(datetime(1970, 1, 1) + timedelta(microseconds=truth.instant(value)))
    return "'" + str(value).replace("'", "''") + "'"


class Question:
    """Something that SQL must answer: an expression over a source, and what is true."""

    def __init__(self, path, fact, sql, true, read=int):
        self.path, self.fact, self.sql, self.true, self.read = path, fact, sql, true, read

    def source(self):
        return self.path.source

    def is_right(self, answer):
        if answer is None or self.true is None:
            return answer is None and self.true is None
        try:
            return self.true(answer) if callable(self.true) else self.read(answer) == self.true
        except ValueError:
            return False

    def expected(self):
        return self.true.__doc__ if callable(self.true) else self.true


def questions(path):
    """What is asked about one path, without those inside it."""
    yield Question(path, "count", f"count({path.expression})", len(path.present()))
    nulls = len(path.values) - len(path.present())
    yield Question(path, "where null", f"count(*) FILTER (WHERE {path.expression} IS NULL)", nulls)
    if path.values:
        yield Question(path, "SQL type", f"any_value(typeof({path.expression}))", type_check(path.kind))
    if path.is_scalar():
        yield from scalar_questions(path)
    elif path.kind == "list":
        yield from list_questions(path)
    elif path.kind == "map":
        yield from map_questions(path)
    elif path.kind == "json":
        yield from json_questions(path)


def type_check(kind):
    names = SQL_TYPES.get(kind, ())

    def is_right(answer):
        if kind == "list":
            return LIST.fullmatch(answer) is not None
        return answer.startswith(names) and not LIST.fullmatch(answer)

    is_right.__doc__ = f"a type for {kind}"
    return is_right


def scalar_questions(path):
    kind, expression = path.kind, path.expression
    counted = truth.tally(kind, path.values)
    read = reader(kind)
    yield Question(path, "distinct", f"count(DISTINCT {expression})", len(counted))
    low, high = (min(counted), max(counted)) if counted else (None, None)
    yield Question(path, "min", shown(kind, f"min({expression})"), low, read)
    yield Question(path, "max", shown(kind, f"max({expression})"), high, read)
    if not counted:
        return
    first = f"first({expression} ORDER BY {expression} DESC) FILTER (WHERE {expression} IS NOT NULL)"
    yield Question(path, "first in order", shown(kind, f"({first})"), high, read)
    # One that occurs, from the middle of those in order.
    by_order = sorted(path.present(), key=lambda value: truth.in_sql(kind, value))
    middle = by_order[len(by_order) // 2]
    written = literal(kind, middle)
    held = truth.in_sql(kind, middle)
    yield Question(path, f"= {middle}", filtered(f"{expression} = {written}"), counted[held])
    if kind == "boolean":
        yield Question(path, "not", filtered(f"NOT {expression}"), counted[False])
        return
    above = sum(times for value, times in counted.items() if value > held)
    yield Question(path, f"> {middle}", filtered(f"{expression} > {written}"), above)
    if kind in ("string", "url"):
        start = middle[:2]
        pattern = literal("string", start.replace("#", "##").replace("%", "#%").replace("_", "#_") + "%")
        begun = sum(times for value, times in counted.items() if value.startswith(start.encode()))
        yield Question(path, f"like {start}", filtered(f"{expression} LIKE {pattern} ESCAPE '#'"), begun)
    if kind in ("integer", "float") and all(abs(value) < 2**50 for value in counted):
        total = sum(value * times for value, times in counted.items())
        yield Question(path, "sum", f"CAST(sum({expression}) AS VARCHAR)", close_to(total))


def close_to(total):
    def is_right(answer):
        return abs(float(answer) - total) <= 1e-9 * max(1.0, abs(total)) or abs(total) < 1e-6

    is_right.__doc__ = f"about {total}"
    return is_right


def list_questions(path):
    lengths = [len(value) for value in path.of(list)]
    length = f"len({path.expression})"
    yield Question(path, "elements", f"CAST(coalesce(sum({length}), 0) AS VARCHAR)", sum(lengths))
    yield Question(path, "shortest", f"min({length})", min(lengths, default=None))
    yield Question(path, "longest", f"max({length})", max(lengths, default=None))
    if path.items.is_scalar() and path.items.present():
        kind, value = path.items.kind, path.items.present()[0]
        held = truth.in_sql(kind, value)
        has = sum(held in [truth.in_sql(kind, one) for one in truth.present(inner)] for inner in path.of(list))
        contains = f"list_contains({path.expression}, {cast(kind, value)})"
        yield Question(path, f"contains {value}", filtered(contains), has)


def cast(kind, value):
    types = {"timestamp": "TIMESTAMP", "date": "DATE"}
    return f"{literal(kind, value)}::{types[kind]}" if kind in types else literal(kind, value)


def map_questions(path):
    sizes = [len(value) for value in path.of(dict)]
    yield Question(path, "members", f"CAST(coalesce(sum(cardinality({path.expression})), 0) AS VARCHAR)", sum(sizes))
    for key in list(dict.fromkeys(path.keys.values))[:2]:
        has = sum(value.get(key) is not None for value in path.of(dict))
        yield Question(path, f"[{key}]", f"count({path.expression}[{literal('string', key)}])", has)


def json_questions(path):
    names = {"struct": "OBJECT", "list": "ARRAY", "string": "VARCHAR", "boolean": "BOOLEAN"}
    counted = kinds(path.values)
    for kind, name in names.items():
        condition = f"json_type({path.expression}) = '{name}'"
        yield Question(path, f"{kind}s", filtered(condition), counted[kind])
    # A reply has room for so many.
    if sum(map(len, map(truth.canonical, path.present()))) < MAX_JSON_CHARS:
        texts = f"to_json(list(CAST({path.expression} AS VARCHAR)) FILTER (WHERE {path.expression} IS NOT NULL))"
        yield Question(path, "values", f"CAST({texts} AS VARCHAR)", same_values(path.present()))


def same_values(values):
    def is_right(answer):
        found = [truth.parse(text) for text in truth.parse(answer)]
        return sorted(map(truth.canonical, found)) == sorted(map(truth.canonical, values))

    is_right.__doc__ = f"{str(values)[:300]}"
    return is_right if values else None


def filtered(condition):
    return f"count(*) FILTER (WHERE {condition})"


def shown(kind, expression):
    return f"epoch_us({expression})" if kind == "timestamp" else expression


def reader(kind):
    match kind:
        case "float":
            return float
        case "string" | "url" | "date":
            return lambda text: text if kind == "date" else text.encode()
        case "uuid":
            return lambda text: text.lower().encode()
        case "boolean":
            return lambda text: {"true": True, "false": False}[text]
    return int


def kinds(values):
    """How many of the values are of each kind that JSON tells apart."""
    kinds = map(truth.kind_of, truth.present(values))
    return Counter("string" if kind in truth.TEXT_KINDS else kind for kind in kinds)


def count_of(name, records):
    """How many rows a table has."""
    whole = Path({"name": name, "type": "table"}, name, quoted(name), "*", [])
    return Question(whole, "records", "count(*)", records)
