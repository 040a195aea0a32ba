//! Results that are kept, through the program as a whole.

use forebay_store::{Dataset, Durability, Filter, Store};
use forebay_testkit::{
    peer::{Peer, eventually},
    programs,
};
use serde_json::Value;

use crate::{call, forebay, home, wrapped_fixture};

/// `forebay wrap` in front of the fixture upstream, with a store of its own.
pub(crate) fn capturing(test: &str) -> (Peer, Store) {
    let store = home().join(test);
    let _ = std::fs::remove_dir_all(&store);
    let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
    command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", &store);
    let peer = Peer::start(&mut command);
    (peer, Store::open(&store, Durability::default()).unwrap())
}

pub(crate) fn newest(store: &Store) -> Dataset {
    store.dataset(&store.list(&Filter::default()).unwrap().remove(0).id).unwrap()
}

#[test]
fn a_large_result_is_swapped_for_its_summary() {
    let (mut peer, store) = capturing("capture");
    let mut direct = Peer::start(&mut std::process::Command::new(programs::fixture_upstream()));
    // In memory, spooled, and far past any buffer.
    for (id, bytes) in [(1, 100_000), (2, 6_000_000), (3, 20_000_000)] {
        let original: Value = serde_json::from_str(&direct.ask(&call(id, "bytes", bytes))).unwrap();
        let replaced: Value = serde_json::from_str(&peer.ask(&call(id, "bytes", bytes))).unwrap();
        let dataset = newest(&store);
        let summary = replaced["result"]["content"][0]["text"].as_str().unwrap();
        let text = original["result"]["content"][0]["text"].as_str().unwrap();
        let records = serde_json::from_str::<Vec<Value>>(text).unwrap().len();
        assert!(summary.starts_with(&format!("Large response detected ({records} records, ~")));
        assert!(summary.contains(dataset.id().as_str()) && summary.len() < 8_000, "{summary}");
        assert_eq!(replaced["id"], id);
        let place = format!("{} (.zst after 1 day)", dataset.path(0).display());
        assert!(summary.ends_with(&place), "{summary}");
        assert!(std::fs::read(dataset.path(0)).unwrap() == text.as_bytes(), "byte for byte");
        let mut whole = Vec::new();
        forebay_intercept::restore(&dataset, &mut whole).unwrap();
        assert!(serde_json::from_slice::<Value>(&whole).unwrap() == original["result"]);
    }
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn a_small_result_passes_and_nothing_is_kept() {
    let (mut peer, store) = capturing("capture_small");
    assert!(peer.ask(&call(1, "bytes", 2_000)).contains("order number"));
    assert!(store.list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn a_limit_on_addresses_costs_nobody_an_answer() {
    let store = home().join("capture_addresses");
    let _ = std::fs::remove_dir_all(&store);
    for mebibytes in [300, 350, 400, 450] {
        let mut command = std::process::Command::new("sh");
        let limit = format!("ulimit -v {}; exec \"$@\"", mebibytes * 1024);
        command.args(["-c", &limit, "sh"]).arg(env!("CARGO_BIN_EXE_forebay"));
        command.args(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
        crate::without_settings(&mut command);
        command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", &store);
        let mut peer = Peer::start(&mut command);
        let answer = peer.ask(&call(1, "bytes", 3_000_000));
        assert!(answer.contains("Large response detected"), "{mebibytes}: {}", answer.len());
        let params = serde_json::json!({"name": "list-saved-datasets", "arguments": {}});
        let list = serde_json::json!({"id": 2, "method": "tools/call", "params": params});
        assert!(peer.ask(&list.to_string()).contains("pagination"), "{mebibytes}");
    }
}

#[test]
fn a_store_that_cannot_be_written_costs_nobody_an_answer() {
    let (mut peer, store) = capturing("capture_failing");
    let datasets = home().join("capture_failing/datasets");
    std::fs::remove_dir_all(&datasets).unwrap();
    std::fs::write(&datasets, b"in the way").unwrap();
    let answer = peer.ask(&call(1, "bytes", 100_000));
    assert!(answer.len() > 99_000, "the original goes through");
    peer.close_input();
    let log = peer.wait_for_stderr();
    assert!(log.contains("cannot keep the result: cannot create"), "{log}");
    assert!(log.contains("passed on unchanged"), "{log}");
    drop(store);
}

#[test]
fn a_store_that_cannot_be_opened_costs_nobody_an_answer_either() {
    let mut command = wrapped_fixture();
    let mut peer = Peer::start(command.env("FOREBAY_HOME", "/dev/null/home"));
    let answer = peer.ask(&call(1, "bytes", 100_000));
    assert!(answer.len() > 99_000, "the original goes through");
    peer.close_input();
    let log = peer.wait_for_stderr();
    let why = "cannot keep the result: cannot create `/dev/null/home/datasets`: Not a directory";
    assert!(log.contains(why), "{log}");
}

#[test]
fn a_store_that_fails_can_be_an_error_if_so_wished() {
    let mut command = wrapped_fixture();
    command.env("FOREBAY_HOME", "/dev/null/home").env("FOREBAY_ON_STORE_FAILURE", "error");
    let mut peer = Peer::start(&mut command);
    let answer: Value = serde_json::from_str(&peer.ask(&call(1, "bytes", 100_000))).unwrap();
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("could not be saved: cannot keep the result: cannot create"), "{text}");
    assert!(peer.ask(&call(2, "bytes", 2_000)).contains("order number"), "small ones pass");
}

#[test]
fn what_is_old_is_removed_while_a_session_lasts() {
    let (mut peer, store) = capturing("capture_old");
    let mut keep = |bytes| {
        peer.ask(&call(1, "bytes", bytes));
        newest(&store)
    };
    let (unpinned, pinned) = (keep(100_000), keep(200_000));
    store.pin(pinned.id()).unwrap();
    peer.close_input();
    peer.wait();
    drop(store);
    // As if they were years old.
    let [unpinned, pinned] = [unpinned, pinned].map(|dataset| {
        let file = dataset.path(0).with_file_name(format!("{}_metadata.json", dataset.id()));
        let mut metadata: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        metadata["timestamp"] = "2020-01-01T00:00:00Z".into();
        std::fs::write(&file, metadata.to_string()).unwrap();
        file
    });
    let home = home().join("capture_old");
    std::fs::remove_file(home.join("catalog.db")).unwrap();
    let mut command = wrapped_fixture();
    let mut peer = Peer::start(command.env("FOREBAY_HOME", &home));
    eventually("what is old is gone", || !unpinned.exists());
    assert!(pinned.exists());
    assert!(peer.ask(&call(2, "pid", 0)).contains("content"), "and the session goes on");
}
