"""Tables as they are told, with the rows that they really have, and the tables inside them."""

import json

from documents import NoSuchTable, Row
from flow import Number
from nested import DEEP, column_of, compare_names, compare_tree

# Records of more paths than this may be too wide for columns of their own.
WIDE = 1_000


class Told:
    """A table, what is told of it, and its rows."""

    def __init__(self, said, rows, depth=1):
        self.said, self.rows, self.depth = said, rows, depth
        # What is told of the columns that come from a parent.
        self.carried = {}
        self.columns = {column_of(field): field for field in said["fields"]}
        # What fields are called around the records, if they are not the records' own.
        self.outside = {name: field.get("carried") for name, field in self.columns.items()}
        if said["kind"] == "map" or said.get("of") == "map":
            key = "_key" if any("key" in row.record for row in rows) else "key"
            if key in self.outside:
                self.outside[key] = "key"

    def value(self, row, way):
        """The value of a row at a path of names in SQL."""
        first, *others = way or [""]
        if first in row.carried:
            value, fields = row.carried[first], []
        elif first not in self.columns:
            raise NoSuchTable(f"there is no column {first}")
        else:
            field, given = self.columns[first], self.outside[first]
            value = row.record.get(field["name"]) if given is None else row.around.get(given)
            fields = field.get("fields", [])
        for column in others:
            field = field_at(fields, column)
            value = value.get(field["name"]) if isinstance(value, dict) else None
            fields = field.get("fields", [])
        return value

    def compare(self):
        """The differences between what is told and the rows."""
        if self.said["records"] != len(self.rows):
            yield f"records is {self.said['records']}, should be {len(self.rows)}"
        if self.rows and "key" in self.rows[0].around and "key" not in self.outside.values():
            yield "the key is not told"
        own = [field for name, field in self.columns.items() if self.outside[name] is None]
        names = list(dict.fromkeys(key for row in self.rows for key in row.record))
        yield from compare_names({**self.said, "fields": own}, names, "fields")
        depth = DEEP if self.is_wide() else self.depth
        for name, field in self.columns.items():
            values = [self.value(row, [name]) for row in self.rows]
            yield from compare_tree(field, values, len(self.rows), field["name"], depth)

    def is_wide(self):
        """True if there are so many paths in the records that objects may be left as JSON."""
        found = set()
        for row in self.rows:
            found.update(paths_in(row.record))
            if len(found) > WIDE:
                return True
        return False

    def field(self, way):
        """What is told at a path of names in SQL."""
        if way and way[0] in self.carried:
            return self.carried[way[0]]
        found = {"fields": self.said["fields"]}
        for column in way:
            found = field_at(found.get("fields", []), column)
        return found


class Inner(Told):
    """A table inside another: the elements of lists, or the entries of maps, in all its records."""

    def __init__(self, said, parent):
        self.parent = parent
        self.parents = [carried(said, parent, row, number) for number, row in enumerate(parent.rows, 1)]
        field = parent.field(said["column"])
        has_members = field.get("values", {}).get("type") == "struct"
        rows = []
        for row, columns in zip(parent.rows, self.parents):
            value = parent.value(row, said["column"])
            if isinstance(value, list):
                rows += [Row(element or {}, {}, columns) for element in value]
            elif isinstance(value, dict):
                records = ((key, (inner or {}) if has_members else {"value": inner}) for key, inner in value.items())
                rows += [Row(record, {"key": key}, columns) for key, record in records]
        super().__init__({**said, "of": field["type"]}, rows, parent.depth + len(said["column"]) + 1)
        if said.get("hasNumber") or "_parent" in said["carried"]:
            self.carried["_parent"] = {"type": "integer"}
        self.carried |= {name: parent.field(source) for name, source in sources(said) if name != "_parent"}

    def compare(self):
        yield from super().compare()
        if len(self.said.get("carriedFrom", self.said["carried"])) != len(self.said["carried"]):
            yield f"{self.said['carried']} does not come from {self.said['carriedFrom']}"
        if len({json.dumps(one) for one in self.parents}) < len(self.parents) > 1:
            yield f"{self.said['carried']} does not tell the records apart that it lies in"
        names = [name.lower() for columns in self.parents[:1] for name in [*columns, *self.columns]]
        if len(set(names)) < len(names):
            yield f"SQL cannot tell its columns apart: {names}"


def sources(said):
    """The columns that come from a parent, each with where it is there."""
    return list(zip(said["carried"], said.get("carriedFrom") or [[name] for name in said["carried"]]))


def carried(said, parent, row, number):
    """The values that come from a parent's record with what lies in it."""
    number = Number(number)
    columns = {
        name: number if name == "_parent" else parent.value(row, source) for name, source in sources(said)
    }
    return {"_parent": number, **columns} if said.get("hasNumber") else columns


def paths_in(value, way=()):
    """The paths to what holds no others."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths_in(inner, (*way, name))
    elif isinstance(value, list):
        for inner in value:
            yield from paths_in(inner, (*way, None))
    else:
        yield way


def field_at(fields, column):
    for field in fields:
        if column_of(field) == column:
            return field
    raise NoSuchTable(f"there is no column {column}")


def lists_and_maps(fields, column=()):
    """The columns that are tables inside: lists of objects, and maps, in records of these fields."""
    for field in fields:
        way = [*column, column_of(field)]
        if field["type"] == "struct":
            yield from lists_and_maps(field.get("fields", []), way)
        elif field["type"] == "map" or field["type"] == "list" and field.get("items", {}).get("type") == "struct":
            yield way
