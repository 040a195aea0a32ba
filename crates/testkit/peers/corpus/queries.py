"""Runs the example queries of a summary in DuckDB, on the table that the summary is of.

A column that a query names holds its values, in any order: all that is asked of them is how often
each occurs. The other columns are empty.
"""

import re

import duckdb

EXAMPLE = re.compile(r"(?m)^- Example query: (.*)$")
TYPES = {"integer": "BIGINT", "float": "DOUBLE", "boolean": "BOOLEAN"}


def compare(summary, name, said, columns):
    """What is wrong with the queries on the table `name`, of which `said` is told.

    `columns` holds, for each field, how often each value occurs.
    """
    queries = EXAMPLE.findall(summary)
    if not queries:
        yield "there is no example query"
        return
    fields = {unique: field for unique, field in zip(unique_names(said["fields"]), said["fields"])}
    with duckdb.connect(config={"threads": 1}) as connection:
        load(connection, name, fields, said["records"], {
            unique: columns[field["name"]]
            for unique, field in fields.items()
            if any(quoted(unique)[1:-1] in query for query in queries)
        })
        for query in queries:
            try:
                rows = connection.execute(query).fetchall()
            except duckdb.Error as why:
                yield f"{query}: {why}"
                continue
            if not rows:
                yield f"{query}: there are no rows"
            if " GROUP BY " in query:
                yield from compare_counts(query, rows, fields[connection.description[0][0]])


def unique_names(fields):
    """The columns' names; one that SQL cannot tell from others, or cannot write, gets a number."""
    seen = set()
    for place, field in enumerate(fields):
        name = field["name"] if field["name"] and field["name"].lower() not in seen else f"column {place}"
        seen.add(name.lower())
        yield name


def load(connection, name, fields, records, columns):
    types = {unique: TYPES.get(field["type"], "VARCHAR") for unique, field in fields.items()}
    defined = ", ".join(f"{quoted(unique)} {kind}" for unique, kind in types.items())
    connection.execute(f"CREATE TABLE {name} ({defined})")
    if not columns:
        connection.execute(f"INSERT INTO {name} SELECT {', '.join('NULL' for _ in types)} FROM range({records})")
        return
    names = ", ".join(map(quoted, columns))
    values = ", ".join(f"unnest(?::VARCHAR[])::{types[unique]}" for unique in columns)
    cells = [spread(counts, records) for counts in columns.values()]
    connection.execute(f"INSERT INTO {name} ({names}) SELECT {values}", cells)


def spread(counts, records):
    """Each value as often as it occurs, and nothing in the other records."""
    values = [text for (_, text), times in counts.items() for _ in range(times)]
    return values + [None] * (records - len(values))


def compare_counts(query, rows, said):
    def shown(value):
        return str(value).lower() if said["type"] == "boolean" else str(value)

    counted = {shown(row[0]): row[1] for row in rows if row[0] is not None}
    for value, times in said["top"]:
        if counted.get(shown(value)) != times:
            yield f"{query}: {value} is counted {counted.get(shown(value))} times, not {times}"


def quoted(name):
    return '"' + name.replace('"', '""') + '"'
