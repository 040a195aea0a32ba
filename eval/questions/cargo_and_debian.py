"""Questions about what cargo tells of packages and builds, and about Debian's packages and their log."""

import re
from collections import Counter

from ask import about, around, browse, grep, numbers, sql, total
from gold import grouped, only, ranked

metadata = about("cargo metadata", read_as="json")
build = about("cargo build", read_as="ndjson")
status = about("dpkg status", read_as="stanzas")
status_text = about("dpkg status", read_as="lines")
versions = about("dpkg-query -W", read_as="lines")
listing = about("dpkg -l", read_as="lines")
log = about("dpkg log", read_as="lines")

# Cargo

metadata(
    "aggregate",
    "How many packages are of each edition?",
    sql("SELECT edition, count(*) FROM {id} GROUP BY edition ORDER BY edition"),
    lambda data: sorted(Counter(one["edition"] for one in data["packages"]).items()),
)
metadata(
    "aggregate",
    "Which packages are there in three versions or more?",
    sql("SELECT name, count(*) n FROM {id} GROUP BY name HAVING n > 2 ORDER BY name"),
    lambda data: sorted(
        pair for pair in Counter(one["name"] for one in data["packages"]).items() if pair[1] > 2
    ),
)
metadata(
    "lookup",
    "Under which licence is `memchr`?",
    sql("SELECT license FROM {id} WHERE name='memchr'"),
    lambda data: [one["license"] for one in data["packages"] if one["name"] == "memchr"],
)
metadata(
    "filter",
    "Which packages are not from a registry?",
    sql("SELECT name FROM {id} WHERE source IS NULL ORDER BY name"),
    lambda data: sorted(one["name"] for one in data["packages"] if one["source"] is None),
)
metadata(
    "filter",
    "Which packages link a native library, and which?",
    sql("SELECT name, links FROM {id} WHERE links IS NOT NULL ORDER BY name, links"),
    lambda data: sorted((one["name"], one["links"]) for one in data["packages"] if one["links"]),
)
metadata(
    "nested",
    "Which three packages have the most dependencies?",
    sql("SELECT name, json_array_length(dependencies) n FROM {id} ORDER BY n DESC, name LIMIT 3"),
    lambda data: sorted(
        ((one["name"], len(one["dependencies"])) for one in data["packages"]),
        key=lambda pair: (-pair[1], pair[0]),
    )[:3],
)
metadata(
    "nested",
    "Who is an author of the most packages?",
    sql(
        "SELECT a, count(*) n FROM (SELECT unnest(authors) a FROM {id}) GROUP BY a ORDER BY n DESC LIMIT 1"
    ),
    lambda data: ranked(Counter(name for one in data["packages"] for name in one["authors"]), 1),
)
metadata(
    "nested",
    "How many packages are in the category `no-std`?",
    sql("SELECT count(*) FROM {id} WHERE list_contains(categories, 'no-std')"),
    lambda data: sum("no-std" in one["categories"] for one in data["packages"]),
)
metadata(
    "nested",
    "What does the feature `default` of `serde_json` turn on?",
    sql("SELECT features->>'$.default[0]' FROM {id} WHERE name='serde_json'"),
    lambda data: only(data["packages"], lambda one: one["name"] == "serde_json")["features"]["default"][0],
)
metadata(
    "nested",
    "On which package do the most others depend, in the resolved graph?",
    sql("SELECT d, count(*) n FROM (SELECT unnest(dependencies) d FROM {id}_nodes) GROUP BY d ORDER BY n DESC LIMIT 1"),
    lambda data: ranked(Counter(d for one in data["resolve"]["nodes"] for d in one["dependencies"]), 1),
)
metadata(
    "join",
    "Which packages of edition 2018 have six resolved dependencies or more?",
    sql(
        "SELECT p.name, len(n.dependencies) d FROM {id} p JOIN {id}_nodes n USING (id) "
        "WHERE edition='2018' AND d >= 6 ORDER BY p.name, d"
    ),
    lambda data: (
        lambda counts: sorted(
            (one["name"], counts[one["id"]])
            for one in data["packages"] if one["edition"] == "2018" and counts[one["id"]] >= 6
        )
    )({node["id"]: len(node["dependencies"]) for node in data["resolve"]["nodes"]}),
)
metadata(
    "browse",
    "Which Rust does `tokio` need, and where is its repository?",
    browse(fields=["rust_version", "repository"], filter={"name": "tokio"}),
    lambda data: [
        (one["rust_version"], one["repository"]) for one in data["packages"] if one["name"] == "tokio"
    ],
)
build(
    "aggregate",
    "How many messages are there of each reason?",
    sql("SELECT reason, count(*) n FROM {id} GROUP BY reason ORDER BY n DESC"),
    lambda messages: ranked(Counter(one["reason"] for one in messages)),
)
build(
    "lookup",
    "Did the build succeed?",
    sql("SELECT success FROM {id} WHERE reason='build-finished'"),
    lambda messages: [one["success"] for one in messages if one["reason"] == "build-finished"],
)
build(
    "nested",
    "Which programs (kind `bin`) were built?",
    sql("SELECT target.name n FROM {id} WHERE list_contains(target.kind, 'bin') ORDER BY n"),
    lambda messages: sorted(
        one["target"]["name"] for one in messages if "bin" in one.get("target", {}).get("kind", [])
    ),
)
build(
    "nested",
    "Which artifact has the most features, and how many?",
    sql("SELECT max(len(features)) FROM {id}"),
    lambda messages: max(len(one.get("features", [])) for one in messages),
)
build(
    "filter",
    "How many artifacts are not fresh?",
    sql("SELECT count(*) FROM {id} WHERE NOT fresh"),
    lambda messages: sum(one.get("fresh") is False for one in messages),
)
build(
    "browse",
    "Which features was `syn` built with?",
    browse(
        lambda reply: reply["results"][0]["features"],
        filter={"package_id": {"contains": "#syn@"}, "reason": "compiler-artifact"},
        fields=["features"],
        limit=1,
    ),
    lambda messages: next(
        one["features"] for one in messages
        if "#syn@" in one.get("package_id", "") and one["reason"] == "compiler-artifact"
    ),
)

