"""Questions about the same countries as CSV, XML and YAML, and joins across the forms."""

from collections import Counter

from ask import about, browse, grep, numbers, sql
from gold import only, ranked

cells = about("countries.csv", read_as="rows")
elements = about("countries.xml", read_as="xml")
elements_text = about("countries.xml", read_as="lines")
documents = about("countries.yml", read_as="yaml")
documents_text = about("countries.yml", read_as="lines")

# CSV, with names such as `name.common` and lists within cells

cells(
    "aggregate",
    "How many members of the UN are there in each region?",
    sql("SELECT region, sum(unMember) FROM {id} GROUP BY region ORDER BY region"),
    lambda rows: sorted(
        {
            region: sum(row.unMember for row in rows if row.region == region)
            for region in {row.region for row in rows}
        }.items()
    ),
)
cells(
    "aggregate",
    "How many different currencies, or lists of them, are used?",
    sql("SELECT count(DISTINCT currencies) FROM {id}"),
    lambda rows: len({row.currencies for row in rows} - {None}),
)
cells(
    "aggregate",
    "What is the mean area of countries in the Caribbean?",
    sql("SELECT avg(area) FROM {id} WHERE subregion='Caribbean'"),
    lambda rows: (lambda areas: sum(areas) / len(areas))(
        [row.area for row in rows if row.subregion == "Caribbean"]
    ),
)
cells(
    "lookup",
    "What is Finland called in French, officially?",
    sql("SELECT \"translations.fra.official\" FROM {id} WHERE cca2='FI'"),
    lambda rows: only(rows, lambda row: row.cca2 == "FI").translations_fra_official,
)
cells(
    "lookup",
    "Which languages are spoken in Bolivia?",
    sql("SELECT languages FROM {id} WHERE cca3='BOL'"),
    lambda rows: only(rows, lambda row: row.cca3 == "BOL").languages,
)
cells(
    "lookup",
    "What is the two-letter code of Namibia?",
    sql("SELECT cca2 FROM {id} WHERE \"name.common\"='Namibia'"),
    lambda rows: only(rows, lambda row: row.name_common == "Namibia").cca2,
)
cells(
    "filter",
    "Which countries have no capital?",
    sql("SELECT cca3 FROM {id} WHERE capital IS NULL ORDER BY cca3"),
    lambda rows: sorted(row.cca3 for row in rows if row.capital is None),
)
cells(
    "filter",
    "How many countries have Arabic among their languages?",
    sql("SELECT count(*) FROM {id} WHERE list_contains(string_split(languages,','),'Arabic')"),
    lambda rows: sum("Arabic" in (row.languages or "").split(",") for row in rows),
)
cells(
    "browse",
    "Which countries of Melanesia are there?",
    browse(fields=["cca3", "capital"], filter={"subregion": "Melanesia"}, sort="cca3"),
    lambda rows: sorted((row.cca3, row.capital) for row in rows if row.subregion == "Melanesia"),
)

# XML, a country an element, with an attribute for each leaf

elements(
    "aggregate",
    "How many countries are landlocked?",
    sql("SELECT count(*) FROM {id} WHERE landlocked=1"),
    lambda all: sum(one.get("landlocked") == "1" for one in all),
)
elements(
    "aggregate",
    "Which three subregions have the most countries?",
    sql(
        "SELECT subregion, count(*) n FROM {id} WHERE subregion IS NOT NULL "
        "GROUP BY 1 ORDER BY n DESC, 1 LIMIT 3"
    ),
    lambda all: ranked(Counter(one["subregion"] for one in all if one.get("subregion")), 3),
)
elements(
    "lookup",
    "What is the native name of Georgia, in Georgian (kat)?",
    sql("SELECT \"name.native.kat.common\" FROM {id} WHERE cca2='GE'"),
    lambda all: only(all, lambda one: one["cca2"] == "GE")["name.native.kat.common"],
)
elements(
    "lookup",
    "What is Jamaica called in German?",
    sql("SELECT \"translations.deu.common\" FROM {id} WHERE \"name.common\"='Jamaica'"),
    lambda all: only(all, lambda one: one["name.common"] == "Jamaica")["translations.deu.common"],
)
elements(
    "filter",
    "Where is the Danish krone (DKK) used?",
    sql("SELECT cca3 FROM {id} WHERE \"currencies.DKK.name\" IS NOT NULL ORDER BY cca3"),
    lambda all: sorted(one["cca3"] for one in all if one.get("currencies.DKK.name")),
)
elements(
    "filter",
    "How many countries speak Spanish?",
    sql("SELECT count(\"languages.spa\") FROM {id}"),
    lambda all: sum(bool(one.get("languages.spa")) for one in all),
)
elements(
    "browse",
    "What are the capital and the area of Bhutan?",
    browse(
        fields=["capital", "area"],
        filter={"cca3": "BTN"},
    ),
    lambda all: [(one["capital"], float(one["area"])) for one in all if one["cca3"] == "BTN"],
)
elements_text(
    "text",
    "Which lines of the file mention the Commonwealth?",
    grep("Commonwealth", lambda reply: set(numbers(reply)), limit=100),
    lambda lines: {number for number, line in enumerate(lines, 1) if "Commonwealth" in line},
)

