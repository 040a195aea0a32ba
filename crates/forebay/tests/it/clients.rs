//! Official clients through Forebay: what they report must be what they report without it.
//!
//! The scripts are in `crates/testkit/peers`. Each exercises what its SDK offers, prints what it
//! saw as one line of JSON, and is run three times: with the server itself, and with Forebay in
//! between, once keeping nothing and once as it comes. Here Forebay is on stdio, in
//! `through_serve.rs` it serves HTTP.

mod inspector;
mod through_gateway;
mod through_serve;

use std::{process::Command, thread};

use forebay_testkit::{http::HttpPeer, real};
use serde_json::Value;

use crate::without_settings;

const LEGACY: [&str; 13] = [
    "server",
    "tools",
    "resources",
    "prompts",
    "completion",
    "progress",
    "cancellation",
    "sampling",
    "elicitation",
    "roots",
    "logging",
    "subscriptions",
    "ping",
];
const MODERN: [&str; 13] = [
    "server",
    "discover",
    "tools",
    "resources",
    "prompts",
    "completion",
    "progress",
    "cancellation",
    "sampling",
    "elicitation",
    "inputRequired",
    "subscriptions",
    "logging",
];

/// Runs `client` with `server`, directly and through Forebay, and compares the reports.
fn sees_the_same(client: &[String], server: &[String], features: &[&str]) {
    let through = |options: &[&str]| {
        let words = [&[env!("CARGO_BIN_EXE_forebay"), "wrap"], options, &["--"]].concat();
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        report(client, &[words, server.to_vec()].concat())
    };
    // At once: clients mostly wait.
    let (direct, untouched, wrapped) = thread::scope(|scope| {
        let untouched = scope.spawn(|| through(&["--no-capture"]));
        let wrapped = scope.spawn(|| through(&[]));
        (report(client, server), untouched.join().unwrap(), wrapped.join().unwrap())
    });
    all_the_same(&untouched, &direct, features);
    the_same_but_for_tools(&wrapped, &direct, features);
}

fn all_the_same(through: &Value, direct: &Value, features: &[&str]) {
    for feature in features {
        assert!(!direct[feature].is_null(), "`{feature}` was exercised: {direct}");
        assert_eq!(through[feature], direct[feature], "`{feature}` differs through Forebay");
    }
    assert_eq!(through, direct);
}

/// With large results kept, only what has to do with tools may differ, and that there are more resources.
fn the_same_but_for_tools(through: &Value, direct: &Value, features: &[&str]) {
    let through = without_our_resources(through, direct);
    for feature in features.iter().filter(|feature| **feature != "tools") {
        assert_eq!(through[feature], direct[feature], "`{feature}` differs when results are kept");
    }
}

/// What a client has seen without what was kept before.
pub(crate) fn without_our_resources(through: &Value, direct: &Value) -> Value {
    let mut through = through.clone();
    forget_ours(&mut through["resources"]);
    // Forebay tells of changes whether or not the server does.
    for feature in ["server", "discover"] {
        let place = format!("/{feature}/capabilities/resources/listChanged");
        if let Some(told) = through.pointer_mut(&place) {
            *told = direct.pointer(&place).cloned().unwrap_or_else(|| true.into());
        }
    }
    through
}

