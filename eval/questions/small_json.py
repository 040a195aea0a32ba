"""Questions about small lists of JSON objects: cars, irises, barley, penguins."""

from collections import Counter
from statistics import correlation, median

from ask import about, browse, grep, sql, total
from gold import grouped, mean, only, ranked

cars = about("cars.json", read_as="json")
cars_text = about("cars.json", read_as="lines")
iris = about("iris.json", read_as="json")
iris_text = about("iris.json", read_as="lines")
barley = about("barley.json", read_as="json")
penguins = about("penguins.json", read_as="json")

# Cars

cars(
    "aggregate",
    "How many miles a gallon do cars of each origin make on average?",
    sql("SELECT Origin, avg(Miles_per_Gallon) FROM {id} GROUP BY Origin ORDER BY Origin"),
    lambda cars: [
        (origin, mean(car["Miles_per_Gallon"] for car in some))
        for origin, some in sorted(grouped(cars, lambda car: car["Origin"]).items())
    ],
)
cars(
    "aggregate",
    "How many cars are there by number of cylinders?",
    sql("SELECT Cylinders, count(*) FROM {id} GROUP BY 1 ORDER BY 1"),
    lambda cars: sorted(Counter(car["Cylinders"] for car in cars).items()),
)
cars(
    "aggregate",
    "How do weight and horsepower correlate?",
    sql("SELECT corr(Weight_in_lbs, Horsepower) FROM {id}"),
    lambda cars: correlation(*zip(*(
        (car["Weight_in_lbs"], car["Horsepower"]) for car in cars if car["Horsepower"] is not None
    ))),
)
cars(
    "aggregate",
    "What is the median weight by year, for the first three years?",
    sql("SELECT year(Year) y, median(Weight_in_lbs) FROM {id} GROUP BY y ORDER BY y LIMIT 3"),
    lambda cars: [
        (int(year), median(car["Weight_in_lbs"] for car in some))
        for year, some in sorted(grouped(cars, lambda car: car["Year"][:4]).items())
    ][:3],
)
cars(
    "aggregate",
    "Of how many cars is the horsepower not known?",
    sql("SELECT count(*) FROM {id} WHERE Horsepower IS NULL"),
    lambda cars: sum(car["Horsepower"] is None for car in cars),
)
cars(
    "aggregate",
    "Which makes (first words of the names) are the most frequent? Four of them.",
    sql("SELECT split_part(Name,' ',1) make, count(*) n FROM {id} GROUP BY make ORDER BY n DESC LIMIT 4"),
    lambda cars: ranked(Counter(car["Name"].split(" ")[0] for car in cars), 4),
)
cars(
    "filter",
    "Which European cars of 1982 are there?",
    sql("SELECT Name FROM {id} WHERE Origin='Europe' AND year(Year)=1982 ORDER BY Name"),
    lambda cars: sorted(
        car["Name"] for car in cars if car["Origin"] == "Europe" and car["Year"].startswith("1982")
    ),
)
cars(
    "filter",
    "How many cars with eight cylinders make more than 20 miles a gallon?",
    sql("SELECT count(*) FROM {id} WHERE Cylinders=8 AND Miles_per_Gallon>20"),
    lambda cars: sum(car["Cylinders"] == 8 and (car["Miles_per_Gallon"] or 0) > 20 for car in cars),
)
cars(
    "lookup",
    "Which car has the most horsepower, and how much?",
    sql("SELECT Name, Horsepower FROM {id} ORDER BY Horsepower DESC NULLS LAST LIMIT 1"),
    lambda cars: max(
        ((car["Name"], car["Horsepower"]) for car in cars if car["Horsepower"]), key=lambda car: car[1]
    ),
)
cars(
    "lookup",
    "How heavy is the Honda Civic CVCC?",
    sql("SELECT Weight_in_lbs FROM {id} WHERE Name='honda civic cvcc'"),
    lambda cars: [car["Weight_in_lbs"] for car in cars if car["Name"] == "honda civic cvcc"],
)
cars(
    "browse",
    "Which three cars accelerate fastest?",
    browse(fields=["Name", "Acceleration"], sort="Acceleration", limit=3),
    lambda cars: [
        (car["Name"], car["Acceleration"])
        for car in sorted(cars, key=lambda car: car["Acceleration"])[:3]
    ],
)
cars(
    "browse",
    "How many Japanese cars weigh less than 2000 pounds?",
    browse(total, filter={"Origin": "Japan", "Weight_in_lbs": {"lt": 2000}}, limit=1),
    lambda cars: sum(car["Origin"] == "Japan" and car["Weight_in_lbs"] < 2000 for car in cars),
)
cars_text(
    "text",
    "What follows the name of the `mazda glc deluxe` in the file, the first time?",
    grep('"mazda glc deluxe"', lambda reply: reply["matches"][0]["after"], context=2, limit=1),
    lambda lines: next(
        lines[at + 1 : at + 3] for at, line in enumerate(lines) if '"mazda glc deluxe"' in line
    ),
)

# Irises

