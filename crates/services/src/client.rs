//! Makes the requests.

use std::{
    error::Error as _,
    fmt,
    io::Read as _,
    time::{Duration, Instant},
};

use http::{StatusCode, header::CONTENT_TYPE};
use reqwest::{Certificate, Url, blocking, redirect::Policy};

use crate::ServiceError;

/// No answer that is asked for is longer.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Another machine that cannot be reached in this time is not there.
const TO_CONNECT: Duration = Duration::from_secs(10);

/// Makes requests, and keeps connections for the next. Clones share them.
#[derive(Clone)]
pub struct Client {
    /// For other machines, through a proxy if one is set.
    outside: blocking::Client,
    /// For this machine, where no proxy has to look on.
    inside: blocking::Client,
    max_answer_bytes: u64,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Asks for what there is.
    Get,
    /// Sends something.
    Post,
    /// Takes something away.
    Delete,
}

/// What is asked of a service.
#[derive(Clone)]
pub struct Request<'a> {
    /// How it is asked.
    pub method: Method,
    /// Where.
    pub url: &'a Url,
    /// Headers besides those that every request has. Their values are never shown.
    pub headers: &'a [(&'a str, &'a str)],
    /// JSON, or nothing.
    pub body: Option<Vec<u8>>,
}

/// What a service has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it did what was asked.
    pub status: StatusCode,
    /// What it said.
    pub body: Vec<u8>,
}

impl Client {
    /// A client that trusts these authorities (DER) besides those of the system. No connection is made.
    pub fn new(trusted: &[impl AsRef<[u8]>]) -> Result<Self, ServiceError> {
        // It fails if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let setup = |error: reqwest::Error| ServiceError::Setup(told(&error));
        let certificates: Vec<Certificate> = trusted
            .iter()
            .map(|der| Certificate::from_der(der.as_ref()))
            .collect::<Result<_, _>>()
            .map_err(setup)?;
        let client = || {
            blocking::Client::builder()
                .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
                .tls_certs_merge(certificates.clone())
                .redirect(Policy::none())
                .connect_timeout(TO_CONNECT)
        };
        let outside = client().build().map_err(setup)?;
        let inside = client().no_proxy().build().map_err(setup)?;
        Ok(Self { outside, inside, max_answer_bytes: MAX_ANSWER_BYTES })
    }

    /// The same client, to which an answer of more bytes than this is none.
    #[must_use]
    pub fn taking_up_to(self, max_answer_bytes: u64) -> Self {
        Self { max_answer_bytes, ..self }
    }

    /// Asks, and waits until `deadline` for the whole answer. An answer that says no is an answer.
    pub fn ask(&self, request: Request<'_>, deadline: Instant) -> Result<Answer, ServiceError> {
        let host = || request.url.host_str().unwrap_or_default().to_owned();
        let failed = |error: &reqwest::Error| {
            let host = host();
            if error.is_timeout() {
                return ServiceError::Late { host };
            }
            ServiceError::Unreachable { host, why: told(error) }
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ServiceError::Late { host: host() });
        }
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Delete => http::Method::DELETE,
        };
        let client = if is_this_machine(request.url) { &self.inside } else { &self.outside };
        let mut asked = client.request(method, request.url.clone()).timeout(left);
        for (name, value) in request.headers {
            asked = asked.header(*name, *value);
        }
        if let Some(body) = request.body {
            asked = asked.header(CONTENT_TYPE, "application/json").body(body);
        }
        let answer = asked.send().map_err(|error| failed(&error))?;
        let status = answer.status();
        let mut body = Vec::new();
        answer.take(self.max_answer_bytes.saturating_add(1)).read_to_end(&mut body).map_err(
            |error| {
                let inner =
                    error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>());
                match inner {
                    Some(inner) => failed(inner),
                    None => ServiceError::Unreachable { host: host(), why: error.to_string() },
                }
            },
        )?;
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > self.max_answer_bytes {
            return Err(ServiceError::TooLong { host: host(), limit: self.max_answer_bytes });
        }
        Ok(Answer { status, body })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

/// True if nobody can read on the way what is sent to `url`: it is encrypted, or stays on this machine.
pub fn keeps_secrets(url: &Url) -> bool {
    url.scheme() == "https" || is_this_machine(url)
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The innermost reason, which says most. An address may hold a secret, and is left out.
fn told(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    if error.source().is_some() { reason.to_string() } else { "the request failed".to_owned() }
}

#[cfg(test)]
mod tests;
