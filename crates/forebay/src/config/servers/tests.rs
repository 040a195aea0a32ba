//! Files in; servers, or what is wrong with them, out.

use std::{ffi::OsString, path::Path};

use forebay_intercept::{ToolRule, When};

use super::*;
use crate::config::{Config, Problem, Sources};

mod clients;

/// What the files of these tests may name.
fn variables() -> Vec<(OsString, OsString)> {
    let pairs = [
        ("TOKEN", "secret-token"),
        ("HOST", "secret.example"),
        ("DIR", "/secret/place"),
        ("BREAK", "secret\nbreak"),
        ("RELATIVE", "secret/place"),
    ];
    pairs.map(|(name, value)| (name.into(), value.into())).to_vec()
}

/// What `forebay.toml` makes of `text`.
fn load(text: &str) -> Result<Vec<Server>, String> {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("forebay.toml"), text).unwrap();
    let mut variables = variables();
    variables.push(("FOREBAY_HOME".into(), home.path().into()));
    let place = format!("{}/", home.path().display());
    match Config::load(&Sources { variables, ..Sources::default() }) {
        Ok((config, warnings)) => {
            assert_eq!(warnings, [], "{text}");
            Ok(config.servers)
        }
        Err(problems) => Err(problems.to_string().replace(&place, "")),
    }
}

fn only(text: &str) -> Server {
    let [server] = load(text).unwrap().try_into().unwrap();
    server
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::new(*pattern)).collect()
}

#[test]
fn a_server_needs_no_more_than_a_command_or_a_url() {
    let command = only("[servers.a]\ncommand = \"x\"");
    let expected = Server {
        name: "a".to_owned(),
        way: Way::Command {
            program: "x".to_owned(),
            arguments: vec![],
            environment: vec![],
            directory: None,
        },
        shown_arguments: vec![],
        is_enabled: true,
        start: Start::Eager,
        sharing: Sharing::Auto,
        call_timeout: None,
        start_timeout: None,
        allow: vec![],
        deny: vec![],
        keeping: Keeping::default(),
        paging: Vec::new(),
        watch: vec![],
        lacks: vec![],
    };
    assert_eq!(command, expected);
    let url = only("[servers.a]\nurl = \"http://localhost:1/mcp\"");
    let way = Way::Url { url: "http://localhost:1/mcp".to_owned(), headers: vec![], ca_file: None };
    assert_eq!(url, Server { way, ..expected });
}

#[test]
fn all_that_is_written_of_a_server_is_read() {
    let server = only(
        r#"[servers.all]
command = "npx"
args = ["-y", "server"]
env = { B = "2", A = "1" }
cwd = "/work"
enabled = false
start = "lazy"
sharing = "apart"
timeout = 86_400
start_timeout = 1
allow_tools = ["get_*", "a"]
deny_tools = ["*_all"]
threshold = 500
excluded_tools = ["ping"]
shares_disk = true
[servers.all.tools."z*"]
never = true
[servers.all.tools.a]
threshold = 7
"#,
    );
    let rule = |pattern, when| ToolRule { when: Some(when), ..ToolRule::of(pattern) };
    let expected = Server {
        name: "all".to_owned(),
        way: Way::Command {
            program: "npx".to_owned(),
            arguments: texts(&["-y", "server"]),
            environment: pairs(&[("B", "2"), ("A", "1")]),
            directory: Some("/work".into()),
        },
        shown_arguments: texts(&["-y", "server"]),
        is_enabled: false,
        start: Start::Lazy,
        sharing: Sharing::Apart,
        call_timeout: Some(Duration::from_secs(86_400)),
        start_timeout: Some(Duration::from_secs(1)),
        allow: globs(&["get_*", "a"]),
        deny: globs(&["*_all"]),
        paging: Vec::new(),
        keeping: Keeping {
            threshold: Some(500),
            excluded_tools: globs(&["ping"]),
            tools: vec![rule("z*", When::Never), rule("a", When::Over(7))],
            shares_disk: true,
        },
        watch: vec![],
        lacks: vec![],
    };
    assert_eq!(server, expected, "rules in the order of the file");
    let elsewhere = only(
        "[servers.b]\nurl = \"https://h/mcp\"\nca_file = \"/ca.pem\"\nsharing = \"shared\"\n\
         [servers.b.headers]\nX-Key = \"k\"\nAccept-Language = \"de\"\n",
    );
    let way = Way::Url {
        url: "https://h/mcp".to_owned(),
        headers: pairs(&[("X-Key", "k"), ("Accept-Language", "de")]),
        ca_file: Some("/ca.pem".into()),
    };
    assert_eq!((elsewhere.way, elsewhere.sharing), (way, Sharing::Shared));
}

#[test]
fn servers_are_in_the_order_of_the_file() {
    let text = "[servers.z]\ncommand = \"x\"\n[servers.a]\ncommand = \"x\"\n\
                [servers]\nm.url = \"http://h\"\n[servers.b]\ncommand = \"x\"\n";
    let names: Vec<String> = load(text).unwrap().into_iter().map(|server| server.name).collect();
    assert_eq!(names, ["z", "a", "m", "b"]);
}

