"""Questions about the weather at New York's airports and about aircraft, and joins with the flights."""

from collections import Counter
from statistics import median

from ask import about, browse, grep, lines, sql, total
from gold import grouped, mean, only, ranked

weather = about("weather.csv", read_as="rows")
planes = about("planes.csv", read_as="rows")
planes_text = about("planes.csv", read_as="lines")
flown = about("flights.csv", "planes.csv", read_as="rows")
in_weather = about("flights.csv", "weather.csv", read_as="rows")

# Weather

weather(
    "aggregate",
    "What is the mean temperature at each airport?",
    sql("SELECT origin, avg(temp) FROM {id} GROUP BY origin ORDER BY origin"),
    lambda rows: [
        (origin, mean(row.temp for row in some))
        for origin, some in sorted(grouped(rows, lambda row: row.origin).items())
    ],
)
weather(
    "aggregate",
    "How much rain fell at each airport in the whole year?",
    sql("SELECT origin, sum(precip) FROM {id} GROUP BY origin ORDER BY origin"),
    lambda rows: [
        (origin, sum(row.precip for row in some))
        for origin, some in sorted(grouped(rows, lambda row: row.origin).items())
    ],
)
weather(
    "aggregate",
    "Which month was the most humid on average?",
    sql("SELECT month FROM {id} GROUP BY month ORDER BY avg(humid) DESC LIMIT 1"),
    lambda rows: ranked(
        {
            month: mean(row.humid for row in some)
            for month, some in grouped(rows, lambda row: row.month).items()
        }
    )[0][0],
)
weather(
    "aggregate",
    "How many hours have no measured pressure?",
    sql("SELECT count(*) - count(pressure) FROM {id}"),
    lambda rows: sum(row.pressure is None for row in rows),
)
weather(
    "aggregate",
    "What are the lowest, median and highest dew points?",
    sql("SELECT min(dewp), median(dewp), max(dewp) FROM {id}"),
    lambda rows: (
        lambda points: (min(points), median(points), max(points))
    )([row.dewp for row in rows if row.dewp is not None]),
)
weather(
    "filter",
    "In how many hours was it colder than 15 °F at JFK?",
    sql("SELECT count(*) FROM {id} WHERE origin='JFK' AND temp < 15"),
    lambda rows: sum(row.origin == "JFK" and row.temp is not None and row.temp < 15 for row in rows),
)
weather(
    "filter",
    "On which days of February did it rain more than an inch in all at LaGuardia?",
    sql(
        "SELECT day FROM {id} WHERE origin='LGA' AND month=2 GROUP BY day HAVING sum(precip)>1 ORDER BY day"
    ),
    lambda rows: [
        day
        for day, some in sorted(
            grouped(
                (row for row in rows if (row.origin, row.month) == ("LGA", 2)), lambda row: row.day
            ).items()
        )
        if sum(row.precip for row in some) > 1
    ],
)
weather(
    "filter",
    "In how many hours was the visibility zero?",
    sql("SELECT count(*) FROM {id} WHERE visib = 0"),
    lambda rows: sum(row.visib == 0 for row in rows),
)
weather(
    "lookup",
    "What was the temperature at EWR on 4 July at noon?",
    sql("SELECT temp FROM {id} WHERE origin='EWR' AND month=7 AND day=4 AND hour=12"),
    lambda rows: only(
        rows, lambda row: (row.origin, row.month, row.day, row.hour) == ("EWR", 7, 4, 12)
    ).temp,
)
weather(
    "lookup",
    "What was the strongest wind gust, and where and when?",
    sql("SELECT wind_gust, origin, month, day FROM {id} ORDER BY wind_gust DESC NULLS LAST LIMIT 1"),
    lambda rows: max(
        (row.wind_gust, row.origin, row.month, row.day) for row in rows if row.wind_gust is not None
    ),
)
weather(
    "browse",
    "What were the three hottest hours at LaGuardia?",
    browse(
        fields=["month", "day", "hour", "temp"],
        filter={"origin": "LGA"},
        sort="-temp",
        limit=3,
    ),
    lambda rows: sorted(
        ((row.month, row.day, row.hour, row.temp) for row in rows if row.origin == "LGA" and row.temp),
        key=lambda row: -row[3],
    )[:3],
)
weather(
    "browse",
    "How many hours had wind from due north (360°) at JFK?",
    browse(total, filter={"origin": "JFK", "wind_dir": 360}, limit=1),
    lambda rows: sum((row.origin, row.wind_dir) == ("JFK", 360) for row in rows),
)

# Planes

