//! Real clients read what `forebay install` wrote: their own lists of servers, without a login. Three of them start
//! the servers to say so.

use std::{
    fs,
    process::Command,
    sync::{Mutex, PoisonError},
};

use forebay_testkit::real;
use serde_json::{Value, json};

use super::Home;

/// Clients are large programs, and start large programs, so one is asked at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How long a client waits for a server, by its own lights a few seconds or half a minute: on a busy machine that may
/// end before the server has started.
enum Patience {
    /// A variable says how long.
    InVariable(&'static str),
    /// Each entry of this table says how long.
    InEntries(&'static str),
    /// Nothing can be said, so it is asked again.
    Fixed,
}

/// In milliseconds. The clients' SDK gives up after this time whatever else is said.
const LONG: u64 = 60_000;

/// How often a client is asked whose patience is fixed.
const ATTEMPTS: usize = 10;

/// A client, where its servers are, and how it is asked for them.
struct Asked {
    package: &'static str,
    client: &'static str,
    file: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// What it says of a server that it has started, if it starts them, and how long it waits.
    connected: Option<(&'static str, Patience)>,
}

impl Asked {
    /// What the client says when it is asked with these words.
    fn says(&self, home: &Home, words: &[String], arguments: &[&str]) -> String {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(&words[0]);
        home.at_home(&mut command).args(&words[1..]).args(arguments).current_dir(home.path("."));
        if let Some((_, Patience::InVariable(name))) = self.connected {
            command.env(name, LONG.to_string());
        }
        let variables = self.variables.iter().copied();
        let output = command.envs(variables).env("TERM", "dumb").output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        // Where `CI` is set some clients write in colours.
        let said = without_colours(&String::from_utf8_lossy(&said));
        assert!(output.status.success(), "{}: {said}", self.client);
        said
    }

    /// Installs in front of `server`, asks the client, and takes it out again.
    fn reads_what_was_written(&self, test: &str, servers: &dyn Fn(&[String]) -> String) {
        let (Some(node), Some(clients)) = (real::node(test), real::clients(test)) else { return };
        let Some(words) = clients.words(test, self.package) else { return };
        let home = Home::new();
        home.write(self.file, &servers(&node.everything()));
        home.done(&["install", "--client", self.client, "--yes"]);
        let written = home.read(self.file);
        assert!(written.contains("\"wrap\"") && written.contains("\"gateway\""), "{written}");
        if let Some((_, Patience::InEntries(table))) = self.connected {
            home.write(self.file, &patient(&written, table));
        }
        let mut said = self.says(&home, &words, &["mcp", "list"]);
        assert!(lists(&said, "everything") && lists(&said, "forebay"), "{said}");
        if let Some((connected, patience)) = &self.connected {
            let attempts = match patience {
                Patience::InVariable(_) | Patience::InEntries(_) => 1,
                Patience::Fixed => ATTEMPTS,
            };
            for _again in 1..attempts {
                if said.matches(connected).count() < 2 {
                    said = self.says(&home, &words, &["mcp", "list"]);
                }
            }
            assert_eq!(said.matches(connected).count(), 2, "{said}");
        }
        // Some clients write their file while they look at it.
        home.done(&["uninstall", "--yes"]);
        let now = home.read(self.file);
        assert!(!now.contains("\"wrap\"") && !now.contains("gateway"), "{now}");
        let said = self.says(&home, &words, &["mcp", "list"]);
        assert!(lists(&said, "everything") && !lists(&said, "forebay"), "{said}");
    }
}

/// A file in which every server of a table is given time.
fn patient(file: &str, table: &str) -> String {
    let mut root: Value = serde_json::from_str(file).unwrap();
    for (_, entry) in root[table].as_object_mut().unwrap() {
        entry["timeout"] = LONG.into();
    }
    root.to_string()
}

fn without_colours(said: &str) -> String {
    let mut parts = said.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// True if a line begins with this server's name, behind whatever mark the client draws. Elsewhere on a line the word
/// may be part of a path.
fn lists(said: &str, server: &str) -> bool {
    let is_mark = |letter: char| !letter.is_alphanumeric();
    said.lines().any(|line| line.trim_start_matches(is_mark).split(is_mark).next() == Some(server))
}

fn usual(words: &[String]) -> String {
    let (program, arguments) = words.split_first().unwrap();
    json!({"mcpServers": {"everything": {"command": program, "args": arguments}}}).to_string()
}

#[test]
fn claude_code_reads_what_was_written() {
    let asked = Asked {
        package: "@anthropic-ai/claude-code",
        client: "claude-code",
        file: ".claude.json",
        variables: &[("DISABLE_AUTOUPDATER", "1")],
        connected: Some(("✔ Connected", Patience::InVariable("MCP_TIMEOUT"))),
    };
    asked.reads_what_was_written("claude_code_reads_what_was_written", &|words| {
        usual(words).replace("{\"args\"", "{\"type\":\"stdio\",\"args\"")
    });
}

#[test]
fn gemini_reads_what_was_written() {
    let asked = Asked {
        package: "@google/gemini-cli",
        client: "gemini",
        file: ".gemini/settings.json",
        variables: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        // Its list waits for five seconds, whatever an entry says.
        connected: Some((" - Connected", Patience::Fixed)),
    };
    asked.reads_what_was_written("gemini_reads_what_was_written", &usual);
}

#[test]
fn opencode_reads_what_was_written() {
    let asked = Asked {
        package: "opencode-linux-x64-baseline",
        client: "opencode",
        file: ".config/opencode/opencode.json",
        // It would install packages and fetch a list of models first.
        variables: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "true"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "true"),
            ("npm_config_offline", "true"),
        ],
        connected: Some(("connected", Patience::InEntries("mcp"))),
    };
    asked.reads_what_was_written("opencode_reads_what_was_written", &|words| {
        json!({"mcp": {"everything": {"type": "local", "command": words}}}).to_string()
    });
}

#[test]
fn copilot_reads_what_was_written() {
    let asked = Asked {
        package: "@github/copilot",
        client: "copilot",
        file: ".copilot/mcp-config.json",
        variables: &[],
        connected: None,
    };
    asked.reads_what_was_written("copilot_reads_what_was_written", &|words| {
        usual(words).replace("{\"args\"", "{\"type\":\"local\",\"tools\":[\"*\"],\"args\"")
    });
}

/// Codex refuses keys of a remote server on one that it starts, so it is asked about both.
#[test]
fn codex_reads_what_was_written() {
    let test = "codex_reads_what_was_written";
    let asked = Asked {
        package: "@openai/codex",
        client: "codex",
        file: ".codex/config.toml",
        variables: &[],
        connected: None,
    };
    asked.reads_what_was_written(test, &|words| {
        format!("[mcp_servers.everything]\ncommand = {:?}\nargs = {:?}\n", words[0], &words[1..])
    });

    let Some(words) = real::clients(test).and_then(|clients| clients.words(test, asked.package))
    else {
        return;
    };
    let home = Home::new();
    let original = "[mcp_servers.far]\nurl = \"https://far.example/mcp\"\nbearer_token_env_var = \"FAR\"\n\
                http_headers = { X-Team = \"blue\" }\ntool_timeout_sec = 7\n";
    home.write(asked.file, original);
    home.done(&["install", "--yes"]);
    let said = asked.says(&home, &words, &["mcp", "get", "far", "--json"]);
    let entry: Value =
        serde_json::from_str(&said[said.find('{').unwrap()..=said.rfind('}').unwrap()]).unwrap();
    let transport = &entry["transport"];
    assert_eq!(transport["type"], "stdio", "{said}");
    assert_eq!(transport["env_vars"], json!(["FAR"]), "{said}");
    assert_eq!(entry["tool_timeout_sec"], 7.0, "{said}");
    let arguments = transport["args"].as_array().unwrap();
    assert!(arguments.contains(&json!("Authorization=Bearer FAR")), "{said}");
    home.done(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(home.path(asked.file)).unwrap(), original);
}
