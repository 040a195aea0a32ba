//! Whose turn it is to run a program: each worker may take as much memory as a program may have.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::TICK;
use crate::{Host, SandboxError};

pub(super) struct Turns {
    at_once: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    /// Who waits, in the order in which they came.
    waiting: VecDeque<u64>,
    last: u64,
}

/// The turn of a program, until it is dropped.
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once: at_once.max(1), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a turn, for so long at most.
    pub(super) fn take(
        &self,
        host: &dyn Host,
        patience: Duration,
    ) -> Result<Turn<'_>, SandboxError> {
        let begun = Instant::now();
        let mut state = self.state.lock();
        state.last += 1;
        let number = state.last;
        state.waiting.push_back(number);
        while state.taken >= self.at_once || state.waiting.front() != Some(&number) {
            let error = if host.is_cancelled() {
                Some(SandboxError::Cancelled)
            } else if begun.elapsed() >= patience {
                Some(SandboxError::Busy(state.taken))
            } else {
                None
            };
            if let Some(error) = error {
                state.waiting.retain(|waiting| *waiting != number);
                self.changed.notify_all();
                return Err(error);
            }
            self.changed.wait_for(&mut state, TICK);
        }
        state.waiting.pop_front();
        state.taken += 1;
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().taken -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, HostCall};

    /// Waits for whatever there is.
    struct Waits;

    impl Host for Waits {
        fn call(&self, _: HostCall, _: Answer) {}

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    #[test]
    fn who_gets_no_turn_in_time_is_told_so_and_stands_in_nobodys_way() {
        let turns = Turns::new(1);
        let taken = turns.take(&Waits, Duration::ZERO).unwrap();
        assert!(matches!(turns.take(&Waits, Duration::ZERO), Err(SandboxError::Busy(1))));
        drop(taken);
        assert!(turns.take(&Waits, Duration::ZERO).is_ok());
    }
}
