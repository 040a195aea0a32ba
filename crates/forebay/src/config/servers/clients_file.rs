//! Servers out of a client's own file: `mcp.json`, `settings.json` and the like.
//!
//! Such a file is somebody else's. What it says to its client alone is passed over, and so is an entry
//! that cannot be used, which is told; the others are there.

use std::path::Path;

use forebay_clients::notation;
use jsonc_parser::{CollectOptions, ast, common::Ranged, parse_to_ast};

use super::{
    Server,
    keys::{COMMAND, OF_COMMAND, OF_URL, URL},
    name, reading,
};
use crate::{
    config::{
        environment::Variables,
        kind::Given,
        problem::{Problem, Weight},
        tree::{self, Member, Mistake, Node, Shape},
    },
    regular,
};

/// Some clients keep much else in the same file.
pub(super) const MAX_MIB: u64 = 64;

/// Where the servers are: as most clients have it, VS Code, Zed.
const TABLES: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// What is read of an entry. All else is for the client.
/// `forebay install --gateway` writes the last three.
const READ: [&str; 11] = [
    COMMAND,
    "args",
    "env",
    "cwd",
    URL,
    "headers",
    "enabled",
    "timeout",
    "start_timeout",
    "allow_tools",
    "deny_tools",
];

/// Other names for `url`. One that is there goes before `url`.
const URLS: [&str; 2] = ["httpUrl", "serverUrl"];

/// A longer time than this is in milliseconds: Cline and Roo write seconds, of which they offer no
/// more, Claude Code and Gemini write milliseconds.
const MOST_SECONDS: i64 = 3_600;
const DAY: i64 = 24 * 60 * 60;

/// The servers in the file at `path`, in its order, and what is wrong with it.
pub(crate) fn read_clients_file(path: &Path, variables: &Variables) -> (Vec<Server>, Vec<Problem>) {
    match regular::text_within(path, MAX_MIB) {
        Ok(text) => read(path, &text, variables),
        Err(error) => {
            (Vec::new(), vec![Problem::of_file(path, format!("cannot be read: {error}"))])
        }
    }
}

/// The same of a file that holds `text`.
fn read(path: &Path, text: &str, variables: &Variables) -> (Vec<Server>, Vec<Problem>) {
    // Some editors on Windows write a mark at the beginning.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let entries = match entries(text) {
        Ok(entries) => entries,
        Err(Mistake { at, what }) => {
            return (Vec::new(), vec![Problem::at_line(path, tree::line(text, at), what)]);
        }
    };
    let (mut servers, mut problems) = (Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    for Member { key, at, value } in &entries {
        // Those that are mistaken have one, too: whoever mends them does not rename the others.
        let name = name::fitted(key, &names);
        names.push(name.clone());
        match server(&name, *at, value, variables) {
            Ok(server) => servers.push(server),
            Err(mistakes) => problems.extend(mistakes.into_iter().map(|Mistake { at, what }| {
                Problem::at_line(path, tree::line(text, at), format!("server `{key}`: {what}"))
                    .weighing(Weight::PassedOver)
            })),
        }
    }
    problems.sort_by_key(Problem::line);
    (servers, problems)
}

/// Makes sure that all that a file says of its servers could be used, or says what could not, without their names.
pub(crate) fn can_be_read(text: &str) -> Result<(), String> {
    for Member { key, at, value } in &entries(text).map_err(|mistake| mistake.what)? {
        let mistakes = server(key, *at, value, &[]).err().unwrap_or_default();
        if let Some(mistake) = mistakes.into_iter().next() {
            return Err(mistake.what);
        }
    }
    Ok(())
}

/// The entries of a file, or why there are none.
fn entries(text: &str) -> Result<Vec<Member>, Mistake> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &notation()).map_err(|error| {
        Mistake::new(error.range().start, format!("this is no JSON: {}", error.kind()))
    })?;
    let Some(ast::Value::Object(root)) = &parsed.value else {
        return Err(Mistake::new(0, "this is no JSON object; write `{ \"mcpServers\": { … } }`"));
    };
    let named = |key: &&str| root.properties.iter().rev().find(|it| it.name.as_str() == *key);
    let Some(table) = TABLES.iter().find_map(named) else {
        return Err(Mistake::new(0, "no servers are named here; write them under `mcpServers`"));
    };
    match &table.value {
        ast::Value::Object(entries) => Ok(members(entries)),
        other => {
            let key = table.name.as_str();
            let what = format!("`{key}` is no object; write each server's name in it");
            Err(Mistake::new(other.range().start, what))
        }
    }
}

