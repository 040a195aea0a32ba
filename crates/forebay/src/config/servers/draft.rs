//! A server while it is being read: what is written of it, before it is known how it is reached.

use std::{path::PathBuf, time::Duration};

use forebay_intercept::{Glob, Keeping};

use forebay_proxy::upstream::Sharing;
use forebay_tools::PagingRule;

use super::{Server, Start, Way};

/// What is written of a server.
#[derive(Debug)]
pub(in crate::config) struct Draft {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) shown_arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) directory: Option<PathBuf>,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) is_enabled: bool,
    pub(super) start: Start,
    pub(super) sharing: Sharing,
    pub(super) call_timeout: Option<Duration>,
    pub(super) start_timeout: Option<Duration>,
    pub(super) allow: Vec<Glob>,
    pub(super) deny: Vec<Glob>,
    pub(super) keeping: Keeping,
    pub(super) paging: Vec<PagingRule>,
    pub(super) watch: Vec<PathBuf>,
    pub(super) lacks: Vec<String>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            program: String::new(),
            arguments: Vec::new(),
            shown_arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
            url: String::new(),
            headers: Vec::new(),
            ca_file: None,
            is_enabled: true,
            start: Start::default(),
            sharing: Sharing::default(),
            call_timeout: None,
            start_timeout: None,
            allow: Vec::new(),
            deny: Vec::new(),
            keeping: Keeping::default(),
            paging: Vec::new(),
            watch: Vec::new(),
            lacks: Vec::new(),
        }
    }
}

impl Draft {
    /// The server that is started.
    pub(super) fn started(mut self, name: &str) -> Server {
        let way = Way::Command {
            program: std::mem::take(&mut self.program),
            arguments: std::mem::take(&mut self.arguments),
            environment: std::mem::take(&mut self.environment),
            directory: self.directory.take(),
        };
        self.reached(name, way)
    }

    /// The server that is elsewhere.
    pub(super) fn elsewhere(mut self, name: &str) -> Server {
        let way = Way::Url {
            url: std::mem::take(&mut self.url),
            headers: std::mem::take(&mut self.headers),
            ca_file: self.ca_file.take(),
        };
        self.reached(name, way)
    }

    fn reached(self, name: &str, way: Way) -> Server {
        Server {
            name: name.to_owned(),
            way,
            shown_arguments: self.shown_arguments,
            is_enabled: self.is_enabled,
            start: self.start,
            sharing: self.sharing,
            call_timeout: self.call_timeout,
            start_timeout: self.start_timeout,
            allow: self.allow,
            deny: self.deny,
            keeping: self.keeping,
            paging: self.paging,
            watch: self.watch,
            lacks: self.lacks,
        }
    }
}
