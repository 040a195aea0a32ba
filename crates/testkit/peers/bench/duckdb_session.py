"""DuckDB on its own: a query on each line of the input, its rows as JSON on a line of the output.

The arguments are the memory limit and the number of threads.
"""

import json
import sys

import duckdb

memory_limit, threads = sys.argv[1:]
with duckdb.connect(config={"memory_limit": memory_limit, "threads": threads}) as connection:
    for query in sys.stdin:
        rows = connection.execute(query).fetchall()
        print(json.dumps(rows, default=str), flush=True)
