"""Questions about specifications: protocols and interfaces of programs, schemas, properties of CSS."""

from collections import Counter

from ask import about, sql
from gold import only, ranked

protocol = about("browser-protocol.json", read_as="json")
debugger = about("js_protocol.json", read_as="json")
css = about("css.json", read_as="json")
kubernetes = about("kubernetes-swagger.json", read_as="json")
trek = about("star-trek-openapi.json", read_as="json")
readme = about("readme-legacy.json", read_as="json")
webhooks = about("webhook-schemas.json", read_as="json")


def inner(data, name):
    """The members of one list of every domain, with the domain."""
    return [(domain["domain"], one) for domain in data["domains"] for one in domain.get(name, [])]


def command(data, domain, name):
    return only((one for of, one in inner(data, "commands") if of == domain), lambda one: one["name"] == name)


# The protocol of browsers' tools: three lists of objects, and lists in those

protocol(
    "nested",
    "Which three domains have the most commands?",
    sql("SELECT domain, len(commands) n FROM {id} ORDER BY n DESC, domain LIMIT 3"),
    lambda data: ranked(Counter(domain for domain, _ in inner(data, "commands")), 3),
)
protocol(
    "nested",
    "How many commands are there in all, how many of them experimental, how many deprecated?",
    sql(
        "SELECT count(*), count(*) FILTER (experimental), count(*) FILTER (deprecated) FROM {id}_commands"
    ),
    lambda data: (lambda all: (
        len(all), sum(one.get("experimental", False) for one in all), sum(one.get("deprecated", False) for one in all)
    ))([one for _, one in inner(data, "commands")]),
)
protocol(
    "nested",
    "Which commands of the domain Network begin with `get`?",
    sql("SELECT name FROM {id}_commands WHERE domain = 'Network' AND name LIKE 'get%' ORDER BY name"),
    lambda data: sorted(
        one["name"] for domain, one in inner(data, "commands")
        if domain == "Network" and one["name"].startswith("get")
    ),
)
protocol(
    "nested",
    "Which parameters does Page.captureScreenshot take?",
    sql(
        "SELECT p.name FROM {id} d, unnest(d.commands) c(c), unnest(c.parameters) q(p) "
        "WHERE d.domain = 'Page' AND c.name = 'captureScreenshot'"
    ),
    lambda data: {one["name"] for one in command(data, "Page", "captureScreenshot")["parameters"]},
)
protocol(
    "nested",
    "How many parameters of commands are optional?",
    sql("SELECT count(*) FROM {id}_commands_parameters WHERE optional"),
    lambda data: sum(
        one.get("optional", False) for _, command in inner(data, "commands") for one in command.get("parameters", [])
    ),
)
protocol(
    "nested",
    "How many commands are redirected, and to which domains?",
    sql(
        "SELECT redirect, count(*) n FROM {id}_commands WHERE redirect IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1"
    ),
    lambda data: ranked(Counter(one["redirect"] for _, one in inner(data, "commands") if "redirect" in one)),
)
protocol(
    "nested",
    "Which domains have no events?",
    sql("SELECT domain FROM {id} WHERE events IS NULL ORDER BY domain"),
    lambda data: sorted(one["domain"] for one in data["domains"] if "events" not in one),
)
protocol(
    "nested",
    "On which domains do the most others depend? Three of them.",
    sql(
        "SELECT d, count(*) n FROM (SELECT unnest(dependencies) d FROM {id}) GROUP BY d ORDER BY n DESC, d LIMIT 3"
    ),
    lambda data: ranked(Counter(name for one in data["domains"] for name in one.get("dependencies", [])), 3),
)
protocol(
    "nested",
    "Which type has the most values to choose from (enum), of which domain, and how many?",
    sql("SELECT domain, id, len(enum) n FROM {id}_types ORDER BY n DESC NULLS LAST LIMIT 1"),
    lambda data: max(
        ((domain, one["id"], len(one.get("enum", []))) for domain, one in inner(data, "types")),
        key=lambda row: row[2],
    ),
)
protocol(
    "nested",
    "Which domain has the most experimental events, and how many?",
    sql(
        "SELECT domain, count(*) n FROM {id}_events WHERE experimental GROUP BY domain ORDER BY n DESC, domain LIMIT 1"
    ),
    lambda data: ranked(Counter(domain for domain, one in inner(data, "events") if one.get("experimental")), 1),
)
protocol(
    "nested",
    "Which types of the domain DOM are objects with more than ten properties?",
    sql(
        "SELECT t.id FROM {id} d, unnest(d.types) AS u(t) "
        "WHERE d.domain = 'DOM' AND t.type = 'object' AND len(t.properties) > 10 ORDER BY t.id"
    ),
    lambda data: sorted(
        one["id"] for domain, one in inner(data, "types")
        if domain == "DOM" and one["type"] == "object" and len(one.get("properties", [])) > 10
    ),
)

