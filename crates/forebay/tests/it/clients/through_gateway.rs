//! Official clients through `forebay gateway` in front of one server: what they do with it is what they do
//! without Forebay. What there is, and what there is not, the gateway tells itself.

use std::{fs, thread};

use forebay_testkit::real;
use serde_json::{Value, json};

use super::{LEGACY, MODERN, report, without_our_resources, words};

/// What a gateway says in its own words.
const TOLD: [&str; 4] = ["server", "discover", "tools", "prompts"];

/// Runs `client` with `server`, and with a gateway that reaches the same server as `entry` says.
fn sees_the_same(client: &[String], server: &[String], entry: &Value, features: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let servers = json!({ "mcpServers": { "sole": entry } });
    fs::write(path("mcp.json"), servers.to_string()).unwrap();
    fs::write(path("forebay.toml"), "[gateway]\nprefix = \"where_needed\"\n").unwrap();
    let gateway = ["gateway", "--config", &path("forebay.toml"), "--servers", &path("mcp.json")];
    let gateway = [&[env!("CARGO_BIN_EXE_forebay")], &gateway[..]].concat();
    let gateway: Vec<String> = gateway.into_iter().map(str::to_owned).collect();
    let (through, direct) = thread::scope(|scope| {
        let direct = scope.spawn(|| report(client, server));
        (report(client, &gateway), direct.join().unwrap())
    });
    let through = without_our_resources(&through, &direct);
    for feature in features.iter().filter(|feature| !TOLD.contains(feature)) {
        assert!(!direct[feature].is_null(), "`{feature}` was exercised: {direct}");
        assert_eq!(through[feature], direct[feature], "`{feature}` differs through the gateway");
    }
}

#[test]
fn typescript_client_legacy_through_gateway() {
    let Some(node) = real::node("typescript_client_legacy_through_gateway") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "legacy");
    let server = node.everything();
    let entry = json!({ "command": server[0], "args": server[1..] });
    sees_the_same(&client, &server, &entry, &LEGACY);
}

#[test]
fn typescript_client_modern_through_gateway() {
    let Some(node) = real::node("typescript_client_modern_through_gateway") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "modern");
    let server = node.script("servers/ts_modern.mjs");
    // It is there already: one that is slow to start is taken for a legacy one.
    let remote = real::over_http(&server);
    sees_the_same(&client, &server, &json!({ "url": remote.url() }), &MODERN);
}

#[test]
fn python_sdk_modern_through_gateway() {
    let Some(python) = real::python("python_sdk_modern_through_gateway") else { return };
    let client = words(python.script("clients/py_client.py"), "modern");
    let features = [&MODERN[..], &["tasks"]].concat();
    let server = python.script("servers/py_server.py");
    let remote = real::over_http(&server);
    sees_the_same(&client, &server, &json!({ "url": remote.url() }), &features);
}
