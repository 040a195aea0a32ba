//! Which of what was kept a session sees, and what the name of a tool means in it.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Client, Reply, orders};
use crate::{forebay, home};

/// A folder of its own, for a project or a store.
fn folder(name: &str) -> PathBuf {
    let folder = home().join("scope").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// How many rows the latest result of the tool has, and what is said of it.
fn latest(client: &mut Client) -> (String, String) {
    let reply = client.analyze("SELECT count(*) AS n FROM file");
    (reply.rows().replace("n\n", ""), reply.text(1).to_owned())
}

#[test]
fn a_tools_name_means_this_sessions_latest_result() {
    let home = folder("name");
    let [mut one, mut two, mut three] = [(), (), ()].map(|()| Client::at(home.clone(), &[], &[]));
    let of_one = one.keep(&orders(450));
    let of_two = two.keep(&orders(460));
    let (rows, said) = latest(&mut one);
    assert_eq!(rows, "450", "another session has kept something since");
    assert!(said.starts_with(&format!("file is {of_one}, kept 20")), "{said}");
    assert!(said.ends_with(" UTC."), "{said}");
    let newer = one.keep(&orders(470));
    assert_eq!(latest(&mut one).0, "470");
    assert_eq!(latest(&mut two).0, "460");
    // One that has none of its own gets the latest of the others, and is told.
    let (rows, said) = latest(&mut three);
    assert_eq!(rows, "470");
    assert!(said.starts_with(&format!("file is {newer}, kept ")), "{said}");
    assert!(said.ends_with(" UTC in another session."), "{said}");
    let history = one.analyze("SELECT DISTINCT _dataset AS d FROM file_history");
    for dataset in [of_one, of_two, newer] {
        assert!(history.rows().contains(&dataset), "{}", history.rows());
    }
}

#[test]
fn exports_and_charts_say_which_result_a_tools_name_meant() {
    let mut client = Client::new("scope-files");
    let id = client.keep(&orders(450));
    let query = "SELECT status, count(*) AS n FROM file GROUP BY 1";
    for format in ["csv", "xlsx"] {
        let file = client.call("export-dataset", &json!({"query": query, "format": format}));
        assert!(file.text(2).starts_with(&format!("file is {id}, kept ")), "{}", file.text(2));
    }
    let chart = json!({"query": query, "chart": "bar", "x": "status", "y": "n"});
    let drawn = client.call("visualize-dataset", &chart);
    assert!(drawn.text(3).starts_with(&format!("file is {id}, kept ")), "{}", drawn.text(3));
}

/// Every way to get at a dataset or at what a tool has given.
fn all_ways(client: &mut Client, id: &str) -> Vec<(String, Reply)> {
    let by_query = |sql: String| ("analyze-with-duckdb", json!({ "query": sql }));
    let ways: Vec<(&str, Value)> = vec![
        by_query(format!("SELECT count(*) FROM {id}")),
        by_query(format!("SELECT count(*) FROM {id}_items")),
        by_query("SELECT count(*) FROM file".to_owned()),
        by_query("SELECT count(*) FROM fixture.file".to_owned()),
        by_query("SELECT count(*) FROM file_history".to_owned()),
        by_query("PIVOT (SELECT status FROM file) ON status USING count(*)".to_owned()),
        ("analyze-with-duckdb", json!({"query": "SELECT count(*) FROM dataset", "dataset_id": id})),
        ("read-saved-dataset", json!({"dataset_id": id, "limit": 1})),
        ("read-saved-dataset", json!({"dataset_id": id, "summary_only": true})),
        ("read-saved-dataset", json!({"dataset_id": id, "grep": "SPRING", "limit": 1})),
        ("export-dataset", json!({"dataset_id": id, "format": "csv"})),
        ("export-dataset", json!({"query": "FROM file", "format": "xlsx"})),
        ("visualize-dataset", json!({"dataset_id": id, "chart": "histogram", "x": "total"})),
        ("get_artifact_context", json!({"ids": [id]})),
        ("get_workspace_file", json!({"path": format!("{id}/data.json")})),
        ("get_workspace_file", json!({"path": format!("forebay://dataset/{id}")})),
    ];
    let reply = |(tool, arguments): (&str, Value)| {
        (format!("{tool} {arguments}"), client.call(tool, &arguments))
    };
    ways.into_iter().map(reply).collect()
}

fn listed(client: &mut Client) -> u64 {
    let list = client.call("list-saved-datasets", &json!({"filter": {"tool": "file"}}));
    list.json()["pagination"]["total_count"].as_u64().unwrap()
}

#[test]
fn another_project_is_out_of_sight_for_every_tool() {
    let (home, here, there) = (folder("store"), folder("here"), folder("there"));
    let start = |directory: &PathBuf, scope: &str| {
        Client::started_in(directory, home.clone(), &[], &[("FOREBAY_SCOPE", scope)])
    };
    let mut first = start(&here, "project");
    let id = first.keep(&orders(450));
    for (scope, directory, sees) in [
        ("project", &here, true),
        ("project", &there, false),
        ("session", &here, false),
        ("all", &there, true),
    ] {
        let mut client = start(directory, scope);
        assert_eq!(listed(&mut client), u64::from(sees), "{scope}");
        for (way, reply) in all_ways(&mut client, &id) {
            if sees {
                assert!(!reply.is_error(), "{scope}, {way}: {}", reply.all_text());
                continue;
            }
            let error = reply.error();
            // Of a pivot, DuckDB says itself which tables there are not.
            let is_told = error.contains("`scope`") && !error.contains("Did you mean");
            assert!(is_told || way.contains("PIVOT"), "{scope}, {way}: {error}");
        }
        let list = client.call("list-saved-datasets", &json!({"filter": {"tool": "file"}}));
        assert_eq!(list.all_text().contains("setting `scope`"), !sees, "{}", list.all_text());
    }
    let all = first.call("list-saved-datasets", &json!({})).json();
    assert_eq!(all["pagination"]["total_count"], 4, "files are kept, what queries gave is not");
    assert!(all_ways(&mut first, &id).iter().all(|(_, reply)| !reply.is_error()));
}

/// Has the server ask for the client's roots, which is told this one.
fn tell_root(client: &mut Client, root: &str) {
    let params = json!({"name": "echo", "arguments": {"ask": "roots/list"}});
    let asked = client.send("tools/call", &params);
    loop {
        let message: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
        if message["method"] == "roots/list" {
            let result = json!({"roots": [{"uri": format!("file://{root}")}]});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            client.peer.send(&answer.to_string());
        } else if message["id"] == asked {
            return;
        }
    }
}

#[test]
fn a_project_is_where_the_client_works_if_it_tells() {
    let (home, here, there) = (folder("roots"), folder("roots-here"), folder("roots-there"));
    let start = |directory: &PathBuf| Client::started_in(directory, home.clone(), &[], &[]);
    let (mut one, mut two, mut three) = (start(&here), start(&there), start(&here));
    tell_root(&mut one, "/work/shop");
    let id = one.keep(&orders(450));
    assert_eq!((listed(&mut one), listed(&mut two), listed(&mut three)), (1, 0, 0));
    tell_root(&mut two, "/work/shop/");
    assert_eq!(listed(&mut two), 1);
    assert_eq!(two.analyze(&format!("SELECT count(*) AS n FROM {id}")).rows(), "n\n450");
}

#[test]
fn the_command_line_sees_what_every_session_has_kept() {
    let (home, here) = (folder("person"), folder("person-here"));
    let mut client = Client::started_in(&here, home.clone(), &[], &[("FOREBAY_SCOPE", "session")]);
    let id = client.keep(&orders(450));
    for query in ["SELECT count(*) AS n FROM file", &format!("SELECT count(*) AS n FROM {id}")] {
        let mut command = forebay(["query", query, "--csv"]);
        let output = command.env("FOREBAY_HOME", &home).current_dir(&home).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "n\n450\n");
    }
}

