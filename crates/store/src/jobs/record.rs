//! What is known of a job, and what it may become. Has no clock: the time is told.

use std::{fmt, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{DatasetId, Principal, Viewer, id};

const PREFIX: &str = "job_";

/// For how long a job that has expired is told of; then nothing is known of it.
const TOLD_AS_EXPIRED: SignedDuration = SignedDuration::from_hours(24);

/// A job's name, such as `job_k3v9x2ma`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

/// A call that goes on without whoever made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// Whose tool was called.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// A hash of what is being done, and for whom: the same work has the same.
    pub work: String,
    /// For whom the call was made.
    pub principal: Principal,
    /// The session in which it was made.
    pub session: Option<String>,
    /// The project that it was made for.
    pub project: Option<String>,
    /// When the call was made.
    pub started: Timestamp,
    /// When something was last heard of it.
    pub updated: Timestamp,
    /// How far it was then, if its tool tells that.
    pub progress: Option<JobProgress>,
    /// How it is.
    #[serde(flatten)]
    pub state: JobState,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobProgress {
    /// What is done.
    pub done: f64,
    /// Of how much, if that is known.
    pub total: Option<f64>,
    /// What is being done; may be empty.
    pub message: String,
}

/// How a job is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum JobState {
    /// Its tool has not answered.
    Running,
    /// The tool has answered.
    Completed(JobOutcome),
    /// There will be no result.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// Somebody has ended it.
    Cancelled,
    /// It has ended long ago, and its result is no longer told.
    Expired {
        /// The dataset that its result was kept as, which may still be there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dataset: Option<DatasetId>,
    },
}

/// What a tool has answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// The whole result, as JSON, if it is short.
    pub result: Option<String>,
    /// Else the dataset that it was kept as.
    pub dataset: Option<DatasetId>,
    /// What is said of that, shortened.
    pub summary: Option<String>,
}

/// How a job ends.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEnd {
    /// With an answer.
    Completed(JobOutcome),
    /// Without one, for this reason.
    Failed(String),
    /// Because somebody wants it to.
    Cancelled,
}

impl JobId {
    /// Makes a new one at random.
    pub fn random() -> Self {
        Self(id::random(PREFIX))
    }

    /// Reads a name, with or without its prefix; `None` if no job can be called so.
    pub fn parse(text: &str) -> Option<Self> {
        id::parsed(text, PREFIX).map(Self)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

impl TryFrom<String> for JobId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not the name of a job"))
    }
}

impl Job {
    /// True until it has ended.
    pub fn is_running(&self) -> bool {
        self.state == JobState::Running
    }

    /// True if `viewer` may know of it: what holds for datasets holds for jobs.
    pub fn is_seen_by(&self, viewer: &Viewer) -> bool {
        viewer.sees_what_is_of(&self.principal, self.session.as_deref(), self.project.as_deref())
    }

    /// Notes how far it is. One that has ended stays as it is.
    pub fn note_progress(&mut self, progress: JobProgress, now: Timestamp) {
        // What is no number cannot be written as JSON.
        if self.is_running() && progress.done.is_finite() {
            let total = progress.total.filter(|total| total.is_finite());
            (self.progress, self.updated) = (Some(JobProgress { total, ..progress }), now);
        }
    }

    /// Ends it. The first end counts.
    pub fn end(&mut self, how: JobEnd, now: Timestamp) {
        if self.is_running() {
            self.updated = now;
            self.state = match how {
                JobEnd::Completed(outcome) => JobState::Completed(outcome),
                JobEnd::Failed(error) => JobState::Failed { error },
                JobEnd::Cancelled => JobState::Cancelled,
            };
        }
    }

    /// The job as it is told at `now`, if what has ended is told for `lifetime`; `None` if nothing is told of
    /// it any more.
    pub fn as_of(mut self, now: Timestamp, lifetime: Duration) -> Option<Self> {
        let lifetime = SignedDuration::try_from(lifetime).unwrap_or(SignedDuration::MAX);
        let since = now.duration_since(self.updated);
        if self.is_running() || since < lifetime {
            return Some(self);
        }
        let dataset = match self.state {
            JobState::Completed(outcome) => outcome.dataset,
            JobState::Expired { dataset } => dataset,
            JobState::Running | JobState::Failed { .. } | JobState::Cancelled => None,
        };
        self.state = JobState::Expired { dataset };
        (since < lifetime.saturating_add(TOLD_AS_EXPIRED)).then_some(self)
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}
