//! SQL that must not get anywhere, and SQL that looks as if it should not, through the whole program.

mod cases;

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use self::cases::Case;
use crate::{home, tools::Client};

/// How many statements are under way at a time.
const AT_ONCE: usize = 4;
/// A query that is answered at once.
const NEXT: &str = "SELECT count(*) AS n FROM dataset";
/// What no reply may hold.
const CANARY: &str = "cana-ry-7f3a";

/// A client with the records that the statements are about, under tight limits.
fn client(test: &str, seconds: &str) -> (Client, String) {
    let limits = [
        ("FOREBAY_THRESHOLD", "500"),
        ("FOREBAY_QUERY_MEMORY_LIMIT", "256 MB"),
        ("FOREBAY_QUERY_SPILL_LIMIT", "64 MB"),
        ("FOREBAY_QUERY_TIME_LIMIT", seconds),
        ("FOREBAY_QUERY_MAX_ROWS", "10000"),
    ];
    let mut client = Client::with(test, &[], &limits);
    let id = client.keep_text(cases::RECORDS);
    (client, id)
}

/// The results of all statements, in their order. Some run at the same time.
fn results(client: &mut Client, dataset: &str, cases: &[Case]) -> Vec<Value> {
    let mut waiting: HashMap<u64, usize> = HashMap::new();
    let mut results = vec![Value::Null; cases.len()];
    let mut next = 0;
    while next < cases.len() || !waiting.is_empty() {
        if next < cases.len() && waiting.len() < AT_ONCE {
            let arguments = json!({"query": cases[next].sql, "dataset_id": dataset});
            let params = json!({"name": "analyze-with-duckdb", "arguments": arguments});
            waiting.insert(client.send("tools/call", &params).into(), next);
            next += 1;
            continue;
        }
        let mut answer: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
        if let Some(case) = answer["id"].as_u64().and_then(|id| waiting.remove(&id)) {
            results[case] = answer["result"].take();
        }
    }
    results
}

/// A folder with files that must not be read or changed, and what is in it.
fn folder(test: &str) -> PathBuf {
    let folder = home().join("guard").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("spill")).unwrap();
    for name in ["canary.csv", "canary.txt", "canary.parquet", "spill/canary.txt", "rows.parquet"] {
        fs::write(folder.join(name), CANARY).unwrap();
    }
    fs::write(folder.join("canary.json"), json!({"content": CANARY}).to_string()).unwrap();
    folder
}

fn content(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(content(&entry.path()));
        } else {
            found.insert((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    found
}

#[test]
fn hostile_statements_are_refused_or_bounded_and_all_goes_on() {
    let (mut client, dataset) = client("hostile", "2");
    let folder = folder("hostile");
    let before = content(&folder);
    let hostile = cases::cases(cases::HOSTILE, &folder.display().to_string());
    assert!(hostile.len() >= 350);
    // After each that runs, the next query must be answered as if nothing had happened.
    let next = Case { kind: "next", what: "the next query", sql: NEXT.to_owned() };
    let cases: Vec<Case> = hostile
        .into_iter()
        .flat_map(|case| {
            let is_refused = case.kind == "refused";
            [Some(case), (!is_refused).then(|| next.clone())]
        })
        .flatten()
        .collect();
    let results = results(&mut client, &dataset, &cases);
    for (case, result) in cases.iter().zip(&results) {
        let is_error = result["isError"] == true;
        let is_expected = match case.kind {
            "refused" => is_error,
            // What is bounded may also come to its end.
            "unreachable" | "bounded" | "ended" => result["content"].is_array(),
            "next" => result["content"][0]["text"] == "n\n60",
            other => panic!("{other}"),
        };
        assert!(is_expected, "{}: {}\n{result}", case.what, case.sql);
        assert!(!result.to_string().contains(CANARY), "{}: {}", case.what, case.sql);
    }
    assert!(content(&folder) == before, "no file was changed or made");
}

#[test]
fn harmless_statements_with_frightening_names_run() {
    let (mut client, dataset) = client("harmless", "30");
    let cases = cases::cases(cases::HARMLESS, "/nowhere");
    assert!(cases.len() >= 100);
    let results = results(&mut client, &dataset, &cases);
    for (case, result) in cases.iter().zip(&results) {
        let is_fine = result["content"].is_array() && result["isError"] != true;
        assert!(is_fine, "{}: {}\n{result}", case.what, case.sql);
    }
}
