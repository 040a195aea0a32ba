//! A signal that is given once, at most, and reaches at once whoever wants to hear of it.

use std::{
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Mutex, MutexGuard};

/// Says that nobody waits for an answer any more.
#[derive(Default)]
pub(crate) struct Cancellation {
    is_given: AtomicBool,
    hearers: Mutex<Vec<Hearer>>,
}

type Hearer = Box<dyn FnOnce() + Send>;

impl Cancellation {
    pub(crate) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Acquire)
    }

    /// Gives the signal: runs all hearers on this very thread.
    pub(crate) fn give(&self) {
        // The lock is kept meanwhile, so that whoever forgets the hearers knows that none runs.
        let mut hearers = self.hearers();
        self.is_given.store(true, Ordering::Release);
        hearers.drain(..).for_each(run);
    }

    /// Runs `hearer` once the signal is given, which may be now.
    pub(crate) fn on_given(&self, hearer: impl FnOnce() + Send + 'static) {
        // Looked at before the lock is taken: a hearer may bring another one.
        if !self.is_given() {
            let mut hearers = self.hearers();
            if !self.is_given() {
                hearers.push(Box::new(hearer));
                return;
            }
        }
        run(Box::new(hearer));
    }

    /// Drops all hearers; when this returns, none runs nor will.
    pub(crate) fn forget_hearers(&self) {
        let forgotten = mem::take(&mut *self.hearers());
        drop(forgotten);
    }

    fn hearers(&self) -> MutexGuard<'_, Vec<Hearer>> {
        self.hearers.lock()
    }
}

/// A panic is the hearer's own affair.
fn run(hearer: Hearer) {
    let _ = catch_unwind(AssertUnwindSafe(hearer));
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Cancellation").field(&self.is_given()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicUsize};

    use super::*;

    /// A cancellation, and how many of its hearers have run.
    fn counted() -> (Arc<Cancellation>, Arc<AtomicUsize>, impl Fn()) {
        let cancellation: Arc<Cancellation> = Arc::default();
        let heard: Arc<AtomicUsize> = Arc::default();
        let listen = {
            let (cancellation, heard) = (cancellation.clone(), heard.clone());
            move || {
                let heard = heard.clone();
                cancellation.on_given(move || {
                    heard.fetch_add(1, Ordering::SeqCst);
                });
            }
        };
        (cancellation, heard, listen)
    }

    #[test]
    fn each_hearer_hears_it_once_however_late_it_comes() {
        let (cancellation, heard, listen) = counted();
        listen();
        cancellation.on_given(|| panic!("on purpose"));
        listen();
        assert_eq!(heard.load(Ordering::SeqCst), 0);
        cancellation.give();
        assert_eq!(heard.load(Ordering::SeqCst), 2);
        cancellation.give();
        assert_eq!(heard.load(Ordering::SeqCst), 2);
        listen();
        assert_eq!(heard.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_hearer_may_bring_another_one() {
        let (cancellation, heard, listen) = counted();
        cancellation.on_given(listen);
        cancellation.give();
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_forgotten_hearer_hears_nothing() {
        let (cancellation, heard, listen) = counted();
        listen();
        cancellation.forget_hearers();
        cancellation.give();
        assert_eq!(heard.load(Ordering::SeqCst), 0);
    }
}
