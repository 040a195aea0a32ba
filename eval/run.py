"""Asks the questions of `questions/` through a real client, and tells how it went.

    python run.py [--forebay PROGRAM] [WORD…]

With words, only the questions are asked whose kind or one of whose items holds one of them. The exit
status is 1 if an answer is wrong, or if the answers cost more than the target.
"""

import argparse
import importlib
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import answers
import ask
import client
import corpus
import report
import suffice
import tokens

HERE = Path(__file__).resolve().parent


@dataclass
class Outcome:
    """How a question was answered, and what it cost."""

    question: ask.Question
    expected: object
    got: object
    is_correct: bool
    first_tokens: int
    task_tokens: int
    # Beside what the summary tells; in the tokens of the task.
    effort: suffice.Effort
    definition_tokens: int
    raw_tokens: int
    raw_bytes: int
    seconds: float


def main():
    options = arguments()
    for file in sorted((HERE / "questions").glob("*.py")):
        importlib.import_module(f"questions.{file.stem}")
    calls, unavailable = corpus.calls()
    wanted = [question for question in ask.QUESTIONS if is_wanted(question, options.words)]
    asked = [question for question in wanted if not unavailable.keys() & set(question.items)]
    if not asked:
        raise SystemExit("there is no such question")
    start = time.monotonic()
    outcomes = client.run(answer_all, options.forebay, calls, asked)
    report.show(outcomes, len(wanted) - len(asked), unavailable, time.monotonic() - start)
    sys.exit(0 if report.is_good(outcomes) else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forebay", default="forebay", help="the program that is evaluated")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only questions of such a kind or item")
    return parser.parse_args()


def is_wanted(question, words):
    names = [question.kind, *question.items]
    return not words or any(word in name for word in words for name in names)


async def answer_all(forebay, calls, questions):
    with tempfile.TemporaryDirectory(prefix="forebay-eval-") as home:
        async with AsyncExitStack() as stack:
            sessions = await client.open_sessions(stack, forebay, home)
            needed = {item for question in questions for item in question.items}
            unknown = needed - calls.keys()
            if unknown:
                raise SystemExit(f"there are questions about items that there are not: {unknown}")
            captured = {}
            for name, call in calls.items():
                if name in needed:
                    captured[name] = await corpus.capture(sessions, call)
            outcomes = []
            for question in questions:
                session = sessions[calls[question.items[0]]["server"]]
                tools = {name for item in question.items for name in names_of_tool(calls[item])}
                outcomes.append(await answer(session, captured, question, tools))
            return outcomes


def names_of_tool(call):
    """What a model knows without a summary, since it made the call itself."""
    return {call["server"], call["tool"], f"{call['tool']}_history"}


async def answer(session, captured, question, tools):
    """Takes the steps of a question, with nothing but the injected tools."""
    items = [captured[name] for name in question.items]
    known, effort = suffice.Known(question, items, tools, session.definitions), suffice.Effort()
    start = time.monotonic()
    first_tokens = sum(item.summary_tokens for item in items)
    task_tokens, got = first_tokens, None
    handles = {"{id}": items[0].handle} | {f"{{id{n}}}": item.handle for n, item in enumerate(items, 1)}
    for step in question.steps:
        call = {"name": step.tool, "arguments": filled(step.arguments, handles)}
        await suffice.find_out(session, known, call, effort)
        reply = await session.ask(call["name"], call["arguments"])
        task_tokens += tokens.count_json(call) + reply.tokens
        known.learn(f"{reply.text}\n{reply.note}", call["arguments"].get("query", ""))
        handles["{last}"] = reply.handle or "{last}"
        got = read(step, reply)
    seconds = time.monotonic() - start
    expected = expected_of(question, items)
    return Outcome(
        question,
        expected,
        got,
        not isinstance(got, Unread) and not isinstance(expected, Unread) and answers.same(expected, got),
        first_tokens,
        task_tokens + effort.tokens,
        effort,
        tokens.count_json(session.definitions),
        sum(item.raw_tokens for item in items),
        max(item.raw_bytes for item in items),
        seconds,
    )


class Unread(str):
    """That there is no answer, and why."""


NO_ANSWER = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, StopIteration)


def expected_of(question, items):
    try:
        return question.gold(*(item.source for item in items))
    except NO_ANSWER as why:
        return Unread(f"cannot be computed: {type(why).__name__}: {why}")


def read(step, reply):
    if reply.is_error:
        return Unread(reply.text)
    try:
        return step.read(reply.text)
    except NO_ANSWER as why:
        return Unread(f"{type(why).__name__}: {why}, in: {reply.text[:300]}")


def filled(value, handles):
    """The arguments of a step, with the handles in their places."""
    if isinstance(value, dict):
        return {name: filled(one, handles) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, handles) for one in value]
    if isinstance(value, str):
        for name, handle in handles.items():
            value = value.replace(name, handle)
    return value


if __name__ == "__main__":
    main()
