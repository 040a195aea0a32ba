//! What it costs to have Forebay in front of an HTTP upstream, beside what it takes alone and beside
//! other proxies.
//!
//! `cargo bench --bench http` measures in one run, and prints as ratios: small calls per second, their
//! p99 and the processors' time for each, with 1, 8 and 64 clients in both eras, of an upstream directly,
//! through nginx, through a proxy of nothing but hyper (`testkit/src/bin/bare-proxy.rs`), through
//! `forebay serve --url`, through `forebay serve -- COMMAND` and through the proxy of `fastmcp`. The
//! upstreams are the fixture, which does next to nothing, and a server on the official TypeScript SDK.
//! Then: memory for each of 1,000 sessions that are open and idle.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

#[path = "../common/mod.rs"]
mod common;
mod load;
mod ways;

use std::{fmt::Write as _, io::Write as _, process::Command, time::Duration};

use common::{micros, millis, processes::processor_time, resident, target};
use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    real,
};
use load::{Load, Seen};
use ways::Way;

const CLIENTS: [usize; 3] = [1, 8, 64];
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(500);
const SESSIONS: usize = 1_000;

/// What a server has done in all rounds.
struct Measured {
    /// The median of the rounds.
    seen: Seen,
    /// The time that it has had of the processors, for each call.
    each: Duration,
}

fn main() {
    let fixture = HttpPeer::fixture();
    let sdk = real::node("http").map(|node| {
        let words = node.script("servers/conformance.mjs");
        HttpPeer::start(Command::new(&words[0]).args(&words[1..]))
    });
    for era in [Era::Legacy, Era::Modern] {
        let proxies = [Way::Nginx, Way::BareHyper, Way::Forebay, Way::Hosted, Way::FastMcp];
        say(&calls("the fixture", &fixture, era, "echo", &proxies));
        if let Some(sdk) = &sdk {
            let name = "a server on the TypeScript SDK";
            let proxies = [Way::Nginx, Way::BareHyper, Way::Forebay, Way::FastMcp];
            say(&calls(name, sdk, era, "test_simple_text", &proxies));
        }
    }
    say(&idle_sessions(&fixture));
}

/// Small calls in one era, on every way that there is.
fn calls(name: &str, upstream: &HttpPeer, era: Era, tool: &str, proxies: &[Way]) -> String {
    let mut report = format!("\n{era:?}, {name}: small calls\n");
    let mut started = Vec::new();
    for way in proxies {
        match way.start(upstream, era) {
            Some(server) => started.push((*way, server)),
            None => {
                let _ = writeln!(report, "  {} cannot be had here", way.name());
            }
        }
    }
    let direct = [(Way::Direct, upstream)];
    let servers: Vec<(Way, &HttpPeer)> =
        direct.into_iter().chain(started.iter().map(|(way, server)| (*way, server))).collect();
    for clients in CLIENTS {
        let measured = in_turns(&servers, era, tool, clients);
        let of = |wanted: Way| {
            let place = servers.iter().position(|(way, _)| *way == wanted)?;
            Some(&measured[place])
        };
        let _ = writeln!(
            report,
            "  {clients} at once     calls/s  × direct       p99  processors' time for each"
        );
        for ((way, _), Measured { seen, each }) in servers.iter().zip(&measured) {
            let (calls, p99) = (seen.calls_per_second, millis(seen.p99));
            let part = of(Way::Direct).map_or(1.0, |direct| calls / direct.seen.calls_per_second);
            let (name, each) = (way.name(), micros(*each));
            let _ = writeln!(
                report,
                "    {name:<16} {calls:>8.0} {part:>9.2} {p99:>6.2} ms {each:>8.1} µs"
            );
        }
        let mut beside = |one: Way, other: Way, goal: &str| {
            let (Some(ours), Some(theirs)) = (of(one), of(other)) else { return };
            let what = format!("calls, {} / {}", one.name(), other.name());
            let ratio = ours.seen.calls_per_second / theirs.seen.calls_per_second;
            target(&mut report, &what, ratio, goal);
        };
        beside(Way::Forebay, Way::BareHyper, "≥ 0.75");
        beside(Way::Hosted, Way::BareHyper, "≥ 0.75");
        beside(Way::Forebay, Way::FastMcp, "≥ 20");
        let mut sooner = |one: Way, other: Way| {
            let (Some(ours), Some(theirs)) = (of(one), of(other)) else { return };
            let what = format!("p99, {} / {}", other.name(), one.name());
            let ratio = theirs.seen.p99.as_secs_f64() / ours.seen.p99.as_secs_f64();
            target(&mut report, &what, ratio, "≥ 0.75");
        };
        sooner(Way::Forebay, Way::BareHyper);
        sooner(Way::Hosted, Way::BareHyper);
    }
    report
}

/// What each server does with so many clients, in turns, so that whatever else the machine does
/// falls on all of them.
fn in_turns(servers: &[(Way, &HttpPeer)], era: Era, tool: &str, clients: usize) -> Vec<Measured> {
    let mut loads: Vec<Load> =
        servers.iter().map(|(_, server)| Load::new(server, era, tool, clients)).collect();
    for load in &mut loads {
        load.run(ROUND / 2);
    }
    let mut rounds = vec![Vec::new(); loads.len()];
    let mut times = vec![Duration::ZERO; loads.len()];
    for _ in 0..ROUNDS {
        for (place, load) in loads.iter_mut().enumerate() {
            let process = servers[place].1.id();
            let before = processor_time(process);
            rounds[place].push(load.run(ROUND));
            times[place] += processor_time(process).saturating_sub(before);
        }
    }
    rounds.into_iter().zip(times).map(|(rounds, time)| measured(&rounds, time)).collect()
}

fn measured(rounds: &[Seen], time: Duration) -> Measured {
    let all: usize = rounds.iter().map(|seen| seen.calls).sum();
    let mut calls: Vec<f64> = rounds.iter().map(|seen| seen.calls_per_second).collect();
    let mut p99: Vec<Duration> = rounds.iter().map(|seen| seen.p99).collect();
    calls.sort_unstable_by(f64::total_cmp);
    p99.sort_unstable();
    let (middle, p99) = (calls.len() / 2, p99[p99.len() / 2]);
    let seen = Seen { calls: all, calls_per_second: calls[middle], p99 };
    Measured { seen, each: time.div_f64(all as f64) }
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

fn say(report: &str) {
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}
