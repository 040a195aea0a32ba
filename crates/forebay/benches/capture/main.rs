//! What it costs to keep a result instead of passing it on, and what that is beside peers.
//!
//! `cargo bench --bench capture` measures in one run, and prints with what is to be reached:
//!
//! - `common`: results of 60 KB to 77 MB through `forebay wrap`, kept and untouched: latency, time of the
//!   processors, memory at the peak and at rest; beside `mcp-compressor --shrinkfit` and the proxy of
//!   `fastmcp`, both from PyPI, if Python is there
//! - `first`: the first result that a process keeps
//! - `profile`: how fast records are profiled, beside a `serde_json::Value` parse of the same bytes
//! - `growth`: how time and memory grow up to 1 GiB
//!
//! With such a name as an argument (`-- common`), it measures only that.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

#[path = "../common/mod.rs"]
mod common;
mod common_case;
mod contestants;
mod growth;
mod profiling;

use std::{fmt::Write as _, path::Path, process::Command};

use common::{Home, Server, median, millis};
use forebay_testkit::programs;

/// How many processes keep a first result.
const STARTS: usize = 7;

fn main() {
    common::run(
        &Home::new("capture"),
        &[
            ("common", common_case::report),
            ("first", first),
            ("profile", profiling::report),
            ("growth", growth::report),
        ],
    );
}

/// What the first result costs that passes through a process.
fn first(home: &Home, report: &mut String) {
    let store = home.store("first");
    let (mut untouched, mut kept) = (Vec::new(), Vec::new());
    let call = |id: usize| call(id, "records", common_case::SMALL_RECORDS);
    // The store is there when the next ones come.
    forebay(&store, &[]).answer_to(&call(0));
    for id in 1..=STARTS {
        for (options, times) in [(&["--no-capture"][..], &mut untouched), (&[], &mut kept)] {
            let mut server = forebay(&store, options);
            server.initialize();
            times.push(server.ask(&call(id)));
        }
    }
    let _ = writeln!(
        report,
        "\nfirst result of a process, 60 KB, p50 of {STARTS}: relayed {:.2} ms, kept {:.2} ms",
        millis(median(untouched)),
        millis(median(kept))
    );
}

/// `forebay wrap` in front of the fixture.
fn forebay(store: &Path, options: &[&str]) -> Server {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    forebay.arg("wrap").args(options).arg("--").arg(programs::fixture_upstream());
    Server::start(forebay.env("FOREBAY_HOME", store))
}

/// A call for a result of `count` of what the tool gives.
fn call(id: usize, tool: &str, count: u64) -> Vec<u8> {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"count":{count}}}}}}}"#
    )
    .into_bytes()
}
