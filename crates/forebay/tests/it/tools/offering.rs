//! Which tools a client sees, and under which names.

use forebay_testkit::{peer::Peer, programs, real};
use serde_json::{Value, json};

use super::Client;
use crate::forebay;

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn injected_tools_follow_the_servers_own_in_a_fixed_order() {
    let mut client = Client::new("order");
    let own = ["echo", "bytes", "records"];
    let injected = [
        "analyze-with-duckdb",
        "list-saved-datasets",
        "read-saved-dataset",
        "export-dataset",
        "visualize-dataset",
        "run_code",
        "semantic_search",
        "get_artifact_context",
        "search_workspace",
        "get_workspace_file",
    ];
    let list = client.ask("tools/list", &json!({}));
    assert_eq!(names(&list), [&own[..], &injected].concat());
    client.keep_orders(500);
    assert_eq!(client.ask("tools/list", &json!({})), list, "whatever happened before");
    for (options, expected) in [
        (&["--tools", "core"][..], &injected[..3]),
        (&["--tools", "none"], &[]),
        (&["--tools", "read-saved-dataset,analyze-with-duckdb"], &[injected[0], injected[2]]),
    ] {
        let mut command = forebay(["wrap", "--name", "fixture"]);
        command.args(options).arg("--").arg(programs::fixture_upstream());
        let answer =
            Peer::start(&mut command).ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(names(&answer["result"]), [&own[..], expected].concat());
    }
}

#[test]
fn a_tool_that_is_not_offered_is_the_servers_own() {
    let mut client = Client::with("not_offered", &["--tools", "core"], &[]);
    let answer = client.call("export-dataset", &json!({}));
    assert!(answer.result.to_string().contains("export-dataset"), "echoed: {answer:?}");
}

/// A server whose list has pages, and which has tools of our names.
const PAGED: &str = r#"
import json, sys
pages = {None: ([{"name": "read-saved-dataset", "inputSchema": {"type": "object"}}], "2"),
         "2": ([{"name": "other", "inputSchema": {"type": "object"}}], None)}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    params = request.get("params") or {}
    if request["method"] == "tools/list":
        tools, cursor = pages[params.get("cursor")]
        result = {"tools": tools} | ({"nextCursor": cursor} if cursor else {})
    else:
        result = {"content": [{"type": "text", "text": "mine: " + params.get("name", "")}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;

#[test]
fn injected_tools_come_on_the_last_page_and_have_the_same_names_whatever_the_upstream_has() {
    let test =
        "injected_tools_come_on_the_last_page_and_have_the_same_names_whatever_the_upstream_has";
    let Some(python) = real::python(test) else { return };
    let interpreter = python.module("json").remove(0);
    let mut command =
        forebay(["wrap", "--name", "my shop", "--grace", "0.1", "--", &interpreter, "-c", PAGED]);
    let mut peer = Peer::start(&mut command);
    let mut ask = |method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer: Value = serde_json::from_str(&peer.ask(&request.to_string())).unwrap();
        answer["result"].clone()
    };
    let calls_are_told_apart = |ask: &mut dyn FnMut(&str, Value) -> Value| {
        let theirs = json!({"name": "my-shop__read-saved-dataset", "arguments": {}});
        assert_eq!(ask("tools/call", theirs)["content"][0]["text"], "mine: read-saved-dataset");
        let ours = ask("tools/call", json!({"name": "read-saved-dataset", "arguments": {}}));
        assert_eq!(ours["isError"], true, "{ours}");
    };
    // Before any list, as a client does that has kept one.
    calls_are_told_apart(&mut ask);
    let first = ask("tools/list", json!({}));
    assert_eq!(names(&first), ["my-shop__read-saved-dataset"]);
    let last = ask("tools/list", json!({"cursor": "2"}));
    let expected = ["other", "analyze-with-duckdb", "list-saved-datasets", "read-saved-dataset"];
    assert_eq!(names(&last), expected);
    calls_are_told_apart(&mut ask);
}

#[test]
fn a_summary_names_the_tools_that_go_on_from_it() {
    let mut client = Client::new("advice");
    let summary = client.call("records", &json!({"count": 2_000}));
    let advice = "Query it with analyze-with-duckdb, page or search it with read-saved-dataset.";
    assert!(summary.text(0).contains(advice), "{}", summary.text(0));
    let mut without = Client::with("no_advice", &["--tools", "none"], &[]);
    let summary = without.call("records", &json!({"count": 2_000}));
    let elsewhere = "\nWhere analyze-with-duckdb is offered, it is a table.\n";
    assert!(summary.text(0).contains(elsewhere), "{}", summary.text(0));
    assert!(!summary.text(0).contains("Example query"), "{}", summary.text(0));
}

#[test]
fn arguments_that_cannot_be_understood_are_told_with_what_to_write() {
    let mut client = Client::new("arguments");
    for (tool, arguments, told) in [
        ("analyze-with-duckdb", json!({}), "needs query"),
        ("analyze-with-duckdb", json!({"sql": "SELECT 1"}), "takes dataset_id, format, limit"),
        ("analyze-with-duckdb", json!({"query": 1}), "query must be a text"),
        (
            "analyze-with-duckdb",
            json!({"query": "SELECT 1", "format": "xml"}),
            "csv, json, markdown, toon",
        ),
        ("read-saved-dataset", json!({}), "needs dataset_id"),
        ("read-saved-dataset", json!({"dataset_id": "x"}), "such a name is dataset_k3v9x2ma"),
        (
            "read-saved-dataset",
            json!({"dataset_id": "dataset_22222222"}),
            "no dataset dataset_22222222",
        ),
        ("list-saved-datasets", json!({"limit": 0}), "from 1 to 1000"),
        ("list-saved-datasets", json!([1]), "must be an object"),
        ("export-dataset", json!({"format": "pdf"}), "csv, parquet, json, ndjson, xlsx"),
        ("visualize-dataset", json!({"chart": "pie", "x": "a"}), "bar, line, scatter"),
        ("semantic_search", json!({}), "needs query"),
        ("semantic_search", json!({"query": "x", "since": "soon"}), "such as 30m, 2h, 7d"),
        ("get_artifact_context", json!({}), "needs ids"),
        ("get_artifact_context", json!({"ids": ["x"], "maxTokens": 5}), "50 or more"),
        ("search_workspace", json!({"tag": "x"}), "did you mean tags"),
        ("get_workspace_file", json!({"path": "/etc/passwd"}), "is no path in the workspace"),
        ("get_workspace_file", json!({"path": "../x"}), "is no path in the workspace"),
    ] {
        let reply = client.call(tool, &arguments);
        let error = reply.error().to_lowercase();
        assert!(error.contains(&told.to_lowercase()), "{tool} {arguments}: {error}");
    }
}

#[test]
fn one_server_with_tools_answers_for_all_that_share_its_home() {
    let mut quiet = Client::with("tools_of_one", &["--tools", "none", "--name", "quiet"], &[]);
    let listed = quiet.ask("tools/list", &json!({})).to_string();
    assert!(!listed.contains("analyze-with-duckdb"), "{listed}");
    let id = quiet.keep(&(0..900).map(|n| json!({"n": n, "t": "x".repeat(40)})).collect());
    let mut other = Client::at(quiet.home.clone(), &["--name", "other"], &[]);
    let mut ask = |table: &str| {
        let query = json!({"query": format!("SELECT count(*) AS n FROM {table}")});
        other.call("analyze-with-duckdb", &query).rows().to_owned()
    };
    assert_eq!(ask(&id), "n\n900");
    assert_eq!(ask("quiet.file"), "n\n900", "by the name of its server and tool");
}
