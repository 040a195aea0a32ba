"""Questions about what lies inside browsers' features: links, versions, notes, releases, extensions."""

import re
from collections import Counter

from ask import about, sql
from gold import grouped, mean, ranked

caniuse = about("caniuse.json", read_as="json")
mdn = about("compat-data.json", read_as="json")
types = about("mime-db.json", read_as="json")


def features(data):
    return data["data"].items()


def links(data):
    return [(name, link) for name, one in features(data) for link in one["links"]]


# Links, a list of objects

caniuse(
    "nested",
    "How many links of all features lead to MDN (developer.mozilla.org)?",
    sql("SELECT count(*) FROM {id}_links WHERE url LIKE '%developer.mozilla.org%'"),
    lambda data: sum("developer.mozilla.org" in link["url"] for _, link in links(data)),
)
caniuse(
    "nested",
    "Which five hosts do the links name most often?",
    sql(
        "SELECT regexp_extract(url, '^https?://([^/]+)', 1) AS host, count(*) AS n FROM {id}_links "
        "GROUP BY host ORDER BY n DESC, host LIMIT 5"
    ),
    lambda data: ranked(Counter(re.match("https?://([^/]+)", link["url"])[1] for _, link in links(data)), 5),
)
caniuse(
    "nested",
    "Which features have a link whose title speaks of a polyfill and of Safari?",
    sql(
        "SELECT DISTINCT key FROM {id}_links WHERE title ILIKE '%polyfill%' AND title ILIKE '%safari%' "
        "ORDER BY key"
    ),
    lambda data: sorted(
        {name for name, link in links(data) if all(w in link["title"].lower() for w in ("polyfill", "safari"))}
    ),
)
caniuse(
    "nested",
    "How many links have the features of each status on average?",
    sql("SELECT status, avg(len(links)) a FROM {id} GROUP BY status ORDER BY a DESC"),
    lambda data: ranked(
        {
            status: mean(len(one["links"]) for one in some)
            for status, some in grouped(data["data"].values(), lambda one: one["status"]).items()
        }
    ),
)
caniuse(
    "nested",
    "How many features have a single link?",
    sql("SELECT count(*) FROM {id} WHERE len(links) = 1"),
    lambda data: sum(len(one["links"]) == 1 for _, one in features(data)),
)
caniuse(
    "nested",
    "What is the first link of `flexbox`?",
    sql("SELECT links[1].url FROM {id} WHERE key = 'flexbox'"),
    lambda data: data["data"]["flexbox"]["links"][0]["url"],
)

# Categories, a list of texts

caniuse(
    "nested",
    "What is the mean full support of each category?",
    sql("SELECT c, avg(usage_perc_y) a FROM {id}, unnest(categories) u(c) GROUP BY c ORDER BY a DESC"),
    lambda data: ranked(
        {
            category: mean(one["usage_perc_y"] for _, one in some)
            for category, some in grouped(
                ((c, one) for _, one in features(data) for c in one["categories"]), lambda pair: pair[0]
            ).items()
        }
    ),
)
caniuse(
    "nested",
    "Which features are of both categories DOM and JS API?",
    sql("SELECT key FROM {id} WHERE list_has_all(categories, ['DOM', 'JS API']) ORDER BY key"),
    lambda data: sorted(name for name, one in features(data) if {"DOM", "JS API"} <= set(one["categories"])),
)

# Support by browser and version, structs in a struct

