"""Questions about texts: a licence, source code, and Markdown files with tables in them."""

import re
from collections import Counter

from ask import about, around, browse, grep, lines, numbers, sql, total
from gold import ranked

licence = about("licence", read_as="lines")
code = about("source code", read_as="lines")
changes = about("table in a changelog", read_as="cells")
changes_text = about("table in a changelog", read_as="lines")
errors = about("table in a readme", read_as="cells")
errors_text = about("table in a readme", read_as="lines")

# The licence

licence(
    "text",
    "Which sections does the licence have?",
    grep("^Section [0-9]+ --"),
    lambda lines: [line for line in lines if re.match(r"Section [0-9]+ --", line)],
)
licence(
    "text",
    "How does it define `Licensed Material`? With two lines before and after.",
    grep("Licensed Material means", around, context=2),
    lambda lines: next(
        lines[at - 2 : at + 3] for at, line in enumerate(lines) if "Licensed Material means" in line
    ),
)
licence(
    "text",
    "In how many lines is `Adapted Material` named?",
    grep("Adapted Material", total, limit=1),
    lambda lines: sum("Adapted Material" in line for line in lines),
)
licence("text", "Who holds the copyright, by the first line?", lines("1-1"), lambda lines: lines[:1])
licence(
    "text",
    "On which lines are there words about termination, in capitals or not?",
    grep("(?i)terminat", numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if "terminat" in line.lower()],
)
licence(
    "text",
    "What do the first three lines of section 4 say?",
    grep("^Section 4 --", lambda reply: reply["matches"][0]["after"], context=3),
    lambda lines: next(
        lines[at + 1 : at + 4] for at, line in enumerate(lines) if line.startswith("Section 4 --")
    ),
)
licence(
    "aggregate",
    "How long is the longest line, and which is it?",
    sql("SELECT length(text) n, line FROM {id} ORDER BY n DESC, line LIMIT 1"),
    lambda lines: max(
        ((len(line), number) for number, line in enumerate(lines, 1)), key=lambda pair: pair[0]
    ),
)
licence(
    "aggregate",
    "How many lines are written in capitals only (with letters in them)?",
    sql("SELECT count(*) FROM {id} WHERE text = upper(text) AND regexp_matches(text, '[A-Z]')"),
    lambda lines: sum(line == line.upper() and bool(re.search("[A-Z]", line)) for line in lines),
)

# Source code

code(
    "text",
    "Which protocol version does the code call the latest?",
    grep("LATEST_PROTOCOL_VERSION ="),
    lambda lines: [line for line in lines if "LATEST_PROTOCOL_VERSION =" in line],
)
code(
    "text",
    "What are the codes of the errors that are declared as constants?",
    grep(r"^export declare const \w+ = -\d+;"),
    lambda lines: [line for line in lines if re.match(r"export declare const \w+ = -\d+;", line)],
)
code(
    "text",
    "On which line begins the interface `Tool`, and what does it extend?",
    grep(r"^export interface Tool\b", lambda reply: [(m["line"], m["text"]) for m in reply["matches"]]),
    lambda lines: [
        (number, line) for number, line in enumerate(lines, 1)
        if re.match(r"export interface Tool\b", line)
    ],
)
code(
    "text",
    "What is the whole of the type `Cursor`, with its comment?",
    grep("^export type Cursor", around, context=5),
    lambda lines: next(
        lines[at - 5 : at + 6] for at, line in enumerate(lines) if line.startswith("export type Cursor")
    ),
)
code(
    "text",
    "What do lines 104 to 118 say?",
    lines("104-118"),
    lambda lines: lines[103:118],
)
code(
    "text",
    "How many interfaces extend `PaginatedRequest`?",
    grep(r"extends PaginatedRequest\b", total, limit=1),
    lambda lines: sum(bool(re.search(r"extends PaginatedRequest\b", line)) for line in lines),
)
code(
    "text",
    "Which methods are named `notifications/…`? The lines that say so.",
    grep('method: "notifications/'),
    lambda lines: [line for line in lines if 'method: "notifications/' in line],
)
code(
    "aggregate",
    "How many interfaces, types and constants are exported?",
    sql(
        "SELECT regexp_extract(text, '^export (?:declare )?(interface|type|const)', 1) k, count(*) "
        "FROM {id} WHERE k <> '' GROUP BY k ORDER BY k"
    ),
    lambda lines: sorted(
        Counter(
            found[1] for line in lines
            if (found := re.match(r"export (?:declare )?(interface|type|const)", line))
        ).items()
    ),
)
code(
    "aggregate",
    "Which categories do the comments name most often? Three of them.",
    sql(
        "SELECT regexp_extract(text, '@category (.+)', 1) c, count(*) n FROM {id} "
        "WHERE c <> '' GROUP BY c ORDER BY n DESC, c LIMIT 3"
    ),
    lambda lines: ranked(
        Counter(found[1] for line in lines if (found := re.search(r"@category (.+)", line))), 3
    ),
)
code(
    "filter",
    "How many lines use the word `unknown`?",
    sql("SELECT count(*) FROM {id} WHERE regexp_matches(text, '\\bunknown\\b')"),
    lambda lines: sum(bool(re.search(r"\bunknown\b", line)) for line in lines),
)

