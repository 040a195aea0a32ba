//! What is worth a line in the log.

use forebay_intercept::CaptureError;
use forebay_proxy::{
    chain::{HookError, with_causes},
    router::UpstreamName,
    session::Call,
};
use forebay_query::QueryError;
use forebay_store::{DatasetId, Job, JobId, StoreError};

use crate::ToolError;

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

pub(crate) fn pages_not_kept(tool: &str, error: &ToolError) {
    let why = error.told();
    tracing::warn!(tool, why, "the pages that were fetched cannot be kept as a dataset");
}

/// The client is given their beginning.
pub(crate) fn logs_not_kept(call: &Call, error: &CaptureError) {
    let why = with_causes(error);
    tracing::warn!(
        tool = call.tool(),
        why,
        "what a program has logged cannot be kept as a dataset"
    );
}

/// What datasets hold has been put into the arguments of a call.
pub(crate) fn references_resolved(call: &Call, datasets: usize, bytes: usize) {
    tracing::debug!(upstream = %call.upstream, tool = call.tool(), datasets, bytes, "references resolved");
}

/// A call goes on without its client.
pub(crate) fn job_begun(call: &Call, job: &JobId) {
    tracing::info!(upstream = %call.upstream, tool = call.tool(), %job, "the call has become a job");
}

pub(crate) fn job_ended(job: &Job) {
    tracing::info!(job = %job.id, server = job.server, tool = job.tool, "the job has ended");
}

/// The client waits for its call as for any other.
pub(crate) fn job_not_begun(call: &Call, error: &StoreError) {
    let why = with_causes(error);
    tracing::warn!(upstream = %call.upstream, tool = call.tool(), why, "the call cannot become a job");
}

/// It is told as it came.
pub(crate) fn job_result_not_kept(call: &Call, error: &HookError) {
    let why = with_causes(&**error);
    tracing::warn!(upstream = %call.upstream, tool = call.tool(), why, "the result of a job cannot be kept");
}

/// This process knows how the job ended, and others take it for running until that can be written.
pub(crate) fn job_not_written(job: &JobId, error: &StoreError) {
    let why = with_causes(error);
    tracing::warn!(%job, why, "how the job ended cannot be written down");
}
