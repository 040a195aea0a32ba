//! What clients say of servers beside their entries: which do not run, and which of their tools may not be used. It holds
//! by a server's name, which it keeps with Forebay in front, and not behind a gateway.

use std::path::{Path, PathBuf};

use crate::{
    catalogue::{Client, Says, Switch},
    disk,
    document::{Node, Shape, text_of},
    entry::Reason,
    environment::{Environment, Location},
    policy,
    value::Value,
};

/// What begins a rule of Claude Code's about the tools of a server.
const RULE: &str = "mcp__";

/// All that a client says of servers beside their entries.
#[derive(Debug)]
pub(crate) struct Switches {
    lists: Vec<List>,
}

/// A list of names, or of rules.
#[derive(Debug)]
struct List {
    says: Says,
    /// Whether it holds wherever the servers run that are looked at, and not in one of several projects.
    is_everywhere: bool,
    items: Vec<String>,
    /// Where it stands, as it is told.
    told: String,
}

/// A file with such lists.
struct File<'a> {
    path: &'a Path,
    root: &'a Node,
    /// Whether it is the file of a project.
    is_of_project: bool,
}

impl Switches {
    /// Those for the servers in the client's file at `path`, in it and in all others that hold here and in these
    /// projects. `of_project` is the folder of the project whose file it is. What cannot be read says nothing.
    pub(crate) fn of(
        environment: &Environment,
        client: &'static Client,
        (path, root): (&Path, &Node),
        (of_project, projects): (Option<&Path>, &[PathBuf]),
    ) -> Self {
        let mut switches = Self { lists: Vec::new() };
        switches.read(client.switches, &File { path, root, is_of_project: false }, of_project);
        for (policy, file) in policy::files(environment, client, projects) {
            if policy.switches.is_empty() || file == path {
                continue;
            }
            let bytes = disk::read(&file).unwrap_or_default();
            let root = text_of(&bytes).ok().and_then(|(_, text)| policy.form.read(text).ok());
            if let Some(root) = root {
                let is_of_project = matches!(policy.file, Location::Project(_));
                let file = File { path: &file, root: &root, is_of_project };
                switches.read(policy.switches, &file, of_project);
            }
        }
        switches
    }

    fn read(&mut self, switches: &[Switch], file: &File<'_>, of_project: Option<&Path>) {
        for switch in switches {
            if of_project.is_none() && switch.says == Says::OffInProjects {
                continue;
            }
            let mut nodes = vec![file.root];
            for part in switch.place {
                let members = nodes.into_iter().flat_map(Node::members);
                let is_meant = |key: &str| match (*part, of_project) {
                    ("*", None) => true,
                    ("*", Some(folder)) => Path::new(key) == folder,
                    (part, _) => part == key,
                };
                nodes = members.filter(|it| is_meant(&it.key)).map(|it| &it.value).collect();
            }
            let is_of_one = file.is_of_project || switch.place.contains(&"*");
            self.lists.extend(nodes.into_iter().filter_map(|node| {
                Some(List {
                    says: switch.says,
                    is_everywhere: !is_of_one || of_project.is_some(),
                    items: items(switch.says, node)?,
                    told: told(switch, file.path),
                })
            }));
        }
    }

    /// Why a server of this name cannot go behind a gateway.
    pub(crate) fn against(&self, name: &str) -> Option<Reason> {
        let list = self.lists.iter().find(|list| list.is_against(name))?;
        Some(Reason::SwitchedOff(list.told.clone()))
    }

    /// The list that keeps the entry of this name, which offers the tools, from running.
    pub(crate) fn against_tools(&self, name: &str) -> Option<&str> {
        let counts = |list: &&List| list.is_everywhere && list.says != Says::Denied;
        let list = self.lists.iter().filter(counts).find(|list| list.is_against(name))?;
        Some(&list.told)
    }
}

impl List {
    fn is_against(&self, name: &str) -> bool {
        // Gemini CLI takes large letters for small ones.
        let is_named = || self.items.iter().any(|item| item.trim().eq_ignore_ascii_case(name));
        match self.says {
            Says::Off | Says::OffInProjects | Says::OffIfNotEnabled => is_named(),
            Says::On => !is_named(),
            Says::Denied => self.items.iter().any(|rule| is_about(rule, name)),
        }
    }
}

/// The names, or the rules, that are in a list, if it is one.
fn items(says: Says, node: &Node) -> Option<Vec<String>> {
    match (says, &node.shape) {
        (Says::OffIfNotEnabled, Shape::Table(members)) => {
            let off = Value::Plain("false".to_owned());
            let is_off = |node: &Node| node.value().get("enabled") == Some(&off);
            let named = members.iter().filter(|it| is_off(&it.value));
            Some(named.map(|it| it.key.clone()).collect())
        }
        (Says::Off | Says::OffInProjects | Says::On | Says::Denied, Shape::List(items)) => {
            let texts = items.iter().filter_map(|item| Some(item.value().as_text()?.to_owned()));
            Some(texts.collect())
        }
        (_, Shape::Table(_) | Shape::List(_) | Shape::Text(_) | Shape::Plain(_)) => None,
    }
}

/// Where a list stands.
fn told(switch: &Switch, path: &Path) -> String {
    let path = path.display();
    match switch.place {
        [] => format!("`{path}`"),
        place => format!("`{}` in `{path}`", place.join(".")),
    }
}

/// True if a rule is about a server or one of its tools: `mcp__NAME`, `mcp__NAME__TOOL`, `mcp__*`.
fn is_about(rule: &str, name: &str) -> bool {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let Some(rule) = rule.trim().strip_prefix(RULE) else { return false };
    let is_tool = rule.strip_prefix(&name).is_some_and(|rest| rest.starts_with("__"));
    let is_pattern = rule.split_once('*').is_some_and(|(start, _)| name.starts_with(start));
    rule == name || is_tool || is_pattern
}
