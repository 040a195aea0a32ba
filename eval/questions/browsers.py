"""Questions about what browsers support: caniuse (5 MB) and MDN's data (20 MB), deeply nested."""

from collections import Counter

from ask import about, browse, sql, total
from gold import grouped, mean, ranked

caniuse = about("caniuse.json", read_as="json")
mdn = about("compat-data.json", read_as="json")
both = about("caniuse.json", "compat-data.json", read_as="json")

# Can I use, a map of features beside one of browsers and one of eras

caniuse(
    "aggregate",
    "How many features have each status?",
    sql("SELECT status, count(*) n FROM {id} GROUP BY status ORDER BY n DESC, status"),
    lambda data: ranked(Counter(one["status"] for one in data["data"].values())),
)
caniuse(
    "aggregate",
    "What is the mean full support (usage_perc_y) by status? The best two.",
    sql("SELECT status, avg(usage_perc_y) a FROM {id} GROUP BY status ORDER BY a DESC LIMIT 2"),
    lambda data: ranked(
        {
            status: mean(one["usage_perc_y"] for one in some)
            for status, some in grouped(data["data"].values(), lambda one: one["status"]).items()
        },
        2,
    ),
)
caniuse(
    "aggregate",
    "How many features are supported by more than 95 % of users?",
    sql("SELECT count(*) FROM {id} WHERE usage_perc_y > 95"),
    lambda data: sum(one["usage_perc_y"] > 95 for one in data["data"].values()),
)
caniuse(
    "aggregate",
    "Which features have the most children (named as `parent`)? Three of them.",
    sql("SELECT parent, count(*) n FROM {id} WHERE parent<>'' GROUP BY 1 ORDER BY n DESC, 1 LIMIT 3"),
    lambda data: ranked(Counter(one["parent"] for one in data["data"].values() if one["parent"]), 3),
)
caniuse(
    "lookup",
    "What is the title of the feature `css-grid`, and its status?",
    sql("SELECT title, status FROM {id} WHERE key='css-grid'"),
    lambda data: [(data["data"]["css-grid"]["title"], data["data"]["css-grid"]["status"])],
)
caniuse(
    "lookup",
    "Where is the specification of WebAssembly bulk memory?",
    sql("SELECT spec FROM {id} WHERE key='wasm-bulk-memory'"),
    lambda data: data["data"]["wasm-bulk-memory"]["spec"],
)
caniuse(
    "lookup",
    "What does the status `cr` stand for, and how many features have it?",
    sql("SELECT count(*) FROM {id} WHERE status='cr'"),
    lambda data: sum(one["status"] == "cr" for one in data["data"].values()),
)
caniuse(
    "filter",
    "Which features need an upper-case prefix (ucprefix)?",
    sql("SELECT key FROM {id} WHERE ucprefix ORDER BY key"),
    lambda data: sorted(name for name, one in data["data"].items() if one["ucprefix"]),
)
caniuse(
    "filter",
    "Which Recommendations (rec) have less than half of the users?",
    sql("SELECT key, usage_perc_y FROM {id} WHERE status='rec' AND usage_perc_y < 50 ORDER BY key"),
    lambda data: sorted(
        (name, one["usage_perc_y"])
        for name, one in data["data"].items() if one["status"] == "rec" and one["usage_perc_y"] < 50
    ),
)
caniuse(
    "filter",
    "How many descriptions mention JavaScript?",
    sql("SELECT count(*) FROM {id} WHERE description ILIKE '%javascript%'"),
    lambda data: sum("javascript" in one["description"].lower() for one in data["data"].values()),
)
caniuse(
    "nested",
    "How well did Internet Explorer 10 support flexbox?",
    sql("SELECT stats->'ie'->>'10' FROM {id} WHERE key='flexbox'"),
    lambda data: data["data"]["flexbox"]["stats"]["ie"]["10"],
)
caniuse(
    "nested",
    "How many features does Safari 9 support fully (y, whatever follows)?",
    sql("SELECT count(*) FROM {id} WHERE stats->'safari'->>'9' LIKE 'y%'"),
    lambda data: sum(one["stats"]["safari"]["9"].startswith("y") for one in data["data"].values()),
)
caniuse(
    "nested",
    "How many features are in each category? The three largest.",
    sql(
        "SELECT c, count(*) n FROM (SELECT unnest(categories::VARCHAR[]) c FROM {id}) "
        "GROUP BY c ORDER BY n DESC LIMIT 3"
    ),
    lambda data: ranked(Counter(c for one in data["data"].values() for c in one["categories"]), 3),
)
caniuse(
    "nested",
    "Which feature has the most links, and how many?",
    sql("SELECT key, json_array_length(links) n FROM {id} ORDER BY n DESC LIMIT 1"),
    lambda data: ranked({name: len(one["links"]) for name, one in data["data"].items()}, 1),
)
caniuse(
    "nested",
    "Which links does `webp` have? Their titles.",
    sql("SELECT l.value->>'title' FROM {id} d, json_each(d.links) l WHERE d.key='webp'"),
    lambda data: [link["title"] for link in data["data"]["webp"]["links"]],
)
caniuse(
    "nested",
    "Which browsers are for mobiles? Their long names.",
    sql("SELECT long_name FROM {id}_agents WHERE type='mobile' ORDER BY long_name"),
    lambda data: sorted(
        agent["long_name"] for agent in data["agents"].values() if agent["type"] == "mobile"
    ),
)
caniuse(
    "nested",
    "What share of all users has Internet Explorer 11?",
    sql("SELECT (usage_global->>'11')::DOUBLE FROM {id}_agents WHERE key='ie'"),
    lambda data: data["agents"]["ie"]["usage_global"]["11"],
)
caniuse(
    "nested",
    "What is the era `e-1` called?",
    sql("SELECT value FROM {id}_eras WHERE key='e-1'"),
    lambda data: data["eras"]["e-1"],
)
caniuse(
    "nested",
    "How many features does Opera Mini (version `all`) support fully?",
    sql("SELECT count(*) FROM {id} WHERE stats->'op_mini'->>'all' LIKE 'y%'"),
    lambda data: sum(one["stats"]["op_mini"]["all"].startswith("y") for one in data["data"].values()),
)
caniuse(
    "join",
    "Which features are supported worse than half as well as their parents? How many?",
    sql(
        "SELECT count(*) FROM {id} f JOIN {id} p ON f.parent = p.key "
        "WHERE f.usage_perc_y < p.usage_perc_y / 2"
    ),
    lambda data: sum(
        one["usage_perc_y"] < data["data"][one["parent"]]["usage_perc_y"] / 2
        for one in data["data"].values() if one["parent"] in data["data"]
    ),
)
caniuse(
    "browse",
    "What are the notes of the feature `aac`?",
    browse(lambda reply: reply["results"][0]["notes"], filter={"key": "aac"}, fields=["notes"]),
    lambda data: data["data"]["aac"]["notes"],
)
caniuse(
    "browse",
    "Which three working drafts are supported best?",
    browse(
        fields=["title", "usage_perc_y"], filter={"status": "wd"}, sort="-usage_perc_y", limit=3
    ),
    lambda data: sorted(
        (
            (one["title"], one["usage_perc_y"])
            for one in data["data"].values() if one["status"] == "wd"
        ),
        key=lambda pair: -pair[1],
    )[:3],
)

