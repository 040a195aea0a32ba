//! Threads for what must not hold up a pump: consulting the chain, and answering a client that may
//! not be reading. There are never more than a few of a kind; past that the pump waits, and with it
//! whoever writes to it. It never waits for calls in the chain, though, which may take long: the
//! next thing that the client sends may be what cancels them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{limits, threads};

/// A session's couriers, by what they are sent for: none of them waits for one of another kind.
#[derive(Debug)]
pub(super) struct Crew {
    /// Taking calls through the chain.
    pub(super) calls: Arc<Couriers>,
    /// Taking results through the chain.
    pub(super) results: Arc<Couriers>,
    /// Answering the client.
    pub(super) replies: Arc<Couriers>,
}

/// The couriers of a kind that are under way.
#[derive(Debug)]
pub(super) struct Couriers {
    max: usize,
    under_way: Mutex<usize>,
    one_less: Condvar,
}

/// A courier, who is back when this is dropped, even by a panic.
pub(super) struct UnderWay(Arc<Couriers>);

impl Crew {
    /// True if all are back.
    pub(super) fn is_idle(&self) -> bool {
        [&self.calls, &self.results, &self.replies].iter().all(|couriers| couriers.is_idle())
    }

    /// Waits until all are back, or for `patience`.
    pub(super) fn wait_until_idle(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        for couriers in [&self.calls, &self.results, &self.replies] {
            couriers.wait_until_idle(deadline.saturating_duration_since(Instant::now()));
        }
    }
}

impl Default for Crew {
    fn default() -> Self {
        let (results, replies) = (Arc::default(), Arc::default());
        Self { calls: Arc::new(Couriers::at_most(limits::CALLS_ON_STDIO)), results, replies }
    }
}

impl Couriers {
    fn at_most(max: usize) -> Self {
        Self { max, under_way: Mutex::new(0), one_less: Condvar::new() }
    }

    /// Waits until there is one to spare, which is under way until what is returned is dropped.
    pub(super) fn set_out(self: &Arc<Self>) -> UnderWay {
        let mut under_way = self.lock();
        while *under_way >= self.max {
            self.one_less.wait(&mut under_way);
        }
        *under_way += 1;
        UnderWay(self.clone())
    }

    /// Runs `errand` on a thread of its own, once there is one to spare.
    pub(super) fn send(self: &Arc<Self>, errand: impl FnOnce() + Send + 'static) {
        let courier = self.set_out();
        threads::run(move || {
            errand();
            drop(courier);
        });
    }

    /// True if there is none to spare.
    pub(super) fn are_all_out(&self) -> bool {
        *self.lock() >= self.max
    }

    /// True if all are back.
    pub(super) fn is_idle(&self) -> bool {
        *self.lock() == 0
    }

    /// Waits until all are back, or for `patience`.
    pub(super) fn wait_until_idle(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut under_way = self.lock();
        while *under_way > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.one_less.wait_for(&mut under_way, left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.under_way.lock()
    }
}

impl Default for Couriers {
    fn default() -> Self {
        Self::at_most(limits::COURIERS)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.one_less.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_errand_is_run_and_waited_for_even_after_a_panic() {
        let couriers = Arc::new(Couriers::default());
        let done = Arc::new(AtomicUsize::new(0));
        for index in 0..50 {
            let done = done.clone();
            couriers.send(move || {
                done.fetch_add(1, Ordering::SeqCst);
                assert!(index != 7, "one of them panics");
            });
        }
        couriers.wait_until_idle(Duration::from_secs(60));
        assert_eq!(done.load(Ordering::SeqCst), 50);
        assert_eq!(*couriers.lock(), 0);
    }
}
