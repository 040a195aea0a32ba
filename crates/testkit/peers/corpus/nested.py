"""The facts of values that hold others, computed anew: trees of fields.

Whether objects have members or are maps is Forebay's to decide. Whatever it decides, all that is told
must be true of it, and nothing may be missing that is not counted as left out.
"""

from collections import Counter

import scalars
from flow import Number
from scalars import difference

# What lies deeper in a record may be left as JSON.
DEEP = 12


def sort_of(value):
    if isinstance(value, dict):
        return "struct"
    if isinstance(value, list):
        return "list"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, Number) else "text"


def counted(values):
    """How often each of these values occurs, none of which holds others."""
    return Counter(pair(value) for value in values)


def pair(value):
    if isinstance(value, bool):
        return ("boolean", "true" if value else "false")
    return ("number", str(value)) if isinstance(value, Number) else ("text", value)


def present(values, kind):
    """The values that are there, told to be of this kind.

    Some languages cannot tell an empty map from an empty list: among others it is what they are.
    """
    values = [value for value in values if value is not None]
    if kind in ("struct", "map"):
        return [{} if value == [] else value for value in values]
    return [[] if value == {} else value for value in values] if kind == "list" else values


def types_of(values, depth):
    """What values may be told to be."""
    sorts = {sort_of(value) for value in values}
    if sorts == {"struct", "list"}:
        full = {sort_of(value) for value in values if value}
        return {"json"} | (types_of([value for value in values if value], depth) if len(full) == 1 else set())
    also = {"json"} if depth >= DEEP else set()
    if sorts == {"struct"}:
        return {"struct", "map"} | also if any(values) else {"json"}
    if sorts == {"list"}:
        return {"list"} | also
    if sorts & {"struct", "list"}:
        return {"json"}
    return {scalars.kind_of_all(counted(values))}


def compare_tree(said, values, total, name, depth=1):
    """The differences of what is told of `values`, of which there could be `total`."""
    values = present(values, "json")
    types = types_of(values, depth)
    if said.get("type") not in types:
        yield difference(name, said, "type", " or ".join(sorted(types)))
        return
    if said.get("nulls") != total - len(values):
        yield difference(name, said, "nulls", total - len(values))
    kind = said["type"]
    values = present(values, kind)
    if kind not in ("struct", "list", "map", "json"):
        yield from scalars.compare(said, scalars.Field(counted(values)), name)
        return
    for fact in ("distinct", "min", "max", "top"):
        if said.get(fact) is not None:
            yield difference(name, said, fact, None)
    objects = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    if kind == "json":
        yield from compare_kinds(said, values, name, depth)
    if kind == "struct" or "fields" in said:
        yield from compare_members(said, objects, total, name, depth)
    if kind == "map" or "keys" in said:
        yield from compare_entries(said, objects, name, depth)
    if kind == "list" or "items" in said:
        yield from compare_elements(said, lists, name, depth)


def compare_kinds(said, values, name, depth):
    kinds = Counter()
    for value in values:
        sort = sort_of(value)
        kinds[scalars.kind_of(pair(value)) if sort == "number" else "string" if sort == "text" else sort] += 1
    if said.get("kinds") != dict(kinds):
        yield difference(name, said, "kinds", dict(kinds))
    has_members = any(isinstance(value, dict) and value for value in values)
    if has_members and depth < DEEP and "fields" not in said and "keys" not in said:
        yield f"{name}: what its objects hold is not told"


def compare_members(said, objects, total, name, depth):
    """The members of objects that are alike. A member is null wherever its object is."""
    names = list(dict.fromkeys(key for value in objects for key in value))
    yield from compare_names(said, names, name)
    for field in said.get("fields", []):
        if field["name"] in names:
            inner = [value.get(field["name"]) for value in objects]
            yield from compare_tree(field, inner, total, f"{name}.{field['name']}", depth + 1)


def compare_names(said, names, name):
    fields = said.get("fields", [])
    told, there = [field["name"] for field in fields], set(names)
    unknown = [one for one in told if one not in there]
    if unknown or len(set(told)) < len(told):
        yield f"{name}: fields that are not there, or twice: {unknown[:5]}"
    if len(told) + said.get("otherFields", 0) != len(names):
        left_out = sorted(there - set(told))
        yield f"{name}: {len(told)} fields of {len(names)}, without {left_out[:5]}"
    columns = [column_of(field).lower() for field in fields]
    if len(set(columns)) < len(columns) or "" in columns:
        yield f"{name}: SQL cannot tell these apart: {columns[:20]}"


def compare_entries(said, objects, name, depth):
    entries = [entry for value in objects for entry in value.items()]
    if said.get("objects") != len(objects):
        yield difference(name, said, "objects", len(objects))
    keys, values = [key for key, _ in entries], [value for _, value in entries]
    yield from compare_tree(said.get("keys", {}), keys, len(entries), f"{name}.keys", depth + 1)
    yield from compare_tree(said.get("values", {}), values, len(entries), f"{name}.values", depth + 1)


def compare_elements(said, lists, name, depth):
    lengths = [len(value) for value in lists]
    true = {"lists": len(lists), "elements": sum(lengths)}
    if lengths:
        true |= {"shortestList": min(lengths), "longestList": max(lengths)}
    for fact, count in true.items():
        if said.get(fact) != count:
            yield difference(name, said, fact, count)
    elements = [element for value in lists for element in value]
    yield from compare_tree(said.get("items", {}), elements, len(elements), f"{name}[]", depth + 1)


def column_of(field):
    """What a field is called in SQL."""
    return field.get("column", field["name"])
