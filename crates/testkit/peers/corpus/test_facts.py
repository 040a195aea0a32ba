"""Checks the check: facts written by hand hold, and each wrong one is found."""

import copy
import json
import unittest

import documents
import duckdb
import facts
import nested
import queries
import scalars
import sql
from example import DOCUMENT, INNER, METADATA, NESTED, ROWS, field, lists, plain
from flow import Number


class Database:
    """Answers queries as the program does."""

    def __init__(self, *statements):
        self.connection = duckdb.connect(config={"threads": 1})
        for statement in statements:
            self.connection.execute(statement)

    def __call__(self, query):
        try:
            cursor = self.connection.execute(query)
        except duckdb.Error as why:
            raise sql.Refused(str(why)) from why
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]


def changes(value, way=()):
    """Every single change of a fact in a tree: where it is, and what it is changed to."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from changes(inner, (*way, key))
    elif isinstance(value, list) and way[-1] in ("fields", "tables"):
        for place, inner in enumerate(value):
            yield from changes(inner, (*way, place))
        for place in range(len(value)):
            yield way, value[:place] + value[place + 1 :]
    elif isinstance(value, bool):
        yield way, not value
    elif isinstance(value, int):
        yield from ((way, value + 1), (way, value - 1))
    elif isinstance(value, str):
        yield way, value + "9"
    elif isinstance(value, list):
        yield way, value[1:]


def changed(tree, way, value):
    tree = copy.deepcopy(tree)
    inner = tree
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return tree


class Facts(unittest.TestCase):
    def test_true_facts_hold(self):
        self.assertEqual(list(facts.compare(METADATA, DOCUMENT)), [])
        self.assertEqual(list(facts.compare(INNER, NESTED)), [])

    def test_each_wrong_fact_is_found(self):
        # What tables are called is for queries to find out.
        for metadata, document in ((METADATA, DOCUMENT), (INNER, NESTED)):
            for way, value in changes(metadata["tables"], ("tables",)):
                if way[-1] == "name" and len(way) == 3 or way == ("tables",):
                    continue
                found = list(facts.compare(changed(metadata, way, value), document))
                self.assertNotEqual(found, [], f"{way}: {value}")

    def test_each_fact_that_is_missing_is_found(self):
        for fact in ("min", "max", "top", "longest", "distinct", "nulls"):
            for place, said in enumerate(METADATA["tables"][0]["fields"]):
                if fact in said:
                    metadata = copy.deepcopy(METADATA)
                    del metadata["tables"][0]["fields"][place][fact]
                    self.assertEqual(len(list(facts.compare(metadata, DOCUMENT))), 1, f"{said['name']}.{fact}")
        for place, name, fact in [
            (2, "lines", "items"), (2, "lines", "lists"), (3, "deps", "keys"), (3, "deps", "objects"),
            (4, "misc", "kinds"), (4, "misc", "fields"), (5, "box", "shortestList"), (1, "offer", "fields"),
        ]:
            metadata = copy.deepcopy(INNER)
            self.assertEqual(metadata["tables"][0]["fields"][place]["name"], name)
            del metadata["tables"][0]["fields"][place][fact]
            self.assertNotEqual(list(facts.compare(metadata, NESTED)), [], f"{name} without {fact}")

    def test_an_inner_table_that_is_not_told_is_found_unless_it_is_counted(self):
        for place in (1, 2, 3):
            metadata = copy.deepcopy(INNER)
            del metadata["tables"][place:]
            left_out = {1: 2, 2: 2, 3: 1}[place]
            self.assertNotEqual(list(facts.compare(metadata, NESTED)), [])
            metadata["otherTables"] = left_out
            self.assertEqual(list(facts.compare(metadata, NESTED)), [])

    def test_parents_that_cannot_be_told_apart_are_found(self):
        document = NESTED.replace("a3", "a1")
        found = [one for one in facts.compare(INNER, document) if "does not tell the records apart" in one]
        self.assertEqual(len(found), 2)

    def test_what_objects_are_is_open_but_must_be_true(self):
        rows = '[{"d": {"a": 1, "b": 2}}, {"d": {"a": 3}}]'
        count = plain("integer", 0, 3, 1, "1", "3")
        keys = plain("string", 0, 2, 1, "a", "b", [["a", 2], ["b", 1]])
        members = [field("a", "integer", 0, 2, 1, "1", "3"), field("b", "integer", 1, 1, 1, "2", "2")]
        told = {
            "struct": {"nulls": 0, "fields": members},
            "map": {"nulls": 0, "objects": 2, "keys": keys, "values": count},
            "json": {"nulls": 0, "kinds": {"struct": 2}},
        }
        for kind, rest in told.items():
            table = {"path": "$", "kind": "list", "records": 2, "fields": [{"name": "d", "type": kind, **rest}]}
            metadata = {"format": "json", "recordCount": 2, "tables": [table], "otherTables": int(kind == "map")}
            self.assertEqual(list(facts.compare(metadata, rows)) == [], kind != "json", kind)

    def test_an_empty_list_among_objects_may_be_one_of_them_and_the_other_way_round(self):
        number = Number("1")
        struct = {"type": "struct", "nulls": 0, "fields": [field("a", "integer", 1, 1, 1, "1", "1")]}
        told = lists(0, 2, 0, 1, 1, plain("integer", 0, 1, 1, "1", "1"))
        for said, full, empty in ((struct, {"a": number}, []), (told, [number], {})):
            self.assertEqual(list(nested.compare_tree(said, [full, empty], 2, "d")), [])
            for other in (["x"], {"x": "y"}, "x"):
                self.assertNotEqual(list(nested.compare_tree(said, [full, other], 2, "d")), [])

    def test_wrong_tables_are_found(self):
        changes = [
            {"records": 5}, {"path": "$.a"}, {"path": "$"}, {"kind": "map"}, {"otherFields": 1},
            {"kind": "values"}, {"fields": METADATA["tables"][0]["fields"][1:]},
        ]
        for change in changes:
            metadata = copy.deepcopy(METADATA)
            metadata["tables"][0].update(change)
            self.assertNotEqual(list(facts.compare(metadata, DOCUMENT)), [], change)

    def test_a_wrong_choice_of_table_is_found(self):
        expected = {"format": "json", "tables": [{"path": '$["a b"]', "kind": "list", "records": 4}]}
        self.assertEqual(list(facts.compare_with_expected(METADATA, expected)), [])
        for change in ({"path": "$"}, {"kind": "map"}, {"records": 5}):
            wrong = {"format": "json", "tables": [{**expected["tables"][0], **change}]}
            self.assertEqual(len(list(facts.compare_with_expected(METADATA, wrong))), 1)
        wrong = {**expected, "format": "csv"}
        self.assertEqual(len(list(facts.compare_with_expected(METADATA, wrong))), 1)

    def test_a_first_line_that_is_no_header_counts(self):
        said = {"path": "$", "kind": "list", "records": 3, "fields": []}
        text, expected = "a\t1\nb\t2\nc\t3\n", {"isHeadless": True}
        metadata = {"format": "tsv", "recordCount": 3, "tables": [said]}
        self.assertEqual(list(facts.compare(metadata, text, expected)), [])
        metadata["recordCount"] = said["records"] = 2
        self.assertEqual(len(list(facts.compare(metadata, text, expected))), 1)


class Paths(unittest.TestCase):
    def differences(self, *statements, metadata=INNER):
        tables, _ = facts.tables_of(metadata, NESTED)
        names = [facts.said_name(metadata, said) for said in metadata["tables"]]
        return list(sql.compare(Database(ROWS, *statements), list(zip(names, tables)), "seed"))

    def test_right_rows_hold(self):
        self.assertEqual(self.differences(), [])

    def test_rows_that_are_wrong_are_found(self):
        for statement in (
            "DELETE FROM d WHERE no = 'a2'", "UPDATE d SET offer = {'price': 3, 'is': NULL} WHERE no = 'a3'",
            "ALTER TABLE d ALTER offer TYPE JSON", "ALTER TABLE d DROP lines", "ALTER TABLE d ALTER misc TYPE VARCHAR",
            "UPDATE d SET misc = '1' WHERE no = 'a2'", "UPDATE d SET deps = MAP {'vue': '2'} WHERE no = 'a3'",
            "UPDATE d SET box = [[1, 2, 4]] WHERE no = 'a1'", "DELETE FROM d_lines WHERE sku = 's2'",
            "UPDATE d_lines SET no = 'a2'", "UPDATE d_deps SET key = 'vue' WHERE key = 'zod'", "DROP TABLE d_marks",
            "UPDATE d_marks SET _parent = 2", "UPDATE d SET offer = {'price': NULL, 'is': NULL} WHERE no = 'a2'",
        ):
            self.assertNotEqual(self.differences(statement), [], statement)

    def test_names_that_need_quotes_can_be_asked_for(self):
        text = json.dumps([{'say "hi"': {"a.b": 1, "sel ect": "x"}, "group": {"order": True}}])
        said = [
            {"name": 'say "hi"', "type": "struct", "fields": [
                {"name": "a.b", "type": "integer"}, {"name": "sel ect", "type": "string"},
            ]},
            {"name": "group", "type": "struct", "fields": [{"name": "order", "type": "boolean"}]},
        ]
        metadata = {"id": "d", "format": "json", "tables": [{"path": "$", "kind": "list", "fields": said}]}
        rows = "CREATE TABLE d AS SELECT {'a.b': 1::BIGINT, 'sel ect': 'x'} AS {}, {'order': true} AS {}"
        database = Database(rows.replace("{}", '"say ""hi"""', 1).replace("{}", '"group"', 1))
        (table,), _ = facts.tables_of(metadata, text)
        self.assertEqual(list(sql.compare(database, [("d", table)], "seed")), [])


