//! A DuckDB in memory that can reach nothing but the files it is told.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
    thread,
};

use duckdb::{Config, Connection};

use crate::{
    Column, FileForm, Limits, QueryError,
    columns::{literal, quoted},
    guard::Form,
    json,
};

/// The table for a result that must be made before it can be looked at.
const SETTLED: &str = "forebay_settled";

/// Gives the database a name that no server has: one may be called `memory`, as databases are that are
/// in memory, and its tables could not be named.
const RENAME: &str =
    "ATTACH ':memory:' AS \"what was kept\"; USE \"what was kept\"; DETACH memory;";

/// A database, and what it may read and write.
pub(crate) struct Engine {
    pub(crate) connection: Connection,
    paths: BTreeSet<PathBuf>,
}

/// A name, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(crate) select: String,
}

/// The first rows of a result.
pub(crate) struct Found {
    pub(crate) columns: Vec<Column>,
    /// Each a JSON array.
    pub(crate) rows: Vec<String>,
    pub(crate) has_more: bool,
}

impl Engine {
    /// A database for what a model writes: it reaches `paths` and the spill directory, nothing else,
    /// and cannot be told otherwise.
    pub(crate) fn guarded(
        limits: &Limits,
        spill: &Path,
        paths: BTreeSet<PathBuf>,
    ) -> Result<Self, QueryError> {
        let engine = Self::trusted(limits, spill, paths)?;
        let list: Vec<String> =
            engine.paths.iter().map(|path| literal(&path.to_string_lossy())).collect();
        engine.set(&format!("allowed_paths = [{}]", list.join(", ")))?;
        for setting in [
            "enable_external_access = false",
            "allow_community_extensions = false",
            "allow_persistent_secrets = false",
            "lock_configuration = true",
        ] {
            engine.set(setting)?;
        }
        Ok(engine)
    }

