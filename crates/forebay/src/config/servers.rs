//! The servers behind the gateway: `[servers.NAME]` in the settings, or a client's own file.
//!
//! [`keys`] is the one table of what can be written of a server; reading, the reference page and the
//! JSON Schema follow from it. A variable that is named is expanded here, once; its value is in no
//! text that is shown.

mod clients_file;
mod draft;
mod expansion;
mod fronted;
pub(super) mod keys;
mod name;
mod reading;

use std::{path::PathBuf, time::Duration};

use forebay_intercept::{Glob, Keeping};
use forebay_proxy::upstream::{self, Sharing};
use forebay_tools::PagingRule;

pub(crate) use self::{
    clients_file::{can_be_read, read_clients_file},
    fronted::{Entry, Front, Presence, Written, entries},
    name::fitted as fitted_name,
};
pub(super) use self::{name::PATTERN as NAME_PATTERN, reading::of_table};

/// A server behind the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) way: Way,
    /// The arguments of its command as they may be shown: with the names of variables, without secrets.
    pub(crate) shown_arguments: Vec<String>,
    /// `false`: it is listed and never started.
    pub(crate) is_enabled: bool,
    pub(crate) start: Start,
    pub(crate) sharing: Sharing,
    /// How long a call may take.
    pub(crate) call_timeout: Option<Duration>,
    /// How long it may take to start.
    pub(crate) start_timeout: Option<Duration>,
    /// Which of its tools are offered: all that fit one of these (all, if there are none) ...
    pub(crate) allow: Vec<Glob>,
    /// ... and none of these.
    pub(crate) deny: Vec<Glob>,
    /// What holds for its results before what holds for all servers'.
    pub(crate) keeping: Keeping,
    /// Which of its tools get pages, before what holds for all servers'.
    pub(crate) paging: Vec<PagingRule>,
    /// Files and folders it is made of: when one changes, it is started anew.
    pub(crate) watch: Vec<PathBuf>,
    /// What keeps it from being started: a variable that is not set, for one. Whoever does not start it need
    /// not care.
    pub(crate) lacks: Vec<String>,
}

impl Server {
    /// How it is reached, without what may be secret.
    pub(crate) fn reached_by(&self) -> String {
        match &self.way {
            Way::Command { program, .. } => {
                [std::slice::from_ref(program), &self.shown_arguments].concat().join(" ")
            }
            Way::Url { url, .. } => shown_url(url),
        }
    }
}

/// A URL as it may be shown: without what may be secret, keys in its path among it.
pub(crate) fn shown_url(url: &str) -> String {
    forebay_clients::shown_url(&upstream::shown_url(url))
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// It is started.
    Command {
        program: String,
        arguments: Vec<String>,
        /// What is added to its environment.
        environment: Vec<(String, String)>,
        directory: Option<PathBuf>,
    },
    /// It is elsewhere, and speaks Streamable HTTP.
    Url { url: String, headers: Vec<(String, String)>, ca_file: Option<PathBuf> },
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Start {
    #[default]
    Eager,
    /// When it is first needed.
    Lazy,
}

#[cfg(test)]
mod tests;
