//! The files of clients, as each writes them.

use super::*;

/// The servers of a file with nothing wrong in it.
fn sound(text: &str) -> Vec<Server> {
    let (servers, problems) = of_client(text);
    assert_eq!(said(&problems), [""; 0], "{text}");
    servers
}

fn command(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Way {
    Way::Command {
        program: program.to_owned(),
        arguments: texts(arguments),
        environment: pairs(environment),
        directory: None,
    }
}

fn url(url: &str, headers: &[(&str, &str)]) -> Way {
    Way::Url { url: url.to_owned(), headers: pairs(headers), ca_file: None }
}

fn ways(text: &str) -> Vec<(String, Way)> {
    sound(text).into_iter().map(|server| (server.name, server.way)).collect()
}

fn named(name: &str, way: Way) -> (String, Way) {
    (name.to_owned(), way)
}

#[test]
fn claude_code() {
    let found = ways(
        r#"{
  "numStartups": 7,
  "projects": { "/work": { "mcpServers": { "hidden": { "command": "x" } } } },
  "mcpServers": {
    "zeta": { "type": "stdio", "command": "npx", "args": ["-y", "${TOKEN}"], "env": { "B": "${MODE:-fast}", "A": "" } },
    "alpha": { "type": "http", "url": "https://${HOST}/mcp", "headers": { "X-Key": "${TOKEN}" }, "oauth": { "clientId": "x" } }
  }
}"#,
    );
    let expected = [
        named("zeta", command("npx", &["-y", "secret-token"], &[("B", "fast"), ("A", "")])),
        named("alpha", url("https://secret.example/mcp", &[("X-Key", "secret-token")])),
    ];
    assert_eq!(found, expected, "in the order of the file");
}

#[test]
fn cursor_writes_variables_of_the_environment_with_their_kind() {
    let found = ways(
        r#"{ "mcpServers": {
  "a": { "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}" } },
  "b": { "command": "x", "envFile": ".env", "cwd": "${env:DIR}" }
} }"#,
    );
    let bearer = url("https://h/mcp", &[("Authorization", "Bearer secret-token")]);
    let b = Way::Command {
        program: "x".to_owned(),
        arguments: vec![],
        environment: vec![],
        directory: Some("/secret/place".into()),
    };
    assert_eq!(found, [named("a", bearer), named("b", b)]);
}

#[test]
fn vs_code_has_comments_and_a_key_of_its_own() {
    let found = ways(
        "\u{feff}{\r\n  // who is asked\r\n  \"inputs\": [],\r\n  \"servers\": {\r\n    /* one */ \"a\": \
         { \"type\": \"http\", \"url\": \"https://h/mcp\", },\r\n    \"b\": { \"type\": \"stdio\", \
         \"command\": \"x\", \"args\": [\"//no comment\",], \"dev\": {} },\r\n  },\r\n}\r\n",
    );
    let expected =
        [named("a", url("https://h/mcp", &[])), named("b", command("x", &["//no comment"], &[]))];
    assert_eq!(found, expected);
}

#[test]
fn windsurf_gemini_and_zed_have_names_of_their_own() {
    let windsurf = r#"{"mcpServers": {"a": {"serverUrl": "https://h/mcp", "env": {}}}}"#;
    assert_eq!(ways(windsurf), [named("a", url("https://h/mcp", &[]))]);
    let gemini = r#"{"mcpServers": {"a": {"httpUrl": "https://h/new", "url": "https://h/old", "trust": true}}}"#;
    assert_eq!(ways(gemini), [named("a", url("https://h/new", &[]))]);
    let zed = r#"{"theme": "x", "context_servers": {"a": {"source": "custom", "command": "x", "args": [], "env": null}}}"#;
    assert_eq!(ways(zed), [named("a", command("x", &[], &[]))]);
}

#[test]
fn cline_says_which_are_off_and_how_to_reach_them_within() {
    let servers = sound(
        r#"{ "mcpServers": {
  "a": { "command": "x", "disabled": true, "autoApprove": ["y"], "timeout": 60 },
  "b": { "transport": { "type": "streamableHttp", "url": "https://h/mcp" }, "disabled": false },
  "c": { "type": "streamable-http", "url": "https://h/mcp", "enabled": false, "timeout": 30000 },
  "d": { "command": "x", "tools": ["*"], "threshold": 1, "timeout": 900000000000 }
} }"#,
    );
    let told: Vec<_> = servers
        .iter()
        .map(|server| {
            let seconds = server.call_timeout.map(|time| time.as_secs());
            (server.name.as_str(), server.is_enabled, seconds)
        })
        .collect();
    let expected = [
        ("a", false, Some(60)),
        ("b", true, None),
        ("c", false, Some(30)),
        ("d", true, Some(86_400)),
    ];
    assert_eq!(told, expected);
    assert_eq!(servers[1].way, url("https://h/mcp", &[]));
    assert_eq!(servers[3].keeping, Keeping::default(), "what is the client's own");
}