class Queries(unittest.TestCase):
    def differences(self, *examples, metadata=INNER):
        summary = "Saved as d.\n" + "".join(f"- Example query: {query}\n" for query in examples)
        names = {facts.said_name(metadata, said): said for said in metadata["tables"]}
        return list(queries.compare(Database(ROWS), summary, names))

    def test_right_queries_hold(self):
        found = self.differences(
            "SELECT * FROM d LIMIT 10", "SELECT no, offer.price FROM d WHERE offer.price > 1",
            "SELECT sku, count(*), avg(n) FROM d_lines GROUP BY sku ORDER BY count(*) DESC",
            "SELECT key, count(*) AS times FROM d_deps GROUP BY key",
        )
        self.assertEqual(found, [])

    def test_wrong_queries_are_found(self):
        for query in (
            "SELECT * FROM e", "SELECT * FROM d WHERE no = 'Bob' LIMIT 10", "SELECT avg(no) FROM d",
            "SELECT * FROM d WHERE offer.price = 'x'", "SELECT order FROM d", "SELECT offer.pri FROM d",
        ):
            self.assertEqual(len(self.differences(query)), 1, query)
        self.assertEqual(len(self.differences()), 1)

    def test_a_wrong_count_is_found(self):
        way = ("tables", 1, "fields", 0, "top")
        metadata = changed(INNER, way, [["s1", 1], ["s2", 1]])
        query = "SELECT sku, count(*) FROM d_lines GROUP BY sku"
        self.assertEqual(len(self.differences(query, metadata=metadata)), 1)


