//! How many questions are asked at once, and none for a while after several have come to nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// So many failures in a row mean that the next question would fail, too.
const MAX_FAILURES: u32 = 5;
/// For so long nothing is asked then; after that, one question tries.
const PAUSE: Duration = Duration::from_secs(60);

/// Decides whether a question may be asked.
#[derive(Debug)]
pub(crate) struct Breaker {
    max_running: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    failures: u32,
    /// Nothing is asked before.
    paused_until: Option<Instant>,
    /// A question tries whether the others would be answered again.
    is_trying: bool,
}

/// Why a question is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barred {
    /// Too many are being asked.
    Busy,
    /// The last ones have all failed.
    Paused,
}

impl Barred {
    /// Under which name it is counted.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Busy => "skipped_busy",
            Self::Paused => "skipped_paused",
        }
    }
}

/// A question that may be asked. If nothing is said of what became of it, it has failed.
#[derive(Debug)]
pub(crate) struct Permit {
    breaker: Arc<Breaker>,
    is_trial: bool,
    is_answered: bool,
}

impl Breaker {
    pub(crate) fn new(max_running: usize) -> Arc<Self> {
        Arc::new(Self { max_running, state: Mutex::default() })
    }

    /// A permit for a question, if there is one to be had.
    pub(crate) fn admit(self: &Arc<Self>, now: Instant) -> Result<Permit, Barred> {
        let mut state = self.state.lock();
        let is_trial = match state.paused_until {
            Some(until) if now < until || state.is_trying => return Err(Barred::Paused),
            Some(_) => true,
            None => false,
        };
        if state.running >= self.max_running {
            return Err(Barred::Busy);
        }
        state.running += 1;
        state.is_trying = is_trial;
        Ok(Permit { breaker: self.clone(), is_trial, is_answered: false })
    }

    fn end(&self, permit: &Permit, now: Instant) {
        let mut state = self.state.lock();
        state.running -= 1;
        if permit.is_trial {
            state.is_trying = false;
        }
        if permit.is_answered {
            (state.failures, state.paused_until) = (0, None);
            return;
        }
        state.failures += 1;
        if permit.is_trial || state.failures >= MAX_FAILURES {
            state.paused_until = Some(now + PAUSE);
        }
    }
}

impl Permit {
    /// The question was answered.
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.breaker.end(self, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_are_asked_at_once() {
        let breaker = Breaker::new(2);
        let now = Instant::now();
        let (one, two) = (breaker.admit(now).unwrap(), breaker.admit(now).unwrap());
        assert_eq!(breaker.admit(now).unwrap_err(), Barred::Busy);
        one.answered();
        let three = breaker.admit(now).unwrap();
        two.answered();
        three.answered();
    }

    #[test]
    fn after_five_failures_nothing_is_asked_for_a_minute_and_then_one_tries() {
        let breaker = Breaker::new(4);
        let now = Instant::now();
        for _ in 0..4 {
            drop(breaker.admit(now).unwrap());
        }
        breaker.admit(now).unwrap().answered();
        for _ in 0..5 {
            drop(breaker.admit(now).unwrap());
        }
        assert_eq!(breaker.admit(Instant::now()).unwrap_err(), Barred::Paused);
        let later = Instant::now() + PAUSE;
        let trial = breaker.admit(later).unwrap();
        assert_eq!(breaker.admit(later).unwrap_err(), Barred::Paused, "one tries, not all");
        drop(trial);
        assert_eq!(breaker.admit(later).unwrap_err(), Barred::Paused, "it has failed, too");
        let even_later = Instant::now() + PAUSE + PAUSE;
        breaker.admit(even_later).unwrap().answered();
        let all: Vec<Permit> = (0..4).map(|_| breaker.admit(even_later).unwrap()).collect();
        all.into_iter().for_each(Permit::answered);
    }
}