    /// A database for what we write ourselves.
    pub(crate) fn trusted(
        limits: &Limits,
        spill: &Path,
        paths: BTreeSet<PathBuf>,
    ) -> Result<Self, QueryError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let config = Config::default()
            .with("threads", limits.threads.clamp(1, cores).to_string())
            .and_then(|config| config.with("memory_limit", format!("{}B", limits.memory_bytes)))
            .and_then(|config| config.with("temp_directory", spill.to_string_lossy()))
            .and_then(|config| {
                config.with("max_temp_directory_size", format!("{}B", limits.spill_bytes))
            })
            .and_then(|config| config.with("autoinstall_known_extensions", "false"))
            .and_then(|config| config.with("autoload_known_extensions", "false"))
            .map_err(failure)?;
        let connection = Connection::open_in_memory_with_flags(config).map_err(failure)?;
        connection.execute_batch(RENAME).map_err(failure)?;
        let engine = Self { connection, paths };
        // Only with the library for time zones, which the prebuilt DuckDB has.
        let _ = engine.set("TimeZone = 'UTC'");
        Ok(engine)
    }

    /// True if it may reach all of `paths`.
    pub(crate) fn reaches(&self, paths: &BTreeSet<PathBuf>) -> bool {
        paths.is_subset(&self.paths)
    }

    fn set(&self, setting: &str) -> Result<(), QueryError> {
        self.connection.execute_batch(&format!("SET {setting}")).map_err(failure)
    }

    /// Makes the names of a query stand for what they mean.
    pub(crate) fn define(&self, views: &[View]) -> Result<(), QueryError> {
        let mut batch = String::new();
        for View { schema, name, select } in views {
            let mut full = quoted(name);
            if let Some(schema) = schema {
                let schema = quoted(schema);
                let _ = writeln!(batch, "CREATE SCHEMA IF NOT EXISTS {schema};");
                full = format!("{schema}.{full}");
            }
            let _ = writeln!(batch, "CREATE OR REPLACE VIEW {full} AS {select};");
        }
        self.connection.execute_batch(&batch).map_err(failure)
    }

    /// The query to run in place of one whose columns are only known once its data has been read: it
    /// reads a table that is made of it.
    pub(crate) fn settled(&self, form: Form, sql: &str) -> duckdb::Result<String> {
        if form != Form::Pivot {
            return Ok(sql.to_owned());
        }
        self.connection
            .execute_batch(&format!("CREATE TEMP TABLE {SETTLED} AS FROM (\n{sql}\n)"))?;
        Ok(format!("FROM {SETTLED}"))
    }

    /// The first rows of a query.
    pub(crate) fn select(
        &self,
        form: Form,
        sql: &str,
        max_rows: u64,
        max_bytes: u64,
    ) -> duckdb::Result<Found> {
        if form == Form::Explain {
            return self.explain(sql);
        }
        let columns = self.describe(sql)?;
        let one_more = max_rows.saturating_add(1);
        // The line break ends a comment that the query may end with.
        let wrapped = format!(
            "SELECT CAST(json_array(*COLUMNS(*)) AS VARCHAR) FROM (\n{sql}\n) LIMIT {one_more}"
        );
        let mut statement = self.connection.prepare(&wrapped)?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for row in statement.query_map([], |row| row.get::<_, String>(0))? {
            let row = json::valid(row?);
            bytes += row.len() as u64;
            let is_too_much = rows.len() as u64 >= max_rows || bytes > max_bytes;
            if is_too_much && !rows.is_empty() {
                return Ok(Found { columns, rows, has_more: true });
            }
            rows.push(row);
        }
        Ok(Found { columns, rows, has_more: false })
    }

    /// Writes the first rows of a query to a file, and says how many there are.
    pub(crate) fn write(
        &self,
        sql: &str,
        columns: usize,
        file: &Path,
        form: FileForm,
        max_rows: u64,
    ) -> duckdb::Result<u64> {
        let options = match form {
            FileForm::Parquet => parquet(columns > WIDE),
            FileForm::Csv => "FORMAT csv, HEADER true".to_owned(),
            FileForm::Json => "FORMAT json, ARRAY true".to_owned(),
            FileForm::Ndjson => "FORMAT json, ARRAY false".to_owned(),
        };
        let file = literal(&file.to_string_lossy());
        let copy =
            format!("COPY (SELECT * FROM (\n{sql}\n) LIMIT {max_rows}) TO {file} ({options})");
        self.connection.query_row(&copy, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    }

    /// True if a query gives more rows than these.
    pub(crate) fn has_more(&self, sql: &str, rows: u64) -> duckdb::Result<bool> {
        let next = format!("SELECT 1 FROM (\n{sql}\n) LIMIT 1 OFFSET {rows}");
        self.connection.prepare(&next)?.exists([])
    }

    /// The columns that a query gives.
    pub(crate) fn describe(&self, sql: &str) -> duckdb::Result<Vec<Column>> {
        let mut statement =
            self.connection.prepare(&format!("DESCRIBE SELECT * FROM (\n{sql}\n)"))?;
        let columns =
            statement.query_map([], |row| Ok(Column { name: row.get(0)?, kind: row.get(1)? }))?;
        columns.collect()
    }

    fn explain(&self, sql: &str) -> duckdb::Result<Found> {
        let mut statement = self.connection.prepare(sql)?;
        let lines = statement.query_map([], |row| row.get::<_, String>(1))?;
        let plan = lines.collect::<duckdb::Result<Vec<String>>>()?.join("\n");
        let rows = plan.lines().map(|line| serde_json::json!([line]).to_string()).collect();
        let columns = vec![Column { name: "plan".to_owned(), kind: "VARCHAR".to_owned() }];
        Ok(Found { columns, rows, has_more: false })
    }
}

/// Tables with more columns than this are wide: each column takes memory, however few values it has.
pub(crate) const WIDE: usize = 300;

/// How a Parquet file is written, `is_lean` with little memory for each column.
pub(crate) fn parquet(is_lean: bool) -> String {
    const ROW_GROUP: usize = 122_880;
    /// The least that a row group can have.
    const VECTOR: usize = 2_048;
    /// Every column has a dictionary of its own, which is made as large as it may be.
    const WIDE_DICTIONARY: usize = 4_096;
    let sizes = if is_lean {
        format!("ROW_GROUP_SIZE {VECTOR}, STRING_DICTIONARY_PAGE_SIZE_LIMIT {WIDE_DICTIONARY}")
    } else {
        format!("ROW_GROUP_SIZE {ROW_GROUP}")
    };
    format!("FORMAT parquet, COMPRESSION zstd, {sizes}")
}

/// An error that no query should cause.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn failure(error: duckdb::Error) -> QueryError {
    QueryError::Failed(readable(&error.to_string()))
}

/// What DuckDB says, without what our own wrapping around the query has added to it.
pub(crate) fn readable(text: &str) -> String {
    // What it advises is to change settings.
    let text = text.split("\n\nPossible solutions:").next().unwrap_or(text);
    let text = text.split("\n\nLINE ").next().unwrap_or(text).trim();
    let text = text.split("\nLINE ").next().unwrap_or(text).trim();
    // A name or a value in it may have lines of its own, which must not look like ours.
    let mut lines = text.split('\n');
    let mut readable = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        readable.push(if line.trim_start().starts_with("Candidate ") { '\n' } else { ' ' });
        readable.push_str(line);
    }
    readable
}
