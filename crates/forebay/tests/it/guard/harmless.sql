What a query must be able to do, however it sounds. Each case begins with `--- runs: what it is`. The
records of records.json are the table `dataset`.

--- runs: columns that sound like statements
SELECT created_at, update_count, "drop", "copy", load FROM dataset
--- runs: reserved words as columns, without quotes where they need none
SELECT load, status FROM dataset WHERE NOT "drop"
--- runs: statements as aliases
SELECT id AS "insert", load AS "delete", amount AS "update" FROM dataset
--- runs: statements as aliases without quotes
SELECT id AS insert, load AS delete, amount AS truncate FROM dataset
--- runs: a string that drops
SELECT 'DROP TABLE dataset; --' AS text
--- runs: a string with the names of functions
SELECT 'read_csv(''/etc/passwd'')' AS text, 'getenv(''HOME'')' AS more
--- runs: records that drop
SELECT count(*) FROM dataset WHERE name = 'DROP TABLE dataset'
--- runs: a string with semicolons
SELECT * FROM dataset WHERE name = 'Update; then delete'
--- runs: a string with a quote
SELECT * FROM dataset WHERE name = 'It''s quoted'
--- runs: a string with a backslash at its end
SELECT 'C:\' AS path, ';' AS sign
--- runs: a string with escapes
SELECT E'a\'b;\n' AS text
--- runs: a dollar-quoted string
SELECT $$it's; DROP TABLE x$$ AS text, $tag$ $$ $tag$ AS more
--- runs: a string that goes on after a line break
SELECT 'COPY '
'x TO y' AS text
--- runs: a string with escapes that goes on after a line break
SELECT E'a' -- and
'\'';
--- runs: paths as strings
SELECT '/etc/passwd' AS path, parse_filename('/etc/passwd') AS file
--- runs: a path in a condition
SELECT count(*) FROM dataset WHERE name NOT IN ('data.csv', 's3://bucket/x.parquet')
--- runs: a comment that attaches
SELECT 1 -- ATTACH 'x.db'
--- runs: a comment that copies
/* COPY (SELECT 1) TO 'x' */ SELECT 1 /* ; DROP TABLE x */
--- runs: a comment within a comment
SELECT 1 /* a /* b; */ c; */ + 1
--- runs: a semicolon at the end
SELECT 1;
--- runs: semicolons and a comment at the end
SELECT id FROM dataset LIMIT 1 ; ; -- that is all
--- runs: a semicolon at the end of EXPLAIN
EXPLAIN SELECT 1;
--- runs: a semicolon at the end of a pivot
PIVOT dataset ON status USING count(*);
--- runs: a semicolon in a comment at the end
SELECT 1 -- done;
--- runs: a text with lines
SELECT
    status,
    count(*) AS n
