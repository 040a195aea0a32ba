//! `forebay datasets`: what was kept, looked at and tidied up.

use std::io::Write;

use forebay_store::{Dataset, Description, Durability, Facts, Retention, Store};
use forebay_testkit::{peer::Peer, programs};
use serde_json::{Value, json};

use crate::{
    call,
    capture::{capturing, newest},
    forebay, home,
};

/// Facts as a metadata file has them.
fn facts(written: Value) -> Facts {
    serde_json::from_value(written).unwrap()
}

#[test]
fn what_was_kept_can_be_looked_at_and_removed() {
    let (mut peer, store) = capturing("datasets");
    let datasets = |arguments: &[&str]| {
        let mut command = forebay(["datasets"]);
        let output = command.args(arguments).env("FOREBAY_HOME", home().join("datasets")).output();
        let output = output.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    assert_eq!(datasets(&["list"]).0, "Nothing has been kept yet.\n");
    let original: Value = serde_json::from_str(&{
        let mut direct = Peer::start(&mut std::process::Command::new(programs::fixture_upstream()));
        direct.ask(&call(1, "bytes", 100_000))
    })
    .unwrap();
    peer.ask(&call(1, "bytes", 100_000));
    let dataset = newest(&store);
    let id = dataset.id().as_str();

    let text = original["result"]["content"][0]["text"].as_str().unwrap();
    let records = serde_json::from_str::<Vec<Value>>(text).unwrap().len();
    let table = datasets(&["list"]).0;
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    let count = records.to_string();
    assert_eq!((row[0], &row[3..6]), (id, &["fixture", "bytes", count.as_str()][..]), "{table}");
    let listed: Value = serde_json::from_str(&datasets(&["list", "--json"]).0).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["records"]), (&id.into(), &records.into()));
    assert_eq!(listed[0]["arguments"], json!({"count": 100_000}));
    assert_eq!(row.last(), Some(&r#"{"count":100000}"#), "{table}");
    assert_eq!(datasets(&["path", id]).0.trim_end(), dataset.path(0).to_str().unwrap());
    let whole: Value = serde_json::from_str(&datasets(&["original", id]).0).unwrap();
    assert!(whole == original["result"], "the result as it came");
    let shown: Value = serde_json::from_str(&datasets(&["show", "--json", &id[8..]]).0).unwrap();
    assert_eq!(shown["summary"]["totalRecords"], records);
    assert!(datasets(&["show", id]).0.contains(&format!("\nRecords    {records}\n")));

    assert_eq!(datasets(&["pin", id]).0, format!("{id} is kept for good.\n"));
    assert!(datasets(&["list"]).0.contains("(pinned)"));
    let collected: Value = serde_json::from_str(&datasets(&["gc", "--json"]).0).unwrap();
    assert_eq!(collected, json!({"removed": 0, "compressed": 0, "in_use": 0}));
    assert_eq!(datasets(&["unpin", id]).0, format!("{id} is no longer pinned.\n"));
    let nothing = "0 removed, 0 compressed, 0 in use\n";
    assert_eq!(datasets(&["gc", "--days", "0"]).0, nothing, "0 keeps all, as in the settings");
    let near = format!("{}{}", &id[..id.len() - 1], if id.ends_with('2') { '3' } else { '2' });
    for name in [&near, &id[..id.len() - 1], &format!("{}0", &id[..id.len() - 1])] {
        let (_, said, code) = datasets(&["show", name]);
        assert!(said.ends_with(&format!("; did you mean `{id}`?\n")) && code == Some(3), "{said}");
    }
    assert_eq!(datasets(&["rm", id]), (format!("{id} is removed.\n"), String::new(), Some(0)));
    let (_, said, code) = datasets(&["show", id]);
    assert_eq!(code, Some(3));
    let nowhere =
        format!("forebay: there is no dataset `{id}`; `forebay datasets list` shows them\n");
    assert_eq!(said, nowhere);
    let (_, said, _) = datasets(&["show", "nonsense"]);
    assert!(said.contains("`forebay datasets list` shows them"), "{said}");
}

#[test]
fn a_list_says_what_it_leaves_out_and_a_wrong_name_removes_nothing() {
    let directory = home().join("datasets_listed");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    let kept: Vec<Dataset> = (0..52_u8)
        .map(|number| {
            let mut capture = store.capture().unwrap();
            capture.start_part("json").unwrap().write_all(&[number; 1_000]).unwrap();
            let facts = facts(json!({"template": {"part": 0, "holes": []}}));
            capture.commit(Description { facts, ..Description::default() }).unwrap()
        })
        .collect();
    let datasets = |arguments: &[&str]| {
        let mut command = forebay(["datasets"]);
        let output = command.args(arguments).env("FOREBAY_HOME", &directory).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    let (listed, _, _) = datasets(&["list"]);
    assert_eq!(listed.matches("dataset_").count(), 50);
    assert!(listed.ends_with("\n\nThe newest 50 of 52; `--limit` shows more.\n"), "{listed}");
    assert!(!datasets(&["list", "--limit", "52"]).0.contains("The newest"));
    assert_eq!(datasets(&["list", "--tool", "x"]).0, "Nothing that fits has been kept.\n");
    let count = |arguments: &[&str]| {
        serde_json::from_str::<Vec<Value>>(&datasets(arguments).0).unwrap().len()
    };
    assert_eq!(count(&["list", "--json"]), 52);
    assert_eq!(count(&["list", "--json", "--limit", "3"]), 3);

    let (said, _, code) = datasets(&["rm", kept[0].id().as_str(), "zzzzzzzz"]);
    assert_eq!((said.as_str(), code), ("", Some(3)));
    assert_eq!(count(&["list", "--json"]), 52);

    let lock = std::fs::File::create(directory.join("housekeeping.lock")).unwrap();
    lock.lock().unwrap();
    let said = "forebay: another process is tidying up; try again later\n";
    assert_eq!(datasets(&["gc"]), (String::new(), said.to_owned(), Some(1)));
    drop(lock);

    std::fs::remove_file(kept[1].path(0)).unwrap();
    let (_, said, _) = datasets(&["original", kept[1].id().as_str()]);
    let expected = format!("forebay: cannot read `{}`: the data file `", kept[1].id());
    assert!(said.starts_with(&expected) && said.ends_with("_data.json` is missing\n"), "{said}");
}

#[test]
fn a_compressed_dataset_has_a_path_that_anything_can_read() {
    let directory = home().join("datasets_compressed");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    let mut capture = store.capture().unwrap();
    let payload = [b' '; 10_000];
    capture.start_part("json").unwrap().write_all(&payload).unwrap();
    let dataset = capture.commit(Description::default()).unwrap();
    let at_once = Some(std::time::Duration::ZERO);
    let retention = Retention { compress_after: at_once, ..Retention::default() };
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!(store.collect_now(&retention, &mut |_, _| true).unwrap().compressed, 1);
    assert_eq!(dataset.path(0).extension().unwrap(), "zst");
    let mut path = forebay(["datasets", "path", dataset.id().as_str()]);
    let output = path.env("FOREBAY_HOME", &directory).output().unwrap();
    let path = String::from_utf8(output.stdout).unwrap();
    assert!(std::fs::read(path.trim_end()).unwrap() == payload, "{path}");
}

#[test]
fn a_dataset_is_shown_with_the_facts_of_its_fields() {
    let directory = home().join("datasets_shown");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    let tables = json!([{"path": "$.results", "records": 5_000, "fields": [
        {"name": "id", "type": "integer", "nulls": 0, "distinct": 5_000, "distinctIsExact": true,
         "min": "1", "max": "5000", "top": []},
        {"name": "status", "type": "string", "nulls": 12, "distinct": 40, "distinctIsExact": false,
         "longest": 9, "top": [["active\u{1b}[2J", 3_000], ["pending", 500]]},
    ]}]);
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(&[b' '; 12_345]).unwrap();
    let description = Description {
        tool: "list".to_owned(),
        server: "shop".to_owned(),
        record_count: Some(5_000),
        facts: facts(json!({"tokens": 25_000, "tables": tables,
                            "arguments": {"page": 2, "query": "\u{9b}[2J"}})),
        ..Description::default()
    };
    let dataset = capture.commit(description).unwrap();
    let mut show = forebay(["datasets", "show", dataset.id().as_str()]);
    let output = show.env("FOREBAY_HOME", &directory).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let moment = dataset.metadata().timestamp.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let settled = shown
        .replace(dataset.path(0).parent().unwrap().to_str().unwrap(), "FOLDER")
        .replace(dataset.id().as_str(), "dataset_ID")
        .replace(&moment, "MOMENT");
    insta::assert_snapshot!("shown", settled);
}

#[test]
fn many_are_removed_only_by_those_who_mean_it() {
    let directory = home().join("datasets_many");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    let keep = |server: &str, tool: &str, number: u8| {
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(&[number; 1_000]).unwrap();
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let description = Description { server, tool, ..Description::default() };
        capture.commit(description).unwrap().id().to_string()
    };
    let datasets = |arguments: &[&str]| {
        let mut command = forebay(["datasets"]);
        let output = command.args(arguments).env("FOREBAY_HOME", &directory).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    let count = || store.count(&forebay_store::Filter::default()).unwrap();
    let pinned = keep("shop", "list", 0);
    for number in 1..=6 {
        keep("shop", if number % 2 == 0 { "list" } else { "get" }, number);
        keep("bank", "list", 100 + number);
    }
    datasets(&["pin", &pinned]);
    let (_, said, code) = datasets(&["rm", "--all"]);
    let expected = "forebay: this would remove 12 datasets (12.0 kB); say `--yes` to do so without \
                    being asked\n";
    assert_eq!((said.as_str(), code, count()), (expected, Some(4), 13));
    let removed = |arguments: &[&str]| datasets(&[&["rm", "--yes"], arguments].concat()).0;
    assert_eq!(removed(&["--older-than", "1d"]), "Nothing that fits has been kept.\n");
    assert_eq!(removed(&["--server", "shop", "--tool", "get"]), "3 removed, 0 in use.\n");
    assert_eq!(removed(&["--tool", "list", "--server", "bank"]), "6 removed, 0 in use.\n");
    assert_eq!(removed(&["--older-than", "0h"]), "3 removed, 0 in use; 1 pinned stay.\n");
    assert_eq!(removed(&["--all"]), "Nothing that fits has been kept; 1 pinned stay.\n");
    assert_eq!(count(), 1);
    for wrong in ["--tool", "--server"] {
        let (said, told, code) = datasets(&["rm", "--yes", wrong, "nosuch"]);
        assert_eq!((said.as_str(), code), ("", Some(3)), "{told}");
        assert!(told.contains("nothing of that name has been kept"), "{told}");
    }
    let (said, _, code) = datasets(&["rm", "--yes", "--tool", "list", "--older-than", "1w"]);
    assert_eq!((said.as_str(), code), ("Nothing that fits has been kept.\n", Some(0)));
    for mistake in
        [&["rm"][..], &["rm", "--all", &pinned], &["rm", "--older-than", "soon", "--yes"]]
    {
        assert_eq!(datasets(mistake).2, Some(2), "{mistake:?}");
    }
}

#[test]
fn a_tools_name_stands_for_its_latest_result_and_it_is_said_which() {
    let directory = home().join("datasets_by_tool");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    let keep = |server: &str, tool: &str| {
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(b"[1]").unwrap();
        let facts = facts(json!({"template": {"part": 0, "holes": []}}));
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let description = Description { server, tool, facts, ..Description::default() };
        capture.commit(description).unwrap()
    };
    keep("shop", "list_orders");
    std::thread::sleep(std::time::Duration::from_millis(2));
    let latest = keep("shop", "list_orders");
    keep("shop", "get");
    keep("bank", "get");
    let datasets = |arguments: &[&str]| {
        let mut command = forebay(["datasets"]);
        let output = command.args(arguments).env("FOREBAY_HOME", &directory).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    let id = latest.id().as_str();
    for command in ["show", "pin", "unpin", "path", "original"] {
        let by_id = datasets(&[command, id]);
        let (said, told, code) = datasets(&[command, "list_orders"]);
        assert_eq!((said, code), (by_id.0, Some(0)), "{command}: {told}");
        assert!(told.starts_with(&format!("forebay: `list_orders` stands for {id}, kept ")));
        assert_eq!(by_id.1, "", "{command}");
    }
    let (_, told, code) = datasets(&["show", "get"]);
    assert!(told.contains("Several servers have a tool get") && code == Some(4), "{told}");
    assert_eq!(datasets(&["show", "shop.get"]).2, Some(0));
    assert_eq!(datasets(&["show", "no_such_tool"]).2, Some(3));
    assert_eq!(datasets(&["rm", "list_orders"]).2, Some(3), "what goes is named exactly");
}

#[test]
fn what_would_go_is_shown_with_its_size_and_stays() {
    let directory = home().join("datasets_dry");
    let _ = std::fs::remove_dir_all(&directory);
    let store = Store::open(&directory, Durability::default()).unwrap();
    for number in 0..3_u8 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(&[number; 1_000]).unwrap();
        capture.commit(Description::default()).unwrap();
    }
    let gc = |arguments: &[&str]| {
        let mut command = forebay(["datasets", "gc"]);
        command.args(arguments).env("FOREBAY_HOME", &directory);
        let output = command.env("FOREBAY_MAX_STORE_BYTES", "1500").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = gc(&["--dry-run"]);
    assert_eq!(shown.matches("dataset_").count(), 2, "{shown}");
    assert!(shown.ends_with("\n\n2 datasets would be removed (2.0 kB).\n"), "{shown}");
    let counted: Value = serde_json::from_str(&gc(&["--dry-run", "--json"])).unwrap();
    assert_eq!(counted["stored_bytes"], 2_000);
    assert_eq!(counted["would_remove"].as_array().unwrap().len(), 2);
    assert_eq!(store.count(&forebay_store::Filter::default()).unwrap(), 3);
    assert_eq!(gc(&[]), "2 removed, 0 compressed, 0 in use\n");
    assert_eq!(gc(&["--dry-run"]), "Nothing would be removed.\n");
}
