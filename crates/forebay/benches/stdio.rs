//! What it costs to have Forebay in between, beside what two pipes cost.
//!
//! `cargo bench --bench stdio` measures in one run, and prints as ratios: a small call's round trip,
//! small calls with 16 in flight, and the throughput of 8 MB results, direct, through `cat | server | cat` and through
//! `forebay wrap`; memory at rest and while 1 GiB passes; the time to start. What passes large is
//! measured with `--no-capture`, everything else with Forebay as it comes.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod common;

use std::{
    fmt::Write as _,
    hint::black_box,
    io::Write as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use common::{Server, micros, millis, ratio, resident, target};
use forebay_testkit::programs;
use forebay_wire::{Line, syntax};

const SMALL_CALLS: usize = 7_000;
const WARM_UP: usize = 300;
const IN_FLIGHT: usize = 16;
const LARGE_CALLS: usize = 150;
const ROUNDS: usize = 7;
const LARGE_BYTES: u64 = 8_000_000;
const HUGE_BYTES: u64 = 1 << 30;
const STARTS: usize = 20;

/// A way from the client to the fixture upstream.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Direct,
    Cat,
    Forebay,
    /// With nothing kept.
    Untouched,
}

impl Way {
    fn start(self) -> Server {
        let fixture = programs::fixture_upstream();
        Server::start(&mut match self {
            Self::Direct => Command::new(fixture),
            Self::Cat => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg("cat | \"$0\" | cat").arg(fixture);
                shell
            }
            Self::Forebay => forebay(&["wrap", "--"], &fixture),
            Self::Untouched => forebay(&["wrap", "--no-capture", "--"], &fixture),
        })
    }
}

fn main() {
    let mut report = String::new();
    round_trips(&mut report);
    in_flight(&mut report);
    throughput(&mut report);
    scan(&mut report);
    start_up(&mut report);
    memory(&mut report);
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}

const SMALL_CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;

fn round_trips(report: &mut String) {
    let call = SMALL_CALL;
    let ways = [Way::Direct, Way::Cat, Way::Forebay];
    let mut times = [const { Vec::new() }; 3];
    let mut servers = ways.map(Way::start);
    for server in &mut servers {
        for _ in 0..WARM_UP {
            server.ask(call);
        }
    }
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..ROUNDS {
        for (server, times) in servers.iter_mut().zip(&mut times) {
            times.extend((0..SMALL_CALLS / ROUNDS).map(|_| server.ask(call)));
        }
    }
    let [direct, cat, forebay] = times.map(|mut times| {
        times.sort_unstable();
        [times[times.len() / 2], times[times.len() * 99 / 100]]
    });
    let _ = writeln!(report, "small call     p50        p99");
    for (name, [p50, p99]) in [("direct", direct), ("cat relay", cat), ("forebay", forebay)] {
        let _ = writeln!(report, "  {name:<10} {:>7.1} µs {:>7.1} µs", micros(p50), micros(p99));
    }
    target(report, "p50, forebay / cat relay", ratio(forebay[0], cat[0]), "≤ 1.5");
}

fn in_flight(report: &mut String) {
    let ways = [Way::Direct, Way::Cat, Way::Forebay];
    let mut times = [const { Vec::new() }; 3];
    let mut servers = ways.map(Way::start);
    for server in &mut servers {
        server.ask_many(SMALL_CALL, WARM_UP, IN_FLIGHT);
    }
    for _ in 0..3 * ROUNDS {
        for (server, times) in servers.iter_mut().zip(&mut times) {
            times.push(server.ask_many(SMALL_CALL, SMALL_CALLS, IN_FLIGHT));
        }
    }
    let [direct, cat, forebay] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let _ = writeln!(report, "\n{IN_FLIGHT} in flight   calls/s");
    for (name, time) in [("direct", direct), ("cat relay", cat), ("forebay", forebay)] {
        let _ = writeln!(report, "  {name:<10} {:>9.0}", SMALL_CALLS as f64 / time.as_secs_f64());
    }
    target(report, "calls/s, forebay / cat relay", ratio(cat, forebay), "≥ 0.8");
}