planes(
    "aggregate",
    "Which five manufacturers built the most of the aircraft?",
    sql("SELECT manufacturer, count(*) n FROM {id} GROUP BY 1 ORDER BY n DESC LIMIT 5"),
    lambda rows: ranked(Counter(row.manufacturer for row in rows), 5),
)
planes(
    "aggregate",
    "What is the mean number of seats by kind of engine?",
    sql("SELECT engine, avg(seats) FROM {id} GROUP BY engine ORDER BY engine"),
    lambda rows: [
        (engine, mean(row.seats for row in some))
        for engine, some in sorted(grouped(rows, lambda row: row.engine).items())
    ],
)
planes(
    "aggregate",
    "Of how many aircraft is the year of manufacture not known?",
    sql("SELECT count(*) FROM {id} WHERE year IS NULL"),
    lambda rows: sum(row.year is None for row in rows),
)
planes(
    "aggregate",
    "How many different models are there?",
    sql("SELECT count(DISTINCT model) FROM {id}"),
    lambda rows: len({row.model for row in rows}),
)
planes(
    "aggregate",
    "How many seats do all aircraft have together?",
    sql("SELECT sum(seats) FROM {id}"),
    lambda rows: sum(row.seats for row in rows),
)
planes(
    "filter",
    "Which aircraft have four engines and more than 400 seats?",
    sql("SELECT tailnum FROM {id} WHERE engines=4 AND seats>400 ORDER BY tailnum"),
    lambda rows: sorted(row.tailnum for row in rows if row.engines == 4 and row.seats > 400),
)
planes(
    "filter",
    "How many Airbus aircraft, under any of its names, are from 2010 or later?",
    sql("SELECT count(*) FROM {id} WHERE manufacturer LIKE 'AIRBUS%' AND year >= 2010"),
    lambda rows: sum(row.manufacturer.startswith("AIRBUS") and (row.year or 0) >= 2010 for row in rows),
)
planes(
    "filter",
    "Which types are not multi-engine with fixed wings, and how many of each are there?",
    sql(
        "SELECT type, count(*) n FROM {id} WHERE type <> 'Fixed wing multi engine' GROUP BY type ORDER BY n DESC"
    ),
    lambda rows: ranked(Counter(row.type for row in rows if row.type != "Fixed wing multi engine")),
)
planes(
    "lookup",
    "What model is N14228, of which manufacturer, and how many seats has it?",
    sql("SELECT model, manufacturer, seats FROM {id} WHERE tailnum='N14228'"),
    lambda rows: [(row.model, row.manufacturer, row.seats) for row in rows if row.tailnum == "N14228"],
)
planes(
    "lookup",
    "Which is the oldest aircraft, and from which year?",
    sql("SELECT tailnum, year FROM {id} ORDER BY year LIMIT 1"),
    lambda rows: min(
        ((row.tailnum, row.year) for row in rows if row.year is not None), key=lambda pair: pair[1]
    ),
)
planes(
    "browse",
    "Which aircraft has the most seats?",
    browse(fields=["tailnum", "model", "seats"], sort="-seats", limit=1),
    lambda rows: max(((row.tailnum, row.model, row.seats) for row in rows), key=lambda row: row[2]),
)
planes(
    "browse",
    "Which aircraft have a cruising speed, of those by Cessna?",
    browse(
        fields=["tailnum", "speed"],
        filter={"manufacturer": "CESSNA", "speed": {"is_null": False}},
        sort="tailnum",
    ),
    lambda rows: sorted(
        (row.tailnum, row.speed) for row in rows if row.manufacturer == "CESSNA" and row.speed is not None
    ),
)
planes_text(
    "text",
    "What stands on lines 2 and 3 of the file?",
    lines("2-3"),
    lambda lines: lines[1:3],
)
planes_text(
    "text",
    "Which lines name a helicopter maker, Bell or Sikorsky?",
    grep(",(BELL|SIKORSKY),"),
    lambda lines: [line for line in lines if ",BELL," in line or ",SIKORSKY," in line],
)

# Joins


def by_tail(planes):
    return {plane.tailnum: plane for plane in planes}


