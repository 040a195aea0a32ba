//! The settings: from a file, the environment and flags, in that order of growing precedence.
//!
//! They are whole before anything starts: all problems are reported together, each with its place and
//! what to write instead. [`settings`] is the one table of what there is; parsing, the reference page
//! and the JSON Schema follow from it.

pub(crate) mod environment;
mod file;
mod from_toml;
pub(crate) mod gateway;
pub(crate) mod in_force;
mod kind;
pub(crate) mod log;
mod outputs;
mod paging;
mod problem;
pub(crate) mod reference;
mod rules;
pub(crate) mod search;
pub(crate) mod servers;
mod settings;
mod summaries;
mod tree;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use forebay_intercept::Policy;
use forebay_query::Limits;
use forebay_store::{Durability, Retention};
use forebay_tools::{Destructive, Formulas, JobSettings, Offer, Paging};

use self::{
    gateway::Gateway, log::FileLevel, outputs::Outputs, search::Search, servers::Server,
    summaries::Summaries,
};
pub(crate) use self::{
    kind::Given,
    problem::{Problem, Problems},
};

/// How Forebay behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) enabled: bool,
    pub(crate) persist_location: PathBuf,
    pub(crate) cleanup_after_days: u64,
    /// 0 sets no limit; if it is not set, it follows from the disk.
    pub(crate) max_store_bytes: Option<u64>,
    pub(crate) max_spool_bytes: u64,
    pub(crate) compress_after_days: u64,
    pub(crate) wait_for_disk: bool,
    pub(crate) policy: Policy,
    pub(crate) offer: Offer,
    pub(crate) formulas: Formulas,
    /// Which tools get pages.
    pub(crate) paging: Paging,
    /// What holds for calls that become jobs.
    pub(crate) jobs: JobSettings,
    pub(crate) query: Limits,
    /// What programs may take.
    pub(crate) code: forebay_sandbox::Limits,
    pub(crate) destructive: Destructive,
    /// What was kept, as resources.
    pub(crate) resources: Resources,
    /// What was kept, over HTTP.
    pub(crate) outputs: Outputs,
    /// Whether `serve` has a page for people.
    pub(crate) page: bool,
    /// What was kept, found by its words and its meaning.
    pub(crate) search: Search,
    /// What models say of large results.
    pub(crate) summaries: Summaries,
    pub(crate) ca_file: Option<PathBuf>,
    /// Where traces go.
    pub(crate) traces_url: Option<String>,
    /// What is written to the log file.
    pub(crate) log_file_level: FileLevel,
    /// The servers behind the gateway, in the order of the file.
    pub(crate) servers: Vec<Server>,
    pub(crate) gateway: Gateway,
}

/// How what was kept is offered as resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) is_enabled: bool,
    /// How much is read at once.
    pub(crate) max_bytes: u64,
}

impl Default for Resources {
    fn default() -> Self {
        Self { is_enabled: true, max_bytes: 10_000_000 }
    }
}

/// Where settings come from, besides the file in its usual place.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The file that a flag names.
    pub(crate) file: Option<PathBuf>,
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The flags that stand for a setting: their name, the setting's, and its value.
    pub(crate) flags: Vec<(&'static str, &'static str, Given)>,
}

/// The directory for everything of Forebay's, wherever results are kept.
pub(crate) fn home() -> Result<PathBuf, Problems> {
    let home = environment::home(&std::env::vars_os().collect::<Vec<_>>());
    home.map_err(|problem| Problems(vec![problem]))
}

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Config {
    /// Reads all settings. With them comes what was passed over.
    pub(crate) fn load(sources: &Sources) -> Result<(Self, Vec<Problem>), Problems> {
        let (config, problems) = Self::read(sources)?;
        Ok((config, Problems::unless_refused(problems)?))
    }

    /// Reads all settings that can be, with all that is wrong with the others.
    pub(crate) fn read(sources: &Sources) -> Result<(Self, Vec<Problem>), Problems> {
        // Without it, it is not known where the file is.
        let home =
            environment::home(&sources.variables).map_err(|problem| Problems(vec![problem]))?;
        let mut config = Self::kept_in(home.clone());
        let mut problems = Vec::new();
        let named = environment::named_file(sources);
        let target = file::Target {
            config: &mut config,
            problems: &mut problems,
            variables: &sources.variables,
        };
        match named {
            Some(path) => file::read_named(&path, target),
            None => file::read_if_there(&home.join("forebay.toml"), target),
        }
        environment::read(&sources.variables, &mut config, &mut problems);
        for (flag, key, given) in &sources.flags {
            let setting = settings::named(key);
            let set = setting.and_then(|setting| setting.set(&mut config, given).err());
            problems.extend(set.map(|what| Problem::of_flag(flag, what)));
        }
        Ok((config, problems))
    }

    /// The file that settings come from, whether or not it is there.
    pub(crate) fn file(sources: &Sources) -> Result<PathBuf, Problems> {
        let home = environment::home(&sources.variables);
        let home = home.map_err(|problem| Problems(vec![problem]))?;
        Ok(environment::named_file(sources).unwrap_or_else(|| home.join("forebay.toml")))
    }

    /// Takes the servers of a client's file in place of those of the settings. Returns what was passed over.
    pub(crate) fn take_servers_of(&mut self, path: &Path) -> Result<Vec<Problem>, Problems> {
        let variables: Vec<_> = std::env::vars_os().collect();
        let (servers, problems) = servers::read_clients_file(path, &variables);
        let problems = Problems::unless_refused(problems)?;
        self.servers = servers;
        Ok(problems)
    }

    /// What holds if nothing is said.
    fn kept_in(home: PathBuf) -> Self {
        Self {
            enabled: true,
            persist_location: home,
            cleanup_after_days: 30,
            max_store_bytes: None,
            max_spool_bytes: 4_000_000_000,
            compress_after_days: 1,
            wait_for_disk: false,
            policy: Policy::default(),
            offer: Offer::default(),
            formulas: Formulas::default(),
            paging: Paging::default(),
            jobs: JobSettings::default(),
            query: Limits::default(),
            code: forebay_sandbox::Limits::default(),
            destructive: Destructive::default(),
            resources: Resources::default(),
            outputs: Outputs::default(),
            page: true,
            search: Search::default(),
            summaries: Summaries::default(),
            ca_file: None,
            traces_url: None,
            log_file_level: FileLevel::default(),
            servers: Vec::new(),
            gateway: Gateway::default(),
        }
    }

    /// What is removed and compressed, and when.
    pub(crate) fn retention(&self) -> Retention {
        let days = |days: u64| {
            let days = u32::try_from(days).unwrap_or(u32::MAX);
            (days > 0).then(|| DAY.saturating_mul(days))
        };
        Retention {
            max_age: days(self.cleanup_after_days),
            max_stored_bytes: self
                .max_store_bytes
                .or_else(|| Some(Retention::usual_bytes(&self.persist_location)))
                .filter(|bytes| *bytes > 0),
            compress_after: days(self.compress_after_days),
        }
    }

    /// When what was kept is safe against a loss of power.
    pub(crate) fn durability(&self) -> Durability {
        if self.wait_for_disk { Durability::BeforeCommitReturns } else { Durability::RightAfter }
    }
}

#[cfg(test)]
mod tests;
