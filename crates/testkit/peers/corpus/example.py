"""Documents, and what is true of them, written by hand: what the check is checked with."""

DOCUMENT = r"""{"total": 4, "a b": [
  {"id": 1, "name": "Zo\u00eb", "at": "2024-01-02T03:04:05Z", "tags": ["x"], "n": 1},
  {"id": 2, "name": "Ann", "at": "2024-01-02T03:04Z", "tags": [], "n": 1.0},
  {"id": 3, "name": null, "at": "2023-12-31T00:00:00Z", "tags": [], "n": 2.5},
  {"id": 4, "name": "Ann", "at": "2024-01-02T03:04:05Z", "tags": [ ], "n": true}
]}"""

NESTED = r"""{"orders": [
  {"no": "a1", "offer": {"price": 1.5, "is": {"new": true}}, "lines": [
      {"sku": "s1", "n": 1, "marks": [{"m": 7}, {"m": 8}]}, {"sku": "s2", "n": null}
    ], "deps": {"react": "1", "zod": "2"}, "misc": {"k": 1}, "box": [[1, 2], [3]]},
  {"no": "a2", "offer": null, "lines": [], "deps": {}, "misc": "text", "box": []},
  {"no": "a3", "offer": {"price": 2}, "lines": [{"sku": "s1", "n": 3}], "deps": {"react": "2"}, "misc": 5}
]}"""


def plain(kind, nulls, distinct, longest, low=None, high=None, top=None):
    bounds = {} if low is None else {"min": low, "max": high}
    listed = {} if top is None else {"top": top}
    exact = {"distinct": distinct, "distinctIsExact": True}
    return {"type": kind, "nulls": nulls, "longest": longest, **exact, **bounds, **listed}


def field(name, *facts, **more):
    return {"name": name, **plain(*facts, **more)}


def lists(nulls, count, shortest, longest, elements, items):
    lengths = {"lists": count, "shortestList": shortest, "longestList": longest, "elements": elements}
    return {"type": "list", "nulls": nulls, **lengths, "items": items}


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
                    "at", "timestamp", 0, 3, 20, "2023-12-31T00:00:00Z", "2024-01-02T03:04Z",
                    [["2024-01-02T03:04:05Z", 2], ["2023-12-31T00:00:00Z", 1], ["2024-01-02T03:04Z", 1]],
                ),
                {"name": "tags", **lists(0, 4, 0, 1, 1, plain("string", 0, 1, 1, "x", "x"))},
                {"name": "n", "type": "json", "nulls": 0, "kinds": {"integer": 1, "float": 2, "boolean": 1}},
            ],
        }
    ],
}

MARKS = lists(2, 1, 2, 2, 2, {"type": "struct", "nulls": 0, "fields": [field("m", "integer", 0, 2, 1, "7", "8")]})
LINE = [
    field("sku", "string", 0, 2, 2, "s1", "s2", [["s1", 2], ["s2", 1]]),
    field("n", "integer", 1, 2, 1, "1", "3"),
    {"name": "marks", **MARKS},
]
KEYS = plain("string", 0, 2, 5, "react", "zod", [["react", 2], ["zod", 1]])
VALUES = plain("string", 0, 2, 1, "1", "2", [["2", 2], ["1", 1]])
NUMBERS = lists(0, 2, 1, 2, 3, plain("integer", 0, 3, 1, "1", "3"))

INNER = {
    "id": "d",
    "format": "json",
    "recordCount": 3,
    "tables": [
        {
            "path": "$.orders",
            "kind": "list",
            "name": "",
            "records": 3,
            "fields": [
                field("no", "string", 0, 3, 2, "a1", "a3"),
                {"name": "offer", "type": "struct", "nulls": 1, "fields": [
                    field("price", "float", 1, 2, 3, "1.5", "2"),
                    {"name": "is", "type": "struct", "nulls": 2, "fields": [field("new", "boolean", 2, 1, 4)]},
                ]},
                {"name": "lines", **lists(0, 3, 0, 2, 3, {"type": "struct", "nulls": 0, "fields": LINE})},
                {"name": "deps", "type": "map", "nulls": 0, "objects": 3, "keys": KEYS, "values": VALUES},
                {"name": "misc", "type": "json", "nulls": 0, "kinds": {"struct": 1, "string": 1, "integer": 1},
                 "fields": [field("k", "integer", 2, 1, 1, "1", "1")]},
                {"name": "box", **lists(1, 2, 0, 2, 2, NUMBERS)},
            ],
        },
        {
            "path": "$.orders[].lines", "kind": "inner", "name": "lines", "parent": 0, "column": ["lines"],
            "carried": ["no"], "records": 3, "fields": LINE,
        },
        {
            "path": "$.orders[].deps", "kind": "inner", "name": "deps", "parent": 0, "column": ["deps"],
            "carried": ["no"], "records": 3, "fields": [{"name": "key", **KEYS}, {"name": "value", **VALUES}],
        },
        {
            "path": "$.orders[].lines[].marks", "kind": "inner", "name": "marks", "parent": 1,
            "column": ["marks"], "carried": ["no", "_parent"], "carriedFrom": [["no"], ["_parent"]], "records": 2,
            "fields": [field("m", "integer", 0, 2, 1, "7", "8")],
        },
    ],
}

# The rows as SQL should have them.
ROWS = """
CREATE TABLE d AS SELECT * FROM (VALUES
  ('a1', {'price': 1.5::DOUBLE, 'is': {'new': true}},
   [{'sku': 's1', 'n': 1::BIGINT, 'marks': [{'m': 7::BIGINT}, {'m': 8::BIGINT}]},
    {'sku': 's2', 'n': NULL, 'marks': NULL}],
   MAP {'react': '1', 'zod': '2'}, '{"k": 1}'::JSON, [[1::BIGINT, 2::BIGINT], [3::BIGINT]]),
  ('a2', NULL, [], MAP {}, '"text"'::JSON, []),
  ('a3', {'price': 2, 'is': NULL}, [{'sku': 's1', 'n': 3, 'marks': NULL}], MAP {'react': '2'}, '5'::JSON, NULL)
) t(no, offer, lines, deps, misc, box);
CREATE TABLE d_lines AS SELECT no, unnest(lines, recursive := false) AS line FROM d;
CREATE OR REPLACE TABLE d_lines AS SELECT no, line.* FROM d_lines;
CREATE TABLE d_deps AS SELECT no, unnest(map_keys(deps)) AS "key", unnest(map_values(deps)) AS "value" FROM d;
CREATE TABLE d_marks AS SELECT 'a1' AS no, 1::BIGINT AS _parent, unnest([7::BIGINT, 8::BIGINT]) AS m;
"""
