//! The Rust SDK over HTTP, through `forebay serve`: the comparison of `clients/through_serve.rs`.

use std::thread;

use forebay_testkit::{http::HttpPeer, real};
use rmcp::ClientLifecycleMode;

use super::{LEGACY, MODERN, all_the_same, discover, probe, report, the_same_but_for_tools};
use crate::{rust_sdk::client::Server, serving_command, serving_modern_command, serving_url};

#[test]
fn rust_sdk_legacy_through_serve() {
    let Some(node) = real::node("rust_sdk_legacy_through_serve") else { return };
    sees_the_same_of_everything(&ClientLifecycleMode::Initialize, node);
}

#[test]
fn rust_sdk_modern_through_serve() {
    let Some(node) = real::node("rust_sdk_modern_through_serve") else { return };
    sees_the_same_of_script(&node.script("servers/ts_modern.mjs"), MODERN);
}

#[test]
fn rust_sdk_modern_with_tasks_through_serve() {
    let Some(python) = real::python("rust_sdk_modern_with_tasks_through_serve") else { return };
    let features = format!("{MODERN} tasks");
    sees_the_same_of_script(&python.script("servers/py_server.py"), &features);
}

#[test]
fn rust_sdk_probes_through_serve() {
    let Some(node) = real::node("rust_sdk_probes_through_serve") else { return };
    sees_the_same_of_everything(&probe(), node);
}

fn sees_the_same_of_everything(lifecycle: &ClientLifecycleMode, node: &real::Node) {
    let over_http = || node.everything_over_http();
    let of_command = || serving_command(&node.everything(), &["--no-capture"]);
    sees_the_same(lifecycle, over_http, of_command, LEGACY);
}

fn sees_the_same_of_script(server: &[String], features: &str) {
    let over_http = || real::over_http(server);
    let of_command = || serving_modern_command(server, &["--no-capture"]);
    sees_the_same(&discover(), over_http, of_command, features);
}

fn sees_the_same(
    lifecycle: &ClientLifecycleMode,
    over_http: impl Fn() -> HttpPeer + Sync,
    of_command: impl Fn() -> HttpPeer + Sync,
    features: &str,
) {
    let at = |peer: &HttpPeer| report(lifecycle, Server::Url(peer.url()));
    let by_url = |options: &[&str]| {
        let upstream = over_http();
        at(&serving_url(&upstream.url(), options))
    };
    // At once: clients mostly wait.
    thread::scope(|scope| {
        let untouched = scope.spawn(|| by_url(&["--no-capture"]));
        let as_it_comes = scope.spawn(|| by_url(&[]));
        let by_command = scope.spawn(|| at(&of_command()));
        let direct = at(&over_http());
        all_the_same(&untouched.join().unwrap(), &direct, features);
        the_same_but_for_tools(&as_it_comes.join().unwrap(), &direct, features);
        all_the_same(&by_command.join().unwrap(), &direct, features);
    });
}
