//! Clients that disconnect in every state, and what is left of them: nothing.

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    peer::eventually,
    programs,
};
use serde_json::json;

use super::{INITIALIZE, Served, call, in_front_of, serve};
use crate::home;

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

/// In a store of its own: what other tests have kept is not indexed here.
fn in_front_of_a_short_lived_command(test: &str) -> Served {
    serve(&["--idle", "2", "--grace", "0.2"], |command| {
        command
            .envs(IDLE)
            .env("FOREBAY_HOME", home().join(test))
            .arg("--")
            .arg(programs::fixture_upstream());
    })
}

/// The same.
fn in_front_of_a_url(test: &str, remote: &HttpPeer) -> Served {
    serve(&["--url", &remote.url()], |command| {
        command.envs(IDLE).env("FOREBAY_HOME", home().join(test));
    })
}

/// How soon processes end that answer queries or make vectors, and when these are made.
const IDLE: [(&str, &str); 3] = [
    ("FOREBAY_QUERY_IDLE_TIME", "1"),
    ("FOREBAY_SEARCH_IDLE_TIME", "1"),
    ("FOREBAY_SEARCH_QUIET_SECONDS", "0"),
];

/// What a process holds open.
struct Descriptors {
    /// Connections of clients.
    to_clients: usize,
    /// Other sockets: the one that listens, and connections to the upstream.
    sockets: usize,
    /// Pipes, files and what a runtime needs.
    others: usize,
}

fn descriptors(served: &Served) -> Descriptors {
    let listed = std::fs::read_dir(format!("/proc/{}/fd", served.peer.id())).unwrap().flatten();
    let links = listed.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let (sockets, others): (Vec<String>, Vec<String>) = links
        .map(|link| link.to_string_lossy().into_owned())
        .partition(|link| link.starts_with("socket:"));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", served.peer.address().port());
    // Number, local and remote address, state, and the inode in the tenth place.
    let of_clients = table.lines().skip(1).filter(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_open = fields[1].ends_with(&port) && fields[3] != LISTENING;
        is_open && sockets.contains(&format!("socket:[{}]", fields[9]))
    });
    let to_clients = of_clients.count();
    Descriptors { to_clients, sockets: sockets.len() - to_clients, others: others.len() }
}

const LISTENING: &str = "0A";

/// Does it often, and compares with how it was after the first times, when connections to the
/// upstream that are used again and again have been made.
fn leaves_nothing(served: &Served, remote: Option<&HttpPeer>, era: Era) {
    const ROUNDS: usize = 10;
    // Connections to a server elsewhere that are kept for the next call; a command has none.
    let reused = if remote.is_some() { ROUNDS } else { 0 };
    // The shelf and its catalog stay open from the first result on, which must not come later.
    let mut client = McpHttpClient::of(era, &served.peer);
    client.call_tool("records", &json!({ "count": 20_000 }));
    client.call_tool("list-saved-datasets", &json!({}));
    drop(client);
    for _ in 0..ROUNDS / 2 {
        disconnect_everywhere(served, era);
    }
    let is_settled = || {
        let is_quiet = remote.is_none_or(|remote| {
            let stats = remote.stats();
            stats["streams"] == 0 && stats["listeners"] == 0
        });
        // Idle processes, those that answer queries included, end by themselves.
        is_quiet && served.children().is_empty() && served.workers() == 0
    };
    eventually("the first ones are gone", is_settled);
    eventually("no client is connected", || descriptors(served).to_clients == 0);
    let before = descriptors(served);
    for _ in 0..2 * ROUNDS {
        disconnect_everywhere(served, era);
    }
    eventually("all are gone", is_settled);
    eventually("no descriptor is left open", || {
        let after = descriptors(served);
        after.to_clients == 0
            && after.sockets <= before.sockets + reused
            && after.others <= before.others
    });
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_command_legacy() {
    let served = in_front_of_a_short_lived_command("leaks_command_legacy");
    leaves_nothing(&served, None, Era::Legacy);
    eventually("all sessions have ended", || served.sessions() == 0);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_command_modern() {
    let served = in_front_of_a_short_lived_command("leaks_command_modern");
    leaves_nothing(&served, None, Era::Modern);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_url_legacy() {
    let remote = HttpPeer::fixture();
    leaves_nothing(&in_front_of_a_url("leaks_url_legacy", &remote), Some(&remote), Era::Legacy);
}

#[test]
fn nobody_leaves_anything_behind_in_front_of_a_url_modern() {
    let remote = HttpPeer::fixture();
    leaves_nothing(&in_front_of_a_url("leaks_url_modern", &remote), Some(&remote), Era::Modern);
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
