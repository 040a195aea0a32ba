//! A call between those who wait for it and those who hear of it: first the client's own call waits, and once it
//! has become a job, the job hears what comes.

use std::{collections::VecDeque, mem, sync::Arc, time::Instant};

use forebay_proxy::{body::Payload, chain::CallFailure, session::Call};
use forebay_store::JobProgress;
use parking_lot::{Condvar, Mutex};

use super::running::Running;

/// What the client has yet to hear of a call's progress; the oldest go first.
const MAX_PROGRESS: usize = 256;

/// A call that is under way.
#[derive(Default)]
pub(super) struct Awaited {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What has yet to be told.
    progress: VecDeque<JobProgress>,
    last_progress: Option<JobProgress>,
    ended: Option<Ended>,
    /// Somebody wants it to be a job.
    is_hurried: bool,
    job: Option<Arc<Running>>,
}

/// How a call ended.
pub(super) struct Ended {
    /// The call as those behind have seen it.
    pub(super) call: Arc<Call>,
    pub(super) outcome: Result<Payload, CallFailure>,
}

/// What comes next.
pub(super) enum Next {
    Progress(JobProgress),
    Ended(Ended),
    /// It takes long.
    Late,
}

impl Awaited {
    /// Hears how far the call is.
    pub(super) fn progressed(&self, progress: JobProgress) {
        let mut state = self.state.lock();
        if let Some(job) = &state.job {
            return job.progressed(progress);
        }
        state.last_progress = Some(progress.clone());
        if state.progress.len() == MAX_PROGRESS {
            state.progress.pop_front();
        }
        state.progress.push_back(progress);
        self.changed.notify_all();
    }

    /// Hears that the call has ended. If it has become a job, that is given, to be ended.
    pub(super) fn ended(&self, ended: Ended) -> Option<(Arc<Running>, Ended)> {
        let mut state = self.state.lock();
        if let Some(job) = state.job.take() {
            return Some((job, ended));
        }
        state.ended = Some(ended);
        self.changed.notify_all();
        None
    }

    /// Waits for what comes next.
    pub(super) fn next(&self, until: Instant) -> Next {
        let mut state = self.state.lock();
        loop {
            if let Some(progress) = state.progress.pop_front() {
                return Next::Progress(progress);
            }
            if let Some(ended) = state.ended.take() {
                return Next::Ended(ended);
            }
            if mem::take(&mut state.is_hurried) {
                return Next::Late;
            }
            if self.changed.wait_until(&mut state, until).timed_out() {
                return state.ended.take().map_or(Next::Late, Next::Ended);
            }
        }
    }

    /// Has whoever waits make a job of it, if that can be.
    pub(super) fn hurry(&self) {
        self.state.lock().is_hurried = true;
        self.changed.notify_all();
    }

    /// From now on the job hears what comes. If the call has ended meanwhile, that is given.
    pub(super) fn become_job(&self, job: &Arc<Running>) -> Option<Ended> {
        let mut state = self.state.lock();
        if let Some(ended) = state.ended.take() {
            return Some(ended);
        }
        if let Some(progress) = state.last_progress.take() {
            job.progressed(progress);
        }
        state.job = Some(job.clone());
        None
    }
}
