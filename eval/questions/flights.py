"""Questions about the flights from New York in 2013: 31 MB of CSV, and a tool's largest result."""

from collections import Counter
from statistics import median

from ask import about, browse, grep, numbers, sql, total
from gold import grouped, mean, present, ranked
from gold import total as sum_of

flights = about("flights.csv", read_as="rows")
text = about("flights.csv", read_as="lines")

flights("aggregate", "How many flights are there?", sql("SELECT count(*) FROM {id}"), len)

flights(
    "aggregate",
    "How many flights did each of the five largest carriers have?",
    sql("SELECT carrier, count(*) n FROM {id} GROUP BY 1 ORDER BY n DESC LIMIT 5"),
    lambda rows: ranked(Counter(row.carrier for row in rows), 5),
)
flights(
    "aggregate",
    "What is the mean departure delay?",
    sql("SELECT avg(dep_delay) FROM {id}"),
    lambda rows: mean(row.dep_delay for row in rows),
)
flights(
    "aggregate",
    "What is the mean arrival delay by airport of origin?",
    sql("SELECT origin, avg(arr_delay) FROM {id} GROUP BY origin ORDER BY origin"),
    lambda rows: [
        (origin, mean(row.arr_delay for row in some))
        for origin, some in sorted(grouped(rows, lambda row: row.origin).items())
    ],
)
flights(
    "aggregate",
    "Which month had the most flights, and how many?",
    sql("SELECT month, count(*) n FROM {id} GROUP BY month ORDER BY n DESC LIMIT 1"),
    lambda rows: ranked(Counter(row.month for row in rows), 1),
)
flights(
    "aggregate",
    "How many different aircraft (tail numbers) flew?",
    sql("SELECT count(DISTINCT tailnum) FROM {id} WHERE tailnum <> 'NA'"),
    lambda rows: len({row.tailnum for row in rows} - {"NA", None}),
)
flights(
    "aggregate",
    "How many miles were flown in all flights that departed?",
    sql("SELECT sum(distance) FROM {id} WHERE dep_time IS NOT NULL"),
    lambda rows: sum(row.distance for row in rows if row.dep_time is not None),
)
flights(
    "aggregate",
    "What is the median air time from JFK to LAX?",
    sql("SELECT median(air_time) FROM {id} WHERE origin='JFK' AND dest='LAX'"),
    lambda rows: median(
        row.air_time for row in rows
        if (row.origin, row.dest) == ("JFK", "LAX") and row.air_time is not None
    ),
)
flights(
    "aggregate",
    "What share of the flights of each carrier arrived more than an hour late? The worst three.",
    sql(
        "SELECT carrier, avg((arr_delay > 60)::INT) late FROM {id} WHERE arr_delay IS NOT NULL "
        "GROUP BY 1 ORDER BY late DESC LIMIT 3"
    ),
    lambda rows: ranked(
        {
            carrier: mean(float(row.arr_delay > 60) for row in some)
            for carrier, some in grouped(
                (row for row in rows if row.arr_delay is not None), lambda row: row.carrier
            ).items()
        },
        3,
    ),
)
flights(
    "aggregate",
    "At which scheduled hour do flights depart with the least mean delay?",
    sql(
        "SELECT hour, avg(dep_delay) d FROM {id} GROUP BY hour HAVING d IS NOT NULL ORDER BY d LIMIT 1"
    ),
    lambda rows: min(
        (
            (hour, mean(row.dep_delay for row in some))
            for hour, some in grouped(rows, lambda row: row.hour).items()
            if present(row.dep_delay for row in some)
        ),
        key=lambda pair: pair[1],
    ),
)
flights(
    "aggregate",
    "How many destinations are served from each origin?",
    sql("SELECT origin, count(DISTINCT dest) FROM {id} GROUP BY origin ORDER BY origin"),
    lambda rows: [
        (origin, len({row.dest for row in some}))
        for origin, some in sorted(grouped(rows, lambda row: row.origin).items())
    ],
)
flights(
    "aggregate",
    "How many carriers are there?",
    sql("SELECT count(DISTINCT carrier) FROM {id}"),
    lambda rows: len({row.carrier for row in rows}),
)
flights(
    "aggregate",
    "How are the minutes of departure delay of United (UA) in each quarter?",
    sql(
        "SELECT (month+2)//3 q, sum(dep_delay) FROM {id} WHERE carrier='UA' GROUP BY q ORDER BY q"
    ),
    lambda rows: [
        (quarter, sum_of(row.dep_delay for row in some))
        for quarter, some in sorted(
            grouped(
                (row for row in rows if row.carrier == "UA"), lambda row: (row.month + 2) // 3
            ).items()
        )
    ],
)
flights(
    "aggregate",
    "What are the five most frequent routes?",
    sql(
        "SELECT origin, dest, count(*) n FROM {id} GROUP BY origin, dest ORDER BY n DESC LIMIT 5"
    ),
    lambda rows: [
        (*route, count) for route, count in ranked(Counter((row.origin, row.dest) for row in rows), 5)
    ],
)
flights(
    "filter",
    "How many flights were cancelled (never departed)?",
    sql("SELECT count(*) FROM {id} WHERE dep_time IS NULL"),
    lambda rows: sum(row.dep_time is None for row in rows),
)
flights(
    "filter",
    "How many flights to Honolulu (HNL) or Anchorage (ANC) were there?",
    sql("SELECT count(*) FROM {id} WHERE dest IN ('HNL','ANC')"),
    lambda rows: sum(row.dest in ("HNL", "ANC") for row in rows),
)
flights(
    "filter",
    "How many flights departed late but arrived early?",
    sql("SELECT count(*) FROM {id} WHERE dep_delay > 0 AND arr_delay < 0"),
    lambda rows: sum((row.dep_delay or 0) > 0 and (row.arr_delay or 0) < 0 for row in rows),
)
flights(
    "filter",
    "Which flights were delayed by more than 1000 minutes at departure? Carrier, flight and delay.",
    sql("SELECT carrier, flight, dep_delay FROM {id} WHERE dep_delay > 1000 ORDER BY dep_delay DESC"),
    lambda rows: sorted(
        ((row.carrier, row.flight, row.dep_delay) for row in rows if (row.dep_delay or 0) > 1000),
        key=lambda row: -row[2],
    ),
)
flights(
    "filter",
    "How many flights were there on Christmas Day?",
    sql("SELECT count(*) FROM {id} WHERE month=12 AND day=25"),
    lambda rows: sum((row.month, row.day) == (12, 25) for row in rows),
)
flights(
    "filter",
    "How many flights have the hour 2013-07-04 12:00 UTC?",
    sql("SELECT count(*) FROM {id} WHERE time_hour = TIMESTAMP '2013-07-04 12:00:00'"),
    lambda rows: sum(row.time_hour == "2013-07-04T12:00:00Z" for row in rows),
)
flights(
    "lookup",
    "What was the longest arrival delay, of which carrier and flight, from where to where?",
    sql(
        "SELECT arr_delay, carrier, flight, origin, dest FROM {id} ORDER BY arr_delay DESC NULLS LAST LIMIT 1"
    ),
    lambda rows: max(
        (row.arr_delay, row.carrier, row.flight, row.origin, row.dest)
        for row in rows if row.arr_delay is not None
    ),
)
flights(
    "lookup",
    "Where did flight UA 1545 on the first of January go, and how long was it in the air?",
    sql(
        "SELECT dest, air_time FROM {id} WHERE carrier='UA' AND flight=1545 AND month=1 AND day=1"
    ),
    lambda rows: [
        (row.dest, row.air_time) for row in rows
        if (row.carrier, row.flight, row.month, row.day) == ("UA", 1545, 1, 1)
    ],
)
flights(
    "lookup",
    "What is the longest distance, and to which destination?",
    sql("SELECT DISTINCT distance, dest FROM {id} ORDER BY distance DESC LIMIT 1"),
    lambda rows: max((row.distance, row.dest) for row in rows),
)
flights(
    "browse",
    "Which three flights departed with the greatest delay? Show the tail numbers.",
    browse(fields=["tailnum", "dep_delay"], sort="-dep_delay", limit=3),
    lambda rows: [
        (row.tailnum, row.dep_delay) for row in sorted(
            (row for row in rows if row.dep_delay is not None), key=lambda row: -row.dep_delay
        )[:3]
    ],
)
flights(
    "browse",
    "How many flights does a page-wise reader find from EWR to Chicago O'Hare by United?",
    browse(total, filter={"origin": "EWR", "dest": "ORD", "carrier": "UA"}, limit=1),
    lambda rows: sum((row.origin, row.dest, row.carrier) == ("EWR", "ORD", "UA") for row in rows),
)
flights(
    "browse",
    "Which flights flew more than 4500 miles in January with more than two hours' delay?",
    browse(
        fields=["carrier", "flight", "day"],
        filter={"month": 1, "distance": {"gt": 4500}, "dep_delay": {"gt": 120}},
        sort="day",
    ),
    lambda rows: [
        (row.carrier, row.flight, row.day) for row in rows
        if row.month == 1 and row.distance > 4500 and (row.dep_delay or 0) > 120
    ],
)
text(
    "text",
    "On which lines of the file is the aircraft N725MQ on the way to Raleigh (RDU), the first two?",
    grep(",N725MQ,...,RDU,", numbers, limit=2),
    lambda lines: [
        number for number, line in enumerate(lines, 1) if ",N725MQ," in line and ",RDU," in line
    ][:2],
)
