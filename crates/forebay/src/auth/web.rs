//! Requests to upstreams and to those who give their tokens.
//!
//! All of them go over TLS or stay on this machine, whatever address a server has named, and no
//! redirect is followed: where a secret goes was decided before. A server on the internet cannot send
//! us to this machine or into its network: see [`Place`].

use std::time::Duration;

use parking_lot::Mutex;

use anyhow::{Context, Result, anyhow, bail};
use forebay_proxy::upstream::{self as remote, Reached};
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE},
};
use reqwest::{Certificate, Url, redirect::Policy};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::json;

use super::{
    Address,
    address::{Place, is_protected},
};
use crate::trust::Authority;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Metadata and tokens are far shorter than this.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// A revision in which a request stands alone, so that asking leaves no session behind.
const REVISION: &str = "2026-07-28";

/// Makes the requests that a login needs.
#[derive(Debug)]
pub(crate) struct Web {
    upstream: Address,
    /// For other machines, through a proxy if one is set.
    outside: reqwest::Client,
    /// For this machine, where no proxy has to look on.
    inside: reqwest::Client,
    /// Why a server could not be asked: rmcp leaves the reason out of its errors.
    failure: Mutex<Option<String>>,
}

/// What an upstream says to a request.
#[derive(Debug)]
pub(crate) struct Reception {
    pub(crate) status: StatusCode,
    /// Where to log in, and for what.
    pub(crate) challenge: Option<String>,
}

impl Reception {
    /// True if a server has not even looked at what it was asked.
    pub(crate) fn is_no_answer(&self) -> bool {
        let unread = [StatusCode::FORBIDDEN, StatusCode::NOT_FOUND];
        unread.contains(&self.status) || self.status.is_server_error()
    }
}

impl Web {
    pub(crate) fn new(upstream: &Address, trusted: &[Authority]) -> Result<Self> {
        // It fails if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let trusted: Vec<Certificate> =
            trusted.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let client = || {
            reqwest::Client::builder()
                .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
                .tls_certs_merge(trusted.clone())
                .http1_title_case_headers()
                .redirect(Policy::none())
                .timeout(PATIENCE)
        };
        let outside = client().build().context("cannot make requests")?;
        let inside = client().no_proxy().build().context("cannot make requests")?;
        let upstream = upstream.clone();
        Ok(Self { upstream, outside, inside, failure: Mutex::default() })
    }

