//! What would become of a client's file. Pure but for reading it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    catalogue::{CLIENTS, Client},
    diff, disk,
    document::{Member, Node, Place, text_of},
    entry::{self, Entry, Known, Reason, Wrapping},
    environment::Environment,
    error::ClientsError,
    ledger::{Change, Ledger},
    moving,
    own::{OURS, Own},
    policy,
    switches::Switches,
    tables::{projects, tables},
    value::Value,
    work::Work,
};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Clients by their names; none means all.
    pub clients: Vec<String>,
    /// Servers by their names; none means all.
    pub servers: Vec<String>,
    /// Whose files are changed.
    pub scope: Scope,
    /// What becomes of servers.
    pub mode: Mode,
    /// The program that clients are to start.
    pub program: String,
    /// Forebay's home.
    pub home: PathBuf,
    /// The URLs at which Forebay is logged in.
    pub logins: Vec<String>,
    /// Whether a gateway can read a file of servers, or what it would pass over.
    pub gateway_reads: fn(&str) -> Result<(), String>,
}

/// Whose files are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of the person alone.
    User,
    /// Those in this folder, which others may share.
    Project(PathBuf),
}

/// What becomes of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each has Forebay in front of it.
    Wrap,
    /// All stand behind one entry.
    Gateway,
}

/// What would become of a file.
#[derive(Debug)]
pub struct FilePlan {
    /// The client's name, as people call it.
    pub title: &'static str,
    /// The file, as it is reached.
    pub path: PathBuf,
    /// Its servers, in their order.
    pub servers: Vec<ServerPlan>,
    /// Why nothing can be done about the file as a whole.
    pub refusal: Option<String>,
    /// The list that keeps the entry with the tools from running, if there is one.
    pub(crate) blocks_tools: Option<String>,
    pub(crate) client: &'static Client,
    pub(crate) target: PathBuf,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) changes: Vec<Change>,
    /// Our own file, for servers that stand behind a gateway.
    pub(crate) moved: Option<(PathBuf, Vec<u8>)>,
}

/// What would become of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerPlan {
    /// Its name.
    pub name: String,
    /// The project that it is for, where a file has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What becomes of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// What becomes of a server, or is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum Fate {
    /// Forebay is put in front of it.
    Wrap,
    /// It goes behind the gateway.
    Move,
    /// It starts a program of Forebay's that is not there any more, and is to start the one that is.
    Mend,
    /// Forebay stands in front of it already.
    Wrapped,
    /// It is Forebay itself.
    Forebay,
    /// The entry of Forebay's own is added.
    Add,
    /// It was not asked for.
    NotNamed,
    /// It stays as it is.
    Left(Reason),
}

impl FilePlan {
    /// True if something would be written.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Nothing is done to the file, for this reason.
    pub(crate) fn refused(self, why: String) -> Self {
        let after = self.before.clone();
        Self { refusal: Some(why), after, changes: Vec::new(), moved: None, ..self }
    }

    /// What would change, as a patch; values of variables and headers are masked.
    pub fn difference(&self) -> String {
        let form = self.client.form;
        let masked = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            diff::masked(form, &text, self.client)
        };
        diff::unified(&self.path, &masked(&self.before), &masked(&self.after))
    }
}

impl Request {
    fn wants(&self, name: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|it| it == name)
    }
}

impl Known for Request {
    fn is_named(&self, name: &str) -> bool {
        self.servers.iter().any(|it| it == name)
    }

    fn is_logged_in(&self, url: &str) -> bool {
        self.logins.iter().any(|login| login == url)
    }
}

/// The names of all clients that are known.
pub fn names() -> Vec<&'static str> {
    CLIENTS.iter().map(|client| client.name).collect()
}

/// What would become of all files that are there and meant.
pub fn plan(environment: &Environment, request: &Request) -> Result<Vec<FilePlan>, ClientsError> {
    let files = files(environment, &request.clients, &request.scope)?;
    let mut planned: Vec<FilePlan> = Vec::new();
    for (client, path) in files {
        // Of clients that share a file, each finds what was planned for those before it.
        let found = read(&path).map(|(target, bytes)| {
            let earlier = planned.iter().rfind(|plan| plan.target == target);
            let bytes = earlier.map_or(bytes, |plan| plan.after.clone());
            (target, bytes)
        });
        planned.push(of_found(environment, request, client, &path, found));
    }
    Ok(planned)
}

