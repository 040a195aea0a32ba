//! Why a model has said nothing.

use forebay_proxy::chain::SamplingFailure;
use forebay_services::ServiceError;

/// A question to a model that came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It has been asked too often.
    #[error("it has been asked too often (429)")]
    TooOften,
    /// Something is wrong on its side.
    #[error("it has failed ({0})")]
    Server(u16),
    /// It does not accept the question: the key, the model's name, or what was asked.
    #[error("it does not accept the question ({status}): {why}")]
    NotAccepted { status: u16, why: String },
    /// It did not answer in time.
    #[error("it did not answer in time")]
    TimeOut,
    /// It cannot be reached, or broke off.
    #[error(transparent)]
    Unreachable(ServiceError),
    /// It does not want to say anything.
    #[error("it declined: {0}")]
    Declined(String),
    /// What it said is no JSON.
    #[error("its answer is no JSON")]
    NotJson,
    /// What it said is not what was asked for.
    #[error("its answer has another form: {0}")]
    WrongSchema(String),
    /// It said nothing.
    #[error("its answer is empty")]
    Empty,
}

impl Failure {
    /// Under which name it is counted.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::TooOften => "failed_429",
            Self::Server(_) => "failed_500",
            Self::NotAccepted { .. } => "failed_not_accepted",
            Self::TimeOut => "failed_time_out",
            Self::Unreachable(_) => "failed_refused",
            Self::Declined(_) => "failed_declined",
            Self::NotJson => "failed_invalid_json",
            Self::WrongSchema(_) => "failed_wrong_schema",
            Self::Empty => "failed_empty",
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Late { .. } => Self::TimeOut,
            other => Self::Unreachable(other),
        }
    }
}

impl From<SamplingFailure> for Failure {
    fn from(failure: SamplingFailure) -> Self {
        match failure {
            SamplingFailure::Late => Self::TimeOut,
            other => Self::Declined(other.to_string()),
        }
    }
}
