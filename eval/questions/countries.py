"""Questions about the countries of the world, nested in JSON."""

from collections import Counter

from ask import about, browse, grep, numbers, sql, total
from gold import grouped, only, ranked

countries = about("countries.json", read_as="json")
text = about("countries.json", read_as="lines")

countries(
    "aggregate",
    "How many countries are there in each region?",
    sql("SELECT region, count(*) n FROM {id} GROUP BY region ORDER BY n DESC"),
    lambda all: ranked(Counter(one["region"] for one in all)),
)
countries(
    "aggregate",
    "What area do the landlocked countries have together?",
    sql("SELECT sum(area) FROM {id} WHERE landlocked"),
    lambda all: sum(one["area"] for one in all if one["landlocked"]),
)
countries(
    "aggregate",
    "Which three subregions are the largest by area?",
    sql("SELECT subregion, sum(area) a FROM {id} GROUP BY 1 ORDER BY a DESC LIMIT 3"),
    lambda all: ranked(
        {
            name: sum(one["area"] for one in some)
            for name, some in grouped(all, lambda one: one["subregion"]).items()
        },
        3,
    ),
)
countries(
    "aggregate",
    "How many independent countries are not members of the UN?",
    sql("SELECT count(*) FROM {id} WHERE independent AND NOT unMember"),
    lambda all: sum(bool(one["independent"]) and not one["unMember"] for one in all),
)
countries(
    "lookup",
    "What is the official name of Laos?",
    sql("SELECT name->>'official' FROM {id} WHERE cca2='LA'"),
    lambda all: only(all, lambda one: one["cca2"] == "LA")["name"]["official"],
)
countries(
    "lookup",
    "Which country has the numeric code 756?",
    sql("SELECT cca3 FROM {id} WHERE ccn3='756'"),
    lambda all: only(all, lambda one: one["ccn3"] == "756")["cca3"],
)
countries(
    "lookup",
    "What is the largest country of Africa, and how large is it?",
    sql("SELECT name->>'common', area FROM {id} WHERE region='Africa' ORDER BY area DESC LIMIT 1"),
    lambda all: max(
        ((one["name"]["common"], one["area"]) for one in all if one["region"] == "Africa"),
        key=lambda pair: pair[1],
    ),
)
countries(
    "filter",
    "Which countries of Europe are landlocked and under 1000 km²?",
    sql(
        "SELECT name->>'common' n FROM {id} WHERE region='Europe' AND landlocked AND area<1000 ORDER BY n"
    ),
    lambda all: sorted(
        one["name"]["common"] for one in all
        if one["region"] == "Europe" and one["landlocked"] and one["area"] < 1000
    ),
)
countries(
    "filter",
    "Of which country is it not said whether it is independent?",
    sql("SELECT cca3 FROM {id} WHERE independent IS NULL"),
    lambda all: [one["cca3"] for one in all if one["independent"] is None],
)
countries(
    "filter",
    "How many countries have no code of the Olympic committee?",
    sql("SELECT count(*) FROM {id} WHERE cioc=''"),
    lambda all: sum(one["cioc"] == "" for one in all),
)
countries(
    "nested",
    "What is the capital of Peru?",
    sql("SELECT capital[1] FROM {id} WHERE cca2='PE'"),
    lambda all: only(all, lambda one: one["cca2"] == "PE")["capital"][0],
)
countries(
    "nested",
    "Which country has the most neighbours, and how many?",
    sql("SELECT cca3, len(borders) n FROM {id} ORDER BY n DESC LIMIT 1"),
    lambda all: max(((one["cca3"], len(one["borders"])) for one in all), key=lambda pair: pair[1]),
)
countries(
    "nested",
    "Which countries border on Germany?",
    sql("SELECT cca3 FROM {id} WHERE list_contains(borders, 'DEU') ORDER BY cca3"),
    lambda all: sorted(one["cca3"] for one in all if "DEU" in one["borders"]),
)
countries(
    "nested",
    "Which countries border on both France and Italy?",
    sql(
        "SELECT cca3 FROM {id} WHERE json_contains(borders,'\"FRA\"') AND json_contains(borders,'\"ITA\"') "
        "ORDER BY cca3"
    ),
    lambda all: sorted(one["cca3"] for one in all if {"FRA", "ITA"} <= set(one["borders"])),
)
countries(
    "nested",
    "Which five languages are official in the most countries?",
    sql(
        "SELECT l.value->>'$' lang, count(*) n FROM {id} c, json_each(c.languages) l "
        "GROUP BY lang ORDER BY n DESC, lang LIMIT 5"
    ),
    lambda all: ranked(Counter(name for one in all for name in one["languages"].values()), 5),
)
countries(
    "nested",
    "In which countries is Swahili (swa) an official language?",
    sql("SELECT cca3 FROM {id} WHERE languages->>'swa' IS NOT NULL ORDER BY cca3"),
    lambda all: sorted(one["cca3"] for one in all if "swa" in one["languages"]),
)
countries(
    "nested",
    "How many countries use the euro?",
    sql("SELECT count(*) FROM {id} WHERE currencies->>'$.EUR.name' IS NOT NULL"),
    lambda all: sum("EUR" in one["currencies"] for one in all),
)
countries(
    "nested",
    "What is the currency of Mongolia called, and what is its symbol?",
    sql("SELECT currencies->>'$.MNT.name', currencies->>'$.MNT.symbol' FROM {id} WHERE cca2='MN'"),
    lambda all: [
        (one["currencies"]["MNT"]["name"], one["currencies"]["MNT"]["symbol"])
        for one in all if one["cca2"] == "MN"
    ],
)
countries(
    "nested",
    "What is Greece called in Japanese?",
    sql("SELECT translations->>'$.jpn.common' FROM {id} WHERE cca3='GRC'"),
    lambda all: only(all, lambda one: one["cca3"] == "GRC")["translations"]["jpn"]["common"],
)
countries(
    "nested",
    "Which country lies the farthest south, by its latitude?",
    sql("SELECT cca3 FROM {id} ORDER BY (latlng->>0)::DOUBLE LIMIT 1"),
    lambda all: min(all, key=lambda one: one["latlng"][0])["cca3"],
)
countries(
    "nested",
    "How many countries have more than one capital?",
    sql("SELECT count(*) FROM {id} WHERE json_array_length(capital) > 1"),
    lambda all: sum(len(one["capital"]) > 1 for one in all),
)
countries(
    "nested",
    "What are women of Iceland called in English?",
    sql("SELECT demonyms->>'$.eng.f' FROM {id} WHERE cca2='IS'"),
    lambda all: only(all, lambda one: one["cca2"] == "IS")["demonyms"]["eng"]["f"],
)
countries(
    "nested",
    "Which countries have four or more top-level domains? How many?",
    sql("SELECT cca3, len(tld) n FROM {id} WHERE n >= 4 ORDER BY cca3"),
    lambda all: sorted((one["cca3"], len(one["tld"])) for one in all if len(one["tld"]) >= 4),
)
countries(
    "join",
    "Which landlocked countries border only on landlocked countries?",
    sql(
        "SELECT a.cca3 FROM {id} a, unnest(a.borders::VARCHAR[]) t(b) JOIN {id} n ON n.cca3=b "
        "WHERE a.landlocked GROUP BY 1 HAVING bool_and(n.landlocked) ORDER BY 1"
    ),
    lambda all: (
        lambda closed: sorted(
            one["cca3"] for one in all
            if one["landlocked"] and one["borders"] and set(one["borders"]) <= closed
        )
    )({one["cca3"] for one in all if one["landlocked"]}),
)
countries(
    "browse",
    "What are the alternative spellings of Japan's name?",
    browse(lambda reply: reply["results"][0]["altSpellings"], filter={"cca3": "JPN"}, fields=["altSpellings"]),
    lambda all: only(all, lambda one: one["cca3"] == "JPN")["altSpellings"],
)
countries(
    "browse",
    "Which three countries have the largest area?",
    browse(fields=["cca3", "area"], sort="-area", limit=3),
    lambda all: [
        (one["cca3"], one["area"]) for one in sorted(all, key=lambda one: -one["area"])[:3]
    ],
)
countries(
    "browse",
    "How many countries are in Polynesia?",
    browse(total, filter={"subregion": "Polynesia"}, limit=1),
    lambda all: sum(one["subregion"] == "Polynesia" for one in all),
)
countries(
    "browse",
    "What is the flag of Kenya, and its calling code?",
    browse(
        lambda reply: (reply["results"][0]["flag"], reply["results"][0]["callingCodes"]),
        filter={"cca2": "KE"},
        fields=["flag", "callingCodes"],
    ),
    lambda all: (
        lambda one: (one["flag"], one["callingCodes"])
    )(only(all, lambda one: one["cca2"] == "KE")),
)
text(
    "text",
    "On which line of the file is Zambia?",
    grep('"cca2":"ZM"', numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if '"cca2":"ZM"' in line],
)
