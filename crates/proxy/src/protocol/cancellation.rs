//! A signal that is given once, at most, and reaches at once whoever wants to hear of it.

use std::{
    cell::RefCell,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::ReentrantMutex;

/// Says that nobody waits for an answer any more.
#[derive(Default)]
pub(crate) struct Cancellation {
    is_given: AtomicBool,
    /// A hearer may come back here on its own thread: where no other can be started, what follows a call
    /// is done by whoever cancels it.
    hearers: ReentrantMutex<RefCell<Vec<Hearer>>>,
}

type Hearer = Box<dyn FnOnce() + Send>;

impl Cancellation {
    pub(crate) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Acquire)
    }

    /// Gives the signal: runs all hearers on this very thread.
    pub(crate) fn give(&self) {
        // The lock is kept meanwhile, so that whoever forgets the hearers on another thread knows that none
        // runs. They are no longer in the list, which a hearer may look at.
        let hearers = self.hearers.lock();
        self.is_given.store(true, Ordering::Release);
        let all = hearers.take();
        all.into_iter().for_each(run);
    }

    /// Runs `hearer` once the signal is given, which may be now.
    pub(crate) fn on_given(&self, hearer: impl FnOnce() + Send + 'static) {
        // Looked at before the lock is taken, too: who comes late does not wait for those who run.
        if !self.is_given() {
            let hearers = self.hearers.lock();
            if !self.is_given() {
                hearers.borrow_mut().push(Box::new(hearer));
                return;
            }
        }
        run(Box::new(hearer));
    }

    /// Drops all hearers; when this returns none will run, and none runs but the one that calls this, if
    /// one does.
    pub(crate) fn forget_hearers(&self) {
        let forgotten = self.hearers.lock().take();
        drop(forgotten);
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
    use std::{
        sync::{Arc, atomic::AtomicUsize, mpsc},
        thread,
        time::Duration,
    };

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

    /// As when no thread can be started, and what follows the call is done by whoever cancels it.
    #[test]
    fn a_hearer_may_forget_the_hearers() {
        let (cancellation, heard, listen) = counted();
        let forgetting = cancellation.clone();
        cancellation.on_given(move || forgetting.forget_hearers());
        listen();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            cancellation.give();
            sender.send(()).unwrap();
        });
        receiver.recv_timeout(Duration::from_secs(30)).expect("it does not wait for itself");
        assert_eq!(heard.load(Ordering::SeqCst), 1, "whoever was there hears it");
    }

    #[test]
    fn whoever_forgets_the_hearers_waits_for_one_that_runs() {
        let (cancellation, heard, listen) = counted();
        let ((begin, has_begun), (release, released)) = (mpsc::channel(), mpsc::channel());
        cancellation.on_given(move || {
            begin.send(()).unwrap();
            released.recv().unwrap();
        });
        listen();
        thread::scope(|scope| {
            scope.spawn(|| cancellation.give());
            has_begun.recv().unwrap();
            let forgetting = scope.spawn(|| {
                cancellation.forget_hearers();
                heard.load(Ordering::SeqCst)
            });
            release.send(()).unwrap();
            assert_eq!(forgetting.join().unwrap(), 1);
        });
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
