//! The servers of the settings, and those of clients that Forebay stands in front of: whether each can be started and
//! asked.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use forebay_proxy::upstream::{self, Seen, Standing, State as Reached};
use jiff::Timestamp;

use super::{Area, Finding, State, ended, fronted::Fronted, quoted};
use crate::{
    assemble,
    config::{
        Config,
        servers::{Server, Start},
    },
    figures::counted,
    gateway::{Gateway, Remembered, Sighting},
    last_words,
};

/// How long all may take together, to open and to tell which tools they have.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one may take to open; those that are allowed less have that.
const OPENING: Duration = Duration::from_secs(18);
/// How long one may take to end once it has been looked at.
const GRACE: Duration = Duration::from_secs(2);

/// Starts all servers at once, and tells how each stands.
pub(super) fn examine(config: &Config, fronted: &[Fronted]) -> Vec<Finding> {
    let mut findings = disabled(config);
    let (mut all, mut of_clients) = (config.clone(), Vec::new());
    for one in fronted {
        match one.startable() {
            Ok(server) => {
                of_clients.push((server.name.clone(), one));
                all.servers.push(server.clone());
            }
            Err(why) => {
                let text = ended(&format!("{} is not started: {why}", one.told()));
                findings.push(found(State::Note, text));
            }
        }
    }
    if all.servers.is_empty() {
        return findings;
    }
    match look(all) {
        Ok(all) => findings.extend(all.iter().map(|seen| {
            let name = seen.standing.name.as_str();
            let of_client = of_clients.iter().find(|(it, _)| it == name);
            told(seen, &of_client.map_or(Whose::Settings, |(_, one)| Whose::Client(one)))
        })),
        Err(error) => {
            let text = ended(&format!("The servers cannot be started: {error:#}"));
            findings.push(found(State::Problem, text).advised("Correct that in the settings."));
        }
    }
    findings
}

/// Whose server it is.
enum Whose<'a> {
    Settings,
    Client(&'a Fronted),
}

impl Whose<'_> {
    /// The command that starts it once more.
    fn again(&self, name: &str) -> String {
        match self {
            Self::Settings => format!("forebay servers check {}", quoted(name)),
            Self::Client(_) => "forebay doctor".to_owned(),
        }
    }

    /// Where what is wrong with it is written.
    fn advice(&self, name: &str) -> String {
        let place = match self {
            Self::Settings => format!("`[servers.{name}]` in the settings"),
            Self::Client(one) => format!("its entry in {}", one.file().display()),
        };
        format!("Correct {place}; `{}` tells whether it works then.", self.again(name))
    }
}

/// Tells that it is not known which there are.
pub(super) fn unknown() -> Finding {
    let text = "No server could be read from the settings, which have mistakes.";
    found(State::Note, text).advised("`forebay config --check` tells them.")
}

/// Tells which there are, without starting any.
pub(super) fn names(config: &Config, fronted: &[Fronted]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    if !names.is_empty() {
        let servers = counted(names.len() as u64, "server");
        let text = format!("{servers} in the settings, not started now: {}.", names.join(", "));
        findings.push(found(State::Note, text).mended_by("forebay servers check"));
    }
    let names: Vec<String> = fronted.iter().map(Fronted::told).collect();
    if !names.is_empty() {
        let servers = counted(names.len() as u64, "server");
        let text = format!(
            "{servers} behind Forebay in clients' files, not started now: {}.",
            names.join(", ")
        );
        findings.push(found(State::Note, text).mended_by("forebay doctor"));
    }
    findings
}

/// Tells that there is none, if that is so.
pub(super) fn none(config: &Config, fronted: &[Fronted]) -> Vec<Finding> {
    if !config.servers.is_empty() || !fronted.is_empty() {
        return Vec::new();
    }
    let text = "No server stands in the settings, and none behind Forebay in a client's file.";
    vec![found(State::Ok, text)]
}

fn look(mut config: Config) -> Result<Vec<Seen>> {
    for server in &mut config.servers {
        server.start = Start::Eager;
        let allowed = server.start_timeout.unwrap_or(OPENING);
        server.start_timeout = Some(allowed.min(OPENING));
    }
    let Gateway { group, .. } = Gateway::of(&mut config)?;
    let all = upstream::look(Arc::clone(&group), &assemble::spool(&config), PATIENCE, GRACE)?;
    remember(&config, &all);
    Ok(all)
}

/// How each stands is shown on the page, which starts none.
fn remember(config: &Config, all: &[Seen]) {
    let remembered = Remembered::new(&config.persist_location);
    for seen in all {
        let name = seen.standing.name.as_str();
        let Some(server) = config.servers.iter().find(|it| it.name == name) else { continue };
        let (revision, error) = (seen.standing.revision.clone(), why_not(seen));
        remembered.remember_sighting(server, Sighting { at: Timestamp::now(), revision, error });
    }
}

/// Why a server cannot be used, if it cannot.
fn why_not(Seen { standing, said }: &Seen) -> Option<String> {
    match standing.state {
        Reached::Open if standing.tools.is_some() => None,
        Reached::Open => Some("it opens, and does not tell which tools it has".to_owned()),
        Reached::Idle | Reached::Starting | Reached::Down => {
            let why = standing.last_error.as_deref().unwrap_or("it does not answer");
            let said = last_words::of(said).map(|said| format!("; {said}")).unwrap_or_default();
            Some(format!("{why}{said}"))
        }
    }
}

fn disabled(config: &Config) -> Vec<Finding> {
    let is_off = |server: &&Server| !server.is_enabled;
    let told = |server: &Server| {
        found(State::Note, format!("`{}` is not started: `enabled` is false.", server.name))
    };
    config.servers.iter().filter(is_off).map(told).collect()
}

fn told(seen: &Seen, whose: &Whose<'_>) -> Finding {
    let Standing { name, state, revision, tools, .. } = &seen.standing;
    let (again, advice) = (whose.again(name.as_str()), whose.advice(name.as_str()));
    let name = match whose {
        Whose::Settings => format!("`{name}`"),
        Whose::Client(one) => one.told(),
    };
    match state {
        Reached::Open if tools.is_none() => {
            let text = format!("{name} opens, and does not tell which tools it has.");
            found(State::Problem, text).advised(advice)
        }
        Reached::Open => {
            let tools = counted(tools.unwrap_or_default() as u64, "tool");
            let revision = revision.as_deref().unwrap_or("an unknown revision");
            found(State::Ok, format!("{name} works, with {tools}; it speaks {revision}."))
        }
        Reached::Idle | Reached::Starting | Reached::Down => {
            let why = why_not(seen).unwrap_or_default();
            let text = ended(&format!("{name} cannot be used: {why}"));
            if !seen.standing.is_late() {
                return found(State::Problem, text).advised(advice);
            }
            // The first start of what `npx` or `uvx` runs may take minutes.
            let text =
                format!("{text} What has to be fetched first may be there by now: look again.");
            found(State::Problem, text).mended_by(again)
        }
    }
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Servers, state, text)
}
