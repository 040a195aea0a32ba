//! What it costs to have many servers behind one entry, beside one server and beside a peer.
//!
//! `cargo bench --bench gateway` measures in one run, in turns, and prints as ratios: a small call's round
//! trip on stdio through `forebay wrap`, through `forebay gateway` with 1 and with 20 upstreams, and
//! through the proxy of `fastmcp` from PyPI in front of the same ones, if Python is there; the list of all
//! their tools, 25 of each; the memory for each upstream, and over HTTP for each session.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod common;

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Home, PATIENCE, Server, micros, millis, ratio, resident, target};
use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    programs, real,
};
use serde_json::{Value, json};

const FASTMCP: &str = "4.1.2";
const MANY: usize = 20;
/// Beside the three that the fixture has for legacy clients.
const MORE_TOOLS: &str = "22";
const TOOLS: usize = 25;
const SMALL_CALLS: usize = 2_100;
const LISTS: usize = 70;
const WARM_UP: usize = 200;
const ROUNDS: usize = 7;
const SESSIONS: usize = 10;

/// A way from the client to its upstreams.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Wrap,
    Gateway(usize),
    FastMcp(usize),
}

/// A way that has been started.
struct Started {
    way: Way,
    server: Server,
    /// A call of each upstream.
    calls: Vec<Vec<u8>>,
    times: Vec<Duration>,
    lists: Vec<Duration>,
    /// How many tools there are.
    tools: usize,
}

const WAYS: [Way; 5] =
    [Way::Wrap, Way::Gateway(1), Way::Gateway(MANY), Way::FastMcp(1), Way::FastMcp(MANY)];

fn main() {
    common::run(&Home::new("gateway"), &[("stdio", on_stdio), ("sessions", sessions)]);
}

fn on_stdio(home: &Home, report: &mut String) {
    let mut started: Vec<Started> = WAYS.into_iter().filter_map(|way| way.start(home)).collect();
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..ROUNDS {
        for way in &mut started {
            way.ask(SMALL_CALLS / ROUNDS);
        }
    }
    for _ in 0..ROUNDS {
        for way in started.iter_mut().filter(|way| way.way.upstreams() == MANY) {
            way.list(LISTS / ROUNDS);
        }
    }
    for way in &mut started {
        way.has_kept_in_step();
        way.times.sort_unstable();
        way.lists.sort_unstable();
    }
    small_calls(&started, report);
    lists(&started, report);
    memory(&started, report);
}

fn small_calls(started: &[Started], report: &mut String) {
    let p50 =
        |way: Way| started.iter().find(|it| it.way == way).map(|it| percentile(&it.times, 50));
    let _ = writeln!(report, "small call                 p50          p99   p50 × wrap");
    let wrap = p50(Way::Wrap).expect("it is always there");
    for it in started {
        let (p50, p99) = (percentile(&it.times, 50), percentile(&it.times, 99));
        let _ = writeln!(
            report,
            "  {:<16} {:>9.1} µs {:>9.1} µs {:>12.2}",
            it.way.name(),
            micros(p50),
            micros(p99),
            ratio(p50, wrap)
        );
    }
    for count in [1, MANY] {
        let gateway = p50(Way::Gateway(count)).expect("it is always there");
        target(report, &format!("p50, gateway of {count} / wrap"), ratio(gateway, wrap), "≤ 2");
        if let Some(peer) = p50(Way::FastMcp(count)) {
            let what = format!("p50, fastmcp of {count} / gateway of {count}");
            target(report, &what, ratio(peer, gateway), "≥ 20");
        }
    }
}

fn lists(started: &[Started], report: &mut String) {
    let _ = writeln!(report, "\ntools/list of {MANY} upstreams   tools       p50       p99");
    let of_many = || started.iter().filter(|it| it.way.upstreams() == MANY);
    for it in of_many() {
        let _ = writeln!(
            report,
            "  {:<27} {:>6} {:>6.2} ms {:>6.2} ms",
            it.way.name(),
            it.tools,
            millis(percentile(&it.lists, 50)),
            millis(percentile(&it.lists, 99))
        );
    }
    let times: Vec<Duration> = of_many().map(|it| percentile(&it.lists, 50)).collect();
    if let [gateway, peer] = times[..] {
        target(report, "p50, fastmcp / gateway", ratio(peer, gateway), "≥ 20");
    }
}

/// Of the process itself: what its upstreams take is theirs.
fn memory(started: &[Started], report: &mut String) {
    let held = |way: Way| {
        let server = started.iter().find(|it| it.way == way);
        server.map(|it| resident(it.server.child.id(), "VmRSS"))
    };
    let _ = writeln!(report, "\nmemory, MiB         1 upstream   {MANY} upstreams   for each");
    for (name, one, many) in [
        ("forebay gateway", Way::Gateway(1), Way::Gateway(MANY)),
        ("fastmcp", Way::FastMcp(1), Way::FastMcp(MANY)),
    ] {
        if let (Some(one), Some(many)) = (held(one), held(many)) {
            let each = (many - one) / (MANY - 1) as f64;
            let _ = writeln!(report, "  {name:<16} {one:>11.1} {many:>14.1} {each:>10.2}");
        }
    }
}

