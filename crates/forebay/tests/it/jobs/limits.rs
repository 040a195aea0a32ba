//! How many jobs there may be, who sees them, and names that are none.

use std::fs;

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    programs,
};
use serde_json::{Value, json};

use super::{AT_ONCE, call, command, ended, job_of, now, on_stdio, release};
use crate::transports::{Client, Transport};

#[test]
fn one_more_than_may_run_is_refused_before_it_begins() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[jobs]\nmax_per_session = 2\n[tools.count]\n{AT_ONCE}");
    let mut client = on_stdio(home.path(), &settings);
    let mut job = |of: u64| call(&mut client, "count", &json!({ "of": of, "hold": "gate" }));
    let (first, second) = (job_of(&job(1)), job_of(&job(2)));
    let refused = job(3);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let why = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(why.starts_with("Nothing was started") && why.contains("get_run_status"), "{why}");
    assert_eq!(job_of(&job(2)), second, "what runs is named nevertheless");
    release(&mut client, "gate");
    for job in [&first, &second] {
        assert_eq!(ended(&mut client, job).0["status"], "completed");
    }
    let third = job_of(&call(&mut client, "count", &json!({ "of": 3, "hold": "gate" })));
    let (_, answer) = ended(&mut client, &third);
    let result = answer["result"]["content"][1]["text"].as_str().unwrap();
    assert!(result.starts_with("3: "), "the one that was refused never reached it: {result}");
    client.end();
}

#[test]
fn a_call_for_which_there_is_no_room_is_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let settings =
        format!("[jobs]\nmax_running = 1\n[tools.echo]\n{AT_ONCE}[tools.count]\njob_after = 1\n");
    let mut client = on_stdio(home.path(), &settings);
    let job = job_of(&call(&mut client, "echo", &json!({ "hold": "never" })));
    // It takes longer than it may, and then answers.
    let answer = call(&mut client, "count", &json!({ "delay": 2_500 }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("1: "), "{answer}");
    assert_eq!(now(&mut client, &job)["status"], "running");
    client.end();
}

#[test]
fn one_session_leaves_room_for_another() {
    let home = tempfile::tempdir().unwrap();
    let settings =
        format!("[jobs]\nmax_running = 3\nmax_per_session = 2\n[tools.count]\n{AT_ONCE}");
    let mut command = command(home.path(), &settings, Transport::Http);
    let fixture = programs::fixture_upstream();
    let peer = HttpPeer::start(command.arg("--").arg(fixture).arg("--receives"));
    let (mut one, mut other) = (McpHttpClient::legacy(&peer), McpHttpClient::legacy(&peer));
    let begins = |client: &mut McpHttpClient, of: u64| {
        let answer = client.call_tool("count", &json!({ "of": of, "hold": "gate" }));
        answer["result"]["isError"].is_null()
    };
    assert_eq!([1, 2, 3].map(|of| begins(&mut one, of)), [true, true, false]);
    assert_eq!([4, 5].map(|of| begins(&mut other, of)), [true, false], "there is room for three");
}

#[test]
fn modern_clients_of_one_name_are_one_session() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[jobs]\nmax_per_session = 1\n[tools.count]\n{AT_ONCE}");
    let mut command = command(home.path(), &settings, Transport::Http);
    let fixture = programs::fixture_upstream();
    let peer = HttpPeer::start(command.arg("--").arg(fixture).arg("--receives"));
    let begins = |name: &str, of: u64| {
        let info = json!({ "name": name, "version": "1" });
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": info,
            "io.modelcontextprotocol/clientCapabilities": {} });
        let arguments = json!({ "of": of, "hold": "gate" });
        let params = json!({ "name": "count", "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut connection = peer.connect();
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "count"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        connection.send("POST", "/mcp", &headers, body.to_string().as_bytes());
        assert_eq!(connection.head().status, 200);
        let answer = String::from_utf8(connection.body().unwrap()).unwrap();
        assert!(answer.contains("job_id") != answer.contains("Nothing was started"), "{answer}");
        answer.contains("job_id")
    };
    assert_eq!([begins("one", 1), begins("one", 2), begins("other", 3)], [true, false, true]);
}

fn in_directory(home: &std::path::Path, directory: &std::path::Path, scope: &str) -> Client {
    fs::create_dir_all(directory).unwrap();
    let settings = format!("scope = \"{scope}\"\n[tools.count]\n{AT_ONCE}");
    let mut command = command(home, &settings, Transport::Stdio);
    command.current_dir(directory).arg("--").arg(programs::fixture_upstream()).arg("--receives");
    Client::start(Transport::Stdio, Era::Legacy, &mut command)
}

/// What is said of a job that one may not know of, or that is none.
fn unknown(client: &mut Client, job: &str) -> String {
    let answer = call(client, "get_run_status", &json!({ "job_id": job, "wait_seconds": 1 }));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_is_seen_where_its_datasets_are() {
    let home = tempfile::tempdir().unwrap();
    let (here, there) = (home.path().join("here"), home.path().join("there"));
    let mut client = in_directory(home.path(), &here, "project");
    let job = job_of(&call(&mut client, "count", &json!({ "of": "secret", "hold": "gate" })));
    let mut same = in_directory(home.path(), &here, "project");
    assert_eq!(now(&mut same, &job)["status"], "running");
    let mut other = in_directory(home.path(), &there, "project");
    let mut apart = in_directory(home.path(), &here, "session");
    for stranger in [&mut other, &mut apart] {
        let said = unknown(stranger, &job);
        assert!(said.starts_with("There is no job"), "{said}");
        assert!(said.contains("No job is running in this process"), "{said}");
        let cancel = json!({ "job_id": job, "cancel": true });
        assert_eq!(call(stranger, "get_run_status", &cancel)["result"]["isError"], true);
    }
    assert_eq!(now(&mut client, &job)["status"], "running", "nobody else has ended it");
    for client in [client, same, other, apart] {
        client.end();
    }
}

#[test]
fn a_name_that_is_none_is_told_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.count]\n{AT_ONCE}"));
    let running = job_of(&call(&mut client, "count", &json!({ "hold": "gate" })));
    fs::write(home.path().join("secret.json"), "{}").unwrap();
    let names = [
        "job_22222222",
        "",
        "../secret",
        "job_../../secret",
        "job_k3v9x2ma/../../secret",
        "/etc/passwd",
        "job_\u{0}2345678",
        "\u{202e}job_k3v9x2ma",
        &"x".repeat(100_000),
    ];
    for name in names {
        let said = unknown(&mut client, name);
        assert!(said.starts_with("There is no job "), "{said}");
        assert!(said.contains(&running), "{said}");
        assert!(said.len() < 500 && !said.contains(['\u{0}', '\u{202e}']), "{said}");
    }
    for wrong in
        [json!({}), json!({ "job_id": 7 }), json!({ "job_id": running, "wait_seconds": -1 })]
    {
        let answer: Value = call(&mut client, "get_run_status", &wrong);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    client.end();
}
