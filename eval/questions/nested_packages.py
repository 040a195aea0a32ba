"""Questions about what lies inside packages: dependencies, targets and features, classifiers, trees."""

from collections import Counter

from ask import about, sql
from gold import only, ranked

metadata = about("cargo metadata", read_as="json")
build = about("cargo build", read_as="ndjson")
tree = about("npm ls", read_as="json")
inspected = about("pip inspect", read_as="json")
folders = about("directory_tree", read_as="json")


def each(records, inner):
    """The members of a list in every record, with the record."""
    return [(record, one) for record in records for one in record[inner]]


def package(data, name):
    return only(data["packages"], lambda one: one["name"] == name)


# Cargo: packages with lists of objects and maps of lists

metadata(
    "nested",
    "How many of all declared dependencies are optional?",
    sql("SELECT count(*) FROM {id}_dependencies WHERE optional"),
    lambda data: sum(one["optional"] for _, one in each(data["packages"], "dependencies")),
)
metadata(
    "nested",
    "How many dependencies are there of each kind? Nothing means a normal one.",
    sql("SELECT kind, count(*) n FROM {id}_dependencies GROUP BY kind ORDER BY n DESC"),
    lambda data: sorted(
        Counter(one["kind"] for _, one in each(data["packages"], "dependencies")).items(),
        key=lambda pair: -pair[1],
    ),
)
metadata(
    "nested",
    "Which five crates do the most packages declare as a normal dependency?",
    sql(
        "SELECT name, count(*) AS n FROM {id}_dependencies WHERE kind IS NULL "
        "GROUP BY name ORDER BY n DESC, name LIMIT 5"
    ),
    lambda data: ranked(
        Counter(
            one["name"] for _, one in each(data["packages"], "dependencies") if one["kind"] is None
        ),
        5,
    ),
)
metadata(
    "nested",
    "Which version of `mio` does `tokio` require?",
    sql(
        "SELECT DISTINCT d.req FROM {id} p, unnest(p.dependencies) AS u(d) "
        "WHERE p.name = 'tokio' AND d.name = 'mio'"
    ),
    lambda data: {one["req"] for one in package(data, "tokio")["dependencies"] if one["name"] == "mio"},
)
metadata(
    "nested",
    "Which packages depend on `syn` with its feature `full`?",
    sql(
        "SELECT DISTINCT p.name FROM {id} p, unnest(p.dependencies) u(d) "
        "WHERE d.name = 'syn' AND list_contains(d.features, 'full') ORDER BY p.name"
    ),
    lambda data: sorted(
        {
            record["name"]
            for record, one in each(data["packages"], "dependencies")
            if one["name"] == "syn" and "full" in one["features"]
        }
    ),
)
metadata(
    "nested",
    "For which targets are the most dependencies declared? The first three, without those for all.",
    sql(
        "SELECT target, count(*) c FROM {id}_dependencies WHERE target IS NOT NULL "
        "GROUP BY 1 ORDER BY c DESC, 1 LIMIT 3"
    ),
    lambda data: ranked(
        Counter(one["target"] for _, one in each(data["packages"], "dependencies") if one["target"]), 3
    ),
)
metadata(
    "nested",
    "How many dependencies are renamed?",
    sql("SELECT sum(len(list_filter(dependencies, d -> d.rename IS NOT NULL))) FROM {id}"),
    lambda data: sum(one["rename"] is not None for _, one in each(data["packages"], "dependencies")),
)
metadata(
    "nested",
    "How many packages have a build script (a target of the kind `custom-build`)?",
    sql("SELECT count(*) FROM {id} WHERE len(list_filter(targets, t -> list_contains(t.kind, 'custom-build'))) > 0"),
    lambda data: sum(
        any("custom-build" in one["kind"] for one in record["targets"]) for record in data["packages"]
    ),
)
metadata(
    "nested",
    "Which three packages have the most examples among their targets?",
    sql(
        "SELECT p.name, count(*) n FROM {id} p, unnest(p.targets) u(t) "
        "WHERE 'example' = ANY(t.kind) GROUP BY p.name ORDER BY n DESC, p.name LIMIT 3"
    ),
    lambda data: ranked(
        Counter(record["name"] for record, one in each(data["packages"], "targets") if "example" in one["kind"]),
        3,
    ),
)
metadata(
    "nested",
    "How many targets of each kind have required features?",
    sql(
        'SELECT kind[1] k, count(*) n FROM {id}_targets WHERE "required-features" IS NOT NULL '
        "GROUP BY k ORDER BY n DESC"
    ),
    lambda data: ranked(
        Counter(one["kind"][0] for _, one in each(data["packages"], "targets") if "required-features" in one)
    ),
)
metadata(
    "nested",
    "Which programs (kind `bin`) do the packages have? Their names.",
    sql("SELECT name FROM {id}_targets WHERE 'bin' IN kind ORDER BY name"),
    lambda data: sorted(one["name"] for _, one in each(data["packages"], "targets") if "bin" in one["kind"]),
)
metadata(
    "nested",
    "What does the feature `full` of `tokio` turn on?",
    sql("SELECT features['full'] FROM {id} WHERE name = 'tokio'"),
    lambda data: [(package(data, "tokio")["features"]["full"],)],
)
metadata(
    "nested",
    "How many packages have a feature called `serde`?",
    sql("SELECT count(*) FROM {id} WHERE map_contains(features, 'serde')"),
    lambda data: sum("serde" in record["features"] for record in data["packages"]),
)
metadata(
    "nested",
    "What are the five most frequent names of features?",
    sql("SELECT key, count(*) n FROM {id}_features GROUP BY key ORDER BY n DESC, key LIMIT 5"),
    lambda data: ranked(Counter(name for record in data["packages"] for name in record["features"]), 5),
)
metadata(
    "nested",
    "Which package has the most features, and how many?",
    sql("SELECT name, cardinality(features) n FROM {id} ORDER BY n DESC LIMIT 1"),
    lambda data: ranked(
        Counter({record["name"]: len(record["features"]) for record in data["packages"]}), 1
    ),
)
metadata(
    "nested",
    "How many packages have their documentation built with all features (docs.rs, all-features)?",
    sql("""SELECT count(*) FROM {id} WHERE metadata->'docs'->'rs'->>'all-features' = 'true'"""),
    lambda data: sum(
        ((record["metadata"] or {}).get("docs") or {}).get("rs", {}).get("all-features") is True
        for record in data["packages"]
    ),
)
metadata(
    "nested",
    "What are the three most frequent keywords?",
    sql(
        "SELECT k, count(*) AS n FROM (SELECT unnest(keywords) AS k FROM {id}) t "
        "GROUP BY t.k ORDER BY n DESC, k LIMIT 3"
    ),
    lambda data: ranked(Counter(k for record in data["packages"] for k in record["keywords"]), 3),
)
metadata(
    "nested",
    "How many packages have neither keywords nor categories?",
    sql("SELECT count(*) FROM {id} WHERE len(keywords) = 0 AND len(categories) = 0"),
    lambda data: sum(not record["keywords"] and not record["categories"] for record in data["packages"]),
)
metadata(
    "nested",
    "How many edges of the resolved graph are for builds (kind `build`)?",
    sql("SELECT count(*) FROM {id}_dep_kinds WHERE kind = 'build'"),
    lambda data: sum(
        kind["kind"] == "build" for _, one in each(data["resolve"]["nodes"], "deps") for kind in one["dep_kinds"]
    ),
)
metadata(
    "nested",
    "How many packages of the resolved graph are built with the feature `std`?",
    sql("SELECT count(*) FROM {id}_nodes WHERE list_contains(features, 'std')"),
    lambda data: sum("std" in node["features"] for node in data["resolve"]["nodes"]),
)
metadata(
    "nested",
    "Under which name is a package used by the most others, in the resolved graph (deps)?",
    sql("SELECT name, count(*) n FROM {id}_deps GROUP BY name ORDER BY n DESC LIMIT 1"),
    lambda data: ranked(Counter(one["name"] for _, one in each(data["resolve"]["nodes"], "deps")), 1),
)