# The same for JavaScript, a tenth as long

debugger(
    "nested",
    "How many commands, types and events has each domain?",
    sql("SELECT domain, len(commands), len(types), coalesce(len(events), 0) FROM {id} ORDER BY domain"),
    lambda data: sorted(
        (one["domain"], len(one["commands"]), len(one["types"]), len(one.get("events", [])))
        for one in data["domains"]
    ),
)
debugger(
    "nested",
    "Which commands are deprecated? With their domains.",
    sql("SELECT domain, name FROM {id}_commands WHERE deprecated ORDER BY domain, name"),
    lambda data: sorted((domain, one["name"]) for domain, one in inner(data, "commands") if one.get("deprecated")),
)
debugger(
    "nested",
    "What does Runtime.evaluate do, by its description?",
    sql("SELECT description FROM {id}_commands WHERE domain = 'Runtime' AND name = 'evaluate'"),
    lambda data: command(data, "Runtime", "evaluate")["description"],
)
debugger(
    "nested",
    "How many parameters does Debugger.setBreakpointByUrl take, and how many of them must be given?",
    sql(
        "SELECT count(*), count(*) FILTER (WHERE p.optional IS NULL) "
        "FROM {id} d, unnest(d.commands) u(c), unnest(c.parameters) v(p) "
        "WHERE d.domain = 'Debugger' AND c.name = 'setBreakpointByUrl'"
    ),
    lambda data: (lambda all: (len(all), sum("optional" not in one for one in all)))(
        command(data, "Debugger", "setBreakpointByUrl")["parameters"]
    ),
)
debugger(
    "nested",
    "Which events has the HeapProfiler?",
    sql("SELECT name FROM {id}_events WHERE domain = 'HeapProfiler' ORDER BY name"),
    lambda data: sorted(one["name"] for domain, one in inner(data, "events") if domain == "HeapProfiler"),
)
debugger(
    "nested",
    "Which types of properties of types are there, and how many of each? The first three.",
    sql(
        "SELECT type, count(*) n FROM {id}_properties WHERE type IS NOT NULL GROUP BY type ORDER BY n DESC LIMIT 3"
    ),
    lambda data: ranked(
        Counter(
            one["type"] for _, type in inner(data, "types") for one in type.get("properties", []) if "type" in one
        ),
        3,
    ),
)

# CSS

css(
    "nested",
    "Which three properties have the most longhands?",
    sql("SELECT name, len(longhands) n FROM {id} ORDER BY n DESC NULLS LAST, name LIMIT 3"),
    lambda data: ranked({one["name"]: len(one.get("longhands", [])) for one in data["properties"]}, 3),
)
css(
    "nested",
    "Of which shorthands is `border-top-width` a longhand?",
    sql("SELECT name FROM {id} WHERE list_contains(longhands, 'border-top-width') ORDER BY name"),
    lambda data: sorted(
        one["name"] for one in data["properties"] if "border-top-width" in one.get("longhands", [])
    ),
)
css(
    "nested",
    "Which at-rules have the most descriptors? Three of them.",
    sql("SELECT name, len(descriptors) n FROM {id}_atrules ORDER BY n DESC, name LIMIT 3"),
    lambda data: ranked({one["name"]: len(one["descriptors"]) for one in data["atrules"]}, 3),
)
css(
    "nested",
    "What is the initial value of the descriptor `font-display` of `@font-face`?",
    sql("""SELECT initial FROM {id}_descriptors WHERE name = 'font-display' AND "for" = '@font-face'"""),
    lambda data: [
        one["initial"] for rule in data["atrules"] for one in rule["descriptors"]
        if (one["name"], one["for"]) == ("font-display", "@font-face")
    ],
)
css(
    "nested",
    "How many properties were extended by further specifications?",
    sql("SELECT count(*) FROM {id} WHERE len(extended) > 0"),
    lambda data: sum(bool(one["extended"]) for one in data["properties"]),
)

