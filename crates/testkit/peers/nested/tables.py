"""Finds the rows of the tables that a dataset's metadata tell of, in the document itself.

A row has the values of a record by their names in the document, and what comes from around the record
under keys of its own: `(CARRIED, n)` for the table's field n, and `(CARRIED, name)` for a column that an
inner table has besides its fields.
"""

import json
import re

import truth

STEP = re.compile(
    r'\.(?P<word>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<key>"(?:[^"\\]|\\.)*")\]|\[(?P<place>[0-9]*)\]'
    r"|\.(?P<any>\*)|\.\{(?P<some>[^}]*)\}"
)
PARENT = "_parent"
CARRIED = "carried"


class NoSuchTable(Exception):
    """The document has no such table."""


class Tables:
    """The tables of a dataset, in its document. `keys_of` gives the keys that a table has of those that its path
    does not name."""

    def __init__(self, told, document, keys_of):
        self.told, self.document, self.keys_of = told, document, keys_of
        self.found = {}

    def rows(self, index):
        """The rows of a table."""
        if index not in self.found:
            self.found[index] = list(self.read(index))
        return self.found[index]

    def read(self, index):
        told = self.told[index]
        path = told["path"]
        if told["kind"] == "inner":
            return self.inner_rows(told)
        if told["kind"] == "grouped":
            return self.grouped_rows(index)
        found = at([self.document], steps(path), path)
        # A path through a list leads to its records, any other to the list of them.
        if told["kind"] in ("list", "values") and "" not in (step["place"] for step in steps(path)):
            found = [element for one in found for element in expect(list, one, path)]
        match told["kind"]:
            case "object" | "list":
                return map(members, found)
            case "values":
                return ({"value": value} for value in found)
            case "map":
                return (row for one in found for row in map_rows(expect(dict, one, path)))
            case "columns":
                return (row for one in found for row in column_rows(expect(dict, one, path)))
            case "rows":
                return (row for one in found for row in list_rows(expect(list, one, path), told))
        raise NoSuchTable(f"the kind {told['kind']} is unknown")

    def grouped_rows(self, index):
        """What lies in lists under several keys, or in several wrappers, with what is said of these."""
        told = self.told[index]
        path, way = told["path"], steps(told["path"])
        start = next(place for place, step in enumerate(way) if is_wild(step))
        (outer,) = at([self.document], way[:start], path)
        for key, wrapper in self.wrappers(index, outer, way[start]):
            inner = at([wrapper], way[start + 1 :], path, is_sure=False)
            if not inner or not isinstance(inner[0], list):
                continue
            around, has_key = {}, key is not None
            for place, field in enumerate(told["fields"]):
                if "carried" in field:
                    around[CARRIED, place] = key if has_key else wrapper.get(field["carried"])
                    has_key = False
            yield from ({**members(element), **around} for element in inner[0])

    def wrappers(self, index, outer, step):
        if step["place"] == "":
            return [(None, one) for one in expect(list, outer, "") if isinstance(one, dict)]
        if step["any"]:
            return list(expect(dict, outer, "").items())
        named = step["some"].split(",")
        keys = [json.loads(f'"{key}"') for key in named if key != "…"]
        if named[-1] == "…":
            keys = [key for key in outer if key in self.keys_of(index)]
        return [(key, outer[key]) for key in keys]

    def inner_rows(self, told):
        """The elements of a list, or the members of an object, in each row of another table.

        Columns go by their names in SQL.
        """
        parent = self.told[told["parent"]]
        outer = self.rows(told["parent"])
        lists = [inside(parent["fields"], row, told["column"]) for row in outer]
        lists = truth.settled(lists)
        for number, (row, value) in enumerate(zip(outer, lists), 1):
            around = {(CARRIED, PARENT): number}
            for name, path in zip(told["carried"], told["carriedFrom"]):
                around[CARRIED, name] = inside(parent["fields"], row, path)
            if told["of"] == "map":
                own = map_rows(value or {}, told.get("valueIsPlain", False))
            else:
                own = [members(element) for element in value or []]
            yield from ({**one, **around} for one in own)

    def columns(self, index):
        """What is told of each column, and the key under which rows have its values."""
        told = self.told[index]
        if told["kind"] == "inner":
            if told.get("hasNumber"):
                yield (CARRIED, PARENT), {"name": PARENT, "type": "integer"}
            for name, path in zip(told["carried"], told["carriedFrom"]):
                yield (CARRIED, name), {**self.field_at(told["parent"], path), "name": name, "column": name}
        for place, field in enumerate(told["fields"]):
            yield row_key(place, field), field

    def field_at(self, index, path):
        """What is told of a path of names in SQL."""
        first, *rest = path
        field = next(field for _, field in self.columns(index) if column_name(field) == first)
        for name in rest:
            field = next(inner for inner in field["fields"] if column_name(inner) == name)
        return field


def steps(path):
    """The steps of a path; `[]` stands for each element of a list, `*` for each member."""
    found, place = [], 1
    while place < len(path):
        step = STEP.match(path, place)
        if not step:
            raise NoSuchTable(f"the path {path} cannot be read")
        found.append(step)
        place = step.end()
    return found


def is_wild(step):
    return step["place"] == "" or step["any"] or step["some"]


def at(found, way, path, is_sure=True):
    """What lies at a path. If it is not sure that there is something, it is passed over where not."""
    for step in way:
        kind = dict if step["place"] is None else list
        found = [expect(kind, one, path) for one in found if is_sure or isinstance(one, kind)]
        if step["place"] == "":
            found = [element for one in found for element in one]
        elif step["place"]:
            found = [one[int(step["place"])] for one in found]
        else:
            key = step["word"] or json.loads(step["key"])
            found = [one[key] for one in found if key in one]
    return found


def expect(kind, value, path):
    if not isinstance(value, kind):
        raise NoSuchTable(f"there is no {kind.__name__} at {path}")
    return value


def members(record):
    return record if isinstance(record, dict) else {} if record is None else {"value": record}


def map_rows(found, is_plain=False):
    return [
        {**({"value": value} if is_plain else members(value)), (CARRIED, 0): key}
        for key, value in zip(found, truth.settled(found.values()))
    ]


def column_rows(columns):
    longest = max(map(len, columns.values()), default=0)
    value = lambda column, place: column[place] if place < len(column) else None
    return [{name: value(column, place) for name, column in columns.items()} for place in range(longest)]


def list_rows(rows, told):
    names = [field["name"] for field in told["fields"]]
    return [dict(zip(names, row)) for row in rows[len(rows) - told["records"] :]]


def inside(fields, row, path):
    """The value at a path of names in SQL."""
    first, *rest = path
    if (CARRIED, first) in row:
        return row[CARRIED, first]
    found = [(place, field) for place, field in enumerate(fields) if column_name(field) == first]
    if not found:
        raise NoSuchTable(f"there is no column {first!r}")
    (place, field), *_ = found
    value = row.get(row_key(place, field))
    if not rest or value is None:
        return value
    return inside(field["fields"], expect(dict, value, first), rest)


def row_key(place, field):
    return (CARRIED, place) if "carried" in field else field["name"]


def column_name(field):
    return field.get("column", field["name"])
