//! Servers that go behind a gateway: the file in Forebay's home that they are in then.

use std::path::{Path, PathBuf};

use crate::{
    catalogue::{Client, EntryForm, HeaderForm, Patience, StartForm},
    disk,
    document::text_of,
    entry::{self, Reason},
    json,
    ledger::hash,
    url,
    value::Value,
};

/// What a gateway reads of an entry, and is written as clients write it.
const READ: [&str; 6] = ["args", "env", "cwd", "url", "headers", "timeout"];

/// By these, clients say which tools of a server are offered, and which are not. A gateway has a key for each.
const ALLOWED: [&str; 3] = ["includeTools", "enabled_tools", GOOSES_TOOLS];
const DENIED: [&str; 3] = ["excludeTools", "disabledTools", "disabled_tools"];

/// Goose's, where a list without any means all.
const GOOSES_TOOLS: &str = "available_tools";

/// By these, clients say which tools may be used without asking, or must not be. A gateway has nothing like it.
const APPROVED: [&str; 5] =
    ["alwaysAllow", "autoApprove", "trust", "tools", "default_tools_approval_mode"];

/// A gateway takes a longer `timeout` for milliseconds, as some clients write it.
const MOST_SECONDS: u64 = 3_600;

/// An entry as a gateway reads it.
pub(crate) fn moved(entry: &Value, form: &EntryForm) -> Result<Value, Reason> {
    if has_variables(entry) {
        return Err(Reason::Variables);
    }
    let mut members = Vec::new();
    for (key, value) in entry.as_table().unwrap_or_default() {
        match key.as_str() {
            GOOSES_TOOLS | "env_keys" if !says_something(value) => {}
            // The client would fill these in.
            "env_keys" | "env_vars" | "env_http_headers" | "bearer_token_env_var" | "envFile" => {
                return Err(Reason::Variables);
            }
            "command" if form.start == StartForm::List => {
                let written = || Reason::Written("command".to_owned());
                let words = value.as_texts().ok_or_else(written)?;
                let (program, arguments) = words.split_first().ok_or_else(written)?;
                members.push(("command".to_owned(), Value::text(*program)));
                members.push(("args".to_owned(), Value::texts(arguments.iter().copied())));
            }
            key if key == form.command => members.push(("command".to_owned(), value.clone())),
            key if ALLOWED.contains(&key) || (form.tools == Some(key) && !is_all(value)) => {
                members.push(("allow_tools".to_owned(), Value::texts(allowed(key, value)?)));
            }
            key if DENIED.contains(&key) => {
                members.push(("deny_tools".to_owned(), Value::texts(tools(key, value)?)));
            }
            key if form.tools == Some(key) => {}
            key if APPROVED.contains(&key) && says_something(value) => {
                return Err(Reason::Tools(key.to_owned()));
            }
            key if form.patience.iter().any(|it| it.key == key) => {
                if value.is_null() {
                    continue;
                }
                let made = patience(form, key, value);
                let made = made.ok_or_else(|| Reason::Written(key.to_owned()))?;
                // Of two keys for the same, the first counts.
                let first = form.patience.iter().find(|it| it.ours == made.0);
                let is_first = first.is_some_and(|it| it.key == key || entry.get(it.key).is_none());
                if is_first {
                    members.push(made);
                }
            }
            "http_headers" => members.push(("headers".to_owned(), value.clone())),
            "disabled" | "enabled" => members.push((key.clone(), value.clone())),
            key if key == form.environment => members.push(("env".to_owned(), in_quotes(value))),
            key if form.urls.contains(&key) => members.push(("url".to_owned(), value.clone())),
            key if READ.contains(&key) => members.push((key.to_owned(), value.clone())),
            _ => {}
        }
    }
    Ok(Value::Table(members))
}

/// What an entry says of how a server that is elsewhere is reached, as a gateway reads it, but for what its client fills
/// in; `None` if there is nothing to be sure of.
pub(crate) fn reached(entry: &Value, form: &EntryForm) -> Option<Value> {
    let url = form.urls.iter().find_map(|key| entry.get(key).filter(|url| !url.is_null()))?;
    if has_variables(url) {
        return None;
    }
    let headers = match form.headers {
        HeaderForm::Headers => "headers",
        HeaderForm::Codex => "http_headers",
    };
    let headers = entry.get(headers).and_then(Value::as_table).unwrap_or_default();
    let known = headers.iter().filter(|(_, value)| !has_variables(value)).cloned().collect();
    let members = [("url", url.clone()), ("headers", Value::Table(known))];
    Some(Value::Table(members.map(|(key, value)| (key.to_owned(), value)).to_vec()))
}

/// A client's patience as a gateway has it: in whole seconds.
fn patience(form: &EntryForm, key: &str, value: &Value) -> Option<(String, Value)> {
    let Patience { per_second, ours, .. } = form.patience.iter().find(|it| it.key == key)?;
    let Value::Plain(written) = value else { return None };
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole: u64 = whole.parse().ok().filter(|_| is_digits(fraction))?;
    let is_more = fraction.bytes().any(|byte| byte != b'0');
    let seconds = whole.checked_add(u64::from(is_more))?.div_ceil(*per_second);
    let is_ambiguous = *ours == "timeout" && seconds > MOST_SECONDS;
    let written = if is_ambiguous { seconds.checked_mul(1_000)? } else { seconds };
    Some(((*ours).to_owned(), Value::Plain(written.to_string())))
}

