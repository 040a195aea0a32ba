//! The jobs of this process that run, and what is on disk of all others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use forebay_proxy::chain::OfClient;
use forebay_store::{Job, JobEnd, JobFolder, JobId, JobState, StoreError, Viewer};
use jiff::{SignedDuration, Timestamp};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{
    awaited::Awaited,
    claims::{Came, Claim, Claims},
    running::Running,
    settings::JobSettings,
};
use crate::events;

/// How often what is old is removed, if something is asked or written at all.
const TIDIES_EACH: Duration = Duration::from_secs(60);

/// How often somebody who waits looks at a job of another process, of whose end nobody tells.
const LOOKS_EACH: Duration = Duration::from_millis(200);

/// How many questions wait for the end of a job at once. Others are answered without waiting: whoever waits keeps
/// one of the threads that all tools share.
const MAX_WAITING: usize = 16;

/// All jobs.
pub struct Board {
    folder: JobFolder,
    settings: JobSettings,
    /// What the tool is called that tells of jobs.
    status_tool: String,
    /// What has been begun and is no job yet. Locked before the jobs, where both are.
    claims: Mutex<Claims>,
    /// Those of this process. One that has ended stays if that could not be written down.
    jobs: Mutex<Vec<Arc<Running>>>,
    changed: Condvar,
    waiting: AtomicUsize,
    tidied: Mutex<Option<Instant>>,
}

/// Why a job cannot begin.
#[derive(Debug)]
pub(super) enum NotBegun {
    /// Too many run.
    Full,
    /// It cannot be written down.
    Store(StoreError),
}

/// What becomes of a call that asks for some work.
pub(super) enum Claimed {
    /// It does the work.
    Mine(Mine),
    /// Another does it, and has not waited long.
    Others(Arc<Claim>),
    /// This job does it.
    Runs(Box<Job>),
    /// It is to be a job at once, and there is no room.
    Full(Limit),
}

/// The right to do some work, given back when it is dropped.
pub(super) struct Mine {
    board: Arc<Board>,
    work: String,
    claim: Arc<Claim>,
}

impl Mine {
    pub(super) fn awaited(&self) -> &Arc<Awaited> {
        &self.claim.awaited
    }

    /// Says what came of it to all who wait.
    pub(super) fn settle(&self, came: Came) {
        self.claim.settle(came);
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        self.board.claims.lock().remove(&self.work);
        self.claim.settle(Came::Nothing);
    }
}

/// A job that begins: for whom, what and since when.
pub(super) fn job(
    viewer: &Viewer,
    (server, tool): (&str, &str),
    work: &str,
    asked_at: Instant,
) -> Job {
    let now = Timestamp::now();
    let age = SignedDuration::try_from(asked_at.elapsed()).unwrap_or_default();
    Job {
        id: JobId::random(),
        server: server.to_owned(),
        tool: tool.to_owned(),
        work: work.to_owned(),
        principal: viewer.principal.clone(),
        session: viewer.session.clone(),
        project: viewer.project.clone(),
        started: now.checked_sub(age).unwrap_or(now),
        updated: now,
        progress: None,
        state: JobState::Running,
    }
}

impl Board {
    /// The jobs in a store. `status_tool` is what clients call the tool that tells of them.
    pub fn new(folder: JobFolder, settings: JobSettings, status_tool: String) -> Self {
        let (jobs, changed, tidied) = (Mutex::default(), Condvar::new(), Mutex::default());
        let (claims, waiting) = (Mutex::default(), AtomicUsize::new(0));
        Self { folder, settings, status_tool, claims, jobs, changed, waiting, tidied }
    }

    pub(super) fn settings(&self) -> &JobSettings {
        &self.settings
    }

    pub(super) fn status_tool(&self) -> &str {
        &self.status_tool
    }

    /// The job that does this work, if one runs.
    pub(super) fn running(&self, work: &str) -> Option<Job> {
        let jobs = self.jobs();
        let mut running = jobs.iter().map(|it| it.job()).filter(Job::is_running);
        running.find(|job| job.work == work)
    }

