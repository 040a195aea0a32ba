//! Eight real servers of npm and PyPI behind one entry, used by the official clients of three languages, in
//! both eras, on stdio and over HTTP: all see the same.

use std::{fs, path::Path, process::Command};

use forebay_testkit::{
    http::{Era, HttpPeer},
    real::{self, Node, Python},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::rust_client;
use crate::{forebay, without_settings};

/// The servers, in the order of the file, and what is asked of each: the tool, its arguments, and what the
/// text of the result has in it.
pub(super) struct Eight {
    home: TempDir,
    /// What the server `fetch` fetches.
    page: HttpPeer,
    node: &'static Node,
    python: &'static Python,
}

const NAMES: [&str; 8] =
    ["everything", "filesystem", "memory", "thinking", "git", "time", "sqlite", "fetch"];

impl Eight {
    /// Writes the servers to a file as clients have it.
    fn new(test: &str) -> Option<Self> {
        let (node, python) = (real::node(test)?, real::python(test)?);
        let sqlite = real::python_for_sqlite(test)?;
        let home = tempfile::tempdir().unwrap();
        let eight = Self { home, page: HttpPeer::fixture(), node, python };
        let folder = eight.home.path();
        fs::write(folder.join("notes.txt"), "tea at four").unwrap();
        let known = json!({
            "type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]
        });
        fs::write(folder.join("memory.jsonl"), format!("{known}\n")).unwrap();
        make_repository(&folder.join("repository"));
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let words = |mut words: Vec<String>, more: &[&str]| {
            words.extend(more.iter().map(|&word| word.to_owned()));
            json!({ "command": words[0], "args": words[1..] })
        };
        let mut memory = words(node.server("server-memory"), &[]);
        memory["env"] = json!({ "MEMORY_FILE_PATH": path("memory.jsonl") });
        let fetch = ["--allow-private-ips", "--ignore-robots-txt"];
        let mut fetch = words(python.module("mcp_server_fetch"), &fetch);
        fetch["env"] = json!({ "NO_PROXY": "127.0.0.1" });
        let database = ["--db-path", &path("data.db")];
        let servers = [
            words(node.everything(), &[]),
            words(node.server("server-filesystem"), &[&path("")]),
            memory,
            words(node.server("server-sequential-thinking"), &[]),
            words(python.module("mcp_server_git"), &["--repository", &path("repository")]),
            words(python.module("mcp_server_time"), &["--local-timezone", "UTC"]),
            words(sqlite.program("mcp-server-sqlite"), &database),
            fetch,
        ];
        // By hand, because the order in the file counts.
        let entries = NAMES.iter().zip(servers).map(|(name, server)| format!("{name:?}:{server}"));
        let entries: Vec<String> = entries.collect();
        fs::write(eight.file(), format!("{{\"mcpServers\":{{{}}}}}", entries.join(","))).unwrap();
        Some(eight)
    }

    fn file(&self) -> String {
        self.home.path().join("mcp.json").to_str().unwrap().to_owned()
    }

    /// `forebay gateway` or `forebay serve` in front of all.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = forebay(words);
        command.args(["--servers", &self.file()]).env("FOREBAY_HOME", self.home.path());
        command
    }

    /// What is asked of each server, and what the answer has in it.
    fn calls(&self) -> [(&'static str, Value, &'static str); 8] {
        let path = |name: &str| self.home.path().join(name);
        let page = format!("http://{}/stats", self.page.address());
        let thought = json!({
            "thought": "one is enough", "nextThoughtNeeded": false, "thoughtNumber": 1,
            "totalThoughts": 1
        });
        let time = json!({
            "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"
        });
        [
            ("everything__echo", json!({ "message": "through the gateway" }), "the gateway"),
            ("filesystem__read_text_file", json!({ "path": path("notes.txt") }), "tea at four"),
            ("memory__read_graph", json!({}), "likes tea"),
            ("thinking__sequentialthinking", thought, "\"thoughtNumber\": 1"),
            ("git__git_log", json!({ "repo_path": path("repository") }), "the first commit"),
            ("time__convert_time", time, "21:00"),
            ("sqlite__read_query", json!({ "query": "SELECT 6 * 7 AS answer" }), "42"),
            ("fetch__fetch", json!({ "url": page, "raw": true }), "\"sessions\":0"),
        ]
    }

    /// What the clients are to do; see `clients/ts_gateway.mjs`.
    fn plan(&self) -> Value {
        let calls: Vec<Value> =
            self.calls().iter().map(|(tool, given, _)| json!([tool, given])).collect();
        json!({
            "servers": NAMES,
            "calls": calls,
            "prompts": [["everything__args-prompt", { "city": "Zürich" }]],
            "resources": ["demo://resource/static/document/features.md", "memo://insights"],
        })
    }

    /// What a client reports of `target`: words of a command, or a URL.
    fn report(&self, client: Official, era: Era, target: &Target) -> Value {
        let script = match client {
            Official::TypeScript => self.node.script("clients/ts_gateway.mjs"),
            Official::Python => self.python.script("clients/py_gateway.py"),
            Official::Rust => return rust_client::report(era, target, self, &self.plan()),
        };
        let mut command = Command::new(&script[0]);
        let era = match era {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        command.args(&script[1..]).args(["--era", era, "--plan", &self.plan().to_string(), "--"]);
        match target {
            Target::Stdio => {
                command.args([env!("CARGO_BIN_EXE_forebay"), "gateway", "--servers", &self.file()])
            }
            Target::Url(url) => command.arg(url),
        };
        without_settings(&mut command).env("FOREBAY_HOME", self.home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Asserts that all these clients see all there is, and the same.
    fn is_seen_by(&self, clients: &[(Official, Era)], target: &Target) {
        let mut reports = clients.iter().map(|&(client, era)| {
            let mut report = self.report(client, era, target);
            self.has_all(&report, era);
            report["version"].take();
            // Servers that are shared count what all have asked.
            report["calls"].take();
            (client, report)
        });
        let (_, first) = reports.next().unwrap();
        for (client, report) in reports {
            assert_eq!(report, first, "{client:?} sees what the first client sees");
        }
    }

    /// Asserts that a report is what it should be.
    fn has_all(&self, report: &Value, era: Era) {
        let revision = match era {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        assert_eq!(report["version"], revision, "{report}");
        let tools: Vec<&str> = texts(&report["tools"]);
        let place =
            |tool: &str| NAMES.iter().position(|name| tool.starts_with(&format!("{name}__")));
        let added: Vec<&str> = tools.iter().copied().filter(|it| place(it).is_none()).collect();
        assert_eq!(added, ADDED);
        let places: Vec<usize> = tools.iter().copied().filter_map(place).collect();
        assert!(places.is_sorted(), "in the order of the file: {tools:?}");
        assert_eq!(places.iter().max(), Some(&7), "{tools:?}");
        for (at, (tool, _, expected)) in self.calls().iter().enumerate() {
            assert!(tools.contains(tool), "{tool} in {tools:?}");
            let text = report["calls"][at].as_str().unwrap();
            assert!(text.contains(expected), "{tool}: {text}");
        }
        for prompt in ["everything__args-prompt", "sqlite__mcp-demo", "fetch__fetch"] {
            assert!(texts(&report["prompts"]).contains(&prompt), "{report}");
        }
        assert!(report["gotPrompts"][0].as_str().unwrap().contains("Zürich"), "{report}");
        for uri in ["demo://resource/static/document/features.md", "memo://insights"] {
            assert!(texts(&report["resources"]).contains(&uri), "{report}");
        }
        assert!(report["readResources"][1].as_str().unwrap().contains("insights"), "{report}");
    }
}

/// The tools that Forebay adds where there are many servers.
const ADDED: [&str; 4] =
    ["analyze-with-duckdb", "list-saved-datasets", "read-saved-dataset", "list_servers"];

/// How a client reaches the servers.
pub(super) enum Target {
    Stdio,
    Url(String),
}

#[derive(Debug, Clone, Copy)]
enum Official {
    TypeScript,
    Python,
    Rust,
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

fn make_repository(folder: &Path) {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
        ]);
        command.args(words).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(command.output().unwrap().status.success(), "git {words:?}");
    };
    fs::create_dir(folder).unwrap();
    git(&["init"]);
    git(&["commit", "--allow-empty", "--message", "the first commit"]);
}

#[test]
fn stdio_to_eight() {
    let Some(eight) = Eight::new("stdio_to_eight") else { return };
    // Each has the servers for itself, so not all are tried in both eras.
    let clients = [
        (Official::TypeScript, Era::Legacy),
        (Official::Python, Era::Modern),
        (Official::Rust, Era::Legacy),
    ];
    eight.is_seen_by(&clients, &Target::Stdio);
}

#[test]
fn http_to_eight() {
    let Some(eight) = Eight::new("http_to_eight") else { return };
    let peer = HttpPeer::start(&mut eight.command(&["serve", "--listen", "127.0.0.1:0"]));
    // Those of the modern era share the servers.
    let clients = [
        (Official::TypeScript, Era::Modern),
        (Official::Python, Era::Modern),
        (Official::Rust, Era::Modern),
        (Official::Python, Era::Legacy),
    ];
    eight.is_seen_by(&clients, &Target::Url(peer.url()));
}
