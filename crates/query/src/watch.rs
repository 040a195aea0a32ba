//! Sees to it that a question is given up when it is cancelled or takes too long, and tells how far it
//! is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use duckdb::{Connection, InterruptHandle};

use crate::{
    QueryError,
    protocol::{MAX_PREPARATION, Say, say},
};

/// Why a question is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Stop {
    Cancelled = 1,
    Late = 2,
}

/// Sees to it that a question is given up when it is cancelled or takes too long.
///
/// Making rows is not given up when the question is: whoever asks next will want them.
#[derive(Default)]
pub(crate) struct Watch {
    stopped: AtomicU8,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    deadline: Option<Instant>,
    limit: Duration,
    interrupt: Option<Arc<InterruptHandle>>,
    last_progress: Option<Instant>,
    is_preparing: bool,
    is_cancelled: bool,
}

impl Watch {
    /// Begins to make what a question needs, unless that is given up already.
    pub(crate) fn prepare(&self) -> Result<(), QueryError> {
        self.begin(MAX_PREPARATION, true)
    }

    /// Begins to measure the time of the query itself, unless that is given up already.
    pub(crate) fn run(&self, limit: Duration) -> Result<(), QueryError> {
        self.begin(limit, false)
    }

    fn begin(&self, limit: Duration, is_preparing: bool) -> Result<(), QueryError> {
        let mut state = self.state();
        let is_cancelled = state.is_cancelled;
        if !is_cancelled && !self.is_stopped() {
            state.limit = limit;
            state.deadline = Some(Instant::now() + limit);
        }
        state.interrupt = None;
        state.is_preparing = is_preparing;
        drop(state);
        self.changed.notify_all();
        if is_cancelled {
            self.stop(Stop::Cancelled);
        }
        if self.is_stopped() { Err(self.why()) } else { Ok(()) }
    }

    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.deadline = None;
        state.interrupt = None;
        state.is_cancelled = false;
        self.stopped.store(0, Ordering::SeqCst);
    }

    /// What is interrupted if the question is given up.
    pub(crate) fn interrupt_with(&self, connection: &Connection) {
        let handle = connection.interrupt_handle();
        if self.is_stopped() {
            handle.interrupt();
        }
        self.state().interrupt = Some(handle);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) != 0
    }

    /// Why the question was given up.
    pub(crate) fn why(&self) -> QueryError {
        if self.stopped.load(Ordering::SeqCst) == Stop::Cancelled as u8 {
            return QueryError::Cancelled;
        }
        QueryError::Late(self.state().limit)
    }

    /// Tells how far a question is, not too often.
    pub(crate) fn progress(&self, done: f64, message: &str) {
        const OFTEN: Duration = Duration::from_millis(250);
        let mut state = self.state();
        if state.last_progress.is_none_or(|last| last.elapsed() >= OFTEN) {
            state.last_progress = Some(Instant::now());
            // If nobody listens any more, nobody misses anything.
            let _ = say(&Say::Progress { done, message: message.to_owned() });
        }
    }

    /// Gives the question up, at once if it is no longer being prepared.
    pub(crate) fn cancel(&self) {
        let mut state = self.state();
        state.is_cancelled = true;
        let is_preparing = state.is_preparing;
        drop(state);
        if !is_preparing {
            self.stop(Stop::Cancelled);
        }
    }

    fn stop(&self, why: Stop) {
        let state = self.state();
        self.stopped.store(why as u8, Ordering::SeqCst);
        if let Some(interrupt) = &state.interrupt {
            interrupt.interrupt();
        }
    }

    pub(crate) fn time(&self) {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            match state.deadline {
                Some(deadline) if deadline <= now => {
                    state.deadline = None;
                    drop(state);
                    self.stop(Stop::Late);
                    state = self.state();
                }
                Some(deadline) => drop(self.changed.wait_for(&mut state, deadline - now)),
                None => self.changed.wait(&mut state),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
