"""Computes the facts of a kept result anew and prints every difference from its metadata.

    python facts.py METADATA KEPT ORIGINAL SUMMARY [ITEMS NAME]

METADATA is a dataset's metadata file, KEPT its payload, ORIGINAL the text that the tool returned
when it was asked without Forebay, SUMMARY what Forebay put in its place. ITEMS and NAME say what a
person expects (`items.json`). Prints `{"format", "records", "reachable", "differences"}` as JSON: the
records of the original, those of them that the kept file holds, and what is wrong, be it a fact or a
query that the summary suggests. Uses nothing of Forebay's.
"""

import json
import re
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import documents
import queries

EXACT = 20_000
TOLERANCE = 0.05
MAX_LISTED = 64
MAX_LISTED_BYTES = 64
MAX_RANGE_BYTES = 200
TOP = 5
CELLS = ("csv", "tsv", "markdown", "xml", "stanzas")

TIMESTAMP = re.compile(
    r"[0-9]{4}-([0-9]{2})-([0-9]{2})[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
    r"[ \t\r\n\f\v]?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)?",
    re.IGNORECASE,
)
ZONE = re.compile(r"(?<=[0-9])[ \t]?(Z|UTC|[+-][0-9:]*)?$", re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-([0-9]{2})-([0-9]{2})")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
URL = re.compile(r"https?://\S+")
MARKERS = {"NA", "N/A", "NULL", "null", "NaN", "nan", "None"}
TEXT_KINDS = {"string", "timestamp", "date", "uuid", "url"}
WHOLE_NUMBER = re.compile(r"-?[0-9]+")


def kind_of(value):
    sort, text = value
    if sort == "number":
        return "integer" if WHOLE_NUMBER.fullmatch(text) else "float"
    if sort != "text":
        return sort
    for kind, pattern in (("timestamp", TIMESTAMP), ("date", DATE)):
        found = pattern.fullmatch(text)
        if found and 1 <= int(found[1]) <= 12 and 1 <= int(found[2]) <= 31:
            return kind
    return "uuid" if UUID.fullmatch(text) else "url" if URL.fullmatch(text) else "string"


def kind_of_all(counts):
    kinds = {kind_of(value) for value in counts}
    if not kinds:
        return "null"
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"integer", "float"}:
        return "float"
    return "string" if kinds <= TEXT_KINDS else "mixed"


def as_cells(counts):
    """The values of a column of cells. `NA` among numbers is no value; numbers among texts are texts."""
    values = {value: times for value, times in counts.items() if value[1] not in MARKERS}
    if values and kind_of_all(values) not in TEXT_KINDS | {"mixed"}:
        return Counter(values)
    if kind_of_all(counts) in TEXT_KINDS | {"mixed"}:
        texts = Counter()
        for (_, text), times in counts.items():
            texts[("text", text)] += times
        return texts
    return counts


def by_value(counts):
    """The same counts, with equal numbers taken together."""
    merged = Counter()
    for (sort, text), times in counts.items():
        merged[(sort, Decimal(text)) if sort == "number" else (sort, text)] += times
    return merged


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


class Field:
    """What is true of a field, from how often each of its values occurs."""

    def __init__(self, counts, has_cells=False):
        self.counts = counts
        self.merged = by_value(counts)
        kind = kind_of_all(counts)
        # Nothing says that a cell is more than a text.
        self.type = "string" if has_cells and kind == "mixed" else kind
        self.longest = max((size(text) for _, text in counts), default=0)

    def is_numeric(self):
        return self.type in ("integer", "float")

    def range(self):
        if self.is_numeric():
            numbers = [number for _, number in self.merged]
            return min(numbers), max(numbers)
        if self.type in ("string", "timestamp", "date"):
            texts = [text for _, text in self.counts]
            # In different zones the order of the texts is not that of the times.
            if self.type == "timestamp" and len({ZONE.search(text)[0] for text in texts}) > 1:
                return None
            return min(texts), max(texts)
        return None

    def has_top(self):
        is_plain = all(sort not in ("list", "struct") for sort, _ in self.counts)
        is_short = self.longest <= MAX_LISTED_BYTES and len(self.merged) <= MAX_LISTED
        return is_plain and is_short and any(times > 1 for times in self.merged.values())

    def tops(self):
        """The most frequent values. Equally frequent numbers may stand by value or by digits."""
        if self.is_numeric():
            pairs = [(number, times) for (_, number), times in self.merged.items()]
            orders = [lambda pair: (-pair[1], pair[0]), lambda pair: (-pair[1], str(pair[0]))]
            return [sorted(pairs, key=order)[:TOP] for order in orders]
        # Among other values, numbers may count by value or as they are written.
        ways = (self.merged, self.counts)
        pairs = [[(str(value), times) for (_, value), times in way.items()] for way in ways]
        return [sorted(way, key=lambda pair: (-pair[1], pair[0]))[:TOP] for way in pairs]

    def read(self, text):
        return Decimal(text) if self.is_numeric() else text