    /// Whether a call of `viewer`'s is to do this work, which becomes a job after that time.
    pub(super) fn claim(self: &Arc<Self>, work: &str, viewer: &Viewer, after: Duration) -> Claimed {
        let mut claims = self.claims.lock();
        if let Some(job) = self.running(work) {
            return Claimed::Runs(Box::new(job));
        }
        if let Some(claim) = claims.get(work) {
            return Claimed::Others(claim.clone());
        }
        let session = viewer.session.clone();
        // Nothing is lost by waiting: nothing has begun.
        if after.is_zero()
            && let Some(limit) =
                reached(&self.jobs(), &claims, &self.settings, session.as_deref(), None)
        {
            return Claimed::Full(limit);
        }
        let claim = Arc::new(Claim::new(session, after.is_zero()));
        claims.insert(work.to_owned(), claim.clone());
        Claimed::Mine(Mine { board: self.clone(), work: work.to_owned(), claim })
    }

    /// True if some job runs here.
    pub(super) fn has_some(&self) -> bool {
        !self.jobs.lock().is_empty()
    }

    /// What is said to a call that has to wait until another has ended.
    pub(super) fn full(&self, limit: Limit) -> String {
        let JobSettings { max_running, max_per_session, .. } = self.settings;
        let (count, whose) = match limit {
            Limit::OfAll => (max_running, "of all sessions"),
            Limit::OfSession => (max_per_session, "of this session"),
        };
        format!(
            "Nothing was started: {count} jobs {whose} run already, and no more may. Wait for one of yours with \
             {} and wait_seconds, or a while, then call again.",
            self.status_tool
        )
    }

    /// Writes a job down, which from now on is told as running.
    pub(super) fn begin(&self, job: Job, of_client: OfClient) -> Result<Arc<Running>, NotBegun> {
        let claims = self.claims.lock();
        let mut jobs = self.jobs();
        let session = job.session.as_deref();
        if reached(&jobs, &claims, &self.settings, session, Some(&job.work)).is_some() {
            return Err(NotBegun::Full);
        }
        let held = self.folder.begin(&job).map_err(NotBegun::Store)?;
        let running = Arc::new(Running::new(self.folder.clone(), job, of_client, held));
        jobs.push(running.clone());
        Ok(running)
    }

    /// A job is none: its call was answered while it was written down.
    pub(super) fn take_back(&self, running: &Arc<Running>) {
        self.jobs().retain(|it| !Arc::ptr_eq(it, running));
        running.let_go();
        self.folder.remove(&running.job().id);
    }

    /// A job has ended.
    pub(super) fn end(&self, running: &Arc<Running>, how: JobEnd) {
        let ended = running.end(how);
        match self.folder.write(&ended) {
            Ok(()) => self.let_go(running),
            // Its lock stays, so that nobody else takes it for lost.
            Err(error) => events::job_not_written(&ended.id, &error),
        }
        events::job_ended(&ended);
        self.changed.notify_all();
        self.tidy_if_due();
    }

    /// A job has ended, and nobody need ask this process for it.
    fn let_go(&self, running: &Arc<Running>) {
        self.jobs().retain(|it| !Arc::ptr_eq(it, running));
        running.let_go();
    }

    /// Tries again to write down how jobs ended, until they have expired.
    fn write_what_is_left(&self, now: Timestamp) {
        let ended: Vec<_> =
            self.jobs().iter().filter(|it| !it.job().is_running()).cloned().collect();
        for running in ended {
            let job = running.job();
            let told = job.clone().as_of(now, self.settings.lifetime);
            if told.as_ref() != Some(&job) || self.folder.write(&job).is_ok() {
                self.let_go(&running);
            }
        }
    }

    /// A job that `viewer` may know of, as it is now.
    pub(super) fn job(&self, id: &JobId, viewer: &Viewer) -> Option<Job> {
        // Not in the `or_else`, which would keep them locked.
        let here = self.jobs().iter().map(|it| it.job()).find(|job| job.id == *id);
        let job = here.or_else(|| self.folder.read(id))?;
        job.as_of(Timestamp::now(), self.settings.lifetime).filter(|job| job.is_seen_by(viewer))
    }

    /// The jobs that run here and that `viewer` may know of.
    pub(super) fn running_for(&self, viewer: &Viewer) -> Vec<Job> {
        let jobs = self.jobs().iter().map(|it| it.job()).collect::<Vec<_>>();
        jobs.into_iter().filter(|job| job.is_running() && job.is_seen_by(viewer)).collect()
    }

