//! Why a remote upstream gave no answer, in words that say what to do.

use std::{error::Error, io};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use rustls::CertificateError;

use super::{CONNECT, is_this_machine, shown};
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
    pub(super) fn of(name: UpstreamName, url: &Url, source: reqwest::Error) -> Self {
        // What may be secret in the URL is no part of an error.
        let source = source.without_url();
        let (why, url) = (explain(&source, url), shown(url));
        if source.is_connect() {
            Self::Unreachable { name, url, why, source }
        } else {
            Self::BrokenOff { name, url, why, source }
        }
    }
}

/// Why a request to `url` failed, and what to do about it.
pub fn explain(error: &reqwest::Error, url: &Url) -> String {
    if error.is_connect() {
        why_unreachable(error, proxy_of(url).as_deref())
    } else {
        deepest(error)
    }
}

/// The proxy that requests to `url` go through, without what may be secret in its address.
pub(crate) fn proxy_of(url: &Url) -> Option<String> {
    // The same rules as those by which requests are sent.
    let found = Matcher::from_system().intercept(&url.as_str().parse().ok()?);
    let proxy = found.filter(|_| !is_this_machine(url))?;
    let uri = proxy.uri();
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}://{}{port}", uri.scheme_str().unwrap_or("http"), uri.host()?))
}

fn why_unreachable(error: &reqwest::Error, proxy: Option<&str>) -> String {
    let seconds = CONNECT.as_secs();
    if error.is_timeout() {
        return match proxy {
            Some(proxy) => format!("no connection within {seconds} s through {}", named(proxy)),
            None => format!("no connection within {seconds} s; check the address"),
        };
    }
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

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// What the last in the chain of causes says, which is the least general.
fn deepest(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
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