caniuse(
    "nested",
    "How many features does Firefox 52 support fully (y, whatever follows)?",
    sql("""SELECT count(*) FROM {id} WHERE stats.firefox."52" LIKE 'y%'"""),
    lambda data: sum(one["stats"]["firefox"]["52"].startswith("y") for _, one in features(data)),
)
caniuse(
    "nested",
    "Which features came to Chrome between version 110 (n) and version 120 (y)?",
    sql(
        "SELECT key FROM {id} WHERE stats.chrome['110'] LIKE 'n%' AND stats.chrome['120'] LIKE 'y%' "
        "ORDER BY key"
    ),
    lambda data: sorted(
        name for name, one in features(data)
        if one["stats"]["chrome"]["110"].startswith("n") and one["stats"]["chrome"]["120"].startswith("y")
    ),
)
caniuse(
    "nested",
    "How many features did Internet Explorer (ie) 11 support fully, but Edge 12 did not?",
    sql(
        "SELECT count(*) FROM {id} "
        "WHERE (stats->'ie'->>'11') LIKE 'y%' AND (stats->'edge'->>'12') NOT LIKE 'y%'"
    ),
    lambda data: sum(
        one["stats"]["ie"]["11"].startswith("y") and not one["stats"]["edge"]["12"].startswith("y")
        for _, one in features(data)
    ),
)
caniuse(
    "nested",
    "What is note 2 of `flexbox`?",
    sql("SELECT notes_by_num['2'] FROM {id} WHERE key = 'flexbox'"),
    lambda data: data["data"]["flexbox"]["notes_by_num"]["2"],
)
caniuse(
    "nested",
    "How many features have a note 5?",
    sql("SELECT count(*) FROM {id} WHERE notes_by_num->>'5' IS NOT NULL"),
    lambda data: sum("5" in one["notes_by_num"] for _, one in features(data)),
)

# The browsers

caniuse(
    "nested",
    "Which browsers have exceptions to their prefix?",
    sql("SELECT key FROM {id}_agents WHERE prefix_exceptions IS NOT NULL ORDER BY key"),
    lambda data: sorted(name for name, one in data["agents"].items() if "prefix_exceptions" in one),
)
caniuse(
    "nested",
    "How many versions has each mobile browser, without empty places in its list?",
    sql(
        "SELECT key, len(list_filter(versions, v -> v IS NOT NULL)) n FROM {id}_agents "
        "WHERE type = 'mobile' ORDER BY n DESC, key"
    ),
    lambda data: ranked(
        {
            name: sum(version is not None for version in one["versions"])
            for name, one in data["agents"].items() if one["type"] == "mobile"
        }
    ),
)

# MDN

mdn(
    "nested",
    "How many interfaces are there without a page on MDN?",
    sql("SELECT count(*) FROM {id} WHERE __compat.mdn_url IS NULL"),
    lambda data: sum("mdn_url" not in one.get("__compat", {}) for one in data["api"].values()),
)
mdn(
    "nested",
    "How many interfaces are experimental, but off the standards track?",
    sql(
        "SELECT count(*) FROM {id} WHERE __compat.status.experimental AND NOT __compat.status.standard_track"
    ),
    lambda data: sum(
        one["__compat"]["status"]["experimental"] and not one["__compat"]["status"]["standard_track"]
        for one in data["api"].values()
    ),
)

# Media types

types(
    "nested",
    "How many types have each number of extensions, from one to four?",
    sql(
        "SELECT len(extensions) AS n, count(*) FROM {id} WHERE n BETWEEN 1 AND 4 GROUP BY n ORDER BY n"
    ),
    lambda types: sorted(
        (n, count)
        for n, count in Counter(len(one.get("extensions", [])) for one in types.values()).items() if 1 <= n <= 4
    ),
)
types(
    "nested",
    "Which types of video have an extension that begins with `m`? How many extensions are that?",
    sql(
        "SELECT key, count(*) FROM {id}, unnest(extensions) t(e) "
        "WHERE key LIKE 'video/%' AND e LIKE 'm%' GROUP BY key ORDER BY key"
    ),
    lambda types: sorted(
        Counter(
            name for name, one in types.items() for e in one.get("extensions", [])
            if name.startswith("video/") and e.startswith("m")
        ).items()
    ),
)
types(
    "nested",
    "How many extensions come from Apache?",
    sql("SELECT sum(len(extensions)) FROM {id} WHERE source = 'apache'"),
    lambda types: sum(len(one.get("extensions", [])) for one in types.values() if one.get("source") == "apache"),
)
types(
    "nested",
    "How many types have no extensions?",
    sql("SELECT count(*) FROM {id} WHERE extensions IS NULL"),
    lambda types: sum("extensions" not in one for one in types.values()),
)
