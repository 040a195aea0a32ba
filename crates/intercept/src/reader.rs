//! Whoever reads a result that is kept, and says what is in it: a model, for one.
//!
//! What it says is a layer on top of the summary, and marked as such. The summary stays a function of the
//! bytes and the policy, and goes out alone if a reader has nothing to say in time.

use std::time::Instant;

use forebay_proxy::{chain::Caller, session::Call};
use forebay_records::Profile;
use forebay_store::{Dataset, Insight, Mapped, Viewer};

/// Reads what is kept.
pub trait Reader: Send + Sync {
    /// A result whose texts have more bytes than this is read, and kept for that even if it is not too
    /// large.
    fn threshold_bytes(&self) -> u64;

    /// Says what is in a result, as far as that can be said in time.
    fn read(&self, asked: &Asked<'_>) -> Reading;
}

/// A result that is to be read.
pub struct Asked<'a> {
    /// The call that it answers.
    pub call: &'a Call,
    /// Who waits for it.
    pub caller: &'a Caller,
    /// When it came.
    pub arrived: Instant,
    /// For whom it is kept, and what else they may see.
    pub viewer: &'a Viewer,
    /// What it is kept as; it does not exist yet.
    pub dataset: &'a Dataset,
    /// What is known of it.
    pub profile: &'a Profile,
    /// The payload that the profile is about.
    pub payload: &'a Mapped,
}

/// What became of a request to read something.
pub struct Reading {
    /// What was said in time.
    pub insight: Option<Insight>,
    /// To be called when the dataset exists: keeps what was said with it, now or when it comes. Dropped if
    /// the result is not kept after all.
    pub then: Box<dyn FnOnce(&Dataset) + Send>,
}

impl Reading {
    /// Nothing is said, nor will be.
    pub fn nothing() -> Self {
        Self { insight: None, then: Box::new(|_| {}) }
    }
}