# MDN's data: thousands of fields, since an interface's members are fields of its record


def support(data, name, browser):
    """The first version of a browser with an interface."""
    stated = data["api"][name]["__compat"]["support"][browser]
    return (stated[0] if isinstance(stated, list) else stated)["version_added"]


mdn("aggregate", "How many interfaces are there?", sql("SELECT count(*) FROM {id}"), lambda data: len(data["api"]))
mdn(
    "nested",
    "How many interfaces are experimental?",
    sql("SELECT count(*) FROM {id} WHERE __compat->>'$.status.experimental'='true'"),
    lambda data: sum(one["__compat"]["status"]["experimental"] for one in data["api"].values()),
)
mdn(
    "nested",
    "How many interfaces are deprecated and off the standards track?",
    sql(
        "SELECT count(*) FROM {id} WHERE (__compat->>'$.status.deprecated')='true' "
        "AND (__compat->>'$.status.standard_track')='false'"
    ),
    lambda data: sum(
        one["__compat"]["status"]["deprecated"] and not one["__compat"]["status"]["standard_track"]
        for one in data["api"].values()
    ),
)
mdn(
    "lookup",
    "Since which version has Chrome the AbortController?",
    sql(
        "SELECT __compat->>'$.support.chrome.version_added' FROM {id} WHERE key='AbortController'"
    ),
    lambda data: support(data, "AbortController", "chrome"),
)
mdn(
    "lookup",
    "Where does MDN describe `WebSocket`?",
    sql("SELECT __compat->>'mdn_url' FROM {id} WHERE key='WebSocket'"),
    lambda data: data["api"]["WebSocket"]["__compat"]["mdn_url"],
)
mdn(
    "filter",
    "How many interfaces begin with `SVG`?",
    sql("SELECT count(*) FROM {id} WHERE key LIKE 'SVG%'"),
    lambda data: sum(name.startswith("SVG") for name in data["api"]),
)
mdn(
    "filter",
    "Which interfaces have a member `abort`?",
    sql("SELECT key FROM {id} WHERE abort IS NOT NULL ORDER BY key"),
    lambda data: sorted(name for name, one in data["api"].items() if "abort" in one),
)
mdn(
    "nested",
    "How many CSS properties are deprecated?",
    sql("SELECT count(*) FROM {id}_properties WHERE __compat->>'$.status.deprecated'='true'"),
    lambda data: sum(
        one["__compat"]["status"]["deprecated"]
        for one in data["css"]["properties"].values() if "__compat" in one
    ),
)
mdn(
    "nested",
    "Since which version has Firefox the CSS property `gap`?",
    sql("SELECT __compat->>'$.support.firefox.version_added' FROM {id}_properties WHERE key='gap'"),
    lambda data: data["css"]["properties"]["gap"]["__compat"]["support"]["firefox"]["version_added"],
)
mdn(
    "nested",
    "Which HTML elements are deprecated?",
    sql(
        "SELECT key FROM {id}_html_elements WHERE __compat->>'$.status.deprecated'='true' ORDER BY key"
    ),
    lambda data: sorted(
        name for name, one in data["html"]["elements"].items()
        if one.get("__compat", {}).get("status", {}).get("deprecated")
    ),
)
mdn(
    "browse",
    "Which specification does `AbortSignal` belong to?",
    browse(
        lambda reply: reply["results"][0]["__compat"]["spec_url"],
        filter={"key": "AbortSignal"},
        fields=["__compat"],
    ),
    lambda data: data["api"]["AbortSignal"]["__compat"]["spec_url"],
)
mdn(
    "browse",
    "How many interfaces have `Audio` in their name?",
    browse(total, filter={"key": {"contains": "Audio"}}, fields=["key"], limit=1),
    lambda data: sum("Audio" in name for name in data["api"]),
)
both(
    "join",
    "How many CSS properties of MDN's are features of caniuse's under the name `css-…`?",
    sql("SELECT count(*) FROM {id} c JOIN {id2}_properties p ON c.key = 'css-' || p.key"),
    lambda caniuse, mdn: sum(f"css-{name}" in caniuse["data"] for name in mdn["css"]["properties"]),
)