# Debian's packages, as paragraphs of fields

status(
    "aggregate",
    "Which five sections have the most packages?",
    sql("SELECT Section, count(*) n FROM {id} GROUP BY Section ORDER BY n DESC, Section LIMIT 5"),
    lambda packages: ranked(Counter(one["Section"] for one in packages), 5),
)
status(
    "aggregate",
    "How many KB are installed in all?",
    sql('SELECT sum("Installed-Size") FROM {id}'),
    lambda packages: sum(int(one["Installed-Size"]) for one in packages),
)
status(
    "aggregate",
    "How large are the packages of each priority on average?",
    sql('SELECT Priority, avg("Installed-Size") FROM {id} GROUP BY Priority ORDER BY Priority'),
    lambda packages: sorted(
        (priority, sum(int(one["Installed-Size"]) for one in some) / len(some))
        for priority, some in grouped(packages, lambda one: one["Priority"]).items()
    ),
)
status(
    "lookup",
    "Which version of bash is installed, and who maintains it?",
    sql("SELECT Version, Maintainer FROM {id} WHERE Package='bash'"),
    lambda packages: [
        (one["Version"], one["Maintainer"]) for one in packages if one["Package"] == "bash"
    ],
)
status(
    "lookup",
    "Which package is the largest?",
    sql('SELECT Package, "Installed-Size" FROM {id} ORDER BY 2 DESC LIMIT 1'),
    lambda packages: max(
        ((one["Package"], int(one["Installed-Size"])) for one in packages), key=lambda pair: pair[1]
    ),
)
status(
    "filter",
    "Which essential packages are in the section `utils`?",
    sql("SELECT Package FROM {id} WHERE Essential='yes' AND Section='utils' ORDER BY Package"),
    lambda packages: sorted(
        one["Package"] for one in packages if one.get("Essential") == "yes" and one["Section"] == "utils"
    ),
)
status(
    "filter",
    "How many packages depend on libc6?",
    sql("SELECT count(*) FROM {id} WHERE regexp_matches(Depends, '\\blibc6 ')"),
    lambda packages: sum(bool(re.search(r"\blibc6 ", one.get("Depends", ""))) for one in packages),
)
status(
    "browse",
    "Which three packages of the section `admin` are the largest?",
    browse(fields=["Package"], filter={"Section": "admin"}, sort="-Installed-Size", limit=3),
    lambda packages: [
        one["Package"] for one in sorted(
            (one for one in packages if one["Section"] == "admin"),
            key=lambda one: -int(one["Installed-Size"]),
        )[:3]
    ],
)
status_text(
    "text",
    "What are the first two fields after the name of the package `git`?",
    grep("^Package: git$", lambda reply: reply["matches"][0]["after"], context=2),
    lambda lines: (lambda at: lines[at + 1 : at + 3])(lines.index("Package: git")),
)
status_text(
    "text",
    "Which configuration files of bash are listed?",
    grep(r"^ /etc/(bash\.bashrc|skel/\.bash)"),
    lambda lines: [line for line in lines if line.startswith((" /etc/bash.bashrc", " /etc/skel/.bash"))],
)

