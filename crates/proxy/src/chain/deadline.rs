//! Runs a hook on a thread of its own, for no longer than it may take.
//!
//! A thread cannot be stopped from outside, so one that is late, or whose call is cancelled, is left
//! behind: its caller counts as cancelled, which a hook can hear, and its verdict is dropped. An
//! interceptor with too many hooks running is not asked again until some have ended.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use super::{Caller, Failure, HookError, Interceptor, Moment, with_causes};
use crate::{session::Call, threads};

/// Hooks of one interceptor that may run at once, those that are late included.
const MAX_RUNNING: usize = 32;

/// An interceptor in its place in the chain.
pub(super) struct Stage {
    interceptor: Arc<dyn Interceptor>,
    /// Held once by every hook that runs.
    running: Arc<()>,
}

/// How a hook ended.
pub(super) enum Outcome<T> {
    Done(T),
    Failed(Failure),
    /// Nobody waits for it any more.
    Cancelled,
}

impl Stage {
    pub(super) fn new(interceptor: Arc<dyn Interceptor>) -> Self {
        Self { interceptor, running: Arc::default() }
    }

    pub(super) fn name(&self) -> &'static str {
        self.interceptor.name()
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn watches(&self, moment: &Moment<'_>) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.watches(moment))).unwrap_or(false)
            || matches!(moment, Moment::Call(call) if self.owns(call))
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn owns(&self, call: &Call) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.owns(call))).unwrap_or(false)
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn remembers(&self, call: &Call) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.remembers(call))).unwrap_or(false)
    }

    /// Tells the interceptor on this very thread; a panic is its own affair.
    pub(super) fn notice(&self, moment: &Moment<'_>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.interceptor.notices(moment)));
    }

    /// Runs a hook for `caller`, who is gone afterwards.
    pub(super) fn run<T: Send + 'static>(
        &self,
        deadline: Duration,
        call: &Arc<Call>,
        caller: &Caller,
        hook: impl FnOnce(&dyn Interceptor) -> Result<T, HookError> + Send + 'static,
    ) -> Outcome<T> {
        if caller.is_cancelled() {
            return Outcome::Cancelled;
        }
        if Arc::strong_count(&self.running) > MAX_RUNNING {
            return Outcome::Failed(Failure::Busy);
        }
        // Room for the end of the hook and for a cancellation.
        let (sender, receiver) = mpsc::sync_channel(2);
        caller.on_cancel({
            let sender = sender.clone();
            move || drop(sender.send(Outcome::Cancelled))
        });
        let started = threads::run({
            let (interceptor, call) = (self.interceptor.clone(), call.clone());
            let (running, caller) = (self.running.clone(), caller.clone());
            Box::new(move || {
                let _span = tracing::debug_span!(
                    "call",
                    method = call.method,
                    tool = call.tool(),
                    upstream = %call.upstream
                )
                .entered();
                let verdict = catch_unwind(AssertUnwindSafe(|| hook(&*interceptor)));
                caller.dismiss();
                drop(running);
                // Nobody receives the verdict of a hook that was left behind.
                let _ = sender.send(match verdict {
                    Ok(Ok(verdict)) => Outcome::Done(verdict),
                    Ok(Err(error)) => Outcome::Failed(Failure::Erred(with_causes(&*error))),
                    Err(_) => Outcome::Failed(Failure::Panicked),
                });
            })
        });
        let outcome = match started {
            Ok(()) => receiver.recv_timeout(deadline),
            Err(_) => {
                Ok(Outcome::Failed(Failure::Erred("there is no thread to run it on".to_owned())))
            }
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Disconnected) => Outcome::Failed(Failure::Panicked),
            Err(RecvTimeoutError::Timeout) => {
                caller.cancel();
                Outcome::Failed(Failure::Late(deadline))
            }
        };
        caller.dismiss();
        outcome
    }
}
