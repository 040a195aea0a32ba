//! The clients on this machine, and which of their servers Forebay stands in front of.

use std::collections::BTreeSet;

use forebay_clients::{ClientState, Environment, ServerState, Standing, ToolsLack, survey};

use super::{Area, Finding, State, ended, quoted};
use crate::{
    config::{Config, servers::can_be_read},
    figures::counted,
};

/// The clients' files that there are, of this person and of the project that they are in.
pub(super) fn here() -> Vec<ClientState> {
    let project = std::env::current_dir().ok();
    let mut clients = survey(&Environment::of_this_machine(), project.as_deref(), can_be_read);
    // The project may be one's home.
    let mut files = BTreeSet::new();
    clients.retain(|client| files.insert(client.file.clone()));
    clients
}

pub(super) fn examine(clients: &[ClientState], config: &Config) -> Vec<Finding> {
    if clients.is_empty() {
        return vec![found(State::Note, "No client's file with MCP servers was found.")];
    }
    clients.iter().flat_map(|state| told(state, config)).collect()
}

/// What is to be said of a client's file.
fn told(state: &ClientState, config: &Config) -> Vec<Finding> {
    let ClientState { title, servers, unreadable, .. } = state;
    let file = state.file.display();
    if let Some(why) = unreadable {
        let text = ended(&format!("{title}: {file} cannot be made sense of: {why}"));
        return vec![found(State::Warning, text).advised(edit(state))];
    }
    let behind: usize = servers.iter().map(|server| behind(&server.standing, config)).sum();
    let bare: Vec<String> = servers.iter().filter_map(bare).collect();
    let left: Vec<String> = servers.iter().filter_map(left_alone).collect();
    let is_lost = |server: &ServerState| {
        matches!(server.standing, Standing::Lost(_) | Standing::LostServers(_))
    };
    let standing = match (behind, bare.as_slice()) {
        (0, []) if servers.iter().any(is_lost) => {
            "no server behind a Forebay that starts".to_owned()
        }
        (0, []) => "no server to stand in front of".to_owned(),
        (0, [one]) => format!("{one} is not behind Forebay"),
        (0, all) => format!("none of {} behind Forebay", counted(all.len() as u64, "server")),
        (count, []) => format!("{} behind Forebay", counted(count as u64, "server")),
        (count, bare) => {
            let servers = counted(count as u64, "server");
            format!("{servers} behind Forebay, not so {}", bare.join(", "))
        }
    };
    let left = match left.as_slice() {
        [] => String::new(),
        left => format!("; left alone: {}", left.join(", ")),
    };
    let text = format!("{title} ({file}): {standing}{left}.");
    let finding = if bare.is_empty() {
        found(State::Ok, text)
    } else {
        found(State::Note, text).mended_by(install(state))
    };
    let mut findings = vec![finding];
    findings.extend(lost(state));
    findings.extend(no_tools(state));
    findings.extend(servers.iter().filter_map(|server| lost_servers(state, server)));
    findings
}

/// How many servers stand behind an entry.
fn behind(standing: &Standing, config: &Config) -> usize {
    match standing {
        Standing::Wrapped => 1,
        Standing::Gateway(servers) => servers.len(),
        Standing::GatewayOfSettings => config.servers.iter().filter(|it| it.is_enabled).count(),
        Standing::Forebay
        | Standing::Lost(_)
        | Standing::LostServers(_)
        | Standing::NotWrapped
        | Standing::LeftAlone(_) => 0,
    }
}

/// A server that could be behind Forebay, and is not.
fn bare(server: &ServerState) -> Option<String> {
    match &server.standing {
        Standing::NotWrapped => Some(format!("`{}`", server.name)),
        Standing::Wrapped
        | Standing::Forebay
        | Standing::Gateway(_)
        | Standing::GatewayOfSettings
        | Standing::Lost(_)
        | Standing::LostServers(_)
        | Standing::LeftAlone(_) => None,
    }
}

/// A server that Forebay does not stand in front of, with the reason.
fn left_alone(server: &ServerState) -> Option<String> {
    match &server.standing {
        Standing::LeftAlone(why) => Some(format!("`{}` ({why})", server.name)),
        Standing::Wrapped
        | Standing::Forebay
        | Standing::Gateway(_)
        | Standing::GatewayOfSettings
        | Standing::Lost(_)
        | Standing::LostServers(_)
        | Standing::NotWrapped => None,
    }
}

/// Entries that start a program of ours which is not there any more: the client has none of these servers.
fn lost(state: &ClientState) -> Option<Finding> {
    let lost = |server: &ServerState| match &server.standing {
        Standing::Lost(program) => Some((format!("`{}`", server.name), program.clone())),
        Standing::Wrapped
        | Standing::Forebay
        | Standing::Gateway(_)
        | Standing::GatewayOfSettings
        | Standing::LostServers(_)
        | Standing::NotWrapped
        | Standing::LeftAlone(_) => None,
    };
    let lost: Vec<(String, String)> = state.servers.iter().filter_map(lost).collect();
    let (_, program) = lost.first()?;
    let names: Vec<&str> = lost.iter().map(|(name, _)| name.as_str()).collect();
    let (title, file) = (state.title, state.file.display());
    let text = format!(
        "{title} ({file}): {} cannot start, because there is no `{program}` any more.",
        names.join(", ")
    );
    Some(found(State::Problem, text).mended_by(install(state)))
}

/// Results are kept, and nothing offers the tools to read them.
fn no_tools(state: &ClientState) -> Option<Finding> {
    let (title, file) = (state.title, state.file.display());
    let because = |why: &str| {
        let text = format!("{title} ({file}): what is kept cannot be read, because {why}.");
        found(State::Problem, text)
    };
    Some(match state.lacks_tools.as_ref()? {
        ToolsLack::Missing => because("there is no entry `forebay`").mended_by(install(state)),
        ToolsLack::Off => because("the entry `forebay` is switched off")
            .advised(format!("Switch it on in {title}, or in {file}.")),
        ToolsLack::Taken => because("another server has the name `forebay`, which the tools need")
            .advised(format!("Rename that server in {file}.")),
        ToolsLack::Blocked(list) => {
            because(&format!("{list} keeps the entry `forebay` from running"))
                .advised("Allow `forebay` in that list.")
        }
    })
}

/// Advice for a file that has to be written by hand.
fn edit(state: &ClientState) -> String {
    format!("Edit {}.", state.file.display())
}

/// The command that installs into a client's file again.
fn install(state: &ClientState) -> String {
    let project = state.project.as_ref().map(|it| format!(" --project {}", quoted(it)));
    format!("forebay install --client {}{}", state.client, project.unwrap_or_default())
}

/// A gateway without the file that names its servers. What they were is in the ledger.
fn lost_servers(state: &ClientState, server: &ServerState) -> Option<Finding> {
    let Standing::LostServers(servers) = &server.standing else { return None };
    let (title, file, name) = (state.title, state.file.display(), &server.name);
    let text = format!(
        "{title} ({file}): `{name}` cannot start, because there is no `{servers}` any more."
    );
    let mend = format!("forebay uninstall --client {}", state.client);
    Some(found(State::Problem, text).mended_by(mend))
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Clients, state, text)
}