def compare_field(said, table, is_table_of_cells, is_text_exact):
    """The differences of one field. Where `is_text_exact` is false, nested values have no one text."""
    name = said["name"]
    counts = table.fields[name]
    if is_table_of_cells:
        counts = as_cells(counts)
    field = Field(counts, is_table_of_cells)

    def differs(fact, true):
        return f"{name}.{fact} is {json.dumps(said.get(fact))}, should be {shown(true)}"

    if said.get("type") != field.type:
        yield differs("type", field.type)
        return
    nulls = table.records - counts.total()
    if said.get("nulls") != nulls:
        yield differs("nulls", nulls)
    is_nested = field.type in ("list", "struct", "mixed")
    if name in table.several_lines or (is_nested and not is_text_exact):
        return
    counts = {len(field.merged)}
    if is_table_of_cells:
        # `1` and `1.0`, or `true` and `TRUE`, may count as texts.
        counts |= {len(field.counts), len({text.lower() for _, text in field.counts})}
    is_exact = said.get("distinctIsExact") is True and said.get("distinct") in counts
    if max(counts) <= EXACT:
        if said.get("distinct") not in counts or said.get("distinctIsExact") is not True:
            yield differs("distinct", len(field.merged))
    elif not is_exact and (said.get("distinctIsExact") is not False or all(
        abs(said.get("distinct", 0) - count) > TOLERANCE * count for count in counts
    )):
        yield differs("distinct", f"about {len(field.merged)}")
    if said.get("longest") != field.longest:
        yield differs("longest", field.longest)
    yield from compare_range(said, field, differs)
    yield from compare_top(said, field, differs)


def compare_range(said, field, differs):
    true = field.range()
    for fact, bound in zip(("min", "max"), true or (None, None)):
        if said.get(fact) is None:
            # A long text is no bound worth telling.
            is_long = not field.is_numeric() and field.longest > MAX_RANGE_BYTES
            if bound is not None and not is_long:
                yield differs(fact, bound)
        elif bound is None:
            yield differs(fact, None)
        elif field.type == "float":
            if float(said[fact]) != float(bound):
                yield differs(fact, bound)
        elif field.read(said[fact]) != bound:
            yield differs(fact, bound)


def compare_top(said, field, differs):
    top = said.get("top") or []
    if not field.has_top():
        if top and all(sort not in ("list", "struct") for sort, _ in field.counts):
            yield differs("top", [])
        return
    tops = field.tops()
    if [(field.read(value), times) for value, times in top] not in tops:
        yield differs("top", [[str(value), times] for value, times in tops[0]])


def shown(fact):
    text = fact if isinstance(fact, str) and fact.startswith("about ") else None
    return text or json.dumps(fact if not isinstance(fact, Decimal) else str(fact))


def compare_table(said, table, is_table_of_cells=False, is_text_exact=True):
    """The differences of one table."""
    if said["records"] != table.records:
        yield f"records is {said['records']}, should be {table.records}"
    names = [field["name"] for field in said["fields"]]
    unknown = [name for name in names if name not in table.fields]
    if unknown or len(set(names)) < len(names):
        yield f"fields that are not there, or twice: {unknown[:5]}"
    if len(names) + said.get("otherFields", 0) != len(table.fields):
        left_out = [name for name in table.fields if name not in names]
        yield f"{len(names)} fields of {len(table.fields)}, without {left_out[:5]}"
    for field in said["fields"]:
        if field["name"] in table.fields:
            yield from compare_field(field, table, is_table_of_cells, is_text_exact)


def table_of(said, form, text, first=None):
    """The table that the metadata speak of, read from `text`."""
    if form == "json":
        return documents.json_table(text, said["path"], said["kind"])
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
    for said in tables:
        where = said.get("path", "")
        try:
            table = table_of(said, form, text, expected.get("first"))
        except documents.NoSuchTable as why:
            yield f"{where}: {why}"
            continue
        if is_of_lines(form, expected):
            table = documents.lines(text)
            if said["records"] != table.records:
                yield f"{where}: records is {said['records']}, should be {table.records}"
            continue
        is_table_of_cells = form in CELLS
        is_text_exact = form != "yaml"
        for difference in compare_table(said, table, is_table_of_cells, is_text_exact):
            yield f"{where}: {difference}"


def is_of_lines(form, expected):
    """How a line is taken apart, and what its parts are called, is not this check's to say."""
    return form in ("log", "lines") or expected.get("isHeadless", False)


def compare_queries(summary, metadata, text, expected):
    """What is wrong with the queries that the summary suggests for the main table."""
    if not metadata["tables"]:
        return []
    said, form = metadata["tables"][0], metadata["format"]
    if is_of_lines(form, expected):
        told = {field["name"]: field.get("top", []) for field in said["fields"]}
        columns = {name: Counter({("text", value): times for value, times in top}) for name, top in told.items()}
    else:
        columns = table_of(said, form, text, expected.get("first")).fields
        if form in CELLS:
            columns = {name: as_cells(counts) for name, counts in columns.items()}
    return queries.compare(summary, metadata["id"], said, columns)


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
    return table_of(expected["tables"][0], form, text, expected.get("first")).records


def read(path):
    return Path(path).read_bytes().decode("utf-8")


def main():
    metadata_path, kept_path, original_path, summary_path, *rest = sys.argv[1:]
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
        differences += compare_queries(summary, metadata, original, expected)
        if expected:
            differences += compare_with_expected(metadata, expected)
    report = {"format": metadata.get("format"), "differences": differences}
    if expected:
        report["records"] = records_in(original, expected)
        report["reachable"] = records_in(kept, expected)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
