//! What is worth telling about the five stages, one function an event.

use forebay_proxy::{chain::HookError, session::Call};
use forebay_store::DatasetId;

use crate::stopwatch::Stopwatch;

pub(crate) fn result_kept(call: &Call, id: &DatasetId, bytes: u64, tokens: u64) {
    tracing::info!(tool = call.tool(), upstream = %call.upstream, %id, bytes, tokens, "result kept");
}

pub(crate) fn stages(call: &Call, bytes: u64, times: &Stopwatch) {
    tracing::trace!(tool = call.tool(), bytes, %times, "stages");
}

pub(crate) fn near_threshold(call: &Call, tokens: u64, threshold: u64) {
    tracing::info!(tool = call.tool(), upstream = %call.upstream, tokens, threshold, "a result is near the threshold");
}

pub(crate) fn counts_not_written(error: &HookError) {
    tracing::info!(%error, "cannot write down what passed; to be tried again");
}

pub(crate) fn result_refused(call: &Call, bytes: u64, why: &str) {
    tracing::warn!(tool = call.tool(), upstream = %call.upstream, bytes, "{why}; answered with an error");
}