class Kinds(unittest.TestCase):
    def test_texts_are_told_apart(self):
        kinds = {
            "2024-01-02": "date", "2024-13-02": "string", "2024-01-02T03:04": "timestamp",
            "2024-01-02t03:04:05,5 utc": "timestamp", "2024-01-02T03:04:05+0100": "timestamp",
            "2024-01-02T03": "string", "https://example.org/a": "url", "https://a b": "string",
            "6BA7B810-9dad-11d1-80b4-00c04fd430c8": "uuid", "2024-01-02\n": "string", "": "string",
        }
        self.assertEqual({text: scalars.kind_of(("text", text)) for text in kinds}, kinds)

    def test_cells_are_typed_by_their_text(self):
        table = documents.separated('a,b,c\r\n1,"x,""y""",\r\n2.5,TRUE,NA\r\n1.0,,007\r\n', ",")
        self.assertEqual((table.records, table.nulls("b"), table.nulls("c")), (3, 1, 1))
        fields = {name: scalars.Field(counts) for name, counts in table.fields.items()}
        self.assertEqual([field.type for field in fields.values()], ["float", "json", "string"])
        self.assertEqual(len(fields["a"].merged), 2)
        self.assertEqual(fields["b"].longest, 5)

    def test_times_written_in_several_ways_have_no_range_and_no_exact_count(self):
        said = {"type": "timestamp", "longest": 20, "distinct": 2, "distinctIsExact": False}
        times = {("text", "2024-01-02T03:04:05Z"): 1, ("text", "2024-01-02 03:04:05Z"): 1}
        self.assertEqual(list(scalars.compare(said, scalars.Field(times), "at")), [])
        for wrong in ({"distinctIsExact": True}, {"min": "2024-01-02 03:04:05Z"}, {"distinct": 1}):
            self.assertEqual(len(list(scalars.compare({**said, **wrong}, scalars.Field(times), "at"))), 1, wrong)

    def test_times_are_moments(self):
        texts = [
            "2024-01-02T03:04:05Z", "2024-01-02 05:04:05+02:00", "2024-01-01T22:04:05.000-0500",
            "2024-01-02T03:04:05",
        ]
        self.assertEqual(len({scalars.instant(text) for text in texts}), 1)
        self.assertIsNone(scalars.instant("2024-02-31T00:00:00Z"))