/// All that a file holds, if it can be understood.
pub(super) fn root(text: &str) -> Vec<Member> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &notation());
    match parsed.ok().and_then(|parsed| parsed.value) {
        Some(ast::Value::Object(root)) => members(&root),
        Some(_) | None => Vec::new(),
    }
}

/// The server that an entry has, or all that is wrong with it.
pub(super) fn server(
    name: &str,
    at: usize,
    entry: &Node,
    variables: &Variables,
) -> Result<Server, Vec<Mistake>> {
    let Shape::Table(entry) = &entry.shape else {
        let what = "this is no object; write `command` or `url` in it";
        return Err(vec![Mistake::new(entry.at, what)]);
    };
    let mut entry = entry.clone();
    // Cline has a way of its own to write the same.
    let transport = entry.iter().position(|member| member.key == "transport");
    if let Some(Member { value: Node { shape: Shape::Table(inner), .. }, .. }) =
        transport.map(|at| entry.remove(at))
    {
        entry.extend(inner);
    }
    let mut mistakes = Vec::new();
    mistakes.extend(entry.iter().filter_map(no_transport_of_ours));
    let is_disabled = find(&entry, "disabled").is_some_and(|member| match member.value.given() {
        Given::Switch(on) => on,
        given => {
            let what = format!("`disabled` cannot be {given}; write `true` or `false`");
            mistakes.push(Mistake::new(member.value.at, what));
            false
        }
    });
    let members = as_we_write_it(entry);
    match reading::one(name, at, &members, variables) {
        Ok(server) if mistakes.is_empty() => {
            Ok(Server { is_enabled: server.is_enabled && !is_disabled, ..server })
        }
        Ok(_) => Err(mistakes),
        Err(found) => Err([mistakes, found].into_iter().flatten().collect()),
    }
}

/// What is wrong with the `type` of an entry.
fn no_transport_of_ours(member: &Member) -> Option<Mistake> {
    if member.key != "type" {
        return None;
    }
    let given = member.value.given();
    let what = match given.text() {
        Some("stdio" | "http" | "streamable-http" | "streamableHttp") => return None,
        Some(other @ ("sse" | "ws")) => format!(
            "`{other}` is not spoken, only Streamable HTTP is; write `http`, and the URL for it"
        ),
        _ => format!("`type` cannot be {given}; write \"stdio\" or \"http\""),
    };
    Some(Mistake::new(member.value.at, what))
}

/// What we read of an entry, under the names that it has in our own settings.
fn as_we_write_it(mut entry: Vec<Member>) -> Vec<Member> {
    if let Some(key) = URLS.into_iter().find(|key| find(&entry, key).is_some()) {
        entry.retain(|member| member.key != URL);
        for member in entry.iter_mut().filter(|member| member.key == key) {
            URL.clone_into(&mut member.key);
        }
    }
    let is_started = find(&entry, COMMAND).is_some();
    let is_elsewhere = find(&entry, URL).is_some();
    entry.retain(|member| {
        let key = member.key.as_str();
        // Clients write some with every entry, empty ones for one.
        let is_stray = (is_started && OF_URL.contains(&key))
            || (is_elsewhere && !is_started && OF_COMMAND.contains(&key));
        READ.contains(&key) && !is_stray
    });
    for member in entry.iter_mut().filter(|member| member.key == "timeout") {
        if let Shape::Plain(Given::Number(time)) = &mut member.value.shape
            && *time > MOST_SECONDS
        {
            *time = (*time / 1_000).min(DAY);
        }
    }
    entry
}

fn find<'a>(members: &'a [Member], key: &str) -> Option<&'a Member> {
    members.iter().find(|member| member.key == key)
}

/// What an object has. Of two of the same name the last counts, and `null` is as good as nothing.
fn members(object: &ast::Object<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    for property in &object.properties {
        let key = property.name.as_str().to_owned();
        members.retain(|member| member.key != key);
        if !matches!(property.value, ast::Value::NullKeyword(_)) {
            members.push(Member { key, at: property.range.start, value: node(&property.value) });
        }
    }
    members
}

fn node(value: &ast::Value<'_>) -> Node {
    let shape = match value {
        ast::Value::StringLit(text) => Shape::Plain(Given::Text(text.value.clone().into_owned())),
        ast::Value::NumberLit(number) => {
            Shape::Plain(number.value.parse().map_or(Given::Other("such a number"), Given::Number))
        }
        ast::Value::BooleanLit(switch) => Shape::Plain(Given::Switch(switch.value)),
        ast::Value::NullKeyword(_) => Shape::Plain(Given::Other("null")),
        ast::Value::Array(list) => Shape::List(list.elements.iter().map(node).collect()),
        ast::Value::Object(object) => Shape::Table(members(object)),
    };
    Node { at: value.range().start, shape }
}
