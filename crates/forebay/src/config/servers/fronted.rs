//! Servers in clients' files that Forebay stands in front of, as they would be without it.
//!
//! An entry that starts Forebay is known by its words, wherever in the file it stands. What those words mean is for
//! whoever knows the command line to say ([`Front`]); put together with the entry's variables, it is read as any
//! other entry is.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use forebay_clients::json_of_yaml;
use toml::de::DeTable;

use super::{
    Server, Way, clients_file,
    keys::{ARGUMENTS, COMMAND, URL},
};
use crate::{
    config::{
        environment::{self, Variables},
        from_toml,
        kind::Given,
        tree::{Member, Node, Shape},
    },
    regular,
};

/// An entry that starts Forebay.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// The project that it is for, where a file has several.
    pub(crate) project: Option<String>,
    /// What follows the program on its command line.
    pub(crate) words: Vec<String>,
    members: Vec<Member>,
}

/// The server that a command line stands in front of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Front {
    /// It is started.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// What is added to its environment.
        environment: Vec<(String, String)>,
        directory: Option<String>,
    },
    /// It is elsewhere.
    Url { url: Written, headers: Vec<(String, Written)>, ca_file: Option<PathBuf> },
}

/// A text on a command line, or where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    Text(String),
    /// A variable has it; the scheme stands before its value.
    Variable {
        scheme: Option<String>,
        name: String,
        presence: Presence,
    },
}

/// Whether a variable must have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Needed,
    /// What it is for is left out without one, or if it is empty.
    Optional,
}

/// How clients call the variables of an entry.
const ENVIRONMENTS: [&str; 3] = ["env", "environment", "envs"];
/// How they call its program.
const PROGRAMS: [&str; 2] = [COMMAND, "cmd"];
/// What else holds for a server of whichever form.
const SWITCHES: [&str; 2] = ["enabled", "disabled"];
/// A file with variables that the client reads, and the names of those that it has in a place of its own.
const OF_CLIENT: [&str; 2] = ["envFile", "env_keys"];

/// The entries in a client's file that start Forebay; none if it cannot be read.
pub(crate) fn entries(path: &Path) -> Vec<Entry> {
    let Ok(text) = regular::text_within(path, clients_file::MAX_MIB) else { return Vec::new() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let root = match path.extension().and_then(OsStr::to_str) {
        Some("toml") => from_toml::members(DeTable::parse_recoverable(text).0.get_ref()),
        Some("yaml" | "yml") => clients_file::root(&json_of_yaml(text).unwrap_or_default()),
        Some(_) | None => clients_file::root(text),
    };
    let mut found = Vec::new();
    collect(&root, &mut Vec::new(), &mut found);
    found
}

fn collect(members: &[Member], place: &mut Vec<String>, found: &mut Vec<Entry>) {
    for Member { key, value, .. } in members {
        let Shape::Table(inner) = &value.shape else { continue };
        if let Some(words) = words(inner) {
            // As in `projects`, the project, `mcpServers`.
            let project = (place.len() == 3).then(|| place[1].clone());
            found.push(Entry { name: key.clone(), project, words, members: inner.clone() });
        } else {
            place.push(key.clone());
            collect(inner, place, found);
            place.pop();
        }
    }
}

/// What follows Forebay's program on the command line of an entry, if that is what it starts.
fn words(entry: &[Member]) -> Option<Vec<String>> {
    let mut words = match PROGRAMS.iter().find_map(|key| given(entry, key))? {
        Given::Text(program) => vec![program],
        other => other.texts()?,
    };
    words.extend(given(entry, ARGUMENTS).and_then(|it| it.texts()).unwrap_or_default());
    // `npx -y forebay wrap …` and the like, too.
    let at = words.iter().take(4).position(|word| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name == "forebay" || name == "forebay.exe" || name.starts_with("forebay@")
    })?;
    Some(words.split_off(at + 1))
}

fn given(members: &[Member], key: &str) -> Option<Given> {
    members.iter().find(|member| member.key == key).map(|member| member.value.given())
}

impl Entry {
    /// The server itself, under a name that it can have, or why it cannot be started without its client.
    pub(crate) fn server(
        &self,
        name: &str,
        front: &Front,
        variables: &Variables,
    ) -> Result<Server, String> {
        if let Some(what) = self.members.iter().find_map(only_for_its_client) {
            return Err(format!("its client fills in {what}"));
        }
        let mut members: Vec<Member> = self.members.clone();
        members.retain(|member| SWITCHES.contains(&member.key.as_str()));
        let mut environment = self.environment();
        match front {
            Front::Command { words, environment: added, directory } => {
                let (program, arguments) = words.split_first().ok_or("it has no command")?;
                members.push(member(COMMAND, text(program)));
                members.push(member(
                    ARGUMENTS,
                    Shape::List(arguments.iter().map(|word| item(word)).collect()),
                ));
                environment.retain(|it| !added.iter().any(|(key, _)| *key == it.key));
                environment.extend(added.iter().map(|(key, value)| member(key, text(value))));
                members.push(member("env", Shape::Table(environment)));
                let directory = directory.clone().or_else(|| self.directory());
                members.extend(directory.map(|it| member("cwd", text(&it))));
            }
            Front::Url { url, headers, .. } => {
                let value = |written: &Written| text(&value(written, &environment));
                members.push(member(URL, value(url)));
                let is_there = |written: &Written| !is_left_out(written, &environment, variables);
                let headers = headers.iter().filter(|(_, written)| is_there(written));
                let headers = headers.map(|(name, written)| member(name, value(written)));
                members.push(member("headers", Shape::Table(headers.collect())));
            }
        }
        let entry = Node { at: 0, shape: Shape::Table(members) };
        let read = clients_file::server(&super::fitted_name(name, &[]), 0, &entry, variables);
        let mut server = read.map_err(|mistakes| {
            let told: Vec<String> = mistakes.into_iter().map(|mistake| mistake.what).collect();
            told.join("; ")
        })?;
        if let (Front::Url { ca_file: given, .. }, Way::Url { ca_file, .. }) =
            (front, &mut server.way)
        {
            ca_file.clone_from(given);
        }
        Ok(server)
    }

