//! The servers in clients' files that Forebay stands in front of, each as it can be started without its client.
//!
//! Several clients may have the same server: it is one here. A project's file may be others' work, so nothing that
//! stands in one is started from here.

use std::path::{Path, PathBuf};

use forebay_clients::{ClientState, Environment, Standing, survey};

use super::clients;
use crate::config::{
    Config,
    servers::{self, Entry, Front, Server},
};

/// What a command line of Forebay's stands in front of.
pub(crate) enum InFrontOf {
    /// One server, and what it is called.
    One(String, Front),
    /// Those that a file names.
    Those(PathBuf),
}

/// Reads what follows Forebay's name on a command line; `None` if that stands in front of nothing.
pub(crate) type ReadWords = fn(&[String]) -> Option<InFrontOf>;

/// A server that a client, or several, have behind Forebay.
#[derive(Debug, Clone)]
pub(crate) struct Fronted {
    /// What it is called in what was kept.
    pub(crate) name: String,
    /// What people call the clients that have it.
    pub(crate) clients: Vec<&'static str>,
    /// The file that it is written in, the first client's.
    file: PathBuf,
    /// How it is reached, without what may be secret.
    pub(crate) reached_by: String,
    /// The server, under a name that no other has; or why it cannot be started without its client.
    pub(crate) server: Result<Server, String>,
    /// Whether it is in no file but a project's.
    is_of_project: bool,
}

/// Those of this machine's clients, but for what stands in the settings, too.
pub(crate) fn here(config: &Config, read: ReadWords) -> Vec<Fronted> {
    of(&clients::here(), config, read)
}

/// Those of these clients.
pub(super) fn of(clients: &[ClientState], config: &Config, read: ReadWords) -> Vec<Fronted> {
    let variables: Vec<_> = std::env::vars_os().collect();
    let own = survey(&Environment::of_this_machine(), None, servers::can_be_read);
    let mut found = Vec::new();
    for client in clients {
        let is_of_project = !own.iter().any(|it| it.file == client.file);
        let entries = entries(client);
        for state in &client.servers {
            let is_meant = |it: &&Entry| it.name == state.name && it.project == state.project;
            let Some(entry) = entries.iter().find(is_meant) else { continue };
            let of_client = |file: &Path, name: String, reached_by: String, server| Fronted {
                name,
                clients: vec![client.title],
                file: file.to_owned(),
                reached_by,
                server,
                is_of_project,
            };
            match read(&entry.words) {
                Some(InFrontOf::One(name, front)) => {
                    let server = entry.server(&name, &front, &variables);
                    found.push(of_client(&client.file, name, front.shown(), server));
                }
                Some(InFrontOf::Those(file)) => {
                    let (servers, _) = servers::read_clients_file(&file, &variables);
                    found.extend(servers.into_iter().map(|server| {
                        of_client(&file, server.name.clone(), server.reached_by(), Ok(server))
                    }));
                }
                None => {}
            }
        }
    }
    each_once(found, config)
}

/// The entries of a client's that stand in front of servers.
fn entries(client: &ClientState) -> Vec<Entry> {
    let is_front = |standing: &Standing| match standing {
        Standing::Wrapped | Standing::Gateway(_) => true,
        Standing::Forebay
        | Standing::GatewayOfSettings
        | Standing::Lost(_)
        | Standing::LostServers(_)
        | Standing::NotWrapped
        | Standing::LeftAlone(_) => false,
    };
    if !client.servers.iter().any(|server| is_front(&server.standing)) {
        return Vec::new();
    }
    let mut entries = servers::entries(&client.file);
    entries.retain(|entry| {
        let is_it = |it: &&forebay_clients::ServerState| {
            it.name == entry.name && it.project == entry.project
        };
        client.servers.iter().find(is_it).is_some_and(|it| is_front(&it.standing))
    });
    entries
}

/// Each server once, with all clients that have it, and under a name of its own.
fn each_once(found: Vec<Fronted>, config: &Config) -> Vec<Fronted> {
    let mut all: Vec<Fronted> = Vec::new();
    for one in found {
        let is_of_settings = config.servers.iter().any(|known| {
            known.name == one.name && one.server.as_ref().is_ok_and(|it| it.way == known.way)
        });
        if is_of_settings {
            continue;
        }
        match all.iter_mut().find(|known| known.is_same(&one)) {
            Some(known) => {
                known.is_of_project &= one.is_of_project;
                known.clients.extend(one.clients);
                known.clients.dedup();
            }
            None => all.push(one),
        }
    }
    let mut taken: Vec<String> = config.servers.iter().map(|server| server.name.clone()).collect();
    for server in all.iter_mut().filter_map(|it| it.server.as_mut().ok()) {
        server.name = servers::fitted_name(&server.name, &taken);
        taken.push(server.name.clone());
    }
    all
}

impl Fronted {
    fn is_same(&self, other: &Self) -> bool {
        let is_same_way = match (&self.server, &other.server) {
            (Ok(one), Ok(other)) => one.way == other.way && one.is_enabled == other.is_enabled,
            (Err(why), Err(same)) => why == same && self.reached_by == other.reached_by,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        self.name == other.name && is_same_way
    }

    /// The server, if it can be started from here; else why not.
    pub(super) fn startable(&self) -> Result<&Server, String> {
        let server = self.server.as_ref().map_err(String::clone)?;
        if self.is_of_project {
            return Err("it stands in a project's file, which may be the work of others".to_owned());
        }
        if !server.is_enabled {
            return Err("its client has it turned off".to_owned());
        }
        match server.lacks.as_slice() {
            [] => Ok(server),
            lacks => Err(lacks.join("; ")),
        }
    }

    /// Its name, and who has it.
    pub(super) fn told(&self) -> String {
        format!("`{}` ({})", self.name, self.clients.join(", "))
    }

    /// The file to look into if it does not work.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}
