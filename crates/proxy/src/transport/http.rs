//! Streamable HTTP: upstreams that are reached by URL, and clients that reach us by one.

pub(crate) mod bridge;
mod credentials;
mod headers;
mod remote;
mod streamed;

pub use self::{
    credentials::{Credentials, CredentialsError, Pending},
    remote::{Remote, RemoteError, RemoteSettings},
};