    fn environment(&self) -> Vec<Member> {
        let tables = self.members.iter().filter(|it| ENVIRONMENTS.contains(&it.key.as_str()));
        let members = tables.filter_map(|member| match &member.value.shape {
            Shape::Table(members) => Some(members.clone()),
            Shape::Plain(_) | Shape::List(_) => None,
        });
        members.flatten().collect()
    }

    /// Where its client starts it, as far as that is written.
    fn directory(&self) -> Option<String> {
        let written = given(&self.members, "cwd").and_then(|it| it.text().map(str::to_owned));
        written.or_else(|| self.project.clone().filter(|project| Path::new(project).is_dir()))
    }
}

impl Front {
    /// How the server is reached, without what may be secret.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Command { words, .. } => {
                forebay_intercept::command_without_secrets(words).join(" ")
            }
            Self::Url { url: Written::Text(url), .. } => super::shown_url(url),
            Self::Url { url: Written::Variable { name, .. }, .. } => format!("the URL in ${name}"),
        }
    }
}

/// What is written, with the variables of the entry; others are named as our own settings name them.
fn value(written: &Written, environment: &[Member]) -> String {
    match written {
        Written::Text(text) => text.clone(),
        Written::Variable { scheme, name, presence: _ } => {
            let of_entry = given(environment, name).and_then(|it| it.text().map(str::to_owned));
            let value = of_entry.unwrap_or_else(|| format!("${{{name}}}"));
            match scheme {
                Some(scheme) => format!("{scheme} {value}"),
                None => value,
            }
        }
    }
}

/// True if it may be left out, and its variable has no value.
fn is_left_out(written: &Written, environment: &[Member], variables: &Variables) -> bool {
    match written {
        Written::Variable { name, presence: Presence::Optional, .. } => {
            let of_entry = given(environment, name).and_then(|it| it.text().map(str::is_empty));
            let of_ours = || environment::value(variables, name).is_none();
            of_entry.unwrap_or_else(of_ours)
        }
        Written::Variable { presence: Presence::Needed, .. } | Written::Text(_) => false,
    }
}

/// What in a member of an entry its client alone has a value for, in a way that is not read here.
fn only_for_its_client(member: &Member) -> Option<String> {
    let is_empty = matches!(&member.value.shape, Shape::List(items) if items.is_empty());
    if OF_CLIENT.contains(&member.key.as_str()) && !is_empty {
        return Some(format!("what `{}` names", member.key));
    }
    of_its_client(&member.value)
}

fn of_its_client(node: &Node) -> Option<String> {
    match &node.shape {
        Shape::Plain(Given::Text(text)) => placeholder(text).map(|it| format!("`{it}`")),
        Shape::Plain(_) => None,
        Shape::List(items) => items.iter().find_map(of_its_client),
        Shape::Table(members) => members.iter().find_map(|member| of_its_client(&member.value)),
    }
}

/// `{env:V}` and `{file:F}` as `OpenCode` has them, and `$V` as Gemini CLI does.
fn placeholder(text: &str) -> Option<&str> {
    let braced = ["{env:", "{file:"].iter().find_map(|start| {
        let at = text.match_indices(start).find(|(at, _)| !text[..*at].ends_with('$'))?.0;
        let end = text[at..].find('}')?;
        Some(&text[at..=at + end])
    });
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = text.strip_prefix('$').filter(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(is_letter)
    });
    braced.or_else(|| plain.map(|_| text))
}

fn text(text: &str) -> Shape {
    Shape::Plain(Given::Text(text.to_owned()))
}

fn item(word: &str) -> Node {
    Node { at: 0, shape: text(word) }
}

