//! What is worth telling about the index, one function an event.

use std::path::Path;

use forebay_store::DatasetId;

use crate::SearchError;

pub(crate) fn damaged(path: &Path, error: &rusqlite::Error) {
    let path = path.display();
    tracing::warn!(%path, %error, "the search index is damaged or of another version: it is made anew");
}

pub(crate) fn indexing_failed(error: &SearchError) {
    tracing::warn!(error = told(error), "what was kept cannot be indexed; it is tried again later");
}

pub(crate) fn dataset_failed(dataset: &DatasetId, error: &SearchError) {
    tracing::warn!(%dataset, error = told(error), "a dataset cannot be indexed");
}

pub(crate) fn vectors_failed(dataset: &DatasetId, error: &SearchError) {
    tracing::warn!(%dataset, error = told(error), "there are no vectors: it is found by its words alone");
}

pub(crate) fn texts_refused(dataset: &DatasetId, error: &SearchError) {
    tracing::warn!(
        %dataset, error = told(error),
        "no vectors can be made of a dataset, though of others: it is found by its words alone"
    );
}

pub(crate) fn texts_failed(error: &SearchError) {
    tracing::warn!(error = told(error), "what tools are for is compared by words alone");
}

pub(crate) fn removal_failed(error: &SearchError) {
    tracing::warn!(
        error = told(error),
        "vectors of removed datasets stay where they are until they can be removed"
    );
}

pub(crate) fn question_by_words(why: &str) {
    tracing::debug!(why, "a question is answered by words alone");
}

pub(crate) fn indexed(documents: u64, vectors: u64, removed: u64) {
    tracing::debug!(documents, vectors, removed, "indexed");
}

/// An error with what caused it.
pub(crate) fn told(error: &SearchError) -> String {
    let mut told = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}
