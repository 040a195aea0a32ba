"""Tells how the questions were answered, and what that cost beside the results themselves."""

from statistics import median

LARGE_BYTES = 20_000
MAX_SHARE = 0.05
HUGE_TOKENS = 1_000_000
# Results that a model could just about read itself, so that what is spent instead weighs the most.
MIDDLING_TOKENS = range(20_000, 30_001)
MAX_MIDDLING_SHARE = 0.04
NESTED = "nested"
MIN_SUFFICIENT = 0.9
SHOWN_CHARS = 300

COLUMNS = ("Kind", "Questions", "Correct", "First reply", "Whole task", "With definitions", "Raw", "Share")
EFFORTS = ("Kind", "Questions", "Summary suffices", "Share", "Extra calls", "Extra tokens", "Not found out")


def show(outcomes, skipped, unavailable, seconds):
    kinds = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.question.kind, []).append(outcome)
    rows = [row(kind, some) for kind, some in sorted(kinds.items())]
    large, ordinary = of_large_results(outcomes), of_ordinary_results(outcomes)
    rows.append(row("**All**", outcomes))
    rows.append(row("Results of 20 KB and more", large))
    rows.append(row("of which under a million tokens", ordinary))
    rows.append(row("Results of 20 to 30 thousand tokens", of_middling_results(outcomes)))
    print(table(COLUMNS, rows))
    print("\nDoes the summary alone name all that the calls need?\n")
    efforts = [effort_row(kind, some) for kind, some in sorted(kinds.items())]
    print(table(EFFORTS, [*efforts, effort_row("**All**", outcomes)]))
    print(f"\nTokens are o200k. {len(outcomes)} questions in {seconds:.0f} s.", slowest(outcomes))
    print(f"The definitions of the tools have {max(outcome.definition_tokens for outcome in outcomes)} tokens.")
    print(typical(large))
    if skipped:
        print(f"{skipped} questions were passed over, since these are not to be had here:")
        for name, why in unavailable.items():
            print(f"  {name}: {why}")
    print("Targets, with the definitions of the tools in every task:")
    for target, is_met in targets(outcomes).items():
        print(f"  {'met' if is_met else 'MISSED'}: {target}")
    for outcome in outcomes:
        if outcome.effort.missing:
            print(insufficient(outcome))
    for outcome in outcomes:
        if not outcome.is_correct:
            print(wrong(outcome))


def targets(outcomes):
    """What is to be reached, and whether it is."""
    nested = [outcome for outcome in outcomes if outcome.question.kind == NESTED]
    large, middling = share(of_large_results(outcomes)), share(of_middling_results(outcomes))
    return {
        "all answers are correct": all(outcome.is_correct for outcome in outcomes),
        f"a share of at most {MAX_SHARE:.0%} over results of 20 KB and more": large <= MAX_SHARE,
        f"a share of at most {MAX_MIDDLING_SHARE:.0%} over results of 20 to 30 thousand tokens":
            middling <= MAX_MIDDLING_SHARE,
        f"the summary suffices for {MIN_SUFFICIENT:.0%} of the nested questions":
            sufficient(nested) >= MIN_SUFFICIENT * len(nested),
    }


def is_good(outcomes):
    """Whether every answer is right, at no more than a twentieth of the tokens. The closer targets are told, not
    demanded: where files lie on a machine is part of what is counted, and they are met by a hair."""
    is_right = all(outcome.is_correct for outcome in outcomes)
    return is_right and share(of_large_results(outcomes)) <= MAX_SHARE


def sufficient(outcomes):
    return sum(not outcome.effort.missing for outcome in outcomes)


def of_large_results(outcomes):
    return [outcome for outcome in outcomes if outcome.raw_bytes >= LARGE_BYTES]


def of_ordinary_results(outcomes):
    """Without the largest results, whose tokens are most of the sum."""
    return [outcome for outcome in of_large_results(outcomes) if outcome.raw_tokens < HUGE_TOKENS]


def of_middling_results(outcomes):
    return [outcome for outcome in outcomes if outcome.raw_tokens in MIDDLING_TOKENS]


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


def effort_row(name, outcomes):
    efforts = [outcome.effort for outcome in outcomes]
    return (
        name,
        f"{len(outcomes)}",
        f"{sufficient(outcomes)}",
        f"{sufficient(outcomes) / len(outcomes):.1%}",
        f"{sum(effort.calls for effort in efforts)}",
        f"{sum(effort.tokens for effort in efforts):,}",
        f"{sum(bool(effort.unknown) for effort in efforts)}",
    )


def table(columns, rows):
    """Markdown, aligned so that it reads as it is."""
    widths = [max(len(cells[place]) for cells in (columns, *rows)) for place in range(len(columns))]

    def line(cells):
        first, *others = zip(cells, widths)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return f"| {' | '.join(padded)} |"

    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(columns), line(rule), *map(line, rows)])


def slowest(outcomes):
    slow = max(outcomes, key=lambda outcome: outcome.seconds)
    return f"The slowest took {slow.seconds:.1f} s: {slow.question.text}"


def typical(large):
    """What the sums do not show, since the largest results make up most of them."""
    shares = [share([outcome]) for outcome in large] or [0]
    above = sum(one > MAX_SHARE for one in shares)
    told = f"Over results of 20 KB and more the median share is {median(shares):.2%}"
    return f"{told}; {above} are above {MAX_SHARE:.0%}."


def insufficient(outcome):
    question, effort = outcome.question, outcome.effort
    found = f"{effort.calls} calls, {effort.tokens} tokens" if not effort.unknown else "NOT FOUND OUT"
    told = f"{', '.join(question.items)} ({question.kind}): {question.text}"
    return f"not in the summary: {', '.join(effort.missing)} ({found}), for {told}"


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
