"""Makes a document of nested records from a seed, as a tool might return it.

Objects are lists of pairs (`Object`), so that a key can stand twice, and some numbers are kept as they
are written (`Written`): `1E5` and `100000.0` are one number in two forms.
"""

import json
import random


class Object(list):
    """An object: pairs of a key and a value, in their order."""


class Written(str):
    """A number in the digits that it is written with."""


# A shorter result is not kept, because the summary would not be shorter.
MIN_LENGTH = 9000
PLAIN_KEYS = [
    "id", "name", "price", "status", "created_at", "user", "items", "tags", "meta", "offer", "lines", "count",
    "total", "owner", "labels", "spec", "state", "region", "score", "active", "note", "ref", "parts", "points",
]
AWKWARD_KEYS = [
    "two words", "a.b", 'say "hi"', "it's", "select", "order", "group", "ID", "Name", "PRICE", "", "日本",
    "naïve", "e\u0301te", "😀", "value", "key", "at", "_parent", "0", "17", "_key", "parent_id", "back\\slash", "a[0]",
    "$x", "x$", "*", "null", "true", "unnest", "__at", "column_1", "_2", "rowid", "table", "end", "e", "list", "name_2",
    "a-b", "#", "@type", "$ref", "key_2", "struct", "_captured_at", "two  spaces", "Straße", "STRASSE", "İ", "--", ";",
]
SCALARS = [
    "integer", "integer", "small", "small", "float", "price", "boolean", "word", "word", "word", "text", "text", "digits",
    "date", "timestamp", "utc", "offset", "uuid", "url", "large", "huge", "null",
]
RARE_SCALARS = ["beyond", "no date", "no time", "nanoseconds"]
WORDS = ["active", "idle", "done", "Berlin", "Zürich", "north", "south", "A", "a", "b"]
TEXTS = [
    "", " ", "''", '"', 'he said "no"', "it's", "back\\slash", "line\nbreak", "tab\there", "日本語", "😀", "e\u0301", "é",
    "zz", "Z", "~", "NULL", "null", "NA", "true", "{}", "[]", '{"a": 1}', "%", "_", "50%", "-", "naïve café",
    "\u202eright to left", "a" * 90, "a" * 300, "1.5", "0", "-- x", "/* */", "\u00a0", "\r\n", "\U0001d11e clef",
]
LARGE = [2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**15, 9007199254740993, 1 << 60]
HUGE = [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 2**70, -(2**70), 10**30]
FLOATS = [0.1, 1e-7, 1.5, -2.25, 1e22, 123456.789, 3.0, 5e-324, 1.7976931348623157e308, -0.0, 0.30000000000000004, 2.5]
WRITTEN = ["1E5", "1e5", "1.50", "0.0", "-0.0", "1.0E+2", "100.0", "12345678901234567890.5", "1e-10"]


def series(seed):
    """The form of one document, or now and then of several alike ones, and their values.

    A value is a list of records if the form is `ndjson`.
    """
    chance = random.Random(seed)
    maker = Maker(chance)
    form = chance.choice(
        ["list", "list", "list", "envelope", "envelope", "ndjson", "map", "map of lists", "record", "deep", "pages", "responses"]
    )
    is_series = chance.random() < 0.05
    is_odd = not is_series and chance.random() < 0.1
    count = 300 if is_odd else chance.choice([1, 2, 3, 3, 3, 5, 5, 8, 13, 30])
    shape = maker.object(3 if count > 30 else 4)
    name = next(key for key in iter(maker.key, None) if key != "total")
    values = []
    for _ in range(3 if is_series else 1):
        records = maker.records(shape, count)
        if is_odd:
            maker.make_one_odd(records)
        values.append(maker.arranged(form, records, name))
    return form, values


