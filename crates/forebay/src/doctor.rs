//! Whether Forebay can do its work on this machine: what is looked at, and what was found.
//!
//! Each area has a file. A finding says what is so in one sentence and, if something should be done, with which
//! command or, where none does it, what to do in words. Whoever shows findings, on a terminal or on a page, shows these.

mod clients;
mod engine;
mod fronted;
mod limits;
mod log;
mod servers;
mod settings;
mod store;
mod versions;

use std::{
    io,
    path::Path,
    thread::{self, ScopedJoinHandle},
};

use serde::Serialize;

pub(crate) use self::fronted::{InFrontOf, ReadWords, here as fronted_here};

use crate::{config::Sources, figures::counted};

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) area: Area,
    pub(crate) state: State,
    /// What is so, in a sentence.
    pub(crate) text: String,
    /// The command that mends it, as a shell takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mend: Option<String>,
    /// What to do where no command does it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

/// What a finding is about, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Area {
    Settings,
    Store,
    Engine,
    Servers,
    Clients,
    Limits,
    Log,
    Versions,
}

/// How a thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// As it should.
    Ok,
    /// Worth knowing.
    Note,
    /// It works, and not as well as it could.
    Warning,
    /// Something does not work.
    Problem,
}

/// Whether servers are started, to see whether they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    Start,
    Leave,
}

/// Looks at everything. Changes nothing but what any command does that looks at what was kept: a catalog that was not
/// closed is put in order.
pub(crate) fn examine(sources: &Sources, servers: Servers, read: ReadWords) -> Vec<Finding> {
    let (config, mut findings) = settings::examine(sources);
    let Some(config) = config else {
        findings.extend(versions::examine());
        return findings;
    };
    let model = || engine::model(&config);
    let is_refused = findings.iter().any(|it| it.state == State::Problem);
    let clients = clients::here();
    let fronted = fronted::of(&clients, &config, read);
    let started = || {
        let mut findings = if is_refused && config.servers.is_empty() {
            vec![servers::unknown()]
        } else {
            servers::none(&config, &fronted)
        };
        findings.extend(match servers {
            Servers::Start => servers::examine(&config, &fronted),
            Servers::Leave => servers::names(&config, &fronted),
        });
        findings
    };
    // What waits for other processes waits at the same time.
    thread::scope(|scope| {
        let of_model = thread::Builder::new().spawn_scoped(scope, model);
        let of_servers = thread::Builder::new().spawn_scoped(scope, started);
        findings.extend(store::examine(&config));
        findings.push(engine::queries(&config));
        findings.push(engine::confinement());
        findings.extend(joined(of_model, model));
        findings.extend(joined(of_servers, started));
    });
    findings.extend(clients::examine(&clients, &config));
    findings.extend(limits::examine(&config, &clients));
    findings.extend(log::examine(&config));
    findings.extend(versions::examine());
    findings
}

/// What a thread has found; where there can be no more threads, it is looked for here.
fn joined(
    started: io::Result<ScopedJoinHandle<'_, Vec<Finding>>>,
    work: impl FnOnce() -> Vec<Finding>,
) -> Vec<Finding> {
    match started {
        Ok(thread) => thread.join().unwrap_or_default(),
        Err(_) => work(),
    }
}

/// How all stands, in a sentence.
pub(crate) fn verdict(problems: u64, warnings: u64) -> String {
    match (problems, warnings) {
        (0, 0) => "All is well.".to_owned(),
        (0, _) => format!("No problem, {}.", counted(warnings, "warning")),
        (_, 0) => format!("{}.", counted(problems, "problem")),
        (_, _) => format!("{}, {}.", counted(problems, "problem"), counted(warnings, "warning")),
    }
}

/// What others say as the end of a sentence.
fn ended(text: &str) -> String {
    let is_ended = text.ends_with(['.', '?', '!']);
    if is_ended { text.to_owned() } else { format!("{text}.") }
}

/// A path, or a name, as a shell takes it for one word.
pub(crate) fn quoted(word: impl AsRef<Path>) -> String {
    let text = word.as_ref().display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%=:,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Finding {
    fn new(area: Area, state: State, text: impl Into<String>) -> Self {
        Self { area, state, text: text.into(), mend: None, advice: None }
    }

    fn mended_by(self, command: impl Into<String>) -> Self {
        Self { mend: Some(command.into()), ..self }
    }

    fn advised(self, words: impl Into<String>) -> Self {
        Self { advice: Some(words.into()), ..self }
    }
}

impl Area {
    /// What it is called above its findings.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Settings => "Settings",
            Self::Store => "Store",
            Self::Engine => "Engine",
            Self::Servers => "Servers",
            Self::Clients => "Clients",
            Self::Limits => "Limits",
            Self::Log => "Log",
            Self::Versions => "Versions",
        }
    }
}

impl State {
    /// Its name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_command_stays_one_word() {
        let said = |path: &str| {
            let script = format!("printf %s {}", quoted(Path::new(path)));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        for path in ["/home/me/.forebay", "/a b/c", "/it's/$HOME;`x`", "/é/~"] {
            assert_eq!(said(path), path);
        }
        assert_eq!(quoted(Path::new("/home/me/.forebay")), "/home/me/.forebay");
    }
}