#[test]
fn what_a_query_gives_belongs_to_its_session() {
    let mut client = Client::with("scope-result", &[], &[("FOREBAY_SCOPE", "session")]);
    let id = client.keep(&orders(450));
    let long = client.analyze(&format!("SELECT a.* FROM {id} a, range(5)"));
    let result = long.dataset();
    assert_ne!(result, id);
    assert_eq!(client.analyze(&format!("SELECT count(*) AS n FROM {result}")).rows(), "n\n2250");
    let home = client.home.clone();
    let mut other = Client::at(home, &[], &[("FOREBAY_SCOPE", "session")]);
    assert!(other.read(&json!({"dataset_id": result})).error().contains("`scope`"));
}

#[test]
fn what_an_older_version_has_kept_is_seen_with_all_only() {
    let home = folder("older");
    let mut client = Client::at(home.clone(), &[], &[]);
    let id = client.keep(&orders(450));
    drop(client);
    let metadata = metadata_of(&home, &id);
    let mut described: Value = serde_json::from_slice(&fs::read(&metadata).unwrap()).unwrap();
    for name in ["session", "project"] {
        described.as_object_mut().unwrap().remove(name).unwrap();
    }
    fs::write(&metadata, described.to_string()).unwrap();
    fs::remove_file(home.join("catalog.db")).unwrap();
    for (scope, count) in [("session", 0), ("project", 0), ("all", 1)] {
        let mut client = Client::at(home.clone(), &[], &[("FOREBAY_SCOPE", scope)]);
        assert_eq!(listed(&mut client), count, "{scope}");
        let read = client.read(&json!({"dataset_id": id, "summary_only": true}));
        assert_eq!(read.is_error(), count == 0, "{scope}");
    }
}

fn metadata_of(home: &std::path::Path, id: &str) -> PathBuf {
    let name = format!("{id}_metadata.json");
    let mut folders = vec![home.join("datasets")];
    while let Some(folder) = folders.pop() {
        if folder.join(&name).exists() {
            return folder.join(name);
        }
        let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        folders.extend(entries.filter(|path| path.is_dir()));
    }
    panic!("there is no {name}");
}

#[test]
fn servers_with_a_tool_of_the_same_name_are_no_riddle_to_their_own_sessions() {
    let home = folder("servers");
    let named = |name: &str| Client::at(home.clone(), &["--name", name], &[]);
    let (mut one, mut two, mut three) = (named("one"), named("two"), named("three"));
    one.keep(&orders(450));
    two.keep(&orders(460));
    assert_eq!(latest(&mut one).0, "450");
    assert_eq!(latest(&mut two).0, "460");
    let riddle = three.analyze("SELECT * FROM file");
    assert!(riddle.error().contains("Several servers have a tool file"), "{}", riddle.error());
    let other = one.analyze("SELECT count(*) AS n FROM two.file");
    assert_eq!(other.rows(), "n\n460");
    assert!(other.text(1).starts_with("two.file is dataset_"), "{}", other.text(1));
}