class Maker:
    """Makes shapes, and values of a shape."""

    def __init__(self, chance):
        self.chance = chance
        self.awkward = chance.choice([0.0, 0.1, 0.4])
        self.disorder = chance.choice([0.0, 0.0, 0.05, 0.3])
        self.has_numbers = chance.random() < 0.4
        self.number_name = chance.choice(["id", "id", "Id", "key", "order id", "number"])

    def key(self):
        return self.chance.choice(AWKWARD_KEYS if self.chance.random() < self.awkward else PLAIN_KEYS)

    def unique_key(self, place):
        word = self.chance.choice(["k", "2024-01-", "user ", "ns/", "Ω", "it's "]) if self.awkward else "k"
        return f"{word}{place}"

    def object(self, depth):
        """The shape of an object: for each key, how often it is missing or null, and its shape."""
        members, taken = [], set()
        for _ in range(self.chance.choice([1, 1, 2, 2, 3, 5])):
            key = self.key()
            if key in taken:
                continue
            taken.add(key)
            missing = self.chance.choice([0, 0, 0, 0.1, 0.5, 0.9])
            null = self.chance.choice([0, 0, 0, 0.2, 0.8])
            members.append((key, missing, null, self.shape(depth - 1)))
            if key.swapcase() != key and self.chance.random() < self.awkward / 5 and key.upper() not in taken:
                taken.add(key.upper())
                members.append((key.upper(), missing, null, self.shape(0)))
        return ("object", members)

    def shape(self, depth):
        roll = self.chance.random()
        if depth > 0 and roll < 0.5:
            return self.nested(depth)
        if roll > 1 - self.disorder / 2:
            return ("mixed", [self.shape(depth - 1) if depth > 0 else self.scalar() for _ in range(2)])
        return self.scalar()

    def scalar(self):
        kind = self.chance.choice(RARE_SCALARS if self.chance.random() < 0.03 else SCALARS)
        return ("scalar", kind, self.chance.choice([1, 2, 5, 1000]))

    def nested(self, depth):
        kind = self.chance.choice(["object", "object", "object", "list", "list", "list", "map", "empty"])
        if kind == "object":
            return self.object(depth)
        if kind == "list":
            null = self.chance.choice([0, 0, 0, 0.2])
            lengths = self.chance.choice([[0], [0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 4], [2], [0, 0, 0, 7]])
            return ("list", self.shape(depth - 1), null, lengths)
        if kind == "map":
            keys = self.chance.choice([3, 8, 40, 200])
            return ("map", self.shape(depth - 1), keys, self.chance.choice([[0, 1, 2], [1, 3, 5], [0, 1]]))
        return ("empty", self.chance.choice(["list", "object", "either"]))

    def value(self, shape):
        """A value of a shape, now and then one of another."""
        if self.disorder and self.chance.random() < self.disorder / 20:
            return self.value(self.scalar())
        return getattr(self, f"{shape[0]}_value")(*shape[1:])

    def object_value(self, members):
        made = Object()
        for key, missing, null, shape in members:
            if self.chance.random() < missing:
                continue
            made.append((key, None if self.chance.random() < null else self.value(shape)))
        if self.disorder and made and self.chance.random() < 0.02:
            made.append((made[0][0], self.value(self.scalar())))
        if self.chance.random() < 0.2:
            self.chance.shuffle(made)
        return made

    def list_value(self, shape, null, lengths):
        count = self.chance.choice(lengths)
        return [None if self.chance.random() < null else self.value(shape) for _ in range(count)]

    def map_value(self, shape, keys, lengths):
        names = [f"{self.chance.randrange(keys)}" for _ in range(self.chance.choice(lengths))]
        if self.awkward:
            names = [f"it's {name}" if self.chance.random() < 0.3 else f"k.{name}" for name in names]
        else:
            names = [f"k{name}" for name in names]
        return Object((name, self.value(shape)) for name in dict.fromkeys(names))

    def empty_value(self, kind):
        if kind == "either":
            kind = self.chance.choice(["list", "object"])
        return [] if kind == "list" else Object()

    def mixed_value(self, shapes):
        return self.value(self.chance.choice(shapes))

    def scalar_value(self, kind, variety):
        chance = self.chance
        pick = lambda values: values[chance.randrange(min(variety, len(values)))]
        number = chance.randrange(variety)
        match kind:
            case "null":
                return None
            case "integer":
                return number * 7 - 300
            case "small":
                return number % 10
            case "large":
                return pick(LARGE)
            case "huge":
                return pick(HUGE + LARGE)
            case "float":
                return Written(pick(WRITTEN)) if chance.random() < 0.2 else pick(FLOATS)
            case "price":
                return round(number * 1.37 + 0.01, 2) if chance.random() < 0.8 else number
            case "boolean":
                return number % 2 == 0
            case "word":
                return pick(WORDS)
            case "text":
                return chance.choice(TEXTS[: 5 * variety])
            case "digits":
                return str(number * 11)
            case "date":
                return f"20{number % 30:02}-{number % 12 + 1:02}-{number % 28 + 1:02}"
            case "beyond":
                return pick([10**37, 10**38, -(10**40), 2**127, 3])
            case "no date":
                return pick(["2023-02-30", "2024-02-29", "2023-04-31", "0000-01-01", "2024-13-01"])
            case "no time":
                return pick(["2024-01-01T24:00:00Z", "2024-01-01T23:60:00", "2024-01-01 12:00:60", "2024-01-01T12:00:00+25:00"])
            case "nanoseconds":
                return f"2024-01-01T00:00:00.{number:09}Z"
            case "uuid":
                return f"{number:08x}-9dad-11d1-80b4-00c04fd430c8"
            case "url":
                return f"https://example.org/{number}?q=ü"
            case "utc":
                return f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:05Z"
            case "timestamp":
                rest = chance.choice(["", ":07", ":07.5", ":59.123456"])
                return f"2023-{number % 12 + 1:02}-{number % 28 + 1:02} {number % 24:02}:30{rest}"
            case "offset":
                zone = chance.choice(["Z", "+02:00", "-0530", "+00:00", "-11", "", " UTC"])
                return f"2024-03-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00{zone}"
        raise ValueError(kind)

    def number(self, records):
        """Gives each record a number of its own."""
        name = self.number_name
        for place, record in enumerate(records):
            record[:] = [(name, place + 1)] + [member for member in record if member[0] != name]

    def records(self, shape, count):
        records = [self.object_value(shape[1]) for _ in range(count)]
        if self.has_numbers:
            self.number(records)
        if self.disorder and self.chance.random() < 0.05:
            records.insert(self.chance.randrange(count), self.chance.choice([None, 7, "stray", []]))
        return records

    def arranged(self, form, records, name):
        """A document that holds the records, under this name if they need one."""
        if form in ("list", "ndjson"):
            return records
        if form == "record":
            return records[0]
        if form == "map":
            return Object((self.unique_key(place), record) for place, record in enumerate(records))
        if form == "map of lists":
            parts = max(1, min(len(records), self.chance.choice([2, 3, 9, 14])))
            return Object((self.unique_key(place), records[place::parts]) for place in range(parts))
        if form in ("pages", "responses"):
            around = self.object(2)[1]
            parts = [records[start : start + 7] for start in range(0, len(records), 7)]
            around = [member for member in around if member[0] != name]
            pages = [Object([*self.object_value(around), (name, part)]) for part in parts]
            return pages if form == "pages" else Object((self.unique_key(place), page) for place, page in enumerate(pages))
        inner = Object([("total", len(records)), ("next", self.chance.choice([None, "abc"])), (name, records)])
        if self.chance.random() < 0.3:
            inner.insert(0, ("echo", self.value(self.object(2))))
        return Object([("ok", True), ("result", inner)]) if form == "deep" else inner

    def make_one_odd(self, records):
        """One of many records has a key more, a key less, or another type somewhere."""
        target = self.chance.choice(records)
        while isinstance(target, Object) and target:
            place = self.chance.randrange(len(target))
            key, inner = target[place]
            if isinstance(inner, Object) and inner and self.chance.random() < 0.7:
                target = inner
                continue
            match self.chance.choice(["more", "less", "other"]):
                case "more":
                    target.append(("extra", self.value(self.scalar())))
                case "less":
                    del target[place]
                case "other":
                    target[place] = (key, self.value(self.scalar()))
            return


