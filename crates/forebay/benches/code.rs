//! What a program costs, beside the calls that it stands for.
//!
//! `cargo bench --bench code` measures in one run, in turns: a program that does nothing, when its process is
//! there and when it has to be started; 1,000 small calls by a program, one after the other and 16 at once,
//! beside 1,000 by the client itself through `forebay wrap` and straight to the server; and the memory of
//! Forebay before, while its process for programs waits, and once that has ended.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

mod common;

use std::{
    fmt::Write as _,
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Home, PATIENCE, Server, millis, ratio, resident, target};
use forebay_testkit::programs;
use serde_json::{Value, json};

const CALLS: usize = 1_000;
const AT_ONCE: usize = 16;
const ROUNDS: usize = 7;
const TRIVIAL: usize = 300;
/// After this many seconds without a program its process ends.
const IDLE: u64 = 2;

const ONE_BY_ONE: &str =
    "for (let n = 0; n < 1000; n++) await tools.orders.echo({ text: 'hello' }); return 1";
const ALL_AT_ONCE: &str = "await Promise.all(Array.from({ length: 1000 }, () => tools.orders.echo({ text: 'hello' }))); return 1";

fn main() {
    let home = Home::new("code");
    common::run(&home, &[("trivial", trivial), ("calls", calls), ("memory", memory)]);
}

/// `forebay wrap` that runs programs.
fn wrap(home: &Home) -> Server {
    let folder = home.store("code");
    fs::create_dir_all(&folder).expect("a folder");
    let settings = format!("[code]\nidle_time = {IDLE}\nmax_calls = 1000000\n");
    fs::write(folder.join("forebay.toml"), settings).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["wrap", "--tools", "full", "--name", "orders", "--"]);
    command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", folder);
    let mut server = Server::start(command.stderr(Stdio::null()));
    server.initialize();
    server
}

/// Runs a program, and gives how long that took.
fn run(server: &mut Server, code: &str) -> Duration {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "run_code", "arguments": { "code": code } } });
    let started = Instant::now();
    let answer = server.answer_to(call.to_string().as_bytes());
    let elapsed = started.elapsed();
    let answer: Value = serde_json::from_slice(&answer).expect("one line of JSON");
    assert_eq!(answer["result"]["content"][0]["text"], "1", "{answer}");
    elapsed
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn trivial(home: &Home, report: &mut String) {
    let mut server = wrap(home);
    let cold = run(&mut server, "return 1");
    let mut warm: Vec<Duration> = (0..TRIVIAL).map(|_| run(&mut server, "return 1")).collect();
    let typed = "interface Row { id: number }\nconst rows: Row[] = [{ id: 1 }];\nreturn rows[0].id";
    let mut typed: Vec<Duration> = (0..TRIVIAL).map(|_| run(&mut server, typed)).collect();
    let p50 = median(&mut warm);
    let _ = writeln!(report, "a trivial program");
    let _ = writeln!(report, "  its process is started   {:>8.2} ms", millis(cold));
    let _ = writeln!(report, "  its process is there     {:>8.2} ms", millis(p50));
    let _ = writeln!(report, "  the same in TypeScript   {:>8.2} ms", millis(median(&mut typed)));
    target(report, "p50 of a trivial program, ms", millis(p50), "≤ 5");
}

fn calls(home: &Home, report: &mut String) {
    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;
    let mut wrapped = wrap(home);
    let mut direct = Server::start(&mut Command::new(programs::fixture_upstream()));
    direct.initialize();
    run(&mut wrapped, "return 1");
    let names = [
        "one by one, straight to the server",
        "one by one, through wrap",
        "one by one, in a program",
        "16 at once, straight to the server",
        "16 at once, through wrap",
        "16 at once, in a program",
    ];
    let mut times: [Vec<Duration>; 6] = Default::default();
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..ROUNDS {
        times[0].push((0..CALLS).map(|_| direct.ask(CALL)).sum());
        times[1].push((0..CALLS).map(|_| wrapped.ask(CALL)).sum());
        times[2].push(run(&mut wrapped, ONE_BY_ONE));
        times[3].push(direct.ask_many(CALL, CALLS, AT_ONCE));
        times[4].push(wrapped.ask_many(CALL, CALLS, AT_ONCE));
        times[5].push(run(&mut wrapped, ALL_AT_ONCE));
    }
    let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
    let _ = writeln!(report, "\n{CALLS} small calls");
    for (name, time) in names.iter().zip(&medians) {
        let _ = writeln!(report, "  {name:<36} {:>8.1} ms", millis(*time));
    }
    for (what, program, other) in [
        ("one by one, a program / through wrap", 2, 1),
        ("one by one, a program / straight", 2, 0),
        ("16 at once, a program / through wrap", 5, 4),
        ("16 at once, a program / straight", 5, 3),
    ] {
        target(report, what, ratio(medians[program], medians[other]), "≤ 2");
    }
}

fn memory(home: &Home, report: &mut String) {
    let mut server = wrap(home);
    server.answer_to(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
    let before = resident(server.child.id(), "VmRSS");
    run(&mut server, "return 1");
    let worker = worker(server.child.id()).expect("a process for programs");
    let (while_there, its) = (resident(server.child.id(), "VmRSS"), resident(worker, "VmRSS"));
    let started = Instant::now();
    while self::worker(server.child.id()).is_some() {
        assert!(started.elapsed() < PATIENCE, "it ends when nothing is to do");
        thread::sleep(Duration::from_millis(50));
    }
    let after = resident(server.child.id(), "VmRSS");
    let _ = writeln!(report, "\nmemory, MiB");
    let _ = writeln!(report, "  before the first program          {before:>8.1}");
    let _ = writeln!(
        report,
        "  while its process waits           {while_there:>8.1}, and {its:.1} of its own"
    );
    let _ = writeln!(report, "  {IDLE} s later, when it has ended      {after:>8.1}");
}

/// The process that programs of the one with this id run in, if there is one.
fn worker(parent: u32) -> Option<u32> {
    fs::read_dir("/proc").expect("/proc").flatten().find_map(|entry| {
        let id = entry.file_name().to_string_lossy().parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let of = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let is_worker = command.split(|byte| *byte == 0).any(|word| word == b"code-worker");
        (of == parent && is_worker).then_some(id)
    })
}
