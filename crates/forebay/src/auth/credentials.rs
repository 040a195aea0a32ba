//! A login as a transport uses it: what `Authorization` says, now and after a refusal.

use std::{sync::Arc, time::Instant};

use parking_lot::{Mutex, MutexGuard};

use anyhow::Result;
use forebay_proxy::upstream::{Credentials, CredentialsError, Pending};
use http::HeaderValue;
use jiff::Timestamp;

use super::{Address, Keep, Login, issuer::renewed, keep::Stamp, watched::Watched};
use crate::trust::Authority;

/// The login that is kept for one upstream, if there is one. Its file is looked at every second while
/// requests are sent, and read when it has changed or the upstream refuses what we said: so a login and
/// a renewal elsewhere hold at once, and a logout after a second.
#[derive(Debug, Clone)]
pub(crate) struct KeptLogin(Arc<Place>);

/// Where a login is kept, and what it is for.
#[derive(Debug)]
struct Place {
    keep: Keep,
    upstream: Address,
    /// Authorities that are trusted besides the system's.
    trusted: Vec<Authority>,
    known: Mutex<Watched<Option<Known>, Stamp>>,
}

/// A login that has been read.
#[derive(Debug, Clone)]
struct Known {
    login: Arc<Login>,
    header: HeaderValue,
}

impl KeptLogin {
    pub(crate) fn new(keep: Keep, upstream: Address, trusted: Vec<Authority>) -> Self {
        Self(Arc::new(Place { keep, upstream, trusted, known: Mutex::default() }))
    }

    /// Renews a login, unless that has been done meanwhile.
    async fn renew(&self, known: &Login) -> Result<Option<HeaderValue>> {
        let (place, known) = (self.0.clone(), known.access_token.clone());
        // A call that is given up must not take along a token that has just been given, and whose
        // predecessor is spent: this goes on without it.
        let renewal = tokio::spawn(async move {
            let Place { keep, upstream, trusted, .. } = &*place;
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
        let renewed = renewal.await?;
        self.known().forget();
        renewed
    }

    fn login(&self, now: Instant) -> Result<Option<Known>> {
        let Place { keep, upstream, .. } = &*self.0;
        if !upstream.is_protected() {
            return Ok(None);
        }
        self.known().get(
            now,
            || keep.stamp(upstream),
            || {
                let Some(login) = keep.read(upstream)? else { return Ok(None) };
                Ok(Some(Known { header: login.header()?, login: Arc::new(login) }))
            },
        )
    }

    fn known(&self) -> MutexGuard<'_, Watched<Option<Known>, Stamp>> {
        self.0.known.lock()
    }

    async fn current(&self, now: Instant) -> Result<Option<HeaderValue>> {
        let Some(Known { login, header }) = self.login(now)? else { return Ok(None) };
        let now = Timestamp::now();
        if login.refresh_token.is_none() || !login.is_due(now) {
            return Ok(Some(header));
        }
        match self.renew(&login).await {
            // It can be tried again as long as there is time.
            Err(_) if !login.has_expired(now) => Ok(Some(header)),
            renewed => renewed,
        }
    }

    async fn other_than(&self, refused: Option<&HeaderValue>) -> Result<Option<HeaderValue>> {
        self.known().forget();
        let Some(Known { login, header }) = self.login(Instant::now())? else { return Ok(None) };
        if refused != Some(&header) {
            return Ok(Some(header));
        }
        if login.refresh_token.is_none() { Ok(None) } else { self.renew(&login).await }
    }
}

impl Credentials for KeptLogin {
    fn authorization(&self) -> Pending<'_, Option<HeaderValue>> {
        Box::pin(async { self.current(Instant::now()).await.map_err(told) })
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
    use crate::auth::watched::LOOK_AGAIN;

    #[test]
    fn a_login_elsewhere_holds_at_once_and_a_logout_when_the_file_is_looked_at_again() {
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
            assert_eq!(credentials.current(Instant::now() + LOOK_AGAIN).await.unwrap(), None);
        });
    }
}
