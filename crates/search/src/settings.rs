//! How much is indexed, and when.

use std::time::Duration;

/// How much is indexed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// What is kept is indexed once nothing else has been kept for so long.
    pub quiet: Duration,
    /// What fails because a service does not answer is tried again after so long, and then after twice as long,
    /// and so on, up to sixteen times as long.
    pub retry: Duration,
    /// How many passages of a dataset are found by their words.
    pub max_passages: usize,
    /// How many of them are found by their meaning, too. Each costs the embedder some work.
    pub max_vectors: usize,
    /// How much of a payload is looked at.
    pub max_bytes: usize,
    /// What is held in memory is given back when nobody has searched for so long.
    pub idle: Duration,
    /// A question whose vector is not there by then is answered by words alone.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(2),
            retry: Duration::from_secs(15),
            max_passages: 2_000,
            max_vectors: 64,
            max_bytes: 32 * 1024 * 1024,
            idle: Duration::from_secs(60),
            deadline: Duration::from_millis(1_500),
        }
    }
}
