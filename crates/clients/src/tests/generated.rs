//! Files that nobody wrote: any mixture of forms, and any way to write them.

use std::fs;

use proptest::prelude::*;

use super::{Machine, only_outcome};
use crate::{Fate, Mode, Outcome, Request, install, json_of_yaml};

/// How a file is written.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one way to write, and all mix")]
struct Style {
    newline: &'static str,
    indent: &'static str,
    has_mark: bool,
    has_comments: bool,
    has_trailing_commas: bool,
    ends: bool,
}

#[derive(Debug, Clone)]
struct Server {
    name: String,
    way: Way,
    /// How a table is written in TOML, or on how many lines in JSON.
    shape: u8,
    others: Vec<(String, u8)>,
}

#[derive(Debug, Clone)]
enum Way {
    Command { program: String, arguments: Option<Vec<String>> },
    Url { host: String, headers: Vec<(String, String)> },
}

fn style() -> impl Strategy<Value = Style> {
    let newline = prop_oneof![Just("\n"), Just("\r\n")];
    let indent = prop_oneof![Just("  "), Just("    "), Just("\t"), Just("")];
    (newline, indent, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(newline, indent, has_mark, has_comments, has_trailing_commas, ends)| Style {
            newline,
            indent,
            has_mark,
            has_comments,
            has_trailing_commas,
            ends,
        },
    )
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[a-zA-Z0-9 ._/\\\\\"'$\\{\\}é東-]{0,12}",
        "(wrap|gateway|forebay|--)"
    ]
}

fn server() -> impl Strategy<Value = Server> {
    let command = (word(), prop::option::of(prop::collection::vec(word(), 0..4)))
        .prop_map(|(program, arguments)| Way::Command { program, arguments });
    let headers = prop::collection::vec(("([A-Z][a-z-]{0,6}|X-Key)", word()), 0..3);
    let url = ("(localhost:80|127\\.0\\.0\\.1|far\\.example)", headers)
        .prop_map(|(host, headers)| Way::Url { host, headers });
    let others = prop::collection::vec(("(timeout|trust|cwd|x-y)", any::<u8>()), 0..3);
    (word(), prop_oneof![3 => command, 1 => url], any::<u8>(), others)
        .prop_map(|(name, way, shape, others)| Server { name, way, shape, others })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(items: &[String]) -> String {
    format!("[{}]", items.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", "))
}

/// The members of a server: name and value, in JSON and in TOML alike but for tables.
fn members(server: &Server, is_toml: bool) -> Vec<(String, String)> {
    let mut made = Vec::new();
    match &server.way {
        Way::Command { program, arguments } => {
            made.push(("command".to_owned(), quoted(program)));
            made.extend(arguments.iter().map(|it| ("args".to_owned(), list(it))));
        }
        Way::Url { host, headers } => {
            made.push(("url".to_owned(), quoted(&format!("https://{host}/mcp"))));
            let mut seen: Vec<(String, String)> = Vec::new();
            for (name, value) in headers {
                if !seen.iter().any(|(known, _)| known == name) {
                    seen.push((name.clone(), value.clone()));
                }
            }
            let sign = if is_toml { " = " } else { ": " };
            let pair = |(name, value): &(String, String)| {
                format!("{}{sign}{}", quoted(name), quoted(value))
            };
            let pairs = seen.iter().map(pair).collect::<Vec<_>>().join(", ");
            let key = if is_toml { "http_headers" } else { "headers" };
            made.push((key.to_owned(), format!("{{ {pairs} }}")));
        }
    }
    for (key, value) in &server.others {
        if !made.iter().any(|(known, _)| known == key) {
            made.push((key.clone(), value.to_string()));
        }
    }
    // The order is anybody's.
    let turn = usize::from(server.shape / 4) % made.len();
    made.rotate_left(turn);
    made
}

fn json(servers: &[Server], style: &Style) -> String {
    let Style { newline, indent, .. } = style;
    let comma = if style.has_trailing_commas { "," } else { "" };
    let remark = if style.has_comments { " // so, \"it\" is {" } else { "" };
    let mut entries = Vec::new();
    for server in servers {
        let members: Vec<String> = members(server, false)
            .iter()
            .map(|(key, value)| format!("{}: {value}", quoted(key)))
            .collect();
        let name = quoted(&server.name);
        entries.push(match server.shape % 3 {
            0 => format!("{name}: {{{}}}", members.join(",")),
            1 => format!("{name}:{{ {}{comma} }}", members.join(", ")),
            _ => {
                let deep = format!("{newline}{indent}{indent}{indent}");
                let lines = members.join(&format!(",{remark}{deep}"));
                format!("{name}: {{{deep}{lines}{comma}{remark}{newline}{indent}{indent}}}")
            }
        });
    }
    let between = format!(",{remark}{newline}{indent}{indent}");
    let inside = match entries.as_slice() {
        [] => remark.to_owned() + if remark.is_empty() { "" } else { newline },
        entries => format!(
            "{newline}{indent}{indent}{}{comma}{remark}{newline}{indent}",
            entries.join(&between)
        ),
    };
    let end = if style.ends { newline } else { "" };
    let mark = if style.has_mark { "\u{feff}" } else { "" };
    format!("{mark}{{{newline}{indent}\"mcpServers\": {{{inside}}}{comma}{newline}}}{end}")
}

