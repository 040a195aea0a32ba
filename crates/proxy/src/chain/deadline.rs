//! Runs a hook on a thread of its own, for no longer than it may take.
//!
//! A thread cannot be stopped from outside, so one that is late is left behind: its call is marked
//! as abandoned, which a hook can see, and its verdict is dropped. An interceptor with too many hooks
//! running is not asked again until some have ended.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use super::{HookError, Interceptor, Moment, with_causes};
use crate::{body::Payload, session::Call};

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
    Failed(String),
    Late,
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
    }

    /// Tells the interceptor on this very thread; a panic is its own affair.
    pub(super) fn notice(&self, moment: &Moment<'_>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.interceptor.notices(moment)));
    }

    pub(super) fn run<T: Send + 'static>(
        &self,
        deadline: Duration,
        call: &Arc<Call>,
        payload: &Payload,
        hook: fn(&dyn Interceptor, &Call, &Payload) -> Result<T, HookError>,
    ) -> Outcome<T> {
        if Arc::strong_count(&self.running) > MAX_RUNNING {
            return Outcome::Failed(format!("not asked, {MAX_RUNNING} of its hooks still run"));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let spawned = thread::Builder::new().name(self.name().to_owned()).spawn({
            let (interceptor, call, payload) =
                (self.interceptor.clone(), call.clone(), payload.clone());
            let running = self.running.clone();
            move || {
                let _span = tracing::debug_span!(
                    "call",
                    method = call.method,
                    tool = call.tool(),
                    upstream = %call.upstream
                )
                .entered();
                let verdict =
                    catch_unwind(AssertUnwindSafe(|| hook(&*interceptor, &call, &payload)));
                drop(running);
                // Nobody receives the verdict of a hook that was late.
                let _ = sender.send(verdict);
            }
        });
        if let Err(error) = spawned {
            return Outcome::Failed(format!("no thread to run it on: {error}"));
        }
        match receiver.recv_timeout(deadline) {
            Ok(Ok(Ok(verdict))) => Outcome::Done(verdict),
            Ok(Ok(Err(error))) => Outcome::Failed(with_causes(&*error)),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                Outcome::Failed("panicked".to_owned())
            }
            Err(RecvTimeoutError::Timeout) => {
                call.abandon();
                Outcome::Late
            }
        }
    }
}
