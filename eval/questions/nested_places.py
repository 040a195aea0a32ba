"""Questions about places and signs: earthquakes and outlines in GeoJSON, regions of countries, emoji."""

from collections import Counter

from ask import about, sql
from gold import grouped, mean, only, ranked

quakes = about("earthquakes.json", read_as="json")
outlines = about("countries.geo.json", read_as="json")
countries = about("country-regions.json", read_as="json")
emoji = about("emoji-by-group.json", read_as="json")


def events(data):
    return [one["properties"] for one in data["features"]]


def regions(countries):
    return [(country, one) for country in countries for one in country["regions"]]


def signs(groups):
    return [(group, one) for group, some in groups.items() for one in some]


# Earthquakes: each record is two structs

quakes(
    "nested",
    "Which three earthquakes were the strongest? Magnitude and place.",
    sql("SELECT properties.mag, properties.place FROM {id} ORDER BY properties.mag DESC, 2 LIMIT 3"),
    lambda data: sorted(
        ((one["mag"], one["place"]) for one in events(data)), key=lambda pair: (-pair[0], pair[1])
    )[:3],
)
quakes(
    "nested",
    "How many events are there of each type?",
    sql("SELECT properties.type AS type, count(*) n FROM {id} GROUP BY properties.type ORDER BY n DESC"),
    lambda data: ranked(Counter(one["type"] for one in events(data))),
)
quakes(
    "nested",
    "How many events were felt by somebody?",
    sql("SELECT count(*) FROM {id} WHERE properties.felt IS NOT NULL"),
    lambda data: sum(one["felt"] is not None for one in events(data)),
)
quakes(
    "nested",
    "What is the mean magnitude by the type of magnitude?",
    sql("SELECT properties.magType m, avg(properties.mag) a FROM {id} GROUP BY m ORDER BY a DESC"),
    lambda data: ranked(
        {
            kind: mean(one["mag"] for one in some)
            for kind, some in grouped(events(data), lambda one: one["magType"]).items()
        }
    ),
)
quakes(
    "nested",
    "How deep was the deepest event, and where? The depth is the third coordinate.",
    sql(
        "SELECT geometry.coordinates[3] AS depth, properties.place FROM {id} ORDER BY depth DESC LIMIT 1"
    ),
    lambda data: max(
        ((one["geometry"]["coordinates"][2], one["properties"]["place"]) for one in data["features"]),
        key=lambda pair: pair[0],
    ),
)
quakes(
    "nested",
    "How many events lie south of the equator?",
    sql("SELECT count(*) FROM {id} WHERE geometry.coordinates[2] < 0"),
    lambda data: sum(one["geometry"]["coordinates"][1] < 0 for one in data["features"]),
)
quakes(
    "nested",
    "Which events of magnitude 6 and more had an alert? Their ids.",
    sql(
        "SELECT id FROM {id} WHERE properties.alert IS NOT NULL AND properties.mag >= 6 ORDER BY id"
    ),
    lambda data: sorted(
        one["id"] for one in data["features"]
        if one["properties"]["alert"] is not None and one["properties"]["mag"] >= 6
    ),
)
quakes(
    "nested",
    "How many events did each network tell of? The first four.",
    sql("SELECT properties->>'net' AS net, count(*) AS n FROM {id} GROUP BY 1 ORDER BY n DESC LIMIT 4"),
    lambda data: ranked(Counter(one["net"] for one in events(data)), 4),
)

# Outlines

outlines(
    "nested",
    "How many outlines are polygons, how many multipolygons?",
    sql("SELECT geometry.type, count(*) FROM {id} GROUP BY geometry.type ORDER BY 1"),
    lambda data: sorted(Counter(one["geometry"]["type"] for one in data["features"]).items()),
)
outlines(
    "nested",
    "Is there an outline of Kosovo (XKX), of Norway (NOR), of Tuvalu (TUV)? Those that there are, by A3.",
    sql("SELECT properties.A3 FROM {id} WHERE properties.A3 IN ('XKX', 'NOR', 'TUV') ORDER BY 1"),
    lambda data: sorted(
        one["properties"]["A3"] for one in data["features"] if one["properties"]["A3"] in ("XKX", "NOR", "TUV")
    ),
)
outlines(
    "nested",
    "Of how many polygons does the outline of Canada (CAN) consist?",
    sql("SELECT json_array_length(geometry.coordinates) FROM {id} WHERE properties.A3 = 'CAN'"),
    lambda data: len(
        only(data["features"], lambda one: one["properties"]["A3"] == "CAN")["geometry"]["coordinates"]
    ),
)

