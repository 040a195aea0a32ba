//! What can go wrong with the store.

use std::{io, path::PathBuf};

use crate::DatasetId;

/// An error of the store's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or directory could not be used.
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
    /// The catalog could not be used.
    #[error("the catalog cannot be used")]
    Catalog(#[source] rusqlite::Error),
    /// The catalog was removed while it was being opened.
    #[error("the catalog has been removed while it was being opened; try again")]
    CatalogGone,
    /// Another process is removing and compressing what is old.
    #[error("another process is tidying up; try again later")]
    BeingTidied,
    /// Another process, or thread, is changing a dataset.
    #[error("`{0}` is being changed by another; try again")]
    BeingChanged(DatasetId),
    /// A dataset is not one that grows.
    #[error("`{0}` is complete, and cannot grow")]
    Complete(DatasetId),
    /// A payload is not what was kept.
    #[error("the data file `{}` is damaged: {how}", path.display())]
    Damaged {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        how: &'static str,
    },
    /// A payload's file is gone.
    #[error("the data file `{}` is missing", .0.display())]
    Missing(PathBuf),
    /// Whoever asked does not want the answer any more.
    #[error("interrupted")]
    Interrupted,
    /// A metadata file is damaged.
    #[error(
        "the metadata file `{}` is damaged; `forebay datasets verify --repair` sets it aside",
        path.display()
    )]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A dataset would have more tags than one can have.
    #[error("`{id}` would have more than {most} tags; take some from it with `--remove`")]
    TooManyTags {
        /// The dataset.
        id: DatasetId,
        /// How many one can have.
        most: usize,
    },
    /// There is no dataset with that name.
    #[error("there is no dataset `{0}`; it may have been deleted, or removed by age or quota")]
    Unknown(DatasetId),
    /// No free name was found.
    #[error("no free name for a dataset was found")]
    NoFreeName,
}

/// Says what was tried when a file operation fails.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &std::path::Path) -> Result<T, StoreError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &std::path::Path) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::File { doing, path: path.to_owned(), source })
    }
}

impl StoreError {
    /// The error that an error of reading stands for, if the file could be read and is wrong.
    pub(crate) fn of_reading(error: io::Error, path: &std::path::Path) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(source) => Self::File { doing: "read", path: path.to_owned(), source },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Catalog(error)
    }
}
