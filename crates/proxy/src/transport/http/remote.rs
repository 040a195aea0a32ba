//! A remote upstream: where it is, and how a request gets there.
//!
//! What is asked, and what an answer means, is left to whoever sends: redirects and refusals are
//! answers like any other.

mod failure;
mod old;

use std::{
    sync::{Arc, Once},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header::AUTHORIZATION};
use reqwest::{Certificate, Client, Response, Url, redirect::Policy};
use tokio::time::{Instant, sleep};

use self::failure::proxy_of;
pub use self::failure::{RemoteError, explain};
use super::{credentials::Credentials, gate, streamed::Streamed};
use crate::{ProxyError, body::Message, router::UpstreamName};

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a connection that could not be made is tried again: a server that is being restarted
/// is back soon.
const RECONNECT: Duration = Duration::from_millis(1_500);
/// After how long it is tried again first; then after twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How often a connection on which nothing happens is checked.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What a remote upstream is reached with.
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
    pub trusted: Vec<Certificate>,
}

/// An upstream that is reached by HTTP. It connects when there is something to send.
pub struct Remote {
    name: UpstreamName,
    url: Url,
    headers: HeaderMap,
    credentials: Option<Arc<dyn Credentials>>,
    client: Client,
}

impl Remote {
    /// Checks the settings; nothing is sent.
    pub fn new(settings: RemoteSettings) -> Result<Self, ProxyError> {
        let RemoteSettings { name, url, headers, credentials, trusted } = settings;
        let url = endpoint(&url)?;
        let client = client(is_this_machine(&url), trusted).map_err(ProxyError::HttpClient)?;
        Ok(Self { name, url, headers, credentials, client })
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
            _ if self.headers.contains_key(AUTHORIZATION) => {
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
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        let Some(credentials) =
            self.credentials.as_ref().filter(|_| !self.headers.contains_key(AUTHORIZATION))
        else {
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
        headers: HeaderMap,
        body: Option<&Message>,
    ) -> Result<Response, RemoteError> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let mut request =
                self.client.request(method.clone(), self.url.clone()).headers(headers.clone());
            if let Some(message) = body {
                request = request.body(reqwest::Body::wrap(Streamed::new(message)));
            }
            match request.send().await {
                Ok(response) => return Ok(response),
                Err(error) if error.is_connect() && started.elapsed() + pause < RECONNECT => {
                    sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => return Err(self.failure(error)),
            }
        }
    }

    /// What a failed request, or a response that broke off, is to whoever waits for it.
    pub(crate) fn failure(&self, error: reqwest::Error) -> RemoteError {
        RemoteError::of(self.name.clone(), &self.url, error)
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

/// A client that neither follows redirects nor gives up on an answer that takes long.
fn client(is_for_this_machine: bool, trusted: Vec<Certificate>) -> reqwest::Result<Client> {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // It fails only if someone has chosen before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let builder = Client::builder();
    // What stays on this machine is no business of a proxy's.
    let builder = if is_for_this_machine { builder.no_proxy() } else { builder };
    builder
        .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
        .tls_certs_merge(trusted)
        // Names mean the same in any case, but some proxies have rules for `Mcp-Session-Id` alone.
        .http1_title_case_headers()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        .build()
}

fn is_this_machine(url: &Url) -> bool {
    url.host_str().is_some_and(gate::is_this_machine)
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
