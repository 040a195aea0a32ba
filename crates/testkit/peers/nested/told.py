"""Holds what is told of paths against what is true: the metadata's facts, and the summary's."""

import truth
import words
from paths import Question, kinds

MAX_VALUE_CHARS = 40
MAX_EXACT = 20_000
HIDDEN = {*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF}


def compare_metadata(path):
    """What is wrong with the facts that the metadata tell of one path."""
    told = path.told
    if path.is_carried:
        # It is told of where it comes from.
        return
    yield from compare_type(path, told)
    if path.kind not in truth.types_of(path.values):
        return
    nulls = len(path.values) - len(path.present())
    yield from compare(path, told, "nulls", nulls, is_required=True)
    if path.is_scalar():
        yield from compare_scalar(path, told, lambda text: text)
    elif path.kind == "list":
        lengths = [len(value) for value in path.of(list)]
        yield from compare(path, told, "lists", len(lengths))
        yield from compare(path, told, "elements", sum(lengths))
        yield from compare(path, told, "shortestList", min(lengths, default=None))
        yield from compare(path, told, "longestList", max(lengths, default=None))
    elif path.kind == "map":
        yield from compare(path, told, "objects", len(path.of(dict)))
    elif path.kind == "json":
        yield from compare_kinds(path, told)
        for member in path.told_members.values():
            for inner in member.all():
                yield from compare_metadata(inner)


def compare_summary(path, told):
    """What is wrong with the facts that the summary's JSON tells of a path, and of those inside it."""
    if told.get("type") != path.kind:
        yield difference(path, "summary's type", told.get("type"), path.kind)
        return
    nulls = len(path.values) - len(path.present())
    # Where nothing is told in full, none are told either.
    if "nulls" in told or "distinct" in told:
        yield from compare(path, {"nulls": told.get("nulls", 0)}, "nulls", nulls)
    if path.is_scalar():
        if "distinct_about" in told:
            # Times that are written in different ways may be the same.
            counts = truth.counts_of_distinct(path.kind, path.values)
            if path.kind != "timestamp" or told["distinct_about"] not in counts:
                yield difference(path, "distinct_about", told["distinct_about"], counts)
        told = {**told, "top": list(told["top"].items())} if "top" in told else told
        yield from compare_scalar(path, told, harmless)
    elif path.kind == "list":
        lengths = [len(value) for value in path.of(list)]
        yield from compare(path, told, "lengths", [min(lengths, default=None), max(lengths, default=None)])
        if "items" in told:
            yield from compare_summary(path.items, told["items"])
    elif path.kind == "map":
        yield from compare(path, told, "keys", len(set(path.keys.values)))
        if "values" in told:
            yield from compare_summary(path.each, told["values"])
    elif path.kind == "json":
        yield from compare_kinds(path, told)
        yield from compare_fields(path.told_members, told, path.label)
    elif path.kind == "struct":
        yield from compare_fields(path.members, told, path.label)


def compare_fields(members, told, label):
    """What is wrong with the fields that the summary tells of a table or a struct."""
    for field in told.get("fields", []):
        if path := named(members, field["name"]):
            yield from compare_summary(path, field)
        else:
            yield f"{label}: the summary names {field['name']!r}, the metadata do not"
    shown = len(told.get("fields", [])) + told.get("fields_left_out", 0)
    own = [path for path in members.values() if not path.is_carried]
    if shown != len(own):
        yield f"{label}: the summary tells and counts {shown} fields of {len(own)}"


def named(members, name):
    """The member of this name; one of a value that is JSON is told of by the way to it."""
    if keys := words.keys(name):
        return next((path for path in members.values() if path.told["name"] == keys[-1]), None)
    return members.get(name)


def compare_type(path, told):
    allowed = truth.types_of(path.values)
    if told["type"] not in allowed:
        yield difference(path, "type", told["type"], " or ".join(sorted(allowed)))


def compare_scalar(path, told, shorten):
    """Compares distinct values, range and frequent values. `shorten` is how a text is told."""
    kind, counted = path.kind, truth.tally(path.kind, path.values)
    if "distinct" in told and told["distinct"] not in truth.counts_of_distinct(kind, path.values):
        yield difference(path, "distinct", told["distinct"], len(counted))
    for fact, true in (("min", min(counted, default=None)), ("max", max(counted, default=None))):
        if fact in told and not says(kind, told[fact], true, path, shorten):
            yield difference(path, fact, told[fact], true)
    for value, times in told.get("top", []):
        if times not in times_of(kind, value, path, shorten):
            yield difference(path, "top", [value, times], times_of(kind, value, path, shorten))