fn forget_ours(value: &mut Value) {
    let is_ours = |listed: &Value| {
        let uris = [listed.as_str(), listed["uri"].as_str(), listed["uriTemplate"].as_str()];
        uris.iter().flatten().any(|uri| uri.starts_with("forebay://dataset/"))
    };
    match value {
        Value::Array(all) => {
            all.retain(|listed| !is_ours(listed));
            all.iter_mut().for_each(forget_ours);
        }
        Value::Object(members) => {
            let is_ours =
                |cursor: &Value| cursor.as_str().is_some_and(|it| it.starts_with("forebay:"));
            members.retain(|key, value| key != "nextCursor" || !is_ours(value));
            members.values_mut().for_each(forget_ours);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Runs `client` with `server` directly, and with the same server over HTTP through
/// `forebay wrap --url`, and compares the reports.
fn sees_the_same_by_url(
    client: &[String],
    server: &[String],
    remote: &HttpPeer,
    features: &[&str],
) {
    let wrapped = ["wrap", "--no-capture", "--url", &remote.url()].map(str::to_owned);
    let wrapped = [&[env!("CARGO_BIN_EXE_forebay").to_owned()], &wrapped[..]].concat();
    let (wrapped, direct) = thread::scope(|scope| {
        let direct = scope.spawn(|| report(client, server));
        (report(client, &wrapped), direct.join().unwrap())
    });
    for feature in features {
        assert!(!direct[feature].is_null(), "`{feature}` was exercised: {direct}");
        assert_eq!(wrapped[feature], direct[feature], "`{feature}` differs by URL");
    }
}

fn report(client: &[String], server: &[String]) -> Value {
    let mut command = Command::new(&client[0]);
    command.args(&client[1..]).arg("--").args(server);
    // What other tests have kept is no concern of this one.
    let home = tempfile::tempdir().unwrap();
    let output = without_settings(&mut command).env("FOREBAY_HOME", home.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn words(script: Vec<String>, era: &str) -> Vec<String> {
    [script, vec!["--era".to_owned(), era.to_owned()]].concat()
}

#[test]
fn typescript_sdk_legacy() {
    let Some(node) = real::node("typescript_sdk_legacy") else { return };
    let features = [&LEGACY[..], &["tasks"]].concat();
    sees_the_same(&node.script("clients/ts_sdk.mjs"), &node.everything(), &features);
}

#[test]
fn typescript_client_legacy() {
    let Some(node) = real::node("typescript_client_legacy") else { return };
    let features = [&LEGACY[..], &["tasks"]].concat();
    let client = words(node.script("clients/ts_client.mjs"), "legacy");
    sees_the_same(&client, &node.everything(), &features);
}

#[test]
fn typescript_client_modern() {
    let Some(node) = real::node("typescript_client_modern") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "modern");
    sees_the_same(&client, &node.script("servers/ts_modern.mjs"), &MODERN);
}

#[test]
fn typescript_client_probes_and_falls_back() {
    let Some(node) = real::node("typescript_client_probes_and_falls_back") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "auto");
    sees_the_same(&client, &node.everything(), &LEGACY);
}

#[test]
fn python_sdk_legacy() {
    let test = "python_sdk_legacy";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_client.py"), "legacy");
    sees_the_same(&client, &node.everything(), &LEGACY);
}

#[test]
fn python_sdk_modern() {
    let Some(python) = real::python("python_sdk_modern") else { return };
    let client = words(python.script("clients/py_client.py"), "modern");
    let features = [&MODERN[..], &["tasks"]].concat();
    sees_the_same(&client, &python.script("servers/py_server.py"), &features);
}

#[test]
fn python_sdk_probes_and_falls_back() {
    let test = "python_sdk_probes_and_falls_back";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_client.py"), "auto");
    sees_the_same(&client, &node.everything(), &LEGACY);
}

#[test]
fn typescript_client_modern_by_url() {
    let test = "typescript_client_modern_by_url";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(node.script("clients/ts_client.mjs"), "modern");
    let server = python.script("servers/py_server.py");
    sees_the_same_by_url(&client, &server, &real::over_http(&server), &MODERN);
}

#[test]
fn python_sdk_probes_and_falls_back_by_url() {
    let test = "python_sdk_probes_and_falls_back_by_url";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_client.py"), "auto");
    let remote = node.everything_over_http();
    sees_the_same_by_url(&client, &node.everything(), &remote, &LEGACY);
}

#[test]
fn python_sdk_modern_by_url() {
    let Some(python) = real::python("python_sdk_modern_by_url") else { return };
    let client = words(python.script("clients/py_client.py"), "modern");
    let server = python.script("servers/py_server.py");
    let features = [&MODERN[..], &["tasks"]].concat();
    sees_the_same_by_url(&client, &server, &real::over_http(&server), &features);
}
