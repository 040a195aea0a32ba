//! Forebay as a whole: real processes, pipes, signals, servers and clients.
//!
//! One binary, because each one links everything anew.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

mod asking;
mod auth;
mod cache;
mod capture;
mod chaos;
mod charts;
mod chroma;
mod clients;
mod commands;
mod config;
mod corpus;
mod datasets;
mod demo;
mod doctor;
mod documents;
mod endings;
mod faithful;
mod files;
mod gateway;
mod guard;
mod init;
mod install;
mod jobs;
mod links;
mod meaning;
mod messages;
mod nested;
mod outputs;
mod outside;
mod page;
mod paging;
mod references;
mod remote;
mod resources;
mod rot;
mod run_code;
mod rust_sdk;
mod search;
mod serve;
mod stats;
mod streaming;
mod strict;
mod summaries;
mod tools;
mod traces;
mod transports;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::Peer,
    programs,
};

/// `forebay` with these arguments. It keeps nothing in the home of whoever runs the tests, and knows
/// nothing of their settings.
fn forebay<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    without_settings(&mut command).args(arguments).env_remove("RUST_LOG");
    // Each costs a fifth of a second, and most tests are not about what is found by its meaning.
    command.env("FOREBAY_SEARCH_MAX_VECTORS", "4");
    command
}

/// Has the rows of a dataset made, by a process that is gone then.
fn make_rows(home: &std::path::Path, id: &str) {
    let query = format!("SELECT count(*) FROM {id}");
    let asked = forebay(["query", &query]).env("FOREBAY_HOME", home).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
}

/// `forebay serve` in front of the server at a URL.
fn serving_url(url: &str, options: &[&str]) -> HttpPeer {
    HttpPeer::start(forebay(["serve", "--listen", "127.0.0.1:0", "--url", url]).args(options))
}

/// `forebay serve` in front of a server's command.
fn serving_command(command: &[String], options: &[&str]) -> HttpPeer {
    let mut forebay = forebay(["serve", "--listen", "127.0.0.1:0"]);
    HttpPeer::start(forebay.args(options).arg("--").args(command))
}

/// The same with a modern server, which has started: it would do so with the first request, and a
/// client that probes may take a slow start for an answer.
fn serving_modern_command(command: &[String], options: &[&str]) -> HttpPeer {
    let peer = serving_command(command, options);
    McpHttpClient::modern(&peer).call("server/discover", &serde_json::json!({}));
    peer
}

/// Takes the settings of whoever runs the tests out of a command's environment.
fn without_settings(command: &mut Command) -> &mut Command {
    // What an earlier run has kept is no concern of this one.
    static SHARED: LazyLock<PathBuf> = LazyLock::new(|| {
        let shared = home().join("home");
        let _ = std::fs::remove_dir_all(&shared);
        shared
    });
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.as_encoded_bytes().starts_with(b"FOREBAY_")) {
        command.env_remove(name);
    }
    command.env("FOREBAY_HOME", &*SHARED)
}

/// `forebay wrap` in front of the fixture upstream, with a short grace period.
fn wrapped_fixture() -> Command {
    let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
    command.arg(programs::fixture_upstream());
    command
}

/// The same with nothing kept: every message passes as it came.
fn untouched_fixture() -> Command {
    let mut command =
        forebay(["wrap", "--no-capture", "--grace", "0.1", "--name", "fixture", "--"]);
    command.arg(programs::fixture_upstream());
    command
}

/// Waits until something holds that is done at the lowest priority. Everything else on the machine goes before it,
/// and so do a server and the test itself: asked without a pause, they would take the time that it needs.
fn in_the_background(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(300), "never happened: {what}");
        thread::sleep(Duration::from_millis(200));
    }
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// A tool call for the fixture upstream.
fn call(id: u32, tool: &str, count: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"count":{count}}}}}}}"#
    )
}

/// The text of a result with one text block.
fn text_of(line: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
}

/// The id of the fixture upstream's own process.
fn upstream_pid(peer: &mut Peer) -> u32 {
    text_of(&peer.ask(&call(900, "pid", 0))).parse().expect("a process id")
}

/// An error that Forebay gives for a call its upstream did not answer.
fn unanswered(id: &str, how: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"upstream `fixture` {how}"}}}}"#
    )
}
