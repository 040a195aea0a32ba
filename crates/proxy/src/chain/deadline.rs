//! Runs a hook, for no longer than it may take.
//!
//! A thread cannot be stopped from outside, so a hook that is late, or whose call is cancelled, is left
//! behind: its caller counts as cancelled, which a hook can hear, its verdict is dropped, and what follows
//! is done by another thread. An interceptor with too many hooks running is not asked again until some
//! have ended.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use super::{Caller, Failure, HookError, Interceptor, Moment, timer, with_causes};
use crate::{limits, session::Call, threads};

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

/// What is done with an outcome: by whoever has the first.
struct Next<T>(Mutex<Option<Then<T>>>);

type Then<T> = Box<dyn FnOnce(Outcome<T>) + Send>;

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
            || matches!(moment, Moment::Call(call, _) if self.owns(call))
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn owns(&self, call: &Call) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.owns(call))).unwrap_or(false)
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn must_see(&self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.must_see())).unwrap_or(false)
    }

    /// Asks the interceptor on this very thread; a panic counts as no wish.
    pub(super) fn patience(&self, call: &Call) -> Option<Duration> {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.patience(call))).unwrap_or(None)
    }

    /// Asks the interceptor on this very thread; a panic counts as no.
    pub(super) fn remembers(&self, call: &Call) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.interceptor.remembers(call))).unwrap_or(false)
    }

    /// Tells the interceptor on this very thread; a panic is its own affair.
    pub(super) fn notice(&self, moment: &Moment<'_>, text: Option<&[u8]>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.interceptor.notices(moment, text)));
    }

    /// Runs a hook on this thread for `caller`, who is gone afterwards. `then` gets its outcome: on this
    /// thread too, unless the hook has to be left behind on it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        deadline: Duration,
        call: &Call,
        caller: &Caller,
        hook: impl FnOnce(&dyn Interceptor) -> Result<T, HookError>,
        then: impl FnOnce(Outcome<T>) + Send + 'static,
    ) {
        if caller.is_cancelled() {
            return then(Outcome::Cancelled);
        }
        if Arc::strong_count(&self.running) > limits::HOOKS_OF_AN_INTERCEPTOR {
            return then(Outcome::Failed(Failure::Busy));
        }
        let running = self.running.clone();
        let next = Arc::new(Next(Mutex::new(Some(Box::new(then)))));
        caller.on_cancel({
            let next = next.clone();
            move || next.elsewhere(|| Outcome::Cancelled)
        });
        let alarm = timer::after(deadline, {
            let (next, caller) = (next.clone(), caller.clone());
            move || {
                next.elsewhere(move || {
                    caller.cancel();
                    caller.dismiss();
                    Outcome::Failed(Failure::Late(deadline))
                });
            }
        });
        let session = tracing::debug_span!("session", id = &*call.session);
        let span = tracing::debug_span!(
            parent: &session,
            "call",
            method = call.method,
            tool = call.tool(),
            upstream = %call.upstream
        );
        let verdict = span.in_scope(|| catch_unwind(AssertUnwindSafe(|| hook(&*self.interceptor))));
        drop(alarm);
        caller.dismiss();
        drop(running);
        // Nobody wants the verdict of a hook that was left behind.
        if let Some(then) = next.take() {
            then(match verdict {
                Ok(Ok(verdict)) => Outcome::Done(verdict),
                Ok(Err(error)) => Outcome::Failed(Failure::Erred(with_causes(&*error))),
                Err(_) => Outcome::Failed(Failure::Panicked),
            });
        }
    }
}

impl<T: Send + 'static> Next<T> {
    fn take(&self) -> Option<Then<T>> {
        self.0.lock().take()
    }

    /// Goes on with an outcome on another thread, if nobody has gone on yet.
    fn elsewhere(&self, outcome: impl FnOnce() -> Outcome<T> + Send + 'static) {
        if let Some(then) = self.take() {
            threads::run(move || then(outcome()));
        }
    }
}