/// The files of these clients that are there.
pub(crate) fn files(
    environment: &Environment,
    clients: &[String],
    scope: &Scope,
) -> Result<Vec<(&'static Client, PathBuf)>, ClientsError> {
    if let Some(name) = clients.iter().find(|name| !names().contains(&name.as_str())) {
        return Err(ClientsError::UnknownClient { name: name.clone(), known: names().join(", ") });
    }
    let is_meant = |client: &&'static Client| {
        clients.is_empty() || clients.iter().any(|name| name == client.name)
    };
    let mut found: Vec<(&'static Client, PathBuf)> = Vec::new();
    for client in CLIENTS.iter().filter(is_meant) {
        let paths: Vec<PathBuf> = match scope {
            Scope::User => {
                client.files.iter().flat_map(|location| environment.resolve(*location)).collect()
            }
            Scope::Project(folder) => {
                client.project_files.iter().map(|path| folder.join(path)).collect()
            }
        };
        for path in paths {
            // A link that leads nowhere is told of; what is not there is no client's.
            let is_there = fs::symlink_metadata(&path).is_ok();
            let is_known =
                |(of, known): &(&Client, PathBuf)| of.name == client.name && *known == path;
            if is_there && !found.iter().any(is_known) {
                found.push((client, path));
            }
        }
    }
    Ok(found)
}

/// The names of all clients whose file this is.
pub(crate) fn clients_of(environment: &Environment, scope: &Scope, target: &Path) -> Vec<String> {
    let all = files(environment, &[], scope).unwrap_or_default();
    let leads_there = |path: &Path| path.canonicalize().is_ok_and(|it| it == target);
    let meant = all.iter().filter(|(_, path)| leads_there(path));
    meant.map(|(client, _)| client.name.to_owned()).collect()
}

/// What would become of a file as it is.
pub(crate) fn of_file(
    environment: &Environment,
    request: &Request,
    client: &'static Client,
    path: &Path,
) -> FilePlan {
    of_found(environment, request, client, path, read(path))
}

/// Where a file really lies, and what is in it.
fn read(path: &Path) -> io::Result<(PathBuf, Vec<u8>)> {
    let target = path.canonicalize()?;
    let bytes = disk::read(&target)?;
    Ok((target, bytes))
}

/// What would become of a file in which this was found.
fn of_found(
    environment: &Environment,
    request: &Request,
    client: &'static Client,
    path: &Path,
    found: io::Result<(PathBuf, Vec<u8>)>,
) -> FilePlan {
    let mut plan = FilePlan {
        title: client.title,
        path: path.to_owned(),
        servers: Vec::new(),
        refusal: None,
        blocks_tools: None,
        client,
        target: path.to_owned(),
        before: Vec::new(),
        after: Vec::new(),
        changes: Vec::new(),
        moved: None,
    };
    match found {
        Ok((target, bytes)) => {
            plan.target = target;
            plan.before.clone_from(&bytes);
            plan.after = bytes;
            match fill(environment, request, &mut plan) {
                Ok(()) => plan,
                Err(refusal) => plan.refused(refusal),
            }
        }
        Err(error) => plan.refused(format!("it cannot be read: {error}")),
    }
}

