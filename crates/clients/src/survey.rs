//! What there is: clients, their files, and which servers have Forebay in front.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    disk,
    document::{Place, text_of},
    environment::Environment,
    moving,
    own::Own,
    plan::{self, Fate, Mode, Request, Scope, ServerPlan},
    tables::tables,
    undo::entries_of_install,
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
    /// Its servers, in their order.
    pub servers: Vec<ServerState>,
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

/// All files of clients that are there, a person's own and, if a project is given, that project's.
pub fn survey(environment: &Environment, project: Option<&Path>) -> Vec<ClientState> {
    let scopes = [Some(Scope::User), project.map(|folder| Scope::Project(folder.to_owned()))];
    scopes.into_iter().flatten().flat_map(|scope| of_scope(environment, scope)).collect()
}

fn of_scope(environment: &Environment, scope: Scope) -> Vec<ClientState> {
    let request = Request {
        clients: Vec::new(),
        servers: Vec::new(),
        scope,
        mode: Mode::Wrap,
        program: "forebay".to_owned(),
        home: PathBuf::new(),
        logins: Vec::new(),
        gateway_reads: |_| Ok(()),
    };
    let plans = plan::plan(environment, &request).unwrap_or_default();
    plans.into_iter().map(state).collect()
}

fn state(plan: plan::FilePlan) -> ClientState {
    let root = text_of(&plan.before).ok();
    let root = root.and_then(|(_, text)| plan.client.form.read(text).ok());
    let tables = root.as_ref().and_then(|root| tables(root, plan.client).ok()).unwrap_or_default();
    let own = |server: &ServerPlan| {
        let is_meant =
            |place: &&Place| (place.len() == 3).then(|| &place[1]) == server.project.as_ref();
        let table = root.as_ref()?.at(tables.iter().find(is_meant)?)?;
        Own::of(&table.member(&server.name)?.value.value())
    };
    let servers = plan.servers.into_iter();
    ClientState {
        client: plan.client.name,
        title: plan.title,
        servers: servers.filter_map(|server| standing(own(&server).as_ref(), server)).collect(),
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
        let names: Vec<String> =
            entries.into_iter().filter_map(|(mut place, _)| place.pop()).collect();
        if !names.is_empty() && !found.iter().any(|it| it.path == path) {
            found.push(Remnant { title: client.title, path, names });
        }
    }
    found
}