# Tables in Markdown

changes(
    "lookup",
    "What changed in 3.22.4?",
    sql("SELECT Change FROM {id} WHERE Version='3.22.4'"),
    lambda rows: [row[1] for row in rows if row[0] == "3.22.4"],
)
changes(
    "aggregate",
    "How many versions thank somebody?",
    sql("SELECT count(*) FROM {id} WHERE Change ILIKE '%thank%'"),
    lambda rows: sum("thank" in row[1].lower() for row in rows),
)
changes(
    "aggregate",
    "How many releases has each minor version? The three with the most.",
    sql(
        "SELECT split_part(Version,'.',1)||'.'||split_part(Version,'.',2) m, count(*) n "
        "FROM {id} GROUP BY m ORDER BY n DESC, m LIMIT 3"
    ),
    lambda rows: ranked(Counter(".".join(row[0].split(".")[:2]) for row in rows), 3),
)
changes(
    "filter",
    "Which versions speak of OpenAI or OpenApi?",
    sql("SELECT Version FROM {id} WHERE regexp_matches(Change, '(?i)open-?a[pi]i?')"),
    lambda rows: [row[0] for row in rows if re.search(r"(?i)open-?a[pi]i?", row[1])],
)
changes(
    "browse",
    "Which changes mention `nullable`? The versions.",
    browse(fields=["Version"], filter={"Change": {"contains": "nullable"}}),
    lambda rows: [(row[0],) for row in rows if "nullable" in row[1]],
)
changes_text(
    "text",
    "On which lines of the file are regular expressions named?",
    grep("(?i)regex", numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if "regex" in line.lower()],
)
errors(
    "lookup",
    "What is the constructor for 418?",
    sql('SELECT "Constructor Name" FROM {id} WHERE "Status Code"=418'),
    lambda rows: [row[1] for row in rows if row[0] == "418"],
)
errors(
    "aggregate",
    "How many are errors of the client (4xx), how many of the server?",
    sql('SELECT "Status Code"//100 c, count(*) FROM {id} GROUP BY c ORDER BY c'),
    lambda rows: sorted(Counter(int(row[0]) // 100 for row in rows).items()),
)
errors(
    "filter",
    "Which codes have `Required` in their names?",
    sql('SELECT "Status Code" FROM {id} WHERE "Constructor Name" LIKE \'%Required%\' ORDER BY 1'),
    lambda rows: sorted(int(row[0]) for row in rows if "Required" in row[1]),
)
errors_text(
    "text",
    "How is the package installed?",
    grep("^\\$ npm"),
    lambda lines: [line for line in lines if line.startswith("$ npm")],
)
errors_text(
    "text",
    "What does the text say of `expose`? With the next line.",
    grep("^- `expose`", lambda reply: [reply["matches"][0]["text"], *reply["matches"][0]["after"]], context=1),
    lambda lines: next(lines[at : at + 2] for at, line in enumerate(lines) if line.startswith("- `expose`")),
)
