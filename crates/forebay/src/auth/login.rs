//! A login: the tokens for one upstream, and what is needed to renew them.

use std::fmt;

use anyhow::{Context, Result, bail};
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rmcp::transport::auth::{OAuthTokenResponse, StoredCredentials};
use serde::{Deserialize, Serialize};

/// How long before its end a token is renewed, unless it lives shorter than twice as long.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// Tokens for one upstream, as they are kept in its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Login {
    /// The upstream's address.
    pub(crate) url: String,
    /// Who has given the tokens; they are shown to nobody else but the upstream.
    pub(crate) issuer: String,
    /// Who we are to the issuer.
    pub(crate) client: Client,
    /// What the tokens are good for, as far as the issuer has said.
    pub(crate) scopes: Vec<String>,
    pub(crate) access_token: Secret,
    pub(crate) refresh_token: Option<Secret>,
    pub(crate) received_at: Timestamp,
    /// When the access token ends, if the issuer has said so.
    pub(crate) expires_at: Option<Timestamp>,
}

/// Who we are to an issuer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret>,
}

/// A text that is written to its file and sent where it belongs, and shown nowhere.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

/// A token response, by the names that OAuth gives its parts.
#[derive(Serialize, Deserialize)]
struct Granted {
    access_token: Secret,
    token_type: String,
    refresh_token: Option<Secret>,
    expires_in: Option<u64>,
}

impl Login {
    /// What rmcp was given for an upstream.
    pub(crate) fn new(url: String, client: Client, given: StoredCredentials) -> Result<Self> {
        let issuer = given.issuer.context("the authorization server does not say who it is")?;
        let granted: Granted = serde_json::to_value(given.token_response)
            .and_then(serde_json::from_value)
            .context("the authorization server gave no token")?;
        if !granted.token_type.eq_ignore_ascii_case("bearer") {
            bail!("the authorization server gave a token of an unknown type");
        }
        let received_at = match given.token_received_at {
            Some(seconds) => Timestamp::from_second(i64::try_from(seconds)?)?,
            None => Timestamp::now(),
        };
        // One that is too far away to be told never comes.
        let lifetime = granted.expires_in.and_then(|seconds| i64::try_from(seconds).ok());
        let expires_at = lifetime
            .and_then(|seconds| received_at.checked_add(SignedDuration::from_secs(seconds)).ok());
        Ok(Self {
            url,
            issuer,
            client,
            scopes: given.granted_scopes,
            access_token: granted.access_token,
            refresh_token: granted.refresh_token,
            received_at,
            expires_at,
        })
    }

    /// The same, as rmcp knows it.
    pub(crate) fn to_rmcp(&self) -> Result<StoredCredentials> {
        let granted = Granted {
            access_token: self.access_token.clone(),
            token_type: "bearer".to_owned(),
            refresh_token: self.refresh_token.clone(),
            expires_in: None,
        };
        let response: OAuthTokenResponse =
            serde_json::to_value(granted).and_then(serde_json::from_value)?;
        let (id, scopes) = (self.client.id.clone(), self.scopes.clone());
        let credentials = StoredCredentials::new(id, Some(response), scopes, None);
        Ok(credentials.with_issuer(Some(self.issuer.clone())))
    }

    /// What `Authorization` says.
    pub(crate) fn header(&self) -> Result<HeaderValue> {
        let mut header = HeaderValue::try_from(format!("Bearer {}", self.access_token.reveal()))
            .context("the access token cannot be sent")?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// True if it is time for another access token.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| {
            let ahead = AHEAD.min(end.duration_since(self.received_at) / 2);
            end.duration_since(now) <= ahead
        })
    }

    /// True if the access token is good for nothing any more.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for those that it is sent to.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(received: &str, expires: Option<&str>) -> Login {
        Login {
            url: "https://example.com/mcp".to_owned(),
            issuer: "https://example.com".to_owned(),
            client: Client { id: "us".to_owned(), secret: Some(Secret::new("hush-1".to_owned())) },
            scopes: vec!["read".to_owned()],
            access_token: Secret::new("hush-2".to_owned()),
            refresh_token: Some(Secret::new("hush-3".to_owned())),
            received_at: received.parse().unwrap(),
            expires_at: expires.map(|end| end.parse().unwrap()),
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let login = login("2026-01-01T00:00:00Z", None);
        let shown = format!("{login:?} {:?}", login.header().unwrap());
        assert!(!shown.contains("hush"), "{shown}");
        assert!(serde_json::to_string(&login).unwrap().contains("hush-3"));
    }

    #[test]
    fn a_token_is_renewed_a_minute_ahead_or_half_way() {
        let due = |login: &Login, now: &str| login.is_due(now.parse().unwrap());
        let hour = login("2026-01-01T00:00:00Z", Some("2026-01-01T01:00:00Z"));
        assert!(!due(&hour, "2026-01-01T00:58:59Z") && due(&hour, "2026-01-01T00:59:00Z"));
        let ten_seconds = login("2026-01-01T00:00:00Z", Some("2026-01-01T00:00:10Z"));
        assert!(!due(&ten_seconds, "2026-01-01T00:00:04Z"));
        assert!(due(&ten_seconds, "2026-01-01T00:00:05Z"));
        assert!(!due(&login("2026-01-01T00:00:00Z", None), "2099-01-01T00:00:00Z"));
    }

    #[test]
    fn what_rmcp_is_given_comes_back() {
        let before = login("2026-01-01T00:00:00Z", None);
        let given = before.to_rmcp().unwrap();
        let after = Login::new(before.url.clone(), before.client.clone(), given).unwrap();
        assert_eq!(
            (after.access_token, after.refresh_token),
            (before.access_token, before.refresh_token)
        );
        assert_eq!((after.issuer, after.scopes), (before.issuer, before.scopes));
    }
}
