//! What is worth a line in the log.

use forebay_query::QueryError;
use forebay_store::DatasetId;

pub(crate) fn prepared(dataset: &DatasetId) {
    tracing::debug!(%dataset, "its rows are ready");
}

/// Nothing is lost: the first query tries again.
pub(crate) fn not_prepared(dataset: &DatasetId, error: &QueryError) {
    tracing::debug!(%dataset, %error, "its rows could not be made in the background");
}
