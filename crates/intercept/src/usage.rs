//! Counts what passes, and has the counts written down now and then.
//!
//! Counting is done in memory, on the relay's own thread. What has been counted is written after
//! each capture, some seconds after anything else, and when the session is over; so a process that
//! is killed loses the last seconds' counts at most, and never a captured result's.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use forebay_proxy::{chain::HookError, router::UpstreamName, session::Call};
use forebay_store::{Counts, Dataset};
use serde_json::Value;

use crate::events;

/// How long counts wait for others to be written with.
const PATIENCE: Duration = Duration::from_secs(5);

/// The counts of a session.
pub struct Usage(Arc<Shared>);

struct Shared {
    pending: Mutex<Pending>,
    changed: Condvar,
    /// Writes the counts of an upstream's tool. Locked until they are written, so that whoever
    /// comes second waits for it.
    write: Mutex<Box<Write>>,
}

type Write = dyn FnMut(&str, &str, Counts) -> Result<(), HookError> + Send;

/// What has been counted and not been written.
#[derive(Default)]
struct Pending {
    // An entry stays when it has been written: counting a known tool allocates nothing.
    counts: HashMap<UpstreamName, HashMap<String, Counts>>,
    is_waiting: bool,
    is_over: bool,
}

impl Usage {
    /// Counts that are handed to `write` by upstream and tool, to be added to those before. It is
    /// not called before there is something to write.
    pub fn new(
        write: impl FnMut(&str, &str, Counts) -> Result<(), HookError> + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            pending: Mutex::default(),
            changed: Condvar::new(),
            write: Mutex::new(Box::new(write)),
        });
        let writer = shared.clone();
        // Without the thread, counts wait for the next capture or the end.
        let _ = thread::Builder::new()
            .name("usage".to_owned())
            .spawn(move || writer.write_now_and_then());
        Self(shared)
    }

    /// Writes what has been counted; returns when it is written, or could not be.
    pub fn write_down(&self) {
        self.0.write_down();
    }

    /// Counts a result.
    pub(crate) fn saw(&self, call: &Call, bytes: u64) {
        self.count(call, Counts { results: 1, bytes, ..Counts::default() });
    }

    /// Counts a result that was captured, and writes that down at once.
    pub(crate) fn captured(&self, call: &Call, dataset: &Dataset, summary: &str) {
        let tokens = dataset.metadata().description.more.get("tokens");
        let captured = Counts {
            captured: 1,
            captured_tokens: tokens.and_then(Value::as_u64).unwrap_or_default(),
            given_tokens: crate::tokens(summary),
            ..Counts::default()
        };
        self.count(call, captured);
        self.write_down();
    }

    fn count(&self, call: &Call, counts: Counts) {
        let Some(tool) = call.tool() else { return };
        let mut pending = self.0.pending();
        pending.add(&call.upstream, tool, counts);
        if !pending.is_waiting {
            pending.is_waiting = true;
            self.0.changed.notify_one();
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.0.pending().is_over = true;
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Counts are whole whenever somebody could panic.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread that writes when nobody else does; it sleeps until there is something to write.
    fn write_now_and_then(&self) {
        loop {
            let idle = |pending: &mut Pending| !pending.is_waiting && !pending.is_over;
            let pending = self.changed.wait_while(self.pending(), idle);
            let pending = pending.unwrap_or_else(PoisonError::into_inner);
            let going_on = |pending: &mut Pending| !pending.is_over;
            let waited = self.changed.wait_timeout_while(pending, PATIENCE, going_on);
            let (pending, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let is_over = pending.is_over;
            drop(pending);
            self.write_down();
            if is_over {
                return;
            }
        }
    }

    fn write_down(&self) {
        let mut write = self.write.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.pending().take();
        let mut written = Ok(());
        for (upstream, tool, counts) in taken {
            if written.is_ok() {
                written = write(upstream.as_str(), &tool, counts);
            }
            if written.is_err() {
                // To be tried again with the next ones.
                self.pending().add(&upstream, &tool, counts);
            }
        }
        if let Err(error) = written {
            events::counts_not_written(&error);
        }
    }
}

impl Pending {
    fn add(&mut self, upstream: &UpstreamName, tool: &str, counts: Counts) {
        if let Some(known) = self.counts.get_mut(upstream).and_then(|tools| tools.get_mut(tool)) {
            *known += counts;
        } else {
            self.counts.entry(upstream.clone()).or_default().insert(tool.to_owned(), counts);
        }
    }

    fn take(&mut self) -> Vec<(UpstreamName, String, Counts)> {
        self.is_waiting = false;
        let mut taken = Vec::new();
        for (upstream, tools) in &mut self.counts {
            for (tool, counts) in tools {
                if *counts != Counts::default() {
                    taken.push((upstream.clone(), tool.clone(), std::mem::take(counts)));
                }
            }
        }
        taken
    }
}
