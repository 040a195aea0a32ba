//! The processes that queries run in: how they are ended, and what several of them do together.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use forebay_testkit::peer::eventually;
use serde_json::{Value, json};

use super::Client;
use crate::make_rows;

/// A query that would take days.
const ENDLESS: &str = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b";

/// A query that would take minutes, in one call of a function, which cannot be told to stop.
const UNHEEDING: &str = "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))";

fn signal(worker: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([name, &worker.to_string()]).status();
    assert!(sent.unwrap().success());
}

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
    signal(worker, "-9");
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
    let mut client = Client::with("idle", &[], &[("FOREBAY_QUERY_IDLE_TIME", "3")]);
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
fn the_rows_of_a_long_result_are_made_in_the_background_without_being_asked_for() {
    let mut client = Client::new("background");
    let summary = client.call("records", &json!({"count": 40_000}));
    let id = summary.dataset();
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

#[test]
fn a_query_that_cannot_be_told_to_stop_ends_with_its_worker() {
    let mut client = Client::with("unheeding", &[], &[("FOREBAY_QUERY_TIME_LIMIT", "1")]);
    client.analyze("SELECT 1");
    let before = workers(&client);
    let late = client.analyze(UNHEEDING);
    assert!(late.error().contains("stopped after 1 s"), "{}", late.error());
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
    assert!(workers(&client).iter().all(|worker| !before.contains(worker)), "it was killed");
}

#[test]
fn cancelled_queries_that_cannot_be_told_to_stop_hold_no_worker() {
    let mut client = Client::with("unheeding-cancelled", &[], &[]);
    let params = json!({"name": "analyze-with-duckdb", "arguments": {"query": UNHEEDING}});
    let ids: Vec<u32> = (0..4).map(|_| client.send("tools/call", &params)).collect();
    let all_are_busy = || {
        let workers = workers(&client);
        workers.len() >= 3 && workers.into_iter().all(is_busy)
    };
    eventually("they run", all_are_busy);
    let before = workers(&client);
    for id in ids {
        let params = json!({ "requestId": id });
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        client.peer.send(&cancel.to_string());
    }
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
    // One that had only just started heeds, and waits for the next question.
    eventually("none of them is at work", || before.iter().all(|worker| !is_busy(*worker)));
}

#[test]
fn a_stopped_worker_is_replaced() {
    let mut client = Client::new("stopped");
    client.analyze("SELECT 1");
    let worker = workers(&client)[0];
    signal(worker, "-STOP");
    // It does not fit into the pipe, so that whoever asks could be stopped, too.
    let long = format!("SELECT 2 AS two -- {}", "x".repeat(90_000));
    assert_eq!(client.analyze(&long).rows(), "two\n2");
    assert!(!workers(&client).contains(&worker));
}

#[test]
fn a_worker_that_is_stopped_at_work_costs_one_answer() {
    let mut client = Client::new("stopped-at-work");
    client.analyze("SELECT 1");
    let worker = workers(&client)[0];
    let params = json!({"name": "analyze-with-duckdb", "arguments": {"query": ENDLESS}});
    client.send("tools/call", &params);
    eventually("the query runs", || is_busy(worker));
    signal(worker, "-STOP");
    let answer = client.peer.next_line();
    assert!(answer.contains("stopped from outside"), "{answer}");
    assert_eq!(client.analyze("SELECT 2 AS two").rows(), "two\n2");
}

#[test]
fn a_worker_that_ran_out_of_memory_makes_room_for_another() {
    let mut client = Client::with("spent", &[], &[("FOREBAY_QUERY_MEMORY_LIMIT", "100 MB")]);
    client.analyze("SELECT 1");
    let worker = workers(&client)[0];
    let much = client.analyze("SELECT length(repeat(repeat('x', 30000), 30000))");
    assert!(much.error().contains("Out of Memory"), "{}", much.error());
    eventually("it is gone", || !forebay_testkit::peer::is_running(worker));
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
}

#[test]
fn a_worker_knows_nothing_of_our_environment_and_may_do_little() {
    let mut client = Client::with("confined", &[], &[("SOME_SECRET", "abc")]);
    client.analyze("SELECT 1");
    let worker = workers(&client)[0];
    let environment = fs::read(format!("/proc/{worker}/environ")).unwrap();
    let names: Vec<String> = environment
        .split(|byte| *byte == 0)
        .map(|variable| String::from_utf8_lossy(variable).split('=').next().unwrap().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let needed = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"];
    assert!(names.iter().all(|name| needed.contains(&name.as_str())), "{names:?}");
    let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap();
    for fact in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(status.contains(fact), "{status}");
    }
}

#[test]
fn json_that_is_nested_very_deeply_is_told_as_the_reason() {
    let mut client = Client::new("deep");
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let record = |n: u32| format!(r#"{{"id":{n},"deep":{}}}"#, if n == 7 { "1" } else { &deep });
    let records: Vec<String> = (0..20).map(record).collect();
    let id = client.keep_text(&format!("[{}]", records.join(",")));
    assert_eq!(client.analyze(&format!("SELECT count(*) AS n FROM {id}")).rows(), "n\n20");
    let ended = client.analyze(&format!("SELECT json_structure(to_json(deep)) FROM {id}"));
    assert!(ended.error().contains("JSON that is nested very deeply"), "{}", ended.error());
    assert_eq!(client.analyze("SELECT 1 AS one").rows(), "one\n1");
}

#[test]
fn a_worker_that_dies_before_the_query_runs_is_not_blamed_on_it() {
    let mut client = Client::new("unprepared");
    let id = client.keep_orders(450);
    make_rows(&client.home, &id);
    let is_rows = |file: &String| file.ends_with(&format!("/{id}_rows.parquet"));
    let rows = walk(&client.home.join("datasets")).into_iter().find(is_rows).unwrap();
    // As long as it is locked, another seems to be making the rows.
    let lock = fs::File::create(rows.replace(&format!("/{id}"), &format!("/.{id}")) + ".lock");
    let lock = lock.unwrap();
    lock.lock().unwrap();
    fs::remove_file(rows).unwrap();
    let arguments = json!({"query": format!("SELECT count(*) FROM {id}")});
    let params = json!({"name": "analyze-with-duckdb", "arguments": arguments, "_meta": {"progressToken": "t"}});
    let asked = client.send("tools/call", &params);
    let told = client.peer.next_line();
    assert!(told.contains("another process is making the rows"), "{told}");
    for worker in workers(&client) {
        signal(worker, "-9");
    }
    loop {
        let message: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
        if message["id"] == asked {
            let error = message.to_string();
            assert!(error.contains("The query is not the reason"), "{error}");
            break;
        }
    }
    drop(lock);
    let again = client.analyze(&format!("SELECT count(*) AS n FROM {id}"));
    assert_eq!(again.rows(), "n\n450");
}
