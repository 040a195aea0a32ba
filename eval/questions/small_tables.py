"""Questions about small tables: stocks, Seattle's weather, employment, a list of deaths."""

from collections import Counter
from datetime import datetime
from statistics import median, stdev

from ask import about, browse, grep, lines, numbers, sql, total
from gold import grouped, mean, only, ranked

stocks = about("stocks.csv", read_as="rows")
seattle = about("seattle-weather.csv", read_as="rows")
seattle_text = about("seattle-weather.csv", read_as="lines")
employment = about("us-employment.csv", read_as="rows")
riots = about("la-riots.csv", read_as="rows")
riots_text = about("la-riots.csv", read_as="lines")

# Stocks, with dates such as `Jan 1 2000`


def day_of(row):
    return datetime.strptime(row.date, "%b %d %Y")


stocks(
    "aggregate",
    "What is the mean price of each stock?",
    sql("SELECT symbol, avg(price) FROM {id} GROUP BY symbol ORDER BY symbol"),
    lambda rows: [
        (symbol, mean(row.price for row in some))
        for symbol, some in sorted(grouped(rows, lambda row: row.symbol).items())
    ],
)
stocks(
    "aggregate",
    "How much does the price of IBM vary (standard deviation)?",
    sql("SELECT stddev(price) FROM {id} WHERE symbol='IBM'"),
    lambda rows: stdev(row.price for row in rows if row.symbol == "IBM"),
)
stocks(
    "aggregate",
    "What was the mean price of Apple in each year from 2005 to 2007?",
    sql(
        "SELECT right(date,4)::INT y, avg(price) FROM {id} WHERE symbol='AAPL' AND y BETWEEN 2005 AND 2007 "
        "GROUP BY y ORDER BY y"
    ),
    lambda rows: [
        (year, mean(row.price for row in rows if row.symbol == "AAPL" and day_of(row).year == year))
        for year in (2005, 2006, 2007)
    ],
)
stocks(
    "lookup",
    "What did Amazon cost on 1 October 2009?",
    sql("SELECT price FROM {id} WHERE symbol='AMZN' AND date='Oct 1 2009'"),
    lambda rows: only(rows, lambda row: (row.symbol, row.date) == ("AMZN", "Oct 1 2009")).price,
)
stocks(
    "lookup",
    "What was the highest price of Google, and when?",
    sql("SELECT price, date FROM {id} WHERE symbol='GOOG' ORDER BY price DESC LIMIT 1"),
    lambda rows: max((row.price, row.date) for row in rows if row.symbol == "GOOG"),
)
stocks(
    "lookup",
    "From when on is Google listed?",
    sql("SELECT min(strptime(date, '%b %d %Y'))::DATE FROM {id} WHERE symbol='GOOG'"),
    lambda rows: min(day_of(row) for row in rows if row.symbol == "GOOG").date().isoformat(),
)
stocks(
    "filter",
    "In how many months did Microsoft cost less than 20?",
    sql("SELECT count(*) FROM {id} WHERE symbol='MSFT' AND price < 20"),
    lambda rows: sum(row.symbol == "MSFT" and row.price < 20 for row in rows),
)
stocks(
    "join",
    "In which months of 2006 did Apple cost more than IBM?",
    sql(
        "SELECT date FROM {id} a JOIN {id} i USING (date) "
        "WHERE a.symbol='AAPL' AND i.symbol='IBM' AND a.price > i.price AND date LIKE '%2006'"
    ),
    lambda rows: {
        row.date for row in rows for other in rows
        if (row.symbol, other.symbol) == ("AAPL", "IBM")
        and row.date == other.date and row.price > other.price and row.date.endswith("2006")
    },
)
stocks(
    "browse",
    "What were the two lowest prices of all, and of which stock?",
    browse(fields=["symbol", "price"], sort="price", limit=2),
    lambda rows: sorted(((row.symbol, row.price) for row in rows), key=lambda row: row[1])[:2],
)

# Seattle's weather, with dates such as `2012/01/01`

