"""What is true of values in a document, computed from its text. Shares nothing with Forebay.

A value is what `json` makes of it, but for numbers, which keep what they are written as: an integer is
an `int`, anything else a `Number`. Of two members with one key the first counts.
"""

import json
import re
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

TEXT_KINDS = {"string", "timestamp", "date", "uuid", "url"}
SCALAR_KINDS = TEXT_KINDS | {"integer", "float", "boolean"}
TOO_LARGE = 10**38
TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?"
    r" ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?",
    re.IGNORECASE,
)
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
URL = re.compile(r"https?://\S+")


class Number(float):
    """A number that is not written as an integer."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


def parse(text):
    return json.loads(text, parse_float=Number, object_pairs_hook=first_of_each)


def first_of_each(pairs):
    members = {}
    for key, value in pairs:
        members.setdefault(key, value)
    return members


def kind_of(value):
    """What a value is called, by itself."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "float"
        case dict():
            return "struct"
        case list():
            return "list"
    if TIMESTAMP.fullmatch(value):
        return "timestamp" if instant(value) is not None else "string"
    if DATE.fullmatch(value):
        return "date" if day(value) is not None else "string"
    return "uuid" if UUID.fullmatch(value) else "url" if URL.fullmatch(value) else "string"


def types_of(values):
    """What a column of these values may be told to be. Which objects are maps is a matter of taste."""
    values = settled(values)
    kinds = {kind_of(value) for value in values} - {"null"}
    if not kinds:
        return {"null"}
    if kinds == {"struct"}:
        has_keys = any(value for value in values if value is not None)
        return {"struct", "map"} if has_keys else {"json"}
    if kinds <= {"integer", "float"} and any(isinstance(value, int) and abs(value) >= TOO_LARGE for value in values):
        # No column holds these and all their digits as numbers.
        return {"float", "string", "json"}
    if len(kinds) == 1:
        return kinds
    if kinds == {"integer", "float"}:
        return {"float"}
    return {"string"} if kinds <= TEXT_KINDS else {"json"}


def settled(values):
    """Some languages write an empty map as an empty list, or the other way round: it is what the others are."""
    values = list(values)
    kinds = {kind_of(value) for value in values} - {"null"}
    if kinds != {"struct", "list"}:
        return values
    has_items = any(isinstance(value, list) and value for value in values)
    has_members = any(value and not isinstance(value, list) for value in values)
    if has_members and not has_items:
        return [{} if isinstance(value, list) else value for value in values]
    if has_items and not has_members:
        return [value if value is None or isinstance(value, list) else [] for value in values]
    return values


def instant(text):
    """A time in microseconds since 1970, in UTC; one without a zone is in UTC. `None` if it is finer, or no time."""
    year, month, day_, hour, minute, second, fraction, zone = TIMESTAMP.fullmatch(text).groups()
    if (fraction or "")[6:].strip("0"):
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        time = datetime(*map(int, (year, month, day_, hour, minute, second or 0)), micros, timezone.utc)
    except ValueError:
        return None
    digits = re.sub("[^0-9]", "", zone or "")
    if digits:
        shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
        time += shift if zone[0] == "-" else -shift
    return (time - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def day(text):
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def in_sql(kind, value):
    """A value as a column of this kind holds it, to be compared and put in order."""
    match kind:
        case "float":
            return float(value)
        case "timestamp":
            return instant(value)
        case "string" | "url":
            return str(value).encode()
        case "uuid":
            return value.lower().encode()
    return value


def as_written(kind, value):
    """A value to be counted as it stands in the document; equal numbers are one."""
    if kind in ("integer", "float"):
        return Decimal(value.text if isinstance(value, Number) else int(value))
    return value


def present(values):
    return [value for value in values if value is not None]


def tally(kind, values):
    return Counter(in_sql(kind, value) for value in present(values))


def counts_of_distinct(kind, values):
    """How many different values there are: as SQL compares them, or as they are written."""
    values = present(values)
    return {len({in_sql(kind, value) for value in values}), len({as_written(kind, value) for value in values})}


def canonical(value):
    """A text that is the same for values that say the same."""
    match value:
        case dict():
            return "{" + ",".join(f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(canonical, value)) + "]"
        case float():
            return f"{float(value)!r}"
    return json.dumps(value)
