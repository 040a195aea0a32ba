//! What lets us in at a remote upstream, as far as a transport needs to know.

use std::{future::Future, pin::Pin};

use http::HeaderValue;

/// The upstream's own tokens, which come from wherever they are kept. A client's token is never
/// among them: it was made for us.
pub trait Credentials: Send + Sync + 'static {
    /// What `Authorization` says in the next request, renewed if it is about to expire; `None` if
    /// there is nothing to say.
    fn authorization(&self) -> Pending<'_, Option<HeaderValue>>;

    /// The upstream has refused a request that said `refused`: what to say instead, if there is
    /// something else to try.
    fn renewed<'a>(&'a self, refused: Option<&'a HeaderValue>) -> Pending<'a, Option<HeaderValue>>;

    /// What whoever runs us can do about a refusal, as a sentence.
    fn advice(&self) -> String;
}

/// What credentials are asked for, which may have to be fetched.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, CredentialsError>> + Send + 'a>>;

/// Tokens cannot be read or renewed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CredentialsError(pub String);
