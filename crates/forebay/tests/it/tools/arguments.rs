//! The arguments of a call are kept with its result: results are told apart, and secrets are not kept.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{Client, orders};

/// Has `count` results of one tool kept, each of another page.
fn keep_pages(client: &mut Client, count: u64) -> Vec<String> {
    let path = client.home.join("payload");
    fs::create_dir_all(&client.home).unwrap();
    fs::write(&path, orders(300).to_string()).unwrap();
    let keep = |page: u64| {
        let arguments = json!({"path": path, "page": page, "filter": {"labels": ["bug", page]}});
        client.call("file", &arguments).dataset()
    };
    (1..=count).map(keep).collect()
}

#[test]
fn fourteen_results_of_one_tool_are_told_apart_in_one_call() {
    let mut client = Client::new("arguments");
    let ids = keep_pages(&mut client, 14);

    let list = client.call("list-saved-datasets", &json!({"filter": {"tool": "file"}})).json();
    let listed = list["results"].as_array().unwrap();
    assert_eq!(listed.len(), 14);
    for (entry, (page, id)) in listed.iter().rev().zip((1..).zip(&ids)) {
        assert_eq!(entry["dataset_id"], id.as_str());
        let path = client.home.join("payload");
        let arguments = json!({"path": path, "page": page, "filter": {"labels": ["bug", page]}});
        assert_eq!(entry["arguments"], arguments);
    }

    let history = client.analyze(
        "SELECT (_arguments->>'page')::INT AS page, count(*) AS n, any_value(_dataset) AS id \
         FROM file_history WHERE (_arguments->>'$.filter.labels[0]') = 'bug' GROUP BY 1 ORDER BY 1",
    );
    let lines = ids.iter().zip(1..).map(|(id, page)| format!("\n{page},300,{id}"));
    assert_eq!(history.rows(), format!("page,n,id{}", lines.collect::<String>()));
    let columns = client.analyze("DESCRIBE file_history").rows().to_owned();
    let names: Vec<&str> =
        columns.lines().skip(1).map(|it| it.split(',').next().unwrap()).collect();
    assert_eq!(names[..4], ["_dataset", "_captured_at", "_arguments", "coupon"], "{columns}");
    assert!(columns.contains("_arguments,JSON"), "{columns}");

    let summary = client.read(&json!({"dataset_id": ids[4], "summary_only": true})).json();
    assert_eq!(summary["arguments"]["page"], 5);
}

#[test]
fn long_arguments_leave_room_for_all_entries() {
    let mut client = Client::new("long_arguments");
    let path = client.home.join("payload");
    fs::create_dir_all(&client.home).unwrap();
    fs::write(&path, orders(300).to_string()).unwrap();
    for number in 0..20 {
        let query = format!("{} number {number}", "many words ".repeat(3_000));
        client.call("file", &json!({"path": path, "query": query}));
    }
    let list = client.call("list-saved-datasets", &json!({"limit": 20}));
    assert!(forebay_records::tokens(&list.all_text()) <= 4_000);
    let list = list.json();
    let listed = list["results"].as_array().unwrap();
    assert_eq!(listed.len(), 20);
    let query = listed[0]["arguments"]["query"].as_str().unwrap();
    assert!(query.starts_with("many words") && query.ends_with("… (33012 bytes)"), "{query}");
    let kept =
        client.analyze("SELECT DISTINCT length(_arguments->>'query') > 900 FROM file_history");
    assert!(kept.rows().ends_with("\ntrue"), "{kept:?}");
    let id = listed[0]["dataset_id"].as_str().unwrap();
    let summary = client.read(&json!({"dataset_id": id, "summary_only": true, "max_tokens": 300}));
    assert!(forebay_records::tokens(&summary.all_text()) <= 300);
    assert!(summary.json()["arguments"]["query"].as_str().unwrap().starts_with("many"));
}

#[test]
fn a_secret_among_the_arguments_is_nowhere_on_the_disk() {
    let mut client = Client::new("secret_arguments");
    let arguments = json!({
        "count": 2_000, "api_key": "hunter2-one", "page": 3,
        "options": [{"headers": {"Authorization": "Basic hunter2-two"}}],
        "url": "https://me:hunter2-three@example.com/", "note": "Bearer hunter2-four",
    });
    let id = client.call("records", &arguments).dataset();
    let list = client.call("list-saved-datasets", &json!({})).json();
    let expected = json!({
        "count": 2_000, "api_key": "***", "page": 3,
        "options": [{"headers": {"Authorization": "***"}}],
        "url": "https://me:***@example.com/", "note": "Bearer ***",
    });
    assert_eq!(list["results"][0]["arguments"], expected);
    let history = client.analyze("SELECT count(*) AS n, any_value(_dataset) FROM records_history");
    assert!(history.rows().contains(&id), "{history:?}");
    let found = files_with(&client.home, b"hunter2");
    assert!(found.is_empty(), "{found:?}");
    assert!(!files_with(&client.home, b"api_key").is_empty(), "it would have been found");
}

/// The files under `folder` that hold these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn arguments_are_not_kept_if_the_settings_say_so() {
    let mut client = Client::with("no_arguments", &[], &[("FOREBAY_KEEP_ARGUMENTS", "false")]);
    client.call("records", &json!({"count": 2_000, "page": "remarkable"})).dataset();
    let list = client.call("list-saved-datasets", &json!({})).json();
    assert_eq!(list["results"][0]["tool"], "records");
    assert_eq!(list["results"][0].get("arguments"), None::<&Value>);
    let history =
        client.analyze("SELECT count(*) AS n, count(_arguments) AS a FROM records_history");
    assert_eq!(history.rows(), "n,a\n2001,0");
    assert!(files_with(&client.home, b"remarkable").is_empty());
    assert!(files_with(&client.home, b"argumentsHash").is_empty(), "a hash would check a guess");
}

#[test]
fn a_column_of_an_upstream_keeps_clear_of_ours() {
    let mut client = Client::new("arguments_column");
    let own = |n: u64| json!({"id": n, "_arguments": format!("its own, number {n} of many")});
    client.keep(&(0..1_000).map(own).collect());
    let query = "SELECT _arguments_2, _arguments->>'path' IS NOT NULL AS ours FROM file_history WHERE id = 7";
    assert_eq!(
        client.analyze(query).rows(),
        "_arguments_2,ours\n\"its own, number 7 of many\",true"
    );
}
