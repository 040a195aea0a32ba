//! How jobs end: cancelled, failed, expired, or with Forebay itself.

use std::fs;

use forebay_testkit::http::Era;
use serde_json::json;

use super::{AT_ONCE, LATE, WAYS, call, ended, job_of, now, on_stdio, release, start, told, until};
use crate::transports::{Client, Transport};

/// How many calls the upstream knows to be cancelled.
fn cancelled(client: &mut Client) -> String {
    let answer = call(client, "cancelled", &json!({}));
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_that_is_cancelled_ends_at_the_upstream_too() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &format!("[tools.count]\n{AT_ONCE}"), from, era);
        let work = json!({ "hold": "gate" });
        let job = job_of(&call(&mut client, "count", &work));
        let answer = call(&mut client, "get_run_status", &json!({ "job_id": job, "cancel": true }));
        assert_eq!(told(&answer)["status"], "cancelled", "{answer}");
        until("the upstream hears of it", || cancelled(&mut client) == "1");
        assert_eq!(now(&mut client, &job)["status"], "cancelled");
        let anew = job_of(&call(&mut client, "count", &work));
        assert_ne!(anew, job, "its work is no longer being done");
        release(&mut client, "gate");
        assert_eq!(ended(&mut client, &anew).0["status"], "completed");
        let late = json!({ "job_id": anew, "cancel": true });
        let answer = call(&mut client, "get_run_status", &late);
        assert_eq!(told(&answer)["status"], "completed", "what has ended stays as it is");
        client.end();
    }
}

#[test]
fn the_clients_cancellation_ends_a_call_until_it_has_become_a_job() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.count]\n{LATE}[tools.echo]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let job = job_of(&call(&mut client, "echo", &json!({ "hold": "gate" })));
    let Client::Stdio { peer, last_id, .. } = &mut client else { unreachable!() };
    let cancel = |id: u64| {
        let params = json!({ "requestId": id });
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
            .to_string()
    };
    peer.send(&cancel(*last_id));
    let waiting = json!({ "name": "count", "arguments": { "hold": "gate", "progress": 1 },
        "_meta": { "progressToken": "t" } });
    let waiting = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": waiting });
    // Its progress tells that the upstream is at work.
    let progress = peer.ask(&waiting.to_string());
    assert!(progress.contains("notifications/progress"), "{progress}");
    peer.send(&cancel(900));
    until("the call is cancelled", || cancelled(&mut client) == "1");
    assert_eq!(now(&mut client, &job)["status"], "running", "it is no call any more");
    release(&mut client, "gate");
    assert_eq!(ended(&mut client, &job).0["status"], "completed");
    client.end();
}

#[test]
fn a_tool_that_fails_fails_its_job_with_what_it_says() {
    for (from, era) in WAYS {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &format!("[tools.\"*\"]\n{AT_ONCE}"), from, era);
        let job = job_of(&call(&mut client, "fail", &json!({ "x": "y".repeat(5_000) })));
        let (told, answer) = ended(&mut client, &job);
        assert_eq!(told["status"], "failed", "{answer}");
        assert!(told["error"].as_str().unwrap().starts_with("1: {\"x\":\"yyy"), "{told}");
        assert!(answer["result"]["isError"].is_null(), "the question is answered");
        client.end();
    }
}

#[test]
fn a_question_of_the_tools_fails_a_job_that_nobody_can_answer() {
    let home = tempfile::tempdir().unwrap();
    let mut client =
        start(home.path(), &format!("[tools.\"*\"]\n{AT_ONCE}"), Transport::Stdio, Era::Modern);
    let job = job_of(&call(&mut client, "echo", &json!({ "ask": "elicitation/create" })));
    let (told, _) = ended(&mut client, &job);
    assert!(told["error"].as_str().unwrap().starts_with("it asks for input"), "{told}");
    client.end();
}

#[test]
fn an_upstream_that_ends_fails_its_jobs_with_the_reason() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.count]\n{AT_ONCE}");
    let mut client = start(home.path(), &settings, Transport::Http, Era::Modern);
    let job = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    call(&mut client, "exit", &json!({ "count": 3 }));
    let (told, _) = ended(&mut client, &job);
    assert_eq!(told["status"], "failed");
    assert!(told["error"].as_str().unwrap().contains("upstream `fixture`"), "{told}");
    client.end();
}