#[test]
fn variables_and_the_home_are_put_in_where_they_are_named() {
    let server = only(
        "[servers.a]\ncommand = \"~/bin/${NAME:-x}\"\nargs = [\"--key=${TOKEN}\", \"~/kept\", \
         \"$TOKEN\"]\nenv = { KEY = \"${env:TOKEN}\" }\ncwd = \"${DIR}/in\"\n",
    );
    let home = std::env::home_dir().unwrap();
    let expected = Way::Command {
        program: home.join("bin/x").to_str().unwrap().to_owned(),
        arguments: texts(&["--key=secret-token", "~/kept", "$TOKEN"]),
        environment: pairs(&[("KEY", "secret-token")]),
        directory: Some("/secret/place/in".into()),
    };
    assert_eq!(server.way, expected);
    let server = only(
        "[servers.a]\nurl = \"https://${HOST}/mcp?key=${TOKEN}\"\nca_file = \"~/ca.pem\"\n\
         headers = { Authorization = \"Bearer ${TOKEN}\" }\nallow_tools = [\"${TOKEN}\"]\n",
    );
    let expected = Way::Url {
        url: "https://secret.example/mcp?key=secret-token".to_owned(),
        headers: pairs(&[("Authorization", "Bearer secret-token")]),
        ca_file: Some(home.join("ca.pem")),
    };
    assert_eq!(server.way, expected);
    assert_eq!(server.allow, globs(&["${TOKEN}"]), "a pattern names no variable");
    let at_home = only("[servers.a]\ncommand = \"x\"\ncwd = \"~/work\"");
    let Way::Command { directory, .. } = at_home.way else { panic!("{at_home:?}") };
    assert_eq!(directory, Some(home.join("work")));
}

#[test]
fn all_mistakes_are_told_together_with_their_lines() {
    let said = load(MISTAKES).unwrap_err();
    assert!(!said.contains("secret"), "{said}");
    insta::assert_snapshot!("mistakes", said);
}

const MISTAKES: &str = r#"[servers."my server"]
command = "x"
[servers.a__b]
command = "x"
[servers.forebay]
command = "x"
[servers]
flat = "npx"

[servers.both]
command = "x"
args = ["x"]
url = "http://h"

[servers.neither]
args = ["x"]

[servers.strays]
url = "http://h"
args = ["x"]
env = { A = "1" }
cwd = "/x"

[servers.others]
command = "x"
headers = { A = "1" }
ca_file = "/x"

[servers.keys]
comand = "x"
environment = { A = "1" }
disabled = true
colour = "blue"
Start-Timeout = 3
command = "x"

[servers.values]
command = ""
args = "--key secret"
env = ["KEY=secret"]
cwd = "relative"
enabled = "yes"
start = "early"
sharing = "some"
timeout = 0
start_timeout = 86_401
allow_tools = "a"
deny_tools = [1]
threshold = 0
excluded_tools = "b"
tools = "c"

[servers.words]
command = 1
args = ["a", 2]
timeout = 1.5
[servers.words.env]
PORT = 8080
"A=B" = "secret"
[servers.words.tools.a]
nevr = true
[servers.words.tools.b]
[servers.words.tools]
c = 1

[servers.url]
url = "ftp://secret@h/"
headers = { "a b" = "secret", X = 1, Y = "${BREAK}" }
ca_file = "relative.pem"

[servers.variables]
command = "${NO_PROGRAM}"
args = ["${TOKEN}", "${NO_ARGUMENT} ${NO_OTHER}",
  "${TOKEN"]
cwd = "${RELATIVE}"
[servers.variables.env]
A = "${NO_A}"
B = "${input:my-key}"

[servers.elsewhere]
url = "${NO_URL}/mcp"
headers = { X = "${no name}" }

[servers.at]
url = "${RELATIVE}"
"#;

#[test]
fn a_table_of_servers_is_one() {
    let said = |text: &str| load(text).unwrap_err();
    let told = |what: &str| format!("the settings cannot be used:\n  forebay.toml:1: {what}");
    assert_eq!(said("servers = 1"), told("`servers` is a table; write `[servers.NAME]`"));
    let near = "there is no setting `server`; write `servers`";
    assert_eq!(said("[server.a]\ncommand = \"x\""), told(near));
}

/// The servers of a client's file, and what is said of it.
fn of_client(text: &str) -> (Vec<Server>, Vec<Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, text).unwrap();
    read_clients_file(&file, &variables())
}

/// What is said, without the folder.
fn said(problems: &[Problem]) -> Vec<String> {
    let file = |said: String| said.split_once("/mcp.json").map(|(_, rest)| rest.to_owned());
    problems.iter().map(|problem| file(problem.to_string()).unwrap()).collect()
}

#[test]
fn a_clients_file_that_is_not_there_is_grave() {
    let (servers, problems) = read_clients_file(Path::new("/nowhere/mcp.json"), &[]);
    assert!(servers.is_empty() && problems.iter().all(Problem::is_grave));
    let said = said(&problems);
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with(": cannot be read: No such file"), "{said:?}");
}
