//! An attempt to log in: who gives tokens for an upstream, who we are to them, and the exchange of
//! their answer for tokens.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use http::StatusCode;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource as Source,
    CredentialStore, InMemoryCredentialStore, OAuthClientConfig,
};

use super::{
    Address, Login, Web,
    address::is_protected,
    login::{Client, Secret},
    redirect::{Door, Expected},
    silently,
};
use crate::trust::Authority;

/// How long somebody may take to log in.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// What a login is to be.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Who we are, if the authorization server knows us already.
    pub(crate) client_id: Option<String>,
    /// What the tokens are for; empty: what the upstream asks for.
    pub(crate) scopes: Vec<String>,
}

/// A login that waits for somebody to open its page.
pub(crate) struct Attempt {
    upstream: Address,
    manager: AuthorizationManager,
    tokens: InMemoryCredentialStore,
    client: Client,
    door: Door,
    expected: Expected,
    page: String,
}

impl Attempt {
    /// Prepares a login; `None` if the upstream does not ask for one.
    pub(crate) async fn prepare(
        upstream: &Address,
        wish: &Wish,
        door: Door,
        trusted: &[Authority],
    ) -> Result<Option<Self>> {
        silently(prepare(upstream, wish, door, trusted)).await
    }

    /// The page to log in at.
    pub(crate) fn page(&self) -> &str {
        &self.page
    }

    /// Waits until somebody has logged in at the page, and fetches the tokens.
    pub(crate) async fn finish(self) -> Result<Login> {
        silently(self.answered()).await
    }

    async fn answered(self) -> Result<Login> {
        let answer = self.door.answer(&self.expected, PATIENCE).await?;
        let (state, issuer) = (&self.expected.state, answer.issuer.as_deref());
        self.manager.exchange_code_for_token_with_issuer(&answer.code, state, issuer).await?;
        let given = self.tokens.load().await?.context("there is no token")?;
        Login::new(self.upstream.to_string(), self.client, given)
    }
}

async fn prepare(
    upstream: &Address,
    wish: &Wish,
    door: Door,
    trusted: &[Authority],
) -> Result<Option<Attempt>> {
    if !upstream.is_protected() {
        bail!("tokens would be sent without TLS; use an https URL");
    }
    let web = Arc::new(Web::new(upstream, trusted)?);
    let reception = web.knock(None).await?;
    let url = upstream.url().clone();
    let mut manager = AuthorizationManager::new_with_oauth_http_client(url, web.clone()).await?;
    let tokens = InMemoryCredentialStore::new();
    manager.set_credential_store(tokens.clone());
    let found = manager.resolve_metadata_from_challenge(reception.challenge.as_deref()).await;
    let asks = reception.status == StatusCode::UNAUTHORIZED;
    let found = match found {
        // A server that lets everybody in may still have more for those who log in, and says so.
        Ok(found) if found.source == Source::ProtectedResourceMetadata => found,
        Ok(found) if asks && found.source == Source::AuthorizationServerMetadata => found,
        Ok(_) if asks => bail!("it does not say where to log in"),
        Err(error) if asks => return Err(error.into()),
        Ok(_) | Err(_) if reception.is_no_answer() => {
            bail!("the server answers {}", reception.status)
        }
        Ok(_) | Err(_) => return Ok(None),
    };
    let issuer = checked_issuer(&found.metadata, &web).await?;
    let names_issuer =
        found.metadata.additional_fields.get("authorization_response_iss_parameter_supported");
    let names_issuer = names_issuer.is_some_and(|value| value == true);
    let registers = found.metadata.registration_endpoint.is_some();
    manager.set_metadata(found.metadata);

    let scopes = if wish.scopes.is_empty() {
        manager.select_initial_scopes(&[]).await
    } else {
        wish.scopes.clone()
    };
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = match &wish.client_id {
        Some(id) => {
            manager.configure_client(OAuthClientConfig::new(id, door.uri()))?;
            Client { id: id.clone(), secret: None }
        }
        None if registers => {
            let config = manager.register_client("Forebay", &door.uri(), &scopes).await?;
            Client { id: config.client_id, secret: config.client_secret.map(Secret::new) }
        }
        None => {
            bail!("{issuer} registers no clients; register one there, and pass its `--client-id`")
        }
    };
    let page = manager.get_authorization_url(&scopes).await?;
    let state = state_of(&page).context("the page has no state")?;
    let expected = Expected { state, issuer, names_issuer };
    let upstream = upstream.clone();
    Ok(Some(Attempt { upstream, manager, tokens, client, door, expected, page }))
}

/// The name of an authorization server that can be trusted with a login.
async fn checked_issuer(metadata: &AuthorizationMetadata, web: &Web) -> Result<String> {
    let issuer =
        metadata.issuer.clone().context("the authorization server does not say who it is")?;
    let page = Url::parse(&metadata.authorization_endpoint)
        .with_context(|| format!("{issuer} names no page to log in at"))?;
    // It is the one address that others than us ask.
    if !is_protected(&page) {
        bail!("{page} would have to be asked without TLS");
    }
    web.check_place(&page).await?;
    // Without PKCE whoever sees the code gets the tokens. A server that does not say that it checks
    // is taken for one that does not, as the specification asks.
    let methods = metadata.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if !methods.iter().any(|method| method == "S256") {
        bail!("{issuer} does not protect logins with PKCE (S256)");
    }
    Ok(issuer)
}

fn state_of(page: &str) -> Option<String> {
    let page = Url::parse(page).ok()?;
    page.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned())
}