#[test]
fn what_has_ended_long_ago_has_expired() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[jobs]\nexpire_seconds = 1\n[tools.count]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let job = job_of(&call(&mut client, "count", &json!({ "of": "secret" })));
    ended(&mut client, &job);
    until("it has expired", || now(&mut client, &job)["status"] == "expired");
    assert!(now(&mut client, &job)["message"].as_str().unwrap().contains("no longer kept"));
    let running = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    assert_eq!(now(&mut client, &running)["status"], "running");
    client.end();
}

#[test]
fn what_has_expired_is_removed_also_where_no_job_ends_any_more() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[jobs]\nexpire_seconds = 1\n[tools.count]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let job = job_of(&call(&mut client, "count", &json!({ "of": "secret" })));
    ended(&mut client, &job);
    until("it has expired", || now(&mut client, &job)["status"] == "expired");
    client.end();
    let record = home.path().join("jobs").join(format!("{job}.json"));
    assert!(fs::read_to_string(&record).unwrap().contains("secret"));
    let mut client = on_stdio(home.path(), &settings);
    call(&mut client, "get_run_status", &json!({ "job_id": "job_22222222" }));
    assert!(!fs::read_to_string(&record).unwrap().contains("secret"));
    client.end();
}

#[test]
fn a_job_that_runs_for_too_long_has_failed() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[jobs]\nmax_run_seconds = 1\n[tools.count]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let job = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    let (told, _) = ended(&mut client, &job);
    assert_eq!(told["status"], "failed");
    assert!(told["error"].as_str().unwrap().contains("jobs.max_run_seconds"), "{told}");
    client.end();
}

#[test]
fn a_job_of_a_process_that_was_killed_has_failed_with_the_reason() {
    for from in [Transport::Stdio, Transport::Http] {
        let home = tempfile::tempdir().unwrap();
        let settings = format!("[tools.count]\n{AT_ONCE}");
        let mut client = start(home.path(), &settings, from, Era::Legacy);
        let job = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
        assert_eq!(now(&mut client, &job)["status"], "running");
        let mut next = start(home.path(), &settings, from, Era::Legacy);
        assert_eq!(now(&mut next, &job)["status"], "running", "another process sees it, too");
        let elsewhere = json!({ "job_id": job, "cancel": true });
        let answer = call(&mut next, "get_run_status", &elsewhere);
        assert!(told(&answer)["message"].as_str().unwrap().contains("another process"), "{answer}");
        // Dropped, its process is killed.
        drop(client);
        let (told, _) = ended(&mut next, &job);
        assert_eq!(told["status"], "failed");
        let why = told["error"].as_str().unwrap();
        assert!(why.starts_with("Forebay ended before the tool answered"), "{why}");
        next.end();
    }
}

#[test]
fn a_client_on_stdio_finds_what_ended_before_it_came_back() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.\"*\"]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let short = job_of(&call(&mut client, "count", &json!({ "of": 7 })));
    let long = job_of(&call(&mut client, "records", &json!({ "count": 2_000 })));
    ended(&mut client, &short);
    ended(&mut client, &long);
    let running = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    client.end();
    let mut client = on_stdio(home.path(), &settings);
    let (_, answer) = ended(&mut client, &short);
    assert_eq!(answer["result"]["content"][1]["text"], "1: {\"of\":7}");
    let (told, _) = ended(&mut client, &long);
    let query = format!("SELECT count(*) AS n FROM {}", told["dataset_id"].as_str().unwrap());
    let counted = call(&mut client, "analyze-with-duckdb", &json!({ "query": query }));
    assert_eq!(counted["result"]["content"][0]["text"], "n\n2001", "{counted}");
    let (told, _) = ended(&mut client, &running);
    assert_eq!(told["status"], "failed", "its upstream ended with the client");
    assert!(!told["error"].as_str().unwrap().is_empty());
    client.end();
}
