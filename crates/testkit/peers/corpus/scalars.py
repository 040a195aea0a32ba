"""What is true of values that hold no others: texts, numbers, booleans.

A value is a pair: its sort (`number`, `boolean`, `text`) and its text. What a field is told to be is
compared with how often each of its values occurs.
"""

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

EXACT = 20_000
TOLERANCE = 0.05
MAX_LISTED = 64
MAX_LISTED_BYTES = 64
MAX_RANGE_BYTES = 200
TOP = 5

TIMESTAMP = re.compile(
    r"(?P<date>[0-9]{4}-(?P<month>[0-9]{2})-(?P<day>[0-9]{2}))(?P<separator>[T ])"
    r"(?P<time>[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,6}0*)?)?)"
    r"[ \t\r\n\f\v]?(?P<zone>Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)?",
    re.IGNORECASE,
)
DATE = re.compile(r"[0-9]{4}-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
URL = re.compile(r"https?://\S+")
MARKERS = {"NA", "N/A", "NULL", "null", "NaN", "nan", "None"}
TEXT_KINDS = {"string", "timestamp", "date", "uuid", "url"}
WHOLE_NUMBER = re.compile(r"-?[0-9]+")
SHORTEST_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]*[1-9])?")
DECIMALS = re.compile(r"-?[0-9]+([.][0-9]+)?")


def kind_of(value):
    sort, text = value
    if sort == "number":
        return "integer" if WHOLE_NUMBER.fullmatch(text) else "float"
    if sort != "text":
        return sort
    for kind, pattern in (("timestamp", TIMESTAMP), ("date", DATE)):
        found = pattern.fullmatch(text)
        if found and 1 <= int(found["month"]) <= 12 and 1 <= int(found["day"]) <= 31:
            return kind
    return "uuid" if UUID.fullmatch(text) else "url" if URL.fullmatch(text) else "string"


def kind_of_all(counts):
    kinds = {kind_of(value) for value in counts}
    if not kinds:
        return "null"
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"integer", "float"}:
        return "float"
    return "string" if kinds <= TEXT_KINDS else "json"


def as_cells(counts):
    """The values of a column of cells. `NA` among numbers is no value; numbers among texts are texts."""
    values = {value: times for value, times in counts.items() if value[1] not in MARKERS}
    if values and kind_of_all(values) not in TEXT_KINDS | {"json"}:
        return Counter(values)
    if kind_of_all(counts) in TEXT_KINDS | {"json"}:
        texts = Counter()
        for (_, text), times in counts.items():
            texts[("text", text)] += times
        return texts
    return counts


def by_value(counts):
    """The same counts, with equal numbers taken together."""
    merged = Counter()
    for (sort, text), times in counts.items():
        merged[(sort, Decimal(text)) if sort == "number" else (sort, text)] += times
    return merged


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


def instant(text):
    """The moment that a timestamp names, in UTC; `None` if the calendar does not know it."""
    found = TIMESTAMP.fullmatch(text)
    time = found["time"].replace(",", ".")
    clock, _, fraction = time.partition(".")
    zone = (found["zone"] or "Z").upper()
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{clock}")
    except ValueError:
        return None
    moment += timedelta(microseconds=int(fraction[:6].ljust(6, "0")))
    if zone in ("Z", "UTC"):
        return moment
    hours, minutes = int(zone[1:3]), int(zone[3:].replace(":", "") or 0)
    offset = timedelta(hours=hours, minutes=minutes)
    return moment - offset if zone[0] == "+" else moment + offset


def styles(texts):
    """The ways in which timestamps are written that change their order as texts."""
    found = (TIMESTAMP.fullmatch(text) for text in texts)
    return {(one["separator"], one["zone"]) for one in found}


def are_spelled_alike(texts):
    """True if numbers that are the same are surely written the same."""
    if all(SHORTEST_NUMBER.fullmatch(text) for text in texts):
        return True
    found = [DECIMALS.fullmatch(text) for text in texts]
    return all(found) and len({len(one[1] or "") for one in found}) == 1