# Regions of countries: records that are little more than a list of objects, which is then the table

countries(
    "nested",
    "Which three countries have the most regions?",
    sql("SELECT countryName, count(*) n FROM {id} GROUP BY countryName ORDER BY n DESC, countryName LIMIT 3"),
    lambda countries: ranked({one["countryName"]: len(one["regions"]) for one in countries}, 3),
)
countries(
    "nested",
    "Which country has the region Bavaria (Bayern)? With its short code.",
    sql("SELECT countryName, shortCode FROM {id} WHERE name LIKE 'Bayern%' OR name LIKE 'Bavaria%'"),
    lambda countries: [
        (country["countryName"], one.get("shortCode"))
        for country, one in regions(countries) if one["name"].startswith(("Bayern", "Bavaria"))
    ],
)
countries(
    "nested",
    "How many regions are there in all, and how many of them have no short code?",
    sql("SELECT count(*), count(*) - count(shortCode) FROM {id}"),
    lambda countries: (len(regions(countries)), sum("shortCode" not in one for _, one in regions(countries))),
)
countries(
    "nested",
    "Which names of regions occur in four countries or more?",
    sql("SELECT name, count(*) n FROM {id} GROUP BY name HAVING n >= 4 ORDER BY n DESC, name"),
    lambda countries: [pair for pair in ranked(Counter(one["name"] for _, one in regions(countries))) if pair[1] >= 4],
)
countries(
    "nested",
    "How many regions have the countries whose short code begins with S? The first three.",
    sql(
        "SELECT countryShortCode, count(*) FROM {id} WHERE countryShortCode LIKE 'S%' GROUP BY 1 ORDER BY 1 LIMIT 3"
    ),
    lambda countries: sorted(
        (one["countryShortCode"], len(one["regions"])) for one in countries if one["countryShortCode"].startswith("S")
    )[:3],
)
countries(
    "nested",
    "What is the first region of Switzerland (CH), and its code?",
    sql("SELECT name, shortCode FROM {id} WHERE countryShortCode = 'CH' LIMIT 1"),
    lambda countries: (lambda one: (one["name"], one["shortCode"]))(
        only(countries, lambda one: one["countryShortCode"] == "CH")["regions"][0]
    ),
)
countries(
    "nested",
    "In how many countries do all regions have a short code?",
    sql(
        "SELECT count(*) FROM "
        "(SELECT countryName FROM {id} GROUP BY countryName HAVING count(*) = count(shortCode))"
    ),
    lambda countries: sum(all("shortCode" in one for one in country["regions"]) for country in countries),
)

# Emoji: a list for each group

emoji(
    "nested",
    "How many emoji has each group?",
    sql("SELECT key, count(*) n FROM {id} GROUP BY key ORDER BY n DESC, key"),
    lambda groups: ranked({group: len(some) for group, some in groups.items()}),
)
emoji(
    "nested",
    "Which emoji of the group `Food & Drink` are of version 15.0 or later?",
    sql(
        "SELECT name FROM {id} WHERE key = 'Food & Drink' AND emoji_version::DOUBLE >= 15 ORDER BY name"
    ),
    lambda groups: sorted(one["name"] for one in groups["Food & Drink"] if float(one["emoji_version"]) >= 15),
)
emoji(
    "nested",
    "How many emoji of each group can have a tone of skin? Groups that have such.",
    sql("SELECT key, count(*) n FROM {id} WHERE skin_tone_support GROUP BY key ORDER BY n DESC, key"),
    lambda groups: ranked(Counter(group for group, one in signs(groups) if one["skin_tone_support"])),
)
emoji(
    "nested",
    "What is the slug of 🦊, and in which group is it?",
    sql("SELECT slug, key FROM {id} WHERE emoji = '🦊'"),
    lambda groups: [(one["slug"], group) for group, one in signs(groups) if one["emoji"] == "🦊"],
)
emoji(
    "nested",
    "With which versions of Unicode did tones of skin come, and to how many emoji? The first three.",
    sql(
        "SELECT skin_tone_support_unicode_version v, count(*) n FROM {id} WHERE v IS NOT NULL "
        "GROUP BY v ORDER BY n DESC, v LIMIT 3"
    ),
    lambda groups: ranked(
        Counter(
            one["skin_tone_support_unicode_version"]
            for _, one in signs(groups) if "skin_tone_support_unicode_version" in one
        ),
        3,
    ),
)
