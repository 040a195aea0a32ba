//! What it costs to have Forebay in front of an HTTP upstream, beside what it takes alone and beside
//! another proxy.
//!
//! `cargo bench --bench http` measures in one run, and prints as ratios: small calls per second and
//! their p99 with 1, 8 and 64 clients in both eras, of an upstream directly, through
//! `forebay serve --url` and through the proxy of `fastmcp`. The upstreams are the fixture, which does
//! next to nothing, and a server on the official TypeScript SDK. Then: calls per second through `forebay serve` in
//! front of a command; memory for each of 1,000 sessions that are open and idle.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

#[path = "../common/mod.rs"]
mod common;
mod load;

use std::{fmt::Write as _, io::Write as _, process::Command, time::Duration};

use common::{millis, resident, target};
use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    programs, real,
};
use load::{Load, Seen};

const CLIENTS: [usize; 3] = [1, 8, 64];
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(500);
const FASTMCP: &str = "4.1.2";
const SESSIONS: usize = 1_000;

/// A way from the clients to the fixture upstream.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Direct,
    Forebay,
    FastMcp,
}

fn main() {
    let fixture = HttpPeer::fixture();
    let sdk = real::node("http").map(|node| {
        let words = node.script("servers/conformance.mjs");
        HttpPeer::start(Command::new(&words[0]).args(&words[1..]))
    });
    for era in [Era::Legacy, Era::Modern] {
        say(&calls("the fixture", &fixture, era, "echo"));
        if let Some(sdk) = &sdk {
            say(&calls("a server on the TypeScript SDK", sdk, era, "test_simple_text"));
        }
    }
    say(&in_front_of_a_command());
    say(&idle_sessions(&fixture));
}

/// Small calls in one era, on every way that there is.
fn calls(name: &str, fixture: &HttpPeer, era: Era, tool: &str) -> String {
    let proxies = [Way::Forebay, Way::FastMcp];
    let proxies: Vec<(Way, HttpPeer)> =
        proxies.into_iter().filter_map(|way| Some((way, way.start(fixture, era)?))).collect();
    let direct = (Way::Direct, fixture);
    let servers: Vec<(Way, &HttpPeer)> =
        [direct].into_iter().chain(proxies.iter().map(|(way, server)| (*way, server))).collect();
    let mut report = format!("\n{era:?}, {name}: small calls per second (p99)\n");
    for clients in CLIENTS {
        let seen = in_turns(&servers, era, tool, clients);
        let _ = writeln!(report, "  {clients} at once");
        for ((way, _), seen) in servers.iter().zip(&seen) {
            let (calls, p99) = (seen.calls_per_second, millis(seen.p99));
            let _ = writeln!(report, "    {:<15} {calls:>8.0} ({p99:.2} ms)", way.name());
        }
        let calls = |wanted: Way| {
            let place = servers.iter().position(|(way, _)| *way == wanted)?;
            Some(seen[place].calls_per_second)
        };
        for (beside, goal) in [(Way::Direct, "≥ 0.5"), (Way::FastMcp, "≥ 20")] {
            if let (Some(forebay), Some(other)) = (calls(Way::Forebay), calls(beside)) {
                let what = format!("calls, forebay / {}", beside.name());
                target(&mut report, &what, forebay / other, goal);
            }
        }
    }
    report
}

/// What each server does with so many clients, in turns, so that whatever else the machine does
/// falls on all of them; the median of the rounds.
fn in_turns(servers: &[(Way, &HttpPeer)], era: Era, tool: &str, clients: usize) -> Vec<Seen> {
    let mut loads: Vec<Load> =
        servers.iter().map(|(_, server)| Load::new(server, era, tool, clients)).collect();
    for load in &mut loads {
        load.run(ROUND / 2);
    }
    let mut rounds = vec![Vec::new(); loads.len()];
    for _ in 0..ROUNDS {
        for (load, rounds) in loads.iter_mut().zip(&mut rounds) {
            rounds.push(load.run(ROUND));
        }
    }
    rounds.into_iter().map(median).collect()
}

fn median(rounds: Vec<Seen>) -> Seen {
    let (mut calls, mut p99): (Vec<f64>, Vec<Duration>) =
        rounds.into_iter().map(|seen| (seen.calls_per_second, seen.p99)).unzip();
    calls.sort_unstable_by(f64::total_cmp);
    p99.sort_unstable();
    Seen { calls_per_second: calls[calls.len() / 2], p99: p99[p99.len() / 2] }
}

fn in_front_of_a_command() -> String {
    let mut command = forebay_serve();
    command.arg("--").arg(programs::fixture_upstream());
    let server = HttpPeer::start(&mut command);
    let seen = in_turns(&[(Way::Forebay, &server)], Era::Legacy, "echo", 8);
    let calls = seen[0].calls_per_second;
    format!("\nin front of a command, 8 at once: {calls:.0} small calls per second\n")
}

/// Memory for sessions that do nothing but listen.
fn idle_sessions(fixture: &HttpPeer) -> String {
    let Some(server) = Way::Forebay.start(fixture, Era::Legacy) else { return String::new() };
    let listen = || {
        let mut client = McpHttpClient::legacy(&server);
        let stream = client.listen(None);
        assert_eq!(stream.head.status, 200, "a stream opens");
        stream
    };
    // The first ones pay for what all share.
    let _first: Vec<_> = (0..10).map(|_| listen()).collect();
    let before = resident(server.id(), "VmRSS");
    let streams: Vec<_> = (0..SESSIONS).map(|_| listen()).collect();
    let after = resident(server.id(), "VmRSS");
    let each = (after - before) * 1024.0 / streams.len() as f64;
    format!("\n{SESSIONS} idle sessions: {after:.1} MiB resident, {each:.1} KiB for each\n")
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Forebay => "forebay serve",
            Self::FastMcp => "fastmcp",
        }
    }

    /// Starts what stands in front of `fixture`, if it can be had.
    fn start(self, fixture: &HttpPeer, era: Era) -> Option<HttpPeer> {
        let mut command = match self {
            Self::Direct => return None,
            Self::Forebay => {
                let mut command = forebay_serve();
                command.arg("--url").arg(fixture.url());
                command
            }
            Self::FastMcp => {
                let mut command = Command::new(real::python_with("fastmcp", FASTMCP)?);
                let mode = match era {
                    Era::Legacy => "legacy",
                    Era::Modern => "2026-07-28",
                };
                command.arg(real::source("bench/fastmcp_proxy.py")).arg(fixture.url()).arg(mode);
                command
            }
        };
        Some(HttpPeer::start(&mut command))
    }
}

/// `forebay serve`, with a home of its own.
fn forebay_serve() -> Command {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let home = programs::target_directory().join("bench-home-http");
    forebay.args(["serve", "--listen", "127.0.0.1:0"]).env("FOREBAY_HOME", home);
    forebay
}

fn say(report: &str) {
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}