def says(kind, text, true, path, shorten):
    """True if a told value stands for this one."""
    fitting = [one for one in path.present() if truth.in_sql(kind, one) == true]
    return any(is_told_as(kind, one, text, shorten) for one in fitting)


def times_of(kind, text, path, shorten):
    """How often a told value occurs; several counts if it may stand for several values."""
    fitting = [one for one in path.present() if is_told_as(kind, one, text, shorten)]
    counted = truth.tally(kind, path.values)
    held = {truth.in_sql(kind, one) for one in fitting}
    # A time may be counted as it is written.
    return {counted[one] for one in held} | {fitting.count(one) for one in fitting}


def is_told_as(kind, value, text, shorten):
    match kind:
        case "integer":
            return str(value) == text
        case "float":
            return number(text) == float(value)
        case "boolean":
            return str(value).lower() == text
    return shorten(value) == text


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def compare_kinds(path, told):
    true = dict(kinds(path.values))
    if "kinds" in told and told["kinds"] != true:
        yield difference(path, "kinds", told["kinds"], true)


def compare(path, told, fact, true, is_required=False):
    if (fact in told or is_required) and told.get(fact) != true:
        yield difference(path, fact, told.get(fact), true)


def difference(path, fact, told, true):
    return f"{path.label}: {fact} is told as {told!r}, should be {true!r}"


def harmless(text):
    """A text as the summary shows it: short, without what a reader cannot see."""
    out = ""
    for character in text:
        if len(out) == MAX_VALUE_CHARS:
            return out + "…"
        if character.isspace():
            out += "" if out.endswith(" ") else " "
        elif ord(character) in HIDDEN or ord(character) < 32 or 127 <= ord(character) < 160:
            out += "\ufffd"
        else:
            out += character
    return out


def compare_whole_summary(summary, found):
    """What is wrong with the summary's JSON, given the paths of each table."""
    for name, table in tables_in(summary):
        if name not in found:
            yield f"the summary names the table {name!r}, the metadata do not"
            continue
        columns = found[name]
        if "fields" in table:
            yield from compare_fields(columns, table, name)
        records = {len(column.values) for column in columns.values()} or {table["records"]}
        if {table["records"]} != records:
            yield f"{name}: the summary tells {table['records']} records, there are {records}"
        carried = [column for column, path in columns.items() if path.is_carried]
        if sorted(table.get("with", [])) != sorted(carried):
            yield f"{name}: the summary tells of rows with {table.get('with')}, they come with {carried}"


def tables_in(summary):
    """The tables that the summary's JSON tells of, the main one first."""
    if "schema" in summary:
        yield summary["dataset_id"], {"records": summary["record_count"], **summary["schema"]}
    for table in summary.get("tables", []):
        yield table["name"], table


def summary_questions(summary, found):
    """What the summary's JSON says of values that are JSON can be asked as it is written."""
    for name, table in tables_in(summary):
        yield from json_questions(found.get(name, {}), table)


def json_questions(members, told):
    for field in told.get("fields", []):
        path = named(members, field["name"])
        if path is None:
            continue
        if words.keys(field["name"]):
            yield Question(path, "as told", f"count({field['name']})", len(path.present()))
        elif "reach" in field:
            yield Question(path, f"reach {field['reach']}", f"count({field['reach']})", len(path.present()))
        yield from json_questions(path.members or path.told_members, field)


def text_questions(text, dataset, found):
    """What a summary in words names can be asked as it is written there; names that are not there are texts."""
    try:
        told = list(words.tables(text, dataset))
    except words.Unreadable as why:
        yield f"the summary in words cannot be read at {why}"
        return
    for name, records, fields in told:
        columns = found.get(words.plain(name))
        if columns is None:
            yield f"the summary in words names the table {name}, the metadata do not"
            continue
        lengths = {len(column.values) for column in columns.values()}
        if records is not None and lengths and lengths != {records}:
            yield f"{name}: the summary in words tells {records} records, there are {lengths}"
        for field in fields:
            if question := text_question(columns, name, field):
                yield question


def text_question(columns, name, field):
    path, members = None, columns
    for how, one in field.way():
        while how != "member" and path.kind in ("list", "map"):
            path = path.items or path.each
            members = path.members or path.told_members
        path = named(members, one if how == "json" else words.plain(one))
        if path is None:
            return f"{name}: the summary in words names {field.way()}, the metadata do not"
        members = path.members or path.told_members
    if field.is_asked_directly():
        return Question(path, "in words", f"count({field.expression()})", len(path.present()))
    return None
