//! What is asked of those who have given tokens: to renew them, and to take them back.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore,
    InMemoryCredentialStore, OAuthClientConfig,
};

use super::{Address, Login, Web, silently};
use crate::trust::Authority;

/// What becomes of tokens that are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revoked {
    /// They are good for nothing from now on.
    Now,
    /// Their issuer offers no way to tell it; they end when their time is over.
    Never,
}

/// Spends a login's refresh token; `None` if that is good for nothing any more. Whoever calls this has
/// the [`Turn`](super::keep::Turn), and keeps what it returns.
pub(crate) async fn renewed(
    upstream: &Address,
    login: &Login,
    trusted: &[Authority],
) -> Result<Option<Login>> {
    let web = Arc::new(Web::new(upstream, trusted)?);
    silently(ask_for_another(upstream, login, web.clone())).await.map_err(|error| {
        let told = web.failure().map_or_else(
            || anyhow!("{error:#}; {}", upstream.advice()),
            |failure| anyhow!("cannot reach the authorization server: {failure}"),
        );
        told.context(format!("cannot renew the login for {upstream}"))
    })
}

/// Has a login's tokens taken back, if that is possible.
pub(crate) async fn revoked(
    upstream: &Address,
    login: &Login,
    trusted: &[Authority],
) -> Result<Revoked> {
    silently(take_back(upstream, login, trusted)).await
}

async fn ask_for_another(
    upstream: &Address,
    login: &Login,
    web: Arc<Web>,
) -> Result<Option<Login>> {
    let tokens = InMemoryCredentialStore::new();
    tokens.save(login.to_rmcp()?).await?;
    let mut manager =
        AuthorizationManager::new_with_oauth_http_client(upstream.url().clone(), web).await?;
    manager.set_credential_store(tokens.clone());
    let Some(metadata) = issuer_of(login, &manager).await? else { return Ok(None) };
    manager.set_metadata(metadata);
    let mut client = OAuthClientConfig::new(&login.client.id, upstream.to_string());
    client.client_secret = login.client.secret.as_ref().map(|secret| secret.reveal().to_owned());
    manager.configure_client(client)?;
    match manager.refresh_token().await {
        Ok(_) => {
            let given = tokens.load().await?.context("there is no token")?;
            let (url, client) = (login.url.clone(), login.client.clone());
            Login::new(url, client, given).map(Some)
        }
        Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn take_back(upstream: &Address, login: &Login, trusted: &[Authority]) -> Result<Revoked> {
    let web = Arc::new(Web::new(upstream, trusted)?);
    let manager =
        AuthorizationManager::new_with_oauth_http_client(upstream.url().clone(), web.clone())
            .await?;
    let metadata = issuer_of(login, &manager).await?;
    let endpoint = metadata.and_then(|metadata| {
        let endpoint = metadata.additional_fields.get("revocation_endpoint")?;
        endpoint.as_str().map(str::to_owned)
    });
    let Some(endpoint) = endpoint else { return Ok(Revoked::Never) };
    // With a refresh token, its access tokens end.
    let (token, kind) = match &login.refresh_token {
        Some(token) => (token, "refresh_token"),
        None => (&login.access_token, "access_token"),
    };
    let mut form = vec![("token", token.reveal()), ("token_type_hint", kind)];
    form.push(("client_id", &login.client.id));
    form.extend(login.client.secret.as_ref().map(|secret| ("client_secret", secret.reveal())));
    web.submit(&endpoint, &form).await?;
    Ok(Revoked::Now)
}

/// What a login's issuer says about itself. `None` if the upstream names another one now, which must
/// not see the tokens.
async fn issuer_of(
    login: &Login,
    manager: &AuthorizationManager,
) -> Result<Option<AuthorizationMetadata>> {
    let found = manager.resolve_metadata().await?;
    // Where nothing is found, rmcp makes addresses up.
    if !found.source.is_discovered() {
        return Err(anyhow!("the server does not say any more who gives its tokens"));
    }
    let is_same = found.metadata.issuer.as_ref() == Some(&login.issuer);
    Ok(is_same.then_some(found.metadata))
}
