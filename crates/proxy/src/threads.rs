//! Threads for work that may block. One that is done stays a while for whatever comes next: to start a
//! thread takes longer than most of that work.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

/// How long a thread waits for more to do.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// What a thread is to do.
type Job = Box<dyn FnOnce() + Send>;

/// A thread that waits, and the way to it.
struct Idle {
    number: u64,
    jobs: SyncSender<Job>,
}

/// The one that came last is taken first: what it needs is still in the caches, and the others can go.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Runs `job` on a thread of its own, and waits for its end without blocking this one.
pub(crate) async fn run_and_wait(job: impl FnOnce() + Send + 'static) {
    let (done, is_done) = oneshot::channel();
    run(move || {
        job();
        // Whoever waited may have left.
        let _ = done.send(());
    });
    // After a panic nothing is sent, and nothing is waited for.
    let _ = is_done.await;
}

/// Runs `job` on a thread of its own; without one it is done here: slower, but nothing is lost.
pub(crate) fn run(job: impl FnOnce() + Send + 'static) {
    let mut job: Job = Box::new(job);
    while let Some(thread) = { idle().pop() } {
        match thread.jobs.send(job) {
            Ok(()) => return,
            Err(refused) => job = refused.0,
        }
    }
    let (jobs, received) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name("work".to_owned()).spawn({
        let jobs = jobs.clone();
        move || {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut next = received.recv().ok();
            while let Some(job) = next {
                // A panic is the job's own affair.
                let _ = catch_unwind(AssertUnwindSafe(job));
                idle().push(Idle { number, jobs: jobs.clone() });
                next = match received.recv_timeout(IDLE_TIME) {
                    Ok(job) => Some(job),
                    Err(RecvTimeoutError::Disconnected) => None,
                    Err(RecvTimeoutError::Timeout) => {
                        let mut idle = idle();
                        let place = idle.iter().position(|thread| thread.number == number);
                        let is_forgotten = place.map(|place| idle.remove(place)).is_some();
                        drop(idle);
                        // Else somebody has taken it from the list, and is about to send.
                        if is_forgotten { None } else { received.recv().ok() }
                    }
                };
            }
        }
    });
    if spawned.is_err() {
        job();
    } else if let Err(refused) = jobs.send(job) {
        refused.0();
    }
}

fn idle() -> MutexGuard<'static, Vec<Idle>> {
    IDLE.lock()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn jobs_that_wait_for_each_other_run_at_once_and_all_are_run() {
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(std::sync::Barrier::new(20));
        for number in 0..20 {
            let (sender, barrier) = (sender.clone(), barrier.clone());
            let job = move || {
                barrier.wait();
                sender.send(number).unwrap();
            };
            run(job);
        }
        let mut numbers: Vec<u32> = receiver.iter().take(20).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_job_that_panics_takes_no_other_with_it() {
        run(|| panic!("as it should"));
        let (sender, receiver) = mpsc::channel();
        for _ in 0..100 {
            let sender = sender.clone();
            run(move || sender.send(()).unwrap());
        }
        assert_eq!(receiver.iter().take(100).count(), 100);
    }
}