# What cargo says while it builds: objects in some messages only

build(
    "nested",
    "How many artifacts were built at each level of optimization?",
    sql(
        "SELECT profile.opt_level AS level, count(*) FROM {id} WHERE profile IS NOT NULL "
        "GROUP BY level ORDER BY level"
    ),
    lambda messages: sorted(Counter(one["profile"]["opt_level"] for one in messages if "profile" in one).items()),
)
build(
    "nested",
    "How many artifacts are of each edition?",
    sql("SELECT target.edition, count(*) FROM {id} WHERE reason = 'compiler-artifact' GROUP BY 1 ORDER BY 1"),
    lambda messages: sorted(Counter(one["target"]["edition"] for one in messages if "target" in one).items()),
)
build(
    "nested",
    "How many messages are about a procedural macro?",
    sql("SELECT count(*) FROM {id} WHERE target.kind[1] = 'proc-macro'"),
    lambda messages: sum(one.get("target", {}).get("kind") == ["proc-macro"] for one in messages),
)
build(
    "nested",
    "How many files were written in all?",
    sql("SELECT sum(len(filenames)) FROM {id}"),
    lambda messages: sum(len(one.get("filenames", [])) for one in messages),
)
build(
    "nested",
    "Which conditions (cfgs) do build scripts set, and how often?",
    sql(
        "SELECT c, count(*) n FROM {id}, unnest(cfgs) u(c) WHERE reason = 'build-script-executed' "
        "GROUP BY c ORDER BY n DESC, c LIMIT 5"
    ),
    lambda messages: ranked(Counter(c for one in messages for c in one.get("cfgs", [])), 5),
)

