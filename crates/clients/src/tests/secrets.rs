//! Keys in URLs and headers: on no command line, in no patch and in no advice.

use std::fs;

use super::Machine;
use crate::{Fate, Reason, Request, install, plan::plan, value::Value};

fn wrapped(machine: &Machine, client: &str, name: &str, text: &str) -> (String, Fate) {
    let path = machine.place(client, name, text.as_bytes());
    let request = Request { servers: vec!["far".to_owned()], ..machine.request() };
    let planned = plan(&machine.environment(), &request).unwrap();
    assert!(!planned[0].difference().contains("s3cret"), "{}", planned[0].difference());
    let plans = install(&machine.environment(), &request).unwrap();
    (fs::read_to_string(path).unwrap(), plans[0].servers[0].fate.clone())
}

#[test]
fn a_url_that_may_hold_a_key_is_on_no_command_line() {
    for url in [
        "https://far.example/mcp?key=s3cret",
        "https://me:s3cret@far.example/mcp",
        "https://far.example/${KEY}/mcp",
        "https://far.example/s/s3cretNWY4ZDk3YTct/mcp",
        "https://far.example/mcp",
        "http://localhost:1/s3cretNWY4ZDk3YTct",
        "https://localhost-tunnel.far.example/mcp",
    ] {
        let machine = Machine::new();
        let text = format!(
            r#"{{"mcpServers":{{"far":{{"url":"{url}","env":{{"FOREBAY_HEADER_A":"mine"}},"headers":{{"A":"x"}}}}}}}}"#
        );
        let (now, fate) = wrapped(&machine, "cursor", "mcp.json", &text);
        assert_eq!(fate, Fate::Wrap);
        let value = crate::json::read(&now).unwrap().value();
        let far = value.get("mcpServers").unwrap().get("far").unwrap();
        let words = far.get("args").unwrap().as_texts().unwrap();
        assert!(words.windows(2).any(|it| it == ["--url-env", "FOREBAY_URL"]), "{words:?}");
        let is_of_url = |word: &&str| word.contains("far.example") || word.contains("s3cret");
        assert!(!words.iter().any(is_of_url), "{words:?}");
        // A variable that is there keeps its name, and ours has another.
        assert!(words.contains(&"A=FOREBAY_HEADER_A_"), "{words:?}");
        let variables = far.get("env").unwrap();
        let text_of = |key: &str| variables.get(key).and_then(Value::as_text);
        assert_eq!(text_of("FOREBAY_URL"), Some(url));
        assert_eq!(
            (text_of("FOREBAY_HEADER_A"), text_of("FOREBAY_HEADER_A_")),
            (Some("mine"), Some("x"))
        );
        machine.uninstall();
        let path = machine.environment().home.join(".cursor/mcp.json");
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    let machine = Machine::new();
    let plain = r#"{"mcpServers":{"far":{"url":"http://localhost:1/mcp"}}}"#;
    let (now, _) = wrapped(&machine, "cursor", "mcp.json", plain);
    assert!(now.contains(r#""--url", "http://localhost:1/mcp""#), "{now}");
}

#[test]
fn advice_shows_no_key() {
    let machine = Machine::new();
    for (url, shown) in [
        ("https://me:s3cret@far.example/mcp?key=s3cret", "https://far.example/mcp"),
        ("https://far.example/s/s3cretNWY4ZDk3YTct/mcp", "https://far.example/s/***/mcp"),
        ("https://localhost@far.example/mcp", "https://far.example/mcp"),
    ] {
        let text = format!(r#"{{"mcpServers":{{"far":{{"url":"{url}"}}}}}}"#);
        machine.place("cursor", "mcp.json", text.as_bytes());
        let plans = plan(&machine.environment(), &machine.request()).unwrap();
        let Fate::Left(reason) = &plans[0].servers[0].fate else { panic!("{plans:?}") };
        assert_eq!(*reason, Reason::PerhapsLogin(shown.to_owned()));
    }
}

#[test]
fn logins_of_codex_are_left_alone() {
    for key in ["oauth_resource = \"https://far.example\"", "scopes = [\"read\"]"] {
        let machine = Machine::new();
        let text = format!(
            "[mcp_servers.far]\nurl = \"https://far.example/mcp\"\nbearer_token_env_var = \"T\"\n{key}\n"
        );
        let (now, fate) = wrapped(&machine, "codex", "config.toml", &text);
        assert!(
            matches!(&fate, Fate::Left(Reason::Login(login)) if key.starts_with(login.as_str())),
            "{fate:?}"
        );
        assert_eq!(now, text);
    }
}

#[test]
fn what_no_command_line_could_tell_is_left_alone() {
    for (entry, key) in [
        (r#"{"url":"https://far.example/mcp","headers":{"Schlüssel":"x"}}"#, "headers"),
        (r#"{"command":""}"#, "command"),
        (r#"{"url":""}"#, "url"),
    ] {
        let machine = Machine::new();
        let text = format!(r#"{{"mcpServers":{{"far":{entry}}}}}"#);
        let (_, fate) = wrapped(&machine, "cursor", "mcp.json", &text);
        assert_eq!(fate, Fate::Left(Reason::Written(key.to_owned())));
    }
}

#[test]
fn a_patch_shows_no_secret_of_arguments_neighbours_or_comments() {
    let machine = Machine::new();
    let text = r#"{
  "primaryApiKey": "s3cret-neighbour", "hasPassword": true,
  "mcpServers": {
    "token-server": {
      "command": "t", "args": ["--api-key", "s3cret-word", "--token=s3cret-joined", "--port", "80"]
    },
    // api_key: s3cret-comment
    "b": { "command": "b", "args": ["https://me:s3cret@b.example/x?key=s3cret"], "env": { "N": 7341 } }
  },
  "said": ["use sk-s3cret-0123456789abcdef"], "customApiKeyResponses": { "approved": ["s3cret-end"] }
}
"#;
    machine.place("cursor", "mcp.json", text.as_bytes());
    let patch = plan(&machine.environment(), &machine.request()).unwrap()[0].difference();
    assert!(!patch.contains("s3cret") && !patch.contains("7341"), "{patch}");
    for shown in [
        r#""primaryApiKey": "***""#,
        r#""hasPassword": true"#,
        "// api_key: ***",
        r#""token-server": {"#,
        r#""--", "t", "--api-key", "***", "--token=***", "--port", "80"]"#,
        r#""https://b.example/x?***"]"#,
        r#""approved": ["***"]"#,
    ] {
        assert!(patch.contains(shown), "{shown}: {patch}");
    }
}

#[test]
fn a_patch_shows_no_secret_before_or_behind_a_url() {
    for (line, shown) in [
        (
            "API_KEY=s3cretvalue npx mcp-remote https://host.example/MyLongProject-2024",
            "API_KEY=*** npx mcp-remote https://host.example/***",
        ),
        (
            "API_KEY=s3cretvalue npx mcp-remote https://host.example/mcp?key=s3cret",
            "API_KEY=*** npx mcp-remote https://host.example/mcp?***",
        ),
        (
            "npx mcp-remote https://host.example/MyLongProject-2024 --token s3cretvalue",
            "npx mcp-remote https://host.example/***",
        ),
    ] {
        let machine = Machine::new();
        let text = format!(r#"{{"mcpServers":{{"a":{{"command":"sh","args":["-c","{line}"]}}}}}}"#);
        machine.place("cursor", "mcp.json", text.as_bytes());
        let patch = plan(&machine.environment(), &machine.request()).unwrap()[0].difference();
        assert!(!patch.contains("s3cret"), "{patch}");
        assert!(patch.contains(&format!(r#""{shown}"]"#)), "{patch}");
    }
}

#[test]
fn a_patch_shows_in_which_variable_a_header_is() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"far":{"url":"https://far.example/mcp","headers":{"Authorization":"Bearer s3cret"}}}}"#;
    machine.place("cursor", "mcp.json", text.as_bytes());
    let patch = plan(&machine.environment(), &machine.request()).unwrap()[0].difference();
    assert!(!patch.contains("s3cret"), "{patch}");
    assert!(patch.contains(r#""Authorization=FOREBAY_HEADER_AUTHORIZATION""#), "{patch}");
}

#[test]
fn the_type_of_a_command_beside_a_url_is_told() {
    let machine = Machine::new();
    let text = r#"{"mcpServers":{"far":{"type":"stdio","url":"http://localhost:1/mcp"}}}"#;
    let (_, fate) = wrapped(&machine, "cursor", "mcp.json", text);
    assert_eq!(fate, Fate::Left(Reason::TypeOfCommand("stdio".to_owned())));
}

#[test]
fn what_forebay_could_not_start_with_is_left_alone() {
    let reads = |file: &str| {
        if file.contains("ftp:") || file.contains("two\\nlines") {
            Err("it cannot be this".to_owned())
        } else {
            Ok(())
        }
    };
    for (entry, is_left) in [
        (r#"{"url":"ftp://localhost/"}"#, true),
        (r#"{"url":"http://localhost/","headers":{"A":"two\nlines"}}"#, true),
        (r#"{"url":"http://localhost/","headers":{"A":"${two\nlines}"}}"#, false),
        (r#"{"url":"http://localhost/","cwd":"ftp:"}"#, false),
        (r#"{"command":"ftp:"}"#, false),
    ] {
        let machine = Machine::new();
        let text = format!(r#"{{"mcpServers":{{"far":{entry}}}}}"#);
        machine.place("cursor", "mcp.json", text.as_bytes());
        let request = Request { gateway_reads: reads, ..machine.request() };
        let plans = plan(&machine.environment(), &request).unwrap();
        let reason = Reason::NotStartable("it cannot be this".to_owned());
        let want = if is_left { Fate::Left(reason) } else { Fate::Wrap };
        assert_eq!(plans[0].servers[0].fate, want, "{entry}");
    }
}

#[test]
fn a_header_that_codex_would_leave_out_may_be_missing() {
    let machine = Machine::new();
    let text = "[mcp_servers.far]\nurl = \"http://localhost:1/mcp\"\nbearer_token_env_var = \"T\"\n\
                env_http_headers = { \"X-Key\" = \"KEY\" }\n";
    let (now, fate) = wrapped(&machine, "codex", "config.toml", text);
    assert_eq!(fate, Fate::Wrap);
    assert!(
        now.contains(r#""X-Key=KEY?""#) && now.contains(r#""Authorization=Bearer T""#),
        "{now}"
    );
    assert!(now.contains(r#"env_vars = ["KEY", "T"]"#), "{now}");
}

#[test]
fn a_patch_shows_no_secret_of_comments_behind_values() {
    for (client, name, text) in [
        (
            "cursor",
            "mcp.json",
            r##"{
  "mcpServers": {
    "a": {
      "command": "a", // OPENAI_API_KEY=s3cret-line
      "args": [
        "https://a.example/x#token", /* password: s3cret-block
        api_key: s3cret-second */ "# not a comment"
      ], // token: s3cret-list
    }
  }
}
"##,
        ),
        (
            "codex",
            "config.toml",
            "[mcp_servers.a] # token: s3cret-header\ncommand = 'a' # OPENAI_API_KEY=s3cret-line\n\
             args = [\n  \"# not a comment\", # password: s3cret-item\n]\n",
        ),
    ] {
        let machine = Machine::new();
        machine.place(client, name, text.as_bytes());
        let patch = plan(&machine.environment(), &machine.request()).unwrap()[0].difference();
        assert!(!patch.contains("s3cret"), "{patch}");
        for shown in ["OPENAI_API_KEY=***", "password: ***", "token: ***", "\"# not a comment\""] {
            assert!(patch.contains(shown), "{shown}: {patch}");
        }
    }
}
