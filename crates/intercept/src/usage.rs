//! Counts what passes, and has the counts written down now and then.
//!
//! Counting is done in memory, on the relay's own thread. What has been counted is written a moment
//! after each capture, when its summary is on its way, some seconds after anything else, and when the
//! session is over; so a process that is killed loses the last seconds' counts at most. A captured
//! result counts by itself: whoever finds it counts it.

use std::{collections::HashMap, sync::Arc, thread, time::Duration};

use parking_lot::{Condvar, Mutex, MutexGuard};

use forebay_proxy::{chain::HookError, router::UpstreamName, session::Call};
use forebay_store::Counts;

use crate::events;

/// How long counts wait for others to be written with.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same if a result has been captured: others may follow at once.
const MOMENT: Duration = Duration::from_millis(5);

/// The counts of a session.
pub struct Usage(Arc<Shared>);

struct Shared {
    pending: Mutex<Pending>,
    changed: Condvar,
    /// Writes counts, by upstream and tool, and whatever else is due. Locked until they are written, so
    /// that whoever comes second waits for it.
    write: Mutex<Box<Write>>,
}

type Write = dyn FnMut(&[(&str, &str, Counts)]) -> Result<(), HookError> + Send;

/// What has been counted and not been written.
#[derive(Default)]
struct Pending {
    // An entry stays when it has been written: counting a known tool allocates nothing.
    counts: HashMap<UpstreamName, HashMap<String, Counts>>,
    is_waiting: bool,
    is_urgent: bool,
    is_over: bool,
}

impl Usage {
    /// Counts that are handed to `write` by upstream and tool, to be added to those before. It is
    /// called, even without any, when a result has been captured, and not before there is something to
    /// write.
    pub fn new(
        write: impl FnMut(&[(&str, &str, Counts)]) -> Result<(), HookError> + Send + 'static,
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

    /// Has all that is due written in a moment: a result has been captured.
    pub(crate) fn write_soon(&self) {
        let mut pending = self.0.pending();
        (pending.is_waiting, pending.is_urgent) = (true, true);
        self.0.changed.notify_one();
    }

    /// Counts what was kept out of a list of tools.
    pub fn listed(&self, call: &Call, counts: Counts) {
        self.count_as(call, &call.method, counts);
    }

    fn count(&self, call: &Call, counts: Counts) {
        if let Some(tool) = call.tool() {
            self.count_as(call, tool, counts);
        }
    }

    fn count_as(&self, call: &Call, tool: &str, counts: Counts) {
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
        self.pending.lock()
    }

    /// The thread that writes when nobody else does; it sleeps until there is something to write.
    fn write_now_and_then(&self) {
        loop {
            let idle = |pending: &mut Pending| !pending.is_waiting && !pending.is_over;
            let mut pending = self.pending();
            self.changed.wait_while(&mut pending, idle);
            let going_on = |pending: &mut Pending| !pending.is_over && !pending.is_urgent;
            self.changed.wait_while_for(&mut pending, going_on, PATIENCE);
            let (is_over, is_urgent) = (pending.is_over, pending.is_urgent);
            drop(pending);
            if is_urgent && !is_over {
                thread::sleep(MOMENT);
            }
            self.write_down();
            if is_over {
                return;
            }
        }
    }

    fn write_down(&self) {
        let mut write = self.write.lock();
        let mut pending = self.pending();
        let taken = pending.take();
        let is_urgent = std::mem::take(&mut pending.is_urgent);
        drop(pending);
        if taken.is_empty() && !is_urgent {
            return;
        }
        let counts: Vec<(&str, &str, Counts)> = taken
            .iter()
            .map(|(upstream, tool, counts)| (upstream.as_str(), tool.as_str(), *counts))
            .collect();
        if let Err(error) = write(&counts) {
            // To be tried again with the next ones.
            let mut pending = self.pending();
            for (upstream, tool, counts) in &taken {
                pending.add(upstream, tool, *counts);
            }
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
