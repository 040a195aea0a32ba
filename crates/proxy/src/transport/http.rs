//! Streamable HTTP: upstreams that are reached by URL, and clients that reach us by one.
//!
//! An HTTP transport runs on tasks, for there may be a thousand clients that hardly ever speak; the
//! chain, which may block, is consulted on threads that are for that. [`serve`] listens and lets in
//! who may come in. Behind it stands [`hosting`], with child processes, or [`passing`], with a server
//! elsewhere. [`bridge`] is the way from a client on stdio to such a server.

mod answering;
pub(crate) mod bridge;
mod credentials;
mod ending;
mod gate;
mod headers;
mod hosting;
mod house;
mod look;
mod modern;
mod passing;
mod remote;
mod reply;
mod serve;
mod streamed;
mod tool_headers;

pub use self::{
    credentials::{Credentials, CredentialsError, Pending},
    gate::Gate,
    hosting::Limits,
    remote::{Reached, Remote, RemoteError, RemoteSettings, explain, shown_url},
    serve::{Settings, Upstream, serve},
};