#[test]
fn a_server_that_is_wrapped_already_stays_so() {
    let text = r#"{"mcpServers": {"a": {"command": "forebay", "args": ["wrap", "--", "x"]}}}"#;
    assert_eq!(ways(text), [named("a", command("forebay", &["wrap", "--", "x"], &[]))]);
}

#[test]
fn what_goes_with_the_other_way_is_the_clients_own() {
    let text = r#"{"mcpServers": {
  "a": {"command": "x", "headers": {"A": "${NOT_SET}"}},
  "b": {"url": "http://h/", "args": [1], "env": {"A": "${NOT_SET}"}, "cwd": "relative"}
}}"#;
    assert_eq!(ways(text), [named("a", command("x", &[], &[])), named("b", url("http://h/", &[]))]);
}

#[test]
fn names_are_made_to_fit() {
    let entry = r#"{"command": "x"}"#;
    let names = ["a b", "a.b", "a__b", "forebay", "a-b-2"];
    let entries = names.map(|name| format!("\"{name}\": {entry}")).join(",");
    let found = sound(&format!("{{\"mcpServers\": {{{entries}}}}}"));
    let found: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(found, ["a-b", "a-b-2", "a_b", "forebay-2", "a-b-2-2"]);
}

#[test]
fn of_two_entries_with_one_name_the_last_counts() {
    let text = r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#;
    assert_eq!(ways(text), [named("a", command("y", &[], &[]))]);
}

#[test]
fn a_mistake_in_one_entry_does_not_hide_the_others() {
    let (servers, problems) = of_client(
        r#"{ "mcpServers": {
  "a b": 1,
  "sse": { "type": "sse", "url": "https://h/sse" },
  "ws": { "type": "ws", "url": "https://h/ws" },
  "odd": { "type": "local", "command": "x", "disabled": "no" },
  "first": { "command": "x" },
  "asks": { "command": "x", "env": {
    "KEY": "${input:api-key}",
    "OTHER": "${NOT_SET}" } },
  "extension": { "settings": {} },
  "both": { "command": "x", "url": "https://h/" },
  "values": { "command": ["x"], "args": "secret", "env": { "A": 1 }, "timeout": -1, "enabled": 2 },
  "a.b": { "command": "y" }
} }"#,
    );
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["first", "a-b-2"], "one that is mended renames no other");
    assert!(!problems.iter().any(Problem::is_grave), "{problems:?}");
    let said = said(&problems);
    assert!(!said.iter().any(|said| said.contains("secret")), "{said:?}");
    insta::assert_snapshot!("mistakes_of_a_client", said.join("\n"));
}

#[test]
fn a_file_that_is_no_json_or_names_no_servers_is_grave() {
    let cases = [
        ("{\n  \"mcpServers\": {]\n}", ":2: this is no JSON: Unexpected token in object"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"secret}}}",
            ":1: this is no JSON: Unterminated string literal",
        ),
        ("{'mcpServers': {}}", ":1: this is no JSON: Single-quoted strings are not allowed"),
        ("", ":1: this is no JSON object; write `{ \"mcpServers\": { … } }`"),
        ("[]", ":1: this is no JSON object; write `{ \"mcpServers\": { … } }`"),
        ("{\"mcp\": {}}", ":1: no servers are named here; write them under `mcpServers`"),
        ("{\n\"servers\": []}", ":2: `servers` is no object; write each server's name in it"),
    ];
    for (text, expected) in cases {
        let (servers, problems) = of_client(text);
        assert!(servers.is_empty() && problems.iter().all(Problem::is_grave), "{text}");
        assert_eq!(said(&problems), [expected], "{text}");
    }
    assert_eq!(sound("{\"mcpServers\": {}}"), []);
}

#[test]
fn a_file_may_hold_much_else() {
    let history = "x".repeat(3 << 20);
    let text = format!(
        "{{\"history\": \"{history}\", \"mcpServers\": {{\"a\": {{\"command\": \"x\"}}}}}}"
    );
    assert_eq!(ways(&text), [named("a", command("x", &[], &[]))]);
}
