"""Finds the rows of the tables that a dataset's metadata tell of, in the document itself."""

import json
import re

STEP = re.compile(r'\.(?P<word>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<key>"(?:[^"\\]|\\.)*")\]|\[(?P<place>[0-9]*)\]')
PARENT = "_parent"
CARRIED = "carried"


class NoSuchTable(Exception):
    """The document has no such table."""


def rows_of(tables, index, document):
    """The rows of a table: for each, its values by the names of the fields."""
    told = tables[index]
    if told["kind"] == "inner":
        return inner_rows(tables, told, document)
    found = list(at(document, told["path"]))
    # A path through a list leads to its records, any other to the list of them.
    if told["kind"] in ("list", "values") and "" not in (step["place"] for step in STEP.finditer(told["path"])):
        found = [element for one in found for element in expect(list, one, told["path"])]
    match told["kind"]:
        case "object" | "list":
            return [members(record) for record in found]
        case "values":
            return [{"value": value} for value in found]
        case "map":
            return [row for one in found for row in map_rows(expect(dict, one, told["path"]), key_name(told))]
        case "columns":
            return [row for one in found for row in column_rows(expect(dict, one, told["path"]))]
        case "rows":
            return [row for one in found for row in list_rows(expect(list, one, told["path"]), told)]
    raise NoSuchTable(f"the kind {told['kind']} is unknown")


def at(document, path):
    """What lies at a path; `[]` stands for each element of a list."""
    found, place = [document], 1
    while place < len(path):
        step = STEP.match(path, place)
        if not step:
            raise NoSuchTable(f"the path {path} cannot be read")
        place = step.end()
        if step["place"] == "":
            found = [element for one in found for element in expect(list, one, path)]
        elif step["place"]:
            found = [expect(list, one, path)[int(step["place"])] for one in found]
        else:
            key = step["word"] or json.loads(step["key"])
            found = [expect(dict, one, path)[key] for one in found if key in expect(dict, one, path)]
    return found


def expect(kind, value, path):
    if not isinstance(value, kind):
        raise NoSuchTable(f"there is no {kind.__name__} at {path}")
    return value


def members(record):
    return record if isinstance(record, dict) else {} if record is None else {"value": record}


def key_name(told):
    return told["fields"][0]["name"]


def map_rows(found, name):
    return [{**members(value), name: key} for key, value in found.items()]


def column_rows(columns):
    longest = max(map(len, columns.values()), default=0)
    value = lambda column, place: column[place] if place < len(column) else None
    return [{name: value(column, place) for name, column in columns.items()} for place in range(longest)]


def list_rows(rows, told):
    names = [field["name"] for field in told["fields"]]
    return [dict(zip(names, row)) for row in rows[len(rows) - told["records"] :]]


def inner_rows(tables, told, document):
    """The elements of a list, or the members of an object, in each row of another table.

    Columns go by their names in SQL. What comes along from the other table stands under names of its own.
    """
    rows, parent = [], tables[told["parent"]]
    for number, row in enumerate(rows_of(tables, told["parent"], document), 1):
        value = inside(parent["fields"], row, told["column"])
        if told["of"] == "map":
            own = map_rows(value or {}, key_name(told))
        else:
            own = [members(element) for element in value or []]
        outer = {(CARRIED, PARENT): number}
        for name, path in zip(told["carried"], told["carriedFrom"]):
            outer[CARRIED, name] = inside(parent["fields"], row, path)
        rows += [{**one, **outer} for one in own]
    return rows


def inside(fields, row, path):
    """The value at a path of names in SQL."""
    first, *rest = path
    if (CARRIED, first) in row:
        return row[CARRIED, first]
    field = next((field for field in fields if column_name(field) == first), None)
    if field is None:
        raise NoSuchTable(f"there is no column {first!r}")
    value = row.get(field["name"])
    if not rest or value is None:
        return value
    return inside(field["fields"], expect(dict, value, first), rest)


def carried_fields(tables, told):
    """What is told of the columns that come along, each with the key under which rows have its values."""
    if told["kind"] != "inner":
        return
    if told.get("hasNumber"):
        yield (CARRIED, PARENT), {"name": PARENT, "type": "integer"}
    parent = tables[told["parent"]]
    for name, path in zip(told["carried"], told["carriedFrom"]):
        yield (CARRIED, name), {"name": name, "type": type_at(tables, parent, path)}


def type_at(tables, table, path):
    for (_, name), field in carried_fields(tables, table):
        if [name] == path:
            return field["type"]
    fields = table["fields"]
    for name in path:
        field = next(field for field in fields if column_name(field) == name)
        fields = field.get("fields", [])
    return field["type"]


def column_name(field):
    return field.get("column", field["name"])
