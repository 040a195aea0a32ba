//! Logins at upstreams that ask for one: OAuth tokens, how they are got, kept, renewed and given up.
//!
//! The protocol itself (discovery, registration, PKCE, the exchanges) is rmcp's. Ours is what stands
//! around it: which addresses may be asked ([`web`]), the answer that the browser brings
//! ([`redirect`]), the file that a login is kept in ([`keep`]), and that a refresh token is spent once
//! however many processes hold it ([`credentials`]).
//!
//! Nothing of this runs for an upstream that is a command.

mod address;
mod attempt;
mod credentials;
mod issuer;
mod keep;
mod login;
mod redirect;
mod watched;
mod web;

use std::{future::Future, path::Path, sync::Arc};

use anyhow::Result;
use forebay_proxy::upstream::Credentials;
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use self::credentials::KeptLogin;
pub(crate) use self::{
    address::Address,
    attempt::{Attempt, Wish},
    issuer::{Revoked, revoked},
    keep::Keep,
    login::Login,
    redirect::Door,
    web::Web,
};
use crate::trust::Authority;

/// What lets us in at the upstream with this URL: the login that is kept for it under `home`, now or
/// later. Whoever logs in meanwhile, in another process, is let in without a restart.
pub(crate) fn stored(
    home: &Path,
    url: &str,
    trusted: &[Authority],
) -> Result<Arc<dyn Credentials>> {
    Ok(Arc::new(KeptLogin::new(Keep::new(home), Address::parse(url)?, trusted.to_vec())))
}

/// Lets a future log nothing: what rmcp logs for debugging has codes and tokens in it.
fn silently<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future.with_subscriber(NoSubscriber::default())
}
