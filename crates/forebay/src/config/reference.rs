//! The reference page and the JSON Schema, made from the table of settings.

use std::fmt::Write as _;

use forebay_intercept::known_clients;
use forebay_tools::Tool;
use serde_json::{Map, Value, json};

use super::{
    kind::Kind,
    paging,
    problem::Weight,
    servers::{NAME_PATTERN, keys},
    settings::{self, Setting, TOOL_KEYS},
};

/// A file that uses every setting.
pub(super) const EXAMPLE: &str = include_str!("example.toml");

/// The page for people, in Markdown.
pub(crate) fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## What there is\n");
    for setting in settings::all() {
        let Setting { key, default, meaning, kind } = setting;
        let _ = write!(page, "\n### `{key}`\n\n{meaning}\n\n");
        if let Kind::Choice(choices) = kind {
            for choice in *choices {
                let _ = writeln!(page, "- `\"{}\"`: {}", choice.word, choice.meaning);
            }
            page.push('\n');
        }
        let variable = setting.variable();
        let _ = writeln!(
            page,
            "Write {}. Default: `{default}`. Variable: `{variable}`.{}",
            kind.expected(),
            match setting.weight() {
                Weight::PassedOver => " A mistake here is passed over.",
                Weight::Grave => "",
            }
        );
    }
    page.push_str(TOOLS);
    for (key, example, meaning) in TOOL_KEYS {
        let _ = writeln!(page, "- `{key} = {example}`: {meaning}");
    }
    page.push_str(PAGING);
    for setting in paging::KEYS {
        key_in_table(&mut page, setting);
    }
    page.push_str(SERVERS);
    for setting in keys::KEYS {
        key_in_table(&mut page, setting);
    }
    page.push_str(SERVERS_TOOLS);
    page.push_str(CLIENTS);
    for (name, bytes) in known_clients() {
        let _ = writeln!(page, "| `{name}…` | {bytes} |");
    }
    let _ = write!(page, "\n## Example\n\n```toml\n{EXAMPLE}```\n");
    page
}

fn key_in_table<T>(page: &mut String, setting: &Setting<T>) {
    let Setting { key, default, meaning, kind } = setting;
    let _ = write!(page, "- `{key}`: {meaning} Write {}.", kind.expected());
    if !default.is_empty() {
        let _ = write!(page, " Default: `{default}`.");
    }
    page.push('\n');
    if let Kind::Choice(choices) = kind {
        for choice in *choices {
            let _ = writeln!(page, "  - `\"{}\"`: {}", choice.word, choice.meaning);
        }
    }
}

/// The schema for editors.
pub(crate) fn schema() -> Value {
    let mut root = Map::new();
    for setting in settings::all() {
        match setting.key.split_once('.') {
            None => drop(root.insert(setting.key.to_owned(), property(setting))),
            Some((table, key)) => {
                let table = root.entry(table).or_insert_with(
                    || json!({"type": "object", "properties": {}, "additionalProperties": false}),
                );
                table["properties"][key] = property(setting);
            }
        }
    }
    let rules: Map<String, Value> = TOOL_KEYS
        .iter()
        .map(|(key, example, meaning)| {
            let mut value = match (*key, *example) {
                ("always" | "never", _) => json!({"const": true}),
                ("threshold", _) => json!({"type": "integer", "minimum": 1}),
                (_, "true" | "false") => json!({"type": "boolean"}),
                (_, list) if list.starts_with('[') => {
                    json!({"type": "array", "items": {"type": "string"}})
                }
                _ => json!({"type": "integer", "minimum": 0}),
            };
            value["description"] = (*meaning).into();
            ((*key).to_owned(), value)
        })
        .collect();
    let mut rules = rules;
    rules.insert(paging::PAGING.to_owned(), paging_schema());
    let rule = json!({
        "type": "object", "properties": rules, "additionalProperties": false,
        "minProperties": 1,
        "not": {"anyOf": [
            {"required": ["threshold", "always"]},
            {"required": ["threshold", "never"]},
            {"required": ["always", "never"]},
        ]},
        "dependencies": {"cache_unmarked": ["cache_seconds"]},
    });
    let rules = json!({"type": "object", "additionalProperties": rule});
    root.insert("servers".to_owned(), servers(&rules));
    root.insert("tools".to_owned(), rules);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "forebay.toml",
        "type": "object",
        "properties": root,
        "additionalProperties": false,
    })
}

