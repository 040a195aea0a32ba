//! The proxy: everything between a client's bytes and an upstream's, and nothing about datasets.
//!
//! In the order of the data's way: [`client`] frames what a client sends, [`session`] knows what each
//! message is about, [`router`] names the upstream, [`chain`] lets interceptors look, and [`upstream`] is
//! where it goes. [`relay`] is the one function in which those hops follow each other; [`protocol`] is
//! what all of them know of MCP.

pub mod arguments;
pub mod body;
pub mod chain;
pub mod client;
mod error;
mod events;
mod limits;
pub mod metrics;
mod pipe;
pub mod protocol;
pub mod record;
pub mod relay;
pub mod router;
pub mod session;
mod streamable;
pub mod telemetry;
#[cfg(test)]
mod testing;
mod threads;
pub mod upstream;

pub use error::ProxyError;
