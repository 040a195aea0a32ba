//! Why there is no answer to a request, as whoever asked is told.

use std::io;

use http::StatusCode;

use super::super::{Remote, RemoteError};

/// What went wrong: on the way, at the upstream, or here.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The upstream was not reached, or broke off.
    #[error(transparent)]
    OnTheWay(#[from] RemoteError),
    /// The upstream refused, and said so.
    #[error("{0}")]
    Refused(String),
    /// The upstream answered with something else.
    #[error("upstream `{upstream}` at {url} answered {status} with {what}")]
    NoAnswer { upstream: String, url: String, status: StatusCode, what: String },
    /// The upstream does not know its session any more, and opens no other.
    #[error("upstream `{upstream}` has forgotten the session{then}")]
    SessionLost { upstream: String, then: String },
    /// The upstream ended a stream before the answer was there.
    #[error(
        "upstream `{upstream}` at {url} was to answer on a stream that broke off ({why}); what was \
         asked for may have been done or not"
    )]
    BrokenOff { upstream: String, url: String, why: String },
    /// We have no place for the answer.
    #[error("the answer of upstream `{upstream}` is too large to be held: {source}")]
    TooLarge { upstream: String, source: io::Error },
}

impl Failure {
    pub(super) fn no_answer(remote: &Remote, status: StatusCode, what: impl Into<String>) -> Self {
        let (upstream, url) = (remote.name().to_string(), remote.shown_url());
        Self::NoAnswer { upstream, url, status, what: what.into() }
    }

    pub(super) fn session_lost(remote: &Remote, then: impl Into<String>) -> Self {
        Self::SessionLost { upstream: remote.name().to_string(), then: then.into() }
    }

    pub(super) fn broken_off(remote: &Remote, why: impl Into<String>) -> Self {
        let (upstream, url) = (remote.name().to_string(), remote.shown_url());
        Self::BrokenOff { upstream, url, why: why.into() }
    }
}
