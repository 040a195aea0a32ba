//! Whoever wants to know what passes: numbers, traces.

use crate::protocol::Call;

/// Is told of what passes. All of it must be quick: the relay waits.
pub trait Telemetry: Send + Sync {
    /// A tool call is answered.
    fn answered(&self, call: &Call, outcome: Outcome);

    /// A result was kept, which has so many bytes, and so many tokens more than its summary.
    fn kept(&self, _call: &Call, _bytes: u64, _tokens_kept_out: u64) {}

    /// A hook has failed, after which something passed as it came.
    fn failed_open(&self, _interceptor: &'static str, _hook: &str) {}
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is a result.
    Result,
    /// There is an error in its place.
    Error,
}
