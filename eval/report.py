"""Tells how the questions were answered, and what that cost beside the results themselves."""

from statistics import median

LARGE_BYTES = 20_000
MAX_SHARE = 0.05
HUGE_TOKENS = 1_000_000
SHOWN_CHARS = 300

COLUMNS = ("Kind", "Questions", "Correct", "First reply", "Whole task", "With definitions", "Raw", "Share")


def show(outcomes, skipped, unavailable, seconds):
    kinds = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.question.kind, []).append(outcome)
    rows = [row(kind, some) for kind, some in sorted(kinds.items())]
    large, ordinary = of_large_results(outcomes), of_ordinary_results(outcomes)
    rows.append(row("**All**", outcomes))
    rows.append(row("Results of 20 KB and more", large))
    rows.append(row("of which under a million tokens", ordinary))
    print(table(rows))
    print(f"\nTokens are o200k. {len(outcomes)} questions in {seconds:.0f} s.", slowest(outcomes))
    print(f"The definitions of the tools have {max(outcome.definition_tokens for outcome in outcomes)} tokens.")
    print(typical(large))
    if skipped:
        print(f"{skipped} questions were passed over, since these are not to be had here:")
        for name, why in unavailable.items():
            print(f"  {name}: {why}")
    print(f"Target: all correct, and a share of at most {MAX_SHARE:.0%} over results of 20 KB and more,")
    print("with the definitions of the tools in every task.", "Met." if is_good(outcomes) else "MISSED.")
    for outcome in outcomes:
        if not outcome.is_correct:
            print(wrong(outcome))


def is_good(outcomes):
    return all(outcome.is_correct for outcome in outcomes) and share(of_large_results(outcomes)) <= MAX_SHARE


def of_large_results(outcomes):
    return [outcome for outcome in outcomes if outcome.raw_bytes >= LARGE_BYTES]


def of_ordinary_results(outcomes):
    """Without the largest results, whose tokens are most of the sum."""
    return [outcome for outcome in of_large_results(outcomes) if outcome.raw_tokens < HUGE_TOKENS]


def share(outcomes):
    """The tokens of whole tasks, definitions included, by those of the results."""
    cost = sum(outcome.task_tokens + outcome.definition_tokens for outcome in outcomes)
    return cost / max(1, sum(outcome.raw_tokens for outcome in outcomes))


def row(name, outcomes):
    def sum_of(key):
        return sum(key(outcome) for outcome in outcomes)

    task = sum_of(lambda outcome: outcome.task_tokens)
    return (
        name,
        f"{len(outcomes)}",
        f"{sum_of(lambda outcome: outcome.is_correct)}",
        f"{sum_of(lambda outcome: outcome.first_tokens):,}",
        f"{task:,}",
        f"{task + sum_of(lambda outcome: outcome.definition_tokens):,}",
        f"{sum_of(lambda outcome: outcome.raw_tokens):,}",
        f"{share(outcomes):.2%}",
    )


def table(rows):
    """Markdown, aligned so that it reads as it is."""
    widths = [max(len(cells[place]) for cells in (COLUMNS, *rows)) for place in range(len(COLUMNS))]

    def line(cells):
        first, *others = zip(cells, widths)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return f"| {' | '.join(padded)} |"

    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(COLUMNS), line(rule), *map(line, rows)])


def slowest(outcomes):
    slow = max(outcomes, key=lambda outcome: outcome.seconds)
    return f"The slowest took {slow.seconds:.1f} s: {slow.question.text}"


def typical(large):
    """What the sums do not show, since the largest results make up most of them."""
    shares = [share([outcome]) for outcome in large] or [0]
    above = sum(one > MAX_SHARE for one in shares)
    told = f"Over results of 20 KB and more the median share is {median(shares):.2%}"
    return f"{told}; {above} are above {MAX_SHARE:.0%}."


def wrong(outcome):
    question = outcome.question
    return "\n".join([
        f"\nWRONG {', '.join(question.items)} ({question.kind}): {question.text}",
        *(f"  asked    {step.tool} {step.arguments}" for step in question.steps),
        f"  expected {shown(outcome.expected)}",
        f"  got      {shown(outcome.got)}",
    ])


def shown(answer):
    text = repr(answer) if not isinstance(answer, str) else answer
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text)} characters)"
