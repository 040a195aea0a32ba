//! What passes is counted, through the program as a whole.

use std::process::Command;

use forebay_store::{Filter, Store};
use forebay_testkit::{peer::Peer, programs};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{call, capture::capturing, forebay, home, text_of};

/// What `forebay stats` prints about the store of a test.
fn stats(test: &str, arguments: &[&str]) -> String {
    let mut command = forebay(["stats"]);
    let output = command.args(arguments).env("FOREBAY_HOME", home().join(test)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stats_json(test: &str) -> Value {
    serde_json::from_str(&stats(test, &["--json"])).unwrap()
}

#[derive(Deserialize)]
struct Answer {
    result: Box<RawValue>,
}

/// How long the upstream's own result is.
fn result_bytes(upstream: &mut Peer, call: &str) -> usize {
    let answer: Answer = serde_json::from_str(&upstream.ask(call)).unwrap();
    answer.result.get().len()
}

/// How many tokens the datasets in `store` have together.
fn tokens_in(store: &Store) -> u64 {
    let datasets = store.list(&Filter::default()).unwrap();
    let tokens = datasets.iter().map(|entry| {
        let dataset = store.dataset(&entry.id).unwrap();
        dataset.facts().tokens.unwrap()
    });
    tokens.sum()
}

#[test]
fn every_result_is_counted_and_what_its_summary_keeps_out() {
    let (mut peer, store) = capturing("stats");
    let said = stats("stats", &[]);
    assert!(said.starts_with("No result has been seen yet"), "{said}");
    assert_eq!(stats_json("stats")["total"]["results"], 0);

    let mut upstream = Peer::start(&mut Command::new(programs::fixture_upstream()));
    let (mut echo_bytes, mut bytes, mut given) = (0, 0, 0);
    for id in 1..=3 {
        echo_bytes += result_bytes(&mut upstream, &call(id, "echo", 7));
        peer.ask(&call(id, "echo", 7));
    }
    for (id, count) in [(4, 2_000), (5, 100_000), (6, 5_000_000)] {
        bytes += result_bytes(&mut upstream, &call(id, "bytes", count));
        let text = text_of(&peer.ask(&call(id, "bytes", count)));
        if count > 2_000 {
            given += forebay_records::tokens(&text);
        }
    }
    // Not a tool's result.
    peer.ask(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
    peer.close_input();
    peer.wait();

    let captured = tokens_in(&store);
    let json = stats_json("stats");
    let since = json["since"].as_str().unwrap();
    let large = json!({
        "server": "fixture", "tool": "bytes", "since": since, "results": 3, "bytes": bytes,
        "captured": 2, "captured_tokens": captured, "given_tokens": given,
        "tokens_kept_out": captured - given, "cached": 0,
    });
    let small = json!({
        "server": "fixture", "tool": "echo", "since": since, "results": 3, "bytes": echo_bytes,
        "captured": 0, "captured_tokens": 0, "given_tokens": 0, "tokens_kept_out": 0,
        "cached": 0,
    });
    let definitions = json["total"]["definition_tokens"].as_u64().unwrap();
    assert!(definitions > 100, "the tools were listed: {json}");
    let total = json!({
        "results": 6, "bytes": bytes + echo_bytes, "captured": 2, "captured_tokens": captured,
        "given_tokens": given, "tokens_kept_out": captured - given, "cached": 0,
        "reply_tokens": 0, "definition_tokens": definitions,
        "net_tokens": captured - given - definitions,
    });
    let [expected_total, tools] = [&total, &json!([large, small])];
    assert_eq!(
        (&json["since"], &json["total"], &json["tools"]),
        (&json!(since), expected_total, tools)
    );
    // What was kept was of 100,000 bytes and of 5,000,000.
    let sizes = json["sizes"].as_array().unwrap();
    let sum = |key: &str| sizes.iter().map(|size| size[key].as_u64().unwrap()).sum::<u64>();
    for key in ["results", "bytes", "captured", "captured_tokens", "given_tokens"] {
        assert_eq!(sum(key), total[key].as_u64().unwrap(), "{key}");
    }
    let kept: Vec<&Value> = sizes.iter().filter(|size| size["captured"] == 1).collect();
    assert_eq!(kept.len(), 2, "{sizes:?}");
    assert_eq!((&kept[0]["from_bytes"], &kept[1]["below_bytes"]), (&json!(100_000), &Value::Null));
    assert!(kept[0]["reduction_percent"].as_f64().unwrap() > 90.0, "{kept:?}");

    let table = stats("stats", &["--days", "2"]);
    assert!(table.starts_with(&format!("6 results seen since {since}; 2 kept, ")), "{table}");
    let rows: Vec<Vec<&str>> =
        table.lines().skip(3).map(|line| line.split_whitespace().collect()).take(3).collect();
    assert!(table.contains("100.0 kB to 1.0 MB"), "{table}");
    assert_eq!(rows[0][..3], ["fixture", "bytes", "3"], "{table}");
    assert_eq!(rows[1][..3], ["fixture", "echo", "3"], "{table}");
    assert_eq!(rows[2][..2], ["Total", "6"], "{table}");
    let kept_out = rows[2].last().unwrap().replace(',', "");
    assert_eq!(kept_out, (captured - given).to_string(), "{table}");
}

#[test]
fn a_killed_process_has_counted_what_it_captured() {
    let (mut peer, store) = capturing("stats_killed");
    peer.ask(&call(1, "echo", 1));
    peer.ask(&call(2, "bytes", 100_000));
    // Kills it, and lets it say nothing.
    drop(peer);
    let total = &stats_json("stats_killed")["total"];
    // What merely passed may not have been written.
    let results = total["results"].as_u64().unwrap();
    assert!((1..=2).contains(&results), "{total}");
    assert_eq!(total["captured"], 1);
    assert_eq!(total["captured_tokens"], tokens_in(&store));
    assert!(total["given_tokens"].as_u64().unwrap() > 100, "{total}");
}

#[test]
fn what_passed_is_counted_however_the_upstream_ends() {
    let (mut peer, _store) = capturing("stats_exit");
    peer.ask(&call(1, "echo", 1));
    peer.send(&call(2, "exit", 3));
    assert_eq!(peer.wait().code(), Some(3));
    assert_eq!(stats_json("stats_exit")["total"]["results"], 1);
}
