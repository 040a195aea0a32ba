//! What it costs to keep a result instead of passing it on, and what that is beside a peer.
//!
//! `cargo bench --bench capture` measures in one run, and prints as ratios: a result of 50,000
//! records through `forebay wrap`, kept and untouched, and through `mcp-compressor --shrinkfit` from
//! PyPI, if Python is there; nested records, likewise; how cost and memory grow up to 1 GiB; how fast records are profiled,
//! beside a `serde_json::Value` parse of the same bytes.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod common;

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Server, millis, ratio, resident, target};
use forebay_testkit::{programs, real};

const RECORDS: u64 = 50_000;
const NESTED_RECORDS: u64 = 30_000;
const CALLS: usize = 31;
const PEER_CALLS: usize = 5;
const ROUNDS: usize = 7;
const GROWTH_BYTES: [u64; 4] = [10 << 20, 100 << 20, 400 << 20, 1 << 30];
const FORM_BYTES: u64 = 300 << 20;

fn main() {
    let mut report = String::new();
    let home = Home::new();
    beside_the_relay_and_a_peer(&home, &mut report);
    nested(&home, &mut report);
    profiling(&home, &mut report);
    growth(&home, &mut report);
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}

/// A store for the benchmark alone.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        let path = programs::target_directory().join("bench-home");
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn forebay(&self, options: &[&str]) -> Server {
        let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
        forebay.arg("wrap").args(options).arg("--").arg(programs::fixture_upstream());
        Server::start(forebay.env("FOREBAY_HOME", &self.0))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn beside_the_relay_and_a_peer(home: &Home, report: &mut String) {
    let mut relay = home.forebay(&["--no-capture"]);
    let mut keeping = home.forebay(&[]);
    let (mut untouched, mut kept) = (Vec::new(), Vec::new());
    let bytes = relay.answer_to(&records_call(0)).len();
    let summary = keeping.answer_to(&records_call(0)).len();
    for id in 1..=CALLS {
        untouched.push(relay.ask(&records_call(id)));
        kept.push(keeping.ask(&records_call(id)));
    }
    let (untouched, kept) = (median(untouched), median(kept));
    let _ = writeln!(report, "{RECORDS} records, {:.1} MB       p50     reply", bytes as f64 / 1e6);
    let mut row = |name: &str, time: Duration, reply: usize| {
        let _ = writeln!(report, "  {name:<22} {:>9.2} ms {reply:>9} B", millis(time));
    };
    row("relayed untouched", untouched, bytes);
    row("kept", kept, summary);
    let peer = peer();
    if let Some((time, reply)) = peer {
        row("mcp-compressor", time, reply);
    }
    target(report, "kept / relayed untouched", ratio(kept, untouched), "≤ 6");
    match peer {
        Some((time, _)) => target(report, "mcp-compressor / kept", ratio(time, kept), "≥ 20"),
        None => {
            let _ = writeln!(report, "  mcp-compressor: not measured, it could not be installed");
        }
    }
}

/// Records with objects and lists in them, whose inside is told as well.
fn nested(home: &Home, report: &mut String) {
    fs::create_dir_all(&home.0).expect("a folder");
    let file = home.0.join("nested.json");
    let records: Vec<String> = (0..NESTED_RECORDS).map(nested_record).collect();
    let text = format!("[{}]", records.join(","));
    fs::write(&file, &text).expect("a disk");
    let path = file.display();
    let call = |id: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"file","arguments":{{"path":"{path}"}}}}}}"#
        )
    };
    let mut relay = home.forebay(&["--no-capture"]);
    let mut keeping = home.forebay(&[]);
    let (mut untouched, mut kept) = (Vec::new(), Vec::new());
    relay.ask(call(0).as_bytes());
    keeping.ask(call(0).as_bytes());
    for id in 1..=CALLS {
        untouched.push(relay.ask(call(id).as_bytes()));
        kept.push(keeping.ask(call(id).as_bytes()));
    }
    let (untouched, kept) = (median(untouched), median(kept));
    let megabytes = text.len() as f64 / 1e6;
    let _ = writeln!(report, "\n{NESTED_RECORDS} nested records, {megabytes:.1} MB      p50");
    for (name, time) in [("relayed untouched", untouched), ("kept", kept)] {
        let _ = writeln!(report, "  {name:<22} {:>9.2} ms", millis(time));
    }
    let _ = writeln!(report, "  kept / relayed untouched {:.1}", ratio(kept, untouched));
}

