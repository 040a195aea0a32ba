//! How long results take whose model never answers: nobody waits longer than the deadline.
//!
//! `cargo bench --bench summaries` has sessions side by side wait for a provider that hangs, each result up to
//! the usual deadline of 2 s, and prints p50 and p99 from the call to the summary. Every result is asked
//! about and waits: as many questions as there are may be open, and none is given up meanwhile.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

mod common;

use std::{fmt::Write as _, io::Write as _, net::TcpListener, path::Path, thread, time::Duration};

use common::{Home, millis, session::Session, target};
use serde_json::json;

/// So many wait at the same time.
const SESSIONS: usize = 8;
/// A question is given up after 30 s, which is later than this many deadlines.
const RESULTS: u64 = 13;
/// The first results, which start what has to be started, are not counted.
const WARM_UP: u64 = 1;
const GOAL: &str = "≤ 2.0";

fn main() {
    let home = Home::new("summaries");
    // Connections are made, and nothing is ever said.
    let provider = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", provider.local_addr().expect("an address"));
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (home, url) = (home.store(&number.to_string()), &url);
                scope.spawn(move || waited(&home, url))
            })
            .collect();
        sessions.into_iter().flat_map(|session| session.join().expect("a session")).collect()
    });
    times.sort_unstable();
    let at = |hundredth: usize| times[(times.len() * hundredth / 100).min(times.len() - 1)];
    let mut report = "\nresults whose model never answers\n".to_owned();
    let _ = writeln!(
        report,
        "  {} results, {SESSIONS} at once: p50 {:.0} ms, p99 {:.0} ms, the slowest {:.0} ms",
        times.len(),
        millis(at(50)),
        millis(at(99)),
        millis(at(100)),
    );
    target(&mut report, "p99, in seconds", at(99).as_secs_f64(), GOAL);
    std::io::stdout().write_all(report.as_bytes()).expect("stdout");
}

/// How long each result of a session took.
fn waited(home: &Path, url: &str) -> Vec<Duration> {
    let variables = [
        ("FOREBAY_SUMMARIES_PROVIDER", "openai"),
        ("FOREBAY_SUMMARIES_URL", url),
        ("FOREBAY_SUMMARIES_MAX_RUNNING", "64"),
        ("FOREBAY_SEARCH_EMBEDDER", "none"),
    ];
    let mut session = Session::start(home, &variables);
    let mut result = |count: u64| {
        let (time, summary) = session.call("records", &json!({"count": count}));
        assert!(summary.contains(" has been saved as dataset_"), "{summary}");
        // Less is the time of a result that nobody was asked about.
        assert!(time > Duration::from_secs(1), "it has waited: {time:?}");
        time
    };
    for more in 0..WARM_UP {
        result(50 + more);
    }
    (0..RESULTS).map(|more| result(60 + more)).collect()
}