    /// Asks an upstream who it is, which any request can be refused for.
    pub(crate) async fn knock(&self, authorization: Option<&HeaderValue>) -> Result<Reception> {
        let upstream = &self.upstream;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "forebay", "version": env!("CARGO_PKG_VERSION")},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta},
        });
        let mut request = self
            .client_for(upstream.url())
            .post(upstream.url().clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", "server/discover")
            .body(message.to_string());
        if let Some(authorization) = authorization.filter(|_| upstream.is_protected()) {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = request.send().await.map_err(|error| {
            anyhow!("cannot reach the server: {}", explain(&error, upstream.url()))
        })?;
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<&str> = challenges.filter_map(|value| value.to_str().ok()).collect();
        // A server may offer other ways in beside OAuth.
        let told = challenges.iter().find(|challenge| challenge.contains("resource_metadata"));
        let challenge = told.or(challenges.first()).map(|&challenge| challenge.to_owned());
        Ok(Reception { status: response.status(), challenge })
    }

    /// Sends a form, whose answer says no more than whether it was taken.
    pub(crate) async fn submit(&self, url: &str, fields: &[(&str, &str)]) -> Result<()> {
        let mut form = Url::parse("form:/")?;
        form.query_pairs_mut().extend_pairs(fields);
        let request = Request::post(url)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.query().unwrap_or_default().as_bytes().to_vec())?;
        let status = self.fetch(request).await?.status();
        if !status.is_success() {
            bail!("the server answers {status}");
        }
        Ok(())
    }

    /// Why a server could not be asked, or could not answer, if that has happened.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Refuses an address that a server has named and that is nearer to us than the server itself:
    /// what answers there was not meant for it.
    pub(crate) async fn check_place(&self, named: &Url) -> Result<()> {
        let upstream = self.upstream.url();
        if named.host() == upstream.host() {
            return Ok(());
        }
        let place = Place::of(named).await;
        if place > Place::of(upstream).await {
            bail!(
                "{} names {named}, which is {place}, where that server is not: it is not asked",
                self.upstream
            );
        }
        Ok(())
    }

    fn client_for(&self, url: &Url) -> &reqwest::Client {
        if url.scheme() == "http" && is_protected(url) { &self.inside } else { &self.outside }
    }

    async fn fetch(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>> {
        let request = reqwest::Request::try_from(request)?;
        let url = request.url().clone();
        if !is_protected(&url) {
            bail!("{url} would have to be asked without TLS");
        }
        self.check_place(&url).await?;
        let sent = self.client_for(&url).execute(request).await;
        let mut response =
            sent.map_err(|error| anyhow!("cannot reach {url}: {}", explain(&error, &url)))?;
        let mut whole = Response::builder().status(response.status());
        for (name, value) in response.headers() {
            whole = whole.header(name, value);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        // What an upstream sends to those who listen has no end.
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let mut body = Vec::new();
        while !is_stream && let Some(piece) = response.chunk().await? {
            if body.len() + piece.len() > MAX_BODY_BYTES {
                bail!("{url} answers with more than {MAX_BODY_BYTES} bytes");
            }
            body.extend_from_slice(&piece);
        }
        Ok(whole.body(body)?)
    }
}

/// Why a request failed, in the words that all such failures are told in.
fn explain(error: &reqwest::Error, url: &Url) -> String {
    let reached = match error {
        error if !error.is_connect() => Reached::Server,
        error if error.is_timeout() => Reached::NobodyInTime,
        _ => Reached::Nobody,
    };
    remote::explain(error, reached, url)
}

impl OAuthHttpClient for Web {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let url = request.request.uri().clone();
            let answer = self.fetch(request.request).await;
            let failure = match &answer {
                Ok(answer) if answer.status().is_server_error() => {
                    Some(format!("{url} answers {}", answer.status()))
                }
                Ok(_) => None,
                Err(error) => Some(format!("{error:#}")),
            };
            if failure.is_some() {
                *self.failure.lock() = failure;
            }
            answer.map_err(Into::into)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(upstream: &str) -> Web {
        Web::new(&Address::parse(upstream).unwrap(), &[]).unwrap()
    }

    #[test]
    fn a_server_elsewhere_cannot_send_us_to_this_machine_or_into_its_network() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asks = |upstream: &str, named: &str| {
            let named = Url::parse(named).unwrap();
            runtime.block_on(web(upstream).check_place(&named)).is_ok()
        };
        let (public, private, local) =
            ("https://203.0.113.5/mcp", "https://10.1.2.3/mcp", "http://127.0.0.1:8001/mcp");
        for near in [
            "http://127.0.0.1:9/x",
            "http://localhost:9/x",
            "http://a.localhost/x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://0.0.0.0/x",
        ] {
            assert!(!asks(public, near) && !asks(private, near) && asks(local, near), "{near}");
        }
        for inside in [
            "https://10.9.9.9/x",
            "https://192.168.1.1/x",
            "https://172.16.0.1/x",
            "https://169.254.169.254/latest",
            "https://100.64.0.1/x",
            "https://[fd00::1]/x",
            "https://[fe80::1]/x",
        ] {
            assert!(!asks(public, inside) && asks(private, inside), "{inside}");
        }
        assert!(asks(public, "https://198.51.100.7/x") && asks(private, "https://198.51.100.7/x"));

        let request = Request::get("http://127.0.0.1:9/.well-known/x").body(Vec::new()).unwrap();
        let refused = runtime.block_on(web(public).fetch(request)).unwrap_err().to_string();
        assert!(refused.contains("on this machine"), "{refused}");
    }
}
