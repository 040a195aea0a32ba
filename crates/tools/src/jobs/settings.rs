//! How many jobs there may be, and how long what is known of them is told.

use std::time::Duration;

/// What holds for all jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSettings {
    /// Whether a call can ask to become a job.
    pub argument: bool,
    /// For how long the result of a job is told after its end.
    pub lifetime: Duration,
    /// How many run at once.
    pub max_running: usize,
    /// How many of them are of one session.
    pub max_per_session: usize,
    /// How long a question about a job may wait for its end.
    pub max_wait: Duration,
    /// How long a job may run.
    pub max_run: Duration,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self {
            argument: false,
            lifetime: Duration::from_secs(60 * 60),
            max_running: 16,
            max_per_session: 8,
            // Most clients give up a call after a minute.
            max_wait: Duration::from_secs(50),
            max_run: Duration::from_secs(24 * 60 * 60),
        }
    }
}
