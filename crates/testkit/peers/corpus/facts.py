"""Computes the facts of a kept result anew and prints every difference from its metadata.

    python facts.py PROGRAM METADATA KEPT ORIGINAL SUMMARY [ITEMS NAME]

PROGRAM is Forebay, and FOREBAY_HOME says where it keeps the result. METADATA is a dataset's metadata
file, KEPT its payload, ORIGINAL the text that the tool returned when it was asked without Forebay,
SUMMARY what Forebay put in its place. ITEMS and NAME say what a person expects (`items.json`).
Prints `{"format", "records", "reachable", "differences"}` as JSON: the records of the original, those
of them that the kept file holds, and what is wrong: a fact, what SQL has at a path that is told, or a
query that the summary suggests. Uses nothing of Forebay's but its answers.
"""

import json
import re
import sys
from pathlib import Path

import documents
import queries
import scalars
import sql
from nested import compare_names
from scalars import difference
from tables import Inner, Told, lists_and_maps

CELLS = ("csv", "tsv", "markdown", "xml", "stanzas", "table")


def compare_cells(said, table):
    """The differences of one table of cells."""
    if said["records"] != table.records:
        yield f"records is {said['records']}, should be {table.records}"
    yield from compare_names(said, list(table.fields), "fields")
    for field in said["fields"]:
        if field["name"] in table.fields:
            yield from compare_column(field, table)


def compare_column(said, table):
    name = said["name"]
    field = scalars.Field(scalars.as_cells(table.fields[name]), has_cells=True)
    if said.get("type") != field.type:
        yield difference(name, said, "type", field.type)
        return
    nulls = table.records - field.counts.total()
    if said.get("nulls") != nulls:
        yield difference(name, said, "nulls", nulls)
    if name not in table.several_lines:
        yield from scalars.compare(said, field, name)


def table_of(said, form, text, first=None):
    """The table that the metadata speak of, read from `text`."""
    if form == "json":
        rows = documents.json_table(text, said["path"], said["kind"])
        return documents.without(rows, said["path"], said["without"]) if "without" in said else rows
    if form == "markdown":
        names = [field["name"] for field in said["fields"]]
        tables = [table for table in documents.markdown(text) if list(table.fields) == names]
        if not tables:
            raise documents.NoSuchTable(f"no Markdown table has the columns {names}")
        return min(tables, key=lambda table: abs(table.records - said["records"]))
    if form == "stanzas":
        return documents.stanzas(text, re.escape(first or said["fields"][0]["name"]))
    if form in ("csv", "tsv"):
        return documents.separated(text, "," if form == "csv" else "\t")
    readers = {
        "ndjson": documents.ndjson,
        "yaml": documents.yaml,
        "xml": documents.xml_records,
        "table": documents.ruled,
        "log": documents.lines,
        "lines": documents.lines,
    }
    return readers[form](text)


def compare(metadata, text, expected=None):
    """Every difference between the metadata and what `text` holds."""
    form, tables, expected = metadata["format"], metadata["tables"], expected or {}
    if form == "text":
        if tables:
            yield f"a text has tables: {[said['path'] for said in tables]}"
        return
    if tables and metadata.get("recordCount") != tables[0]["records"]:
        yield f"recordCount is {metadata.get('recordCount')}, not that of the first table"
    if is_of_lines(form, expected):
        records = documents.lines(text).records
        for said in tables:
            if said["records"] != records:
                yield f"{said.get('path', '')}: records is {said['records']}, should be {records}"
    elif form in CELLS:
        for said in tables:
            table = table_of(said, form, text, expected.get("first"))
            for one in compare_cells(said, table):
                yield f"{said.get('path', '')}: {one}"
    else:
        found, differences = tables_of(metadata, text)
        yield from differences
        for table in found:
            for one in table.compare() if table else []:
                yield f"{table.said.get('path', '')}: {one}"
        yield from compare_inner_tables(metadata, text)


def tables_of(metadata, text):
    """The tables of records that may hold others, each with its rows, and which are not there."""
    found, differences = [], []
    for said in metadata["tables"]:
        table = None
        try:
            if said["kind"] != "inner":
                table = Told(said, table_of(said, metadata["format"], text))
            elif 0 <= said["parent"] < len(found) and found[said["parent"]]:
                table = Inner(said, found[said["parent"]])
            else:
                differences.append(f"{said['path']}: there is no table {said['parent']} that it lies in")
        except documents.NoSuchTable as why:
            differences.append(f"{said['path']}: {why}")
        found.append(table)
    return found, differences


