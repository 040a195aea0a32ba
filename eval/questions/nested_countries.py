"""Questions about what lies inside the countries' records: names by language, currencies, neighbours."""

from collections import Counter

from ask import about, sql
from gold import grouped, mean, only, ranked

countries = about("countries.json", read_as="json")
documents = about("countries.yml", read_as="yaml")


def country(all, code):
    return only(all, lambda one: one["cca3"] == code)


# Structs

countries(
    "nested",
    "How many countries have the same common and official name?",
    sql("SELECT count(*) FROM {id} WHERE name.common = name.official"),
    lambda all: sum(one["name"]["common"] == one["name"]["official"] for one in all),
)
countries(
    "nested",
    "Which three countries have the longest official names in French (fra)? The names.",
    sql("SELECT translations.fra.official o FROM {id} ORDER BY length(o) DESC, o LIMIT 3"),
    lambda all: sorted(
        (one["translations"]["fra"]["official"] for one in all), key=lambda name: (-len(name), name)
    )[:3],
)
countries(
    "nested",
    "How many countries have the same common name in German (deu) and in Swedish (swe)?",
    sql("SELECT count(*) FROM {id} WHERE translations.deu.common = translations.swe.common"),
    lambda all: sum(
        one["translations"]["deu"]["common"] == one["translations"]["swe"]["common"] for one in all
    ),
)
countries(
    "nested",
    "What is Côte d'Ivoire (CIV) called in German (deu), Spanish (spa) and Polish (pol)?",
    sql(
        "SELECT translations.deu.common, translations.spa.common, translations.pol.common "
        "FROM {id} WHERE cca3 = 'CIV'"
    ),
    lambda all: tuple(
        country(all, "CIV")["translations"][language]["common"] for language in ("deu", "spa", "pol")
    ),
)
countries(
    "nested",
    "How many countries have a common name of more than 20 letters in Estonian (est)?",
    sql("SELECT count(*) FROM {id} WHERE length(translations->'est'->>'common') > 20"),
    lambda all: sum(len(one["translations"]["est"]["common"]) > 20 for one in all),
)
countries(
    "nested",
    "For how many countries do the French words for a man and for a woman from there differ?",
    sql("SELECT count(*) FROM {id} WHERE demonyms.fra.f <> demonyms.fra.m"),
    lambda all: sum(
        one["demonyms"]["fra"]["f"] != one["demonyms"]["fra"]["m"] for one in all if "fra" in one["demonyms"]
    ),
)
countries(
    "nested",
    "In which countries are women called American in English?",
    sql("SELECT name.common n FROM {id} WHERE demonyms.eng.f = 'American' ORDER BY n"),
    lambda all: sorted(one["name"]["common"] for one in all if one["demonyms"]["eng"]["f"] == "American"),
)
countries(
    "nested",
    "Which roots of calling codes are shared by the most countries? The first three.",
    sql("SELECT idd.root r, count(*) n FROM {id} GROUP BY idd.root ORDER BY n DESC, r LIMIT 3"),
    lambda all: ranked(Counter(one["idd"]["root"] for one in all), 3),
)

# Lists of scalars, in structs too

countries(
    "nested",
    "How many suffixes has the calling code of the United States?",
    sql("SELECT len(idd.suffixes) FROM {id} WHERE cca2 = 'US'"),
    lambda all: len(country(all, "USA")["idd"]["suffixes"]),
)
countries(
    "nested",
    "Which capitals has South Africa?",
    sql("SELECT unnest(capital) FROM {id} WHERE cca2 = 'ZA'"),
    lambda all: country(all, "ZAF")["capital"],
)
countries(
    "nested",
    "How many neighbours have the countries of each region on average?",
    sql("SELECT region, avg(len(borders)) FROM {id} GROUP BY region ORDER BY region"),
    lambda all: [
        (region, mean(len(one["borders"]) for one in some))
        for region, some in sorted(grouped(all, lambda one: one["region"]).items())
    ],
)
countries(
    "nested",
    "What are the common names of Austria's neighbours?",
    sql(
        "SELECT n.name.common AS neighbour FROM {id} c, unnest(c.borders) AS b(code) "
        "JOIN {id} n ON n.cca3 = b.code WHERE c.cca3 = 'AUT' ORDER BY neighbour"
    ),
    lambda all: sorted(
        one["name"]["common"] for one in all if one["cca3"] in country(all, "AUT")["borders"]
    ),
)
countries(
    "nested",
    "Which countries lie north of 65 degrees?",
    sql("SELECT cca3 FROM {id} WHERE latlng[1] > 65 ORDER BY cca3"),
    lambda all: sorted(one["cca3"] for one in all if one["latlng"][0] > 65),
)
countries(
    "nested",
    "What is the mean latitude of the countries of each region?",
    sql("SELECT region, avg(latlng[1]) AS latitude FROM {id} GROUP BY ALL ORDER BY latitude DESC"),
    lambda all: ranked(
        {
            region: mean(one["latlng"][0] for one in some)
            for region, some in grouped(all, lambda one: one["region"]).items()
        }
    ),
)
countries(
    "nested",
    "Which top-level domains belong to more than one country?",
    sql(
        "SELECT domain, count(*) AS n FROM (SELECT unnest(tld) AS domain FROM {id}) "
        "GROUP BY domain HAVING n > 1 ORDER BY n DESC, domain"
    ),
    lambda all: [
        pair for pair in ranked(Counter(domain for one in all for domain in one["tld"])) if pair[1] > 1
    ],
)
countries(
    "nested",
    "How many alternative spellings speak of a republic?",
    sql("SELECT count(*) FROM {id}, unnest(altSpellings) t(spelling) WHERE spelling ILIKE '%republic%'"),
    lambda all: sum("republic" in spelling.lower() for one in all for spelling in one["altSpellings"]),
)
countries(
    "nested",
    "Which countries have two calling codes or more?",
    sql("SELECT cca3, callingCodes FROM {id} WHERE len(callingCodes) >= 2 ORDER BY cca3"),
    lambda all: sorted(
        (one["cca3"], one["callingCodes"]) for one in all if len(one["callingCodes"]) >= 2
    ),
)

