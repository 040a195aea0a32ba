//! What can go wrong with the whole of it. What is wrong with one file is told of that file.

use std::{io, path::PathBuf};

/// Why nothing could be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientsError {
    /// Nobody has heard of this client.
    #[error("there is no client `{name}`; known are {known}")]
    UnknownClient {
        /// What was asked for.
        name: String,
        /// All that could have been.
        known: String,
    },
    /// What is remembered of earlier installs cannot be read.
    #[error(
        "`{}` cannot be read; the files as they were before Forebay was installed are in `{}`",
        path.display(),
        path.with_extension("").display()
    )]
    Ledger {
        /// Where it is.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file of ours cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}
