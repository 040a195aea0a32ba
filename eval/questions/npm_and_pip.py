"""Questions about packages of npm and PyPI: versions and their dates, dependencies, metadata, a log."""

import re
from collections import Counter

from ask import about, browse, grep, lines, numbers, sql, total
from gold import only, ranked

typescript = about("npm view typescript", read_as="json")
typescript_text = about("npm view typescript", read_as="lines")
react = about("npm view react", read_as="json")
versions = about("npm view typescript", "npm view react", read_as="json")
tree = about("npm ls", read_as="json")
tree_text = about("npm ls", read_as="lines")
listed = about("pip list", read_as="json")
inspected = about("pip inspect", read_as="json")
both = about("pip list", "pip inspect", read_as="json")
log = about("pip log", read_as="lines")

# Versions and their times

typescript(
    "aggregate",
    "How many versions of TypeScript are there?",
    sql("SELECT count(*) FROM {id}_versions"),
    lambda view: len(view["versions"]),
)
typescript(
    "aggregate",
    "How many of them are dated in each year?",
    sql("SELECT year(value) y, count(*) FROM {id} GROUP BY y ORDER BY y"),
    lambda view: sorted(Counter(int(time[:4]) for time in view["time"].values()).items()),
)
typescript(
    "aggregate",
    "How many versions are of the kind `-dev.`?",
    sql("SELECT count(*) FROM {id} WHERE key LIKE '%-dev.%'"),
    lambda view: sum("-dev." in version for version in view["time"]),
)
typescript(
    "lookup",
    "On which day is version 4.9.5 dated?",
    sql("SELECT value::DATE FROM {id} WHERE key='4.9.5'"),
    lambda view: view["time"]["4.9.5"][:10],
)
typescript(
    "filter",
    "Which plain versions (three numbers) of 4.x are there, from 4.8 on?",
    sql("SELECT value FROM {id}_versions WHERE regexp_matches(value, '^4\\.[89]\\.\\d+$') ORDER BY value"),
    lambda view: sorted(v for v in view["versions"] if re.fullmatch(r"4\.[89]\.\d+", v)),
)
typescript(
    "browse",
    "What is the earliest date of all?",
    browse(lambda reply: reply["results"][0]["key"], sort="value", limit=1),
    lambda view: min(view["time"].items(), key=lambda pair: pair[1])[0],
)
typescript_text(
    "text",
    "What does the file say of the `tsc` program and of the engines?",
    grep('"tsc":|"node": ">'),
    lambda lines: [line for line in lines if '"tsc":' in line or '"node": ">' in line],
)
react(
    "aggregate",
    "How many versions of React are canaries, and how many experimental?",
    sql("SELECT count(*) FILTER (key LIKE '%canary%'), count(*) FILTER (key LIKE '%experimental%') FROM {id}"),
    lambda view: [
        tuple(sum(word in version for version in view["time"]) for word in ("canary", "experimental"))
    ],
)
react(
    "aggregate",
    "What are the major versions among the plain ones, and how many are there of each?",
    sql(
        "SELECT split_part(value,'.',1)::INT m, count(*) FROM {id}_versions "
        "WHERE regexp_full_match(value, '[\\d.]+') GROUP BY m ORDER BY m"
    ),
    lambda view: sorted(
        Counter(int(v.split(".")[0]) for v in view["versions"] if re.fullmatch(r"[\d.]+", v)).items()
    ),
)
react(
    "lookup",
    "To the minute, when is 18.2.0 dated?",
    sql("SELECT strftime(value, '%Y-%m-%d %H:%M') FROM {id} WHERE key='18.2.0'"),
    lambda view: view["time"]["18.2.0"][:16].replace("T", " "),
)
react(
    "filter",
    "Which release candidates of 18 and 19 are there (without canaries)?",
    sql("SELECT value FROM {id}_versions WHERE regexp_full_match(value,'1[89]\\.0\\.0-rc\\.\\d+') ORDER BY 1"),
    lambda view: sorted(v for v in view["versions"] if re.fullmatch(r"1[89]\.0\.0-rc\.\d+", v)),
)
react(
    "browse",
    "Which version is the latest by its date?",
    browse(lambda reply: reply["results"][0]["key"], sort="-value", limit=1),
    lambda view: max(view["time"].items(), key=lambda pair: pair[1])[0],
)
versions(
    "join",
    "Which version numbers have both TypeScript and React?",
    sql("SELECT key FROM {id} JOIN {id2} USING (key) ORDER BY key"),
    lambda typescript, react: sorted(typescript["time"].keys() & react["time"].keys()),
)

