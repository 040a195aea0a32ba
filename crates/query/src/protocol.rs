//! What is said between a [`crate::Service`] and its workers: JSON, one message on each line.

use std::{path::PathBuf, time::Duration};

use forebay_store::DatasetId;
use serde::{Deserialize, Serialize};

use crate::error::Kind;

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

/// What a worker says. Rows come in between, each as a JSON array.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Say {
    Progress {
        done: f64,
        message: String,
    },
    /// All rows are there, and the query runs.
    Running,
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
