//! Install and uninstall over whole files, in homes of their own.

mod again;
mod back;
mod corpus;
mod dying;
mod failing;
mod gateways;
mod generated;
mod headers;
mod others;
mod reasons;
mod secrets;
mod shared;
mod switches;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{
    Environment, FilePlan, Missing, Mode, Outcome, Request, Restored, Run, Scope, System,
    catalogue::{CLIENTS, Client},
    install, uninstall,
};

/// A machine of our own.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn environment(&self) -> Environment {
        let home = self.folder.path().join("home");
        let root = self.folder.path().join("root");
        Environment { system: System::Linux, home, root, variables: BTreeMap::new() }
    }

    /// Forebay's home.
    fn home(&self) -> PathBuf {
        self.folder.path().join("forebay")
    }

    fn request(&self) -> Request {
        Request {
            clients: Vec::new(),
            servers: Vec::new(),
            scope: Scope::User,
            mode: Mode::Wrap,
            program: "/usr/bin/forebay".to_owned(),
            home: self.home(),
            logins: Vec::new(),
            gateway_reads: |_| Ok(()),
        }
    }

    /// Gives a client its file; `name` says how it ends.
    fn place(&self, client: &str, name: &str, bytes: &[u8]) -> PathBuf {
        let client: &Client = CLIENTS.iter().find(|it| it.name == client).unwrap();
        let environment = self.environment();
        let mut paths = client
            .files
            .iter()
            .flat_map(|location| environment.resolve(*location))
            .collect::<Vec<_>>();
        paths.sort_by_key(|path| path.extension() != Path::new(name).extension());
        let path = paths[0].clone();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn install(&self) -> Vec<FilePlan> {
        install(&self.environment(), &self.request()).unwrap()
    }

    fn uninstall(&self) -> Vec<Restored> {
        uninstall(&self.home(), &[], Missing::Keep, Run::Real).unwrap()
    }

    /// A program of ours that is there.
    fn program(&self) -> PathBuf {
        let program = self.folder.path().join("bin/forebay");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        program
    }

    /// Installs, with all servers behind one entry.
    fn install_gateway(&self) -> Vec<FilePlan> {
        let request = Request { mode: Mode::Gateway, ..self.request() };
        install(&self.environment(), &request).unwrap()
    }

    /// Installs as the program at this path.
    fn install_as(&self, program: &Path) -> Vec<FilePlan> {
        let program = program.to_str().unwrap().to_owned();
        install(&self.environment(), &Request { program, ..self.request() }).unwrap()
    }

    /// What is in Forebay's home.
    fn left_over(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.home()).into_iter().flatten().flatten();
        entries.map(|it| it.path()).collect()
    }
}

fn only_outcome(restored: &[Restored]) -> &Outcome {
    assert_eq!(restored.len(), 1, "{restored:?}");
    &restored[0].outcome
}
