//! The client's own model, asked through the official TypeScript client.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use forebay_testkit::{http::HttpPeer, peer::Peer, programs, real};
use serde_json::{Value, json};

use super::orders;
use crate::{forebay, home, without_settings};

/// A home for a test, with the answer of the upstream in it.
fn prepared(test: &str) -> (PathBuf, String) {
    let home = home().join("summaries").join(test);
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    let file = home.join("answer.txt");
    fs::write(&file, orders(60)).unwrap();
    let arguments = json!({"path": file}).to_string();
    (home, arguments)
}

fn client(node: &real::Node, arguments: &str, options: &[&str]) -> Command {
    let words = node.script("clients/ts_sampling.mjs");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--era", "legacy", "--tool", "file", "--arguments", arguments]);
    command.args(options);
    command
}

/// Has results read by the client's model, which is waited for however busy the machine is.
fn asks_the_client(command: &mut Command) {
    command
        .env("FOREBAY_SUMMARIES_PROVIDER", "sampling")
        .env("FOREBAY_SUMMARIES_DEADLINE_SECONDS", "20");
}

/// What the client reports that reaches Forebay on stdio.
fn reported_on_stdio(test: &str, node: &real::Node, options: &[&str]) -> Value {
    let (home, arguments) = prepared(test);
    let mut command = client(node, &arguments, options);
    let program = env!("CARGO_BIN_EXE_forebay");
    command
        .args(["--", program, "wrap", "--name", "fixture", "--"])
        .arg(programs::fixture_upstream());
    without_settings(&mut command);
    asks_the_client(command.env("FOREBAY_HOME", &home));
    reported(&mut command)
}

fn reported(command: &mut Command) -> Value {
    let mut peer = Peer::start(command);
    peer.close_input();
    let Some(line) = peer.next_bytes() else { panic!("{}", peer.wait_for_stderr()) };
    serde_json::from_slice(&line).unwrap()
}

fn is_read(report: &Value) {
    let told = report["texts"][0].as_str().unwrap();
    assert!(told.contains("Key findings (by a-client-model):\n- The client read it."), "{report}");
    assert_eq!(report["meta"]["forebay/insights"]["actionableInsights"], json!(["Ask for more."]));
    let asked = report["asked"].as_array().unwrap();
    assert_eq!(asked.len(), 1, "{report}");
    let shown = asked[0]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(shown.contains("Records: 60 at $"), "{shown}");
    assert_eq!(asked[0]["includeContext"], "none");
    assert!(asked[0]["systemPrompt"].as_str().unwrap().contains("\"keyFindings\""), "{report}");
}

fn stands_alone(report: &Value) {
    let told = report["texts"][0].as_str().unwrap();
    assert!(told.contains("60 records") && !told.contains("Key findings"), "{report}");
}

#[test]
fn typescript_is_asked_on_stdio() {
    let test = "typescript_is_asked_on_stdio";
    let Some(node) = real::node(test) else { return };
    is_read(&reported_on_stdio(test, node, &[]));
}

#[test]
fn typescript_is_asked_over_http() {
    let test = "typescript_is_asked_over_http";
    let Some(node) = real::node(test) else { return };
    let (home, arguments) = prepared(test);
    let mut server = forebay(["serve", "--listen", "127.0.0.1:0", "--"]);
    server.arg(programs::fixture_upstream());
    asks_the_client(server.env("FOREBAY_HOME", &home));
    let server = HttpPeer::start(&mut server);
    is_read(&reported(client(node, &arguments, &[]).args(["--", &server.url()])));
    drop(server);
    assert!(Path::new(&home).join("datasets").is_dir());
}

#[test]
fn a_client_that_offers_no_sampling_is_not_asked() {
    let test = "a_client_that_offers_no_sampling_is_not_asked";
    let Some(node) = real::node(test) else { return };
    let report = reported_on_stdio(test, node, &["--offer", "nothing"]);
    stands_alone(&report);
}

#[test]
fn a_client_that_refuses_or_chatters_has_the_summary_alone() {
    let test = "a_client_that_refuses_or_chatters_has_the_summary_alone";
    let Some(node) = real::node(test) else { return };
    for answer in ["refusal", "prose"] {
        let report = reported_on_stdio(test, node, &["--answer", answer]);
        stands_alone(&report);
        assert_eq!(report["asked"].as_array().unwrap().len(), 1, "{report}");
    }
}
