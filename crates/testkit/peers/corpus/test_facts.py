"""Checks the check: facts written by hand hold, and each wrong one is found."""

import copy
import unittest

import documents
import facts
import queries

DOCUMENT = r"""{"total": 4, "a b": [
  {"id": 1, "name": "Zo\u00eb", "at": "2024-01-02T03:04:05Z", "tags": ["x"], "n": 1},
  {"id": 2, "name": "Ann", "at": "2024-01-02 03:04Z", "tags": [], "n": 1.0},
  {"id": 3, "name": null, "at": "2023-12-31T00:00:00Z", "tags": [], "n": 2.5},
  {"id": 4, "name": "Ann", "at": "2024-01-02T03:04:05Z", "tags": [ ], "n": true}
]}"""


def field(name, kind, nulls, distinct, longest, low=None, high=None, top=None):
    bounds = {} if low is None else {"min": low, "max": high}
    listed = {} if top is None else {"top": top}
    exact = {"distinct": distinct, "distinctIsExact": True}
    return {"name": name, "type": kind, "nulls": nulls, "longest": longest, **exact, **bounds, **listed}


METADATA = {
    "format": "json",
    "recordCount": 4,
    "tables": [
        {
            "path": '$["a b"]',
            "kind": "list",
            "records": 4,
            "otherFields": 0,
            "fields": [
                field("id", "integer", 0, 4, 1, "1", "4"),
                field("name", "string", 1, 2, 4, "Ann", "Zoë", [["Ann", 2], ["Zoë", 1]]),
                field(
                    "at", "timestamp", 0, 3, 20, "2023-12-31T00:00:00Z", "2024-01-02T03:04:05Z",
                    [["2024-01-02T03:04:05Z", 2], ["2023-12-31T00:00:00Z", 1], ["2024-01-02 03:04Z", 1]],
                ),
                field("tags", "list", 0, 3, 5),
                field("n", "mixed", 0, 3, 4, top=[["1", 2], ["2.5", 1], ["true", 1]]),
            ],
        }
    ],
}


class Facts(unittest.TestCase):
    def test_true_facts_hold(self):
        self.assertEqual(list(facts.compare(METADATA, DOCUMENT)), [])

    def test_each_wrong_fact_is_found(self):
        wrong = {
            "type": "url", "nulls": 3, "distinct": 9, "distinctIsExact": False, "min": "0",
            "max": "9", "longest": 77, "top": [["Ann", 1]],
        }
        for place, said in enumerate(METADATA["tables"][0]["fields"]):
            for fact, value in wrong.items():
                if fact == "top" and said["type"] == "list":
                    continue
                metadata = copy.deepcopy(METADATA)
                metadata["tables"][0]["fields"][place][fact] = value
                found = list(facts.compare(metadata, DOCUMENT))
                self.assertEqual(len(found), 1, f"{said['name']}.{fact}: {found}")
            for fact in ("min", "max", "top"):
                if fact in said:
                    metadata = copy.deepcopy(METADATA)
                    del metadata["tables"][0]["fields"][place][fact]
                    found = list(facts.compare(metadata, DOCUMENT))
                    self.assertEqual(len(found), 1, f"{said['name']} without {fact}: {found}")

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


class Queries(unittest.TestCase):
    def differences(self, *examples, metadata=METADATA):
        summary = "Saved as d.\n" + "".join(f"- Example query: {query}\n" for query in examples)
        return list(facts.compare_queries(summary, {"id": "d", **metadata}, DOCUMENT, {}))

    def test_right_queries_hold(self):
        found = self.differences(
            "SELECT * FROM d LIMIT 10", "SELECT * FROM d WHERE name = 'Zoë' LIMIT 10",
            "SELECT name, count(*), avg(id) FROM d GROUP BY name ORDER BY count(*) DESC",
        )
        self.assertEqual(found, [])

    def test_wrong_queries_are_found(self):
        for query in (
            "SELECT * FROM e", "SELECT * FROM d WHERE name = 'Bob' LIMIT 10", "SELECT avg(name) FROM d",
            "SELECT * FROM d WHERE id = 'x'", "SELECT order FROM d",
        ):
            self.assertEqual(len(self.differences(query)), 1, query)
        self.assertEqual(len(self.differences()), 1)

    def test_a_wrong_count_is_found(self):
        metadata = copy.deepcopy(METADATA)
        metadata["tables"][0]["fields"][1]["top"] = [["Ann", 1], ["Zoë", 1]]
        query = "SELECT name, count(*) FROM d GROUP BY name"
        self.assertEqual(len(self.differences(query, metadata=metadata)), 1)

    def test_names_and_values_of_every_kind_can_be_asked_for(self):
        cases = [
            ("Last_Name2", "O'Brien", "Last_Name2 = 'O''Brien'"), ("group", "''", "\"group\" = ''''''"),
            ("LEFT", "", "\"LEFT\" = ''"), ("2nd name", 'a "b"', "\"2nd name\" = 'a \"b\"'"),
            ('say "hi"', "\\'; DROP", "\"say \"\"hi\"\"\" = '\\''; DROP'"),
            ("Straße", "日本語 ✓", "\"Straße\" = '日本語 ✓'"), ("a.b", "50%", "\"a.b\" = '50%'"),
            ("-- x", "/* */", "\"-- x\" = '/* */'"),
        ]
        for name, value, condition in cases:
            column = condition.split(" = ")[0]
            said = {"records": 3, "fields": [field(name, "string", 0, 2, 9, top=[[value, 2], ["other", 1]])]}
            summary = (
                f"- Example query: SELECT * FROM d WHERE {condition} LIMIT 10\n"
                f"- Example query: SELECT {column}, count(*) FROM d GROUP BY {column} ORDER BY count(*) DESC\n"
            )
            columns = {name: {("text", value): 2, ("text", "other"): 1}}
            self.assertEqual(list(queries.compare(summary, "d", said, columns)), [], name)


