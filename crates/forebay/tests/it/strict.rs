//! Official clients that hold results against their tools' output schemas take replaced ones.
//!
//! A client calls every tool of an upstream before and after listing them: with the upstream itself,
//! and through Forebay with either setting of `output_schema`. The upstream's tool `broken` breaks
//! its own schema, which shows that the client does look.

use std::{process::Command, thread};

use forebay_testkit::real;
use serde_json::{Map, Value};

use crate::without_settings;

/// The tools of every upstream here.
const TOOLS: &str = "orders,catalogue,tree,listing,illustrated,few,broken";
/// Those whose structured content is an array.
const ARRAYS: &str = ",rows,few_rows";
/// The one that is answered as a task.
const JOB: &str = ",job";
/// Tools whose schema can be put inside another one, whoever wrote it.
const CAN_BE_WIDENED: [&str; 5] = ["orders", "catalogue", "illustrated", "few", "broken"];

struct Client {
    script: Vec<String>,
    era: &'static str,
}

struct Upstream {
    command: Vec<String>,
    tools: String,
}

/// Runs `client` with `upstream`, directly and through Forebay, and compares what came of each call.
fn takes_replaced_results(client: &Client, upstream: &Upstream) {
    // At once: clients also wait.
    let (direct, dropped, widened) = thread::scope(|scope| {
        let dropped = scope.spawn(|| client.report_through_forebay(upstream, "drop"));
        let widened = scope.spawn(|| client.report_through_forebay(upstream, "widen"));
        (client.report(upstream), dropped.join().unwrap(), widened.join().unwrap())
    });
    assert!(direct["listed"]["broken"]["error"].is_string(), "this client is strict");
    assert!(dropped["listed"]["broken"]["result"].is_object(), "there is nothing to break");
    assert!(
        widened["listed"]["broken"]["error"].is_string(),
        "a wider schema still says something"
    );
    assert!(dropped["schemas"].as_object().unwrap().values().all(Value::is_null));
    for tool in CAN_BE_WIDENED {
        assert!(widened["schemas"][tool].is_object(), "{tool}");
    }
    for through in [&dropped, &widened] {
        for tool in upstream.tools.split(',').filter(|tool| *tool != "broken") {
            for way in ["unlisted", "listed"] {
                let result = |report: &Value| {
                    let outcome = &report[way][tool];
                    let result = outcome["result"].as_object().cloned();
                    result.unwrap_or_else(|| panic!("{tool}, {way}: {outcome}"))
                };
                compare(tool, result(&direct), result(through));
            }
        }
    }
}

/// Checks that a small result is the same, and that of a large one only the data are replaced.
fn compare(tool: &str, mut original: Map<String, Value>, mut replaced: Map<String, Value>) {
    if tool.starts_with("few") {
        assert_eq!(original, replaced);
        return;
    }
    let structured = replaced.remove("structuredContent");
    let had_structured = original.remove("structuredContent").is_some();
    assert_eq!(structured.is_some(), had_structured, "{tool}");
    let mut blocks = replaced.remove("content").unwrap();
    let summary = blocks.as_array_mut().unwrap().remove(0);
    let text = summary["text"].as_str().unwrap();
    let link = blocks.as_array_mut().unwrap().remove(0);
    assert_eq!(link["type"], "resource_link", "{tool}");
    let name = link["name"].as_str().unwrap();
    assert!(text.contains(name) && link["size"].as_u64().unwrap() > 1_000, "{tool}: {link}");
    assert!(text.starts_with("Large response detected ("), "{tool}: {text}");
    if let Some(facts) = structured {
        let pointer = format!("saved as {}.", facts["dataset_id"].as_str().unwrap());
        assert!(text.contains(&pointer), "{tool}: {text}");
    }
    let mut originals = original.remove("content").unwrap();
    let is_small = |block: &Value| block["text"].as_str().is_none_or(|text| text.len() < 1_000);
    originals.as_array_mut().unwrap().retain(is_small);
    assert_eq!(blocks, originals, "{tool}: small blocks and images stay");
    assert_eq!(replaced, original, "{tool}: so does the rest");
}

impl Client {
    fn report(&self, upstream: &Upstream) -> Value {
        self.report_with(upstream, &mut Command::new(&self.script[0]), &[])
    }

    fn report_through_forebay(&self, upstream: &Upstream, output_schema: &str) -> Value {
        let mut command = Command::new(&self.script[0]);
        without_settings(&mut command).env("FOREBAY_OUTPUT_SCHEMA", output_schema);
        let forebay = [env!("CARGO_BIN_EXE_forebay"), "wrap", "--grace", "0.1", "--"];
        self.report_with(upstream, &mut command, &forebay)
    }

    fn report_with(&self, upstream: &Upstream, command: &mut Command, before: &[&str]) -> Value {
        command.args(&self.script[1..]).args([&upstream.tools, "--era", self.era, "--"]);
        // Python would leave what it compiles beside the scripts.
        command.args(before).args(&upstream.command).env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn typescript_sdk(node: &real::Node) -> Self {
        let script = [node.script("clients/ts_strict.mjs"), vec!["sdk".to_owned()]].concat();
        Self { script, era: "legacy" }
    }

    fn typescript(node: &real::Node, era: &'static str) -> Self {
        let script = [node.script("clients/ts_strict.mjs"), vec!["client".to_owned()]].concat();
        Self { script, era }
    }

    fn python(python: &real::Python, era: &'static str) -> Self {
        Self { script: python.script("clients/py_strict.py"), era }
    }
}

impl Upstream {
    fn typescript_sdk(node: &real::Node) -> Self {
        let command = [node.script("servers/ts_large.mjs"), vec!["sdk".to_owned()]].concat();
        Self { command, tools: TOOLS.to_owned() }
    }

    fn typescript(node: &real::Node) -> Self {
        let command = [node.script("servers/ts_large.mjs"), vec!["server".to_owned()]].concat();
        Self { command, tools: TOOLS.to_owned() + ARRAYS }
    }

    fn python(python: &real::Python) -> Self {
        Self { command: python.script("servers/py_large.py"), tools: TOOLS.to_owned() }
    }

    /// Has the client call a tool as a task too, if it can.
    fn with_task(self) -> Self {
        Self { tools: self.tools + JOB, ..self }
    }
}

#[test]
fn typescript_sdk() {
    let Some(node) = real::node("typescript_sdk") else { return };
    let upstream = Upstream::typescript_sdk(node).with_task();
    takes_replaced_results(&Client::typescript_sdk(node), &upstream);
}

#[test]
fn typescript_client_legacy() {
    let test = "typescript_client_legacy";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    takes_replaced_results(&Client::typescript(node, "legacy"), &Upstream::python(python));
}

#[test]
fn typescript_client_modern() {
    let Some(node) = real::node("typescript_client_modern") else { return };
    takes_replaced_results(&Client::typescript(node, "modern"), &Upstream::typescript(node));
}

#[test]
fn python_sdk_legacy() {
    let test = "python_sdk_legacy";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    takes_replaced_results(&Client::python(python, "legacy"), &Upstream::typescript_sdk(node));
}

#[test]
fn python_sdk_modern() {
    let test = "python_sdk_modern";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    takes_replaced_results(&Client::python(python, "modern"), &Upstream::typescript(node));
    let upstream = Upstream::python(python).with_task();
    takes_replaced_results(&Client::python(python, "modern"), &upstream);
}
