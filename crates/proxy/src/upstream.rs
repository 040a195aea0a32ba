//! Upstreams: child processes, servers that are reached by HTTP, and groups of both.
//!
//! [`child`] starts a process and makes sure that it ends; [`launcher`] does the same for tasks, and [`stderr`] hears
//! what a child says there.
//! [`remote`] sends requests to a server elsewhere, and [`bridge`] makes such a server look like a child:
//! lines in, lines out ([`beside`]). [`group`] does the same of many upstreams. [`piped`] is any of them at the
//! end of two pipes, [`hosted`] one behind an endpoint of ours.

pub(crate) mod beside;
pub(crate) mod bridge;
pub(crate) mod child;
pub(crate) mod group;
pub(crate) mod hosted;
pub(crate) mod launcher;
pub(crate) mod piped;
pub(crate) mod remote;
pub(crate) mod stderr;

pub use self::{
    child::Command,
    group::{
        GroupSettings, MemberSettings, Memory, OfferedTool, Plan, Seen, Sharing, Standing, State,
        Way, look,
    },
    remote::{
        Credentials, CredentialsError, Pending, Reached, Remote, RemoteError, RemoteSettings,
        explain, shown_url,
    },
};

use std::sync::Arc;

/// An upstream that is to be started.
pub enum Upstream {
    /// A child process.
    Command(Command),
    /// Something that is reached by HTTP.
    Remote(Box<Remote>),
    /// Many of both.
    Group(Arc<GroupSettings>),
}
