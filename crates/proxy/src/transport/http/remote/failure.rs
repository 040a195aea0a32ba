//! Why a remote upstream gave no answer, in words that say what to do.

use std::{error::Error, io};

use super::CONNECT;
use crate::{router::UpstreamName, transport::http::CredentialsError};

/// A request that got no response, or not all of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// No connection could be made: nothing has been sent.
    #[error("cannot reach upstream `{name}` at {url}: {why}")]
    Unreachable {
        /// The upstream.
        name: UpstreamName,
        /// Where it should be.
        url: String,
        /// What went wrong, and what to check.
        why: String,
        /// What the client said.
        #[source]
        source: reqwest::Error,
    },
    /// The connection was lost; what was asked may have been done.
    #[error("upstream `{name}` at {url} broke the connection off: {why}")]
    BrokenOff {
        /// The upstream.
        name: UpstreamName,
        /// Where it is.
        url: String,
        /// What went wrong.
        why: String,
        /// What the client said.
        #[source]
        source: reqwest::Error,
    },
    /// There are credentials, and they cannot be read or renewed.
    #[error("cannot log in to upstream `{name}`: {source}")]
    Credentials {
        /// The upstream.
        name: UpstreamName,
        /// What is wrong with them.
        #[source]
        source: CredentialsError,
    },
}

impl RemoteError {
    pub(super) fn of(name: UpstreamName, url: String, source: reqwest::Error) -> Self {
        // What may be secret in the URL is no part of an error.
        let source = source.without_url();
        if source.is_connect() {
            let why = why_unreachable(&source);
            Self::Unreachable { name, url, why, source }
        } else {
            let why = deepest(&source);
            Self::BrokenOff { name, url, why, source }
        }
    }
}

fn why_unreachable(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no connection within {} s; check the address", CONNECT.as_secs());
    }
    let found = causes(error).find_map(|cause| {
        let refused = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if refused {
            return Some("connection refused; is it running?".to_owned());
        }
        let text = cause.to_string();
        if text.contains("failed to lookup address") {
            return Some("its host name is not known; check the URL".to_owned());
        }
        match tls_error(cause)? {
            rustls::Error::InvalidMessage(_) => {
                Some("it does not speak TLS; does its URL begin with http://?".to_owned())
            }
            rustls::Error::InvalidCertificate(why) => {
                Some(format!("its certificate is not trusted: {why}"))
            }
            other => Some(other.to_string()),
        }
    });
    found.unwrap_or_else(|| deepest(error))
}

/// An `io::Error` does not name what it was made of as its cause, but that one's cause.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<io::Error>() {
        Some(wrapper) => tls_error(wrapper.get_ref()?),
        None => cause.downcast_ref(),
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// What the last in the chain of causes says, which is the least general.
fn deepest(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}