def text_of(form, value):
    """The document as it is written, with so much space in it that it is no short one."""
    plain = joined(form, value, " ")
    places = max(1, plain.count(": ") + plain.count(", "))
    return joined(form, value, " " * (1 + max(0, MIN_LENGTH - len(plain)) // places))


def joined(form, value, space):
    if form == "ndjson":
        return "".join(written(record, space) + "\n" for record in value)
    return written(value, space)


def written(value, space=" "):
    if isinstance(value, Object):
        members = (f"{quoted(key)}:{space}{written(inner, space)}" for key, inner in value)
        return "{" + f",{space}".join(members) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(written(inner, space) for inner in value) + "]"
    if isinstance(value, Written):
        return str(value)
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text):
    """A text in JSON, with as few escapes as there can be; every third one with as many."""
    return json.dumps(text, ensure_ascii=len(text) % 3 == 2)


def smaller(value):
    """Values that are a little smaller, the much smaller ones first."""
    if not isinstance(value, list):
        return
    size = len(value) // 2
    while size:
        for start in range(0, len(value), size):
            yield type(value)(value[:start] + value[start + size :])
        size //= 2
    if not isinstance(value, Object):
        for key in dict.fromkeys(key for inner in value if isinstance(inner, Object) for key, _ in inner):
            yield [without(inner, key) for inner in value]
    for place, inner in enumerate(value):
        inner = inner[1] if isinstance(value, Object) else inner
        for less in smaller(inner):
            kept = (value[place][0], less) if isinstance(value, Object) else less
            yield type(value)(value[:place] + [kept] + value[place + 1 :])


def without(value, key):
    return Object(member for member in value if member[0] != key) if isinstance(value, Object) else value
