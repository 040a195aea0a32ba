//! A remote upstream: where it is, and how a request gets there.
//!
//! What is asked, and what an answer means, is left to whoever sends: redirects and refusals are
//! answers like any other.

mod credentials;
mod failure;
mod old;
mod pool;
mod way;

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode, Uri,
    header::{ACCEPT, AUTHORIZATION, HOST, USER_AGENT},
};
use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, sleep};
use url::{Position, Url};

pub(crate) use self::pool::{BrokenBody, Response};
pub use self::{
    credentials::{Credentials, CredentialsError, Pending},
    failure::{Reached, RemoteError, explain},
};
use self::{
    pool::{Pool, SendError},
    way::{Way, proxy_of},
};
use crate::{
    ProxyError,
    body::Message,
    router::UpstreamName,
    streamable::{host, streamed::Streamed},
};

/// How long a connection that could not be made is tried again: a server that is being restarted
/// is back soon.
const RECONNECT: Duration = Duration::from_millis(1_500);
/// After how long it is tried again first; then after twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Who we are, unless the client says who it is.
const OUR_NAME: &str = concat!("forebay/", env!("CARGO_PKG_VERSION"));

/// What a remote upstream is reached with.
#[derive(Clone)]
pub struct RemoteSettings {
    /// What it is called.
    pub name: UpstreamName,
    /// Its endpoint.
    pub url: String,
    /// What is added to each request.
    pub headers: HeaderMap,
    /// What lets us in, unless one of the headers does.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Authorities that are trusted besides the system's.
    pub trusted: Vec<CertificateDer<'static>>,
}

/// An upstream that is reached by HTTP. It connects when there is something to send.
pub struct Remote {
    name: UpstreamName,
    url: Url,
    fixed: Box<Fixed>,
    credentials: Option<Arc<dyn Credentials>>,
    pool: Arc<Pool>,
}

/// What is the same in every request.
struct Fixed {
    /// What it names as its target.
    target: Uri,
    /// What it says besides what whoever sends it does.
    ours: HeaderMap,
    /// What it says unless whoever sends it says something else.
    unsaid: HeaderMap,
}

impl Remote {
    /// Checks the settings; nothing is sent.
    pub fn new(settings: RemoteSettings) -> Result<Self, ProxyError> {
        let RemoteSettings { name, url, headers, credentials, trusted } = settings;
        let url = endpoint(&url)?;
        let Way { connect, target, headers: to_proxy } = way::to(&url, trusted)?;
        let mut ours = headers;
        // What is said twice is for us to say.
        let credentials = credentials.filter(|_| !ours.contains_key(AUTHORIZATION));
        ours.entry(HOST).or_insert(host(&url)?);
        let mut unsaid = to_proxy;
        unsaid.insert(ACCEPT, HeaderValue::from_static("*/*"));
        unsaid.insert(USER_AGENT, HeaderValue::from_static(OUR_NAME));
        unsaid.extend(basic_login(&url).map(|login| (AUTHORIZATION, login)));
        let fixed = Box::new(Fixed { target, ours, unsaid });
        Ok(Self { name, url, fixed, credentials, pool: Pool::new(connect) })
    }

    /// What it is called.
    pub fn name(&self) -> &UpstreamName {
        &self.name
    }

    /// Where it is, without what may be secret in it.
    pub fn shown_url(&self) -> String {
        shown(&self.url)
    }

    /// Where a redirect leads to, in full, if it names a place that can be reached.
    pub(crate) fn redirected_to(&self, response: &Response) -> Option<Url> {
        let place = response.headers().get(http::header::LOCATION)?.to_str().ok()?;
        response.status().is_redirection().then(|| self.url.join(place).ok())?
    }

    /// What to do about a 401, as a sentence.
    pub(crate) fn advice(&self) -> String {
        match &self.credentials {
            _ if self.fixed.ours.contains_key(AUTHORIZATION) => {
                "check the `Authorization` header that was given for it".to_owned()
            }
            Some(credentials) => credentials.advice(),
            None => format!("run: forebay auth login {}", self.shown_url()),
        }
    }

