//! Results that are given again.

use std::{fs, path::Path};

use forebay_testkit::{http::Era, programs};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport, handle, text_of},
};

const HOUR: &str = "cache_seconds = 3600\n";

fn start(home: &Path, settings: &str, from: Transport, era: Era) -> Client {
    fs::write(home.join("forebay.toml"), settings).unwrap();
    let mut command = forebay(match from {
        Transport::Stdio => vec!["wrap", "--grace", "0.2"],
        Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
    });
    command.arg("--").arg(programs::fixture_upstream()).arg("--receives");
    let mut client = Client::start(from, era, command.env("FOREBAY_HOME", home));
    assert!(client.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    client
}

fn call(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    client.call(tool, arguments, json!({}))
}

fn age(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["forebay/age_seconds"]
}

#[test]
fn the_same_call_gets_the_same_result_with_its_age_on_every_transport() {
    for (from, era) in [
        (Transport::Stdio, Era::Legacy),
        (Transport::Stdio, Era::Modern),
        (Transport::Http, Era::Legacy),
        (Transport::Http, Era::Modern),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &format!("[tools.count]\n{HOUR}"), from, era);
        let first = call(&mut client, "count", &json!({ "of": { "a": 1, "b": [2] } }));
        assert!(text_of(&first).starts_with("1: ") && age(&first).is_null(), "{first}");
        let again = call(&mut client, "count", &json!({ "of": { "b": [2], "a": 1 } }));
        assert_eq!(text_of(&again), text_of(&first));
        assert!(age(&again).is_u64(), "{again}");
        let note = again["result"]["content"][1]["text"].as_str().unwrap();
        assert!(note.starts_with("Given again from ") && note.contains("refresh: true"), "{note}");
        assert_eq!(again["result"]["resultType"], first["result"]["resultType"]);
        let other = call(&mut client, "count", &json!({ "of": { "a": 1.0, "b": [2] } }));
        assert!(text_of(&other).starts_with("2: "), "{other}");
        client.end();
        let stats = forebay(["stats", "--json"]).env("FOREBAY_HOME", home.path()).output().unwrap();
        let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
        assert_eq!((&stats["total"]["cached"], &stats["total"]["results"]), (&json!(1), &json!(2)));
        let stats = forebay(["stats"]).env("FOREBAY_HOME", home.path()).output().unwrap();
        let stats = String::from_utf8(stats.stdout).unwrap();
        assert!(stats.contains("1 result given again without asking the server."), "{stats}");
    }
}

#[test]
fn a_new_result_is_given_when_it_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.count]\n{HOUR}");
    let mut client = start(home.path(), &settings, Transport::Stdio, Era::Legacy);
    let text = |client: &mut Client, arguments: &Value| text_of(&call(client, "count", arguments));
    assert_eq!(text(&mut client, &json!({ "of": 7 })), "1: {\"of\":7}");
    let refreshed = text(&mut client, &json!({ "of": 7, "refresh": true }));
    assert_eq!(refreshed, "2: {\"of\":7}", "the server does not see what is for us");
    assert_eq!(
        text(&mut client, &json!({ "of": 7 })),
        "2: {\"of\":7}",
        "it is the one from now on"
    );
    assert_eq!(text(&mut client, &json!({ "refresh": false, "of": 7 })), "2: {\"of\":7}");
    for other in [json!("yes"), json!(1), json!(null)] {
        let told = call(&mut client, "count", &json!({ "of": 7, "refresh": other }));
        assert_eq!(told["result"]["isError"], true, "{told}");
        assert!(text_of(&told).contains("refresh must be true or false"), "{told}");
    }
    client.end();
}

#[test]
fn a_program_gets_new_results_and_what_is_for_us_stays_here() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("injected_tools = \"full\"\n[tools.count]\n{HOUR}");
    let mut client = start(home.path(), &settings, Transport::Stdio, Era::Legacy);
    let code = "const count = (args) => callMCPTool('fixture-upstream', 'count', args);\n\
                return [await count({ of: 7 }), await count({ of: 7, refresh: true })].join(' ')";
    let told = text_of(&call(&mut client, "run_code", &json!({ "code": code })));
    assert_eq!(told, "1: {\"of\":7} 2: {\"of\":7}");
    client.end();
}

#[test]
fn only_tools_that_only_read_are_cached_unless_told_otherwise_and_none_by_default() {
    for (settings, tool, expected) in [
        (String::new(), "count", "2: {}"),
        (format!("[tools.\"count*\"]\n{HOUR}"), "count-unmarked", "2: {}"),
        (format!("[tools.\"count*\"]\n{HOUR}cache_unmarked = true\n"), "count-unmarked", "1: {}"),
        (format!("[tools.count]\ncache_seconds = 0\n[tools.\"*\"]\n{HOUR}"), "count", "2: {}"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut client = start(home.path(), &settings, Transport::Stdio, Era::Legacy);
        assert_eq!(text_of(&call(&mut client, tool, &json!({}))), "1: {}");
        assert_eq!(text_of(&call(&mut client, tool, &json!({}))), expected, "{settings}");
        client.end();
    }
}

#[test]
fn a_summary_is_given_again_while_its_dataset_is_there() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.records]\n{HOUR}cache_unmarked = true\n");
    let mut client = start(home.path(), &settings, Transport::Stdio, Era::Legacy);
    let first = handle(&call(&mut client, "records", &json!({ "count": 1_000 })));
    let again = call(&mut client, "records", &json!({ "count": 1_000 }));
    assert_eq!(handle(&again), first);
    assert!(age(&again).is_u64(), "{again}");
    let removed = forebay(["datasets", "rm", &first]).env("FOREBAY_HOME", home.path()).output();
    assert!(removed.unwrap().status.success());
    let fresh = call(&mut client, "records", &json!({ "count": 1_000 }));
    assert_ne!(handle(&fresh), first);
    assert!(age(&fresh).is_null(), "{fresh}");
    client.end();
}

#[test]
fn an_error_is_never_given_again() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!("[tools.fail]\n{HOUR}");
    let mut client = start(home.path(), &settings, Transport::Stdio, Era::Legacy);
    for expected in ["1: {}", "2: {}"] {
        let answer = call(&mut client, "fail", &json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(text_of(&answer), expected);
    }
    client.end();
}
