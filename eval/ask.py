"""The words that questions are written in.

    countries = about("countries.json", read_as="json")
    countries("nested", "What is the capital of Peru?",
        sql("SELECT capital[1] FROM {id} WHERE cca2 = 'PE'"),
        lambda all: next(one["capital"][0] for one in all if one["cca2"] == "PE"))

A question has one or more steps, each a call of an injected tool as a model would write it that has
seen nothing but the summary; `{id}` stands for the handle in it, `{id2}` for that of a second item,
and `{last}` for the one that the reply before points to. The last reply holds the answer. The
expected one is computed from what the server returns by itself: one value, a list of values or rows
in their order, or a set of them in any order.
"""

from collections.abc import Callable
from dataclasses import dataclass

import answers

QUESTIONS = []


@dataclass(frozen=True)
class Step:
    """One call, and how the answer is read from its reply."""

    tool: str
    arguments: dict
    read: Callable


@dataclass(frozen=True)
class Question:
    items: tuple
    kind: str
    text: str
    steps: list
    gold: Callable


def about(*items, read_as):
    """Asks about these items. The expected answer is computed from what they are read as, a property
    of `sources.Source`: the same for all, or a list with one for each."""
    forms = [read_as] * len(items) if isinstance(read_as, str) else read_as

    def ask(kind, text, *steps_and_expected):
        *steps, expected = steps_and_expected

        def gold(*sources):
            return expected(*map(getattr, sources, forms))

        QUESTIONS.append(Question(items, kind, text, steps, gold))

    return ask


def sql(query, **more):
    """SQL over what was kept. The answer is the rows."""
    return Step("analyze-with-duckdb", {"query": query, **more}, answers.table)


def browse(read=None, **arguments):
    """A page of records. The answer is their `fields`, or what `read` takes from the reply."""
    fields = arguments.get("fields")
    of_reply = read or (lambda reply: [tuple(one.get(name) for name in fields) for one in reply["results"]])
    return saved(of_reply, **arguments)


def grep(pattern, read=None, **arguments):
    """Lines that match. The answer is their texts, or what `read` takes from the reply."""
    of_reply = read or (lambda reply: [match["text"] for match in reply["matches"]])
    return saved(of_reply, grep=pattern, **arguments)


def lines(span, **arguments):
    """Lines by number, such as `10-20`. The answer is their texts."""
    return saved(lambda reply: reply["lines"], lines=span, **arguments)


def saved(read, **arguments):
    arguments = {"dataset_id": "{id}"} | arguments
    return Step("read-saved-dataset", arguments, lambda text: read(answers.parsed(text)))


def total(reply):
    """How many records there are, or lines that match."""
    return reply["total_matches"] if "matches" in reply else reply["pagination"]["total_count"]


def numbers(reply):
    """The numbers of the lines that match."""
    return [match["line"] for match in reply["matches"]]


def around(reply):
    """The matches with the lines before and after them, one after the other."""
    parts = ([*match.get("before", []), match["text"], *match.get("after", [])] for match in reply["matches"])
    return [line for part in parts for line in part]
