//! Files that say which servers may run. Where one matches servers by their commands or URLs, a wrapped server
//! would be blocked, or slip past a rule that was meant for it.

use std::path::{Path, PathBuf};

use crate::{
    catalogue::{Client, Policy},
    disk,
    document::text_of,
    entry::Reason,
    environment::{Environment, Location, is_missing},
};

/// Why a policy that holds everywhere keeps a client's servers from being touched.
pub(crate) fn everywhere(environment: &Environment, client: &Client) -> Option<Reason> {
    let files = |policy: &'static Policy| {
        environment.resolve(policy.file).into_iter().map(move |path| (policy, path))
    };
    client.policies.iter().flat_map(files).find_map(|(policy, path)| reason(policy, &path))
}

/// The same of a policy that holds in one of these projects.
pub(crate) fn in_projects(client: &Client, projects: &[PathBuf]) -> Option<Reason> {
    let file = |policy: &'static Policy| {
        let Location::Project(file) = policy.file else { return None };
        Some((policy, file))
    };
    let files: Vec<(&Policy, &str)> = client.policies.iter().filter_map(file).collect();
    let of_project = |project: &Path| {
        files.iter().find_map(|(policy, file)| reason(policy, &project.join(file)))
    };
    projects.iter().find_map(|project| of_project(project))
}

/// All files of policies, those that hold everywhere and those that hold in one of these projects.
pub(crate) fn files(
    environment: &Environment,
    client: &'static Client,
    projects: &[PathBuf],
) -> Vec<(&'static Policy, PathBuf)> {
    let of = |policy: &'static Policy| {
        let of_project = |file: &str| projects.iter().map(|it| it.join(file)).collect();
        let paths: Vec<PathBuf> = match policy.file {
            Location::Project(file) => of_project(file),
            other => environment.resolve(other),
        };
        paths.into_iter().map(move |path| (policy, path))
    };
    client.policies.iter().flat_map(of).collect()
}

fn reason(policy: &Policy, path: &Path) -> Option<Reason> {
    // It says something else, and of servers by their names alone.
    if policy.keys.is_empty() {
        return None;
    }
    let shown = path.display().to_string();
    let bytes = match disk::read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_missing(&error) => return None,
        // What cannot be read may well hold one.
        Err(_) => return Some(Reason::PerhapsPolicy(shown)),
    };
    let root = text_of(&bytes).ok().and_then(|(_, text)| policy.form.read(text).ok());
    let Some(root) = root else { return Some(Reason::PerhapsPolicy(shown)) };
    let says_something =
        |key: &&str| root.member(key).is_some_and(|it| !it.value.value().is_null());
    policy.keys.iter().any(says_something).then_some(Reason::Policy(shown))
}