class Field:
    """What is true of a field, from how often each of its values occurs."""

    def __init__(self, counts, has_cells=False):
        self.counts = counts
        self.merged = by_value(counts)
        kind = kind_of_all(counts)
        # Nothing says that a cell is more than a text.
        self.type = "string" if has_cells and kind == "json" else kind
        self.longest = max((size(text) for _, text in counts), default=0)
        texts = [text for _, text in counts]
        self.has_styles = self.type == "timestamp" and len(styles(texts)) > 1
        self.has_cells = has_cells

    def may_be_about(self):
        """True if some of the values may be the same in SQL, and only that says how many there are."""
        if self.has_cells and self.is_numeric():
            return not are_spelled_alike([text for _, text in self.counts])
        return False

    def is_numeric(self):
        return self.type in ("integer", "float")

    def range(self):
        if self.is_numeric():
            numbers = [number for _, number in self.merged]
            return min(numbers), max(numbers)
        if self.type in ("string", "timestamp", "date") and not self.has_styles:
            texts = [text for _, text in self.counts]
            return min(texts), max(texts)
        return None

    def distincts(self):
        """How many different values there are, in each way to count them that is right."""
        found = {len(self.merged)}
        if self.has_cells:
            # `1` and `1.0`, or `true` and `TRUE`, may count as texts.
            found |= {len(self.counts), len({text.lower() for _, text in self.counts})}
        return found

    def has_top(self):
        is_short = self.longest <= MAX_LISTED_BYTES and len(self.merged) <= MAX_LISTED
        return is_short and any(times > 1 for times in self.merged.values())

    def tops(self):
        """The most frequent values. Equally frequent numbers may stand by value or by digits."""
        if self.is_numeric():
            pairs = [(number, times) for (_, number), times in self.merged.items()]
            orders = [lambda pair: (-pair[1], pair[0]), lambda pair: (-pair[1], str(pair[0]))]
            return [sorted(pairs, key=order)[:TOP] for order in orders]
        # Among other values, numbers may count by value or as they are written.
        ways = (self.merged, self.counts)
        pairs = [[(str(value), times) for (_, value), times in way.items()] for way in ways]
        return [sorted(way, key=lambda pair: (-pair[1], pair[0]))[:TOP] for way in pairs]

    def read(self, text):
        return Decimal(text) if self.is_numeric() else text


def compare(said, field, name):
    """The differences of a field of this type, but for its nulls."""

    def differs(fact, true):
        return difference(name, said, fact, true)

    yield from compare_distinct(said, field, differs)
    if said.get("longest") != field.longest:
        yield differs("longest", field.longest)
    yield from compare_range(said, field, differs)
    yield from compare_top(said, field, differs)


def compare_distinct(said, field, differs):
    counts, told, is_exact = field.distincts(), said.get("distinct"), said.get("distinctIsExact")
    if field.has_styles:
        # Two ways to write a time may be the same time.
        if told not in counts or is_exact is not False:
            yield differs("distinct", f"about {len(field.merged)}")
    elif max(counts) <= EXACT:
        if told not in counts or is_exact is not True and not field.may_be_about():
            yield differs("distinct", len(field.merged))
    elif not (is_exact is True and told in counts) and (is_exact is not False or all(
        abs((told or 0) - count) > TOLERANCE * count for count in counts
    )):
        yield differs("distinct", f"about {len(field.merged)}")


def compare_range(said, field, differs):
    true = field.range()
    for fact, bound in zip(("min", "max"), true or (None, None)):
        if said.get(fact) is None:
            # A long text is no bound worth telling.
            is_long = not field.is_numeric() and field.longest > MAX_RANGE_BYTES
            if bound is not None and not is_long:
                yield differs(fact, bound)
        elif bound is None:
            yield differs(fact, None)
        elif field.type == "float":
            if float(said[fact]) != float(bound):
                yield differs(fact, bound)
        elif field.read(said[fact]) != bound:
            yield differs(fact, bound)


def compare_top(said, field, differs):
    top = said.get("top") or []
    if not field.has_top():
        if top:
            yield differs("top", [])
        return
    tops = field.tops()
    if [(field.read(value), times) for value, times in top] not in tops:
        yield differs("top", [[str(value), times] for value, times in tops[0]])


def difference(name, said, fact, true):
    return f"{name}.{fact} is {json.dumps(said.get(fact))}, should be {shown(true)}"


def shown(fact):
    text = fact if isinstance(fact, str) and fact.startswith("about ") else None
    return text or json.dumps(fact if not isinstance(fact, Decimal) else str(fact))