fn nested_record(n: u64) -> String {
    let lines: Vec<String> = (0..n % 5)
        .map(|k| {
            format!(r#"{{"sku":"S{}","quantity":{},"price":{}.5}}"#, (n + k) % 300, k + 1, n % 90)
        })
        .collect();
    format!(
        r#"{{"id":{n},"customer":{{"name":"customer {}","address":{{"city":"city {}","zip":"{:05}"}},"vip":{}}},"lines":[{}],"tags":["a{}","b"],"labels":{{"k{}":"v"}},"note":null}}"#,
        n % 900,
        n % 40,
        n % 99_999,
        n.is_multiple_of(7),
        lines.join(","),
        n % 12,
        n % 60,
    )
}

/// The median time and the length of the reply of the best peer, on the same result.
fn peer() -> Option<(Duration, usize)> {
    let compressor = real::python_program("mcp-compressor", "0.38.2")?;
    let mut command = Command::new(compressor);
    command
        .args(["--shrinkfit", "--server-name", "fixture", "--"])
        .arg(programs::fixture_upstream());
    let mut server = Server::start(command.stderr(Stdio::null()));
    server.answer_to(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#);
    server.tell(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = |id: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"fixture_invoke_tool","arguments":{{"tool_name":"records","tool_input":{{"count":{RECORDS}}}}}}}}}"#
        )
    };
    let reply = server.answer_to(call(1).as_bytes());
    assert!(
        !String::from_utf8_lossy(&reply[..reply.len().min(500)]).contains("\"isError\":true"),
        "{}",
        String::from_utf8_lossy(&reply[..500.min(reply.len())])
    );
    let times = (0..PEER_CALLS).map(|id| server.ask(call(id + 2).as_bytes())).collect();
    Some((median(times), reply.len()))
}

/// How fast the records are looked through, beside a parse that keeps them.
fn profiling(home: &Home, report: &mut String) {
    let mut server = home.forebay(&["--no-capture"]);
    let answer: serde_json::Value =
        serde_json::from_slice(&server.answer_to(&records_call(1))).expect("JSON");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text block");
    let store = forebay_store::Store::open(&home.0, forebay_store::Durability::RightAfter)
        .expect("a store");
    let mut capture = store.capture().expect("a capture");
    let part = capture.start_part("json").expect("a part");
    part.write_all(text.as_bytes()).expect("a disk");
    let payload = capture.map_last_part().expect("a map");
    let rate = |work: &dyn Fn()| {
        let times = (0..ROUNDS).map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        });
        text.len() as f64 / median(times.collect()).as_secs_f64() / 1e6
    };
    let profiled = rate(&|| drop(black_box(forebay_intercept::describe(black_box(&payload)))));
    let parsed = rate(&|| {
        drop(black_box(serde_json::from_str::<serde_json::Value>(black_box(text))));
    });
    let _ = writeln!(report, "\nprofile {profiled:.0} MB/s; serde_json::Value {parsed:.0} MB/s");
    target(report, "profile / parse", profiled / parsed, "> 1");
}

/// Time and memory up to 1 GiB, and in other forms than a list of records.
fn growth(home: &Home, report: &mut String) {
    let lists = GROWTH_BYTES.map(|bytes| ("bytes", bytes));
    let forms = ["results", "csv", "log", "prose"].map(|form| (form, FORM_BYTES));
    let _ = writeln!(report, "\nkept result            time       MB/s   resident");
    for (tool, bytes) in lists.into_iter().chain(forms) {
        let mut server = home.forebay(&[]);
        // The tokenizer is loaded with the first result that needs it.
        server.ask(&call(1, "bytes", 1 << 20));
        let time = server.ask(&call(2, tool, bytes));
        let peak = resident(server.child.id(), "VmHWM");
        let form = if tool == "bytes" { "list" } else { tool };
        let _ = writeln!(
            report,
            "  {form:<7} {:>5} MiB {:>8.2} s {:>8.0} {peak:>6.0} MiB",
            bytes >> 20,
            time.as_secs_f64(),
            bytes as f64 / time.as_secs_f64() / 1e6,
        );
    }
    let _ = writeln!(report, "  (to reach: in proportion, resident ≤ 128 MiB)");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn records_call(id: usize) -> Vec<u8> {
    call(id, "records", RECORDS)
}

fn call(id: usize, tool: &str, count: u64) -> Vec<u8> {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"count":{count}}}}}}}"#
    )
    .into_bytes()
}