def compare_inner_tables(metadata, text):
    """Each list of objects and each map in the records of a table is a table, or counted."""
    tables = metadata["tables"]
    there = {(said["parent"], *said["column"]) for said in tables if said["kind"] == "inner"}
    wanted = {
        (place, *column) for place, said in enumerate(tables) for column in lists_and_maps(said["fields"])
    }
    # Others that are counted may lie elsewhere in the document.
    if len(wanted - there) > metadata.get("otherTables", 0) or there - wanted:
        yield f"tables that are not told: {sorted(wanted - there)[:5]}, or are none: {sorted(there - wanted)[:5]}"
    if metadata["format"] != "json":
        return
    for said in tables:
        if said["kind"] == "inner":
            try:
                found, _ = documents.places(documents.parsed(text), said["path"])
            except documents.NoSuchTable:
                found = []
            count = sum(len(value) for value, _ in found if isinstance(value, (list, dict)))
            if count != said["records"]:
                yield f"{said['path']}: {count} records are there, {said['records']} are told"


def is_of_lines(form, expected):
    """How a line is taken apart, and what its parts are called, is not this check's to say."""
    return form in ("log", "lines") or expected.get("isHeadless", False)


def compare_sql(ask, summary, metadata, text, seed):
    """What is wrong with the queries that the summary suggests, and with the paths that are told."""
    if not metadata["tables"]:
        return
    names = {said_name(metadata, said): said for said in metadata["tables"]}
    yield from queries.compare(ask, summary, names)
    if metadata["format"] in ("json", "ndjson", "yaml"):
        found, _ = tables_of(metadata, text)
        yield from sql.compare(ask, [pair for pair in zip(names, found) if pair[1]], seed)


def said_name(metadata, said):
    """What SQL calls a table."""
    return metadata["id"] + (f"_{said['name']}" if said.get("name") else "")


def compare_with_expected(metadata, expected):
    """What a person would call the records is what the first table holds."""
    formats = expected["format"] if isinstance(expected["format"], list) else [expected["format"]]
    if metadata["format"] not in formats:
        yield f"format is {metadata['format']}, expected {' or '.join(formats)}"
        return
    said = [{key: table[key] for key in ("path", "kind", "records")} for table in metadata["tables"]]
    for place, wanted in enumerate(expected.get("tables", [])):
        # The first is the main one; the others only have to be there.
        found = said[:1] if place == 0 else said
        if metadata["format"] in ("lines", "text"):
            continue
        if not any(all(table[key] == wanted[key] for key in wanted) for table in found):
            yield f"expected the table {wanted}, found {found[:3]}"


def records_in(text, expected):
    """How many records a person sees in `text`: those of the main table, otherwise lines."""
    form = expected["format"]
    if isinstance(form, list) or form in ("text", "lines", "log"):
        return documents.lines(text).records
    if form == "markdown":
        return max(table.records for table in documents.markdown(text))
    if "tables" not in expected:
        return documents.lines(text).records
    table = table_of(expected["tables"][0], form, text, expected.get("first"))
    return len(table) if isinstance(table, list) else table.records


def read(path):
    return Path(path).read_bytes().decode("utf-8")


def main():
    program, metadata_path, kept_path, original_path, summary_path, *rest = sys.argv[1:]
    metadata, original = json.loads(read(metadata_path)), read(original_path)
    kept, summary = read(kept_path), read(summary_path)
    differences = []
    if kept != original:
        differences.append("the kept file is not what the tool returned")
    expected = {}
    if rest:
        items_path, name = rest
        expected = next(item for item in json.loads(read(items_path)) if item["name"] == name)
    missing = [key for key in ("format", "tables") if key not in metadata]
    if missing:
        differences.append(f"the metadata lack {missing}")
    else:
        differences += compare(metadata, original, expected)
        # The same sample in every run.
        seed = expected.get("name", "")
        differences += compare_sql(sql.Program(program), summary, metadata, original, seed)
        if expected:
            differences += compare_with_expected(metadata, expected)
    report = {"format": metadata.get("format"), "differences": differences}
    if expected:
        report["records"] = records_in(original, expected)
        report["reachable"] = records_in(kept, expected)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