    /// Sends a request, and returns the response once its head is there.
    ///
    /// A connection that cannot be made is tried again for a moment: nothing has been sent yet. A
    /// refusal (401) is returned once there is nothing else to say that would let us in.
    pub(crate) async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Option<&Message>,
    ) -> Result<Response, RemoteError> {
        // Each of them replaces what was said by the same name.
        headers.extend(self.fixed.ours.clone());
        let Some(credentials) = &self.credentials else {
            return self.connect_and_send(method, headers, body).await;
        };
        let failed = |source| RemoteError::Credentials { name: self.name.clone(), source };
        let said = credentials.authorization().await.map_err(failed)?;
        set_authorization(&mut headers, said.as_ref());
        let response = self.connect_and_send(method.clone(), headers.clone(), body).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        match credentials.renewed(said.as_ref()).await.map_err(failed)? {
            Some(renewed) => {
                set_authorization(&mut headers, Some(&renewed));
                self.connect_and_send(method, headers, body).await
            }
            None => Ok(response),
        }
    }

    async fn connect_and_send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Option<&Message>,
    ) -> Result<Response, RemoteError> {
        for (name, value) in &self.fixed.unsaid {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        let mut request = Request::new(body.map(Streamed::new).unwrap_or_default());
        *request.method_mut() = method;
        *request.uri_mut() = self.fixed.target.clone();
        *request.headers_mut() = headers;
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match self.pool.send(request).await {
                Ok(response) => return Ok(response),
                Err(SendError::Unreachable { request: unsent, .. })
                    if started.elapsed() + pause < RECONNECT =>
                {
                    request = *unsent;
                    sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => return Err(self.no_response(error)),
            }
        }
    }

    fn no_response(&self, error: SendError) -> RemoteError {
        let name = self.name.clone();
        match error {
            SendError::Unreachable { error, is_late: true, .. } => {
                RemoteError::of(name, &self.url, Reached::NobodyInTime, error)
            }
            SendError::Unreachable { error, is_late: false, .. } => {
                RemoteError::of(name, &self.url, Reached::Nobody, error)
            }
            SendError::BrokenOff(error) => {
                RemoteError::of(name, &self.url, Reached::Server, error.into())
            }
        }
    }

    /// What a response that broke off is to whoever waits for it.
    pub(crate) fn failure(&self, error: BrokenBody) -> RemoteError {
        RemoteError::of(self.name.clone(), &self.url, Reached::Server, error.into())
    }

    /// The proxy that stands before it, without what may be secret in its address.
    pub(crate) fn proxy(&self) -> Option<String> {
        proxy_of(&self.url)
    }
}

fn set_authorization(headers: &mut HeaderMap, value: Option<&HeaderValue>) {
    match value {
        Some(value) => drop(headers.insert(AUTHORIZATION, value.clone())),
        None => drop(headers.remove(AUTHORIZATION)),
    }
}

/// What `Host` says: the host, and the port unless it is the usual one.
fn host(url: &Url) -> Result<HeaderValue, ProxyError> {
    HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort])
        .map_err(|_| ProxyError::UpstreamUrl { hint: "its host cannot be sent".to_owned() })
}

/// What user and password in a URL say.
fn basic_login(url: &Url) -> Option<HeaderValue> {
    let decoded = |text| percent_decode_str(text).decode_utf8().ok();
    let (user, password) = (decoded(url.username())?, url.password().and_then(decoded));
    if user.is_empty() && password.is_none() {
        return None;
    }
    let login = STANDARD.encode(format!("{user}:{}", password.unwrap_or_default()));
    let mut login = HeaderValue::try_from(format!("Basic {login}")).ok()?;
    login.set_sensitive(true);
    Some(login)
}

fn is_this_machine(url: &Url) -> bool {
    url.host_str().is_some_and(host::is_this_machine)
}

fn endpoint(given: &str) -> Result<Url, ProxyError> {
    let failed = |hint: &str| ProxyError::UpstreamUrl { hint: hint.to_owned() };
    let url = Url::parse(given).map_err(|_| {
        failed("an upstream's URL begins with http:// or https://, as in https://example.com/mcp")
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err(failed("an upstream's URL begins with http:// or https://")),
    }
}

/// A URL as it may be shown or written down: without what may be secret in it.
pub fn shown_url(url: &str) -> String {
    endpoint(url).map_or_else(|_| "(no URL)".to_owned(), |url| shown(&url))
}

/// A URL without user, password, query and fragment, any of which may be secret.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // Neither can fail for a URL that has a host.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

#[cfg(test)]
mod tests;