/// What stands under `paging` in the table of a tool.
fn paging_schema() -> Value {
    let keys: Map<String, Value> =
        paging::KEYS.iter().map(|setting| (setting.key.to_owned(), property(setting))).collect();
    let table = json!({"type": "object", "properties": keys, "additionalProperties": false});
    json!({"anyOf": [{"enum": ["off", "auto"]}, table], "description": PAGING_KEY})
}

fn servers(rules: &Value) -> Value {
    let mut properties = Map::new();
    for setting in keys::KEYS {
        let mut property = property(setting);
        if let (true, Some(property)) =
            (keys::EXPANDED.contains(&setting.key), property.as_object_mut())
        {
            // What a variable holds may fit.
            property.remove("pattern");
        }
        properties.insert(setting.key.to_owned(), property);
    }
    properties.insert(keys::TOOLS.to_owned(), rules.clone());
    let mut needs = Map::new();
    needs.extend(keys::OF_COMMAND.map(|key| (key.to_owned(), json!([keys::COMMAND]))));
    needs.extend(keys::OF_URL.map(|key| (key.to_owned(), json!([keys::URL]))));
    let server = json!({
        "type": "object", "properties": properties, "additionalProperties": false,
        "oneOf": [{"required": [keys::COMMAND]}, {"required": [keys::URL]}],
        "dependencies": needs,
    });
    json!({
        "type": "object",
        "propertyNames": {
            "pattern": NAME_PATTERN, "minLength": 1, "maxLength": 32, "not": {"const": "forebay"},
        },
        "additionalProperties": server,
    })
}

fn property<T>(setting: &Setting<T>) -> Value {
    let mut property = match &setting.kind {
        Kind::Switch(_) => json!({"type": "boolean"}),
        Kind::Number { from, to: u64::MAX, .. } => json!({"type": "integer", "minimum": from}),
        Kind::Number { from, to, .. } => {
            json!({"type": "integer", "minimum": from, "maximum": to})
        }
        Kind::Bytes { from, .. } => json!({
            "anyOf": [{"type": "integer", "minimum": from},
                      {"type": "string", "pattern": "^[0-9_]+ *([kKmMgGtT][iI]?)?[bB]?$"}],
        }),
        Kind::Directory(_) => json!({"type": "string", "pattern": "^(/|~/)"}),
        Kind::File(_) => json!({"type": "string", "pattern": "^(/|~/|$)"}),
        Kind::Patterns(_) => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Tools(_) => {
            let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            json!({"anyOf": [{"enum": ["core", "full", "none"]},
                             {"type": "array", "items": {"enum": names}}]})
        }
        Kind::Prefix(_) => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,32}$"}),
        Kind::Separator(_) => json!({"type": "string", "pattern": "^[_.-]{1,4}$"}),
        Kind::Program(_) | Kind::Name(_) => json!({"type": "string", "minLength": 1}),
        Kind::NameOrNone(_) => json!({"type": "string"}),
        Kind::Pointer(_) => json!({"type": "string", "pattern": "^(/.*)?$"}),
        Kind::Paths(_) | Kind::Texts(_) => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Pairs(_) => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Kind::Address(_) => json!({"type": "string", "pattern": "^https?://"}),
        Kind::AddressOrNone(_) => json!({"type": "string", "pattern": "^(https?://.*)?$"}),
        Kind::Choice(choices) => {
            json!({"enum": choices.iter().map(|choice| choice.word).collect::<Vec<_>>()})
        }
    };
    property["description"] = setting.meaning.into();
    // Every default in the table is written as JSON would be; some keys of a server have none.
    if let Ok(default) = serde_json::from_str(setting.default) {
        property["default"] = default;
    }
    property
}

const INTRODUCTION: &str = "\
# Settings

Made by `forebay config --reference`; a test fails when it is stale.

Forebay needs no settings. Those that you make come from three places, and a later one wins:

