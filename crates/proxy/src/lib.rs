//! The proxy: everything between a client's bytes and an upstream's, and nothing about datasets.
//!
//! In the order of the data's way: [`transport`] frames bytes, [`session`] knows what each message
//! is about, [`router`] names the upstream, [`chain`] lets interceptors look, and the transport
//! sends on. [`relay`] is the one function in which those hops follow each other.

pub mod arguments;
pub mod body;
pub mod chain;
mod error;
mod events;
pub mod protocol;
pub mod record;
pub mod relay;
pub mod router;
pub mod session;
#[cfg(test)]
mod testing;
mod threads;
pub mod transport;

pub use error::ProxyError;
