"""Whether what a model has seen suffices to write its next call, and what finding out the rest costs.

The names that the call needs are looked for in the summary, and in the replies so far. For those that
do not stand there, the call is made that a model would make to find them, and counted.
"""

import json
import re
from dataclasses import dataclass, field

import names
import tokens

# What is the same in all summaries says no names.
LABEL = re.compile(
    r"^- (?:(?:Total records|Fields[^:\n]*|Beside them|Tables inside|Sample|Example query):|Table\b)", re.MULTILINE
)
# Of several tables inside, the start that their names share is said once.
INSIDE = re.compile(r"^- Tables inside, named (\w+_)NAME(?:, each (with [^:\n]+))?: (.*)$", re.MULTILINE)
KINDS = "string|integer|float|boolean|timestamp|date|uuid|url|list|map|struct|json|null"
SAMPLE = re.compile(r"^- Sample: .*$", re.MULTILINE)
# A text in a sample, perhaps cut off; with a colon if it is a key.
TEXT = re.compile(r'"(?:[^"\\]|\\.)*(?:"(\s*:)?|$)')
# Columns that rows have in addition; the tools' definitions may name them.
ADDED = re.compile(r"\b_[a-z]\w*")
PAGES, QUERIES = "read-saved-dataset", "analyze-with-duckdb"


@dataclass
class Effort:
    """What it took to know enough for the calls of a question."""

    missing: list = field(default_factory=list)
    calls: int = 0
    tokens: int = 0
    # What was not found out either.
    unknown: list = field(default_factory=list)


class Known:
    """The names that a model has seen when it has the summaries of some items and knows what it asked for."""

    def __init__(self, question, items, tools, definitions):
        self.texts = [names_part(item.summary) for item in items]
        # A question may say a key, as it may say a value; never a column.
        self.question = question.text
        self.given = tools | {item.handle for item in items} | set(ADDED.findall(json.dumps(definitions)))

    def learn(self, text, query=""):
        """Notes a reply, and what the query called its columns."""
        self.texts.append(text)
        self.given |= names.defined_in(query)

    def missing(self, call):
        """The names that a call needs and that were not said."""
        wanted, keys = wanted_by(call)
        return [
            name for name in wanted
            if not self.tells(name) and not (name in keys and names.tells(self.question, name))
        ]

    def tells(self, name):
        is_given = name.casefold() in self.given or name in self.given
        told = tells_as_a_name if name.casefold() in KINDS.split("|") else names.tells
        return is_given or any(told(text, name) for text in self.texts)


def wanted_by(call):
    """The names in a call, and which of them are keys."""
    arguments = call["arguments"]
    if call["name"] == QUERIES:
        return names.of_query(arguments["query"]), names.keys_of_query(arguments["query"])
    return names.of_page(arguments) if call["name"] == PAGES else [], set()


def tells_as_a_name(text, name):
    """True if a word that is also a kind of values stands for a field: where one begins, with a comma, a
    bracket or its kind after it; as a key, after a dot, or at the start of a line of a description."""
    word = re.escape(name)
    starts = r"(?:^\s*|(?<=, )|(?<=\{)|(?<=with )|(?<=[^*]: ))"
    ends = rf"(?=[,)}}]| [(\[{{]| (?:{KINDS})\b|$)"
    said = rf'{starts}{word}{ends}|"{word}"+[: ]|\.{word}(?!\w)|^{word},'
    return re.search(said, text, re.IGNORECASE | re.MULTILINE) is not None


def names_part(summary):
    """A summary without the words that are always there, and without the values of samples."""
    facts = summary.partition("Summary (")[2].partition("\n")[2]
    facts = facts.rpartition("\nThe whole result is kept")[0]
    facts = SAMPLE.sub(lambda line: TEXT.sub(lambda text: text[0] if text[1] else '""', line[0]), facts)
    return LABEL.sub("", INSIDE.sub(in_full, facts))


def in_full(inside):
    """The tables inside, each with its whole name."""
    start, carried, tables = inside.groups("")
    return "- Tables inside: " + re.sub(r"(\w+)(?= \(\d+ rows)", start + r"\1", tables) + ", " + carried


async def find_out(session, known, call, effort):
    """Makes the calls that tell what is missing for `call`, until nothing is."""
    missing = known.missing(call)
    effort.missing += missing
    ahead = list(inquiries(call, missing))
    while missing and ahead:
        inquiry = ahead.pop(0)
        reply = await session.ask(inquiry["name"], inquiry["arguments"])
        effort.calls += 1
        effort.tokens += tokens.count_json(inquiry) + reply.tokens
        if not reply.is_error:
            known.learn(told_by(inquiry, reply.text))
            # What is too long for a reply is saved, so that the names alone can be asked for.
            if is_description(inquiry) and reply.note and reply.handle:
                ahead.insert(0, query(f"SELECT column_name FROM {reply.handle}"))
        missing = known.missing(call)
    effort.unknown += missing


def told_by(inquiry, text):
    """What a reply tells of a dataset; the header of a description is the same for all."""
    return text.partition("\n")[2] if is_description(inquiry) else text


def is_description(inquiry):
    return inquiry["arguments"].get("query", "").startswith("DESCRIBE")


def inquiries(call, missing):
    """What a model asks to find out names: the keys of a column if it lacks nothing else; the tables of
    a result, the columns of a table, a whole record."""
    tables = names.tables_of(call["arguments"])
    _, keys = wanted_by(call)
    if missing and keys.issuperset(missing):
        for column in names.keyed_by(call["arguments"]["query"], missing):
            yield query(f"SELECT DISTINCT unnest(json_keys({column})) FROM {tables[0]}")
    for table in tables:
        if table in missing:
            handle = re.match(r"dataset_[a-z0-9]{8}|\w+", table)[0]
            yield {"name": PAGES, "arguments": {"dataset_id": handle, "summary_only": True}}
    for words in ("DESCRIBE {}", "SELECT * FROM {} LIMIT 1"):
        for table in tables:
            yield query(words.format(table))


def query(text):
    return {"name": QUERIES, "arguments": {"query": text}}
