//! Tools on demand: where their definitions would be a flood, they are searched and called through two tools.

use forebay_testkit::http::Era;
use serde_json::{Value, json};

use super::{
    client::{Client, text_of},
    dataset_in, fixture, gateway, server,
};
use crate::forebay;

fn settings() -> String {
    let of = |name| server(name, &fixture(&[]), "");
    ["[gateway]\nexpose = \"search\"\n".to_owned(), of("one"), of("two")].concat()
}

#[test]
fn a_tool_is_found_and_called_and_its_result_kept_as_its_own() {
    let home = tempfile::tempdir().unwrap();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings()));
    client.until_open(&["one", "two"]);
    let mut tools = client.tools();
    tools.sort();
    let expected = [
        "analyze-with-duckdb",
        "call_tool",
        "list-saved-datasets",
        "list_servers",
        "read-saved-dataset",
        "search_tools",
    ];
    assert_eq!(tools, expected);

    let found = client.text("search_tools", &json!({ "query": "records", "server": "two" }));
    let found: Value = serde_json::from_str(&found).unwrap();
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    let tool = json!({ "server": "two", "tool": "records", "inputSchema": schema });
    assert_eq!(found["tools"], json!([tool]), "{found}");
    let all: Value =
        serde_json::from_str(&client.text("search_tools", &json!({ "query": "" }))).unwrap();
    let names = json!(["echo", "bytes", "records", "region"]);
    assert_eq!(all["servers"], json!({ "one": names, "two": names }), "{all}");

    let small = json!({ "server": "one", "tool": "echo", "arguments": { "text": "small" } });
    let echoed = client.text("call_tool", &small);
    assert!(echoed.contains(r#""name":"echo","arguments":{"text":"small"}"#), "{echoed}");

    let large = json!({ "server": "two", "tool": "records", "arguments": { "count": 3_000 } });
    let summary = client.text("call_tool", &large);
    assert!(summary.starts_with("Large response detected"), "{summary}");
    let query = format!("SELECT count(DISTINCT id) AS n FROM {}", dataset_in(&summary));
    assert_eq!(client.text("analyze-with-duckdb", &json!({ "query": query })), "n\n3000");
    let kept = client.text("list-saved-datasets", &json!({}));
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let dataset = &kept["results"][0];
    assert_eq!(dataset["server"], "two", "{kept}");
    assert_eq!(dataset["tool"], "records", "{kept}");
    assert_eq!(dataset["arguments"], json!({ "count": 3_000 }), "{kept}");
    client.end();

    let stats = forebay(["stats", "--json"]).env("FOREBAY_HOME", home.path()).output().unwrap();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    let tools = stats["tools"].as_array().unwrap_or_else(|| panic!("{stats}"));
    let of = |server: &str, tool: &str| {
        let is_it = |it: &&Value| it["server"] == server && it["tool"] == tool;
        tools.iter().find(is_it).unwrap_or_else(|| panic!("{server} {tool}: {stats}"))
    };
    assert_eq!(of("two", "records")["captured"], 1, "{stats}");
    assert!(of("two", "records")["tokens_kept_out"].as_u64().unwrap() > 10_000, "{stats}");
    assert_eq!(of("one", "echo")["captured"], 0, "{stats}");
}

#[test]
fn a_wrong_name_is_told_with_the_right_ones() {
    let home = tempfile::tempdir().unwrap();
    let mut client = Client::start(Era::Modern, &mut gateway(home.path(), &settings()));
    client.ask("server/discover", &json!({}));
    client.until_open(&["one", "two"]);
    for (tool, arguments, told) in [
        ("call_tool", json!({ "server": "three", "tool": "echo" }), "The servers are: one, two."),
        ("call_tool", json!({ "server": "one", "tool": "record" }), "Did you mean records?"),
        ("call_tool", json!({ "tool": "echo" }), "call_tool needs server"),
        (
            "call_tool",
            json!({ "server": "one", "tool": "echo", "arguments": [1] }),
            "arguments must be an object, not [1].",
        ),
        ("search_tools", json!({ "query": "x", "server": "three" }), "The servers are: one, two."),
    ] {
        let answer = client.call(tool, &arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text_of(&answer).contains(told), "{told}: {answer}");
    }
    client.end();
}
