//! Jobs: calls that go on without whoever made them. Each is a file that says what it is, how far it is and
//! how it ended.
//!
//! While a job runs, its process holds another file locked. Whoever finds a job that runs and a lock that
//! nobody holds knows that its process has died, and that the job has failed: no job runs for ever.

mod record;

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use forebay_system::private;
use jiff::Timestamp;

pub use self::record::{Job, JobEnd, JobId, JobOutcome, JobProgress, JobState};
use crate::{StoreError, error::Doing, layout};

/// What is said of a job whose process has died.
const LOST: &str = "Forebay ended before the tool answered; call the tool again";

/// A file that is longer was not written by us.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

const RECORD: &str = ".json";
const LOCK: &str = ".lock";

/// The folder with all jobs of a store.
#[derive(Debug, Clone)]
pub struct JobFolder(PathBuf);

/// The lock of a job that runs here. Dropped, the job does not run any more.
#[derive(Debug)]
pub struct HeldJob {
    path: PathBuf,
    _locked: File,
}

impl Drop for HeldJob {
    fn drop(&mut self) {
        // What is left is removed with the job.
        let _ = fs::remove_file(&self.path);
    }
}

impl JobFolder {
    /// The folder in the store at `home`, which need not be there.
    pub fn of(home: &Path) -> Self {
        Self(home.join("jobs"))
    }

    /// Writes down a job that begins, and holds its lock.
    pub fn begin(&self, job: &Job) -> Result<HeldJob, StoreError> {
        private::make_folder(&self.0).doing("create", &self.0)?;
        let path = self.path(&job.id, LOCK);
        // The name is new: a job whose name is taken is not begun.
        let file = layout::create(&path).doing("create", &path)?;
        let locked = file.lock().doing("lock", &path);
        let held = HeldJob { path, _locked: file };
        locked?;
        self.write(job)?;
        Ok(held)
    }

    /// Writes down how a job is now.
    pub fn write(&self, job: &Job) -> Result<(), StoreError> {
        let path = self.path(&job.id, RECORD);
        layout::write_by_rename(&path, &job.to_json()).map(drop)
    }

    /// A job as it is; `None` if there is none of this name. One that was left behind has failed.
    pub fn read(&self, id: &JobId) -> Option<Job> {
        let job = self.record(id)?;
        if !job.is_running() || self.is_held(id) {
            return Some(job);
        }
        // It may have ended since.
        let mut job = self.record(id)?;
        if job.is_running() {
            job.end(JobEnd::Failed(LOST.to_owned()), Timestamp::now());
            // Whoever looks next finds out, too.
            let _ = self.write(&job);
            let _ = fs::remove_file(self.path(id, LOCK));
        }
        Some(job)
    }

    /// Removes what is known of a job.
    pub fn remove(&self, id: &JobId) {
        // If it stays, it is a job that was left behind.
        let _ = fs::remove_file(self.path(id, RECORD));
    }

    /// All jobs, in no order.
    pub fn all(&self) -> Vec<Job> {
        let names = self.names(RECORD);
        names.iter().filter_map(|name| self.read(&JobId::parse(name)?)).collect()
    }

    /// Removes the results of jobs that have expired, and what nobody is told of any more.
    pub fn tidy(&self, now: Timestamp, lifetime: Duration) {
        for job in self.all() {
            let id = job.id.clone();
            match job.clone().as_of(now, lifetime) {
                None => {
                    let _ = fs::remove_file(self.path(&id, RECORD));
                }
                // Failures to write are for those to tell who write something that matters.
                Some(expired) if expired.state != job.state => drop(self.write(&expired)),
                Some(_) => {}
            }
        }
        for id in self.names(LOCK).iter().filter_map(|name| JobId::parse(name)) {
            let path = self.path(&id, LOCK);
            // Of one that has ended, or that never began; its process has died before it could remove it.
            let is_left = match self.record(&id) {
                Some(job) => !job.is_running(),
                None => layout::is_abandoned(&path),
            };
            if is_left && !self.is_held(&id) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The names of the files that end so, without their end.
    fn names(&self, end: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(end).map(str::to_owned)).collect()
    }

    fn record(&self, id: &JobId) -> Option<Job> {
        let file = layout::open(&self.path(id, RECORD)).ok()?;
        let mut json = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut json).ok()?;
        Job::from_json(&json).filter(|job| job.id == *id)
    }

    /// True while a living process holds the job's lock.
    fn is_held(&self, id: &JobId) -> bool {
        match layout::open(&self.path(id, LOCK)) {
            Ok(file) => file.try_lock().is_err(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    fn path(&self, id: &JobId, end: &str) -> PathBuf {
        self.0.join(format!("{id}{end}"))
    }
}

#[cfg(test)]
mod tests;
