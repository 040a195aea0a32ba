//! Streams that end before all has been said, and clients that come back for the rest.

use forebay_testkit::http::{Connection, McpHttpClient};
use serde_json::json;

use super::{INITIALIZE, JSON, call, in_front_of_a_command, text_of};

#[test]
fn a_stream_says_first_where_and_when_to_come_back() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let arguments = json!({ "progress": 1, "hold": "later" });
    let mut exchange = client.start("tools/call", &call("echo", &arguments));
    let primer = exchange.next_event().unwrap().unwrap();
    assert_eq!((primer.data.as_str(), primer.retry), ("", Some(1_000)));
    let place = primer.id.unwrap();
    drop(exchange);
    client.call_tool("release", &json!({ "name": "later" }));
    let mut again = client.listen(Some(&place));
    let primer = again.next_event().unwrap().unwrap();
    assert_eq!((primer.id.as_ref(), primer.retry), (Some(&place), Some(1_000)));
    assert_eq!(again.next_message().unwrap().unwrap()["method"], "notifications/progress");
    assert!(text_of(&again.response()).contains("later"));
}

#[test]
fn a_stream_that_has_been_open_for_long_is_ended_and_come_back_to() {
    let served = in_front_of_a_command(&["--poll-after", "0.1"]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let arguments = json!({ "progress": 1, "hold": "later" });
    let mut exchange = client.start("tools/call", &call("echo", &arguments));
    let id = exchange.id.clone();
    let mut said = Vec::new();
    while let Some(message) = exchange.next_message().unwrap() {
        said.push(message["method"].clone());
    }
    assert_eq!(said, ["notifications/progress"], "it ends without an answer");
    let last = exchange.last_event_id.unwrap();
    let mut early = client.listen(Some(&last));
    assert!(early.next_message().unwrap().is_none(), "so does one that was come back to");
    client.call_tool("release", &json!({ "name": "later" }));
    let answer = client.listen(Some(&last)).response();
    assert_eq!(answer["id"], id);
    assert!(text_of(&answer).contains("later"), "{answer}");
}

#[test]
fn who_would_not_come_back_keeps_its_stream() {
    let served = in_front_of_a_command(&["--poll-after", "0.05"]);
    let mut connection = served.peer.connect();
    let initialize = INITIALIZE.replace("2025-11-25", "2025-06-18");
    connection.send("POST", "/mcp", &[JSON], initialize.as_bytes());
    let session = connection.head().header("mcp-session-id").unwrap().to_owned();
    connection.json();
    let late = json!({ "progress": 1, "delay": 400, "late": true });
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("echo", &late) });
    let mut connection = served.peer.connect();
    let headers = [JSON, ("Mcp-Session-Id", session.as_str())];
    connection.send("POST", "/mcp", &headers, request.to_string().as_bytes());
    assert!(connection.head().is_stream());
    let progress = message(&mut connection);
    assert_eq!(progress["method"], "notifications/progress", "nothing else comes first");
    let answer = message(&mut connection);
    assert!(text_of(&answer).contains("late"), "{answer}");
}

fn message(connection: &mut Connection) -> serde_json::Value {
    serde_json::from_str(&connection.next_event().unwrap().unwrap().data).unwrap()
}