class Documents(unittest.TestCase):
    def test_tables_of_every_kind_are_read(self):
        cases = [
            ('{"x": {"k": {"v": 1}, "l": {"v": null}}}', "$.x", "map", 2, ["v"]),
            ('{"a": [1, 2], "b": ["x", null]}', "$", "columns", 2, ["a", "b"]),
            ('[["a", "b"], [1, 2], [3, 4]]', "$", "rows", 2, ["a", "b"]),
            ('["x", null, "y"]', "$", "values", 3, ["value"]),
            ('{"g": [{"a": 1}], "h": [{"a": 2}, {"b": 3}]}', "$.*", "grouped", 3, ["a", "b"]),
            ('{"g": [{"a": 1}], "h": [{"b": 2}], "i": [{"c": 2}]}', "$.{g,i}", "grouped", 2, ["a", "c"]),
            ('[{"e": [{"a": 1}]}, {}, {"e": [{"a": 2}]}]', "$[].e", "grouped", 2, ["a"]),
            ('{"d": {"e": [{"node": {"i": 1}}, {"node": {"i": 2}}]}}', "$.d.e[].node", "list", 2, ["i"]),
        ]
        for text, path, kind, records, names in cases:
            table = documents.json_table(text, path, kind)
            found = list(dict.fromkeys(name for row in table for name in row.record))
            self.assertEqual((len(table), found), (records, names))
        for text, path, kind in [
            ('{"a": [1], "b": [1, 2]}', "$", "columns"), ("[1]", "$", "list"), ("[]", "$.x", "list"),
        ]:
            with self.assertRaises(documents.NoSuchTable):
                documents.json_table(text, path, kind)

    def test_keys_and_what_records_lie_in_are_around_them(self):
        (row,) = documents.json_table('{"g": {"of": "x", "e": [{"a": 1}]}}', "$.*.e", "list")
        self.assertEqual((row.around["key"], row.around["of"]), ("g", "x"))
        (row,) = documents.json_table('{"k": {"v": 1, "v": 2}}', "$", "map")
        self.assertEqual((row.around["key"], row.record), ("k", {"v": "1"}))

    def test_wrappers_are_read_without_their_lists(self):
        rows = documents.json_table('[{"a": 1, "b": {"c": [{}], "d": 2}}]', "$", "list")
        (row,) = documents.without(rows, "$", "$[].b.c")
        self.assertEqual(row.record, {"a": "1", "b": {"d": "2"}})

    def test_markdown_tables_are_read_outside_code(self):
        text = "# T\n\n| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 | |\n\ntext\n```\n| c |\n|---|\n| 1 |\n```\n"
        (table,) = documents.markdown(text)
        self.assertEqual((table.records, list(table.fields), table.nulls("b")), (2, ["a", "b"], 1))

    def test_other_forms_are_read(self):
        table = documents.yaml("- { a: 'it''s', b: [1, {c: d}], e: null, f: 2.5, g: NO }\n")
        found = {"a": "it's", "b": ["1", {"c": "d"}], "e": None, "f": "2.5", "g": "NO"}
        self.assertEqual([row.record for row in table], [found])
        self.assertIsInstance(table[0].record["f"], Number)
        table = documents.xml_records('<l><i a="1" b=""/><i a="x&amp;y"/><o/></l>')
        self.assertEqual((table.records, table.nulls("b")), (2, 2))
        table = documents.stanzas("Package: a\nSize: 1\nText: x\n more\n\nPackage: b\n", "Package")
        self.assertEqual((table.records, table.nulls("Size"), table.several_lines), (2, 1, {"Text"}))
        table = documents.ruled("|| of\n||/ Name Size\n+++-====-====\nii  a b  10\nrc  c    2.5 kB\n")
        self.assertEqual((table.records, list(table.fields)), (2, ["status", "Name", "Size"]))
        self.assertEqual(list(table.fields["Size"]), [("number", "10"), ("text", "2.5 kB")])
        self.assertEqual(len(documents.ndjson('{"a": 1}\n\n{"b": 2}\n')), 2)


if __name__ == "__main__":
    unittest.main()