# npm's tree

tree(
    "nested",
    "Which Node does each dependency ask for that says so?",
    sql("SELECT key, engines.node FROM {id} WHERE engines.node IS NOT NULL ORDER BY key"),
    lambda npm: sorted(
        (name, one["engines"]["node"]) for name, one in npm["dependencies"].items() if "engines" in one
    ),
)
tree(
    "nested",
    "Which version of zod does the SDK take as a peer?",
    sql("SELECT peerDependencies->>'zod' FROM {id} WHERE key = '@modelcontextprotocol/sdk'"),
    lambda npm: npm["dependencies"]["@modelcontextprotocol/sdk"]["peerDependencies"]["zod"],
)
tree(
    "nested",
    "Which version of `ajv` is installed below the SDK's `ajv-formats`?",
    sql(
        "SELECT dependencies->'ajv-formats'->'dependencies'->'ajv'->>'version' FROM {id} "
        "WHERE key = '@modelcontextprotocol/sdk'"
    ),
    lambda npm: (
        lambda sdk: sdk["dependencies"]["ajv-formats"]["dependencies"]["ajv"]["version"]
    )(npm["dependencies"]["@modelcontextprotocol/sdk"]),
)
tree(
    "nested",
    "Where can one fund `zod`?",
    sql("SELECT funding->>'url' FROM {id} WHERE key = 'zod'"),
    lambda npm: npm["dependencies"]["zod"]["funding"]["url"],
)

# What pip knows: a struct with lists and optional members

