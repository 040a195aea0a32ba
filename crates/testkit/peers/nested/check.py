"""Sends random nested records through Forebay, and holds every answer against a computation of its own.

    python check.py PROGRAM HOME [--cases N] [--seed S] [--document FILE] [--sessions N]

A case is a document made from a seed (`generate.py`). It comes from a server behind `forebay wrap`; of
every path that the metadata and the summary name, count, distinct, min, max, order and filters are asked
in SQL and compared with what is true of the document (`truth.py`), as is what is told of them. Prints how
much was compared, and for a case that fails its seed, the smallest document that was found to fail, the
query, and what was expected. `--document` checks a file instead.
"""

import argparse
import json
import re
import shutil
import sys
import threading
from pathlib import Path

import generate
import history
import paths
import tables
import told
import truth
from session import Refused, Session

CHUNK = 50
SUMMARY_TOKENS = (2000, 2000, 2000, 600)
MAX_QUESTIONS = 60
MAX_FAILURES = 5
MAX_SHRINKS = 300
EXAMPLE = re.compile(r"(?m)^- Example query: (.*)$")
DATASET = re.compile(r"dataset_[a-z0-9]{8}")


class Counts:
    """How much was looked at."""

    def __init__(self):
        self.cases = self.kept = self.tables = self.paths = self.comparisons = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def __str__(self):
        return (
            f"{self.cases} cases, {self.kept} of them kept, {self.tables} tables, {self.paths} paths, "
            f"{self.comparisons} comparisons"
        )


def result_of(form, value, has_structured):
    """What a tool returns that has this document to give."""
    text = generate.text_of(form, value)
    result = f'{{"content":[{{"type":"text","text":{json.dumps(text)}}}]'
    if has_structured:
        structured = text if isinstance(value, generate.Object) else f'{{"result":{generate.text_of("list", value)}}}'
        result += f',"structuredContent":{structured}'
    return result + "}"


def differences(session, results, counts):
    """What is wrong with what is told of the results of one tool, and with what SQL answers."""
    counts.cases += 1
    tool = f"series_{session.count}"
    kept = []
    for result in results:
        reply = session.produce(result, tool)
        name = DATASET.search(reply["content"][0]["text"])
        if not name:
            return
        metadata = session.metadata(name[0])
        if metadata["format"] not in ("json", "ndjson"):
            return
        document = payload(session, result, metadata)
        facts = metadata.get("tables", [])
        keys_of = lambda index: keys_in(session, table_name(name[0], facts[index], index), facts[index])
        found = tables.Tables(facts, document, keys_of)
        yield from compare_dataset(session, name[0], found, reply, counts)
        if facts:
            kept.append(found)
    counts.kept += 1
    if len(kept) == len(results) > 1:
        asked = list(history.questions(f"{tool}_history", kept))
        counts.comparisons += len(asked)
        yield from ask(session, asked)


def payload(session, result, metadata):
    """The document that the metadata speak of: what was returned, and nothing else."""
    kept = session.kept(metadata["parts"][metadata["payload"]]["file"])
    returned = truth.parse(result)
    text = returned["content"][0]["text"]
    if kept != text and truth.parse(kept) != returned.get("structuredContent"):
        raise tables.NoSuchTable("what is kept is not what was returned")
    if metadata["format"] == "ndjson":
        return [truth.parse(line) for line in kept.split("\n") if line]
    return truth.parse(kept)


def keys_in(session, name, told):
    """The keys that a table has whose path does not name them all."""
    column = paths.quoted(tables.column_name(told["fields"][0]))
    return [row["key"] for row in session.rows(f"SELECT DISTINCT {column} AS key FROM {paths.quoted(name)}")]


def compare_dataset(session, dataset, all_tables, reply, counts):
    summary = reply.get("structuredContent")
    asked, found = [], {}
    for index, table in enumerate(all_tables.told):
        name = table_name(dataset, table, index)
        try:
            rows = all_tables.rows(index)
        except tables.NoSuchTable as why:
            yield f"{name} at {table.get('path')}: {type(why).__name__}: {why}"
            continue
        counts.tables += 1
        if table["records"] != len(rows):
            yield f"{name}: {table['records']} records are told, there are {len(rows)}"
        found[name] = paths.of_table(all_tables, index, name)
        asked.append(paths.count_of(name, len(rows)))
        for column in found[name].values():
            for path in column.all():
                counts.paths += 1
                path.label = f"{name}: {path.label}"
                yield from told.compare_metadata(path)
                if path.is_carried or path.kind in truth.types_of(path.values):
                    asked.extend(paths.questions(path))
    for question in told.text_questions(reply["content"][0]["text"], dataset, found):
        if isinstance(question, str):
            yield question
        else:
            asked.append(question)
    if summary:
        yield from told.compare_whole_summary(summary, found)
        asked.extend(told.summary_questions(summary, found))
    counts.comparisons += len(asked)
    yield from ask(session, asked)
    yield from compare_examples(session, reply, counts)


def compare_examples(session, reply, counts):
    """The queries that a summary suggests find something."""
    examples = EXAMPLE.findall(reply["content"][0]["text"])
    examples += reply.get("structuredContent", {}).get("example_queries", [])
    for query in dict.fromkeys(examples):
        counts.comparisons += 1
        try:
            rows = session.rows(query)
        except Refused as why:
            yield f"example query: {query}\n      error: {str(why)[:300]}"
            continue
        if not rows:
            yield f"example query: {query}\n      has no rows"


