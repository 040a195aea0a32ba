//! Official clients over HTTP, through `forebay serve`.
//!
//! What a client sees of a server over HTTP, it must see with Forebay in front of that server's URL,
//! and with Forebay in front of the same server's command.

use std::thread;

use forebay_testkit::{http::HttpPeer, real};

use super::{LEGACY, MODERN, all_the_same, report, the_same_but_for_tools, words};
use crate::{serving_command, serving_modern_command, serving_url};

/// Runs `client` with the server, directly and through Forebay in three ways, and compares the reports.
///
/// Each run has a server of its own: what a modern server counts, it counts for all who ask it.
fn sees_the_same(
    client: &[String],
    over_http: impl Fn() -> HttpPeer + Sync,
    of_command: impl Fn() -> HttpPeer + Sync,
    features: &[&str],
) {
    let by_url = |options: &[&str]| {
        let upstream = over_http();
        report(client, &[serving_url(&upstream.url(), options).url()])
    };
    // At once: clients mostly wait.
    thread::scope(|scope| {
        let untouched = scope.spawn(|| by_url(&["--no-capture"]));
        let as_it_comes = scope.spawn(|| by_url(&[]));
        let by_command = scope.spawn(|| report(client, &[of_command().url()]));
        let direct = report(client, &[over_http().url()]);
        all_the_same(&untouched.join().unwrap(), &direct, features);
        the_same_but_for_tools(&as_it_comes.join().unwrap(), &direct, features);
        all_the_same(&by_command.join().unwrap(), &direct, features);
    });
}

fn sees_the_same_of_everything(client: &[String], node: &real::Node, features: &[&str]) {
    let over_http = || node.everything_over_http();
    let of_command = || serving_command(&node.everything(), &["--no-capture"]);
    sees_the_same(client, over_http, of_command, features);
}

fn sees_the_same_of_script(client: &[String], server: &[String], features: &[&str]) {
    let over_http = || real::over_http(server);
    let of_command = || serving_modern_command(server, &["--no-capture"]);
    sees_the_same(client, over_http, of_command, features);
}

#[test]
fn typescript_sdk_through_serve() {
    let Some(node) = real::node("typescript_sdk_through_serve") else { return };
    let features = [&LEGACY[..], &["tasks"]].concat();
    sees_the_same_of_everything(&node.script("clients/ts_sdk.mjs"), node, &features);
}

#[test]
fn typescript_client_legacy_through_serve() {
    let Some(node) = real::node("typescript_client_legacy_through_serve") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "legacy");
    let features = [&LEGACY[..], &["tasks"]].concat();
    sees_the_same_of_everything(&client, node, &features);
}

#[test]
fn typescript_client_modern_through_serve() {
    let Some(node) = real::node("typescript_client_modern_through_serve") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "modern");
    sees_the_same_of_script(&client, &node.script("servers/ts_modern.mjs"), &MODERN);
}

#[test]
fn typescript_client_probes_through_serve() {
    let Some(node) = real::node("typescript_client_probes_through_serve") else { return };
    let client = words(node.script("clients/ts_client.mjs"), "auto");
    sees_the_same_of_everything(&client, node, &LEGACY);
}

#[test]
fn python_sdk_legacy_through_serve() {
    let test = "python_sdk_legacy_through_serve";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_client.py"), "legacy");
    sees_the_same_of_everything(&client, node, &LEGACY);
}

#[test]
fn python_sdk_modern_through_serve() {
    let Some(python) = real::python("python_sdk_modern_through_serve") else { return };
    let client = words(python.script("clients/py_client.py"), "modern");
    let features = [&MODERN[..], &["tasks"]].concat();
    sees_the_same_of_script(&client, &python.script("servers/py_server.py"), &features);
}

#[test]
fn python_sdk_probes_through_serve() {
    let test = "python_sdk_probes_through_serve";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let client = words(python.script("clients/py_client.py"), "auto");
    sees_the_same_of_everything(&client, node, &LEGACY);
}
