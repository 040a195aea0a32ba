//! Requests to upstreams and to those who give their tokens.
//!
//! All of them go over TLS or stay on this machine, whatever address a server has named, and no
//! redirect is followed: where a secret goes was decided before.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE},
};
use reqwest::{Url, redirect::Policy};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::json;

use super::{Address, address::is_protected};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Metadata and tokens are far shorter than this.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// A revision in which a request stands alone, so that asking leaves no session behind.
const REVISION: &str = "2026-07-28";

/// Makes the requests that a login needs.
#[derive(Debug)]
pub(crate) struct Web {
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
    pub(crate) fn new() -> Result<Self> {
        // It fails if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = || {
            reqwest::Client::builder()
                .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .timeout(PATIENCE)
        };
        let outside = client().build().context("cannot make requests")?;
        let inside = client().no_proxy().build().context("cannot make requests")?;
        Ok(Self { outside, inside, failure: Mutex::default() })
    }

    /// Asks an upstream who it is, which any request can be refused for.
    pub(crate) async fn knock(
        &self,
        upstream: &Address,
        authorization: Option<&HeaderValue>,
    ) -> Result<Reception> {
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
        let response = request.send().await.context("cannot reach the server")?;
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
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let mut response = self.client_for(&url).execute(request).await?;
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
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
            }
            answer.map_err(Into::into)
        })
    }
}
