"""Scores runs of a search over the sets, as Markdown; fails if the fusion is not worth its name.

    python score.py SETS RUN [--beside RUN2]

SETS is the folder that `sets.py` has written. RUN has lines of set, way (`words`, `vectors` or `fused`),
query, rank (from 1 on) and document, separated by tabs. Exits with 1 if a fused figure is below that of
words or of vectors, if a target is missed, or if a way or a query of a set has no line at all in RUN.
With RUN2, such as one with the vectors elsewhere, also if one of its figures differs from that of RUN by more than
one per cent.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path

WAYS = ("words", "vectors", "fused")
DEPTH = 10


def ndcg(ranked, grades):
    """Normalised discounted cumulative gain of the first ten; the gain of a document is its grade."""
    best = sorted(grades.values(), reverse=True)
    return discounted(grades.get(document, 0) for document in ranked) / discounted(best)


def discounted(gains):
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(list(gains)[:DEPTH]))


def binary_ndcg(ranked, grades):
    """The same if all relevant documents are alike."""
    return ndcg(ranked, {document: 1 for document, grade in grades.items() if grade > 0})


def reciprocal_rank(ranked, grades):
    """Of the first relevant document, however far down."""
    return next((1 / place for place, document in enumerate(ranked, 1) if grades.get(document, 0) > 0), 0)


def recall(ranked, grades):
    """The part of the relevant documents that is among the first ten."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:DEPTH])) / len(relevant)


MEASURES = {
    "nDCG@10": ndcg,
    "binary nDCG@10": binary_ndcg,
    "MRR": reciprocal_rank,
    "recall@10": recall,
}
# What must be reached by the fusion, in per cent.
TARGETS = {("cranfield", "nDCG@10"): 42.0, ("paraphrased", "recall@10"): 85.0}
# What the fusion must not lose against either of its parts, on any set.
COMPARED = ("nDCG@10", "MRR")
# By so many per cent a figure may differ from the same one of another run.
MOST_APART = 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--beside", type=Path, metavar="RUN2")
    arguments = parser.parse_args()
    figures, complaints = figures_of(arguments.sets, arguments.run)
    print(table(figures))
    complaints += shortcomings(figures)
    if arguments.beside:
        others, missing = figures_of(arguments.sets, arguments.beside)
        print(f"\n{table(others)}")
        complaints += missing
        complaints += differences(figures, others)
    for complaint in complaints:
        print(f"- {complaint}", file=sys.stderr)
    sys.exit(1 if complaints else 0)


def figures_of(sets, path):
    """The figures of a run by set and way, and what is missing in it."""
    run, figures, missing = read_run(path), {}, []
    for directory in sorted(path.parent for path in sets.glob("*/queries.jsonl")):
        queries = [json.loads(line) for line in (directory / "queries.jsonl").open()]
        for way in WAYS:
            ranked = run[directory.name, way]
            if not ranked:
                missing.append(f"{directory.name} was not searched by {way} in {path}")
            figures[directory.name, way] = scored(ranked, queries)
    return figures, missing


def differences(figures, others):
    """The figures of two runs that are further apart than they may be."""
    for (name, way), means in figures.items():
        for measure, mean in means.items():
            other = others[name, way][measure]
            if abs(mean - other) > max(mean, other) * MOST_APART / 100 + 1e-9:
                yield f"{name}: {measure} by {way} is {mean:.1f}, and {other:.1f} in the other run"


def read_run(path):
    """The documents in their order, by query, by set and way."""
    found = defaultdict(lambda: defaultdict(list))
    with open(path) as lines:
        for line in lines:
            name, way, query, rank, document = line.rstrip("\n").split("\t")
            found[name, way][query].append((int(rank), document))
    ordered = defaultdict(dict)
    for key, queries in found.items():
        ordered[key] = {query: [document for _, document in sorted(some)] for query, some in queries.items()}
    return ordered


def scored(ranked, queries):
    """The mean of each measure in per cent; a query that nothing was found for counts as 0."""
    means = {}
    for name, measure in MEASURES.items():
        values = [measure(ranked.get(query["id"], []), query["relevant"]) for query in queries]
        means[name] = 100 * sum(values) / len(values)
    return means


def shortcomings(figures):
    for name in sorted({name for name, _ in figures}):
        fused = figures[name, "fused"]
        for measure in COMPARED:
            for way in WAYS[:2]:
                other = figures[name, way][measure]
                # The figures are means; what differs in the last bit is the same.
                if fused[measure] < other - 1e-9:
                    yield f"{name}: {measure} is {fused[measure]:.1f} fused, {other:.1f} by {way}"
    for (name, measure), target in TARGETS.items():
        if (name, "fused") not in figures:
            yield f"{name} is not among the sets"
        elif figures[name, "fused"][measure] < target:
            yield f"{name}: {measure} is {figures[name, 'fused'][measure]:.1f} fused, not {target}"


def table(figures):
    lines = ["| Set | Way | " + " | ".join(MEASURES) + " |", "|---|---|" + "--:|" * len(MEASURES)]
    for (name, way), means in figures.items():
        lines.append(f"| {name} | {way} | " + " | ".join(f"{mean:.1f}" for mean in means.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
