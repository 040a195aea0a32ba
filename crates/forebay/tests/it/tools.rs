//! The injected tools, through the program as a whole: what a client sees of them, and of what was
//! kept.

mod analyzing;
mod arguments;
mod exporting;
mod history;
mod listing;
mod nested;
mod offering;
mod reading;
mod scope;
mod shapes;
mod times;
mod workers;

use std::{
    fs,
    path::{Path, PathBuf},
};

use forebay_testkit::{peer::Peer, programs};
use serde_json::{Value, json};

use crate::{forebay, home};

/// A client in front of a wrapped fixture upstream.
pub(crate) struct Client {
    pub(crate) peer: Peer,
    pub(crate) home: PathBuf,
    asked: u32,
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Reply {
    result: Value,
}

impl Client {
    /// With a store of its own, that was empty.
    pub(crate) fn new(test: &str) -> Self {
        Self::with(test, &[], &[])
    }

    pub(crate) fn with(test: &str, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = home().join("tools").join(test);
        let _ = fs::remove_dir_all(&home);
        Self::at(home, options, variables)
    }

    /// With the store of another.
    pub(crate) fn at(home: PathBuf, options: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::started_in(Path::new("."), home, options, variables)
    }

    /// The same, in another working directory.
    pub(crate) fn started_in(
        directory: &Path,
        home: PathBuf,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = forebay(["wrap", "--grace", "0.1"]);
        for default in [["--tools", "full"], ["--name", "fixture"]] {
            if !options.contains(&default[0]) {
                command.args(default);
            }
        }
        command.args(options).arg("--").arg(programs::fixture_upstream());
        command.env("FOREBAY_HOME", &home).envs(variables.iter().copied());
        command.current_dir(directory);
        let mut client = Self { peer: Peer::start(&mut command), home, asked: 0 };
        client.introduce("tests");
        client
    }

    pub(crate) fn introduce(&mut self, name: &str) {
        let who = json!({"name": name, "version": "0"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
        self.ask("initialize", &params);
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u32 {
        self.asked += 1;
        let id = self.asked;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.peer.send(&request.to_string());
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut message: Value = serde_json::from_str(&self.peer.next_line()).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message["result"].take();
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Reply {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        Reply { result }
    }

    pub(crate) fn analyze(&mut self, query: &str) -> Reply {
        self.call("analyze-with-duckdb", &json!({"query": query}))
    }

    pub(crate) fn read(&mut self, arguments: &Value) -> Reply {
        self.call("read-saved-dataset", arguments)
    }

    /// Has JSON kept, and gives the name of its dataset.
    pub(crate) fn keep(&mut self, what: &Value) -> String {
        self.keep_text(&what.to_string())
    }

    /// Has a text kept, and gives the name of its dataset.
    pub(crate) fn keep_text(&mut self, text: &str) -> String {
        self.file(text).dataset()
    }

    /// Has a text kept, and gives its summary.
    fn summary_of(&mut self, text: &str) -> String {
        self.file(text).text(0).to_owned()
    }

    /// The reply to a call that returns a text.
    fn file(&mut self, text: &str) -> Reply {
        fs::create_dir_all(&self.home).unwrap();
        let path = self.home.join(format!("payload-{}", std::process::id()));
        fs::write(&path, text).unwrap();
        self.call("file", &json!({"path": path}))
    }

    /// Orders that differ, with times, gaps and nested values.
    pub(crate) fn keep_orders(&mut self, count: u64) -> String {
        self.keep(&orders(count))
    }
}

#[expect(clippy::cast_precision_loss, reason = "they are small")]
fn orders(count: u64) -> Value {
    let order = |n: u64| {
        json!({
            "id": n,
            "customer": format!("customer {}", n % 7),
            "status": (["open", "paid", "sent"][usize::try_from(n % 3).unwrap()]),
            "total": (n as f64) * 1.5,
            "ordered_at": format!("2026-01-{:02}T10:00:00+02:00", n % 28 + 1),
            "coupon": (if n.is_multiple_of(10) { json!("SPRING") } else { Value::Null }),
            "items": [{"sku": format!("sku-{n}"), "count": n % 5}],
        })
    };
    (0..count).map(order).collect()
}

impl Reply {
    pub(crate) fn text(&self, block: usize) -> &str {
        self.result["content"][block]["text"].as_str().unwrap_or_else(|| panic!("{}", self.result))
    }

    /// The first block, which must be JSON and no error.
    fn json(&self) -> Value {
        assert!(!self.is_error(), "{}", self.result);
        serde_json::from_str(self.text(0)).unwrap_or_else(|_| panic!("{}", self.text(0)))
    }

    /// The first block of an answer that is no error.
    pub(crate) fn rows(&self) -> &str {
        assert!(!self.is_error(), "{}", self.result);
        self.text(0)
    }

    pub(crate) fn is_error(&self) -> bool {
        self.result["isError"] == true
    }

    pub(crate) fn error(&self) -> &str {
        assert!(self.is_error(), "{}", self.result);
        self.text(0)
    }

    /// The dataset that it names.
    pub(crate) fn dataset(&self) -> String {
        let text = self.all_text();
        let start = text.find("dataset_").unwrap_or_else(|| panic!("it was not kept: {text}"));
        text[start..start + "dataset_k3v9x2ma".len()].to_owned()
    }

    /// What a model would read of it.
    pub(crate) fn all_text(&self) -> String {
        let blocks = self.result["content"].as_array().unwrap();
        blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
    }
}
