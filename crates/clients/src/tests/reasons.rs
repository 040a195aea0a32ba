//! Servers that Forebay could not stand in front of, or that may not work behind it.

use std::fs;

use super::Machine;
use crate::{Fate, Reason, Request, plan::plan};

/// What becomes of the only server in a client's file.
fn fate(client: &str, name: &str, text: &str) -> Fate {
    let machine = Machine::new();
    machine.place(client, name, text.as_bytes());
    let plans = plan(&machine.environment(), &machine.request()).unwrap();
    assert_eq!(plans[0].refusal, None, "{text}");
    plans[0].servers[0].fate.clone()
}

#[test]
fn a_header_that_lets_nobody_in_is_no_login() {
    let of_json = |header: &str| {
        let text = format!(
            r#"{{"mcpServers":{{"far":{{"url":"https://far.example/mcp","headers":{{{header}}}}}}}}}"#
        );
        fate("cursor", "mcp.json", &text)
    };
    let of_codex = |line: &str| {
        let text = format!("[mcp_servers.far]\nurl = \"https://far.example/mcp\"\n{line}\n");
        fate("codex", "config.toml", &text)
    };
    let perhaps = Fate::Left(Reason::PerhapsLogin("https://far.example/mcp".to_owned()));
    for header in [
        "",
        r#""X-MCP-Toolsets": "repos,secret_protection", "X-MCP-Readonly": "true""#,
        r#""Accept": "application/json", "User-Agent": "me""#,
        r#""X-Author": "me", "X-Monkey": "see""#,
    ] {
        assert_eq!(of_json(header), perhaps, "{header}");
    }
    for line in [
        r#"http_headers = { "X-MCP-Readonly" = "true" }"#,
        r#"env_http_headers = { "X-Team" = "TEAM" }"#,
    ] {
        assert_eq!(of_codex(line), perhaps, "{line}");
    }
    for header in [
        r#""X-MCP-Readonly": "true", "authorization": "Bearer ${input:pat}""#,
        r#""Cookie": "a=b""#,
        r#""Proxy-Authorization": "Basic YTpi""#,
        r#""X-API-Key": "k""#,
        r#""CONTEXT7_API_KEY": "k""#,
        r#""x-functions-key": "k""#,
        r#""X-Key": "${env:KEY}""#,
        r#""PRIVATE-TOKEN": "t""#,
    ] {
        assert_eq!(of_json(header), Fate::Wrap, "{header}");
    }
    for line in [
        r#"bearer_token_env_var = "T""#,
        r#"http_headers = { "X-Key" = "k" }"#,
        r#"env_http_headers = { "X-Api-Key" = "K" }"#,
    ] {
        assert_eq!(of_codex(line), Fate::Wrap, "{line}");
    }
}

#[test]
fn a_server_that_is_started_with_a_debugger_is_left_alone() {
    for (more, want) in [
        (r#""dev":{"watch":"src/**","debug":{"type":"node"}}"#, Fate::Left(Reason::Debugged)),
        (r#""dev":{"debug":{"type":"debugpy"}}"#, Fate::Left(Reason::Debugged)),
        (r#""dev":{"watch":"src/**"}"#, Fate::Wrap),
        (r#""dev":{"debug":null}"#, Fate::Wrap),
        (r#""dev":{"debug":false}"#, Fate::Wrap),
    ] {
        let text = format!(r#"{{"servers":{{"a":{{"command":"node","args":["a.js"],{more}}}}}}}"#);
        assert_eq!(fate("vscode", "mcp.json", &text), want, "{text}");
    }
}

#[test]
fn a_url_that_is_named_after_the_old_transport_is_left_where_the_type_may_mean_both() {
    let sse = || Fate::Left(Reason::Transport("sse".to_owned()));
    for (client, table, kind, path, want) in [
        ("vscode", "servers", "http", "sse", sse()),
        ("vscode", "servers", "http", "sse/?a=b", sse()),
        ("vscode", "servers", "http", "mcp", Fate::Wrap),
        ("cursor", "mcpServers", "http", "sse", Fate::Wrap),
        ("roo", "mcpServers", "streamable-http", "sse", Fate::Wrap),
        ("opencode", "mcp", "remote", "sse", sse()),
    ] {
        let text = format!(
            r#"{{"{table}":{{"near":{{"type":"{kind}","url":"http://localhost:1/{path}"}}}}}}"#
        );
        let name = if client == "opencode" { "opencode.json" } else { "mcp.json" };
        assert_eq!(fate(client, name, &text), want, "{client}: {text}");
    }
}

#[test]
fn what_goose_starts_by_npx_or_uvx_needs_to_be_named() {
    let text = "extensions:\n  a:\n    enabled: true\n    type: stdio\n    name: a\n    cmd: /usr/bin/npx\n    \
                args: [-y, a]\n";
    let looked_up = Fate::Left(Reason::LookedUp("/usr/bin/npx".to_owned()));
    assert_eq!(fate("goose", "config.yaml", text), looked_up);
    let machine = Machine::new();
    machine.place("goose", "config.yaml", text.as_bytes());
    let request = Request { servers: vec!["a".to_owned()], ..machine.request() };
    assert_eq!(plan(&machine.environment(), &request).unwrap()[0].servers[0].fate, Fate::Wrap);
}

#[test]
fn a_file_in_which_one_thing_stands_for_another_is_left_as_it_is() {
    let text = "extensions:\n  a: &a\n    enabled: true\n    type: stdio\n    name: a\n    cmd: a\n    args: []\n  \
                b: *a\n";
    let machine = Machine::new();
    let path = machine.place("goose", "config.yaml", text.as_bytes());
    let plans = machine.install();
    let why = plans[0].refusal.as_ref().unwrap();
    assert!(why.contains("line 8: it has an alias (`*`)"), "{why}");
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}
