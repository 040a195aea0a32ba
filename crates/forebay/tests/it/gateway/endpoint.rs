//! What an endpoint in front of many servers tells whoever watches over it.

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::{Value, json};

use super::{fixture, server, write_settings};
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

fn serve(home: &std::path::Path, settings: &str) -> HttpPeer {
    write_settings(home, settings);
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
    HttpPeer::start(command.env("FOREBAY_HOME", home))
}

#[test]
fn an_endpoint_tells_how_its_servers_stand_and_what_has_passed() {
    let home = tempfile::tempdir().unwrap();
    let missing = ["/no/such/program".to_owned()];
    let settings = [server("good", &fixture(&[]), ""), server("broken", &missing, "")].concat();
    let peer = serve(home.path(), &settings);
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
    let missing = ["/no/such/program".to_owned()];
    let peer = serve(home.path(), &server("broken", &missing, ""));
    let mut client = McpHttpClient::legacy(&peer);
    assert!(client.call("tools/list", &json!({}))["result"]["tools"].is_array());
    let down = json!({ "status": "all servers are down", "servers": { "broken": "down" } });
    eventually("it is down", || get_json(&peer, "/readyz") == (503, down.clone()));
    let (status, health) = get_json(&peer, "/healthz");
    assert_eq!((status, &health["status"]), (200, &json!("ok")), "the endpoint itself is well");
}
