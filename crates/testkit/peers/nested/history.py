"""Several results of one tool, asked as one: `TOOL_history`.

A column has one type in all of them wherever the values allow it, and is NULL where a result lacks it.
"""

import paths
import truth
from tables import column_name

# What is only counted, because the results do not agree on it.
ANY = "any"


def columns(name, results):
    """The paths of the first tables' columns over all results."""
    told = merged([[field for _, field in result.columns(0)] for result in results])
    found = {}
    for field in told:
        column = column_name(field)
        values = [value for result in results for value in values_of(result, field["name"])]
        found[column] = paths.Path(field, column, paths.quoted(name), paths.quoted(column), values)
    return found


def values_of(result, name):
    """The values of a field in each row of a result, if it has the field."""
    key = next((key for key, field in result.columns(0) if field["name"] == name), None)
    return [row.get(key) for row in result.rows(0)]


def merged(lists):
    """Fields of several results as one list: by their names, where all call them the same."""
    by_name, names = {}, {}
    for fields in lists:
        for field in fields:
            by_name.setdefault(field["name"], []).append(field)
            names.setdefault(column_name(field).lower(), set()).add(field["name"])
    found = []
    for name, fields in by_name.items():
        columns = {column_name(field) for field in fields}
        if len(columns) == 1 and len(names[columns.pop().lower()]) == 1:
            found.append({**fields[0], **merged_facts(fields)})
    return found


def merged_facts(told):
    """The type that covers all, and what lies inside, if that agrees."""
    told = [one for one in told if one["type"] != "null"] or told[:1]
    kinds = {one["type"] for one in told}
    inside = {
        "struct": lambda: {"fields": merged([one["fields"] for one in told])},
        "list": lambda: {"items": merged_facts([one["items"] for one in told])},
        "map": lambda: {fact: merged_facts([one[fact] for one in told]) for fact in ("keys", "values")},
    }
    if len(kinds) == 1:
        (kind,) = kinds
        facts = {"type": kind, **inside[kind]()} if kind in inside else {"type": kind}
        return {"type": ANY} if ANY in types_in(facts) else facts
    if kinds == {"integer", "float"}:
        return {"type": "float"}
    return {"type": "string" if kinds <= truth.TEXT_KINDS else ANY}


def types_in(facts):
    """All types in what is told."""
    yield facts["type"]
    for inner in [*facts.get("fields", []), *(facts[fact] for fact in ("items", "keys", "values") if fact in facts)]:
        yield from types_in(inner)


def questions(name, results):
    """What is asked of a history."""
    yield paths.count_of(name, sum(len(result.rows(0)) for result in results))
    for column in columns(name, results).values():
        for path in column.all():
            if path.kind == ANY:
                yield paths.Question(path, "count", f"count({path.expression})", len(path.present()))
            else:
                yield from paths.questions(path)
