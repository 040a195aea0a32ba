//! The machine as far as it says where clients keep their files. Tests make one of their own.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

/// Where things are for a person on a machine.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Whose conventions hold.
    pub system: System,
    /// The person's home.
    pub home: PathBuf,
    /// What the paths of the whole machine begin with: `/`, but for tests.
    pub root: PathBuf,
    /// Variables of the environment, such as `XDG_CONFIG_HOME` and `CODEX_HOME`.
    pub variables: BTreeMap<OsString, OsString>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and whatever else keeps to the XDG directories.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// A path in terms of the folders that systems have; `*` stands for any one name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Location {
    /// Below the home.
    Home(&'static str),
    /// Below the folder that applications have for their settings.
    Settings(&'static str),
    /// Below `~/.config`, on macOS, too.
    Config(&'static str),
    /// Below the folder that a variable names, or else below the home.
    Variable(&'static str, &'static str, &'static str),
    /// What a variable names, if it is set.
    Named(&'static str),
    /// On a system alone, below a folder of its.
    MacOs(&'static str),
    Windows(&'static str, &'static str),
    Linux(&'static str),
    /// Below the folder of a project, which is nobody's until it is known which.
    Project(&'static str),
}

impl Environment {
    /// The machine that this runs on.
    pub fn of_this_machine() -> Self {
        let system = if cfg!(target_os = "macos") {
            System::MacOs
        } else if cfg!(windows) {
            System::Windows
        } else {
            System::Linux
        };
        let home = std::env::home_dir().unwrap_or_default();
        let variables = std::env::vars_os().collect();
        Self { system, home, root: PathBuf::from("/"), variables }
    }

    /// The value of a variable, if it has one.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(&OsString::from(name)).filter(|it| !it.is_empty()).map(PathBuf::from)
    }

    fn config(&self) -> PathBuf {
        self.variable("XDG_CONFIG_HOME")
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| self.home.join(".config"))
    }

    fn settings(&self) -> PathBuf {
        match self.system {
            System::Linux => self.config(),
            System::MacOs => self.home.join("Library/Application Support"),
            System::Windows => {
                self.variable("APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming"))
            }
        }
    }

    /// The files that a location means: one, whether or not it is there, or those that are there and fit.
    pub(crate) fn resolve(&self, location: Location) -> Vec<PathBuf> {
        let below_root = |path: &'static str| (self.root.clone(), path.trim_start_matches('/'));
        let (folder, path) = match location {
            Location::Home(path) => (self.home.clone(), path),
            Location::Settings(path) => (self.settings(), path),
            Location::Config(path) if self.system == System::Windows => (self.settings(), path),
            Location::Config(path) => (self.config(), path),
            Location::Variable(variable, below, otherwise) => match self.variable(variable) {
                Some(folder) => (folder, below),
                None => (self.home.clone(), otherwise),
            },
            Location::Named(variable) => return self.variable(variable).into_iter().collect(),
            Location::MacOs(path) if self.system == System::MacOs => below_root(path),
            Location::Linux(path) if self.system == System::Linux => below_root(path),
            Location::Windows(variable, path) if self.system == System::Windows => {
                match self.variable(variable) {
                    Some(folder) => (folder, path),
                    None => return Vec::new(),
                }
            }
            Location::MacOs(_)
            | Location::Windows(..)
            | Location::Linux(_)
            | Location::Project(_) => return Vec::new(),
        };
        expanded(folder, path)
    }
}

/// A path below a folder, with the names that stand for each `*`.
fn expanded(folder: PathBuf, path: &str) -> Vec<PathBuf> {
    let mut found = vec![folder];
    for part in path.split('/') {
        found = match part.split_once('*') {
            None => found.into_iter().map(|folder| folder.join(part)).collect(),
            Some((start, end)) => {
                found.iter().flat_map(|folder| fitting(folder, start, end)).collect()
            }
        };
    }
    found
}

/// What lies in a folder and has a name that begins and ends so, in the order of names. A folder that is there and
/// cannot be looked into stands for whatever is in it.
fn fitting(folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten(),
        Err(error) if is_missing(&error) => return Vec::new(),
        Err(_) => return vec![folder.to_owned()],
    };
    let fits = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(start) && name.ends_with(end))
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(fits).collect();
    found.sort();
    found
}

/// True if an error says that there is no such file.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(system: System, variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment { system, home: "/home/me".into(), root: "/".into(), variables }
    }

    fn only(environment: &Environment, location: Location) -> String {
        let found = environment.resolve(location);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].display().to_string()
    }

    #[test]
    fn each_system_has_its_own_places() {
        let code = Location::Settings("Code/User/mcp.json");
        let zed = Location::Config("zed/settings.json");
        let linux = machine(System::Linux, &[]);
        assert_eq!(only(&linux, code), "/home/me/.config/Code/User/mcp.json");
        let elsewhere = machine(System::Linux, &[("XDG_CONFIG_HOME", "/etc/me")]);
        assert_eq!(only(&elsewhere, code), "/etc/me/Code/User/mcp.json");
        let relative = machine(System::Linux, &[("XDG_CONFIG_HOME", "me")]);
        assert_eq!(only(&relative, zed), "/home/me/.config/zed/settings.json");
        let macos = machine(System::MacOs, &[]);
        assert_eq!(only(&macos, code), "/home/me/Library/Application Support/Code/User/mcp.json");
        assert_eq!(only(&macos, zed), "/home/me/.config/zed/settings.json");
        let windows = machine(System::Windows, &[("APPDATA", "/roaming")]);
        assert_eq!(only(&windows, code), "/roaming/Code/User/mcp.json");
        assert_eq!(only(&windows, zed), "/roaming/zed/settings.json");
    }

    #[test]
    fn a_variable_moves_a_clients_home() {
        let codex = Location::Variable("CODEX_HOME", "config.toml", ".codex/config.toml");
        assert_eq!(only(&machine(System::Linux, &[]), codex), "/home/me/.codex/config.toml");
        let empty = machine(System::Linux, &[("CODEX_HOME", "")]);
        assert_eq!(only(&empty, codex), "/home/me/.codex/config.toml");
        let moved = machine(System::Linux, &[("CODEX_HOME", "/codex")]);
        assert_eq!(only(&moved, codex), "/codex/config.toml");
    }

    #[test]
    fn profiles_are_found_by_what_is_there() {
        let home = tempfile::tempdir().unwrap();
        for profile in ["b", "a"] {
            let folder = home.path().join(".config/Code/User/profiles").join(profile);
            fs::create_dir_all(&folder).unwrap();
        }
        let environment =
            Environment { home: home.path().to_owned(), ..machine(System::Linux, &[]) };
        let found = environment.resolve(Location::Settings("Code/User/profiles/*/mcp.json"));
        let ends: Vec<bool> = ["a/mcp.json", "b/mcp.json"]
            .iter()
            .zip(&found)
            .map(|(end, path)| path.ends_with(end))
            .collect();
        assert_eq!(ends, [true, true], "{found:?}");
    }
}