# The tree of dependencies

tree(
    "aggregate",
    "How many direct dependencies have each licence? Those that tell it.",
    sql(
        "SELECT license, count(*) n FROM {id} WHERE license IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1"
    ),
    lambda npm: ranked(
        Counter(one["license"] for one in npm["dependencies"].values() if "license" in one)
    ),
)
tree(
    "lookup",
    "Which version of `zod` is installed?",
    sql("SELECT version FROM {id} WHERE key='zod'"),
    lambda npm: npm["dependencies"]["zod"]["version"],
)
tree(
    "filter",
    "Which direct dependencies tell no licence?",
    sql("SELECT key FROM {id} WHERE license IS NULL"),
    lambda npm: [name for name, one in npm["dependencies"].items() if "license" not in one],
)
tree(
    "nested",
    "Which version of express does the SDK ask for?",
    sql("SELECT _dependencies->>'express' FROM {id} WHERE key='@modelcontextprotocol/sdk'"),
    lambda npm: npm["dependencies"]["@modelcontextprotocol/sdk"]["_dependencies"]["express"],
)
tree(
    "nested",
    "How many dependencies has each package that has any?",
    sql(
        "SELECT key, len(json_keys(_dependencies)) n FROM {id} WHERE n > 0 ORDER BY n DESC, key"
    ),
    lambda npm: ranked(
        {
            name: len(one["_dependencies"])
            for name, one in npm["dependencies"].items() if one["_dependencies"]
        }
    ),
)
tree(
    "nested",
    "Which version of hono is installed below the SDK?",
    sql(
        "SELECT dependencies->'hono'->>'version' FROM {id} WHERE key='@modelcontextprotocol/sdk'"
    ),
    lambda npm: npm["dependencies"]["@modelcontextprotocol/sdk"]["dependencies"]["hono"]["version"],
)
tree(
    "browse",
    "Which programs does the filesystem server bring?",
    browse(
        lambda reply: list(reply["results"][0]["bin"]),
        filter={"key": "@modelcontextprotocol/server-filesystem"},
        fields=["bin"],
    ),
    lambda npm: list(npm["dependencies"]["@modelcontextprotocol/server-filesystem"]["bin"]),
)
tree_text(
    "text",
    "How many lines of the output name `side-channel` as a package id?",
    grep('"_id": "side-channel@', total, limit=1),
    lambda lines: sum('"_id": "side-channel@' in line for line in lines),
)

# What pip says