1. a file: the one that `--config` or `FOREBAY_CONFIG` names, or else `forebay.toml` in
   `FOREBAY_HOME` (`~/.forebay` if that is not set), if it is there;
2. environment variables: `FOREBAY_` and the name of the setting;
3. flags of `forebay wrap`: `--threshold`, `--tools`, `--no-capture`; `--exclude` adds to `excluded_tools`.

A file in the directory in which a client happens to start Forebay is not looked for. A variable that
is empty is not set. Paths begin with `/` or `~/`, `FOREBAY_HOME` included: what is relative would be
somewhere else with every client.

## Mistakes

All mistakes are told together, each with its place and what to write, before a server is started.

- A mistake in a setting that only says how much, or in which form, does not keep a server from
  starting: it is told on stderr, and what is written there is passed over. This holds for a value that
  cannot be, and for a name that is nearly that of such a setting. They are marked below.
- With any other mistake nothing starts: the settings say what is kept of results, where, for how long,
  and what a model may see of it, and Forebay does not guess there. This holds for names that are like
  nothing that there is, for rules of single tools, for servers, for flags, and for a file that is no
  TOML.

A client that has started `forebay wrap` gets the text as the answer to its first request, whichever
that is (`initialize`, or `server/discover`), and to all others; at a terminal, Forebay ends with code
2. `forebay serve` ends with code 2 when the command line is wrong, and at a terminal; else, with
settings that cannot be used, it listens and answers every request with the text, and `/healthz` says
`refusing` with status 503.

A variable that begins with `FOREBAY_` and is like no setting may be somebody else's; it is told on
stderr and passed over.

Editors with a TOML plugin (Taplo, Even Better TOML) check the file and complete names if its first
line is `#:schema` and the path of [forebay.schema.json](forebay.schema.json), which
`forebay config --schema` prints. `forebay config` shows what holds, and where it comes from.
";

const TOOLS: &str = "
## Single tools

A table `[tools.\"PATTERN\"]` says what holds for the tools that the pattern fits; `*` stands for any
characters, `?` for one. Of those that fit a tool, the first in the file holds for what it says, the next
for what the first does not say. They go before `threshold` and the limits of known clients;
`excluded_tools` goes before all. Each table has one or more of these, and only one of `threshold`,
`always` and `never`, or `paging`, or both:

";

const PAGING_KEY: &str = "Pages in front of the tool.";

const PAGING: &str = "- `paging = \"auto\"`: The tool gets pages, as with the setting `paging`; `\"off\"`: it gets none.

A table `[tools.\"PATTERN\".paging]` gives pages to the tools that the pattern fits, and says what they have for
their own; see [paging.md](paging.md). The first that fits a tool and has `paging` holds, and goes before the
setting. What is not set is guessed. It may hold:

";

const SERVERS: &str = "
## Servers

A table `[servers.NAME]` names a server behind the gateway; they are listed in the order of the file. A
name has 1 to 32 letters, digits, `-` and `_`, no `__`, and is not `forebay`. Each has `command` or `url`:
`args`, `env` and `cwd` go with `command`, `headers` and `ca_file` with `url`.

In `command`, `args`, `env`, `cwd`, `url` and `headers`, `${V}` stands for the environment variable `V`,
and so does `${env:V}`; `${V:-text}` stands for `text` if `V` is not set or empty. A variable that is not
set is a mistake if there is no such text. A `$` without `{` after it is a `$`. `~/` at the beginning of
`command`, `cwd` and `ca_file` is your home. No message tells the value of a variable.

";

const SERVERS_TOOLS: &str = "
`[servers.NAME.tools.\"PATTERN\"]` is a rule for single tools of the server, under their own names; it
has the same keys as `[tools.\"PATTERN\"]` and goes before it.

`forebay config` shows the servers; of the environment and the headers it shows the names, and no query,
user or password of a URL.
";

const CLIENTS: &str = "
## Known clients

Some clients cut a result, or put it where the model cannot read it, before it has 8,192 tokens. If
`threshold` is not set, a result is kept from them when its text has more bytes than this. They are
known by how the name that they give themselves begins, in small or large letters.

| Client | Bytes |
|---|---|
";
