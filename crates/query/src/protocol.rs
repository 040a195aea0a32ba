//! What is said between a [`crate::Service`] and its workers: JSON, one message on each line.

use std::{
    fmt,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use forebay_store::{DatasetId, Viewer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{error::Kind, plain::plain};

/// What a query may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Threads; never more than there are cores.
    pub threads: usize,
    /// What may be written to disk where the memory is not enough, in bytes.
    pub spill_bytes: u64,
    /// How long it may run.
    pub time: Duration,
    /// How long a worker waits for something to do before it ends.
    pub idle: Duration,
    /// How many rows a result may have that is kept.
    pub max_rows: u64,
    /// How long the file of a result may be that is kept.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 1_000_000_000,
            threads: 4,
            spill_bytes: 10_000_000_000,
            time: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            max_rows: 1_000_000,
            max_bytes: 1_000_000_000,
        }
    }
}

/// The form of a file that a result is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileForm {
    /// Apache Parquet, compressed.
    Parquet,
    /// Comma-separated, with a header.
    Csv,
    /// A JSON array of objects.
    Json,
    /// A JSON object on each line.
    Ndjson,
}

/// A question for a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// The store's directory.
    pub(crate) home: PathBuf,
    /// Whoever asks.
    pub(crate) viewer: Viewer,
    pub(crate) limits: Limits,
    pub(crate) what: What,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// Makes the rows of a dataset's tables, if they are not there.
    Rows { dataset: DatasetId },
    /// Tells the columns of a query, which does not run.
    Columns { query: Query },
    /// Runs a query and gives its first rows.
    Select { query: Query, max_rows: u64, max_bytes: u64 },
    /// Runs a query and writes its rows to a file that does not exist.
    Write { query: Query, file: PathBuf, form: FileForm, max_rows: u64 },
}

/// A query, and what its names stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The SQL.
    pub sql: String,
    /// What `dataset` and `data` stand for.
    pub dataset: Option<DatasetId>,
    /// Whether tables have the columns [`PLACE`] and [`NUMBER`], too.
    pub with_places: bool,
}

/// The column that says where a record begins in its payload.
pub const PLACE: &str = "__at";

/// More rows than any result has.
pub const ALL_ROWS: u64 = (i64::MAX - 1).cast_unsigned();

/// The column that counts the records of a table, from 0 on.
pub const NUMBER: &str = "file_row_number";

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type, as DuckDB names it.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The dataset that the name of a tool in a query stood for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name, as it was written.
    pub name: String,
    /// The dataset.
    pub dataset: DatasetId,
    /// When it was kept.
    pub kept: Timestamp,
    /// Whether it was kept in another session than that of whoever asks.
    pub is_of_another_session: bool,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, dataset, kept, is_of_another_session } = self;
        let kept = kept.strftime("%Y-%m-%d %H:%M UTC");
        write!(formatter, "{} is {dataset}, kept {kept}", plain(name))?;
        if *is_of_another_session {
            formatter.write_str(" in another session")?;
        }
        Ok(())
    }
}

/// What a worker says. Rows come in between, each as a JSON array.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Say {
    Progress {
        done: f64,
        message: String,
    },
    /// The query may run; the rows that it needs are made.
    Preparing,
    /// All rows are there, and the query runs.
    Running,
    /// What the names of tools stand for.
    Sources(Vec<Source>),
    Columns(Vec<Column>),
    End {
        rows: u64,
        has_more: bool,
    },
    Error {
        kind: Kind,
        text: String,
    },
}

/// How long making rows may take.
pub(crate) const MAX_PREPARATION: Duration = Duration::from_secs(600);

/// What a worker is told besides questions.
pub(crate) const CANCEL: &str = "cancel";

/// Says something to whoever has asked, at once.
pub(crate) fn say(said: &Say) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write_line(&mut out, said)?;
    out.flush()
}

/// Writes what is said as a line.
pub(crate) fn write_line(out: &mut dyn Write, said: &Say) -> io::Result<()> {
    serde_json::to_writer(&mut *out, said)?;
    out.write_all(b"\n")
}
