//! The processes that queries run in: how they are ended, and what several of them do together.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use forebay_testkit::peer::eventually;
use serde_json::{Value, json};

use super::Client;

/// A query that would take days.
const ENDLESS: &str = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b";

/// The query workers of a client's `forebay`.
fn workers(client: &Client) -> Vec<u32> {
    let pid = client.peer.child.id();
    let children =
        fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    // Threads have children of their own.
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of_tasks =
        tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let mut all: Vec<u32> = of_tasks
        .chain([children])
        .flat_map(|list| {
            list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
        })
        .filter(|pid| {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains("query-worker")
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_cancelled_query_is_interrupted_and_its_worker_answers_the_next() {
    let mut client = Client::new("cancelled");
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
    let before = workers(&client);
    assert_eq!(before.len(), 1);
    let params = json!({"name": "analyze-with-duckdb", "arguments": {"query": ENDLESS}});
    let id = client.send("tools/call", &params);
    eventually("the query runs", || is_busy(before[0]));
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.peer.send(&cancel.to_string());
    eventually("the query has ended", || !is_busy(before[0]));
    assert_eq!(client.analyze("SELECT 2 AS two").rows(), "two\n2");
    assert_eq!(workers(&client), before, "it was interrupted, not ended");
}

/// True if a process uses a core at this time.
fn is_busy(pid: u32) -> bool {
    let ticks = || -> u64 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum()
    };
    let before = ticks();
    thread::sleep(Duration::from_millis(100));
    ticks() >= before + 3
}

#[test]
fn a_query_that_takes_too_long_is_stopped() {
    let mut client = Client::with("late", &[], &[("FOREBAY_QUERY_TIME_LIMIT", "1")]);
    let late = client.analyze(ENDLESS);
    assert!(late.error().contains("stopped after 1 s"), "{}", late.error());
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
}

#[test]
fn a_query_that_takes_too_much_memory_is_refused_and_the_session_goes_on() {
    let limits = [("FOREBAY_QUERY_MEMORY_LIMIT", "100 MB"), ("FOREBAY_QUERY_SPILL_LIMIT", "1 MB")];
    let mut client = Client::with("memory", &[], &limits);
    let much = client.analyze(
        "SELECT count(DISTINCT a) FROM (SELECT range::VARCHAR || 'x' AS a FROM range(50000000)) ORDER BY 1",
    );
    assert!(much.error().contains("Ask for less at a time"), "{}", much.error());
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
}

#[test]
fn a_worker_that_dies_costs_one_answer_and_no_session() {
    let mut client = Client::new("dies");
    client.analyze("SELECT 1");
    let worker = workers(&client)[0];
    let params = json!({"name": "analyze-with-duckdb", "arguments": {"query": ENDLESS}});
    let id = client.send("tools/call", &params);
    eventually("the query runs", || is_busy(worker));
    let killed = std::process::Command::new("kill").args(["-9", &worker.to_string()]).status();
    assert!(killed.unwrap().success());
    let answer: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(id), &json!(true)),
        "{answer}"
    );
    assert_eq!(client.analyze("SELECT 2 AS two").rows(), "two\n2");
}

#[test]
fn the_memory_of_queries_is_given_back_after_an_idle_time() {
    let mut client = Client::with("idle", &[], &[("FOREBAY_QUERY_IDLE_TIME", "1")]);
    assert!(workers(&client).is_empty(), "none before it is needed");
    let id = client.keep_orders(450);
    client.analyze(&format!("SELECT count(*) FROM {id}"));
    let ended = workers(&client);
    assert!(!ended.is_empty());
    eventually("no worker is left", || workers(&client).is_empty());
    let is_gone = |pid: &u32| !fs::exists(format!("/proc/{pid}")).unwrap();
    eventually("nor what remains of one that nobody has waited for", || ended.iter().all(is_gone));
    let again = client.analyze(&format!("SELECT count(*) AS n FROM {id}"));
    assert_eq!(again.rows(), "n\n450", "and one comes back when it is needed");
    assert_eq!(fs::read_dir(client.home.join("spill")).unwrap().count(), 1, "only the new one's");
}

#[test]
fn rows_are_made_in_the_background_without_being_asked_for() {
    let mut client = Client::new("background");
    let id = client.keep_orders(450);
    let rows = || {
        let files = walk(&client.home.join("datasets"));
        files.iter().any(|file| file.ends_with(&format!("{id}_rows.parquet")))
    };
    eventually("the rows are there", rows);
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path().display().to_string());
        }
    }
    files
}

#[test]
fn a_query_that_must_wait_for_its_rows_tells_of_progress() {
    let mut client = Client::new("progress");
    let summary = client.call("records", &json!({"count": 400_000}));
    let id = summary.dataset();
    let arguments = json!({"query": format!("SELECT count(*) AS n FROM {id}")});
    let params = json!({"name": "analyze-with-duckdb", "arguments": arguments, "_meta": {"progressToken": "t"}});
    let asked = client.send("tools/call", &params);
    let mut heard = Vec::new();
    loop {
        let message: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
        if message["id"] == asked {
            assert_eq!(message["result"]["content"][0]["text"], "n\n400001");
            break;
        }
        assert_eq!(message["params"]["progressToken"], "t", "{message}");
        heard.push(message["params"]["progress"].as_f64().unwrap());
    }
    assert!(!heard.is_empty(), "it was told of progress");
    assert!(heard.is_sorted_by(|a, b| a < b), "{heard:?}");
}

#[test]
fn two_processes_query_while_a_third_captures() {
    let mut capturing = Client::new("three");
    let id = capturing.keep_orders(450);
    let home = capturing.home.clone();
    let asking: Vec<_> = (0..2)
        .map(|_| {
            let (home, id) = (home.clone(), id.clone());
            thread::spawn(move || {
                let mut client = Client::at(home, &[], &[]);
                let (started, mut last) = (Instant::now(), 0);
                let mut asked = 0;
                while last < 20 {
                    assert!(started.elapsed() < Duration::from_secs(60), "{last} of 20 were seen");
                    let sum =
                        client.analyze(&format!("SELECT count(*) AS n, max(id) AS m FROM {id}"));
                    assert_eq!(sum.rows(), "n,m\n450,449");
                    let history =
                        client.analyze("SELECT count(DISTINCT _dataset) AS n FROM file_history");
                    let seen: u64 = history.rows().trim_start_matches("n\n").parse().unwrap();
                    assert!(seen >= last, "what was seen stays");
                    last = seen;
                    asked += 1;
                }
                asked
            })
        })
        .collect();
    for n in 1..20 {
        capturing.keep_orders(450 + n);
    }
    for thread in asking {
        assert!(thread.join().unwrap() > 0);
    }
}