seattle(
    "aggregate",
    "How many days are there of each kind of weather?",
    sql("SELECT weather, count(*) n FROM {id} GROUP BY weather ORDER BY n DESC"),
    lambda rows: ranked(Counter(row.weather for row in rows)),
)
seattle(
    "aggregate",
    "How much rain fell in each year?",
    sql("SELECT left(date,4) y, sum(precipitation) FROM {id} GROUP BY y ORDER BY y"),
    lambda rows: [
        (year, sum(row.precipitation for row in some))
        for year, some in sorted(grouped(rows, lambda row: row.date[:4]).items())
    ],
)
seattle(
    "aggregate",
    "Which month of the year is the warmest on average, by the maximum?",
    sql("SELECT date[6:7] m, avg(temp_max) t FROM {id} GROUP BY m ORDER BY t DESC LIMIT 1"),
    lambda rows: ranked(
        {
            month: mean(row.temp_max for row in some)
            for month, some in grouped(rows, lambda row: row.date[5:7]).items()
        },
        1,
    ),
)
seattle(
    "aggregate",
    "What is the median wind on days with snow?",
    sql("SELECT median(wind) FROM {id} WHERE weather='snow'"),
    lambda rows: median(row.wind for row in rows if row.weather == "snow"),
)
seattle(
    "filter",
    "On how many days did it freeze and rain or snow?",
    sql("SELECT count(*) FROM {id} WHERE temp_min < 0 AND precipitation > 0"),
    lambda rows: sum(row.temp_min < 0 and row.precipitation > 0 for row in rows),
)
seattle(
    "filter",
    "On which days was it 34 degrees or warmer?",
    sql("SELECT date, temp_max FROM {id} WHERE temp_max >= 34 ORDER BY date"),
    lambda rows: sorted((row.date, row.temp_max) for row in rows if row.temp_max >= 34),
)
seattle(
    "filter",
    "On how many days of 2013 did the temperature span more than 15 degrees?",
    sql("SELECT count(*) FROM {id} WHERE date LIKE '2013/%' AND temp_max - temp_min > 15.05"),
    lambda rows: sum(row.date.startswith("2013/") and row.temp_max - row.temp_min > 15.05 for row in rows),
)
seattle(
    "lookup",
    "What was the weather on Christmas Eve 2014, and how much did it rain?",
    sql("SELECT weather, precipitation FROM {id} WHERE date='2014/12/24'"),
    lambda rows: [(row.weather, row.precipitation) for row in rows if row.date == "2014/12/24"],
)
seattle(
    "lookup",
    "Which day was the wettest?",
    sql("SELECT date, precipitation FROM {id} ORDER BY precipitation DESC LIMIT 1"),
    lambda rows: max(((row.date, row.precipitation) for row in rows), key=lambda row: row[1]),
)
seattle(
    "browse",
    "Which foggy days of the dataset were the windiest?",
    browse(fields=["date", "wind"], filter={"weather": "fog"}, sort="-wind", limit=3),
    lambda rows: sorted(
        ((row.date, row.wind) for row in rows if row.weather == "fog"), key=lambda row: -row[1]
    )[:3],
)
seattle(
    "browse",
    "What are records 101 to 103?",
    browse(fields=["date", "weather"], offset=100, limit=3),
    lambda rows: [(row.date, row.weather) for row in rows[100:103]],
)
seattle_text(
    "text",
    "What stands in the file's lines on the last two days of February 2012?",
    grep("^2012/02/2[89],"),
    lambda lines: [line for line in lines if line.startswith(("2012/02/28,", "2012/02/29,"))],
)

# Employment, in thousands

