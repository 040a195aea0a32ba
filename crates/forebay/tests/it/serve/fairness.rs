//! However much one client asks, another is answered.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use forebay_testkit::{
    http::{Exchange, McpHttpClient},
    peer::eventually,
};
use serde_json::{Value, json};

use super::{Served, in_front_of_a_command, text_of};
use crate::make_rows;

/// What a client has had kept, which cannot be asked before the file is closed: whoever asks waits for
/// rows that seem to be made just now.
fn unfinished(served: &Served, client: &mut McpHttpClient) -> (String, File) {
    let id = kept(client);
    let name = format!("{id}_rows.parquet");
    make_rows(served.home.path(), &id);
    let rows = find(served.home.path(), &name).unwrap();
    let lock = File::create(rows.with_file_name(format!(".{name}.lock"))).unwrap();
    lock.lock().unwrap();
    fs::remove_file(rows).unwrap();
    (id, lock)
}

fn kept(client: &mut McpHttpClient) -> String {
    let kept = client.call_tool("records", &json!({"count": 2_000}));
    let summary = text_of(&kept);
    let start = summary.find("dataset_").unwrap_or_else(|| panic!("{summary}"));
    summary[start..start + "dataset_k3v9x2ma".len()].to_owned()
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    if folder.join(name).exists() {
        return Some(folder.join(name));
    }
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).find_map(|folder| find(&folder, name))
}

/// Asks very much, and waits for nothing but that some of it is being worked on.
fn ask_very_much(served: &Served, client: &mut McpHttpClient, id: &str) -> Vec<Exchange> {
    let query = format!("SELECT count(*) AS n FROM {id}");
    let params = json!({"name": "analyze-with-duckdb", "arguments": {"query": query}});
    let asked = (0..20).map(|_| client.start("tools/call", &params)).collect();
    eventually("some of it is worked on", || served.workers() >= 3);
    asked
}

/// Has something kept, and looks at it in every way.
fn is_answered(client: &mut McpHttpClient) {
    let id = kept(client);
    let mut said =
        |tool: &str, arguments: Value| text_of(&client.call_tool(tool, &arguments)).to_owned();
    assert!(said("list-saved-datasets", json!({})).contains(&id));
    for of_page in [json!({}), json!({"sort": ["-id"]}), json!({"summary_only": true})] {
        let mut arguments = of_page;
        arguments["dataset_id"] = id.as_str().into();
        let page = said("read-saved-dataset", arguments);
        assert!(page.starts_with('{'), "{page}");
    }
    let query = format!("SELECT count(*) AS n FROM {id}");
    assert_eq!(said("analyze-with-duckdb", json!({ "query": query })), "n\n2001");
}

#[test]
fn a_client_that_asks_very_much_holds_up_no_other() {
    let served = in_front_of_a_command(&[]);
    let mut greedy = McpHttpClient::legacy(&served.peer);
    let (id, lock) = unfinished(&served, &mut greedy);
    let asked = ask_very_much(&served, &mut greedy, &id);
    is_answered(&mut McpHttpClient::legacy(&served.peer));
    is_answered(&mut McpHttpClient::modern(&served.peer));
    drop(lock);
    for exchange in asked {
        assert_eq!(text_of(&exchange.response()), "n\n2001", "and it gets all that it asked for");
    }
}
