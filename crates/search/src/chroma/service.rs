//! Chroma's HTTP API, as far as it is needed: paths below a database, JSON, and errors in its words.

use std::time::{Duration, Instant};

use forebay_services::{Answer, Client, Method, Request};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use crate::ChromaError;

/// What every server has from the start.
const TENANT: &str = "default_tenant";
const DATABASE: &str = "default_database";

/// How much of what it says about a failure is told.
const MAX_SAID_CHARS: usize = 300;

/// A server.
pub(super) struct Service {
    client: Client,
    /// `…/api/v2`
    root: Url,
    token: Option<String>,
}

/// A server that is asked until a deadline.
pub(super) struct Asking<'a> {
    service: &'a Service,
    deadline: Instant,
}

impl Service {
    pub(super) fn new(client: Client, url: Url, token: Option<String>) -> Self {
        let root = below(url, &["api", "v2"]);
        Self { client, root, token }
    }

    /// Where it is. What may be secret in its address is left out.
    pub(super) fn place(&self) -> String {
        let mut shown = self.root.clone();
        // They fail for addresses that have no host, which cannot be asked anyway.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        below(shown, &["tenants", TENANT, "databases", DATABASE, ""]).to_string()
    }

    /// To be asked for so long.
    pub(super) fn within(&self, patience: Duration) -> Asking<'_> {
        Asking { service: self, deadline: Instant::now() + patience }
    }
}

impl Asking<'_> {
    /// What it answers to a request about collections, in the words of the API.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<T, ChromaError> {
        let collections = ["tenants", TENANT, "databases", DATABASE, "collections"];
        self.ask_at(method, &[&collections, path].concat(), body)
    }

    /// Has it do something whose answer says nothing.
    pub(super) fn ask_for_nothing(&self, path: &[&str], body: &Value) -> Result<(), ChromaError> {
        self.ask::<Value>(Method::Post, path, Some(body)).map(drop)
    }

    /// The same of anything.
    pub(super) fn ask_at<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<T, ChromaError> {
        let url = below(self.service.root.clone(), path);
        let token = self.service.token.as_deref().map(|token| ("x-chroma-token", token));
        let headers: Vec<(&str, &str)> = token.into_iter().collect();
        let body = body.map(|body| body.to_string().into_bytes());
        let request = Request { method, url: &url, headers: &headers, body };
        let answer = self.service.client.ask(request, self.deadline)?;
        if answer.status.is_success() {
            return serde_json::from_slice(&answer.body).map_err(ChromaError::Malformed);
        }
        Err(refusal(&answer))
    }
}

/// What it says no with.
fn refusal(answer: &Answer) -> ChromaError {
    #[derive(Deserialize, Default)]
    struct Said {
        #[serde(default)]
        error: String,
        #[serde(default)]
        message: String,
    }
    let said: Said = serde_json::from_slice(&answer.body).unwrap_or_default();
    match answer.status.as_u16() {
        status @ (401 | 403) => ChromaError::Unauthorised(status),
        // Any server has addresses that it does not know; this one says what is missing.
        404 if said.error == "NotFoundError" => ChromaError::NotThere,
        status => {
            let words = if said.message.is_empty() {
                String::from_utf8_lossy(&answer.body).into_owned()
            } else {
                said.message
            };
            ChromaError::Refused { status, said: words.chars().take(MAX_SAID_CHARS).collect() }
        }
    }
}

/// An address below another. A slash at its end does not matter.
fn below(mut url: Url, path: &[&str]) -> Url {
    // It fails for addresses that have no path, which cannot be asked anyway.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_below_what_is_given_and_tell_no_secret() {
        let client = || Client::new(&[] as &[Vec<u8>]).unwrap();
        let expected = "/api/v2/tenants/default_tenant/databases/default_database/";
        for (given, shown) in [
            ("http://localhost:8000", "http://localhost:8000"),
            ("https://me:hush@team.example/chroma/?key=hush", "https://team.example/chroma"),
        ] {
            let service = Service::new(client(), given.parse().unwrap(), None);
            assert_eq!(service.place(), format!("{shown}{expected}"));
        }
    }
}
