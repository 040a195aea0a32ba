//! Work that has been begun and is no job yet: whoever asks for the same waits for what comes of it.

use std::{collections::HashMap, sync::Arc, time::Instant};

use forebay_proxy::{
    body::Payload,
    chain::{CallFailure, Caller},
};
use forebay_store::Job;
use parking_lot::{Condvar, Mutex};

use super::awaited::Awaited;

/// All of it in this process, by the hash of the work.
pub(super) type Claims = HashMap<String, Arc<Claim>>;

/// Work that somebody does.
pub(super) struct Claim {
    pub(super) session: Option<String>,
    /// Whether it is to be a job at once, so that there has to be room for it.
    pub(super) is_job_at_once: bool,
    /// The call that does it.
    pub(super) awaited: Arc<Awaited>,
    came: Mutex<Option<Came>>,
    changed: Condvar,
}

/// What came of it.
#[derive(Clone)]
pub(super) enum Came {
    /// An answer, in time.
    Answer(Result<Payload, CallFailure>),
    /// It has become this job.
    Job(Box<Job>),
    /// Nothing: whoever did it was cancelled, and another may.
    Nothing,
}

impl Claim {
    pub(super) fn new(session: Option<String>, is_job_at_once: bool) -> Self {
        let awaited = Arc::default();
        let (came, changed) = (Mutex::default(), Condvar::new());
        Self { session, is_job_at_once, awaited, came, changed }
    }

    /// Says what came of it. The first time counts.
    pub(super) fn settle(&self, came: Came) {
        self.came.lock().get_or_insert(came);
        self.changed.notify_all();
    }

    /// Waits for what comes of it. From `until` on, whoever does it is asked to make a job of it.
    pub(super) fn wait(self: &Arc<Self>, until: Instant, caller: &Caller) -> Came {
        caller.on_cancel({
            let claim = self.clone();
            move || {
                // Whoever waits has looked before it sleeps.
                let _came = claim.came.lock();
                claim.changed.notify_all();
            }
        });
        let mut came = self.came.lock();
        let mut is_hurried = false;
        loop {
            if let Some(came) = came.as_ref() {
                return came.clone();
            }
            if caller.is_cancelled() {
                return Came::Nothing;
            }
            if is_hurried {
                self.changed.wait(&mut came);
            } else if self.changed.wait_until(&mut came, until).timed_out() {
                is_hurried = true;
                self.awaited.hurry();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::{super::awaited::Next, *};

    #[test]
    fn whoever_asks_for_the_same_gets_what_came_of_it() {
        let claim = Arc::new(Claim::new(None, false));
        let later = Instant::now() + Duration::from_secs(600);
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let claim = claim.clone();
                thread::spawn(move || claim.wait(later, &Caller::default()))
            })
            .collect();
        claim.settle(Came::Answer(Ok(Payload::from(b"{}".to_vec()))));
        claim.settle(Came::Nothing);
        for one in waiting {
            assert!(matches!(one.join().unwrap(), Came::Answer(Ok(_))), "the first counts");
        }
    }

    #[test]
    fn who_has_waited_long_enough_wants_a_job_and_who_is_cancelled_nothing() {
        let claim = Arc::new(Claim::new(None, false));
        let caller = Caller::default();
        let waiting = {
            let (claim, caller) = (claim.clone(), caller.clone());
            thread::spawn(move || claim.wait(Instant::now(), &caller))
        };
        let later = Instant::now() + Duration::from_secs(600);
        assert!(matches!(claim.awaited.next(later), Next::Late), "it is asked to hurry");
        caller.cancel();
        assert!(matches!(waiting.join().unwrap(), Came::Nothing));
    }
}