# Interfaces of servers

kubernetes(
    "nested",
    "How many paths can be posted to?",
    sql("SELECT count(*) FROM {id} WHERE post IS NOT NULL"),
    lambda data: sum("post" in one for one in data["paths"].values()),
)
kubernetes(
    "nested",
    "How many properties has the definition `io.k8s.api.core.v1.PodSpec`?",
    sql("SELECT len(json_keys(properties)) FROM {id}_definitions WHERE key = 'io.k8s.api.core.v1.PodSpec'"),
    lambda data: len(data["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]),
)
kubernetes(
    "nested",
    "Which properties must a `io.k8s.api.core.v1.Container` have?",
    sql("SELECT unnest(required) FROM {id}_definitions WHERE key = 'io.k8s.api.core.v1.Container'"),
    lambda data: data["definitions"]["io.k8s.api.core.v1.Container"]["required"],
)
kubernetes(
    "nested",
    "How many definitions have a property `spec`?",
    sql("SELECT count(*) FROM {id}_definitions WHERE (properties->'spec') IS NOT NULL"),
    lambda data: sum("spec" in one.get("properties", {}) for one in data["definitions"].values()),
)
trek(
    "nested",
    "How many schemas have a property `uid`?",
    sql("SELECT count(*) FROM {id} WHERE properties['uid'] IS NOT NULL"),
    lambda data: sum("uid" in one.get("properties", {}) for one in data["components"]["schemas"].values()),
)
trek(
    "nested",
    "Which five properties do the most schemas have?",
    sql("SELECT key, count(*) n FROM {id}_properties GROUP BY key ORDER BY n DESC, key LIMIT 5"),
    lambda data: ranked(
        Counter(name for one in data["components"]["schemas"].values() for name in one.get("properties", {})), 5
    ),
)
trek(
    "nested",
    "Which schemas list their values (enum), and how many values has each?",
    sql("SELECT key, len(enum) n FROM {id} WHERE enum IS NOT NULL ORDER BY n DESC, key"),
    lambda data: ranked(
        {name: len(one["enum"]) for name, one in data["components"]["schemas"].items() if "enum" in one}
    ),
)
trek(
    "nested",
    "How is getting `/character/search` described?",
    sql("SELECT get.description FROM {id}_paths WHERE key = '/character/search'"),
    lambda data: data["paths"]["/character/search"]["get"]["description"],
)
readme(
    "nested",
    "How is `GET /categories` called, and what is its id?",
    sql("SELECT get.summary, get.operationId FROM {id} WHERE key = '/categories'"),
    lambda data: (lambda one: (one["summary"], one["operationId"]))(data["paths"]["/categories"]["get"]),
)
readme(
    "nested",
    "Which paths can be deleted?",
    sql("SELECT key FROM {id} WHERE delete IS NOT NULL ORDER BY key"),
    lambda data: sorted(path for path, one in data["paths"].items() if "delete" in one),
)
readme(
    "nested",
    "How many paths have a `post` under each tag?",
    sql("SELECT post.tags[1] AS tag, count(*) AS n FROM {id} WHERE post IS NOT NULL GROUP BY tag ORDER BY n DESC, tag"),
    lambda data: ranked(Counter(one["post"]["tags"][0] for one in data["paths"].values() if "post" in one)),
)
webhooks(
    "nested",
    "How many definitions require a `sender`?",
    sql("SELECT count(*) FROM {id} WHERE list_contains(required, 'sender')"),
    lambda data: sum("sender" in one.get("required", []) for one in data["definitions"].values()),
)
webhooks(
    "nested",
    "Which three definitions require the most properties?",
    sql("SELECT key, len(required) n FROM {id} ORDER BY n DESC NULLS LAST, key LIMIT 3"),
    lambda data: ranked({name: len(one.get("required", [])) for name, one in data["definitions"].items()}, 3),
)
webhooks(
    "nested",
    "How many definitions are a choice of others (oneOf), and how many others are that in all?",
    sql("SELECT count(oneOf), sum(len(oneOf)) FROM {id}"),
    lambda data: (lambda lists: (len(lists), sum(map(len, lists))))(
        [one["oneOf"] for one in data["definitions"].values() if "oneOf" in one]
    ),
)
