//! Why nothing can be found.

mod chroma;

use std::{io, path::PathBuf};

pub use self::chroma::{COLLECTION, ChromaError};

/// An error of the search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] forebay_store::StoreError),
    /// The index cannot be read or written.
    #[error("the index cannot be used")]
    Index(#[from] rusqlite::Error),
    /// A file of the index cannot be used.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another process is indexing, and does not end.
    #[error("another process is indexing; try again later")]
    BeingIndexed,
    /// Whoever asked does not want the answer any more.
    #[error("interrupted")]
    Interrupted,
    /// An embedder has not given a vector for each text.
    #[error("{expected} vectors were asked for, and {given} given")]
    WrongVectors {
        /// How many were asked for.
        expected: usize,
        /// How many there are.
        given: usize,
    },
    /// There are no vectors.
    #[error(transparent)]
    Embed(#[from] forebay_embed::EmbedError),
    /// The index is not made anew by an embedder that fails.
    #[error(
        "the embedder fails, and the index stays as it is; try again when it works, or set \
         `search.embedder = \"none\"` to find by words alone"
    )]
    EmbedderFails(#[source] Box<SearchError>),
    /// A service cannot be asked.
    #[error(transparent)]
    Service(#[from] forebay_services::ServiceError),
    /// The vectors in Chroma cannot be had.
    #[error(transparent)]
    Chroma(#[from] ChromaError),
}
