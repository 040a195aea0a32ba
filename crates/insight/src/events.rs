//! What is worth telling of.

use forebay_proxy::session::Call;
use forebay_store::{DatasetId, StoreError};

use crate::{breaker::Barred, failure::Failure};

/// A model has said nothing that could be used.
pub(crate) fn nothing_said(provider: &str, dataset: &DatasetId, why: &Failure) {
    tracing::warn!(provider, %dataset, %why, "the model has said nothing of a result; its summary stands alone");
}

/// A question was not asked.
pub(crate) fn not_asked(provider: &str, call: &Call, barred: Barred) {
    let why = match barred {
        Barred::Busy => "as many questions as may be are under way",
        Barred::Paused => "the last questions have all failed",
    };
    let tool = call.tool().unwrap_or_default();
    tracing::debug!(provider, tool, why, "the model was not asked about a result");
}

/// Questions were open when the program ended.
pub(crate) fn given_up(provider: &str, questions: u64) {
    tracing::debug!(provider, questions, "the program ends before the model has answered");
}

/// A model has answered, but not in time.
pub(crate) fn late(provider: &str, dataset: &DatasetId) {
    tracing::debug!(provider, %dataset, "the model answered after the summary had gone out");
}

/// Some of what a model said was not true.
pub(crate) fn dropped(provider: &str, dataset: &DatasetId, lines: u64) {
    tracing::info!(provider, %dataset, lines, "what the model said contradicts the facts, and was left out");
}

/// What a model said could not be kept.
pub(crate) fn not_kept(dataset: &DatasetId, error: &StoreError) {
    tracing::warn!(%dataset, %error, "what the model said of a result cannot be kept");
}

/// Counts could not be written.
pub(crate) fn counts_not_written(error: &StoreError) {
    tracing::debug!(%error, "what was asked of models is counted later");
}
