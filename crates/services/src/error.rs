//! Why a service has not answered.

/// A request that came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No request can be made at all.
    #[error("requests cannot be made: {0}")]
    Setup(String),
    /// The service could not be reached, or broke off.
    #[error("{host} cannot be reached: {why}")]
    Unreachable {
        /// Who was asked.
        host: String,
        /// What went wrong.
        why: String,
    },
    /// The deadline passed.
    #[error("{host} did not answer in time")]
    Late {
        /// Who was asked.
        host: String,
    },
    /// The answer is longer than any should be.
    #[error("the answer of {host} is longer than {limit} bytes")]
    TooLong {
        /// Who was asked.
        host: String,
        /// What it may be.
        limit: u64,
    },
}