/// Memory of `forebay serve` for each session, which has a process of each upstream.
fn sessions(home: &Home, report: &mut String) {
    let _ = writeln!(report, "\n{SESSIONS} sessions over HTTP, memory for each");
    for count in [1, MANY] {
        let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
        forebay.args(["serve", "--listen", "127.0.0.1:0", "--servers"]).arg(file(home, count));
        let forebay = HttpPeer::start(forebay.env("FOREBAY_HOME", home.store("sessions")));
        let begin = || {
            let mut client = McpHttpClient::legacy(&forebay);
            let started = Instant::now();
            while !has_all(&client.call("tools/list", &json!({})), count) {
                assert!(started.elapsed() < PATIENCE, "all upstreams are there");
                thread::sleep(Duration::from_millis(20));
            }
            client
        };
        // The first ones pay for what all share.
        let _first = [begin(), begin()];
        let before = resident(forebay.id(), "VmRSS");
        let clients: Vec<McpHttpClient> = (0..SESSIONS).map(|_| begin()).collect();
        let each = (resident(forebay.id(), "VmRSS") - before) / clients.len() as f64;
        let _ = writeln!(report, "  with {count:>2} upstreams: {each:.2} MiB");
    }
}

impl Way {
    fn name(self) -> String {
        match self {
            Self::Wrap => "forebay wrap".to_owned(),
            Self::Gateway(count) => format!("gateway of {count}"),
            Self::FastMcp(count) => format!("fastmcp of {count}"),
        }
    }

    fn upstreams(self) -> usize {
        match self {
            Self::Wrap => 1,
            Self::Gateway(count) | Self::FastMcp(count) => count,
        }
    }

    /// Starts it; `None` if it cannot be had.
    fn start(self, home: &Home) -> Option<Started> {
        let mut command = match self {
            Self::Wrap => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
                command.args(["wrap", "--"]).arg(programs::fixture_upstream());
                command.args(["--tools", MORE_TOOLS]);
                command
            }
            Self::Gateway(count) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
                command.args(["gateway", "--servers"]).arg(file(home, count));
                command
            }
            Self::FastMcp(count) => {
                let mut command = Command::new(real::python_with("fastmcp", FASTMCP)?);
                command.arg(real::source("bench/fastmcp_gateway.py")).arg(file(home, count));
                command
            }
        };
        let command = command.env("FOREBAY_HOME", home.store("stdio")).stderr(Stdio::null());
        Some(Started::new(self, Server::start(command)))
    }
}

impl Started {
    fn new(way: Way, mut server: Server) -> Self {
        server.initialize();
        // Upstreams may be there a moment later, which is told in lines of its own.
        let started = Instant::now();
        let listed = loop {
            let answer = server.answer_among(LIST, &json!(1));
            if has_all(&answer, way.upstreams()) {
                break answer;
            }
            assert!(started.elapsed() < PATIENCE, "{}: all upstreams are there", way.name());
            thread::sleep(Duration::from_millis(50));
        };
        let names = tools(&listed);
        let echoes = names.iter().filter(|name| name.ends_with("echo"));
        let calls: Vec<Vec<u8>> = echoes.map(|name| call(name).into_bytes()).collect();
        assert_eq!(calls.len(), way.upstreams(), "{names:?}");
        let mut it =
            Self { way, server, calls, times: Vec::new(), lists: Vec::new(), tools: names.len() };
        it.server.answer_among(PING, &json!("ping"));
        it.ask(WARM_UP);
        it.times.clear();
        it
    }

    /// Calls all upstreams in turn.
    fn ask(&mut self, count: usize) {
        for call in self.calls.iter().cycle().take(count) {
            self.times.push(self.server.ask(call));
        }
    }

    fn list(&mut self, count: usize) {
        self.lists.extend((0..count).map(|_| self.server.ask(LIST)));
    }

    /// Makes sure that each answer was the one to its call, and no notification was taken for one.
    fn has_kept_in_step(&mut self) {
        let answer = self.server.answer_to(PING);
        let answer: Value = serde_json::from_slice(&answer).expect("one line of JSON");
        assert_eq!(answer["id"], "ping", "{}", self.way.name());
    }
}

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;
const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;

fn call(tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"hello"}}}}}}"#
    )
}

fn tools(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn has_all(answer: &Value, upstreams: usize) -> bool {
    tools(answer).len() >= upstreams * TOOLS
}

/// A client's file with so many servers.
fn file(home: &Home, count: usize) -> PathBuf {
    let folder = home.store("files");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{count}.json"));
    let server =
        json!({ "command": programs::fixture_upstream(), "args": ["--tools", MORE_TOOLS] });
    let servers = (1..=count).map(|number| (format!("s{number}"), server.clone())).collect();
    let text = json!({ "mcpServers": Value::Object(servers) }).to_string();
    fs::write(&path, text).expect("a file");
    path
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[sorted.len() * percent / 100]
}