flown(
    "join",
    "How many flights were made by aircraft of Boeing?",
    sql("SELECT count(*) FROM {id} f JOIN {id2} p USING (tailnum) WHERE manufacturer='BOEING'"),
    lambda flights, planes: (
        lambda known: sum(row.tailnum in known for row in flights)
    )({plane.tailnum for plane in planes if plane.manufacturer == "BOEING"}),
)
flown(
    "join",
    "How many flights have an aircraft of which nothing is known?",
    sql("SELECT count(*) FROM {id} f WHERE NOT EXISTS (FROM {id2} p WHERE p.tailnum = f.tailnum)"),
    lambda flights, planes: (
        lambda known: sum(row.tailnum not in known for row in flights)
    )(by_tail(planes)),
)
flown(
    "join",
    "How many seats were offered to Los Angeles (LAX) by each carrier? The first three.",
    sql(
        "SELECT carrier, sum(seats) s FROM {id} JOIN {id2} USING (tailnum) WHERE dest='LAX' "
        "GROUP BY 1 ORDER BY s DESC LIMIT 3"
    ),
    lambda flights, planes: (
        lambda known: ranked(
            {
                carrier: sum(known[row.tailnum].seats for row in some)
                for carrier, some in grouped(
                    (row for row in flights if row.dest == "LAX" and row.tailnum in known),
                    lambda row: row.carrier,
                ).items()
            },
            3,
        )
    )(by_tail(planes)),
)
flown(
    "join",
    "Which aircraft flew most often, and of which model is it?",
    sql(
        "SELECT tailnum, model, count(*) n FROM {id} JOIN {id2} USING (tailnum) GROUP BY ALL ORDER BY n DESC LIMIT 1"
    ),
    lambda flights, planes: (
        lambda known: [
            (tail, known[tail].model, count)
            for tail, count in ranked(Counter(row.tailnum for row in flights if row.tailnum in known), 1)
        ]
    )(by_tail(planes)),
)
flown(
    "join",
    "What is the mean age in 2013 of the aircraft by carrier, each counted once a flight? The oldest two.",
    sql(
        "SELECT carrier, avg(2013 - p.year) a FROM {id} f JOIN {id2} p USING (tailnum) "
        "GROUP BY 1 ORDER BY a DESC LIMIT 2"
    ),
    lambda flights, planes: (
        lambda known: ranked(
            {
                carrier: mean(2013 - known[row.tailnum].year for row in some)
                for carrier, some in grouped(
                    (row for row in flights if row.tailnum in known), lambda row: row.carrier
                ).items()
            },
            2,
        )
    )({plane.tailnum: plane for plane in planes if plane.year is not None}),
)
flown(
    "join",
    "How many aircraft with four engines made flights, and how many flights were that?",
    sql(
        "SELECT count(DISTINCT tailnum), count(*) FROM {id} JOIN {id2} USING (tailnum) WHERE engines=4"
    ),
    lambda flights, planes: tails_and_flights(flights, {p.tailnum for p in planes if p.engines == 4}),
)
flown(
    "join",
    "How many minutes in the air did turbo-prop aircraft fly?",
    sql("SELECT sum(air_time) FROM {id} JOIN {id2} USING (tailnum) WHERE engine='Turbo-prop'"),
    lambda flights, planes: (
        lambda known: sum(row.air_time or 0 for row in flights if row.tailnum in known)
    )({plane.tailnum for plane in planes if plane.engine == "Turbo-prop"}),
)


def tails_and_flights(flights, meant):
    tails = [row.tailnum for row in flights if row.tailnum in meant]
    return len(set(tails)), len(tails)


def by_hour(weather):
    return {(row.origin, row.time_hour): row for row in weather}


in_weather(
    "join",
    "What is the mean departure delay in hours with more than a tenth of an inch of rain?",
    sql(
        "SELECT avg(dep_delay) FROM {id} JOIN {id2} w USING (origin, time_hour) WHERE w.precip > 0.1"
    ),
    lambda flights, weather: (
        lambda wet: mean(row.dep_delay for row in flights if (row.origin, row.time_hour) in wet)
    )({(row.origin, row.time_hour) for row in weather if row.precip > 0.1}),
)
in_weather(
    "join",
    "For how many flights is there no weather of that hour and airport?",
    sql("SELECT count(*) FROM {id} ANTI JOIN {id2} USING (origin, time_hour)"),
    lambda flights, weather: (
        lambda known: sum((row.origin, row.time_hour) not in known for row in flights)
    )(by_hour(weather)),
)
in_weather(
    "join",
    "How many flights were cancelled in hours with a visibility of a mile or less, by airport?",
    sql(
        "SELECT origin, count(*) FROM {id} f JOIN {id2} w USING (origin, time_hour) "
        "WHERE visib <= 1 AND dep_time IS NULL GROUP BY origin ORDER BY origin"
    ),
    lambda flights, weather: (
        lambda foggy: sorted(
            Counter(
                row.origin for row in flights
                if row.dep_time is None and (row.origin, row.time_hour) in foggy
            ).items()
        )
    )({(row.origin, row.time_hour) for row in weather if row.visib <= 1}),
)
in_weather(
    "join",
    "What was the temperature when flight HA 51 departed on 24 December?",
    sql(
        "SELECT temp FROM {id} f JOIN {id2} w USING (origin, time_hour) "
        "WHERE carrier='HA' AND flight=51 AND f.month=12 AND f.day=24"
    ),
    lambda flights, weather: [
        by_hour(weather)[row.origin, row.time_hour].temp for row in flights
        if (row.carrier, row.flight, row.month, row.day) == ("HA", 51, 12, 24)
    ],
)
