//! Why a remote upstream gave no answer, in words that say what to do.

use std::{error::Error, io};

use rustls::CertificateError;
use url::Url;

use super::{
    shown,
    way::{BoxError, proxy_of},
};
use crate::{limits, router::UpstreamName, upstream::CredentialsError};

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
        source: BoxError,
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
        source: BoxError,
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

/// How far a request got before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// No connection could be made.
    Nobody,
    /// The same, because it took too long.
    NobodyInTime,
    /// The server was reached.
    Server,
}

impl RemoteError {
    pub(super) fn of(name: UpstreamName, url: &Url, reached: Reached, source: BoxError) -> Self {
        let (why, url) = (explain(&*source, reached, url), shown(url));
        match reached {
            Reached::Nobody | Reached::NobodyInTime => Self::Unreachable { name, url, why, source },
            Reached::Server => Self::BrokenOff { name, url, why, source },
        }
    }
}

/// Why a request to `url` failed, and what to do about it.
pub fn explain(error: &(dyn Error + 'static), reached: Reached, url: &Url) -> String {
    let proxy = proxy_of(url);
    let seconds = limits::CONNECT.as_secs();
    match (reached, proxy) {
        (Reached::Server, _) => deepest(error),
        (Reached::Nobody, proxy) => why_unreachable(error, proxy.as_deref()),
        (Reached::NobodyInTime, Some(proxy)) => {
            format!("no connection within {seconds} s through {}", named(&proxy))
        }
        (Reached::NobodyInTime, None) => {
            format!("no connection within {seconds} s; check the address")
        }
    }
}

fn why_unreachable(error: &(dyn Error + 'static), proxy: Option<&str>) -> String {
    let found = causes(error).find_map(|cause| {
        let text = cause.to_string();
        let refused = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
            // It keeps to itself why.
            || text == "SOCKS error: failed to create underlying connection";
        let unknown = text.contains("failed to lookup address");
        match (tls_error(cause), proxy) {
            (Some(error), _) => Some(of_tls(error)),
            (None, Some(proxy)) if refused => {
                Some(format!("no connection to {}; is it running?", named(proxy)))
            }
            (None, Some(proxy)) if unknown => {
                Some(format!("there is no host of the name of {}", named(proxy)))
            }
            (None, None) if refused => Some("connection refused; is it running?".to_owned()),
            (None, None) if unknown => Some("its host name is not known; check the URL".to_owned()),
            (None, _) => None,
        }
    });
    found.unwrap_or_else(|| match (deepest(error), proxy) {
        (why, Some(proxy)) => format!("{why}, through {}", named(proxy)),
        (why, None) => why,
    })
}

/// A proxy, and where it was said to be used.
fn named(proxy: &str) -> String {
    format!("the proxy {proxy} (from HTTPS_PROXY, HTTP_PROXY or ALL_PROXY)")
}

fn of_tls(error: &rustls::Error) -> String {
    let certificate = match error {
        rustls::Error::InvalidMessage(_) => {
            return "it does not speak TLS; does its URL begin with http://?".to_owned();
        }
        rustls::Error::InvalidCertificate(certificate) => certificate,
        other => return other.to_string(),
    };
    match certificate {
        CertificateError::UnknownIssuer => {
            "its certificate is signed by nobody whom this machine trusts. If it is self-signed, or \
             of a private authority, or of a proxy that looks into TLS, and you trust that: pass \
             its certificate with --ca-file FILE"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired; check that, and this machine's clock".to_owned()
        }
        // What checks certificates has no name of its own for this one.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "its certificate is self-signed and one for an authority (CA:TRUE), which no server may \
             show as its own. Make one for the server, signed by that authority or with CA:FALSE, \
             and pass the authority's, or the latter, with --ca-file FILE"
                .to_owned()
        }
        other => format!("its certificate is not trusted: {other}"),
    }
}

/// An `io::Error` does not name what it was made of as its cause, but that one's cause.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<io::Error>() {
        Some(wrapper) => tls_error(wrapper.get_ref()?),
        None => cause.downcast_ref(),
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&cause| cause.source())
}

/// What the last in the chain of causes says, which is the least general.
pub(super) fn deepest(error: &(dyn Error + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_is_not_trusted_is_told_in_words() {
        let told = |why| of_tls(&rustls::Error::InvalidCertificate(why));
        for why in [CertificateError::UnknownIssuer, ca_as_end_entity()] {
            let said = told(why);
            assert!(said.contains("self-signed") && said.contains("--ca-file FILE"), "{said}");
            assert!(!said.contains("OtherError"), "{said}");
        }
        assert!(told(CertificateError::Expired).contains("clock"));
    }

    fn ca_as_end_entity() -> CertificateError {
        #[derive(Debug)]
        struct CaUsedAsEndEntity;
        impl std::fmt::Display for CaUsedAsEndEntity {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("CaUsedAsEndEntity")
            }
        }
        impl Error for CaUsedAsEndEntity {}
        CertificateError::Other(rustls::OtherError(std::sync::Arc::new(CaUsedAsEndEntity)))
    }
}
