//! Texts as vectors: what means nearly the same lies near.
//!
//! An [`Embedder`] is either the model that is part of this program, which runs in a process of its own
//! ([`Local`]), or a service elsewhere ([`Remote`]). How a text is cut into what the model can take at once is
//! in [`windows`].

mod confine;
mod error;
mod frame;
mod local;
mod model;
mod remote;
mod tokenize;
mod windows;
mod worker;

pub use error::EmbedError;
pub use local::Local;
pub use model::{DIMENSIONS, MODEL};
pub use remote::{Remote, RemoteSettings};
pub use tokenize::{MAX_TOKENS, token_count};
pub use windows::windows;
pub use worker::serve;

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Whose vectors these are. Those of different models cannot be compared.
    fn model(&self) -> &str;

    /// A vector of length one for each text, in their order.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}
