//! Clients that disconnect in every state, and what is left of them: nothing.

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::json;

use super::{INITIALIZE, Served, call, in_front_of, in_front_of_a_command};

/// Disconnects in every state that a client of that era can be in.
fn disconnect_everywhere(served: &Served, era: Era) {
    let mut client = McpHttpClient::of(era, &served.peer);
    // In the middle of a head, and of a body.
    let mut connection = served.peer.connect();
    connection.send_bytes(b"POST /mcp HTTP/1.1\r\nHo");
    drop(connection);
    let mut connection = served.peer.connect();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    connection.send_bytes(format!("{head}Content-Length: 500\r\n\r\n{{").as_bytes());
    drop(connection);
    // Before the answer to a handshake has come.
    let mut connection = served.peer.connect();
    let length = INITIALIZE.len();
    connection.send_bytes(format!("{head}Content-Length: {length}\r\n\r\n{INITIALIZE}").as_bytes());
    drop(connection);
    // Before a call is answered, in the middle of its stream, and while a result is being kept.
    drop(client.send("tools/call", &call("hang", &json!({}))));
    let waits = json!({ "progress": 1, "hold": "for ever" });
    let mut exchange = client.start("tools/call", &call("echo", &waits));
    exchange.next_event().unwrap().unwrap();
    drop(exchange);
    drop(client.send("tools/call", &call("records", &json!({ "count": 20_000 }))));
    // While a tool of ours works.
    let query = json!({ "query": "SELECT count(*) FROM range(100000000) a, range(1000) b" });
    drop(client.send("tools/call", &call("analyze-with-duckdb", &query)));
    match era {
        Era::Legacy => {
            let listening = client.listen(None);
            assert_eq!(listening.head.status, 200);
            drop(listening);
            assert!([200, 204].contains(&client.delete()));
        }
        Era::Modern => {
            let wish = json!({ "notifications": { "toolsListChanged": true } });
            let mut listening = client.start("subscriptions/listen", &wish);
            listening.next_message().unwrap().unwrap();
            drop(listening);
        }
    }
}

fn descriptors(served: &Served) -> usize {
    let listed = std::fs::read_dir(format!("/proc/{}/fd", served.peer.id()));
    // The one that lists them is another process's.
    listed.unwrap().count()
}

/// Does it often, and compares with how it was after the first times, when connections to the
/// upstream that are used again and again have been made.
fn leaves_nothing(served: &Served, remote: Option<&HttpPeer>, era: Era) {
    const ROUNDS: usize = 10;
    const REUSED: usize = ROUNDS;
    for _ in 0..ROUNDS / 2 {
        disconnect_everywhere(served, era);
    }
    let is_settled = || {
        let is_quiet = remote.is_none_or(|remote| {
            let stats = remote.stats();
            stats["streams"] == 0 && stats["listeners"] == 0
        });
        is_quiet && served.children().len() <= 4
    };
    eventually("the first ones are gone", is_settled);
    let before = descriptors(served);
    for _ in 0..2 * ROUNDS {
        disconnect_everywhere(served, era);
    }
    eventually("all are gone", is_settled);
    eventually("no descriptor is left open", || descriptors(served) <= before + REUSED);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_command_legacy() {
    let served = in_front_of_a_command(&["--idle", "0.5", "--grace", "0.2"]);
    leaves_nothing(&served, None, Era::Legacy);
    eventually("all sessions have ended", || served.sessions() == 0);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_command_modern() {
    let served = in_front_of_a_command(&["--idle", "0.5", "--grace", "0.2"]);
    leaves_nothing(&served, None, Era::Modern);
    eventually("the shared process has ended", || served.children().is_empty());
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_url_legacy() {
    let remote = HttpPeer::fixture();
    leaves_nothing(&in_front_of(&remote.url(), &[]), Some(&remote), Era::Legacy);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_url_modern() {
    let remote = HttpPeer::fixture();
    leaves_nothing(&in_front_of(&remote.url(), &[]), Some(&remote), Era::Modern);
}

#[test]
fn a_modern_client_that_disconnects_cancels_its_call() {
    let remote = HttpPeer::fixture();
    let served = in_front_of(&remote.url(), &[]);
    let mut client = McpHttpClient::modern(&served.peer);
    let cancelled = remote.stats()["cancelled"].as_u64().unwrap();
    let (_, connection) = client.send("tools/call", &call("hang", &json!({})));
    remote.eventually("it has been asked", |stats| stats["requests"]["tools/call"] == 1);
    drop(connection);
    remote.eventually("it hears of it", |stats| stats["cancelled"] == cancelled + 1);
}
