//! What is worth a line in the log.

use forebay_proxy::router::UpstreamName;
use forebay_query::QueryError;
use forebay_store::DatasetId;

pub(crate) fn prepared(dataset: &DatasetId) {
    tracing::debug!(%dataset, "its rows are ready");
}

/// Nothing is lost: the first query tries again.
pub(crate) fn not_prepared(dataset: &DatasetId, error: &QueryError) {
    tracing::debug!(%dataset, %error, "its rows could not be made in the background");
}

/// An upstream's tool has the name of one of ours.
pub(crate) fn tool_renamed(upstream: &UpstreamName, name: &str, other: &str) {
    tracing::warn!(
        %upstream,
        "the upstream has a tool `{name}`, as Forebay has; the upstream's is offered as `{other}`; \
         to have it keep its name, set injected_prefix"
    );
}
