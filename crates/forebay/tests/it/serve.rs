//! `forebay serve`: who is let in, sessions and their processes, faults by name, and that nothing is
//! left behind.

mod fairness;
mod faults;
mod gate;
mod headers;
mod leaks;
mod polling;
mod sessions;

use std::process::Command;

use forebay_testkit::{http::HttpPeer, programs};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::forebay;

/// `forebay serve` and where it keeps things.
struct Served {
    peer: HttpPeer,
    home: TempDir,
}

/// In front of the fixture upstream as a child process.
fn in_front_of_a_command(flags: &[&str]) -> Served {
    serve(flags, |command| {
        command.arg("--").arg(programs::fixture_upstream());
    })
}

/// In front of a server elsewhere.
fn in_front_of(url: &str, flags: &[&str]) -> Served {
    serve(flags, |command| {
        command.args(["--url", url]);
    })
}

fn serve(flags: &[&str], target: impl FnOnce(&mut Command)) -> Served {
    let home = tempfile::tempdir().unwrap();
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--name", "fixture"]);
    command.env("FOREBAY_HOME", home.path()).args(flags);
    target(&mut command);
    Served { peer: HttpPeer::start(&mut command), home }
}

impl Served {
    /// Sends a request and gives its status and body.
    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, String) {
        let mut connection = self.peer.connect();
        connection.send(method, path, headers, body);
        let status = connection.head().status;
        (status, String::from_utf8(connection.body().unwrap()).unwrap())
    }

    fn health(&self) -> Value {
        let (status, body) = self.request("GET", "/healthz", &[], b"");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn sessions(&self) -> u64 {
        self.health()["sessions"].as_u64().unwrap()
    }

    /// The upstreams that it has started and that are there.
    fn children(&self) -> Vec<u32> {
        let id = self.peer.id();
        let listed = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let mut fields = stat.rsplit(')').next()?.split_whitespace();
            let (state, parent) = (fields.next()?, fields.next()?);
            // Workers for queries come and go by rules of their own.
            let is_upstream = stat.contains("(fixture-upstrea");
            (is_upstream && state != "Z" && parent == id.to_string()).then_some(pid)
        });
        listed.collect()
    }

    /// How many workers there are, for queries and for vectors.
    fn workers(&self) -> usize {
        let parent = format!("PPid:\t{}\n", self.peer.id());
        let is_worker = |process: &std::path::Path| {
            let read = |name: &str| std::fs::read_to_string(process.join(name)).unwrap_or_default();
            read("cmdline").contains("-worker") && read("status").contains(&parent)
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.filter(|process| is_worker(&process.path())).count()
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "token" } })
}

fn text_of(answer: &Value) -> &str {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}"))
}

fn error_of(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
