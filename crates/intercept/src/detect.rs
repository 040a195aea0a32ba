//! Stage 1 of 5: decides whether a result is too large for the model.

use std::io;

use forebay_proxy::session::Call;

use crate::{
    events,
    policy::Policy,
    result::ToolResult,
    tokens::{self, MAX_TOKEN_BYTES},
};

/// What makes a result too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    /// How long the result is, as JSON.
    pub(crate) bytes: u64,
}

/// Returns how heavy `result` is if that is more than `policy` allows.
pub(crate) fn oversized(
    result: &ToolResult,
    call: &Call,
    policy: &Policy,
) -> io::Result<Option<Weight>> {
    // A failure is for the model to read as it is.
    if result.is_error {
        return Ok(None);
    }
    let threshold = policy.threshold_tokens;
    let bytes: u64 = result.readable().map(|span| span.end - span.start).sum();
    let weight = Weight { bytes: result.whole.bytes() };
    if bytes <= threshold {
        return Ok(None);
    }
    // An escape of six bytes may stand for one.
    if bytes / 6 > threshold.saturating_mul(MAX_TOKEN_BYTES) {
        return Ok(Some(weight));
    }
    let mut left = threshold;
    for span in result.readable() {
        let json = result.json_at(span)?;
        let text = match json.first() {
            Some(b'"') => serde_json::from_slice(&json).unwrap_or_else(|_| lossy(&json)),
            _ => lossy(&json),
        };
        match tokens::up_to(left, &text) {
            Some(count) => left -= count,
            None => return Ok(Some(weight)),
        }
    }
    let count = threshold - left;
    if count * 5 >= threshold * 4 {
        events::near_threshold(call, count, threshold);
    }
    Ok(None)
}

fn lossy(json: &[u8]) -> String {
    String::from_utf8_lossy(json).into_owned()
}
