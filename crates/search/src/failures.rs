//! Failures of what makes vectors and of what keeps them, counted by the day beside everything else that is.

use std::collections::BTreeMap;

use forebay_store::{Shelf, Store, Tally};
use parking_lot::Mutex;

use crate::{ChromaError, SearchError};

/// The subject of all tallies of failures.
pub const FAILURES: &str = "search_failures";
/// What is counted of it: what makes vectors has failed, or was late.
pub const OF_EMBEDDER: &str = "embedder";
/// Chroma has not answered, or has refused.
pub const OF_CHROMA: &str = "chroma";

/// Failures that have been counted, and are not written down yet.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    pending: Mutex<BTreeMap<&'static str, u64>>,
    /// Locked until what was taken is written, so that whoever comes second waits for it.
    pub(crate) writing: Mutex<()>,
}

impl Failures {
    pub(crate) fn count(&self, whose: &'static str) {
        *self.pending.lock().entry(whose).or_default() += 1;
    }

    /// Writes down what has been counted, where that can be written and something has been kept.
    pub(crate) fn write_down(&self, kept_on: &Shelf) {
        let _turn = self.writing.lock();
        let taken = std::mem::take(&mut *self.pending.lock());
        if taken.is_empty() || !has_store(kept_on) {
            return;
        }
        let tallies = taken.into_iter().map(|(what, count)| Tally {
            subject: FAILURES.to_owned(),
            what: what.to_owned(),
            count,
        });
        let tallies: Vec<Tally> = tallies.collect();
        // What cannot be written is not counted: an answer is worth more than a number.
        let _ = kept_on.store().and_then(|store| store.add_tallies(&tallies));
    }
}

/// Whether something has been kept. Where nothing has been, nothing is made.
pub(crate) fn has_store(kept_on: &Shelf) -> bool {
    let home = kept_on.home();
    home.join("datasets").is_dir() && Store::can_write(home)
}

/// Whose failure an error is.
pub(crate) fn whose(error: &SearchError) -> Option<&'static str> {
    match error {
        SearchError::Embed(_)
        | SearchError::WrongVectors { .. }
        | SearchError::EmbedderFails(_) => Some(OF_EMBEDDER),
        // It is made when something is put there.
        SearchError::Chroma(ChromaError::NotThere) => None,
        SearchError::Chroma(_) | SearchError::Service(_) => Some(OF_CHROMA),
        SearchError::Store(_)
        | SearchError::Index(_)
        | SearchError::File { .. }
        | SearchError::BeingIndexed
        | SearchError::Interrupted => None,
    }
}