# The same packages, as columns and as a listing

versions("aggregate", "How many packages are there?", sql("SELECT count(*) FROM {id}"), len)
versions(
    "lookup",
    "Which version has tar?",
    sql("SELECT column_2 FROM {id} WHERE column_1='tar'"),
    lambda lines: [line.split("\t")[1] for line in lines if line.startswith("tar\t")],
)
versions(
    "filter",
    "How many packages are named for the architecture amd64?",
    sql("SELECT count(*) FROM {id} WHERE column_1 LIKE '%:amd64'"),
    lambda lines: sum(line.split("\t")[0].endswith(":amd64") for line in lines),
)
versions(
    "text",
    "Which packages begin with `zlib`?",
    grep("^zlib"),
    lambda lines: [line for line in lines if line.startswith("zlib")],
)
listing(
    "text",
    "How is the package `tar` described?",
    grep("^ii  tar "),
    lambda lines: [line for line in lines if line.startswith("ii  tar ")],
)
listing(
    "text",
    "On which line does the list itself begin?",
    grep("^ii", numbers, limit=1),
    lambda lines: [number for number, line in enumerate(lines, 1) if line.startswith("ii")][:1],
)
listing(
    "filter",
    "How many installed packages are for all architectures?",
    sql("SELECT count(*) FROM {id} WHERE Architecture = 'all' AND status = 'ii'"),
    lambda lines: sum(line.startswith("ii") and line.split()[3] == "all" for line in lines),
)
about("dpkg status", "dpkg-query -W", read_as=["stanzas", "lines"])(
    "join",
    "Do both name the same version of every package? How many agree?",
    sql(
        "SELECT count(*) FROM {id} s JOIN {id2} q ON s.Package = split_part(q.column_1,':',1) "
        "WHERE s.Version = q.column_2"
    ),
    lambda packages, lines: (
        lambda told: sum((one["Package"], one["Version"]) in told for one in packages)
    )({(line.split("\t")[0].split(":")[0], line.split("\t")[1]) for line in lines}),
)

# The log of their installation

log(
    "aggregate",
    "How many entries are there of each kind (the first word)? The first three.",
    sql("SELECT split_part(message,' ',1) w, count(*) n FROM {id} GROUP BY w ORDER BY n DESC LIMIT 3"),
    lambda lines: ranked(Counter(line.split(" ")[2] for line in lines), 3),
)
log(
    "aggregate",
    "How many packages were installed on each day?",
    sql(
        "SELECT timestamp::DATE d, count(*) FROM {id} WHERE message LIKE 'install %' GROUP BY d ORDER BY d"
    ),
    lambda lines: sorted(Counter(line[:10] for line in lines if line[20:].startswith("install ")).items()),
)
log(
    "lookup",
    "What is the time of the last entry?",
    sql("SELECT max(timestamp) FROM {id}"),
    lambda lines: lines[-1][:19],
)
log(
    "filter",
    "Which packages were purged?",
    sql("SELECT message FROM {id} WHERE message LIKE 'purge %'"),
    lambda lines: [line[20:] for line in lines if line[20:].startswith("purge ")],
)
log(
    "text",
    "How often were triggers of `libc-bin` processed?",
    grep(" trigproc libc-bin:", total, limit=1),
    lambda lines: sum(" trigproc libc-bin:" in line for line in lines),
)
log(
    "text",
    "What stands around the first installation?",
    grep(" install ", around, context=1, limit=1),
    lambda lines: next(lines[at - 1 : at + 2] for at, line in enumerate(lines) if " install " in line),
)