fn member(key: &str, shape: Shape) -> Member {
    Member { key: key.to_owned(), at: 0, value: Node { at: 0, shape } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        vec![("SET".into(), "value".into())]
    }

    fn entry(json: &str) -> Entry {
        let root = clients_file::root(json);
        let mut found = Vec::new();
        collect(&root, &mut Vec::new(), &mut found);
        assert_eq!(found.len(), 1, "{json}");
        found.remove(0)
    }

    fn command(words: &[&str]) -> Front {
        Front::Command {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            environment: Vec::new(),
            directory: None,
        }
    }

    #[test]
    fn an_entry_of_ours_is_found_wherever_it_stands() {
        let json = r#"{"a": {"command": "npx", "args": ["-y", "server"]},
            "projects": {"/work": {"mcpServers": {"git": {"command": "/bin/forebay", "args": ["wrap", "--", "git"]}}}},
            "mcp": {"list": {"command": ["npx", "forebay@1", "wrap", "--", "x"]}}}"#;
        let mut found = Vec::new();
        collect(&clients_file::root(json), &mut Vec::new(), &mut found);
        let told: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.project.as_deref(), it.words.join(" ")))
            .collect();
        let expected = [
            ("git", Some("/work"), "wrap -- git".to_owned()),
            ("list", None, "wrap -- x".to_owned()),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn an_entry_of_gooses_is_one_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        let yaml = "extensions:\n  git: # ours\n    cmd: /bin/forebay\n    args: [wrap, --, git]\n    envs:\n      \
                    KEY: k\n    env_keys: []\n  far: {cmd: forebay, args: [wrap, --, far], env_keys: [TOKEN]}\n";
        std::fs::write(&path, yaml).unwrap();
        let found = entries(&path);
        let told: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.words.join(" "))).collect();
        assert_eq!(told, [("git", "wrap -- git".to_owned()), ("far", "wrap -- far".to_owned())]);
        let server = |entry: &Entry| entry.server("x", &command(&["run"]), &variables());
        let Way::Command { environment, .. } = server(&found[0]).unwrap().way else { panic!() };
        assert_eq!(environment, [("KEY".to_owned(), "k".to_owned())]);
        let why = server(&found[1]).unwrap_err();
        assert_eq!(why, "its client fills in what `env_keys` names");
    }

    #[test]
    fn a_server_has_the_variables_of_its_entry() {
        let written = entry(
            r#"{"s": {"x": {"command": "forebay", "args": ["wrap"], "env": {"A": "${SET}", "KEY": "k"}}}}"#,
        );
        let server = written.server("x", &command(&["run", "${env:SET}"]), &variables()).unwrap();
        let Way::Command { program, arguments, environment, .. } = server.way else { panic!() };
        assert_eq!((program.as_str(), arguments), ("run", vec!["value".to_owned()]));
        let pairs = [("A", "value"), ("KEY", "k")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(environment, pairs);

        let in_variable = |scheme: Option<&str>, name: &str| Written::Variable {
            scheme: scheme.map(str::to_owned),
            name: name.to_owned(),
            presence: Presence::Needed,
        };
        let optional = |name: &str| Written::Variable {
            scheme: None,
            name: name.to_owned(),
            presence: Presence::Optional,
        };
        let headers = vec![
            ("Authorization".to_owned(), in_variable(Some("Bearer"), "KEY")),
            ("X".to_owned(), in_variable(None, "SET")),
            ("Y".to_owned(), optional("SET")),
            ("Z".to_owned(), optional("NOT_SET")),
        ];
        let url = Written::Text("http://127.0.0.1/mcp".to_owned());
        let front = Front::Url { url, headers, ca_file: None };
        let Way::Url { headers, .. } = written.server("x", &front, &variables()).unwrap().way
        else {
            panic!()
        };
        let pairs = [("Authorization", "Bearer k"), ("X", "value"), ("Y", "value")];
        assert_eq!(headers, pairs.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn what_only_a_client_can_fill_in_is_told_and_no_value_is() {
        let cases = [
            (r#""env": {"A": "{env:V}"}"#, "its client fills in `{env:V}`"),
            (r#""env": {"A": "$GITHUB_TOKEN"}"#, "its client fills in `$GITHUB_TOKEN`"),
            (r#""envFile": ".env""#, "its client fills in what `envFile` names"),
            (
                r#""env": {"A": "${input:key}"}"#,
                "nobody can be asked for `${input:…}` here; set an environment variable, and write `${KEY}`",
            ),
        ];
        for (more, expected) in cases {
            let written = entry(&format!(
                r#"{{"s": {{"x": {{"command": "forebay", "args": ["wrap"], {more}}}}}}}"#
            ));
            assert_eq!(
                written.server("x", &command(&["run"]), &variables()).unwrap_err(),
                expected
            );
        }
        let lacking = entry(
            r#"{"s": {"x": {"command": "forebay", "args": ["wrap"], "env": {"A": "${env:NOT_SET}"}}}}"#,
        );
        let server = lacking.server("x", &command(&["run"]), &variables()).unwrap();
        assert!(server.lacks[0].starts_with("the variable `NOT_SET` is not set"), "{server:?}");
    }

    #[test]
    fn a_key_in_the_path_of_a_url_is_not_shown() {
        let url = Written::Text("https://a.example/s/NWY4ZDk3YTctc2VjcmV0/mcp".to_owned());
        let front = Front::Url { url, headers: Vec::new(), ca_file: None };
        assert_eq!(front.shown(), "https://a.example/s/***/mcp");
    }
}