/// What a gateway takes for milliseconds, in seconds.
fn in_seconds(timeout: &Value) -> Value {
    let Value::Plain(written) = timeout else { return timeout.clone() };
    match written.parse::<u64>() {
        Ok(count) if count > MOST_SECONDS => Value::Plain(count.div_ceil(1_000).to_string()),
        Ok(_) | Err(_) => timeout.clone(),
    }
}

/// How long a client has to wait for a gateway: as long as for the most patient of the servers behind it.
pub(crate) fn longest(servers: &[(String, Value)], form: &EntryForm) -> Option<(String, Value)> {
    let key = form.patience.iter().find(|it| it.ours == "timeout")?.key;
    let seconds = |server: &(String, Value)| match in_seconds(server.1.get("timeout")?) {
        Value::Plain(written) => written.parse::<u64>().ok(),
        Value::Text(_) | Value::List(_) | Value::Table(_) => None,
    };
    let longest = servers.iter().filter_map(seconds).max()?;
    Some((key.to_owned(), Value::Plain(longest.to_string())))
}

/// Variables as a gateway wants them: a number or a truth value is a text, which it becomes for the server anyway.
fn in_quotes(variables: &Value) -> Value {
    let Value::Table(members) = variables else { return variables.clone() };
    let is_clear = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number || text == "true" || text == "false"
    };
    let member = |(name, value): &(String, Value)| match value {
        Value::Plain(text) if is_clear(text) => (name.clone(), Value::text(text.clone())),
        other => (name.clone(), other.clone()),
    };
    Value::Table(members.iter().map(member).collect())
}

/// The servers in a file of ours as they are now, or why they cannot be told.
pub(crate) fn servers_in(path: &Path) -> Result<Vec<(String, Value)>, String> {
    let read = || -> Result<Vec<(String, Value)>, String> {
        let bytes = disk::read(path).map_err(|error| error.to_string())?;
        let (_, text) = text_of(&bytes)?;
        let root = json::read(text).map_err(|error| error.told(text))?.value();
        let servers = root.get("mcpServers").and_then(Value::as_table);
        Ok(servers.ok_or("it has no `mcpServers`")?.to_vec())
    };
    read().map_err(|why| format!("`{}`, which has its servers: {why}", path.display()))
}

/// What somebody has changed in our own file since it was written: each server as the client is to have it, or `None`
/// if it was taken out. `before` has the client's entries as they were, and `names` are those that were moved.
pub(crate) fn edited(
    before: &Value,
    names: &[String],
    now: &[(String, Value)],
    form: &EntryForm,
) -> Vec<(String, Option<Value>)> {
    let find = |name: &String| now.iter().find(|(it, _)| it == name).map(|(_, entry)| entry);
    let mut made = Vec::new();
    for name in names {
        let Some(original) = before.get(name) else { continue };
        let Ok(written) = moved(original, form) else { continue };
        match find(name) {
            Some(entry) if entry.says_the_same_as(&written) => {}
            Some(entry) => made.push((name.clone(), Some(back(original, &written, entry, form)))),
            None => made.push((name.clone(), None)),
        }
    }
    let empty = Value::Table(Vec::new());
    let new = now.iter().filter(|(name, _)| !names.contains(name));
    made.extend(new.map(|(name, entry)| {
        (name.clone(), Some(as_wanted(name, &back(&empty, &empty, entry, form), form)))
    }));
    made
}

/// A new entry with what its client wants in each.
fn as_wanted(name: &str, entry: &Value, form: &EntryForm) -> Value {
    let mut members = entry.as_table().unwrap_or_default().to_vec();
    if form.wanted.is_empty() {
        return Value::Table(members);
    }
    let is_off = entry::is_off(entry);
    let is_started = entry.get(form.command).is_some();
    members.retain(|(key, _)| !["disabled", "enabled", "type"].contains(&key.as_str()));
    let mut made = entry::wanted(form, name);
    for (_, value) in made.iter_mut().filter(|(key, _)| key == "enabled" && is_off) {
        *value = Value::Plain("false".to_owned());
    }
    let kind = if is_started { form.started_type } else { Some("streamable_http") };
    made.extend(kind.map(|kind| ("type".to_owned(), Value::text(kind))));
    made.append(&mut members);
    if is_started && entry.get("args").is_none() {
        made.push(("args".to_owned(), Value::List(Vec::new())));
    }
    Value::Table(made)
}

