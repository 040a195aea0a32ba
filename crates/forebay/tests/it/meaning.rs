//! What was kept, found by its meaning, told in short and read as files: by the official client, by other
//! sessions, on the command line, and by those who should not.

use std::{fs, path::Path, process::Command};

use forebay_testkit::{programs, real};
use serde_json::{Value, json};

use crate::{forebay, home, tools::Client, without_settings};

/// A log of a shop in which one line says that somebody could not get in. By its letters it stands in the
/// middle, so that nothing but the line itself tells of it.
fn log() -> String {
    let line = |n: u32| match (n, n % 2) {
        (444, _) => "ERROR authentication failed for user ada: wrong password".to_owned(),
        (_, 0) => format!("INFO a parcel was weighed, number {n}"),
        _ => format!("INFO the parcel was stamped, number {n}"),
    };
    let timed = |n: u32| format!("2026-11-18T10:{:02}:00Z {}", n % 60, line(n));
    (0..900).map(timed).collect::<Vec<_>>().join("\n") + "\n"
}

fn without_any(test: &str) -> std::path::PathBuf {
    let folder = home().join("meaning").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_python_sdk_finds_reads_and_sums_up_what_was_kept() {
    let test = "the_python_sdk_finds_reads_and_sums_up_what_was_kept";
    let Some(python) = real::python(test) else { return };
    for era in ["legacy", "modern"] {
        let home = without_any(era);
        let path = home.join("shop.log");
        fs::write(&path, log()).unwrap();
        let script = python.script("clients/py_meaning.py");
        let mut command = Command::new(&script[0]);
        command.args(&script[1..]).args(["--era", era, "--query", "authentication failed"]);
        command.arg("--path").arg(&path).arg("--").arg(env!("CARGO_BIN_EXE_forebay"));
        command.args(["wrap", "--tools", "full", "--name", "shop", "--"]);
        command.arg(programs::fixture_upstream());
        without_settings(&mut command).env("FOREBAY_HOME", &home);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        was_found_again(&report, &home);
    }
}

fn was_found_again(report: &Value, home: &Path) {
    let best = &report["found"]["results"][0];
    let id = best["artifactId"].as_str().unwrap();
    assert!(report["kept"].as_str().unwrap().contains(id), "{report}");
    assert!(best["passage"].as_str().unwrap().contains("authentication failed"), "{best}");
    let score = best["relevanceScore"].as_f64().unwrap();
    assert!(score > 0.0 && score <= 1.0, "{best}");
    assert!(Path::new(best["path"].as_str().unwrap()).starts_with(home), "{best}");
    assert!(best["age"].as_str().unwrap().ends_with(" ago") || best["age"] == "just now", "{best}");
    assert!(report["lines"]["lines"].to_string().contains("user ada: wrong password"), "{report}");
    let context = report["context"].as_str().unwrap();
    let told: Value = serde_json::from_str(context).unwrap();
    assert_eq!(told["totalTokens"], forebay_records::tokens(context));
    assert_eq!(told["artifacts"][0]["dataset_id"], id);
    assert_eq!(report["listed"]["files"][0]["path"], format!("{id}/data.log"), "{report}");
    assert_eq!(report["file"]["text"], log().chars().take(100).collect::<String>());
    assert_eq!(report["file"]["total_characters"], log().chars().count());
    assert_eq!(report["file"]["next_offset"], 100);
}

/// What a command prints, what it says, and its code.
fn said(home: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = forebay(arguments).env("FOREBAY_HOME", home).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn the_command_line_finds_what_was_kept_at_once() {
    let mut client = Client::new("meaning-command");
    let id = client.keep_text(&log());
    let other = client.keep_orders(450);
    let home = client.home.clone();
    let (found, told, code) = said(&home, &["search", "authentication failed", "--json"]);
    assert_eq!(code, Some(0), "{told}");
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found[0]["id"], &found[0]["tool"]), (&json!(id), &json!("file")), "{found}");
    let (from, to) = found[0]["lines"].as_str().unwrap().split_once('-').unwrap();
    let lines = from.parse::<u32>().unwrap()..=to.parse().unwrap();
    assert!(lines.contains(&445), "{found}");
    let (table, _, _) = said(&home, &["search", "customer coupon", "--limit", "1"]);
    assert!(table.starts_with(&other) && table.contains("file of fixture, "), "{table}");
    let (nothing, _, code) = said(&home, &["search", "customer", "--server", "elsewhere"]);
    assert_eq!((nothing.as_str(), code), ("Nothing was found.\n", Some(0)));
    let (_, why, code) = said(&home, &["search", "customer", "--since", "soon"]);
    assert!(why.contains("such as 30m, 2h, 7d") && code == Some(4), "{why}");
}

