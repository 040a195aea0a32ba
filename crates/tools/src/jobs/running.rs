//! A job of this process, from when it is written down until it has ended.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use forebay_proxy::chain::OfClient;
use forebay_store::{HeldJob, Job, JobEnd, JobFolder, JobProgress};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

/// How often its progress is written down: whoever asks here is told what was heard last.
const WRITES_PROGRESS_EACH: Duration = Duration::from_secs(1);

/// A job that runs, or has just ended.
pub(super) struct Running {
    folder: JobFolder,
    job: Mutex<Job>,
    of_client: OfClient,
    /// `None` once it has ended, and that is written down.
    held: Mutex<Option<HeldJob>>,
    written: Mutex<Instant>,
    is_overdue: AtomicBool,
}

impl Running {
    /// A job that has been written down, and is `held` until it ends.
    pub(super) fn new(folder: JobFolder, job: Job, of_client: OfClient, held: HeldJob) -> Self {
        let (job, held) = (Mutex::new(job), Mutex::new(Some(held)));
        let (written, is_overdue) = (Mutex::new(Instant::now()), AtomicBool::new(false));
        Self { folder, job, of_client, held, written, is_overdue }
    }

    /// The job as it is now.
    pub(super) fn job(&self) -> Job {
        self.job.lock().clone()
    }

    /// True if it was ended because it took too long.
    pub(super) fn is_overdue(&self) -> bool {
        self.is_overdue.load(Ordering::Relaxed)
    }

    /// Notes how far it is, and now and then writes it down.
    pub(super) fn progressed(&self, progress: JobProgress) {
        let mut job = self.job.lock();
        job.note_progress(progress, Timestamp::now());
        let mut written = self.written.lock();
        if job.is_running() && written.elapsed() >= WRITES_PROGRESS_EACH {
            *written = Instant::now();
            // What matters is written when it ends.
            let _ = self.folder.write(&job);
        }
    }

    /// Ends it, and says how it is then.
    pub(super) fn end(&self, how: JobEnd) -> Job {
        let mut job = self.job.lock();
        job.end(how, Timestamp::now());
        job.clone()
    }

    /// It has ended, and that is written down, or nobody asks for it any more.
    pub(super) fn let_go(&self) {
        self.held.lock().take();
    }

    /// Somebody wants it to end.
    pub(super) fn cancel(&self) {
        self.of_client.cancel();
    }

    /// Ends it if it has run for so long.
    pub(super) fn cancel_after(&self, time: Duration) {
        if self.has_run_for(time) && !self.is_overdue.swap(true, Ordering::Relaxed) {
            self.cancel();
        }
    }

    fn has_run_for(&self, time: Duration) -> bool {
        let job = self.job.lock();
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        job.is_running() && Timestamp::now().duration_since(job.started) >= time
    }
}