class Kinds(unittest.TestCase):
    def test_texts_are_told_apart(self):
        kinds = {
            "2024-01-02": "date", "2024-13-02": "string", "2024-01-02T03:04": "timestamp",
            "2024-01-02t03:04:05,5 utc": "timestamp", "2024-01-02T03:04:05+0100": "timestamp",
            "2024-01-02T03": "string", "https://example.org/a": "url", "https://a b": "string",
            "6BA7B810-9dad-11d1-80b4-00c04fd430c8": "uuid", "2024-01-02\n": "string", "": "string",
        }
        self.assertEqual({text: facts.kind_of(("text", text)) for text in kinds}, kinds)

    def test_cells_are_typed_by_their_text(self):
        table = documents.separated('a,b,c\r\n1,"x,""y""",\r\n2.5,TRUE,NA\r\n1.0,,007\r\n', ",")
        self.assertEqual((table.records, table.nulls("b"), table.nulls("c")), (3, 1, 1))
        fields = {name: facts.Field(counts) for name, counts in table.fields.items()}
        self.assertEqual([field.type for field in fields.values()], ["float", "mixed", "string"])
        self.assertEqual(len(fields["a"].merged), 2)
        self.assertEqual(fields["b"].longest, 5)


class Documents(unittest.TestCase):
    def test_tables_of_every_kind_are_read(self):
        cases = [
            ('{"x": {"k": {"v": 1}, "l": {"v": null}}}', "$.x", "map", 2, ["key", "v"]),
            ('{"a": [1, 2], "b": ["x", null]}', "$", "columns", 2, ["a", "b"]),
            ('[["a", "b"], [1, 2], [3, 4]]', "$", "rows", 2, ["a", "b"]),
            ('["x", null, "y"]', "$", "values", 3, ["value"]),
            ('{"d": {"e": [{"node": {"i": 1}}, {"node": {"i": 2}}]}}', "$.d.e[].node", "list", 2, ["i"]),
        ]
        for text, path, kind, records, names in cases:
            table = documents.json_table(text, path, kind)
            self.assertEqual((table.records, list(table.fields)), (records, names))
        for text, path, kind in [
            ('{"a": [1], "b": [1, 2]}', "$", "columns"), ("[1]", "$", "list"), ("[]", "$.x", "list"),
        ]:
            with self.assertRaises(documents.NoSuchTable):
                documents.json_table(text, path, kind)

    def test_markdown_tables_are_read_outside_code(self):
        text = "# T\n\n| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 | |\n\ntext\n```\n| c |\n|---|\n| 1 |\n```\n"
        (table,) = documents.markdown(text)
        self.assertEqual((table.records, list(table.fields), table.nulls("b")), (2, ["a", "b"], 1))

    def test_other_forms_are_read(self):
        table = documents.yaml("- { a: 'it''s', b: [1, {c: d}], e: null, f: 2.5, g: NO }\n")
        self.assertEqual(list(table.fields["a"]), [("text", "it's")])
        self.assertEqual(list(table.fields["b"]), [("list", "[1, {c: d}]")])
        self.assertEqual([table.nulls(name) for name in "abefg"], [0, 0, 1, 0, 0])
        table = documents.xml_records('<l><i a="1" b=""/><i a="x&amp;y"/><o/></l>')
        self.assertEqual((table.records, table.nulls("b")), (2, 2))
        table = documents.stanzas("Package: a\nSize: 1\nText: x\n more\n\nPackage: b\n", "Package")
        self.assertEqual((table.records, table.nulls("Size"), table.several_lines), (2, 1, {"Text"}))
        self.assertEqual(documents.ndjson('{"a": 1}\n\n{"b": 2}\n').records, 2)


if __name__ == "__main__":
    unittest.main()