listed("aggregate", "How many packages are installed?", sql("SELECT count(*) FROM {id}"), len)
listed(
    "lookup",
    "Which version of starlette is installed?",
    sql("SELECT version FROM {id} WHERE name='starlette'"),
    lambda packages: only(packages, lambda one: one["name"] == "starlette")["version"],
)
listed(
    "filter",
    "Which packages of MCP are there?",
    sql("SELECT name FROM {id} WHERE name LIKE 'mcp%' ORDER BY name"),
    lambda packages: sorted(one["name"] for one in packages if one["name"].startswith("mcp")),
)
listed(
    "browse",
    "What are the versions of the packages with `json` in their name?",
    browse(fields=["name", "version"], filter={"name": {"contains": "json"}}, sort="name"),
    lambda packages: sorted((one["name"], one["version"]) for one in packages if "json" in one["name"]),
)
inspected(
    "nested",
    "Which Python does `anyio` need?",
    sql("SELECT metadata->>'requires_python' FROM {id} WHERE metadata->>'name'='anyio'"),
    lambda pip: only(pip["installed"], lambda one: one["metadata"]["name"] == "anyio")["metadata"]["requires_python"],
)
inspected(
    "nested",
    "Which package requires the most distributions, and how many?",
    sql(
        "SELECT metadata->>'name', json_array_length(metadata->'requires_dist') n FROM {id} "
        "ORDER BY n DESC NULLS LAST LIMIT 1"
    ),
    lambda pip: ranked(
        {one["metadata"]["name"]: len(one["metadata"].get("requires_dist", [])) for one in pip["installed"]},
        1,
    ),
)
inspected(
    "nested",
    "How many packages are classified as `Typing :: Typed`?",
    sql("SELECT count(*) FROM {id} WHERE json_contains(metadata->'classifier', '\"Typing :: Typed\"')"),
    lambda pip: sum("Typing :: Typed" in one["metadata"].get("classifier", []) for one in pip["installed"]),
)
inspected(
    "nested",
    "Which packages have the keyword `mcp`?",
    sql(
        "SELECT metadata->>'name' n FROM {id} WHERE json_contains(metadata->'keywords','\"mcp\"') ORDER BY n"
    ),
    lambda pip: sorted(
        one["metadata"]["name"] for one in pip["installed"] if "mcp" in one["metadata"].get("keywords", [])
    ),
)
inspected(
    "aggregate",
    "Which versions of the metadata are used, and how often?",
    sql("SELECT metadata->>'metadata_version' v, count(*) FROM {id} GROUP BY v ORDER BY v"),
    lambda pip: sorted(Counter(one["metadata"]["metadata_version"] for one in pip["installed"]).items()),
)
inspected(
    "filter",
    "How many packages are installed by pip and were requested?",
    sql("SELECT count(*) FROM {id} WHERE installer='pip' AND requested"),
    lambda pip: sum(one["installer"] == "pip" and one["requested"] for one in pip["installed"]),
)
both(
    "join",
    "What are the summaries of the listed packages whose version is 2.16.0?",
    sql(
        "SELECT l.name, i.metadata->>'summary' FROM {id} l JOIN {id2} i ON i.metadata->>'name' = l.name "
        "WHERE l.version='2.16.0' ORDER BY l.name"
    ),
    lambda packages, pip: sorted(
        (one["metadata"]["name"], one["metadata"]["summary"])
        for one in pip["installed"]
        if one["metadata"]["name"] in {p["name"] for p in packages if p["version"] == "2.16.0"}
    ),
)
log(
    "text",
    "What would be installed?",
    grep("Would install"),
    lambda lines: [line for line in lines if "Would install" in line],
)
log(
    "text",
    "On which lines are temporary directories created?",
    grep("Created temporary directory", numbers),
    lambda lines: [n for n, line in enumerate(lines, 1) if "Created temporary directory" in line],
)
log("text", "What are the second and third lines?", lines("2-3"), lambda lines: lines[1:3])
log(
    "aggregate",
    "How many links were found, how many of them to wheels?",
    sql(
        "SELECT count(*), count(*) FILTER (message LIKE '%.whl%') FROM {id} WHERE message LIKE 'Found link%'"
    ),
    lambda lines: (
        lambda links: [(len(links), sum(".whl" in link for link in links))]
    )([line for line in lines if " Found link " in line]),
)
log(
    "aggregate",
    "How many milliseconds passed between the first and the last entry?",
    sql("SELECT date_diff('ms', min(timestamp), max(timestamp)) FROM {id}"),
    lambda lines: (lambda times: max(times) - min(times))(
        [
            ((int(line[11:13]) * 60 + int(line[14:16])) * 60 + int(line[17:19])) * 1000 + int(line[20:23])
            for line in lines
        ]
    ),
)