/// A client's entry with what was changed in ours: `written` is what it was there, and `now` what it is.
fn back(original: &Value, written: &Value, now: &Value, form: &EntryForm) -> Value {
    let mut members = original.as_table().unwrap_or_default().to_vec();
    let mut set = |key: &str, value: Option<Value>| {
        let at = members.iter().position(|(it, _)| it == key);
        match (at, value) {
            (Some(at), Some(value)) => members[at].1 = value,
            (Some(at), None) => drop(members.remove(at)),
            (None, Some(value)) => members.push((key.to_owned(), value)),
            (None, None) => {}
        }
    };
    let keys = |value: &Value| -> Vec<String> {
        value.as_table().unwrap_or_default().iter().map(|(key, _)| key.clone()).collect()
    };
    let mut changed = keys(written);
    changed.extend(keys(now).into_iter().filter(|key| written.get(key).is_none()));
    changed.retain(|key| written.get(key) != now.get(key));
    for key in changed {
        let value = now.get(&key).cloned();
        match (key.as_str(), form.start) {
            ("command" | "args", StartForm::List) => {
                let program = now.get("command").cloned();
                let arguments = now.get("args").map(|it| match it {
                    Value::List(items) => items.clone(),
                    Value::Text(_) | Value::Plain(_) | Value::Table(_) => Vec::new(),
                });
                let words = program.into_iter().chain(arguments.unwrap_or_default()).collect();
                set("command", Some(Value::List(words)));
            }
            ("command", StartForm::CommandAndArguments) => set(form.command, value),
            ("env", _) => set(form.environment, value),
            ("url", _) => {
                let known = form.urls.iter().find(|key| original.get(key).is_some());
                set(known.or(form.urls.first()).copied().unwrap_or("url"), value);
            }
            ("headers", _) => set(
                match form.headers {
                    HeaderForm::Headers => "headers",
                    HeaderForm::Codex => "http_headers",
                },
                value,
            ),
            ("allow_tools" | "deny_tools", _) => {
                let all = if key == "allow_tools" { &ALLOWED[..] } else { &DENIED[..] };
                let known = all.iter().copied().chain(form.tools);
                let known = known.into_iter().find(|key| original.get(key).is_some());
                // Where the client has no such key, there is nothing to write.
                if let Some(known) = known {
                    set(known, value);
                }
            }
            ("timeout" | "start_timeout", _) if !form.patience.is_empty() => {
                let mut theirs = form.patience.iter().filter(|it| it.ours == key);
                let first = theirs.next().map_or(key.as_str(), |it| it.key);
                set(first, value.map(|value| in_seconds(&value)));
                theirs.for_each(|it| set(it.key, None));
            }
            // No other client has one.
            ("start_timeout", _) => {}
            (key, _) => set(key, value),
        }
    }
    Value::Table(members)
}

/// The names of tools that a client offers. None at all cannot be said to a gateway.
fn allowed<'a>(key: &str, value: &'a Value) -> Result<Vec<&'a str>, Reason> {
    let names = tools(key, value)?;
    if names.is_empty() { Err(Reason::Tools(key.to_owned())) } else { Ok(names) }
}

/// The names of tools in a list, if they are plain names.
fn tools<'a>(key: &str, value: &'a Value) -> Result<Vec<&'a str>, Reason> {
    let is_plain = |name: &&str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        !name.is_empty() && name.chars().all(is_letter)
    };
    let names = value.as_texts().filter(|names| names.iter().all(is_plain));
    names.ok_or_else(|| Reason::Tools(key.to_owned()))
}

/// `["*"]`, as Copilot CLI writes it.
fn is_all(value: &Value) -> bool {
    value.as_texts().is_some_and(|names| names == ["*"])
}

/// True but for `false`, `null` and what is empty.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Text(text) => !text.is_empty(),
        Value::Plain(text) => text != "false" && text != "null",
        Value::List(items) => !items.is_empty(),
        Value::Table(members) => !members.is_empty(),
    }
}

/// Our own file with these servers.
pub(crate) fn text_of_file(servers: &[(String, Value)]) -> String {
    let root = Value::Table(vec![("mcpServers".to_owned(), Value::Table(servers.to_vec()))]);
    json::block(&root, "", "  ", "\n") + "\n"
}

/// Our own file with these servers: where it is, and what is in it.
pub(crate) fn servers_file(
    home: &Path,
    client: &Client,
    target: &Path,
    servers: &[(String, Value)],
) -> Result<(PathBuf, Vec<u8>), String> {
    let place = target.to_str().ok_or("its path is not UTF-8")?;
    let name = format!("{}-{}.json", client.name, &hash(place.as_bytes())[..8]);
    Ok((home.join("clients").join(name), text_of_file(servers).into_bytes()))
}

/// True if this file of ours has servers of this client's.
pub(crate) fn is_file_of(client: &Client, path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    stem.and_then(|stem| Some(stem.rsplit_once('-')?.0 == client.name)).unwrap_or_default()
}

/// True if a text in it holds something that clients put the value of a variable in the place of.
fn has_variables(value: &Value) -> bool {
    match value {
        Value::Text(text) => url::has_variable(text),
        Value::Plain(_) => false,
        Value::List(items) => items.iter().any(has_variables),
        Value::Table(members) => members.iter().any(|(_, value)| has_variables(value)),
    }
}