fn fill(environment: &Environment, request: &Request, plan: &mut FilePlan) -> Result<(), String> {
    let before = plan.before.clone();
    let (bom, text) = text_of(&before)?;
    let form = plan.client.form;
    let root = form.read(text).map_err(|error| error.told(text))?;
    let tables = tables(&root, plan.client)?;
    let mut work = Work::new(form, text, root.clone());
    let (of_project, everywhere) = match &request.scope {
        Scope::Project(folder) => (Some(folder.as_path()), vec![folder.clone()]),
        Scope::User => (None, projects(&root, plan.client)),
    };
    let switches = Switches::of(
        environment,
        plan.client,
        (plan.path.as_path(), &root),
        (of_project, &everywhere),
    );
    let offering = tables.first().and_then(|it| root.at(it)).and_then(offering);
    let has_forebay = offering.is_some();
    plan.blocks_tools = switches.against_tools(offering.unwrap_or(OURS)).map(str::to_owned);
    let obstacle = obstacle(environment, request, plan.client, &root, &tables)
        .or_else(|| plan.blocks_tools.clone().map(Reason::ToolsBlocked));
    let (mut moved, mut is_fronted) = (Vec::new(), false);
    for (order, place) in tables.iter().enumerate() {
        let Some(table) = root.at(place) else { continue };
        let project = (place.len() == 3).then(|| place[1].clone());
        // Servers of the person run in every project.
        let folders = match (&request.scope, &project) {
            (Scope::User, Some(project)) => vec![PathBuf::from(project)],
            (Scope::Project(_), _) | (Scope::User, None) => everywhere.clone(),
        };
        let of_project = || policy::in_projects(plan.client, &folders);
        let obstacle = obstacle.clone().or_else(of_project);
        for member in table.members() {
            let name = member.key.clone();
            let wrapping = Wrapping { program: &request.program, known: request };
            let entry = entry::entry(&name, &member.value, &plan.client.entry, wrapping);
            is_fronted |= Own::of(&member.value.value())
                .is_some_and(|own| own.is_wrap() && own.is_of_install());
            let fate = match entry {
                Entry::Wrapped | Entry::Forebay
                    if request.wants(&name)
                        && mend(&mut work, place, member, plan.client, request) =>
                {
                    Fate::Mend
                }
                Entry::Wrapped => Fate::Wrapped,
                Entry::Forebay => Fate::Forebay,
                Entry::Left(reason) => Fate::Left(reason),
                Entry::Server(_) if !request.wants(&name) => Fate::NotNamed,
                Entry::Server(_) if table.has_twice(&name) => {
                    Fate::Left(Reason::Doubled(name.clone()))
                }
                Entry::Server(edits) => match (&obstacle, request.mode) {
                    (Some(reason), _) => Fate::Left(reason.clone()),
                    (None, Mode::Wrap) => match can_start(&name, member, plan.client, request) {
                        Ok(()) if work.wrap(place, &name, &edits) => Fate::Wrap,
                        Ok(()) => Fate::Left(Reason::Written(name.clone())),
                        Err(reason) => Fate::Left(reason),
                    },
                    (None, Mode::Gateway) if order > 0 => Fate::Left(Reason::OfProject),
                    (None, Mode::Gateway) => {
                        let is_on = switches.against(&name).map_or(Ok(()), Err);
                        match is_on.and_then(|()| as_moved(&name, member, plan.client, request)) {
                            Ok(entry) => {
                                moved.push((name.clone(), entry));
                                Fate::Move
                            }
                            Err(reason) => Fate::Left(reason),
                        }
                    }
                },
            };
            let server = ServerPlan { name, project: project.clone(), fate };
            // What is true of a name that stands twice is told once.
            if !plan.servers.contains(&server) {
                plan.servers.push(server);
            }
        }
    }
    let Some(first) = tables.first() else { return Ok(()) };
    match request.mode {
        Mode::Wrap if has_forebay || obstacle.is_some() => {}
        Mode::Wrap if is_fronted || plan.servers.iter().any(|it| it.fate == Fate::Wrap) => {
            add_tools(&mut work, first, plan, request)?;
        }
        Mode::Wrap => {}
        Mode::Gateway if has_forebay && (!moved.is_empty() || is_wrapped(plan)) => {
            return Err("Forebay stands in it already; run `forebay uninstall` first".to_owned());
        }
        Mode::Gateway => move_all(&mut work, first, plan, request, &moved)?,
    }
    plan.changes = work.changes;
    plan.after = [bom, &work.text].concat().into_bytes();
    Ok(())
}

/// The name of the entry in a table that offers the tools, and is not switched off.
pub(crate) fn offering(table: &Node) -> Option<&str> {
    let offers = |member: &&Member| {
        let entry = member.value.value();
        !entry::is_off(&entry) && Own::of(&entry).is_some_and(|own| own.is_gateway())
    };
    table.members().iter().find(offers).map(|member| member.key.as_str())
}

/// Makes sure that Forebay can start with what an entry says of a server that is elsewhere.
fn can_start(
    name: &str,
    member: &Member,
    client: &Client,
    request: &Request,
) -> Result<(), Reason> {
    let Some(entry) = moving::reached(&member.value.value(), &client.entry) else { return Ok(()) };
    let file = moving::text_of_file(&[(name.to_owned(), entry)]);
    (request.gateway_reads)(&file).map_err(Reason::NotStartable)
}

/// An entry as the gateway has it, which can read it.
fn as_moved(
    name: &str,
    member: &Member,
    client: &Client,
    request: &Request,
) -> Result<Value, Reason> {
    let entry = moving::moved(&member.value.value(), &client.entry)?;
    let file = moving::text_of_file(&[(name.to_owned(), entry.clone())]);
    (request.gateway_reads)(&file).map_err(Reason::NotForGateway)?;
    Ok(entry)
}