employment(
    "aggregate",
    "What is the mean monthly change of nonfarm employment in each year from 2008 to 2010?",
    sql(
        "SELECT year(month) y, avg(nonfarm_change) FROM {id} WHERE y BETWEEN 2008 AND 2010 GROUP BY y ORDER BY y"
    ),
    lambda rows: [
        (year, mean(row.nonfarm_change for row in rows if row.month.startswith(str(year))))
        for year in (2008, 2009, 2010)
    ],
)
employment(
    "aggregate",
    "In how many months did employment fall?",
    sql("SELECT count(*) FROM {id} WHERE nonfarm_change < 0"),
    lambda rows: sum(row.nonfarm_change < 0 for row in rows),
)
employment(
    "aggregate",
    "What share of private employment was manufacturing in the first and in the last month?",
    sql(
        "SELECT month, manufacturing / private FROM {id} "
        "WHERE month IN ((SELECT min(month) FROM {id}), (SELECT max(month) FROM {id})) ORDER BY month"
    ),
    lambda rows: [(row.month, row.manufacturing / row.private) for row in (rows[0], rows[-1])],
)
employment(
    "lookup",
    "How many worked in construction in June 2009?",
    sql("SELECT construction FROM {id} WHERE month = DATE '2009-06-01'"),
    lambda rows: only(rows, lambda row: row.month == "2009-06-01").construction,
)
employment(
    "lookup",
    "In which month was the greatest loss, and how large was it?",
    sql("SELECT month, nonfarm_change FROM {id} ORDER BY nonfarm_change LIMIT 1"),
    lambda rows: min(((row.month, row.nonfarm_change) for row in rows), key=lambda row: row[1]),
)
employment(
    "filter",
    "In which months did retail trade employ more than 15.65 million?",
    sql("SELECT month FROM {id} WHERE retail_trade > 15650 ORDER BY month"),
    lambda rows: [row.month for row in rows if row.retail_trade > 15650],
)
employment(
    "filter",
    "Since when has government always employed fewer than 22 million?",
    sql("SELECT max(month) FROM {id} WHERE government >= 22000"),
    lambda rows: max(row.month for row in rows if row.government >= 22000),
)
employment(
    "browse",
    "What did utilities and information employ in the last two months?",
    browse(fields=["month", "utilities", "information"], sort="-month", limit=2),
    lambda rows: [(row.month, row.utilities, row.information) for row in rows[:-3:-1]],
)

# The deaths of the riots of 1992

riots(
    "aggregate",
    "How many died in each way?",
    sql("SELECT type, count(*) n FROM {id} GROUP BY type ORDER BY n DESC"),
    lambda rows: ranked(Counter(row.type for row in rows)),
)
riots(
    "aggregate",
    "What was the mean age by gender?",
    sql("SELECT gender, avg(age) FROM {id} GROUP BY gender ORDER BY gender"),
    lambda rows: [
        (gender, mean(row.age for row in some))
        for gender, some in sorted(grouped(rows, lambda row: row.gender).items())
    ],
)
riots(
    "aggregate",
    "On which day did most die?",
    sql("SELECT death_date, count(*) n FROM {id} GROUP BY 1 ORDER BY n DESC LIMIT 1"),
    lambda rows: ranked(Counter(row.death_date for row in rows), 1),
)
riots(
    "filter",
    "Who died in Koreatown? The last names.",
    sql("SELECT last_name FROM {id} WHERE neighborhood='Koreatown' ORDER BY last_name"),
    lambda rows: sorted(row.last_name for row in rows if row.neighborhood == "Koreatown"),
)
riots(
    "filter",
    "How many were under 18?",
    sql("SELECT count(*) FROM {id} WHERE age < 18"),
    lambda rows: sum(row.age is not None and row.age < 18 for row in rows),
)
riots(
    "lookup",
    "Of whom is the age not known?",
    sql("SELECT first_name, last_name FROM {id} WHERE age IS NULL"),
    lambda rows: [(row.first_name, row.last_name) for row in rows if row.age is None],
)
riots(
    "lookup",
    "Who was the oldest, and how old?",
    sql("SELECT first_name, last_name, age FROM {id} ORDER BY age DESC NULLS LAST LIMIT 1"),
    lambda rows: max(
        ((row.first_name, row.last_name, row.age) for row in rows if row.age), key=lambda row: row[2]
    ),
)
riots(
    "browse",
    "How many deaths after 1992 are listed?",
    browse(total, filter={"death_date": {"gte": "1993-01-01"}}, limit=1),
    lambda rows: sum(row.death_date >= "1993" for row in rows),
)
riots(
    "browse",
    "Which homicides were on Western Avenue?",
    browse(
        fields=["last_name", "address"],
        filter={"type": "Homicide", "address": {"contains": "Western Av"}},
        sort="last_name",
    ),
    lambda rows: sorted(
        (row.last_name, row.address) for row in rows
        if row.type == "Homicide" and "Western Av" in row.address
    ),
)
riots_text(
    "text",
    "On which lines is the Santa Monica Boulevard named?",
    grep("Santa Monica Boulevard", numbers),
    lambda lines: [number for number, line in enumerate(lines, 1) if "Santa Monica Boulevard" in line],
)
riots_text("text", "What is the last line but one?", lines("63-63"), lambda lines: [lines[62]])