iris(
    "aggregate",
    "What is the mean petal length by species?",
    sql("SELECT species, avg(petalLength) FROM {id} GROUP BY species ORDER BY species"),
    lambda flowers: [
        (species, mean(flower["petalLength"] for flower in some))
        for species, some in sorted(grouped(flowers, lambda flower: flower["species"]).items())
    ],
)
iris(
    "aggregate",
    "Which species has the widest range of sepal lengths?",
    sql(
        "SELECT species, max(sepalLength)-min(sepalLength) r FROM {id} GROUP BY 1 ORDER BY r DESC LIMIT 1"
    ),
    lambda flowers: ranked(
        {
            species: max(f["sepalLength"] for f in some) - min(f["sepalLength"] for f in some)
            for species, some in grouped(flowers, lambda flower: flower["species"]).items()
        },
        1,
    ),
)
iris(
    "filter",
    "How many flowers have petals longer than their sepals are wide, and are not virginica?",
    sql("SELECT count(*) FROM {id} WHERE petalLength > sepalWidth AND species <> 'virginica'"),
    lambda flowers: sum(
        flower["petalLength"] > flower["sepalWidth"] and flower["species"] != "virginica"
        for flower in flowers
    ),
)
iris(
    "filter",
    "How many virginica have petals under 5 cm?",
    sql("SELECT count(*) FROM {id} WHERE species='virginica' AND petalLength < 5"),
    lambda flowers: sum(
        flower["species"] == "virginica" and flower["petalLength"] < 5 for flower in flowers
    ),
)
iris(
    "lookup",
    "What is the longest sepal, and of which species?",
    sql("SELECT sepalLength, species FROM {id} ORDER BY sepalLength DESC LIMIT 1"),
    lambda flowers: max((flower["sepalLength"], flower["species"]) for flower in flowers),
)
iris(
    "browse",
    "What is the 51st flower?",
    browse(fields=["sepalLength", "petalWidth", "species"], offset=50, limit=1),
    lambda flowers: [
        (flower["sepalLength"], flower["petalWidth"], flower["species"]) for flower in flowers[50:51]
    ],
)
iris_text(
    "text",
    "How many lines of the file speak of a petal width of 0.2?",
    grep('"petalWidth": 0.2,', total, limit=1),
    lambda lines: sum('"petalWidth": 0.2,' in line for line in lines),
)

# Barley

barley(
    "aggregate",
    "What is the total yield by site, the best first?",
    sql("SELECT site, sum(yield) s FROM {id} GROUP BY site ORDER BY s DESC"),
    lambda plots: ranked(
        {
            site: sum(plot["yield"] for plot in some)
            for site, some in grouped(plots, lambda plot: plot["site"]).items()
        }
    ),
)
barley(
    "aggregate",
    "What is the mean yield by year?",
    sql("SELECT year, avg(yield) FROM {id} GROUP BY year ORDER BY year"),
    lambda plots: [
        (year, mean(plot["yield"] for plot in some))
        for year, some in sorted(grouped(plots, lambda plot: plot["year"]).items())
    ],
)
barley(
    "join",
    "At which sites was the yield of 1932 higher than that of 1931, on average?",
    sql(
        "SELECT site FROM {id} GROUP BY site "
        "HAVING avg(yield) FILTER (year=1932) > avg(yield) FILTER (year=1931)"
    ),
    lambda plots: {
        site
        for site, some in grouped(plots, lambda plot: plot["site"]).items()
        if mean(plot["yield"] for plot in some if plot["year"] == 1932)
        > mean(plot["yield"] for plot in some if plot["year"] == 1931)
    },
)
barley(
    "lookup",
    "What did Svansota yield in Waseca in 1931?",
    sql("SELECT yield FROM {id} WHERE variety='Svansota' AND site='Waseca' AND year=1931"),
    lambda plots: only(
        plots,
        lambda plot: (plot["variety"], plot["site"], plot["year"]) == ("Svansota", "Waseca", 1931),
    )["yield"],
)
barley(
    "filter",
    "How many plots yielded more than 50?",
    sql("SELECT count(*) FROM {id} WHERE yield > 50"),
    lambda plots: sum(plot["yield"] > 50 for plot in plots),
)
barley(
    "browse",
    "What were the three best yields of Trebi?",
    browse(fields=["site", "year", "yield"], filter={"variety": "Trebi"}, sort="-yield", limit=3),
    lambda plots: [
        (plot["site"], plot["year"], plot["yield"])
        for plot in sorted(
            (plot for plot in plots if plot["variety"] == "Trebi"), key=lambda plot: -plot["yield"]
        )[:3]
    ],
)

# Penguins

penguins(
    "aggregate",
    "What is the mean body mass by species?",
    sql('SELECT Species, avg("Body Mass (g)") FROM {id} GROUP BY Species ORDER BY Species'),
    lambda birds: [
        (species, mean(bird["Body Mass (g)"] for bird in some))
        for species, some in sorted(grouped(birds, lambda bird: bird["Species"]).items())
    ],
)
penguins(
    "filter",
    "How many Gentoo penguins are on each island?",
    sql("SELECT Island, count(*) FROM {id} WHERE Species = 'Gentoo' GROUP BY Island ORDER BY Island"),
    lambda birds: sorted(Counter(bird["Island"] for bird in birds if bird["Species"] == "Gentoo").items()),
)
penguins(
    "lookup",
    "How long is the longest flipper, and of which species?",
    sql(
        'SELECT "Flipper Length (mm)", Species FROM {id} ORDER BY "Flipper Length (mm)" DESC NULLS LAST LIMIT 1'
    ),
    lambda birds: max((bird["Flipper Length (mm)"] or 0, bird["Species"]) for bird in birds),
)