/// True if Forebay stands in front of a server in it.
fn is_wrapped(plan: &FilePlan) -> bool {
    plan.servers.iter().any(|it| it.fate == Fate::Wrapped)
}

/// Has an entry of ours whose program is not there any more start the one that is. False if there is no need.
fn mend(
    work: &mut Work,
    table: &[String],
    member: &Member,
    client: &Client,
    request: &Request,
) -> bool {
    let entry = member.value.value();
    let is_lost = Own::of(&entry)
        .is_some_and(|own| own.lost_program().is_some_and(|lost| lost != request.program));
    let edits = entry::with_program(&entry, &client.entry, &request.program);
    is_lost && work.wrap(table, &member.key, &edits)
}

/// Why none of the servers in a file may be touched.
fn obstacle(
    environment: &Environment,
    request: &Request,
    client: &Client,
    root: &Node,
    tables: &[Place],
) -> Option<Reason> {
    if let Some(reason) = policy::everywhere(environment, client) {
        return Some(reason);
    }
    if tables.iter().any(|place| is_taken(root, place, client, request)) {
        return Some(Reason::NameTaken);
    }
    let first = root.at(tables.first()?)?;
    let is_off = first.member(OURS).is_some() && offering(first).is_none();
    is_off.then_some(Reason::ToolsOff)
}

/// Adds the entry that offers the tools.
fn add_tools(
    work: &mut Work,
    table: &[String],
    plan: &mut FilePlan,
    request: &Request,
) -> Result<(), String> {
    let value = entry::tools(&plan.client.entry, &request.program);
    if !work.add(table, OURS, &value) {
        return Err("its servers are written in a way in which none can be added".to_owned());
    }
    plan.servers.push(ServerPlan { name: OURS.to_owned(), project: None, fate: Fate::Add });
    Ok(())
}

/// Takes servers out of the client's file, and adds the entry that they stand behind.
fn move_all(
    work: &mut Work,
    table: &[String],
    plan: &mut FilePlan,
    request: &Request,
    moved: &[(String, Value)],
) -> Result<(), String> {
    if moved.is_empty() {
        return Ok(());
    }
    let (path, bytes) = moving::servers_file(&request.home, plan.client, &plan.target, moved)?;
    if path.exists() {
        loses_nothing(&path, request, moved)?;
    }
    let words = ["gateway", "--servers", &path.display().to_string()];
    let mut value = entry::ours(&plan.client.entry, &request.program, &words);
    if let Value::Table(members) = &mut value {
        members.extend(moving::longest(moved, &plan.client.entry));
    }
    let names: Vec<&String> = moved.iter().map(|(name, _)| name).collect();
    if !work.move_all(table, &names, OURS, &value) {
        return Err("its servers are written in a way in which they cannot be moved".to_owned());
    }
    plan.servers.push(ServerPlan { name: OURS.to_owned(), project: None, fate: Fate::Add });
    plan.moved = Some((path, bytes));
    Ok(())
}

/// Makes sure that no server is lost when these take the place of what is in a gateway's file.
fn loses_nothing(path: &Path, request: &Request, moved: &[(String, Value)]) -> Result<(), String> {
    let file = path.display();
    if !Ledger::load(&request.home).is_ok_and(|ledger| ledger.has_made(path)) {
        return Err(format!(
            "`{file}` has servers of an earlier install, of which nothing is remembered; write them into this file \
             again, remove that one, and run this again"
        ));
    }
    let is_among = |(name, entry): &(String, Value)| {
        moved.iter().any(|(it, now)| it == name && now.says_the_same_as(entry))
    };
    match moving::servers_in(path)?.iter().find(|server| !is_among(server)) {
        Some((name, _)) => Err(format!(
            "`{file}` has `{name}` of an earlier install, which this file has not, or has otherwise; run `forebay \
             uninstall` first, which puts it back"
        )),
        None => Ok(()),
    }
}

/// True if somebody else's server has the name of ours.
fn is_taken(root: &Node, place: &[String], client: &Client, request: &Request) -> bool {
    let ours = root.at(place).and_then(|table| table.member(OURS));
    let wrapping = Wrapping { program: &request.program, known: request };
    ours.is_some_and(|member| {
        let entry = entry::entry(OURS, &member.value, &client.entry, wrapping);
        let own = Own::of(&member.value.value());
        !matches!(entry, Entry::Forebay) || !own.is_some_and(|own| own.is_gateway())
    })
}
