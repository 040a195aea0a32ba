//! What is counted about models: how often they were asked, what came of it, and what it cost.

use std::{collections::BTreeMap, time::Duration};

use forebay_store::{Shelf, Tally};
use parking_lot::Mutex;

use crate::events;

/// What begins the subject of all tallies about models.
pub const SUBJECT: &str = "model:";

/// Counts that have not been written.
#[derive(Debug)]
pub(crate) struct Tallies {
    subject: String,
    pending: Mutex<BTreeMap<&'static str, u64>>,
    /// Locked until what was taken is written, so that whoever comes second waits for it.
    writing: Mutex<()>,
}

impl Tallies {
    /// The counts of a provider.
    pub(crate) fn of(provider: &str) -> Self {
        let subject = format!("{SUBJECT}{provider}");
        Self { subject, pending: Mutex::default(), writing: Mutex::default() }
    }

    /// Counts something once.
    pub(crate) fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    /// Adds to what is counted.
    pub(crate) fn add(&self, what: &'static str, count: u64) {
        if count > 0 {
            *self.pending.lock().entry(what).or_default() += count;
        }
    }

    /// Adds to how long somebody has waited.
    pub(crate) fn waited(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.add("waited_micros", micros);
    }

    /// Writes down what has been counted; returns when it is written, or could not be.
    pub(crate) fn write_down(&self, kept_on: &Shelf) {
        let _turn = self.writing.lock();
        let taken = std::mem::take(&mut *self.pending.lock());
        if taken.is_empty() {
            return;
        }
        let tallies: Vec<Tally> = taken
            .iter()
            .map(|(what, count)| Tally {
                subject: self.subject.clone(),
                what: (*what).to_owned(),
                count: *count,
            })
            .collect();
        let written = kept_on.store().and_then(|store| store.add_tallies(&tallies));
        if let Err(error) = written {
            // To be tried again with the next ones.
            events::counts_not_written(&error);
            let mut pending = self.pending.lock();
            for (what, count) in taken {
                *pending.entry(what).or_default() += count;
            }
        }
    }
}
