What a query must not be able to do. Each case begins with `--- KIND: what it tries`.
  refused      the guard does not let it run
  unreachable  it may run, and finds nothing
  bounded      it may run, and ends by its own means or by the limits of memory and time
  ended        it may run, and only its process's limits, or its end, stop it
{folder} is a directory with canary.csv, canary.json, canary.parquet, canary.txt, spill/canary.txt and
rows.parquet. {1000 * x} is a thousand times x.

--- refused: a file by its name
SELECT * FROM '{folder}/canary.csv'
--- refused: a file by its name in double quotes
SELECT * FROM "{folder}/canary.csv"
--- refused: a file of the working directory
FROM 'canary.csv'
--- refused: a file of the working directory, in capitals
FROM 'CANARY.CSV'
--- refused: a file without an extension
SELECT * FROM '/etc/passwd'
--- refused: a JSON file by its name
SELECT content FROM '{folder}/canary.json'
--- refused: a Parquet file by its name
FROM '{folder}/canary.parquet'
--- refused: the rows of the dataset as a file
FROM '{folder}/rows.parquet'
--- refused: all files
FROM '{folder}/*.csv'
--- refused: all files of all directories
FROM '{folder}/**'
--- refused: a file with a question mark for a letter
FROM '{folder}/canary.?sv'
--- refused: a home directory
FROM '~/canary.csv'
--- refused: a file by two names
FROM "canary.csv" AS a JOIN 'canary.json' AS b ON true
--- refused: a compressed file
FROM 'canary.csv.gz'
--- refused: a database as a file
FROM 'canary.duckdb'
--- refused: a table of the web
FROM 'https://127.0.0.1:9/canary.csv'
--- refused: a table of a bucket
FROM 's3://bucket/canary.parquet'
--- refused: a file by an address
FROM 'file:///etc/passwd'
--- refused: a file in a subquery
SELECT (SELECT count(*) FROM '{folder}/canary.csv') FROM dataset
--- refused: a file in a CTE
WITH x AS (FROM '{folder}/canary.txt') SELECT * FROM x
--- refused: a file behind EXISTS
SELECT * FROM dataset WHERE EXISTS (FROM '{folder}/canary.csv')
--- refused: a file in a join's condition
SELECT * FROM dataset a JOIN dataset b ON a.id IN (SELECT 1 FROM 'canary.csv')
--- refused: a file in ORDER BY
SELECT * FROM dataset ORDER BY (SELECT 1 FROM 'canary.csv')
--- refused: a file in a LIMIT
SELECT * FROM dataset LIMIT (SELECT count(*) FROM 'canary.csv')
--- refused: a file in a window
SELECT sum(id) OVER (PARTITION BY (SELECT 1 FROM 'canary.csv')) FROM dataset
--- refused: a file in FILTER
SELECT count(*) FILTER (WHERE (SELECT true FROM 'canary.csv')) FROM dataset
--- refused: a file in a lambda
SELECT list_transform(tags, lambda x: (SELECT content FROM read_text('{folder}/canary.txt'))) FROM dataset
--- refused: a file that a CTE of another query seems to hide
SELECT * FROM (WITH "canary.csv" AS (SELECT 1) FROM "canary.csv") a, 'canary.csv' b
--- refused: a file that a CTE seems to hide, whose K is the Kelvin sign
WITH "K.csv" AS (SELECT 1) FROM "k.csv"
--- refused: a file that a later CTE seems to hide
WITH a AS (FROM "canary.csv"), "canary.csv" AS (SELECT 1) FROM a
--- refused: a file described
DESCRIBE '{folder}/canary.csv'
--- refused: a file summarised
SUMMARIZE '{folder}/canary.csv'
--- refused: a file as a table
TABLE "canary.csv"
--- refused: a file unpivoted
UNPIVOT '{folder}/canary.csv' ON a INTO NAME n VALUE v
--- refused: a file pivoted
PIVOT '{folder}/canary.csv' ON a USING count(*)
--- refused: a file pivoted with values
PIVOT '{folder}/canary.csv' ON a IN (1, 2) USING count(*)
--- refused: a file in what a pivot counts
PIVOT dataset ON status USING max((SELECT content FROM read_text('{folder}/canary.txt')))
--- refused: a file in what a pivot finds its columns by
PIVOT dataset ON (SELECT content FROM read_text('{folder}/canary.txt')) USING count(*)
--- refused: a file explained
EXPLAIN FROM '{folder}/canary.csv'
--- refused: a file explained and read
EXPLAIN ANALYZE SELECT * FROM read_csv('{folder}/canary.csv')
--- refused: a file explained with options
EXPLAIN (FORMAT json, ANALYZE) SELECT * FROM read_csv('{folder}/canary.csv')
--- refused: read_csv
SELECT * FROM read_csv('{folder}/canary.csv')
--- refused: read_csv_auto
FROM read_csv_auto('{folder}/canary.csv')
--- refused: read_csv in odd letters
SELECT * FROM rEaD_CsV('{folder}/canary.csv')
--- refused: read_csv in quotes
SELECT * FROM "read_csv"('{folder}/canary.csv')
--- refused: read_csv in quotes and capitals
SELECT * FROM "READ_CSV"('{folder}/canary.csv')
--- refused: read_csv with its schema
SELECT * FROM main.read_csv('{folder}/canary.csv')
--- refused: read_csv with its database and schema
SELECT * FROM system.main.read_csv('{folder}/canary.csv')
--- refused: read_csv with a comment in its call
SELECT * FROM read_csv/* harmless */('{folder}/canary.csv')
--- refused: read_csv in escaped letters
SELECT * FROM U&"\0072ead_csv"('{folder}/canary.csv')
--- refused: read_csv in full-width letters
SELECT * FROM ｒｅａｄ＿ｃｓｖ('{folder}/canary.csv')
--- refused: read_csv of a dollar-quoted name
SELECT * FROM read_csv($${folder}/canary.csv$$)
--- refused: read_csv of a list
FROM read_csv(['{folder}/canary.csv'])
--- refused: read_csv of a computed name
FROM read_csv('{folder}/' || 'canary' || chr(46) || 'csv')
--- refused: read_csv of the pipe
FROM read_csv('/dev/stdin')
--- refused: read_csv as a lateral join
SELECT * FROM dataset, LATERAL read_csv('{folder}/canary.csv')
--- refused: read_csv as a scalar
SELECT read_csv('{folder}/canary.csv')
--- refused: read_text
SELECT content FROM read_text('{folder}/canary.txt')
--- refused: read_text of the spill directory
SELECT content FROM read_text('{folder}/spill/canary.txt')
--- refused: read_text as a method
SELECT '{folder}/canary.txt'.read_text()
--- refused: read_blob
SELECT content FROM read_blob('{folder}/*')
--- refused: read_json
FROM read_json('{folder}/canary.json')
--- refused: read_json_auto
FROM read_json_auto('{folder}/canary.json')
--- refused: read_json_objects
FROM read_json_objects('{folder}/canary.json')
--- refused: read_json_objects_auto
FROM read_json_objects_auto('{folder}/canary.json')
--- refused: read_ndjson
FROM read_ndjson('{folder}/canary.json')
--- refused: read_ndjson_auto
FROM read_ndjson_auto('{folder}/canary.json')
--- refused: read_ndjson_objects
FROM read_ndjson_objects('{folder}/canary.json')
--- refused: read_parquet
FROM read_parquet('{folder}/canary.parquet')
--- refused: read_parquet of the dataset's own rows
FROM read_parquet('{folder}/rows.parquet', filename = true)
--- refused: parquet_scan
FROM parquet_scan('{folder}/canary.parquet')
--- refused: parquet_metadata
FROM parquet_metadata('{folder}/rows.parquet')
--- refused: parquet_schema
FROM parquet_schema('{folder}/rows.parquet')
--- refused: parquet_file_metadata
FROM parquet_file_metadata('{folder}/rows.parquet')
--- refused: parquet_kv_metadata
FROM parquet_kv_metadata('{folder}/rows.parquet')
--- refused: parquet_bloom_probe
FROM parquet_bloom_probe('{folder}/rows.parquet', 'id', 1)
--- refused: read_duckdb
FROM read_duckdb('{folder}/canary.duckdb')
--- refused: read_xlsx, which an extension has
FROM read_xlsx('{folder}/canary.xlsx')
--- refused: sqlite_scan, which an extension has
FROM sqlite_scan('{folder}/canary.sqlite', 'main')
--- refused: postgres_query, which an extension has
FROM postgres_query('host=127.0.0.1', 'SELECT 1')
--- refused: sniff_csv
FROM sniff_csv('{folder}/canary.csv')
--- refused: glob
FROM glob('{folder}/*')
--- refused: glob with its schema
FROM main.glob('/etc/*')
--- refused: arrow_scan, which trusts the addresses that it is given
FROM arrow_scan(1::UBIGINT::POINTER, 2::UBIGINT::POINTER, 3::UBIGINT::POINTER)
--- refused: seq_scan
FROM seq_scan('dataset')
--- refused: COPY to a file
COPY dataset TO '{folder}/out.csv'
--- refused: COPY of a query to a file
COPY (SELECT 1) TO '{folder}/out.parquet' (FORMAT parquet)
--- refused: COPY over the rows
COPY (SELECT 1) TO '{folder}/rows.parquet' (FORMAT parquet, USE_TMP_FILE false)
--- refused: COPY to the spill directory
COPY (SELECT 1) TO '{folder}/spill/out.csv'
--- refused: COPY to a program
COPY (SELECT 1) TO PROGRAM 'touch {folder}/out'
--- refused: COPY from a file
COPY dataset FROM '{folder}/canary.csv'
--- refused: COPY of a database
COPY FROM DATABASE memory TO other
--- refused: COPY of a pivot
COPY (PIVOT dataset ON status) TO '{folder}/out.csv'
--- refused: COPY behind a comment
/* only a comment */ COPY (SELECT 1) TO '{folder}/out.csv' -- SELECT 1
--- refused: COPY between brackets
SELECT * FROM (COPY (SELECT 1) TO '{folder}/out.csv')
--- refused: COPY explained
EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/out.csv'
--- refused: EXPORT
EXPORT DATABASE '{folder}/out'
--- refused: IMPORT
IMPORT DATABASE '{folder}'
--- refused: ATTACH
ATTACH '{folder}/canary.duckdb' AS other
--- refused: ATTACH in the spill directory
ATTACH IF NOT EXISTS '{folder}/spill/other.db'
--- refused: ATTACH of another kind
ATTACH 'host=127.0.0.1' AS other (TYPE postgres)
--- refused: DETACH
DETACH memory
--- refused: USE
USE memory
--- refused: a table of another database
SELECT * FROM other.main.secrets
--- refused: INSTALL
INSTALL httpfs
--- refused: INSTALL from elsewhere
FORCE INSTALL evil FROM 'http://127.0.0.1:9/'
--- refused: LOAD
LOAD httpfs
--- refused: LOAD of a file
LOAD '{folder}/evil.duckdb_extension'
--- refused: CREATE SECRET
CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')
--- refused: CREATE PERSISTENT SECRET
CREATE PERSISTENT SECRET s (TYPE http)
--- refused: duckdb_secrets
FROM duckdb_secrets()
--- refused: which_secret
FROM which_secret('s3://bucket/x', 's3')
--- refused: getenv
SELECT getenv('HOME')
--- refused: getenv with its schema
SELECT main.getenv('HOME')
--- refused: getenv as a method
SELECT 'HOME'.getenv()
--- refused: getenv in quotes and capitals
SELECT "GETENV"('HOME')
--- refused: getenv in a macro of the same name
CREATE MACRO upper(x) AS getenv(x)
--- refused: getenv in a list comprehension
SELECT [getenv(x) FOR x IN ['HOME', 'PATH']]
--- refused: getenv in * REPLACE
SELECT * REPLACE (getenv(name) AS name) FROM dataset
--- refused: getenv in COLUMNS
SELECT getenv(COLUMNS('name|status')) FROM dataset
--- refused: getenv in a named argument
SELECT struct_pack(a := getenv('HOME'))
--- refused: getenv in VALUES
VALUES (getenv('HOME'))
--- refused: getenv as a table function's argument
FROM range(len(getenv('HOME')))
--- refused: getenv in what a pivot makes
PIVOT dataset ON getenv(status) USING count(*)
--- refused: current_setting
SELECT current_setting('temp_directory')
--- refused: current_setting in odd letters
SELECT Current_Setting('temp_directory')
--- refused: getvariable
SELECT getvariable('x')
--- refused: SET
SET enable_external_access = true
--- refused: SET GLOBAL
SET GLOBAL allowed_paths = ['/etc/passwd']
--- refused: SET VARIABLE
SET VARIABLE x = (SELECT content FROM read_text('{folder}/canary.txt'))
--- refused: RESET
RESET memory_limit
--- refused: PRAGMA
PRAGMA database_list
--- refused: PRAGMA that sets
PRAGMA memory_limit = '100GB'
--- refused: PRAGMA that writes a file
PRAGMA profile_output = '{folder}/out.json'
--- refused: PRAGMA that runs SQL
PRAGMA json_execute_serialized_sql('x')
--- refused: duckdb_settings
FROM duckdb_settings()
--- refused: duckdb_databases
SELECT path FROM duckdb_databases()
--- refused: duckdb_views, which hold paths
SELECT sql FROM duckdb_views()
--- refused: duckdb_views without brackets
SELECT sql FROM duckdb_views
--- refused: duckdb_tables with its schema
SELECT * FROM main.duckdb_tables
--- refused: duckdb_temporary_files
FROM duckdb_temporary_files()
--- refused: duckdb_logs
FROM duckdb_logs()
--- refused: duckdb_extensions, which hold paths
SELECT install_path FROM duckdb_extensions()
--- refused: pragma_database_list
FROM pragma_database_list
--- refused: pragma_storage_info
FROM pragma_storage_info('dataset')
--- refused: the information schema
SELECT * FROM information_schema.tables
--- refused: the information schema in odd letters
SELECT * FROM "INFORMATION_SCHEMA".Views
--- refused: sqlite_master
SELECT sql FROM sqlite_master
--- refused: sqlite_master in a pivot
PIVOT sqlite_master ON sql USING count(*)
--- refused: pg_catalog
SELECT * FROM pg_catalog.pg_views
--- refused: pg_views
SELECT definition FROM pg_views
--- refused: pg_get_viewdef
SELECT pg_get_viewdef(1)
--- refused: SHOW TABLES
SHOW TABLES
--- refused: SHOW ALL TABLES
SHOW ALL TABLES
--- refused: SHOW DATABASES
SHOW DATABASES
--- refused: SHOW within a query
SELECT * FROM (SHOW ALL TABLES)
--- refused: two statements
SELECT 1; SELECT 2
--- refused: a second statement that drops
SELECT * FROM dataset; DROP VIEW dataset
--- refused: a second statement behind a line comment
SELECT 1 -- nothing here
; COPY (SELECT 1) TO '{folder}/out.csv'
--- refused: a second statement behind a nested comment
SELECT 1 /* a /* b */ c */; ATTACH '{folder}/canary.duckdb'
--- refused: a second statement behind a string with a backslash
SELECT '\'; DROP VIEW dataset --'
--- refused: a second statement behind a string that goes on after a line break
SELECT E'a'
'\''; DROP VIEW dataset; --'
--- refused: a second statement behind a dollar-quoted string
SELECT $a$ $b$ $a$; DROP VIEW dataset; SELECT $b$ x $b$
--- refused: a second statement behind a pivot
PIVOT dataset ON status; DROP VIEW dataset
--- refused: a second statement behind EXPLAIN
EXPLAIN SELECT 1; DROP VIEW dataset
--- refused: a second statement before a select
DROP VIEW dataset; SELECT 1
--- refused: what closes our bracket
SELECT 1) LIMIT 1; COPY (SELECT 1) TO '{folder}/out.csv'; SELECT * FROM (SELECT 1
--- refused: what closes our bracket and hides the rest
SELECT 1) TO '{folder}/out.csv' --
--- refused: a comment without an end
SELECT 1 /*
--- refused: a string without an end
SELECT 'a
--- refused: INSERT
INSERT INTO dataset VALUES (1)
--- refused: INSERT in a CTE
WITH x AS (INSERT INTO dataset VALUES (1) RETURNING *) SELECT * FROM x
--- refused: INSERT behind a CTE
WITH x AS (SELECT 1) INSERT INTO dataset SELECT * FROM x
--- refused: UPDATE
UPDATE dataset SET id = 0
--- refused: UPDATE in a CTE
WITH x AS (UPDATE dataset SET id = 0 RETURNING *) FROM x
--- refused: DELETE
DELETE FROM dataset
--- refused: DELETE in a CTE
WITH x AS (DELETE FROM dataset RETURNING *) FROM x
--- refused: MERGE
MERGE INTO dataset USING (SELECT 1 AS id) s ON dataset.id = s.id WHEN MATCHED THEN DELETE
--- refused: TRUNCATE
TRUNCATE dataset
--- refused: CREATE TABLE
CREATE TABLE x AS SELECT * FROM dataset
--- refused: CREATE TEMP TABLE
CREATE TEMP TABLE x AS SELECT 1
--- refused: CREATE VIEW
CREATE OR REPLACE VIEW dataset AS FROM '{folder}/canary.csv'
--- refused: CREATE TABLE of a pivot
CREATE TABLE x AS PIVOT dataset ON status
--- refused: CREATE MACRO
CREATE MACRO read(x) AS TABLE FROM read_csv(x)
--- refused: CREATE FUNCTION
CREATE FUNCTION f(x) AS x + 1
--- refused: CREATE TYPE
CREATE TYPE t AS ENUM (SELECT content FROM read_text('{folder}/canary.txt'))
--- refused: CREATE SEQUENCE
CREATE SEQUENCE s
--- refused: SELECT INTO
SELECT * INTO x FROM dataset
--- refused: DROP
DROP VIEW dataset
--- refused: ALTER
ALTER VIEW dataset RENAME TO x
--- refused: COMMENT
COMMENT ON VIEW dataset IS 'x'
--- refused: PREPARE
PREPARE p AS SELECT 1
--- refused: EXECUTE
EXECUTE p
--- refused: DEALLOCATE
DEALLOCATE p
--- refused: CALL
CALL pragma_version()
--- refused: CALL that writes a log
CALL enable_logging(storage = 'file', storage_path = '{folder}/log')
--- refused: BEGIN
BEGIN TRANSACTION
--- refused: CHECKPOINT
CHECKPOINT
--- refused: VACUUM
VACUUM
--- refused: a parameter
SELECT ?
--- refused: a named parameter
SELECT $x
--- refused: query()
FROM query('SELECT 1')
--- refused: query() that reads
FROM query('FROM ''{folder}/canary.csv''')
--- refused: query_table() of a file
FROM query_table('{folder}/canary.csv')
--- refused: query_table() of a list
FROM query_table(['dataset', 'duckdb_settings'])
--- refused: a table macro that names its table in a string
FROM histogram_values('{folder}/canary.csv', a)
--- refused: SQL that runs from JSON
FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
--- refused: SQL that is planned, for which files are opened
SELECT json_serialize_plan('FROM ''{folder}/canary.csv''')
--- refused: SQL that is planned, in odd letters
SELECT JSON_Serialize_Plan('FROM read_text(''{folder}/canary.txt'')')
--- refused: sql_auto_complete
FROM sql_auto_complete('SEL')
--- refused: sleep
SELECT sleep_ms(100000)
--- refused: pg_sleep
SELECT pg_sleep(100)
--- refused: nextval
SELECT nextval('s')
--- refused: write_log
SELECT write_log('x')
--- refused: a function of the optimiser's own
SELECT __internal_decompress_string(1::UBIGINT)
--- refused: nothing
 
--- refused: nothing but a comment
-- SELECT 1
--- refused: nothing but semicolons
;;;
--- refused: very many brackets
SELECT {40000 * (}1{40000 * )}
--- refused: brackets without an end
SELECT {90000 * (}
--- refused: a long sum
SELECT 1{10000 *  + 1}
--- refused: many NOT
SELECT {20000 * NOT }true
--- refused: many minus
SELECT {20000 * - }1
--- refused: many lists
SELECT {20000 * [}1{20000 * ]}
--- refused: many subqueries
SELECT {5000 * (SELECT }1{5000 * )}
--- refused: many CASE
SELECT {2000 * CASE WHEN true THEN }1{2000 *  END}
--- refused: a long chain of EXCEPT
SELECT 1{3000 *  EXCEPT SELECT 1}
--- refused: many arrows, for each of which the binder tries twice
SELECT meta{30 * ->'a'} FROM dataset
--- refused: subqueries whose plans take many times as long with each
SELECT * FROM dataset WHERE id = {12 * (SELECT max(id) FROM dataset WHERE id = }1{12 * )}
--- refused: subqueries within each other, without a table
SELECT {20 * (SELECT }1{20 * )}
--- refused: EXISTS within each other
SELECT * FROM dataset WHERE {20 * EXISTS (SELECT 1 FROM dataset WHERE }true{20 * )}
--- refused: many nested lambdas
SELECT {30 * list_transform([1], x -> }1{30 * )}
--- refused: a type of very many levels
SELECT NULL::INT{3000 * []}
--- refused: a long text
SELECT '{100001 * x}'
--- refused: too many sets of groups
SELECT count(*) FROM dataset GROUP BY CUBE (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
--- refused: empty comments in a row
SELECT 1 {24000 * /**/}
--- refused: empty comments in a row before a table
SELECT * FROM {20000 * /**/}dataset
--- refused: signs in a row
SELECT {90000 * +}1
--- refused: signs of two kinds in a row
SELECT {20000 * -+}1
--- refused: signs and comments in a row
SELECT 1 {10000 * +/**/}1
--- refused: signs in a row behind EXPLAIN
EXPLAIN SELECT {30000 * ~}1
--- refused: a ROLLUP of thousands
SELECT 1 FROM dataset GROUP BY ROLLUP({8000 * id,}id)
--- refused: a ROLLUP of thousands in odd letters, behind a comment
SELECT 1 FROM dataset GROUP BY rOlLuP /* of */ ({8000 * id,}id)
--- refused: a CUBE of a thousand
SELECT 1 FROM dataset GROUP BY CUBE({1000 * id,}id)
--- refused: a ROLLUP of thousands in a subquery
SELECT * FROM dataset WHERE id IN (SELECT id FROM dataset GROUP BY ROLLUP({5000 * id, }id))
--- refused: a ROLLUP of thousands in a CTE
WITH a AS (SELECT id FROM dataset GROUP BY ROLLUP({5000 * id, }id)) FROM a
--- refused: a ROLLUP of thousands of brackets
SELECT 1 FROM dataset GROUP BY ROLLUP({5000 * (id), }(id))
--- refused: a text longer than is read
SELECT length('{100001 * x}')
--- refused: brackets in brackets
SELECT {40000 * (}1{40000 * )}
--- refused: lists in lists
SELECT {5000 * [}1{5000 * ]}
--- refused: a long chain of casts
SELECT 1{15000 * ::INT}
--- refused: a long chain of NOT
SELECT {20000 * NOT }true
--- refused: a long chain of CASE
SELECT {3000 * CASE WHEN true THEN }1{3000 *  END}
--- refused: a long chain of operators
SELECT 1{20000 *  + 1}
--- refused: a long chain of methods
SELECT 'a'{5000 * .upper()}
--- refused: a long chain of UNION ALL
SELECT 1{6000 *  UNION ALL SELECT 1}
--- refused: subqueries in subqueries
{800 * SELECT * FROM (}SELECT 1{800 * )}
--- refused: read_csv with a line break before its bracket
SELECT * FROM read_csv
('{folder}/canary.csv')
--- refused: read_csv with a Cyrillic letter
SELECT * FROM rеad_csv('{folder}/canary.csv')
--- refused: read_csv with a long s
SELECT * FROM read_cſv('{folder}/canary.csv')
--- refused: read_csv with letters that combine
SELECT * FROM read_csv̈('{folder}/canary.csv')
--- refused: read_csv behind a space of another kind
SELECT * FROM read_csv ('{folder}/canary.csv')
--- refused: read_text written from right to left
SELECT * FROM ‮txet_daer‬('{folder}/canary.txt')
--- refused: getenv behind a space of another kind
SELECT getenv ('HOME')
--- refused: getenv in quotes, with a comment before its bracket
SELECT "getenv"/**/('HOME')
--- refused: a query in a text
FROM query('SELECT * FROM read_csv(''{folder}/canary.csv'')')
--- refused: a table by a name in a text
FROM query_table('{folder}/canary.csv')
--- refused: tables by names in a list
FROM query_table(['dataset', '{folder}/canary.csv'])
--- refused: a completion, which lists files
FROM sql_auto_complete('FROM ''{folder}/')
--- refused: what is in memory
FROM duckdb_memory()
--- refused: the cache of files
FROM duckdb_external_file_cache()
--- refused: a log that is turned on
CALL enable_logging()
--- refused: a log that is turned on in FROM
FROM enable_logging()
--- refused: COPY to the answer's own pipe
COPY (SELECT 1) TO '/dev/stdout' (FORMAT csv)
--- refused: COPY to STDOUT
COPY (SELECT 1) TO STDOUT
--- refused: ATTACH of memory
ATTACH ':memory:' AS other
--- refused: PRAGMA between comments
/**/PRAGMA/**/database_list/**/
--- refused: SET between comments
/* SELECT */ SET/**/threads/**/=/**/100
--- refused: SET SESSION
SET SESSION search_path = 'information_schema'
--- refused: a second statement behind a comment in a comment
SELECT 1 /* /* */ ; SELECT 2 */ ; SET threads = 1
--- refused: an enormous number
SELECT 1{50000 * 0}
--- unreachable: a name that is no table
SELECT * FROM passwd
--- unreachable: a schema that is none
SELECT * FROM secrets.keys
--- unreachable: a file by two words
SELECT * FROM canary.csv
--- unreachable: a file by two words in a pivot
PIVOT canary.csv ON a USING count(*)
--- unreachable: the file that a row came from
SELECT filename FROM dataset
--- unreachable: where a record begins
SELECT __at FROM dataset
--- unreachable: a function that is none
SELECT load_file('{folder}/canary.txt')
--- unreachable: a function of another database's
SELECT pg_read_file('{folder}/canary.txt')
--- unreachable: a function that runs programs elsewhere
SELECT system('id')
--- unreachable: a function that loads extensions elsewhere
SELECT load_extension('{folder}/evil.so')
--- unreachable: the past
FROM dataset AT (VERSION => 1)
--- unreachable: a tree that is not SQL's
SELECT json_deserialize_sql('{"error": false, "statements": [{"node": {"type": "SELECT_NODE"}}]}')
--- unreachable: bytes that are no variant
SELECT variant_bytes_to_variant('\xFF\xFF\xFF\xFF'::BLOB)
--- unreachable: bytes that are no state
SELECT finalize('\xFF\xFF'::BLOB)
--- unreachable: a list with too many values
SELECT range(1000000000000)
--- unreachable: a regular expression with too many states
SELECT regexp_matches('x', '(((((a{100}){100}){100}){100}){100})')
--- unreachable: read_csv with a comment in its name
SELECT * FROM read_/**/csv('{folder}/canary.csv')
--- unreachable: read_csv with a space that has no width in its name
SELECT * FROM read_​csv('{folder}/canary.csv')
--- unreachable: getenv with a Cyrillic letter
SELECT gеtenv('HOME')
--- unreachable: getenv in full-width letters
SELECT ｇｅｔｅｎｖ('HOME')
--- unreachable: a list with more values than there are numbers
SELECT range(9223372036854775807)
--- bounded: rows without end
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r
--- bounded: rows without end that double
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r, range(2)) SELECT count(*) FROM r
--- bounded: a text that doubles without end
WITH RECURSIVE r AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM r) SELECT max(len(s)) FROM r
--- bounded: all pairs of very many
SELECT count(*) FROM range(1000000000) a, range(1000000000) b
--- bounded: pairs that are unequal
SELECT count(*) FROM range(100000000) a(x) JOIN range(100000000) b(y) ON x <> y
--- bounded: the dataset with itself, often
SELECT count(*) FROM dataset a, dataset b, dataset c, dataset d, dataset e, dataset f, dataset g, dataset h
--- bounded: all columns of the dataset with itself, often
SELECT * FROM dataset a, dataset b, dataset c, dataset d, dataset e ORDER BY hash(a.id + b.id)
--- bounded: a large sort
SELECT range FROM range(1000000000) ORDER BY hash(range)
--- bounded: a large sort of long texts
SELECT repeat('x', 1000) || range AS x FROM range(10000000) ORDER BY hash(x)
--- bounded: a large window
SELECT sum(range) OVER (ORDER BY hash(range) ROWS BETWEEN 1000000 PRECEDING AND CURRENT ROW) FROM range(100000000)
--- bounded: many distinct values
SELECT count(DISTINCT range) FROM range(1000000000)
--- bounded: many groups
SELECT hash(range) AS h, list(range) FROM range(1000000000) GROUP BY h
--- bounded: very many values in a list
SELECT list(range) FROM range(1000000000)
--- bounded: very many long texts in a list
SELECT list(repeat('x', 1000)) FROM range(10000000)
--- bounded: one very long text
SELECT string_agg(repeat('x', 100000), '') FROM range(100000)
--- bounded: one very long JSON
SELECT json_group_array(repeat('x', 100000)) FROM range(100000)
--- bounded: a histogram of everything
SELECT histogram(range) FROM range(1000000000)
--- bounded: the same row without end
SELECT count(*) FROM repeat(repeat('x', 10000000), 1000000000)
--- bounded: all values of a very long series
SELECT max(x) FROM generate_series(1, 1000000000000) t(x)
--- bounded: a series by seconds
SELECT count(*) FROM generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', INTERVAL 1 SECOND)
--- bounded: a product of lists
SELECT count(*) FROM (SELECT unnest(range(10000)) AS a), (SELECT unnest(range(10000)) AS b), (SELECT unnest(range(10000)) AS c) WHERE a + b + c = -1
--- bounded: many sets of groups
SELECT count(*) FROM dataset GROUP BY CUBE (id, name, status, created_at, update_count, amount, "drop", "copy", load)
--- bounded: a plan that runs
EXPLAIN ANALYZE SELECT count(*) FROM range(100000000000)
--- bounded: a pivot with thousands of columns
PIVOT (SELECT range AS r FROM range(5000)) ON r USING count(*)
--- bounded: columns that double
WITH a AS (SELECT *, * FROM dataset), b AS (SELECT *, * FROM a), c AS (SELECT *, * FROM b), d AS (SELECT *, * FROM c) SELECT *, * FROM d
--- bounded: CTEs that double
WITH a AS (SELECT 1 AS x), b AS (SELECT a.x FROM a, a AS r), c AS (SELECT b.x FROM b, b AS r), d AS (SELECT c.x FROM c, c AS r), e AS (SELECT d.x FROM d, d AS r) SELECT count(*) FROM e, e AS r
--- bounded: a regular expression that others go through for ever
SELECT regexp_matches(repeat('a', 1000000), '(a*)*(a*)*b')
--- bounded: a pattern that others go through for ever
SELECT repeat('a', 5000) LIKE '%a%a%a%a%a%a%ab'
--- bounded: a list of lists of lists
SELECT list(a) FROM (SELECT list(b) AS a FROM (SELECT range(1000) AS b FROM range(1000000)) GROUP BY hash(b))
--- bounded: JSON with many levels
SELECT json_valid(repeat('[', 1000000) || repeat(']', 1000000))
--- bounded: JSON with many levels, walked through
SELECT count(*) FROM json_tree(repeat('[', 100000) || repeat(']', 100000))
--- bounded: JSON with many levels, printed
SELECT json_pretty(repeat('[', 30000) || repeat(']', 30000))
--- bounded: a long chain of UNION
SELECT 1{1000 *  UNION SELECT 1}
--- bounded: many digits
SELECT factorial(33)
--- bounded: SQL with many brackets, parsed in a query
SELECT json_serialize_sql('SELECT ' || repeat('(', 1000000) || '1' || repeat(')', 1000000))
--- bounded: a row of comments that are not empty
SELECT 1 {8000 * /* a */}
--- bounded: an enormous text
SELECT length('{90000 * x}')
--- bounded: rows without end that are distinct
WITH RECURSIVE r AS (SELECT 1 AS i UNION SELECT i + 1 FROM r) SELECT count(*) FROM r
--- bounded: all pairs whose texts are alike
SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE levenshtein(a.range::VARCHAR, b.range::VARCHAR) = 1
--- bounded: a regular expression for each pair
SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE regexp_matches(a.range::VARCHAR, '(' || b.range || ')+$')
--- bounded: hashes of hashes
SELECT max(sha256(sha256(sha256(repeat('x', 1000) || range)))) FROM range(1000000000)
--- ended: a very long text
SELECT repeat('x', 1000000000)
--- ended: the longest text
SELECT repeat('x', 4000000000)
--- ended: a text that is filled up
SELECT lpad('x', 2000000000, 'y')
--- ended: a number that is filled up
SELECT format('{:>1000000000}', 1)
--- ended: a number that is filled up in another way
SELECT printf('%1000000000d', 1)
--- ended: a list with a thousand million values
SELECT range(1000000000)
--- ended: a list that is made larger
SELECT list_resize([1], 2000000000, 7)
--- ended: a list of lists
SELECT list_transform(range(100000), lambda x: range(100000))
--- ended: a list of long texts
SELECT list_transform(range(100000000), lambda x: repeat('y', 1000))
--- ended: a sorted list
SELECT list_sort(range(50000000))
--- ended: the rows of a long list
SELECT unnest(range(1000000000))
--- ended: many long texts at once
SELECT max(md5(repeat('x', 1000000) || range)) FROM range(100000000)
--- ended: the most frequent of everything
SELECT mode(range), median(range) FROM range(1000000000)
--- ended: a sample larger than the world
SELECT * FROM dataset USING SAMPLE 1000000000 ROWS
--- ended: a text that grows a thousandfold
SELECT regexp_replace(repeat('a', 10000000), 'a', repeat('b', 1000), 'g')
--- ended: bits
SELECT bitstring('1', 2000000000)
--- ended: a distance that takes the square of time
SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))
--- ended: another such distance
SELECT damerau_levenshtein(repeat('a', 30000), repeat('b', 30000))
--- ended: a similarity that takes the square of time
SELECT jaro_winkler_similarity(repeat('ab', 500000), repeat('ba', 500000))
--- ended: a pattern that is gone through for ever
SELECT repeat('a', 5000) GLOB '*a*a*a*a*a*a*ab'
--- ended: JSON with many levels, whose structure is asked for
SELECT json_structure((repeat('[', 1000000) || repeat(']', 1000000))::JSON)
--- ended: JSON with many levels, made into a type
SELECT json_transform('1', repeat('[', 100000) || '"INT"' || repeat(']', 100000))
--- ended: JSON with many levels, merged
SELECT json_merge_patch(repeat('{"a":', 100000) || '1' || repeat('}', 100000), repeat('{"a":', 100000) || '1' || repeat('}', 100000))
--- ended: JSON with many levels, searched
SELECT json_contains(repeat('[', 100000) || repeat(']', 100000), '1')
--- ended: JSON with many levels, made into a variant
SELECT (repeat('[', 100000) || repeat(']', 100000))::JSON::VARIANT
--- ended: very many subqueries, which take the stack
SELECT 1{900 * , id IN (SELECT id FROM dataset)} FROM dataset
--- ended: half a million columns
WITH a AS (SELECT *, *, *, *, *, *, *, * FROM dataset), b AS (SELECT *, *, *, *, *, *, *, * FROM a), c AS (SELECT *, *, *, *, *, *, *, * FROM b), d AS (SELECT *, *, *, *, *, *, *, * FROM c), e AS (SELECT *, *, *, *, *, *, *, * FROM d) SELECT * FROM e
--- ended: a pivot with very many columns
PIVOT (SELECT range AS r FROM range(90000)) ON r USING count(*)
--- ended: thousands of values in IN
SELECT count(*) FROM dataset WHERE id IN ({15000 * 17, }17)
--- ended: thousands of columns
SELECT {9000 * 1, }1
--- ended: thousands of rows
VALUES {15000 * (1), }(1)
--- ended: a product of sets of groups
SELECT count(*) FROM dataset GROUP BY ROLLUP({30 * id, }id), ROLLUP({30 * name, }name)
--- ended: a recursive CTE in a recursive CTE
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + (WITH RECURSIVE s AS (SELECT 1 AS j UNION ALL SELECT j + 1 FROM s) SELECT max(j) FROM s) FROM r) FROM r
--- ended: lists without end
WITH RECURSIVE r AS (SELECT [1] AS l UNION ALL SELECT list_concat(l, l) FROM r) SELECT max(len(l)) FROM r
--- ended: a regular expression that finds very much
SELECT len(regexp_extract_all(repeat('a', 3000000), 'a'))
--- ended: a long text in a long text
SELECT length(repeat(repeat('x', 30000), 30000))
--- ended: a long list as a text
SELECT length(list_aggregate(range(100000000), 'string_agg', ','))
--- ended: a long list without its doubles
SELECT len(list_distinct(range(50000000)))
--- ended: a text in very many parts
SELECT len(string_split(repeat('a,', 100000000), ','))
--- ended: a text put together of very many parts
SELECT length(array_to_string(list_transform(range(50000000), lambda x: 'xxxxxxxxxx'), ','))
--- ended: JSON of a very long list
SELECT to_json(range(100000000))
--- ended: a distance of very long texts, for each row
SELECT sum(levenshtein(repeat('a', 50000), repeat('b', 50000 + id))) FROM dataset
--- ended: a regular expression with a number of repetitions
SELECT regexp_matches(repeat('a', 1000000), '(a{1,500}){2}b')
--- ended: a series for each value of a series
SELECT count(*) FROM range(100000000) a, LATERAL (SELECT * FROM generate_series(1, a.range)) b
--- ended: rows of lists of rows
SELECT count(*) FROM (SELECT unnest(range(100000)) FROM range(10000000))
--- ended: a list that is aggregated over and over
SELECT sum(list_aggregate(range(100000), 'sum')) FROM range(10000000)
--- ended: a list that is reduced over and over
SELECT max(list_reduce(range(1000), lambda a, b: a + b)) FROM range(100000000)
--- ended: an enormous name
SELECT 1 AS "{90000 * x}"
--- ended: rows that multiply in a recursive CTE
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT a.i FROM r a, r b, range(3)) SELECT count(*) FROM r
--- ended: all pairs, in order
SELECT a.range FROM range(1000000) a, range(1000000) b ORDER BY hash(a.range + b.range)
