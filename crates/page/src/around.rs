//! What the page is told by the program that it is part of.

use forebay_proxy::upstream::{GroupSettings, Standing};
use forebay_store::Retention;
use jiff::Timestamp;
use serde::Serialize;
use std::{path::PathBuf, sync::Arc};

/// Whoever knows what the store does not.
pub trait Around: Send + Sync {
    /// Where everything is kept.
    fn home(&self) -> PathBuf;

    /// What is removed, and when.
    fn retention(&self) -> Retention;

    /// The settings in force, without what is secret.
    fn settings(&self) -> SettingsInForce;

    /// The servers that are known from the settings and from clients' files.
    fn servers(&self) -> Vec<KnownServer>;

    /// Which servers are under way in this process.
    fn live(&self) -> Live;

    /// The command that starts a server to see whether it works, if it is one of those that are known.
    fn check_command(&self, server: &str) -> Option<String>;

    /// What is not as it should be, as far as that is known at once.
    fn attention(&self) -> Vec<Finding>;

    /// All that `forebay doctor` finds, which takes a while.
    fn examination(&self) -> Examination;
}

/// What servers run in a process.
#[derive(Clone)]
pub enum Live {
    /// Those of a gateway, which can be started anew.
    Group(Arc<GroupSettings>),
    /// One command, which is started for each session.
    ForEachSession,
    /// None: it stands in front of one that is elsewhere.
    Elsewhere,
    /// None.
    Nothing,
}

impl Live {
    /// How the servers stand that are under way: those of a group are until its last client has left.
    pub(crate) fn standings(&self) -> Arc<[Standing]> {
        match self {
            Self::Group(group) if group.is_under_way() => group.standings(),
            Self::Group(_) | Self::ForEachSession | Self::Elsewhere | Self::Nothing => {
                Arc::default()
            }
        }
    }
}

/// All that was found, and when.
#[derive(Debug, Clone)]
pub struct Examination {
    /// When it was looked.
    pub at: Timestamp,
    /// How all stands, in a sentence.
    pub verdict: String,
    /// Each finding.
    pub findings: Vec<Finding>,
}

/// How something stands, in the words of `forebay doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub area: &'static str,
    /// How grave it is.
    #[serde(rename = "state")]
    pub weight: Weight,
    /// What is so, in a sentence.
    pub text: String,
    /// The command that mends it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
    /// What to do where no command does it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Something does not work.
    Problem,
    /// It works, and not as well as it could.
    Warning,
    /// Worth knowing.
    Note,
    /// As it should.
    Ok,
}

impl Weight {
    /// It in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Ok => "ok",
        }
    }
}

/// The settings in force.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SettingsInForce {
    /// Which file was read, or would be; or why they cannot be told.
    pub file: String,
    /// Each of them.
    pub settings: Vec<HeldSetting>,
}

/// A setting, its value and where that comes from.
#[derive(Debug, Clone, Serialize)]
pub struct HeldSetting {
    /// What it is called.
    pub key: String,
    /// Its value, as it is written.
    pub value: String,
    /// Where that comes from.
    pub from: String,
}

/// A server of the settings, or of clients.
#[derive(Debug, Clone, Serialize)]
pub struct KnownServer {
    /// Its name.
    pub name: String,
    /// How it is reached, without what may be secret.
    pub reached_by: String,
    /// The clients that have it behind Forebay; none if it is of the settings.
    pub clients: Vec<&'static str>,
    /// When or by whom it is started, such as `starts when needed`.
    pub state: String,
    /// Why it cannot be.
    pub lacks: Vec<String>,
    /// The tools that it had when it was last there; `None` if it never was.
    pub tools: Option<Vec<KnownTool>>,
    /// How it stood when the doctor last started it; `None` if it never did.
    pub seen: Option<SeenServer>,
}

/// How a server stood when the doctor last started it.
#[derive(Debug, Clone, Serialize)]
pub struct SeenServer {
    /// When that was.
    pub at: Timestamp,
    /// The revision of the protocol that it spoke, then or before.
    pub revision: Option<String>,
    /// Why it could not be used, if it could not.
    pub error: Option<String>,
}

/// A tool, and what its definition costs.
#[derive(Debug, Clone, Serialize)]
pub struct KnownTool {
    /// What the server calls it.
    pub name: String,
    /// How many tokens its definition has.
    pub tokens: u64,
}
