"""Questions about media types, a map of records, and about the history of that list, a prose text."""

import re
from collections import Counter

from ask import about, around, browse, grep, lines, numbers, sql, total
from gold import ranked

types = about("mime-db.json", read_as="json")
types_text = about("mime-db.json", read_as="lines")
history = about("changelog in prose", read_as="lines")
both = about("mime-db.json", "changelog in prose", read_as=["json", "lines"])

types(
    "aggregate",
    "How many types come from each source?",
    sql("SELECT source, count(*) n FROM {id} WHERE source IS NOT NULL GROUP BY source ORDER BY n DESC"),
    lambda types: ranked(Counter(one["source"] for one in types.values() if "source" in one)),
)
types(
    "aggregate",
    "How many types are there in each top-level group (application, audio …)?",
    sql("SELECT split_part(key,'/',1) g, count(*) n FROM {id} GROUP BY g ORDER BY n DESC, g"),
    lambda types: ranked(Counter(name.split("/")[0] for name in types)),
)
types(
    "aggregate",
    "How many compressible types have a charset?",
    sql("SELECT count(*) FROM {id} WHERE compressible AND charset IS NOT NULL"),
    lambda types: sum(one.get("compressible", False) and "charset" in one for one in types.values()),
)
types(
    "aggregate",
    "How many file extensions are listed in all?",
    sql("SELECT sum(len(extensions)) FROM {id}"),
    lambda types: sum(len(one.get("extensions", [])) for one in types.values()),
)
types(
    "nested",
    "Which types have the extension mp4?",
    sql("SELECT key FROM {id} WHERE list_contains(extensions,'mp4') ORDER BY key"),
    lambda types: sorted(name for name, one in types.items() if "mp4" in one.get("extensions", [])),
)
types(
    "nested",
    "Which three types have the most extensions?",
    sql("SELECT key, len(extensions) n FROM {id} ORDER BY n DESC NULLS LAST, key LIMIT 3"),
    lambda types: ranked({name: len(one.get("extensions", [])) for name, one in types.items()}, 3),
)
types(
    "nested",
    "Which extensions belong to three or more types?",
    sql(
        "SELECT e, count(*) n FROM (SELECT unnest(extensions) e FROM {id}) GROUP BY e "
        "HAVING n > 2 ORDER BY n DESC, e"
    ),
    lambda types: [
        pair
        for pair in ranked(Counter(e for one in types.values() for e in one.get("extensions", [])))
        if pair[1] > 2
    ],
)
types(
    "lookup",
    "Is `image/webp` compressible, and with what extensions?",
    sql("SELECT compressible, extensions FROM {id} WHERE key='image/webp'"),
    lambda types: [(types["image/webp"].get("compressible"), types["image/webp"]["extensions"])],
)
types(
    "lookup",
    "Which charset has `text/html`?",
    sql("SELECT charset FROM {id} WHERE key='text/html'"),
    lambda types: types["text/html"].get("charset"),
)
types(
    "filter",
    "Which types have a charset other than UTF-8?",
    sql("SELECT key, charset FROM {id} WHERE charset <> 'UTF-8' ORDER BY key"),
    lambda types: sorted(
        (name, one["charset"]) for name, one in types.items() if one.get("charset", "UTF-8") != "UTF-8"
    ),
)
types(
    "filter",
    "How many types end in `+json` or `+xml`?",
    sql("SELECT count(*) FROM {id} WHERE key LIKE '%+json' OR key LIKE '%+xml'"),
    lambda types: sum(name.endswith(("+json", "+xml")) for name in types),
)
types(
    "browse",
    "Which image types are there from `iana` that are not compressible?",
    browse(
        lambda reply: [record["key"] for record in reply["results"]],
        filter={"source": "iana", "compressible": False, "key": {"contains": "image/"}},
        fields=["key"],
    ),
    lambda types: {
        name for name, one in types.items()
        if one.get("source") == "iana" and one.get("compressible") is False and "image/" in name
    },
)
types(
    "browse",
    "How many types come from nginx?",
    browse(total, filter={"source": "nginx"}, limit=1),
    lambda types: sum(one.get("source") == "nginx" for one in types.values()),
)
types_text(
    "text",
    "Which lines of the file stand around the type `application/vnd.rar`?",
    grep('"application/vnd.rar"', around, context=3),
    lambda lines: next(
        lines[at - 3 : at + 4] for at, line in enumerate(lines) if '"application/vnd.rar"' in line
    ),
)

history(
    "text",
    "What changed in the first release of the file? The first four lines.",
    lines("1-4"),
    lambda lines: lines[:4],
)
history(
    "text",
    "How many releases does the history tell of?",
    grep(r"^[0-9]+\.[0-9]+\.[0-9]+ / ", total, limit=1),
    lambda lines: sum(bool(re.match(r"\d+\.\d+\.\d+ / ", line)) for line in lines),
)
history(
    "text",
    "When was 1.42.0 released?",
    grep(r"^1\.42\.0 /"),
    lambda lines: [line for line in lines if line.startswith("1.42.0 /")],
)
history(
    "text",
    "In which lines are Markdown types named?",
    grep("(?i)markdown", numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if "markdown" in line.lower()],
)
history(
    "text",
    "What was fixed or changed about `wasm`? With a line before and after.",
    grep("wasm", around, context=1),
    lambda lines: [
        line for at, found in enumerate(lines) if "wasm" in found for line in lines[at - 1 : at + 2]
    ],
)
history(
    "aggregate",
    "How many entries begin with `Add`, how many with `Fix`?",
    sql(
        "SELECT count(*) FILTER (text LIKE '  * Add %'), count(*) FILTER (text LIKE '  * Fix %') FROM {id}"
    ),
    lambda lines: [
        tuple(sum(line.startswith(f"  * {word} ") for line in lines) for word in ("Add", "Fix"))
    ],
)
history(
    "aggregate",
    "How many releases were there in each year? The three busiest.",
    sql(
        "SELECT regexp_extract(text,'/ (\\d{4})-',1) y, count(*) n FROM {id} "
        "WHERE regexp_matches(text,'^[0-9.]+ / ') GROUP BY y ORDER BY n DESC, y LIMIT 3"
    ),
    lambda lines: ranked(
        Counter(found[1] for line in lines if (found := re.match(r"[0-9.]+ / (\d{4})-", line))), 3
    ),
)
history(
    "aggregate",
    "How many lines are blank?",
    sql("SELECT count(*) FROM {id} WHERE trim(text)=''"),
    lambda lines: sum(not line.strip() for line in lines),
)
both(
    "join",
    "How many of the list's types are named in its history in backquotes?",
    sql(
        "SELECT count(DISTINCT key) FROM {id} t JOIN {id2} h ON contains(h.text, '`' || t.key || '`')"
    ),
    lambda types, lines: len(types.keys() & set(re.findall(r"`([^`]*)`", "\n".join(lines)))),
)
