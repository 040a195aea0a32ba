//! Clients that reach us by URL (Streamable HTTP).
//!
//! All runs on tasks, for there may be a thousand clients that hardly ever speak; the chain, which may
//! block, is consulted on threads that are for that. [`serve`] listens and lets in who may come in.
//! Behind it stands [`hosting`], with child processes, or [`passing`], with a server elsewhere; beside it,
//! what a [`Site`] offers.

mod answering;
mod cancel_on_drop;
mod connection;
mod context;
mod event_stream;
mod gate;
mod hosting;
mod passing;
mod reply;
mod serve;
mod site;

pub use self::{
    gate::Gate,
    hosting::Limits,
    serve::{Settings, Upstream, serve},
    site::{Presence, Site, serve_alone},
};