def table_name(dataset, table, index):
    return dataset if index == 0 else f"{dataset}_{table.get('name') or index + 1}"


def ask(session, questions):
    """Asks many at once; if that fails, all of a source, and then each alone."""
    for batch in batches(questions):
        try:
            answers = answers_to(session, batch)
        except Refused:
            yield from ask_each(session, batch)
            continue
        for question, answer in answers:
            if not question.is_right(answer):
                yield wrong(question, answer)


def batches(questions):
    """Questions by their sources, as many together as a query has room for."""
    by_source = {}
    for question in questions:
        by_source.setdefault(question.source(), []).append(question)
    batch, size = [], 0
    for group in by_source.values():
        for start in range(0, len(group), MAX_QUESTIONS):
            part = group[start : start + MAX_QUESTIONS]
            if batch and size + len(part) > MAX_QUESTIONS:
                yield batch
                batch, size = [], 0
            batch.append(part)
            size += len(part)
    if batch:
        yield batch


def ask_each(session, groups):
    """Asks those questions alone that cannot be asked together."""
    for group in groups:
        for part in ([group], *([[question]] for question in group)):
            try:
                answers = answers_to(session, part)
            except Refused as why:
                if part[0] is not group:
                    yield wrong(part[0][0], f"error: {str(why)[:300]}")
                continue
            for question, answer in answers:
                if not question.is_right(answer):
                    yield wrong(question, answer)
            if part[0] is group:
                break


def answers_to(session, groups):
    selects = [
        f"SELECT {place} AS i, [{', '.join(f'CAST({question.sql} AS VARCHAR)' for question in group)}] AS v "
        f"FROM {group[0].source()}"
        for place, group in enumerate(groups)
    ]
    answers = {row["i"]: row["v"] for row in session.rows(" UNION ALL ".join(selects))}
    return [pair for place, group in enumerate(groups) for pair in zip(group, answers[place], strict=True)]


def wrong(question, answer):
    query = f"SELECT {question.sql} FROM {question.source()}"
    return f"{question.path.label}: {question.fact}: {query}\n      expected {question.expected()!r}, got {answer!r}"


def check_seed(session, seed, counts):
    form, values = generate.series(seed)
    return list(differences(session, results_of(form, values, seed), counts))


def results_of(form, values, seed):
    return [result_of(form, value, has_structured=seed % 3 != 0) for value in values]


def shrunk(session, seed):
    """The smallest documents that still fail, and what is wrong with them."""
    form, values = generate.series(seed)
    found = None
    tries = MAX_SHRINKS
    is_smaller = True
    while is_smaller and tries > 0:
        is_smaller = False
        for smaller in generate.smaller(values):
            tries -= 1
            if tries < 0:
                break
            wrong_now = list(differences(session, results_of(form, smaller, seed), Counts()))
            if wrong_now:
                values, found, is_smaller = smaller, wrong_now, True
                break
    return "\n    and ".join(generate.text_of(form, value) for value in values), found


class Run:
    """Cases of several sessions side by side."""

    def __init__(self, program, home, seeds):
        self.program, self.home = program, Path(home)
        self.chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
        self.counts, self.failures, self.lock = Counts(), [], threading.Lock()

    def work(self):
        while True:
            with self.lock:
                if not self.chunks or len(self.failures) >= MAX_FAILURES:
                    return
                seeds = self.chunks.pop(0)
            self.chunk(seeds)

    def chunk(self, seeds):
        home = self.home / f"from_{seeds[0]}"
        counts = Counts()
        tokens = SUMMARY_TOKENS[seeds[0] // CHUNK % len(SUMMARY_TOKENS)]
        with Session(self.program, home, tokens) as session:
            for seed in seeds:
                found = check_seed(session, seed, counts)
                if found:
                    self.fail(session, seed, found)
                if len(self.failures) >= MAX_FAILURES:
                    break
        shutil.rmtree(home, ignore_errors=True)
        with self.lock:
            self.counts.add(counts)

    def fail(self, session, seed, found):
        text, smaller = shrunk(session, seed)
        with self.lock:
            self.failures.append(seed)
            print(f"seed {seed}: {len(found)} differences")
            for difference in (smaller or found)[:4]:
                print(f"    {difference}")
            print(f"    of {re.sub(' {2,}', ' ', text)[:1500]}", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("home")
    arguments.add_argument("--cases", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--sessions", type=int, default=2)
    arguments.add_argument("--document")
    given = arguments.parse_args()
    if given.document:
        return check_document(given)
    seeds = list(range(given.seed, given.seed + given.cases))
    run = Run(given.program, given.home, seeds)
    workers = [threading.Thread(target=run.work) for _ in range(given.sessions)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"seeds {seeds[0]} to {seeds[-1]}: {run.counts}; {len(run.failures)} fail: {run.failures}")
    return 1 if run.failures else 0


def check_document(given):
    text = Path(given.document).read_text(encoding="utf-8")
    result = json.dumps({"content": [{"type": "text", "text": text}]})
    counts = Counts()
    with Session(given.program, given.home, SUMMARY_TOKENS[0]) as session:
        found = list(differences(session, [result], counts))
    print("\n".join(found))
    print(counts)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
