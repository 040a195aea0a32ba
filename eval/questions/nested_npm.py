"""Questions about what npm and its packages tell: locks, bills of materials, files, changes, requests."""

from collections import Counter

from ask import about, sql
from gold import only, ranked

lock = about("package-lock.json", read_as="json")
materials = about("sbom.cyclonedx.json", read_as="json")
queried = about("npm query", read_as="json")
packed = about("npm pack", read_as="json")
changes = about("changelog.json", read_as="json")
requests = about("recorded-requests.json", read_as="json")
folder = about("directory_tree of zod", read_as="json")


def files(packages):
    return [(package["name"], one) for package in packages for one in package["files"]]


def comments(data, kind):
    return [(entry, one) for entry in data["entries"] for one in entry["comments"].get(kind, [])]


# A lock: maps in optional members

lock(
    "nested",
    "How many packages depend on `debug`?",
    sql("SELECT count(*) FROM {id} WHERE dependencies['debug'] IS NOT NULL"),
    lambda data: sum("debug" in one.get("dependencies", {}) for one in data["packages"].values()),
)
lock(
    "nested",
    "Which packages need Node 20 or later (engines begin with >=20 or ^20)?",
    sql(
        "SELECT key FROM {id} WHERE engines.node LIKE '>=20%' OR engines.node LIKE '^20%' ORDER BY key"
    ),
    lambda data: sorted(
        name for name, one in data["packages"].items()
        if one.get("engines", {}).get("node", "").startswith((">=20", "^20"))
    ),
)
lock(
    "nested",
    "Which version of `express` does each package ask for?",
    sql("SELECT key, dependencies->>'express' v FROM {id} WHERE v IS NOT NULL ORDER BY key"),
    lambda data: sorted(
        (name, one["dependencies"]["express"])
        for name, one in data["packages"].items() if "express" in one.get("dependencies", {})
    ),
)
lock(
    "nested",
    "Which package has the most dependencies, and how many?",
    sql("SELECT key, cardinality(dependencies) n FROM {id} ORDER BY n DESC NULLS LAST, key LIMIT 1"),
    lambda data: ranked({name: len(one.get("dependencies", {})) for name, one in data["packages"].items()}, 1),
)
lock(
    "nested",
    "How many packages have no engines?",
    sql("SELECT count(*) FROM {id} WHERE engines IS NULL"),
    lambda data: sum("engines" not in one for one in data["packages"].values()),
)

# A bill of materials

materials(
    "nested",
    "How many components are under each licence, by its id? The three most frequent.",
    sql(
        "SELECT licenses[1].license.id l, count(*) n FROM {id} WHERE l IS NOT NULL "
        "GROUP BY l ORDER BY n DESC, l LIMIT 3"
    ),
    lambda data: ranked(
        Counter(
            licence["license"]["id"]
            for one in data["components"] for licence in one.get("licenses", []) if "license" in licence
        ),
        3,
    ),
)
materials(
    "nested",
    "Which components have a licence that is an expression?",
    sql(
        "SELECT c.name, l.expression FROM {id} c, unnest(c.licenses) u(l) WHERE l.expression IS NOT NULL ORDER BY 1"
    ),
    lambda data: sorted(
        (one["name"], licence["expression"])
        for one in data["components"] for licence in one.get("licenses", []) if "expression" in licence
    ),
)
materials(
    "nested",
    "How many external references are there of each type?",
    sql("SELECT type, count(*) n FROM {id}_externalReferences GROUP BY type ORDER BY n DESC"),
    lambda data: ranked(
        Counter(reference["type"] for one in data["components"] for reference in one["externalReferences"])
    ),
)
materials(
    "nested",
    "Which component depends on the most others, and on how many?",
    sql("SELECT ref, len(dependsOn) n FROM {id}_dependencies ORDER BY n DESC, ref LIMIT 1"),
    lambda data: ranked({one["ref"]: len(one["dependsOn"]) for one in data["dependencies"]}, 1),
)
materials(
    "nested",
    "How does the hash of `ms` begin, with its algorithm? The first eight digits.",
    sql("SELECT hashes[1].alg, left(hashes[1].content, 8) FROM {id} WHERE name = 'ms'"),
    lambda data: (lambda one: (one["hashes"][0]["alg"], one["hashes"][0]["content"][:8]))(
        only(data["components"], lambda one: one["name"] == "ms")
    ),
)
materials(
    "nested",
    "Which website has `zod`, by its external references?",
    sql(
        "SELECT r.url FROM {id} c, unnest(c.externalReferences) u(r) WHERE c.name = 'zod' AND r.type = 'website'"
    ),
    lambda data: [
        reference["url"]
        for reference in only(data["components"], lambda one: one["name"] == "zod")["externalReferences"]
        if reference["type"] == "website"
    ],
)

# What npm says of installed packages: some members are an object here and a text there

