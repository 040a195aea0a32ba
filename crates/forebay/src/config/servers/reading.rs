//! Reads servers out of what a file says. Its notation is left to others.

use http::{HeaderName, HeaderValue};

use super::{
    Server,
    draft::Draft,
    expansion::expand,
    keys::{ARGUMENTS, COMMAND, EXPANDED, KEYS, OF_COMMAND, OF_URL, TOOLS, URL},
    name,
};
use crate::config::{
    environment::Variables,
    kind::{Given, Kind},
    problem::nearest,
    rules,
    settings::Setting,
    tree::{Member, Mistake, Node, Shape},
};

/// The servers of the table `[servers]`.
pub(in crate::config) fn of_table(
    servers: &[Member],
    variables: &Variables,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Server> {
    let mut read = Vec::new();
    for server in servers {
        let called = name::check(&server.key).map_err(|what| Mistake::new(server.at, what));
        mistakes.extend(called.err());
        let Shape::Table(members) = &server.value.shape else {
            let what = format!("`{0}` is a table; write `[servers.{0}]`", server.key);
            mistakes.push(Mistake::new(server.value.at, what));
            continue;
        };
        match one(&server.key, server.at, members, variables) {
            Ok(server) => read.push(server),
            Err(found) => mistakes.extend(found),
        }
    }
    read
}

/// A server whose name stands at `at`, or all that is wrong with what is written of it.
pub(super) fn one(
    name: &str,
    at: usize,
    members: &[Member],
    variables: &Variables,
) -> Result<Server, Vec<Mistake>> {
    let (mut draft, mut mistakes) = (Draft::default(), Vec::new());
    for member in members {
        let Member { key, at, value } = member;
        match (KEYS.iter().find(|setting| setting.key == key), &value.shape) {
            (Some(setting), _) => set(&mut draft, setting, value, variables, &mut mistakes),
            (None, Shape::Table(tools)) if key == TOOLS => {
                let table = format!("servers.{name}.tools");
                let read = rules::read(&table, tools, &mut mistakes);
                (draft.keeping.tools, draft.paging) = (read.keeping, read.paging);
            }
            (None, _) if key == TOOLS => {
                let what = format!("`{key}` is a table; write `[servers.{name}.tools.\"list_*\"]`");
                mistakes.push(Mistake::new(*at, what));
            }
            (None, _) => mistakes.push(Mistake::new(*at, unknown(key))),
        }
    }
    let has = |wanted: &str| members.iter().any(|member| member.key == wanted);
    let server = match (has(COMMAND), has(URL)) {
        (true, false) => {
            mistakes.extend(strays(members, &OF_URL, URL, COMMAND));
            draft.started(name)
        }
        (false, true) => {
            mistakes.extend(strays(members, &OF_COMMAND, COMMAND, URL));
            draft.elsewhere(name)
        }
        (true, true) => {
            let what = "a server has `command` or `url`, not both; leave one of them out";
            mistakes.push(Mistake::new(at, what));
            return Err(mistakes);
        }
        (false, false) => {
            let what = "a server has `command` or `url`; write one of them";
            mistakes.push(Mistake::new(at, what));
            return Err(mistakes);
        }
    };
    if mistakes.is_empty() { Ok(server) } else { Err(mistakes) }
}

/// What goes with the way that the server does not have.
fn strays(members: &[Member], keys: &[&str], with: &str, beside: &str) -> Vec<Mistake> {
    let strays = members.iter().filter(|member| keys.contains(&member.key.as_str()));
    strays
        .map(|Member { key, at, .. }| {
            let what = format!("`{key}` goes with `{with}`; leave it out beside `{beside}`");
            Mistake::new(*at, what)
        })
        .collect()
}

fn set(
    draft: &mut Draft,
    setting: &Setting<Draft>,
    value: &Node,
    variables: &Variables,
    mistakes: &mut Vec<Mistake>,
) {
    let (before, lacks) = (mistakes.len(), draft.lacks.len());
    let given = if EXPANDED.contains(&setting.key) {
        expanded(value, variables, &mut draft.lacks, mistakes)
    } else {
        value.given()
    };
    if let (Kind::Pairs(_), Shape::Table(members), Given::Table(pairs)) =
        (&setting.kind, &value.shape, &given)
    {
        let pairs = members.iter().zip(pairs);
        mistakes.extend(pairs.filter_map(|(member, (_, given))| pair(setting.key, member, given)));
    }
    if setting.key == ARGUMENTS {
        // As they are written: the values of variables are not shown.
        let written = value.given().texts().unwrap_or_default();
        draft.shown_arguments = forebay_intercept::command_without_secrets(&written);
    }
    // What has no value yet may well be right.
    let is_whole = mistakes.len() == before && draft.lacks.len() == lacks;
    if is_whole && !setting.kind.set(draft, &given) {
        // As it is written, since the values of variables are not told.
        mistakes.push(Mistake::new(value.at, setting.refusal(&value.given())));
    }
}

/// The value, with those of the variables that it names.
fn expanded(
    node: &Node,
    variables: &Variables,
    lacks: &mut Vec<String>,
    mistakes: &mut Vec<Mistake>,
) -> Given {
    match &node.shape {
        Shape::Plain(Given::Text(text)) => match expand(text, variables) {
            Ok(expanded) => {
                lacks.extend(expanded.lacks);
                Given::Text(expanded.text)
            }
            Err(found) => {
                mistakes.extend(found.into_iter().map(|what| Mistake::new(node.at, what)));
                Given::Text(text.clone())
            }
        },
        Shape::Plain(given) => given.clone(),
        Shape::List(items) => {
            let items = items.iter().map(|item| expanded(item, variables, lacks, mistakes));
            Given::List(items.collect())
        }
        Shape::Table(members) => {
            let member = |member: &Member| {
                (member.key.clone(), expanded(&member.value, variables, lacks, mistakes))
            };
            Given::Table(members.iter().map(member).collect())
        }
    }
}

/// What is wrong with a variable or a header. Its value is not told: it may be a secret.
fn pair(table: &str, member: &Member, given: &Given) -> Option<Mistake> {
    let key = &member.key;
    let name_is_sound = match table {
        "headers" => key.parse::<HeaderName>().is_ok(),
        _ => !key.is_empty() && !key.contains(['=', '\0']),
    };
    if !name_is_sound {
        let what = format!("there can be no `{key}` in `{table}`; write another name");
        return Some(Mistake::new(member.at, what));
    }
    let Some(text) = given.text() else {
        let what = format!("`{table}.{key}` is no text; write it in quotes");
        return Some(Mistake::new(member.value.at, what));
    };
    if table == "headers" && text.parse::<HeaderValue>().is_err() {
        let what = format!(
            "`{table}.{key}` has what no header can have, such as a line break; leave that out"
        );
        return Some(Mistake::new(member.value.at, what));
    }
    None
}

fn unknown(key: &str) -> String {
    let elsewhere = KNOWN_ELSEWHERE.iter().find(|(known, _)| *known == key);
    let keys = KEYS.iter().map(|setting| setting.key).chain([TOOLS]);
    match (elsewhere, nearest(key, keys)) {
        (Some((_, ours)), _) => format!("a server has no `{key}`; write {ours}"),
        (None, Some(near)) => format!("a server has no `{key}`; write `{near}`"),
        (None, None) => {
            format!("a server has no `{key}`; `forebay config --reference` tells what it has")
        }
    }
}

/// What clients write in files of their own, and what it is here.
const KNOWN_ELSEWHERE: [(&str, &str); 5] = [
    ("type", "`command` or `url`, which says it"),
    ("disabled", "`enabled = false`"),
    ("environment", "`env`"),
    ("httpUrl", "`url`"),
    ("serverUrl", "`url`"),
];
