//! What there is: clients, their files, and which servers have Forebay in front.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    disk,
    document::{Member, Node, Place, text_of},
    environment::Environment,
    moving,
    own::{OURS, Own},
    owners::entries_of_install,
    plan::{self, Fate, FilePlan, Mode, Request, Scope, ServerPlan},
    tables::tables,
};

/// A client's file and what is in it.
#[derive(Debug, Clone, Serialize)]
pub struct ClientState {
    /// What the client is called on the command line.
    pub client: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The folder of the project whose file it is; `None` if it is the person's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// Its servers, in their order.
    pub servers: Vec<ServerState>,
    /// Why no entry offers the tools for the results that are kept, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks_tools: Option<ToolsLack>,
    /// Why the file cannot be made sense of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// A server of a client's.
#[derive(Debug, Clone, Serialize)]
pub struct ServerState {
    /// Its name.
    pub name: String,
    /// The project that it is for, where a file has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What is to be said of it.
    #[serde(flatten)]
    pub standing: Standing,
}

/// Whether Forebay stands in front of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "why")]
pub enum Standing {
    /// It does.
    Wrapped,
    /// It is Forebay itself.
    Forebay,
    /// It is a gateway, and these servers stand behind it.
    Gateway(Vec<String>),
    /// It is a gateway in front of the servers that the settings name.
    GatewayOfSettings,
    /// It starts a program of Forebay's that is not there any more.
    Lost(String),
    /// It is a gateway, and the file with its servers is not there any more.
    LostServers(String),
    /// It does not, and `forebay install` would change that.
    NotWrapped,
    /// It does not, for this reason.
    LeftAlone(String),
}

/// Why results are kept and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "why")]
pub enum ToolsLack {
    /// There is no entry `forebay`.
    Missing,
    /// It is switched off.
    Off,
    /// Another server has its name.
    Taken,
    /// Something beside the entries keeps it from running.
    Blocked(String),
}

/// All files of clients that are there, a person's own and, if a project is given, that project's.
/// `reads` says whether Forebay could start with a file of servers.
pub fn survey(
    environment: &Environment,
    project: Option<&Path>,
    reads: fn(&str) -> Result<(), String>,
) -> Vec<ClientState> {
    let plans = |scope: Scope| {
        let request = Request {
            clients: Vec::new(),
            servers: Vec::new(),
            scope,
            mode: Mode::Wrap,
            program: "forebay".to_owned(),
            home: PathBuf::new(),
            logins: Vec::new(),
            gateway_reads: reads,
        };
        let files = plan::files(environment, &[], &request.scope).unwrap_or_default();
        let planned =
            files.iter().map(|(client, path)| plan::of_file(environment, &request, client, path));
        planned.collect::<Vec<FilePlan>>()
    };
    let own = plans(Scope::User);
    let offers = |plan: &&FilePlan| lack(plan).is_none();
    let offering: Vec<&str> = own.iter().filter(offers).map(|plan| plan.client.name).collect();
    let mut states: Vec<ClientState> = own.into_iter().map(|plan| state(plan, None)).collect();
    let Some(folder) = project else { return states };
    for plan in plans(Scope::Project(folder.to_owned())) {
        let mut state = state(plan, Some(folder.to_owned()));
        // What the person's own file offers is offered in every project.
        let is_missing = state.lacks_tools == Some(ToolsLack::Missing);
        if is_missing && offering.contains(&state.client) {
            state.lacks_tools = None;
        }
        states.push(state);
    }
    states
}

/// What a file says, and where the servers are in it.
fn read(plan: &FilePlan) -> Option<(Node, Vec<Place>)> {
    let (_, text) = text_of(&plan.before).ok()?;
    let root = plan.client.form.read(text).ok()?;
    let tables = tables(&root, plan.client).ok()?;
    Some((root, tables))
}

/// Why no entry in a file offers the tools, if that is so.
fn lack(plan: &FilePlan) -> Option<ToolsLack> {
    let read = read(plan);
    let first = read.as_ref().and_then(|(root, tables)| root.at(tables.first()?));
    let is_offered = first.and_then(plan::offering).is_some();
    match first.and_then(|table| table.member(OURS)) {
        Some(ours) if !is_offered => {
            let is_gateway = Own::of(&ours.value.value()).is_some_and(|own| own.is_gateway());
            Some(if is_gateway { ToolsLack::Off } else { ToolsLack::Taken })
        }
        Some(_) | None => match &plan.blocks_tools {
            Some(list) => Some(ToolsLack::Blocked(list.clone())),
            None if is_offered => None,
            None => Some(ToolsLack::Missing),
        },
    }
}

fn state(plan: FilePlan, project: Option<PathBuf>) -> ClientState {
    let read = read(&plan);
    let (root, tables) = read.as_ref().map_or((None, &[][..]), |(root, it)| (Some(root), it));
    let own = |server: &ServerPlan| {
        let is_meant =
            |place: &&Place| (place.len() == 3).then(|| &place[1]) == server.project.as_ref();
        let table = root?.at(tables.iter().find(is_meant)?)?;
        Own::of(&table.member(&server.name)?.value.value())
    };
    let is_front = |member: &Member| {
        Own::of(&member.value.value()).is_some_and(|own| own.is_wrap() && own.is_of_install())
    };
    let mut nodes = tables.iter().filter_map(|place| root?.at(place));
    let is_fronted = nodes.any(|table| table.members().iter().any(is_front));
    let lacks_tools = if is_fronted { lack(&plan) } else { None };
    let servers = plan.servers.into_iter();
    ClientState {
        client: plan.client.name,
        title: plan.title,
        servers: servers.filter_map(|server| standing(own(&server).as_ref(), server)).collect(),
        project,
        lacks_tools,
        unreadable: plan.refusal,
        file: plan.path,
    }
}

fn standing(own: Option<&Own>, plan: ServerPlan) -> Option<ServerState> {
    let standing = match plan.fate {
        Fate::Wrap | Fate::Move | Fate::NotNamed => Standing::NotWrapped,
        Fate::Wrapped | Fate::Forebay | Fate::Mend => of_ours(own, &plan.fate),
        // It is not there yet.
        Fate::Add => return None,
        Fate::Left(reason) => Standing::LeftAlone(reason.to_string()),
    };
    Some(ServerState { name: plan.name, project: plan.project, standing })
}

/// How an entry that starts Forebay stands.
fn of_ours(own: Option<&Own>, fate: &Fate) -> Standing {
    if let Some(program) = own.and_then(Own::lost_program) {
        return Standing::Lost(program.to_owned());
    }
    if let Some(file) = own.and_then(Own::servers_file) {
        if !file.exists() {
            return Standing::LostServers(file.display().to_string());
        }
        let servers = moving::servers_in(&file).unwrap_or_default();
        return Standing::Gateway(servers.into_iter().map(|(name, _)| name).collect());
    }
    if own.is_some_and(Own::is_gateway_of_settings) {
        return Standing::GatewayOfSettings;
    }
    if *fate == Fate::Wrapped { Standing::Wrapped } else { Standing::Forebay }
}

/// A file with entries that are written as `forebay install` writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remnant {
    /// What people call the client.
    pub title: &'static str,
    /// The file, where it really lies.
    pub path: PathBuf,
    /// The names of the entries.
    pub names: Vec<String>,
    /// The files with the servers behind those that are gateways.
    pub servers: Vec<PathBuf>,
}

/// The files of these clients, or of all, that have Forebay in them, whether or not that is remembered.
pub fn remnants(
    environment: &Environment,
    clients: &[String],
    project: Option<&Path>,
) -> Vec<Remnant> {
    let scopes = [Some(Scope::User), project.map(|folder| Scope::Project(folder.to_owned()))];
    let files = |scope| plan::files(environment, clients, &scope).unwrap_or_default();
    let mut found: Vec<Remnant> = Vec::new();
    for (client, path) in scopes.into_iter().flatten().flat_map(files) {
        let Ok(path) = path.canonicalize() else { continue };
        let Ok(bytes) = disk::read(&path) else { continue };
        let Ok((_, text)) = text_of(&bytes) else { continue };
        let entries = entries_of_install(client, text);
        let own = entries.iter().filter_map(|(_, entry)| Own::of(entry));
        let servers: Vec<PathBuf> = own.filter_map(|own| own.servers_file()).collect();
        let mut names: Vec<String> = Vec::new();
        for name in entries.into_iter().filter_map(|(mut place, _)| place.pop()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if !names.is_empty() && !found.iter().any(|it| it.path == path) {
            found.push(Remnant { title: client.title, path, names, servers });
        }
    }
    found
}