FROM dataset
GROUP BY status
ORDER BY n DESC
--- runs: a text with lines that end as on Windows
SELECT id -- the first
FROM dataset
--- runs: a CTE called insert_log
WITH insert_log AS (SELECT * FROM dataset WHERE status = 'open') SELECT count(*) FROM insert_log
--- runs: CTEs called as statements
WITH "drop" AS (SELECT 1 AS x), "copy" AS (SELECT x + 1 AS y FROM "drop") SELECT * FROM "copy"
--- runs: a CTE called as a file
WITH "data.csv" AS (SELECT 1 AS x) SELECT * FROM "data.csv"
--- runs: a CTE called as a system table
WITH sqlite_master AS (SELECT 1 AS x) SELECT * FROM sqlite_master
--- runs: a CTE called in other letters
WITH Totals AS (SELECT sum(amount) AS s FROM dataset) SELECT s FROM TOTALS
--- runs: CTEs that build on each other
WITH a AS (SELECT id, load FROM dataset), b AS (SELECT load, count(*) AS n FROM a GROUP BY load) SELECT max(n) FROM b
--- runs: a materialised CTE
WITH a AS MATERIALIZED (SELECT * FROM dataset) SELECT count(*) FROM a, a AS b
--- runs: a CTE in a subquery
SELECT * FROM (WITH a AS (SELECT 1 AS x) SELECT * FROM a)
--- runs: a recursive CTE that ends
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 10) SELECT * FROM r
--- runs: a recursive CTE without repetitions
WITH RECURSIVE r(i) AS (SELECT 1 UNION SELECT (i * 2) % 7 FROM r) SELECT * FROM r
--- runs: a recursive CTE with a key
WITH RECURSIVE r(k, n) USING KEY (k) AS (SELECT 1, 0 UNION SELECT k, n + 1 FROM r WHERE n < 3) SELECT * FROM r
--- runs: the function replace
SELECT replace(name, 'Drop', 'Keep') AS name FROM dataset
--- runs: functions that sound dangerous
SELECT update_count, translate(name, 'a', 'b'), regexp_replace(name, 'DROP.*', ''), insert_position FROM (SELECT *, strpos(name, 'x') AS insert_position FROM dataset)
--- runs: struct_insert and struct_update
SELECT struct_insert(owner, alter_ego := 'x') AS o, struct_update(owner, admin := true) AS p FROM dataset
--- runs: * REPLACE
SELECT * REPLACE (upper(name) AS name, load * 2 AS load) FROM dataset
--- runs: * EXCLUDE
SELECT * EXCLUDE (tags, owner, meta) FROM dataset
--- runs: * RENAME
SELECT * RENAME ("drop" AS dropped, "copy" AS copied) FROM dataset
--- runs: * LIKE
SELECT * LIKE '%a%' FROM dataset
--- runs: FROM first
FROM dataset
--- runs: FROM first with a SELECT
FROM dataset SELECT id, name WHERE load > 50 LIMIT 5
--- runs: TABLE
TABLE dataset
--- runs: brackets around everything
((SELECT id FROM dataset LIMIT 3))
--- runs: VALUES
VALUES (1, 'delete'), (2, 'insert')
--- runs: VALUES as a table
SELECT * FROM (VALUES (1, 'attach'), (2, 'detach')) AS t(id, load)
--- runs: DESCRIBE
DESCRIBE dataset
--- runs: DESCRIBE of a query
DESCRIBE SELECT id, owner FROM dataset
--- runs: SHOW of a table
SHOW dataset
--- runs: DESCRIBE within a query
SELECT column_name FROM (DESCRIBE dataset) WHERE column_type = 'BIGINT'
--- runs: SUMMARIZE
SUMMARIZE dataset
--- runs: SUMMARIZE of a query
SUMMARIZE SELECT load, amount FROM dataset
--- runs: EXPLAIN
EXPLAIN SELECT count(*) FROM dataset
--- runs: EXPLAIN in small letters, behind a comment
/* why? */ explain select * from dataset where "drop"
--- runs: EXPLAIN ANALYZE
EXPLAIN ANALYZE SELECT status, count(*) FROM dataset GROUP BY status
--- runs: EXPLAIN with options
EXPLAIN (FORMAT json) SELECT * FROM dataset
--- runs: EXPLAIN ANALYZE with options
EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM dataset
--- runs: EXPLAIN of a query in brackets
EXPLAIN (SELECT 1)
--- runs: EXPLAIN of a CTE
EXPLAIN WITH a AS (SELECT 1) SELECT * FROM a
--- runs: PIVOT with values
PIVOT dataset ON status IN ('open', 'closed') USING count(*)
--- runs: PIVOT without values
PIVOT dataset ON status USING count(*) GROUP BY load
--- runs: PIVOT without anything
PIVOT (SELECT status, load FROM dataset) ON status
--- runs: PIVOT on two columns
PIVOT dataset ON status, "drop" USING sum(amount) GROUP BY "copy"
--- runs: PIVOT on two columns, one of which has values
PIVOT dataset ON status, "drop" IN (true, false) USING count(*) GROUP BY "copy"
--- runs: PIVOT on an expression
PIVOT dataset ON status || '_' || "copy" USING sum(amount) AS total, count(*) AS n GROUP BY "drop" ORDER BY "drop" LIMIT 3
--- runs: PIVOT of a join
PIVOT (SELECT a.status, b.load FROM dataset a JOIN dataset b ON a.id = b.id) ON status USING avg(load)
--- runs: PIVOT in a CTE
WITH p AS (PIVOT dataset ON status USING count(*) GROUP BY "copy") SELECT * FROM p
--- runs: PIVOT of a CTE
WITH updates AS (SELECT status, update_count FROM dataset) PIVOT updates ON status USING sum(update_count)
--- runs: PIVOT in a subquery
SELECT * FROM (PIVOT dataset ON status USING count(*) GROUP BY "copy") WHERE "copy" <> ''
--- runs: PIVOT as the standard has it
SELECT * FROM (SELECT status, load FROM dataset) PIVOT (sum(load) FOR status IN ('open', 'closed'))
--- runs: PIVOT_WIDER
PIVOT_WIDER dataset ON status USING max(created_at)
--- runs: a column called pivot
SELECT 1 AS "pivot", 2 AS "on"
--- runs: UNPIVOT
UNPIVOT dataset ON load, update_count INTO NAME what VALUE n
--- runs: UNPIVOT of columns by a pattern
UNPIVOT (SELECT id, load, update_count FROM dataset) ON COLUMNS(* EXCLUDE (id)) INTO NAME what VALUE n
--- runs: UNPIVOT as the standard has it
FROM dataset UNPIVOT (n FOR what IN (load, update_count)) SELECT what, n
--- runs: a window
SELECT id, row_number() OVER (PARTITION BY status ORDER BY created_at) AS rn FROM dataset
--- runs: a named window
SELECT id, sum(amount) OVER w AS total FROM dataset WINDOW w AS (PARTITION BY status ORDER BY created_at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
--- runs: lag and lead
SELECT id, lag(load) OVER (ORDER BY id) AS before, lead(load, 2, 0) OVER (ORDER BY id) AS after FROM dataset
--- runs: a window by time
SELECT id, avg(amount) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) AS week FROM dataset
--- runs: QUALIFY
SELECT id, status, load FROM dataset QUALIFY rank() OVER (PARTITION BY status ORDER BY load DESC) <= 3
--- runs: DISTINCT ON
SELECT DISTINCT ON (status) status, id FROM dataset ORDER BY status, created_at DESC
--- runs: a join of the table with itself
SELECT a.id, b.id FROM dataset a JOIN dataset b ON a.load = b.load AND a.id < b.id
--- runs: USING
SELECT a.name, b.load FROM dataset a LEFT JOIN dataset b USING (id)
--- runs: a full join
SELECT coalesce(a.id, b.id) AS id FROM (SELECT id FROM dataset WHERE "drop") a FULL JOIN (SELECT id FROM dataset WHERE load > 50) b ON a.id = b.id
--- runs: semi and anti joins
SELECT a.id FROM dataset a ANTI JOIN (SELECT id FROM dataset WHERE "drop") b USING (id)
--- runs: ASOF join
SELECT a.id, b.id FROM dataset a ASOF JOIN (SELECT * FROM dataset WHERE status = 'closed') b ON a.created_at >= b.created_at
--- runs: a positional join
SELECT * FROM (SELECT id FROM dataset) POSITIONAL JOIN range(5)
--- runs: LATERAL
SELECT d.id, t.tag FROM dataset d, LATERAL (SELECT unnest(d.tags) AS tag) t
--- runs: a correlated subquery
SELECT id, (SELECT count(*) FROM dataset b WHERE b.load > a.load) AS above FROM dataset a
--- runs: EXISTS
SELECT id FROM dataset a WHERE EXISTS (SELECT 1 FROM dataset b WHERE b.id = a.id + 1 AND b."drop")
--- runs: IN with a subquery
SELECT count(*) FROM dataset WHERE load IN (SELECT load FROM dataset WHERE status = 'open')
--- runs: subqueries within each other
SELECT count(*) FROM dataset WHERE {5 * id IN (SELECT id FROM dataset WHERE }true{5 * )}
--- runs: subqueries next to each other
SELECT 1{30 * , (SELECT max(load) FROM dataset)}
--- runs: ANY and ALL
SELECT id FROM dataset WHERE load >= ALL (SELECT load FROM dataset) OR 'drop' = ANY (tags)
--- runs: a list comprehension
SELECT [upper(tag) FOR tag IN tags IF tag <> 'drop'] AS tags FROM dataset
--- runs: a lambda
SELECT list_filter(tags, lambda tag: tag LIKE 'd%') AS tags FROM dataset
--- runs: a lambda with an arrow
SELECT list_transform([1, 2, 3], x -> x + 1) AS list
--- runs: lambdas within each other
SELECT list_transform([[1, 2], [3]], x -> list_transform(x, y -> y * 2)) AS list
--- runs: list_reduce
SELECT list_reduce([1, 2, 3], lambda a, b: a + b) AS total
--- runs: slices
SELECT tags[1], tags[-1], tags[1:2], name[1:4] FROM dataset
--- runs: a struct's fields
SELECT owner.login, owner['admin'] FROM dataset WHERE NOT owner.admin
--- runs: all of a struct's fields
SELECT owner.*, id FROM dataset
--- runs: a struct that is made
SELECT {'drop': 1, 'copy': [1, 2]} AS s, struct_pack(a := 1) AS t, row(1, 'x') AS r
--- runs: a map
SELECT MAP {'load': 1, 'unload': 2}['load'] AS n, map_keys(MAP {'a': 1}) AS keys
--- runs: JSON's arrows
SELECT meta->'source', meta->>'source', meta->>'$.nested.drop' FROM dataset
--- runs: a path of JSON's arrows
SELECT meta->'nested'->'drop'->>'x' FROM dataset
--- runs: JSON's functions
SELECT json_type(meta), json_extract_string(meta, '$.source'), json_valid('{"drop": 1}'), to_json(owner) FROM dataset
--- runs: JSON's rows
SELECT d.id, e.key, e.value FROM dataset d, json_each(d.meta) e
--- runs: JSON's tree
SELECT fullkey, type FROM json_tree('{"a": [1, {"b": 2}]}')
--- runs: from_json
SELECT from_json('{"a": 1, "b": ["x"]}', '{"a": "INTEGER", "b": ["VARCHAR"]}') AS s
--- runs: SQL that is parsed as text
SELECT json_serialize_sql('SELECT 1') AS tree
--- runs: GROUP BY ALL
SELECT status, "copy", count(*) AS n FROM dataset GROUP BY ALL ORDER BY ALL
--- runs: GROUPING SETS
SELECT status, "drop", count(*) FROM dataset GROUP BY GROUPING SETS ((status), ("drop"), ())
--- runs: ROLLUP and CUBE
SELECT status, "copy", "drop", count(*), grouping_id(status) FROM dataset GROUP BY ROLLUP (status, "copy"), CUBE ("drop")
--- runs: HAVING
SELECT load, count(*) AS n FROM dataset GROUP BY load HAVING count(*) > 1
--- runs: FILTER
SELECT count(*) FILTER (WHERE status = 'open') AS open, count(*) FILTER (status = 'closed') AS closed FROM dataset
--- runs: ordered aggregates
SELECT status, list(id ORDER BY created_at DESC), string_agg(name, ', ' ORDER BY id) FROM dataset GROUP BY status
--- runs: statistics
SELECT median(amount), quantile_cont(amount, [0.25, 0.75]), mode(status), stddev(load), corr(load, amount), approx_count_distinct(name), histogram(status) FROM dataset
--- runs: arg_max and the like
SELECT status, arg_max(name, amount), min_by(id, created_at), max(amount, 3), any_value("copy") FROM dataset GROUP BY status
--- runs: a sample
SELECT * FROM dataset USING SAMPLE 10 ROWS
--- runs: a sample in per cent that can be repeated
SELECT count(*) FROM dataset TABLESAMPLE reservoir(20%) REPEATABLE (42)
--- runs: date arithmetic
SELECT created_at + INTERVAL 3 DAYS, created_at::DATE - DATE '2026-01-01', date_trunc('week', created_at), age(created_at, TIMESTAMP '2026-01-01') FROM dataset
--- runs: parts of dates
SELECT year(created_at), extract(dow FROM created_at), strftime(created_at, '%Y-%m'), epoch_ms(created_at), dayname(created_at) FROM dataset
--- runs: time zones
SELECT created_at AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin' FROM dataset LIMIT 1
--- runs: time buckets
SELECT time_bucket(INTERVAL 7 DAYS, created_at) AS week, count(*) FROM dataset GROUP BY week ORDER BY week
--- runs: today
SELECT current_date >= DATE '2026-01-01', now() > created_at, today() FROM dataset LIMIT 1
--- runs: regular expressions
SELECT regexp_extract(name, '(\w+) (\w+)', ['first', 'second']), regexp_split_to_array(name, '\s+'), name SIMILAR TO '.*table.*' FROM dataset
--- runs: patterns
SELECT id FROM dataset WHERE name ILIKE '%drop%' OR name LIKE '50\%%' ESCAPE '\' OR name GLOB '*.csv' OR name ~ '^Set'
--- runs: COLUMNS with a pattern
SELECT COLUMNS('^(load|update_count)$') * 2 FROM dataset
--- runs: COLUMNS with a lambda
SELECT min(COLUMNS(c -> c LIKE '%_count')) FROM dataset
--- runs: COLUMNS with other names
SELECT COLUMNS('(load|id)') AS 'x_\1' FROM dataset
--- runs: unpacked COLUMNS
SELECT coalesce(*COLUMNS('name|copy')) FROM dataset
--- runs: COLUMNS in a condition
SELECT id FROM dataset WHERE COLUMNS('load|update_count') > 3
--- runs: range and generate_series
SELECT r.range, s.x FROM range(3) r, generate_series(1, 3) s(x)
--- runs: a series of dates
SELECT day::DATE AS day, count(d.id) FROM generate_series(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-07', INTERVAL 1 DAY) t(day) LEFT JOIN dataset d ON d.created_at::DATE = day::DATE GROUP BY ALL
--- runs: unnest in SELECT and in FROM
SELECT unnest(tags) AS tag, id FROM dataset UNION ALL SELECT u, 0 FROM unnest(['load', 'drop']) t(u)
--- runs: unnest of a struct
SELECT unnest(owner) FROM dataset
--- runs: unnest with its place
SELECT id, tag, place FROM dataset, unnest(tags) WITH ORDINALITY AS t(tag, place)
--- runs: UNION BY NAME
SELECT id, name FROM dataset UNION ALL BY NAME SELECT name, load FROM dataset
--- runs: INTERSECT and EXCEPT
(SELECT load FROM dataset WHERE "drop" INTERSECT SELECT load FROM dataset WHERE NOT "drop") EXCEPT ALL SELECT 1
--- runs: ORDER BY with nulls and places
SELECT name, id FROM dataset ORDER BY 1 DESC NULLS LAST, id LIMIT 5 OFFSET 2
--- runs: LIMIT in per cent
SELECT id FROM dataset ORDER BY id LIMIT 10%
--- runs: CASE
SELECT CASE status WHEN 'open' THEN 'load' WHEN 'closed' THEN 'unload' ELSE 'drop' END AS what FROM dataset
--- runs: casts
SELECT TRY_CAST(name AS INTEGER), load::VARCHAR, CAST(amount AS DECIMAL(10, 2)), '2026-01-01'::DATE, [1, 2]::VARCHAR[] FROM dataset
--- runs: types of all kinds
SELECT 1::HUGEINT, INTERVAL 1 DAY, MAP {'a': 1}, '\xAA'::BLOB, TIMESTAMPTZ '2020-01-01', TIME '01:02', '101'::BIT, union_value(a := 1), [1, 2]::INT[2]
--- runs: methods
SELECT name.upper().replace('DROP', 'keep').trim() FROM dataset WHERE name IS NOT NULL
--- runs: aliases that are used at once
SELECT load * 2 AS double_load, double_load + 1 AS more FROM dataset WHERE double_load > 10
--- runs: aliases in front
SELECT n: count(*), s: status FROM dataset GROUP BY s
--- runs: a column twice
SELECT id, id, load AS id FROM dataset
--- runs: IS DISTINCT FROM
SELECT count(*) FROM dataset WHERE name IS DISTINCT FROM 'Copy button is missing' AND "copy" IS NOT DISTINCT FROM 'copy'
--- runs: collations
SELECT name FROM dataset ORDER BY name COLLATE NOCASE
--- runs: hashes and encodings
SELECT md5(name), sha256(name), base64(encode(name)), url_encode(name), to_base(id, 16), hash(id) FROM dataset
--- runs: distances of texts
SELECT levenshtein(name, 'Drop'), jaccard(status, 'open'), jaro_winkler_similarity(name, 'copy') FROM dataset WHERE name IS NOT NULL
--- runs: formats
SELECT format('{:.2f}', amount), printf('%05d', id), lpad(id::VARCHAR, 6, '0'), bar(load, 0, 100, 10) FROM dataset
--- runs: numbers
SELECT 1e3, 0xFF, 1_000_000, 10 // 3, 10 % 3, 2 ** 10, @(-5), 5!, round(amount, 1), width FROM (SELECT amount, 7 AS width FROM dataset)
--- runs: signs of other scripts
SELECT 'Naïve café ☕' AS "größe", '日本' AS 国 FROM dataset WHERE name LIKE 'Naïve%'
--- runs: blanks of other scripts
SELECT id FROM　dataset LIMIT 1
--- runs: names with signs
SELECT 1 AS "a;b", 2 AS "it's", 3 AS "x""y", 4 AS "--", 5 AS "/*"
--- runs: a long list
SELECT count(*) FROM dataset WHERE id IN ({2000 * 1, }2)
--- runs: a long sum
SELECT 1{150 *  + 1} AS total
--- runs: many brackets
SELECT {400 * (}1{400 * )} AS one
--- runs: many conditions
SELECT count(*) FROM dataset WHERE id = 1{300 *  OR id = 2}
--- runs: many columns
SELECT 1 AS x{500 * , 1} FROM dataset
--- runs: many subqueries
SELECT 1{50 *  UNION ALL SELECT 1}
--- runs: what DuckDB knows
SELECT count(*) FROM duckdb_functions() WHERE function_name = 'read_csv'
--- runs: DuckDB's words
SELECT keyword_name FROM duckdb_keywords() WHERE keyword_name IN ('attach', 'copy')
--- runs: the version
SELECT version() IS NOT NULL AS known, typeof(owner) FROM dataset
--- runs: hidden by the name of its own result
SELECT attach.load FROM dataset AS attach
--- runs: tables called as statements
SELECT "delete".id, "insert".id FROM dataset AS "delete" JOIN dataset AS "insert" USING (id)
--- runs: tables within each other
{20 * FROM (}FROM dataset{20 * )}
--- runs: aliases for columns
SELECT a, b FROM (SELECT id, load FROM dataset) AS t(a, b)
--- runs: a function with a name for its argument
SELECT struct_pack(load := load, "drop" := "drop") FROM dataset
--- runs: a question mark in a string
SELECT name FROM dataset WHERE name <> 'What is $1?'