# YAML, a country a line

documents(
    "aggregate",
    "How many countries are in each region, of those with less than 1000 km²?",
    sql("SELECT region, count(*) n FROM {id} WHERE area < 1000 GROUP BY 1 ORDER BY n DESC, 1"),
    lambda all: ranked(Counter(one["region"] for one in all if float(one["area"]) < 1000)),
)
documents(
    "lookup",
    "What is the two-letter code of Norway?",
    sql("SELECT cca2 FROM {id} WHERE cca3='NOR'"),
    lambda all: only(all, lambda one: one["cca3"] == "NOR")["cca2"],
)
documents(
    "lookup",
    "What is the flag of Brazil?",
    sql("SELECT flag FROM {id} WHERE cca2='BR'"),
    lambda all: only(all, lambda one: one["cca2"] == "BR")["flag"],
)
documents(
    "filter",
    "Which countries are not officially assigned?",
    sql("SELECT cca3, status FROM {id} WHERE status <> 'officially-assigned'"),
    lambda all: [
        (one["cca3"], one["status"]) for one in all if one["status"] != "officially-assigned"
    ],
)
documents(
    "nested",
    "What is the root of Uganda's calling code?",
    sql("SELECT idd->>'root' FROM {id} WHERE cca2='UG'"),
    lambda all: only(all, lambda one: one["cca2"] == "UG")["idd"]["root"],
)
documents(
    "nested",
    "Which languages has Singapore?",
    sql(
        "SELECT l.value->>'$' lang FROM {id} c, json_each(c.languages) l WHERE cca2='SG' ORDER BY lang"
    ),
    lambda all: sorted(only(all, lambda one: one["cca2"] == "SG")["languages"].values()),
)
documents(
    "nested",
    "How many countries have no neighbours at all?",
    sql("SELECT count(*) FROM {id} WHERE json_array_length(borders)=0"),
    lambda all: sum(not one["borders"] for one in all),
)
documents(
    "browse",
    "What is the official name of Chad?",
    browse(lambda reply: reply["results"][0]["name"]["official"], filter={"cca3": "TCD"}, fields=["name"]),
    lambda all: only(all, lambda one: one["cca3"] == "TCD")["name"]["official"],
)
documents_text(
    "text",
    "On which line stands Vanuatu?",
    grep("cca3: VUT", numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if "cca3: VUT" in line],
)

# Joins

about("countries.json", "countries.csv", read_as=["json", "rows"])(
    "join",
    "Do the two files tell the same area for every country? How many differ?",
    sql("SELECT count(*) FROM {id} j JOIN {id2} c USING (cca3) WHERE j.area <> c.area"),
    lambda all, rows: (
        lambda areas: sum(areas[one["cca3"]] != one["area"] for one in all)
    )({row.cca3: row.area for row in rows}),
)
about("countries.json", "countries.csv", read_as=["json", "rows"])(
    "join",
    "What are the French names (from the CSV) of the landlocked countries (JSON) of Asia?",
    sql(
        "SELECT \"translations.fra.common\" f FROM {id} j JOIN {id2} c USING (cca3) "
        "WHERE j.landlocked AND j.region='Asia' ORDER BY f"
    ),
    lambda all, rows: (
        lambda closed: sorted(row.translations_fra_common for row in rows if row.cca3 in closed)
    )({one["cca3"] for one in all if one["landlocked"] and one["region"] == "Asia"}),
)
about("countries.xml", "countries.yml", read_as=["xml", "yaml"])(
    "join",
    "Which countries of the XML file have another region in the YAML file? How many?",
    sql("SELECT count(*) FROM {id} x JOIN {id2} y USING (cca3) WHERE x.region <> y.region"),
    lambda elements, documents: (
        lambda regions: sum(regions[one["cca3"]] != one["region"] for one in elements)
    )({one["cca3"]: one["region"] for one in documents}),
)
about("countries.xml", "countries.csv", read_as=["xml", "rows"])(
    "join",
    "How many countries are in both files under the same common name?",
    sql("SELECT count(*) FROM {id} JOIN {id2} USING (\"name.common\")"),
    lambda elements, rows: len(
        {one["name.common"] for one in elements} & {row.name_common for row in rows}
    ),
)
