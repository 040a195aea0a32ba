//! What an endpoint in front of many servers tells whoever watches over it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::{Value, json};

use super::{client::text_of, fixture};
use crate::forebay;

fn get(peer: &HttpPeer, path: &str) -> (u16, String) {
    let mut connection = peer.connect();
    connection.send("GET", path, &[("Connection", "close")], b"");
    let status = connection.head().status;
    (status, String::from_utf8(connection.body().unwrap()).unwrap())
}

fn get_json(peer: &HttpPeer, path: &str) -> (u16, Value) {
    let (status, body) = get(peer, path);
    (status, serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}")))
}

/// `forebay serve` in front of the servers of a client's file.
fn serve(home: &Path, servers: &Value) -> HttpPeer {
    let file = write_servers(home, &json!({ "mcpServers": servers }).to_string());
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--servers"]);
    HttpPeer::start(command.arg(file).env("FOREBAY_HOME", home))
}

fn write_servers(home: &Path, text: &str) -> PathBuf {
    let (fresh, file) = (home.join("mcp.json.new"), home.join("mcp.json"));
    fs::write(&fresh, text).unwrap();
    fs::rename(fresh, &file).unwrap();
    file
}

fn entry(words: &[String]) -> Value {
    json!({ "command": words[0], "args": words[1..] })
}

#[test]
fn an_endpoint_tells_how_its_servers_stand_and_what_has_passed() {
    let home = tempfile::tempdir().unwrap();
    let broken = json!({ "command": "/no/such/program" });
    let peer = serve(home.path(), &json!({ "good": entry(&fixture(&[])), "broken": broken }));
    assert_eq!(get_json(&peer, "/healthz"), (200, json!({ "status": "ok", "sessions": 0 })));

    let mut client = McpHttpClient::legacy(&peer);
    let kept = client.call_tool("good__records", &json!({ "count": 3_000 }));
    assert!(kept["result"].to_string().contains("Large response detected"), "{kept}");
    for text in ["a", "b"] {
        assert!(client.call_tool("good__echo", &json!({ "text": text }))["result"].is_object());
    }
    let ready = json!({
        "status": "ready", "servers": { "good": "open", "broken": "down" }
    });
    eventually("both stand as they do", || get_json(&peer, "/readyz") == (200, ready.clone()));
    assert_eq!(get_json(&peer, "/healthz"), (200, json!({ "status": "ok", "sessions": 1 })));

    let (status, metrics) = get(&peer, "/metrics");
    assert_eq!(status, 200);
    for line in [
        r#"forebay_calls_total{server="good",tool="records",outcome="result"} 1"#,
        r#"forebay_calls_total{server="good",tool="echo",outcome="result"} 2"#,
        r#"forebay_call_duration_seconds_count{server="good"} 3"#,
        r#"forebay_captured_total{server="good"} 1"#,
        r#"forebay_server_state{server="good",state="open"} 1"#,
        r#"forebay_server_state{server="broken",state="down"} 1"#,
        "forebay_sessions 1",
        "# EOF",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}

#[test]
fn an_endpoint_whose_servers_are_all_down_is_not_ready() {
    let home = tempfile::tempdir().unwrap();
    let broken = json!({ "command": "/no/such/program" });
    let peer = serve(home.path(), &json!({ "broken": broken }));
    let mut client = McpHttpClient::legacy(&peer);
    assert!(client.call("tools/list", &json!({}))["result"]["tools"].is_array());
    let down = json!({ "status": "all servers are down", "servers": { "broken": "down" } });
    eventually("it is down", || get_json(&peer, "/readyz") == (503, down.clone()));
    let (status, health) = get_json(&peer, "/healthz");
    assert_eq!((status, &health["status"]), (200, &json!("ok")), "the endpoint itself is well");
}

#[test]
fn a_file_with_a_mistake_changes_nothing_and_the_next_without_one_is_taken_over() {
    let home = tempfile::tempdir().unwrap();
    let one = entry(&fixture(&["--rich"]));
    let peer = serve(home.path(), &json!({ "one": one }));
    let mut client = McpHttpClient::legacy(&peer);
    let mut call = |tool: &str| client.call_tool(tool, &json!({}));
    let pid = text_of(&call("one__pid"));

    write_servers(home.path(), r#"{ "mcpServers": { "two": "#);
    eventually("the mistake is told", || peer.stderr().contains("stay as they were"));
    assert_eq!(text_of(&call("one__pid")), pid);

    let servers = json!({ "mcpServers": { "one": one, "two": entry(&fixture(&["--rich"])) } });
    write_servers(home.path(), &servers.to_string());
    let is_open = || get_json(&peer, "/readyz").1["servers"]["two"] == "open";
    eventually("there is one more", is_open);
    assert_ne!(text_of(&call("two__pid")), pid);
    assert_eq!(text_of(&call("one__pid")), pid, "the other goes on, and the session with it");
}
