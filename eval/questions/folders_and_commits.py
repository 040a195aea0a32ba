"""Questions about listings of folders, a tree of files, a log of commits, and results over time."""

import re
from collections import Counter
from datetime import datetime, timezone

from ask import about, browse, grep, numbers, sql, total
from gold import only, ranked

features = about("list_directory", read_as="lines")
found = about("search_files", read_as="lines")
tree = about("directory_tree", read_as="json")
tree_text = about("directory_tree", read_as="lines")
commits = about("git_log", read_as="commits")
commits_text = about("git_log", read_as="lines")

# Listings

features(
    "aggregate",
    "How many files are in the folder?",
    sql("SELECT count(*) FROM {id} WHERE text LIKE '[FILE]%'"),
    lambda lines: sum(line.startswith("[FILE]") for line in lines),
)
features(
    "filter",
    "How many features are about CSS, by their file names?",
    sql("SELECT count(*) FROM {id} WHERE text LIKE '[FILE] css-%'"),
    lambda lines: sum(line.startswith("[FILE] css-") for line in lines),
)
features(
    "text",
    "Which files have `grid` in their names?",
    grep("grid"),
    lambda lines: [line for line in lines if "grid" in line],
)
features(
    "browse",
    "How many names contain `svg`?",
    browse(total, filter={"text": {"contains": "svg"}}, limit=1),
    lambda lines: sum("svg" in line for line in lines),
)
found(
    "aggregate",
    "Which packages have the most type files? The three first, by the folder under node_modules.",
    sql(
        "SELECT regexp_extract(text, 'node/node_modules/((?:@[^/]+/)?[^/]+)/', 1) p, count(*) n "
        "FROM {id} GROUP BY p ORDER BY n DESC, p LIMIT 3"
    ),
    lambda lines: ranked(
        Counter(re.search(r"node/node_modules/((?:@[^/]+/)?[^/]+)/", line)[1] for line in lines), 3
    ),
)
found(
    "filter",
    "How many are called `index.d.ts`?",
    sql("SELECT count(*) FROM {id} WHERE text LIKE '%/index.d.ts'"),
    lambda lines: sum(line.endswith("/index.d.ts") for line in lines),
)
found(
    "text",
    "Where are the types of `browser-compat-data`?",
    grep("browser-compat-data"),
    lambda lines: [line for line in lines if "browser-compat-data" in line],
)
found(
    "text",
    "On which line is the first file of zod's locales?",
    grep("/zod/.*/locales/", numbers, limit=1),
    lambda lines: [n for n, line in enumerate(lines, 1) if re.search("/zod/.*/locales/", line)][:1],
)

# The tree, of which only the top is a table

tree(
    "aggregate",
    "How many entries of each type are at the top?",
    sql("SELECT type, count(*) n FROM {id} GROUP BY type ORDER BY n DESC"),
    lambda nodes: ranked(Counter(node["type"] for node in nodes)),
)
tree(
    "nested",
    "Which top folder has the most entries of its own, and how many?",
    sql("SELECT name, json_array_length(children) n FROM {id} ORDER BY n DESC NULLS LAST LIMIT 1"),
    lambda nodes: max(
        ((node["name"], len(node.get("children", []))) for node in nodes), key=lambda pair: pair[1]
    ),
)
tree(
    "nested",
    "What is in the folder `mime-db`?",
    sql("SELECT c.value->>'name' FROM {id} t, json_each(t.children) c WHERE t.name='mime-db'"),
    lambda nodes: {
        child["name"] for child in only(nodes, lambda node: node["name"] == "mime-db")["children"]
    },
)
tree(
    "nested",
    "How many scopes (folders beginning with @) are there, and how many packages in them?",
    sql("SELECT count(*), sum(json_array_length(children)) FROM {id} WHERE name LIKE '@%'"),
    lambda nodes: (
        lambda scopes: (len(scopes), sum(len(scope["children"]) for scope in scopes))
    )([node for node in nodes if node["name"].startswith("@")]),
)
tree_text(
    "text",
    "How many files named `package.json` are there at any depth?",
    grep('"name": "package.json"', total, limit=1),
    lambda lines: sum('"name": "package.json"' in line for line in lines),
)
tree(
    "browse",
    "Which programs are in `.bin`?",
    browse(
        lambda reply: [child["name"] for child in reply["results"][0]["children"]], filter={"name": ".bin"}
    ),
    lambda nodes: [child["name"] for child in only(nodes, lambda node: node["name"] == ".bin")["children"]],
)

# Commits


def in_utc(commit):
    return datetime.fromisoformat(commit.date).astimezone(timezone.utc)


commits(
    "aggregate",
    "How many commits has each author?",
    sql("SELECT Author, count(*) FROM {id} GROUP BY Author ORDER BY Author"),
    lambda commits: sorted(Counter(commit.author for commit in commits).items()),
)
commits(
    "aggregate",
    "How many commits are there for each area? The first word pair of the message.",
    sql("SELECT split_part(Message,':',1) a, count(*) FROM {id} GROUP BY a ORDER BY a"),
    lambda commits: sorted(Counter(commit.message.split(":")[0] for commit in commits).items()),
)
commits(
    "aggregate",
    "On which day (UTC) were there the most commits?",
    sql("SELECT Date::DATE d, count(*) n FROM {id} GROUP BY d ORDER BY n DESC, d LIMIT 1"),
    lambda commits: ranked(Counter(in_utc(commit).date().isoformat() for commit in commits), 1),
)
commits(
    "lookup",
    "Who made change 123?",
    sql("SELECT Author FROM {id} WHERE regexp_matches(Message, '^area \\d: change 123\\b')"),
    lambda commits: [
        commit.author for commit in commits if re.match(r"area \d+: change 123\b", commit.message)
    ],
)
commits(
    "lookup",
    "When was the first commit, in UTC?",
    sql("SELECT min(Date) FROM {id}"),
    lambda commits: min(map(in_utc, commits)).strftime("%Y-%m-%d %H:%M:%S"),
)
commits(
    "filter",
    "How many messages say that something was wrong?",
    sql("SELECT count(*) FROM {id} WHERE Message LIKE '%was wrong since%'"),
    lambda commits: sum("was wrong since" in commit.message for commit in commits),
)
commits(
    "browse",
    "Which are the two newest commits of Ada Lane?",
    browse(fields=["Commit"], filter={"Author": "Ada Lane"}, sort="-Date", limit=2),
    lambda commits: [(commit.hash,) for commit in commits if commit.author == "Ada Lane"][:2],
)
commits_text(
    "text",
    "Which line tells since when change 296 was wrong?",
    grep("change 296$", lambda reply: reply["matches"][0]["after"][-1], context=2),
    lambda lines: next(lines[at + 2] for at, line in enumerate(lines) if line.endswith("change 296")),
)
