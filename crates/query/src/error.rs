//! What can go wrong with a query, in words that say what to do.

use std::{io, time::Duration};

use forebay_store::StoreError;
use serde::{Deserialize, Serialize};

/// An error of a query's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The library is missing or broken.
    #[error("DuckDB's library cannot be loaded: {0}")]
    Library(String),
    /// The query cannot run as it is: what is wrong, and what to try.
    #[error("{0}")]
    Refused(String),
    /// It took too long.
    #[error(
        "The query was stopped after {} s. Ask for less at a time: filter or aggregate first, join on \
         equal keys, or set a LIMIT.",
        .0.as_secs()
    )]
    Late(Duration),
    /// What it gives is not a table: a plan.
    #[error("A plan cannot be written to a file; leave EXPLAIN out.")]
    NotKept,
    /// It was cancelled.
    #[error("The query was cancelled.")]
    Cancelled,
    /// The worker ended before it had answered.
    #[error(
        "The query engine had to be ended: the query took more memory or stack than it may have, by much \
         data at once or by JSON that is nested very deeply. Everything that was kept is safe; ask for \
         less at a time, and read such JSON with read-saved-dataset."
    )]
    Ended,
    /// The worker ended while it made rows.
    #[error(
        "The records could not be made into a table: reading them took more memory or stack than the \
         query engine may have. The query is not the reason; read-saved-dataset reads the text itself, \
         with lines, bytes or grep."
    )]
    NotPrepared,
    /// The worker does not go on.
    #[error("The query engine was stopped from outside, and has been ended. Try again.")]
    Stopped,
    /// The worker could not be started.
    #[error("The query engine cannot be started")]
    NotStarted(#[source] io::Error),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be used.
    #[error("The query engine could not use a file")]
    File(#[from] io::Error),
    /// Something that no query should cause.
    #[error("The query engine failed: {0}")]
    Failed(String),
}

/// What a worker says of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Refused,
    Late,
    NotKept,
    Cancelled,
    Other,
}

impl QueryError {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Refused(_) | Self::Store(StoreError::Unknown(_)) => Kind::Refused,
            Self::Late(_) => Kind::Late,
            Self::NotKept => Kind::NotKept,
            Self::Cancelled => Kind::Cancelled,
            _ => Kind::Other,
        }
    }

    pub(crate) fn told(kind: Kind, text: String, limit: Duration) -> Self {
        match kind {
            Kind::Refused => Self::Refused(text),
            Kind::Late => Self::Late(limit),
            Kind::NotKept => Self::NotKept,
            Kind::Cancelled => Self::Cancelled,
            Kind::Other => Self::Refused(text),
        }
    }
}
