"""Finds the rows of the tables that a dataset's metadata tell of, in the document itself."""

import json
import re

STEP = re.compile(r'\.(?P<word>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<key>"(?:[^"\\]|\\.)*")\]|\[(?P<place>[0-9]*)\]')
PARENT = "_parent"


class NoSuchTable(Exception):
    """The document has no such table."""


def rows_of(tables, index, document):
    """The rows of a table: for each, its values by the names of the fields."""
    told = tables[index]
    if told["kind"] == "inner":
        return inner_rows(tables, told, document)
    found = list(at(document, told["path"]))
    if told["kind"] in ("list", "values") and not told["path"].endswith("[]") and "[]." not in told["path"]:
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
    """The elements of a list, or the members of an object, in each row of another table."""
    rows = []
    parent = tables[told["parent"]]
    for number, row in enumerate(rows_of(tables, told["parent"], document), 1):
        value = row
        for name in told["column"]:
            value = value.get(name) if isinstance(value, dict) else None
        own = map_rows(value, "key") if isinstance(value, dict) else list(map(members, value or []))
        for one in own:
            rows.append({**carried(told, parent, row, number), **one})
    return rows


def carried(told, parent, row, number):
    """What comes with a row of an inner table from the row that it lies in."""
    return {name: number if name == PARENT else row.get(name) for name in told.get("carried", [])}
