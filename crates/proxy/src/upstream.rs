//! Upstreams: child processes, and servers that are reached by HTTP.
//!
//! [`child`] starts a process and makes sure that it ends; [`launcher`] does the same for tasks.
//! [`remote`] sends requests to a server elsewhere, and [`bridge`] makes such a server look like a child:
//! lines in, lines out. [`piped`] is either of them at the end of two pipes.

pub(crate) mod bridge;
pub(crate) mod child;
pub(crate) mod launcher;
pub(crate) mod piped;
pub(crate) mod remote;

pub use self::{
    child::Command,
    remote::{
        Credentials, CredentialsError, Pending, Reached, Remote, RemoteError, RemoteSettings,
        explain, shown_url,
    },
};

/// An upstream that is to be started.
pub enum Upstream {
    /// A child process.
    Command(Command),
    /// Something that is reached by HTTP.
    Remote(Box<Remote>),
}