#[test]
fn datasets_are_tagged_and_found_by_their_tags() {
    let mut client = Client::new("meaning-tags");
    let id = client.keep_orders(450);
    client.keep_text(&log());
    let home = client.home.clone();
    let tag = |words: &[&str]| said(&home, &[&["datasets", "tag"], words].concat());
    let given = format!("{id}: server:fixture, tool:file, kind:json, invoices/2026, q3\n");
    assert_eq!(tag(&[&id, "--add", "q3", "invoices/2026"]).0, given);
    let shown = said(&home, &["datasets", "show", &id]).0;
    assert!(shown.contains("\nTags       invoices/2026, q3\n"), "{shown}");
    let listed: Value =
        serde_json::from_str(&said(&home, &["datasets", "list", "--json", "--tag", "q3"]).0)
            .unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["tags"], json!(["kind:json", "invoices/2026", "q3"]));
    let table = said(&home, &["datasets", "list"]).0;
    assert!(table.contains("TAGS") && table.contains("invoices/2026, q3"), "{table}");
    let found = client.call("search_workspace", &json!({"tags": ["q3", "server:fixture"]}));
    let found: Value = serde_json::from_str(found.rows()).unwrap();
    assert_eq!(found["files"].as_array().unwrap().len(), 1);
    assert_eq!(found["files"][0]["path"], format!("{id}/data.json"));
    let left = tag(&[&id, "--remove", "q3", "--json"]).0;
    let left: Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left["tags"][3], "invoices/2026");
    for (words, told, expected) in [
        (&["k3v9x2mb", "--add", "q3"][..], "did you mean", 3),
        (&[&id, "--add", "two words"], "1 to 64 letters", 2),
        (&[&id, "--add", "kind:json"], "given by Forebay", 2),
    ] {
        let (_, why, code) = tag(words);
        let is_told = why.contains(told) || expected == 3;
        assert!(is_told && code == Some(expected), "{words:?}: {why}");
    }
    let many: Vec<String> = (0..32).map(|n| format!("t{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (_, why, code) = tag(&[&[id.as_str(), "--add"], &many[..]].concat());
    assert!(why.contains("more than 32 tags") && code == Some(4), "{why}");
    assert_eq!(said(&home, &["datasets", "verify"]).2, Some(0));
}

#[test]
fn files_that_were_made_are_in_the_workspace() {
    let mut client = Client::new("meaning-made");
    let id = client.keep_orders(450);
    let query = format!("SELECT id, status FROM {id} ORDER BY id LIMIT 3");
    client.call("export-dataset", &json!({"query": query, "format": "csv"})).rows();
    client.call("export-dataset", &json!({"query": query, "format": "xlsx"})).rows();
    let listed = client.call("search_workspace", &json!({"tags": ["tool:export-dataset"]}));
    let listed: Value = serde_json::from_str(listed.rows()).unwrap();
    let paths: Vec<&str> = listed["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(paths[0].contains(".xlsx") && paths[1].contains(".csv"), "{paths:?}");
    let mut read = |path: &str| client.call("get_workspace_file", &json!({ "path": path }));
    let csv: Value = serde_json::from_str(read(paths[1]).rows()).unwrap();
    assert_eq!(
        csv["text"].as_str().unwrap().replace('\r', ""),
        "id,status\n0,open\n1,paid\n2,sent\n"
    );
    let sheet = read(paths[0]);
    assert!(
        sheet.rows().contains("spreadsheetml") && sheet.text(1).contains("Fetch it by its uri")
    );
}

#[test]
fn no_session_finds_or_reads_what_is_out_of_its_scope() {
    let mut one = Client::with("meaning-scope", &[], &[("FOREBAY_SCOPE", "session")]);
    let id = one.keep_text(&log());
    // So that it is in the index.
    let (found, why, _) = said(&one.home, &["search", "authentication failed", "--json"]);
    assert!(found.contains(&id), "{found} {why}");
    let seen = one.call("semantic_search", &json!({"query": "authentication failed"}));
    assert!(seen.rows().contains(&id), "{}", seen.all_text());
    let mut other = Client::at(one.home.clone(), &[], &[("FOREBAY_SCOPE", "session")]);
    for (tool, arguments) in [
        ("semantic_search", json!({"query": "authentication failed"})),
        ("search_workspace", json!({"query": "authentication failed"})),
        ("search_workspace", json!({"tags": ["kind:text"]})),
        ("search_workspace", json!({})),
    ] {
        let told = other.call(tool, &arguments).all_text();
        assert!(!told.contains(&id) && !told.contains("ada"), "{tool} {arguments}: {told}");
    }
    let secret = one.home.join("secret");
    fs::write(&secret, "a secret of the store's home").unwrap();
    for path in [
        format!("{id}/data.log"),
        format!("forebay://dataset/{id}?block=0"),
        secret.display().to_string(),
        format!("{id}/../../../../secret"),
        "catalog.db".to_owned(),
        "search.db".to_owned(),
    ] {
        let reply = other.call("get_workspace_file", &json!({ "path": path }));
        let told = reply.error();
        assert!(!told.contains("secret of") && !told.contains("ada:"), "{path}: {told}");
    }
}