queried(
    "nested",
    "What are the five most frequent keywords?",
    sql(
        "SELECT k, count(*) n FROM {id}, unnest(keywords) u(k) GROUP BY k ORDER BY n DESC, k LIMIT 5"
    ),
    lambda packages: ranked(Counter(k for one in packages for k in one.get("keywords", [])), 5),
)
queried(
    "nested",
    "Which three packages are needed by the most others (from)?",
    sql('SELECT name, len("from") n FROM {id} ORDER BY n DESC, name LIMIT 3'),
    lambda packages: sorted(
        ((one["name"], len(one["from"])) for one in packages), key=lambda pair: (-pair[1], pair[0])
    )[:3],
)
queried(
    "nested",
    "What is the address of the repository of `cors`?",
    sql("SELECT coalesce(repository->>'url', repository->>'$') FROM {id} WHERE name = 'cors'"),
    lambda packages: only(packages, lambda one: one["name"] == "cors")["repository"],
)
queried(
    "nested",
    "Which authors are given as an object with a mail address? Their names, each once.",
    sql(
        "SELECT DISTINCT author->>'name' AS name FROM {id} WHERE (author->>'email') IS NOT NULL ORDER BY name"
    ),
    lambda packages: sorted(
        {
            one["author"]["name"] for one in packages
            if isinstance(one.get("author"), dict) and "email" in one["author"]
        }
    ),
)
queried(
    "nested",
    "How many packages require `ms`?",
    sql("SELECT count(*) FROM {id} WHERE map_contains(dependencies, 'ms')"),
    lambda packages: sum("ms" in one.get("dependencies", {}) for one in packages),
)
queried(
    "nested",
    "How many packages have their entry (main) turned off, with false?",
    sql("SELECT count(*) FROM {id} WHERE main->>'$' = 'false'"),
    lambda packages: sum(one.get("main") is False for one in packages),
)

# Files of packages: the list in each of four records is the table

packed(
    "nested",
    "How many bytes have the files of each package together?",
    sql("SELECT name, sum(size) s FROM {id} GROUP BY name ORDER BY s DESC"),
    lambda packages: ranked({one["name"]: sum(file["size"] for file in one["files"]) for one in packages}),
)
packed(
    "nested",
    "Which file is the largest, of which package?",
    sql("SELECT name, path, size FROM {id} ORDER BY size DESC LIMIT 1"),
    lambda packages: max(
        ((name, file["path"], file["size"]) for name, file in files(packages)), key=lambda row: row[2]
    ),
)
packed(
    "nested",
    "How many files end with .map?",
    sql("SELECT count(*) FROM {id} WHERE path LIKE '%.map'"),
    lambda packages: sum(file["path"].endswith(".map") for _, file in files(packages)),
)

# Changes: the same list of objects under four optional keys

changes(
    "nested",
    "How many entries have comments on a minor change?",
    sql("SELECT count(*) FROM {id} WHERE comments.minor IS NOT NULL"),
    lambda data: sum("minor" in one["comments"] for one in data["entries"]),
)
changes(
    "nested",
    "Who wrote the most comments on patches, and how many?",
    sql(
        "SELECT c.author, count(*) n FROM {id}, unnest(comments.patch) u(c) GROUP BY c.author ORDER BY n DESC LIMIT 1"
    ),
    lambda data: ranked(Counter(one["author"] for _, one in comments(data, "patch")), 1),
)
changes(
    "nested",
    "Which versions have minor changes, and what is the first comment of each? The first three of the list.",
    sql("SELECT version, comments.minor[1].comment FROM {id} WHERE comments.minor IS NOT NULL LIMIT 3"),
    lambda data: [
        (one["version"], one["comments"]["minor"][0]["comment"])
        for one in data["entries"] if "minor" in one["comments"]
    ][:3],
)
changes(
    "nested",
    "How many comments on patches have no commit?",
    sql(
        "SELECT count(*) FROM (SELECT unnest(comments.patch) AS c FROM {id}) WHERE c.commit IS NULL"
    ),
    lambda data: sum("commit" not in one for _, one in comments(data, "patch")),
)
changes(
    "nested",
    "How many comments on prereleases speak of Fluent?",
    sql(
        "SELECT count(*) FROM {id} e, unnest(e.comments.prerelease) p(c) WHERE c.comment ILIKE '%fluent%'"
    ),
    lambda data: sum("fluent" in one["comment"].lower() for _, one in comments(data, "prerelease")),
)
changes(
    "nested",
    "Which version has the most comments on patches, and how many?",
    sql("SELECT version, len(comments.patch) n FROM {id} ORDER BY n DESC NULLS LAST, version LIMIT 1"),
    lambda data: ranked({one["version"]: len(one["comments"].get("patch", [])) for one in data["entries"]}, 1),
)

# Requests and responses, which are objects, lists and texts

requests(
    "nested",
    "Which titles have the issues that were created (by POST)?",
    sql(
        "SELECT body->>'title' t FROM {id} WHERE method = 'post' AND (body->>'title') IS NOT NULL ORDER BY t"
    ),
    lambda calls: sorted(
        one["body"]["title"] for one in calls if one["method"] == "post" and "title" in one["body"]
    ),
)
requests(
    "nested",
    "What is the full name of the repository that was created?",
    sql("SELECT response->>'full_name' n FROM {id} WHERE n IS NOT NULL"),
    lambda calls: [
        one["response"]["full_name"] for one in calls
        if isinstance(one["response"], dict) and "full_name" in one["response"]
    ],
)
requests(
    "nested",
    "How many issues did each page (GET) list?",
    sql("SELECT json_array_length(response) FROM {id} WHERE method = 'get'"),
    lambda calls: [len(one["response"]) for one in calls if one["method"] == "get"],
)

# A folder

folder(
    "nested",
    "How many entries has each folder at the top?",
    sql("SELECT name, len(children) FROM {id} WHERE type = 'directory' ORDER BY name"),
    lambda nodes: sorted((one["name"], len(one["children"])) for one in nodes if one["type"] == "directory"),
)
folder(
    "nested",
    "Which files lie in the folder `v4` itself?",
    sql(
        "SELECT c.name FROM {id} f, unnest(f.children) u(c) WHERE f.name = 'v4' AND c.type = 'file' ORDER BY 1"
    ),
    lambda nodes: sorted(
        child["name"] for child in only(nodes, lambda one: one["name"] == "v4")["children"] if child["type"] == "file"
    ),
)
