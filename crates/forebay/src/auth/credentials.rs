//! A login as a transport uses it: what `Authorization` says, now and after a refusal.

use std::sync::Arc;

use anyhow::Result;
use forebay_proxy::transport::http::{Credentials, CredentialsError, Pending};
use http::HeaderValue;
use jiff::Timestamp;
use reqwest::Certificate;

use super::{Address, Keep, Login, issuer::renewed};

/// The login that is kept for one upstream, if there is one. Its file is read for each request, so
/// that a login, a logout and a renewal elsewhere hold at once.
#[derive(Debug, Clone)]
pub(crate) struct KeptLogin(Arc<Place>);

/// Where a login is kept, and what it is for.
#[derive(Debug)]
struct Place {
    keep: Keep,
    upstream: Address,
    /// Authorities that are trusted besides the system's.
    trusted: Vec<Certificate>,
}

impl KeptLogin {
    pub(crate) fn new(keep: Keep, upstream: Address, trusted: Vec<Certificate>) -> Self {
        Self(Arc::new(Place { keep, upstream, trusted }))
    }

    /// Renews a login, unless that has been done meanwhile.
    async fn renew(&self, known: &Login) -> Result<Option<HeaderValue>> {
        let (place, known) = (self.0.clone(), known.access_token.clone());
        // A call that is given up must not take along a token that has just been given, and whose
        // predecessor is spent: this goes on without it.
        let renewal = tokio::spawn(async move {
            let Place { keep, upstream, trusted } = &*place;
            let turn = keep.turn(upstream).await?;
            let Some(login) = keep.read(upstream)? else { return Ok(None) };
            if login.access_token != known {
                return login.header().map(Some);
            }
            let Some(login) = renewed(upstream, &login, trusted).await? else {
                keep.remove(upstream, &turn)?;
                return Ok(None);
            };
            keep.write(upstream, &login, &turn)?;
            login.header().map(Some)
        });
        renewal.await?
    }

    fn login(&self) -> Result<Option<Login>> {
        let Place { keep, upstream, .. } = &*self.0;
        if upstream.is_protected() { keep.read(upstream) } else { Ok(None) }
    }

    async fn current(&self) -> Result<Option<HeaderValue>> {
        let Some(login) = self.login()? else { return Ok(None) };
        let now = Timestamp::now();
        if login.refresh_token.is_none() || !login.is_due(now) {
            return login.header().map(Some);
        }
        match self.renew(&login).await {
            // It can be tried again as long as there is time.
            Err(_) if !login.has_expired(now) => login.header().map(Some),
            renewed => renewed,
        }
    }

    async fn other_than(&self, refused: Option<&HeaderValue>) -> Result<Option<HeaderValue>> {
        let Some(login) = self.login()? else { return Ok(None) };
        let header = login.header()?;
        if refused != Some(&header) {
            return Ok(Some(header));
        }
        if login.refresh_token.is_none() { Ok(None) } else { self.renew(&login).await }
    }
}

impl Credentials for KeptLogin {
    fn authorization(&self) -> Pending<'_, Option<HeaderValue>> {
        Box::pin(async { self.current().await.map_err(told) })
    }

    fn renewed<'a>(&'a self, refused: Option<&'a HeaderValue>) -> Pending<'a, Option<HeaderValue>> {
        Box::pin(async move { self.other_than(refused).await.map_err(told) })
    }

    fn advice(&self) -> String {
        self.0.upstream.advice()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn told(error: anyhow::Error) -> CredentialsError {
    CredentialsError(format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_login_and_a_logout_elsewhere_hold_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (keep, upstream) = (Keep::new(home.path()), Address::parse("https://example.com/mcp"));
        let upstream = upstream.unwrap();
        let login: Login = serde_json::from_value(json!({
            "url": upstream.to_string(), "issuer": "https://example.com",
            "client": {"id": "us"}, "scopes": [], "access_token": "hush",
            "received_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
        let credentials = KeptLogin::new(keep.clone(), upstream.clone(), Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(credentials.authorization().await.unwrap(), None);
            assert_eq!(credentials.renewed(None).await.unwrap(), None);
            let turn = keep.turn(&upstream).await.unwrap();
            keep.write(&upstream, &login, &turn).unwrap();
            let said = credentials.renewed(None).await.unwrap();
            assert_eq!(said.as_ref().unwrap(), "Bearer hush");
            assert_eq!(credentials.authorization().await.unwrap(), said);
            // There is nothing to renew it with.
            assert_eq!(credentials.renewed(said.as_ref()).await.unwrap(), None);
            keep.remove(&upstream, &turn).unwrap();
            assert_eq!(credentials.authorization().await.unwrap(), None);
        });
    }
}