    /// Waits until a job has ended, or until that time, or until `is_cancelled`.
    pub(super) fn wait(
        &self,
        id: &JobId,
        viewer: &Viewer,
        until: Instant,
        is_cancelled: impl Fn() -> bool,
    ) -> Option<Job> {
        let _place = Place::taken(&self.waiting);
        let may_wait = self.waiting.load(Ordering::Relaxed) <= MAX_WAITING;
        loop {
            let job = self.job(id, viewer)?;
            let now = Instant::now();
            if !job.is_running() || !may_wait || now >= until || is_cancelled() {
                return Some(job);
            }
            self.changed.wait_for(&mut self.jobs.lock(), (until - now).min(LOOKS_EACH));
        }
    }

    /// Lets those who wait look again, because somebody has given up waiting.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Ends a job; `false` if it does not run here.
    pub(super) fn cancel(&self, id: &JobId) -> bool {
        // Not in the `if`, which would keep them locked.
        let running = self.jobs().iter().find(|it| it.job().id == *id).cloned();
        if let Some(running) = &running {
            running.cancel();
        }
        running.is_some()
    }

    /// The jobs of this process. Those that have run for too long are being ended.
    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Running>>> {
        let jobs = self.jobs.lock();
        jobs.iter().for_each(|it| it.cancel_after(self.settings.max_run));
        jobs
    }

    /// Removes what is old, now and then: when a job ends, and when somebody asks for one.
    pub(super) fn tidy_if_due(&self) {
        {
            let mut tidied = self.tidied.lock();
            if tidied.is_some_and(|then| then.elapsed() < TIDIES_EACH) {
                return;
            }
            *tidied = Some(Instant::now());
        }
        let now = Timestamp::now();
        self.write_what_is_left(now);
        self.folder.tidy(now, self.settings.lifetime);
    }
}

/// One of those who wait.
struct Place<'w>(&'w AtomicUsize);

impl<'w> Place<'w> {
    fn taken(waiting: &'w AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A limit of how many jobs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// In this process.
    OfAll,
    OfSession,
}

/// Which limit keeps one more from running for that session: the one that does the work `except`, if that is
/// given.
fn reached(
    jobs: &[Arc<Running>],
    claims: &Claims,
    settings: &JobSettings,
    session: Option<&str>,
    except: Option<&str>,
) -> Option<Limit> {
    let running = jobs.iter().map(|it| it.job()).filter(Job::is_running).map(|job| job.session);
    // Those that are about to be jobs have their places.
    let about = claims.iter().filter(|(work, _)| Some(work.as_str()) != except);
    let about = about.filter(|(_, claim)| claim.is_job_at_once).map(|(_, it)| it.session.clone());
    let all: Vec<Option<String>> = running.chain(about).collect();
    let of_session = all.iter().filter(|of| of.as_deref() == session).count();
    if of_session >= settings.max_per_session {
        return Some(Limit::OfSession);
    }
    (all.len() >= settings.max_running).then_some(Limit::OfAll)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use forebay_store::JobOutcome;

    use super::*;

    #[test]
    fn a_job_whose_end_cannot_be_written_is_not_taken_for_lost() {
        let home = tempfile::tempdir().unwrap();
        let (folder, other) = (JobFolder::of(home.path()), JobFolder::of(home.path()));
        let board = Arc::new(Board::new(folder, JobSettings::default(), String::new()));
        let job = job(&Viewer::default(), ("s", "t"), "work", Instant::now());
        let id = job.id.clone();
        let running = board.begin(job, OfClient::default()).unwrap();
        let (jobs, away) = (home.path().join("jobs"), home.path().join("away"));
        fs::rename(&jobs, &away).unwrap();
        let outcome = JobOutcome { result: Some("{}".into()), dataset: None, summary: None };
        board.end(&running, JobEnd::Completed(outcome.clone()));
        fs::rename(&away, &jobs).unwrap();
        assert_eq!(other.read(&id).unwrap().state, JobState::Running, "it has not failed");
        let told = board.job(&id, &Viewer::default()).unwrap();
        assert_eq!(told.state, JobState::Completed(outcome.clone()), "here it is told");
        board.write_what_is_left(Timestamp::now());
        assert_eq!(other.read(&id).unwrap().state, JobState::Completed(outcome));
        assert!(!board.has_some());
    }
}
