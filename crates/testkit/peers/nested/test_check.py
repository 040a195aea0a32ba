"""Checks the check: of true replies nothing is wrong, and each one that is changed is found.

    python test_check.py PROGRAM HOME

What the program says of one document is recorded; then one thing of it after the other is changed.
"""

import copy
import json
import re
import sys
import unittest

import check
import truth
import words
from session import Refused, Session

DOCUMENT = """[
  {"id": 1, "name": "Zoë", "when": "2024-01-02T03:04:05Z", "offer": {"price": 1.5, "on sale": true, "stores": ["a", "b"]},
   "lines": [{"sku": "x", "count": 2}, {"sku": "y", "count": 1}], "misc": {"a": 1}, "grid": [[1, 2], []]},
  {"id": 2, "name": "Ann", "when": "2024-01-02T03:04:06+02:00", "offer": {"price": 2, "on sale": false, "stores": []},
   "lines": [], "misc": "text", "grid": [[3]]},
  {"id": 3, "name": null, "when": "2023-01-02 03:04", "offer": null, "lines": [{"sku": "x"}], "misc": 7, "day": "2024-02-29"},
  {"id": 4, "name": "Ann", "offer": {"price": 2.0, "stores": [null, "a"]}, "Name": 9007199254740993,
   "lines": [{"sku": null, "count": 5}], "grid": null}
]"""
FACTS = (
    "type", "nulls", "distinct", "min", "max", "top", "lists", "elements", "shortestList", "longestList", "objects", "kinds",
    "records", "lengths",
)


class Recorded:
    """Says what a session said, or what has been made of it."""

    count = 0

    def __init__(self, session, result):
        self.session, self.replies = session, {}
        self.reply = session.produce(result)
        self.facts = session.metadata(check.DATASET.search(self.reply["content"][0]["text"])[0])

    def produce(self, *_):
        return self.reply

    def metadata(self, _):
        return self.facts

    def kept(self, name):
        return self.session.kept(name)

    def rows(self, query):
        if query not in self.replies:
            try:
                self.replies[query] = self.session.rows(query)
            except Refused as why:
                self.replies[query] = why
        if isinstance(self.replies[query], Refused):
            raise self.replies[query]
        return self.replies[query]


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        padded = DOCUMENT + " " * 9000
        structured = f'{{"result":{DOCUMENT.replace(chr(10), " ")}}}'
        cls.result = f'{{"content":[{{"type":"text","text":{json.dumps(padded)}}}],"structuredContent":{structured}}}'
        cls.session = cls.enterClassContext(Session(*ARGUMENTS, 2000))
        cls.recorded = Recorded(cls.session, cls.result)

    def differences(self, recorded):
        return list(check.differences(recorded, [self.result], check.Counts()))

    def test_what_is_true_holds(self):
        self.assertEqual(self.differences(self.recorded), [])

    def test_each_wrong_answer_is_found(self):
        self.differences(self.recorded)
        changed = 0
        for query, rows in self.recorded.replies.items():
            for row, place in [(row, place) for row in rows for place in range(len(row.get("v", [])))]:
                true = row["v"][place]
                row["v"][place] = wrong_answer(true)
                self.assertEqual(len(self.differences(self.recorded)), 1, f"{true} of {query}")
                row["v"][place] = true
                changed += 1
        self.assertGreater(changed, 150)

    def test_each_wrong_fact_is_found(self):
        self.assertGreater(self.change_each(self.recorded.facts, "tables"), 100)

    def test_each_wrong_fact_of_the_summary_is_found(self):
        changed = self.change_each(self.recorded.reply["structuredContent"], "schema")
        self.assertGreater(changed, 50)
        self.assertGreater(self.change_each(self.recorded.reply["structuredContent"], "tables"), 0)

    def test_each_wrong_name_in_words_is_found(self):
        block = self.recorded.reply["content"][0]
        original = block["text"]
        dataset = check.DATASET.search(original)[0]
        names = [field.name for _, _, fields in words.tables(original, dataset) for field in fields]
        for name in names:
            block["text"] = re.sub(rf"(?<=[ (.]){re.escape(name)}(?=[ ,)-])", words.plain(name) + "_x", original)
            self.assertNotEqual(block["text"], original, name)
            self.assertNotEqual(self.differences(self.recorded), [], name)
        block["text"] = original
        self.assertGreater(len(names), 12)

    def change_each(self, holder, key):
        """Changes one fact after the other, and returns how many there were."""
        original = holder[key]
        places = list(facts_in(original))
        for place in places:
            holder[key] = copy.deepcopy(original)
            inner = holder[key]
            for step in place[:-1]:
                inner = inner[step]
            inner[place[-1]] = wrong_fact(inner[place[-1]])
            self.assertNotEqual(self.differences(self.recorded), [], place)
        holder[key] = original
        return len(places)


def facts_in(told, place=()):
    """Where facts are told."""
    members = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, value in members:
        if key in FACTS and place and place[-1] != "top":
            yield (*place, key)
        else:
            yield from facts_in(value, (*place, key))


def wrong_answer(true):
    if true is None:
        return "7"
    if true.startswith("["):
        return json.dumps(truth.parse(true)[1:])
    try:
        return str(int(true) + 1)
    except ValueError:
        return {"true": "false", "false": "true"}.get(true, f"1{true}" if true[0].isdigit() else f"x{true}")


def wrong_fact(true):
    match true:
        case int():
            return true + 1
        case str():
            return f"1{true}" if true[:1].isdigit() else f"x{true}"
        case dict():
            return {key: count + 1 for key, count in true.items()}
        case [[_, _], *_]:
            return [[value, count + 1] for value, count in true]
    return [one + 1 for one in true]


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
