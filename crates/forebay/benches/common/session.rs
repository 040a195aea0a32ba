//! A client's session with `forebay wrap`, and the processes behind it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_store::{Dataset, DatasetId, Durability, Store};
use forebay_testkit::programs;
use serde_json::{Value, json};

use crate::common::{PATIENCE, Server, processes};

/// A session whose upstream is the fixture.
pub(crate) struct Session {
    server: Server,
    home: PathBuf,
    calls: u64,
}

impl Session {
    pub(crate) fn start(home: &Path, variables: &[(&str, &str)]) -> Self {
        let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
        forebay.arg("wrap").arg("--").arg(programs::fixture_upstream());
        forebay.env("FOREBAY_HOME", home).envs(variables.iter().copied());
        let mut server = Server::start(&mut forebay);
        server.initialize();
        Self { server, home: home.to_owned(), calls: 0 }
    }

    /// Calls a tool; returns how long that took, and the first text of its reply.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> (Duration, String) {
        self.try_call(tool, arguments, PATIENCE).expect("an answer")
    }

    /// The same, where an answer may be an error or not come in time.
    pub(crate) fn try_call(
        &mut self,
        tool: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<(Duration, String), String> {
        self.calls += 1;
        let call = json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let call = call.to_string();
        let started = Instant::now();
        let answer = self.server.answer_within(call.as_bytes(), patience);
        let time = started.elapsed();
        let answer = answer.ok_or(format!("no answer in {} s", patience.as_secs()))?;
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if result["isError"] != true && result["content"].is_array() {
            return Ok((time, text));
        }
        Err(if text.is_empty() { answer.to_string() } else { text })
    }

    pub(crate) fn time(&mut self, tool: &str, arguments: &Value) -> Duration {
        self.call(tool, arguments).0
    }

    /// Has a result of so many records kept.
    pub(crate) fn keep_records(&mut self, count: u64) -> Dataset {
        self.keep("records", count)
    }

    /// Has a result of a tool kept, of so many records.
    pub(crate) fn keep(&mut self, tool: &str, count: u64) -> Dataset {
        let (_, summary) = self.call(tool, &json!({"count": count}));
        let start = summary.find("dataset_").expect("a handle");
        let id = summary.get(start..start + DatasetId::LENGTH).and_then(DatasetId::parse);
        let store = Store::open(&self.home, Durability::RightAfter).expect("a store");
        store.dataset(&id.expect("a name")).expect("a dataset")
    }

    pub(crate) fn process(&self) -> u32 {
        self.server.child.id()
    }

    /// The processes that it asks.
    pub(crate) fn workers(&self) -> Vec<u32> {
        let is_worker = |id: &u32| {
            fs::read_to_string(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.contains("query-worker"))
        };
        processes::started_by(self.process()).into_iter().filter(is_worker).collect()
    }
}

/// Waits until something is there; returns how long that took.
pub(crate) fn wait_for<T>(what: &str, find: impl Fn() -> Option<T>) -> (Duration, T) {
    let started = Instant::now();
    loop {
        if let Some(found) = find() {
            return (started.elapsed(), found);
        }
        assert!(started.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}