inspected(
    "nested",
    "How many packages have each version of the metadata's format?",
    sql("SELECT metadata.metadata_version v, count(*) n FROM {id} GROUP BY v ORDER BY n DESC, v"),
    lambda pip: ranked(Counter(one["metadata"]["metadata_version"] for one in pip["installed"])),
)
inspected(
    "nested",
    "Which packages require anyio?",
    sql(
        "SELECT DISTINCT metadata.name AS name FROM {id}, unnest(metadata.requires_dist) r(requirement) "
        "WHERE requirement LIKE 'anyio%' ORDER BY name"
    ),
    lambda pip: sorted(
        one["metadata"]["name"] for one in pip["installed"]
        if any(r.startswith("anyio") for r in one["metadata"].get("requires_dist", []))
    ),
)
inspected(
    "nested",
    "How many packages are classified for Python 3.13?",
    sql(
        "SELECT count(*) FROM {id} "
        "WHERE list_contains(metadata.classifier, 'Programming Language :: Python :: 3.13')"
    ),
    lambda pip: sum(
        "Programming Language :: Python :: 3.13" in one["metadata"]["classifier"] for one in pip["installed"]
    ),
)
inspected(
    "nested",
    "How many packages have each development status, by their classifiers?",
    sql(
        "SELECT c, count(*) n FROM (SELECT unnest(metadata.classifier) c FROM {id}) "
        "WHERE c LIKE 'Development Status%' GROUP BY c ORDER BY n DESC, c"
    ),
    lambda pip: ranked(
        Counter(
            c for one in pip["installed"] for c in one["metadata"]["classifier"]
            if c.startswith("Development Status")
        )
    ),
)
inspected(
    "nested",
    "Which packages name no author, neither by name nor by mail?",
    sql(
        "SELECT metadata.name n FROM {id} WHERE metadata.author IS NULL AND metadata.author_email IS NULL "
        "ORDER BY n"
    ),
    lambda pip: sorted(
        one["metadata"]["name"] for one in pip["installed"]
        if not {"author", "author_email"} & one["metadata"].keys()
    ),
)
inspected(
    "nested",
    "Which packages have an extra called `all`?",
    sql("SELECT metadata.name FROM {id} WHERE 'all' IN metadata.provides_extra ORDER BY 1"),
    lambda pip: sorted(
        one["metadata"]["name"] for one in pip["installed"] if "all" in one["metadata"].get("provides_extra", [])
    ),
)
inspected(
    "nested",
    "What is the first address that `pydantic` gives (project_url)?",
    sql("SELECT metadata.project_url[1] FROM {id} WHERE metadata.name = 'pydantic'"),
    lambda pip: only(
        (one["metadata"] for one in pip["installed"]), lambda one: one["name"] == "pydantic"
    )["project_url"][0],
)
inspected(
    "nested",
    "How long is the longest description, and of which package?",
    sql(
        "SELECT metadata.name, length(metadata.description) AS chars FROM {id} ORDER BY chars DESC LIMIT 1"
    ),
    lambda pip: ranked({one["metadata"]["name"]: len(one["metadata"]["description"]) for one in pip["installed"]}, 1),
)
inspected(
    "nested",
    "How many packages have keywords, and how many of those are a list of more than five?",
    sql(
        "SELECT count(metadata.keywords), count(*) FILTER (WHERE len(metadata.keywords) > 5) FROM {id}"
    ),
    lambda pip: (lambda lists: (len(lists), sum(len(words) > 5 for words in lists)))(
        [one["metadata"]["keywords"] for one in pip["installed"] if "keywords" in one["metadata"]]
    ),
)

# A tree of folders

folders(
    "nested",
    "Which files of Markdown (.md) lie directly in the packages' folders, and how often? The three most frequent.",
    sql(
        "SELECT c.name, count(*) n FROM {id} f, unnest(f.children) u(c) "
        "WHERE c.name LIKE '%.md' GROUP BY c.name ORDER BY n DESC, c.name LIMIT 3"
    ),
    lambda nodes: ranked(
        Counter(
            child["name"] for node in nodes for child in node.get("children", []) if child["name"].endswith(".md")
        ),
        3,
    ),
)
folders(
    "nested",
    "How many folders have a file `package.json`?",
    sql("SELECT count(*) FROM {id}_children WHERE name = 'package.json' AND type = 'file'"),
    lambda nodes: sum(
        child["name"] == "package.json" for node in nodes for child in node.get("children", [])
    ),
)