fn toml(servers: &[Server], style: &Style) -> String {
    let Style { newline, indent, .. } = style;
    let remark = if style.has_comments { " # so, \"it\" is {" } else { "" };
    let mark = if style.has_mark { "\u{feff}" } else { "" };
    let mut made = vec![format!("{mark}model = \"x\"{remark}{newline}")];
    let (lines, headers): (Vec<&Server>, Vec<&Server>) =
        servers.iter().partition(|server| server.shape % 4 < 2);
    let mut under = Vec::new();
    for server in lines {
        let name = quoted(&server.name);
        if server.shape % 4 == 0 {
            let members: Vec<String> = members(server, true)
                .iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            under.push(format!("{name} = {{ {} }}{remark}{newline}", members.join(", ")));
        } else {
            for (key, value) in members(server, true) {
                under.push(format!("{indent}{name}.{key} = {value}{remark}{newline}"));
            }
        }
    }
    if !under.is_empty() {
        made.push(format!("[mcp_servers]{remark}{newline}{}", under.concat()));
    }
    for server in headers {
        let name = quoted(&server.name);
        made.push(format!("{newline}{indent}[ mcp_servers . {name} ]{remark}{newline}"));
        for (key, value) in members(server, true) {
            made.push(format!("{indent}{key} = {value}{remark}{newline}"));
        }
    }
    let mut made = made.concat();
    if !style.ends {
        made.truncate(made.trim_end_matches(['\r', '\n']).len());
    }
    made
}

/// A text as YAML has it, in one of its ways.
fn of_yaml(text: &str, way: u8) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text);
    match way % 3 {
        0 if is_plain => text.to_owned(),
        1 => format!("'{}'", text.replace('\'', "''")),
        _ => quoted(text),
    }
}

/// The members of a server, each with its lines.
fn members_in_yaml(server: &Server, style: &Style, indent: &str) -> Vec<String> {
    let (newline, way) = (style.newline, server.shape);
    let remark = if style.has_comments { " # so, \"it\" isn't {" } else { "" };
    let unit = if style.indent.starts_with(' ') { style.indent } else { "  " };
    let mut made = Vec::new();
    match &server.way {
        Way::Command { program, arguments } => {
            made.push(format!("type: stdio{remark}"));
            made.push(format!("cmd: {}{remark}", of_yaml(program, way)));
            let items = arguments.as_deref().unwrap_or_default();
            let items: Vec<String> = items.iter().map(|it| of_yaml(it, way / 3)).collect();
            let dash = if way.is_multiple_of(2) { "- " } else { "  - " };
            made.push(if items.is_empty() || way > 127 {
                format!("args: [{}]{remark}", items.join(", "))
            } else {
                let item = |item: &String| format!("{newline}{indent}{dash}{item}{remark}");
                format!("args:{remark}{}", items.iter().map(item).collect::<String>())
            });
        }
        Way::Url { host, headers } => {
            made.push(format!("type: 'streamable_http'{remark}"));
            made.push(format!("uri: https://{host}/mcp{remark}"));
            let mut seen: Vec<&(String, String)> = Vec::new();
            for header in headers {
                if !seen.iter().any(|(known, _)| *known == header.0) {
                    seen.push(header);
                }
            }
            let pair =
                |(name, value): &&(String, String)| format!("{name}: {}", of_yaml(value, way));
            let pairs: Vec<String> = seen.iter().map(pair).collect();
            made.push(if pairs.is_empty() || way > 127 {
                format!("headers: {{{}}}{remark}", pairs.join(", "))
            } else {
                let item = |pair: &String| format!("{newline}{indent}{unit}{pair}{remark}");
                format!("headers:{remark}{}", pairs.iter().map(item).collect::<String>())
            });
        }
    }
    for (at, (key, value)) in server.others.iter().enumerate() {
        if !server.others[..at].iter().any(|(known, _)| known == key) {
            made.push(format!("{key}: {value}{remark}"));
        }
    }
    // The order is anybody's.
    let turn = usize::from(server.shape / 4) % made.len();
    made.rotate_left(turn);
    made
}