fn throughput(report: &mut String) {
    let ways = [Way::Direct, Way::Cat, Way::Untouched];
    let call = bytes_call(LARGE_BYTES);
    let mut times = [const { Vec::new() }; 3];
    let mut servers = ways.map(Way::start);
    for server in &mut servers {
        for _ in 0..3 {
            server.ask(&call);
        }
    }
    for _ in 0..LARGE_CALLS {
        for (server, times) in servers.iter_mut().zip(&mut times) {
            times.push(server.ask(&call));
        }
    }
    let [direct, cat, forebay] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let _ = writeln!(report, "\n8 MB result    p50       MB/s");
    for (name, time) in [("direct", direct), ("cat relay", cat), ("forebay", forebay)] {
        let rate = LARGE_BYTES as f64 / time.as_secs_f64() / 1e6;
        let _ = writeln!(report, "  {name:<10} {:>7.2} ms {rate:>6.0}", time.as_secs_f64() * 1e3);
    }
    target(report, "throughput, forebay / cat relay", ratio(cat, forebay), "≥ 0.7");
}

/// How fast a line is scanned, beside how fast its syntax is checked.
fn scan(report: &mut String) {
    let mut server = Way::Direct.start();
    let line = server.answer_to(&bytes_call(LARGE_BYTES));
    let rate = |work: &dyn Fn()| {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let started = Instant::now();
                work();
                started.elapsed()
            })
            .collect();
        times.sort_unstable();
        line.len() as f64 / times[ROUNDS / 2].as_secs_f64() / 1e6
    };
    let scanned = rate(&|| drop(black_box(Line::of(black_box(&line)))));
    let checked = rate(&|| drop(black_box(syntax::check(black_box(&line)))));
    let _ = writeln!(
        report,
        "\nscan of that line: {scanned:.0} MB/s; check of its syntax: {checked:.0} MB/s"
    );
}

fn start_up(report: &mut String) {
    let initialize = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let first_answer = |way: Way| {
        let started = Instant::now();
        let mut server = way.start();
        server.ask(initialize);
        started.elapsed()
    };
    let (mut direct, mut forebay) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        direct.push(first_answer(Way::Direct));
        forebay.push(first_answer(Way::Forebay));
    }
    direct.sort_unstable();
    forebay.sort_unstable();
    let (direct, forebay) = (direct[STARTS / 2], forebay[STARTS / 2]);
    let _ = writeln!(
        report,
        "\nstart to first answer: direct {:.1} ms, forebay {:.1} ms",
        millis(direct),
        millis(forebay)
    );
    target(report, "added, ms", millis(forebay.saturating_sub(direct)), "≤ 25");
}

fn memory(report: &mut String) {
    let mut server = Way::Forebay.start();
    server.ask(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    let at_rest = resident(server.child.id(), "VmRSS");
    let mut server = Way::Untouched.start();
    let started = Instant::now();
    server.ask(&bytes_call(HUGE_BYTES));
    let down = started.elapsed();
    let while_down = resident(server.child.id(), "VmHWM");
    let up = server.send_huge(HUGE_BYTES);
    let while_up = resident(server.child.id(), "VmHWM");
    let _ = writeln!(report, "\nmemory");
    target(report, "at rest, MiB", at_rest, "≤ 16");
    target(report, "while a 1 GiB result passes, MiB", while_down, "≤ 64");
    target(report, "while a 1 GiB call passes, MiB", while_up, "≤ 64");
    let _ = writeln!(
        report,
        "  1 GiB took {:.1} s to the client, {:.1} s to the upstream (spooled and checked)",
        down.as_secs_f64(),
        up.as_secs_f64()
    );
}

/// `forebay`, with a home of its own.
fn forebay(arguments: &[&str], fixture: &Path) -> Command {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let home = programs::target_directory().join("bench-home");
    forebay.args(arguments).arg(fixture).env("FOREBAY_HOME", home);
    forebay
}

fn bytes_call(count: u64) -> Vec<u8> {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"bytes","arguments":{{"count":{count}}}}}}}"#
    )
    .into_bytes()
}
