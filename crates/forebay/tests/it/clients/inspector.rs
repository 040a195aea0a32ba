//! The MCP Inspector's command-line client, directly and through `forebay serve`.

use std::{collections::BTreeMap, process::Command, thread};

use forebay_testkit::{http::HttpPeer, real};
use serde_json::Value;

use crate::{serving_command, serving_url};

/// What the Inspector prints.
struct Printed {
    tools: BTreeMap<String, Value>,
    call: Value,
}

#[test]
fn inspector_cli_through_serve() {
    let test = "inspector_cli_through_serve";
    let (Some(node), Some(inspector)) = (real::node(test), real::inspector(test)) else { return };
    let inspector = &inspector.words();
    let (legacy, modern) = (node.everything(), node.script("servers/ts_modern.mjs"));
    thread::scope(|scope| {
        scope.spawn(|| {
            prints_the_same(inspector, "legacy", &legacy, &node.everything_over_http());
        });
        scope.spawn(|| prints_the_same(inspector, "modern", &modern, &real::over_http(&modern)));
    });
}

fn prints_the_same(inspector: &[String], era: &str, command: &[String], over_http: &HttpPeer) {
    let url = over_http.url();
    let at = |url: &str| printed(inspector, era, url);
    let (direct, by_url, by_command) = thread::scope(|scope| {
        let by_url = scope.spawn(|| at(&serving_url(&url, &[]).url()));
        let by_command = scope.spawn(|| at(&serving_command(command, &[]).url()));
        (at(&url), by_url.join().unwrap(), by_command.join().unwrap())
    });
    for through in [by_url, by_command] {
        let added = through.tools.keys().filter(|name| !direct.tools.contains_key(*name));
        let added: Vec<&String> = added.collect();
        assert_eq!(added, ["analyze-with-duckdb", "list-saved-datasets", "read-saved-dataset"]);
        for (name, mut definition) in direct.tools.clone() {
            // A result that is replaced would not fit it.
            definition.as_object_mut().unwrap().remove("outputSchema");
            assert_eq!(through.tools[&name], definition, "{era}");
        }
        assert_eq!(through.call, direct.call, "{era}");
    }
}

fn printed(inspector: &[String], era: &str, url: &str) -> Printed {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&inspector[0]);
        command.args(&inspector[1..]).args([url, "--transport", "http", "--protocol-era", era]);
        // Many start at once on a machine that is busy.
        command
            .args(["--format", "json", "--connect-timeout", "60000"])
            .args(arguments)
            .env("HOME", home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        printed["result"].clone()
    };
    let call = ["--method", "tools/call", "--tool-name", "echo", "--tool-arg"];
    let tools = run(&["--method", "tools/list"])["tools"].as_array().unwrap().clone();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    Printed {
        tools: tools.into_iter().map(|tool| (name(&tool), tool)).collect(),
        call: run(&[&call[..], &["message=héllo ✓ \"quoted\" 😀"]].concat()),
    }
}
