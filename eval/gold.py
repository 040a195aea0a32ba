"""Small sums for expected answers. Nothing (`None`) counts for nothing, as in SQL."""

import math
from collections import defaultdict


def present(values):
    return [value for value in values if value is not None]


def total(values):
    return math.fsum(present(values))


def mean(values):
    given = present(values)
    return math.fsum(given) / len(given)


def grouped(rows, key):
    """The rows by what `key` gives for them."""
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def ranked(counts, number=None):
    """The pairs of a mapping, the greatest value first, equal ones by their names."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:number]


def only(rows, is_meant):
    """The one row that is meant."""
    (row,) = filter(is_meant, rows)
    return row