fn yaml(servers: &[Server], style: &Style) -> String {
    let Style { newline, .. } = style;
    let unit = if style.indent.starts_with(' ') { style.indent } else { "  " };
    let remark = if style.has_comments { " # so" } else { "" };
    let mark = if style.has_mark { "\u{feff}" } else { "" };
    let start = if style.has_trailing_commas { format!("---{newline}") } else { String::new() };
    let mut made = vec![format!("{mark}{start}GOOSE_MODE: auto{remark}{newline}")];
    if servers.is_empty() {
        made.push(format!("extensions: {{}}{remark}{newline}"));
    } else {
        made.push(format!("extensions:{remark}{newline}"));
    }
    for server in servers {
        let (name, inner) = (of_yaml(&server.name, server.shape), format!("{unit}{unit}"));
        if style.has_comments {
            made.push(format!("{unit}# of it{newline}{newline}"));
        }
        made.push(format!("{unit}{name}:{remark}{newline}"));
        for member in members_in_yaml(server, style, &inner) {
            made.push(format!("{inner}{member}{newline}"));
        }
    }
    if style.has_comments {
        made.push(format!("last: 1{newline}"));
    }
    let mut made = made.concat();
    if !style.ends {
        made.truncate(made.trim_end_matches(['\r', '\n']).len());
    }
    made
}

fn unique(mut servers: Vec<Server>) -> Vec<Server> {
    let mut seen = Vec::new();
    servers.retain(|server| {
        let is_new = !seen.contains(&server.name);
        seen.push(server.name.clone());
        is_new
    });
    servers
}

/// Makes sure that a file is read here as Goose reads it.
fn reads_the_same_as_goose(text: &str) -> Result<(), TestCaseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let theirs: serde_json::Value = serde_yaml::from_str(text).unwrap();
    let ours: serde_json::Value = serde_json::from_str(&json_of_yaml(text).unwrap()).unwrap();
    prop_assert_eq!(theirs, ours, "{}", text);
    Ok(())
}

/// Installs, checks, and restores.
fn there_and_back(client: &str, name: &str, text: &str, mode: Mode) -> Result<(), TestCaseError> {
    let machine = Machine::new();
    let path = machine.place(client, name, text.as_bytes());
    let request = Request { mode, ..machine.request() };
    let plans = install(&machine.environment(), &request).unwrap();
    // A gateway that is there already stays the only one.
    let is_gateway = plans[0].servers.iter().any(|it| it.fate == Fate::Forebay);
    prop_assert!(plans[0].refusal.is_none() || is_gateway, "{:?}", plans[0].refusal);
    let is_change = plans[0].is_change();
    let written = fs::read_to_string(&path).unwrap();
    if client == "goose" {
        reads_the_same_as_goose(&written)?;
    }
    // What others write at the end does not stand in the way.
    let (mark, remark) = if client == "cursor" { ("}", "\n//x\n}") } else { ("", "\n#x") };
    let other = |text: &str| {
        let at = text.rfind(mark).unwrap();
        [&text[..at], remark, &text[at + mark.len()..]].concat()
    };
    if is_change {
        fs::write(&path, other(&written)).unwrap();
        let told =
            crate::uninstall(&machine.home(), &[], crate::Missing::Keep, crate::Run::Dry).unwrap();
        prop_assert_eq!(only_outcome(&told), &Outcome::EntryByEntry);
        fs::write(&path, &written).unwrap();
    }
    let restored = machine.uninstall();
    prop_assert_eq!(fs::read_to_string(&path).unwrap(), text);
    if is_change {
        prop_assert_eq!(only_outcome(&restored), &Outcome::Original);
        fs::write(&path, text).unwrap();
        install(&machine.environment(), &request).unwrap();
        fs::write(&path, other(&written)).unwrap();
        machine.uninstall();
        prop_assert_eq!(fs::read_to_string(&path).unwrap(), other(text));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_comes_back(
        servers in prop::collection::vec(server(), 0..5),
        style in style(),
        gateway in any::<bool>(),
    ) {
        let mode = if gateway { Mode::Gateway } else { Mode::Wrap };
        there_and_back("cursor", "mcp.json", &json(&unique(servers), &style), mode)?;
    }

    #[test]
    fn any_toml_comes_back(
        servers in prop::collection::vec(server(), 0..5),
        style in style(),
        gateway in any::<bool>(),
    ) {
        let mode = if gateway { Mode::Gateway } else { Mode::Wrap };
        there_and_back("codex", "config.toml", &toml(&unique(servers), &style), mode)?;
    }

    #[test]
    fn any_yaml_comes_back(
        servers in prop::collection::vec(server(), 0..5),
        style in style(),
        gateway in any::<bool>(),
    ) {
        let mode = if gateway { Mode::Gateway } else { Mode::Wrap };
        there_and_back("goose", "config.yaml", &yaml(&unique(servers), &style), mode)?;
    }
}