# Maps, whose keys are data

countries(
    "nested",
    "Which five currencies are used in the most countries? By their codes.",
    sql(
        "SELECT c.key, count(*) n FROM {id}, json_each(currencies) c GROUP BY c.key ORDER BY n DESC, c.key LIMIT 5"
    ),
    lambda all: ranked(Counter(code for one in all for code in one["currencies"]), 5),
)
countries(
    "nested",
    "Which countries use more than one currency, and how many?",
    sql(
        "SELECT cca3, len(json_keys(currencies)) n FROM {id} WHERE n > 1 ORDER BY n DESC, cca3"
    ),
    lambda all: ranked(
        {one["cca3"]: len(one["currencies"]) for one in all if len(one["currencies"]) > 1}
    ),
)
countries(
    "nested",
    "Which symbol stands for the most different currencies, and for how many?",
    sql(
        "SELECT c.value->>'symbol' AS symbol, count(DISTINCT c.key) AS n FROM {id}, json_each(currencies) c "
        "GROUP BY symbol ORDER BY n DESC LIMIT 1"
    ),
    lambda all: ranked(
        {
            symbol: len({code for code, _ in some})
            for symbol, some in grouped(
                ((code, money["symbol"]) for one in all for code, money in dict(one["currencies"]).items()),
                lambda pair: pair[1],
            ).items()
        },
        1,
    ),
)
countries(
    "nested",
    "What is the official name of Japan in Japanese (jpn)?",
    sql("SELECT name.native['jpn'].official FROM {id} WHERE cca3 = 'JPN'"),
    lambda all: country(all, "JPN")["name"]["native"]["jpn"]["official"],
)
countries(
    "nested",
    "How many native names are there in all?",
    sql("SELECT sum(len(map_keys(name.native))) FROM {id}"),
    lambda all: sum(len(one["name"]["native"]) for one in all),
)
countries(
    "nested",
    "Which languages are official in Switzerland?",
    sql("SELECT unnest(map_values(languages)) FROM {id} WHERE cca2 = 'CH'"),
    lambda all: set(country(all, "CHE")["languages"].values()),
)
countries(
    "nested",
    "How many different official languages are there, by their codes?",
    sql("SELECT count(DISTINCT key) FROM {id}_languages"),
    lambda all: len({code for one in all for code in one["languages"]}),
)
countries(
    "nested",
    "Which country has the most official languages, and how many?",
    sql("SELECT name.common, len(map_keys(languages)) n FROM {id} ORDER BY n DESC LIMIT 1"),
    lambda all: ranked({one["name"]["common"]: len(one["languages"]) for one in all}, 1),
)
countries(
    "nested",
    "Where are both English (eng) and French (fra) official?",
    sql(
        "SELECT cca3 FROM {id} WHERE languages['eng'] IS NOT NULL AND languages['fra'] IS NOT NULL "
        "ORDER BY cca3"
    ),
    lambda all: sorted(one["cca3"] for one in all if {"eng", "fra"} <= one["languages"].keys()),
)
countries(
    "nested",
    "In how many countries of each region is Arabic an official language?",
    sql(
        "SELECT region, count(*) n FROM {id} c, unnest(map_values(c.languages)) l(language) "
        "WHERE language = 'Arabic' GROUP BY region ORDER BY n DESC, region"
    ),
    lambda all: ranked(Counter(one["region"] for one in all if "Arabic" in one["languages"].values())),
)

# The same records as YAML

documents(
    "nested",
    "What is Finland called in Spanish (spa)?",
    sql("SELECT translations.spa.common FROM {id} WHERE cca3 = 'FIN'"),
    lambda all: country(all, "FIN")["translations"]["spa"]["common"],
)
documents(
    "nested",
    "What is the official name of Egypt?",
    sql("SELECT name->>'official' FROM {id} WHERE cca3 = 'EGY'"),
    lambda all: country(all, "EGY")["name"]["official"],
)
documents(
    "nested",
    "Which countries border on Chad (TCD)?",
    sql("""SELECT cca3 FROM {id} WHERE json_contains(borders, '"TCD"') ORDER BY cca3"""),
    lambda all: sorted(one["cca3"] for one in all if "TCD" in one["borders"]),
)
