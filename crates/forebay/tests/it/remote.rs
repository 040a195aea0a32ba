//! `forebay wrap --url`: a client on stdio, an upstream by HTTP, and what can go wrong between them.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::Command,
    thread,
};

use forebay_testkit::{http::HttpPeer, peer::Peer, programs};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::{forebay, text_of};

const MIB: usize = 1 << 20;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// `forebay wrap --url` with nothing kept, and a short grace period.
fn wrapped(url: &str) -> Command {
    forebay(["wrap", "--no-capture", "--grace", "0.1", "--name", "fixture", "--url", url])
}

/// A legacy session with what is at `url`.
fn opened(url: &str) -> Peer {
    let mut peer = Peer::start(&mut wrapped(url));
    let answer: Value = serde_json::from_str(&peer.ask(INITIALIZE)).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    peer.send(INITIALIZED);
    peer
}

fn call(id: u32, tool: &str, arguments: Value) -> String {
    let meta = json!({"progressToken": id});
    let params = [("name", tool.into()), ("arguments", arguments), ("_meta", meta)];
    let params: Value = params.into_iter().collect();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// A request of the modern era.
fn modern(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn modern_call(id: u32, tool: &str, arguments: Value) -> String {
    modern(
        id,
        "tools/call",
        [("name", tool.into()), ("arguments", arguments)].into_iter().collect(),
    )
}

fn message(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))
}

/// The error that a line says for the request with that id.
fn error_of(id: u32, line: &str) -> String {
    let message = message(line);
    assert_eq!(message["id"], id, "{line}");
    message["error"]["message"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[test]
fn a_legacy_session_is_opened_listened_to_and_ended() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    assert!(text_of(&peer.ask(&call(1, "echo", json!({"a": 1})))).contains(r#""a":1"#));
    let headers = upstream.stats()["last_post"].clone();
    assert_eq!(headers["mcp-protocol-version"], "2025-11-25");
    assert_eq!(headers["accept"], "application/json, text/event-stream");
    assert!(headers["mcp-session-id"].is_string() && headers["mcp-method"].is_null(), "{headers}");

    upstream.eventually("the upstream is listened to", |stats| stats["listeners"] == 1);
    peer.send(&call(2, "announce", json!({"what": "tools"})));
    let said = [message(&peer.next_line()), message(&peer.next_line())];
    assert!(
        said.iter().any(|message| message["method"] == "notifications/tools/list_changed"),
        "{said:?}"
    );
    peer.close_input();
    assert_eq!(peer.next_bytes(), None);
    assert_eq!(peer.wait().code(), Some(0));
    assert_eq!(upstream.stats()["deleted"], 1);
}

#[test]
fn a_stream_that_the_upstream_ends_is_listened_to_again() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    upstream.eventually("the upstream is listened to", |stats| stats["listeners"] == 1);
    assert_eq!(text_of(&peer.ask(&call(1, "hang-up", json!({})))), "hung up");
    upstream.eventually("it is listened to again", |stats| stats["listeners"] == 1);
    peer.send(&call(2, "announce", json!({"what": "prompts"})));
    let said = [message(&peer.next_line()), message(&peer.next_line())];
    assert!(
        said.iter().any(|message| message["method"] == "notifications/prompts/list_changed"),
        "{said:?}"
    );
}

#[test]
fn calls_do_not_wait_for_each_other() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    peer.send(&call(1, "echo", json!({"hold": "gate", "progress": 2})));
    assert_eq!(message(&peer.next_line())["params"]["progress"], 1);
    assert_eq!(message(&peer.next_line())["params"]["progress"], 2);
    assert_eq!(message(&peer.ask(&call(2, "echo", json!({}))))["id"], 2);
    peer.send(&call(3, "release", json!({"name": "gate"})));
    let ids: BTreeSet<u64> =
        (0..2).map(|_| message(&peer.next_line())["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 3].into());
}

#[test]
fn the_upstreams_questions_are_answered() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    let question = message(&peer.ask(&call(1, "echo", json!({"ask": "sampling/createMessage"}))));
    assert_eq!(question["method"], "sampling/createMessage");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"role": "assistant"}});
    assert!(text_of(&peer.ask(&answer.to_string())).contains("assistant"));
}

#[test]
fn modern_requests_say_in_headers_what_they_say() {
    let upstream = HttpPeer::fixture();
    let mut peer = Peer::start(&mut wrapped(&upstream.url()));
    let list = message(&peer.ask(&modern(1, "tools/list", json!({}))));
    assert!(list["result"]["tools"].is_array(), "{list}");
    for region in ["eu-west", "Zürich", " padded "] {
        let answer = peer.ask(&modern_call(2, "region", json!({"region": region})));
        assert_eq!(text_of(&answer), region);
    }
    let headers = upstream.stats()["last_post"].clone();
    assert_eq!(headers["mcp-param-region"], "=?base64?IHBhZGRlZCA=?=");
    assert_eq!(headers["mcp-name"], "region");
    assert!(headers["mcp-session-id"].is_null(), "{headers}");
    let unknown = message(&peer.ask(&modern(3, "no/such", json!({}))));
    assert_eq!(unknown["error"]["code"], -32601, "the upstream's own error: {unknown}");
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(0));
}

#[test]
fn a_modern_call_is_cancelled_by_hanging_up() {
    let upstream = HttpPeer::fixture();
    let mut peer = Peer::start(&mut wrapped(&upstream.url()));
    peer.send(&modern_call(1, "echo", json!({"hold": "gate"})));
    upstream.eventually("the call has arrived", |stats| stats["held"] == json!(["gate"]));
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    upstream.eventually("it is cancelled", |stats| stats["cancelled"] == 1);
    assert!(upstream.stats()["requests"]["notifications/cancelled"].is_null());
    assert_eq!(message(&peer.ask(&modern_call(2, "echo", json!({}))))["id"], 2);
}

#[test]
fn a_legacy_call_is_cancelled_by_a_message() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    peer.send(&call(1, "echo", json!({"hold": "gate"})));
    upstream.eventually("the call has arrived", |stats| stats["held"] == json!(["gate"]));
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    upstream.eventually("it is cancelled", |stats| stats["cancelled"] == 1);
    assert_eq!(message(&peer.ask(&call(2, "echo", json!({}))))["id"], 2, "nothing said for 1");
}

#[test]
fn a_modern_subscription_is_not_waited_for() {
    let upstream = HttpPeer::fixture();
    let mut peer = Peer::start(&mut wrapped(&upstream.url()));
    let wish = json!({"notifications": {"toolsListChanged": true}});
    let acknowledged = message(&peer.ask(&modern(1, "subscriptions/listen", wish)));
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(0));
    upstream.eventually("nothing is left", |stats| stats["connections"] == 0);
}

#[test]
fn upstream_down_at_start_is_an_error_of_each_request_until_it_is_there() {
    // It is bound and does not listen: who connects is refused, and nobody else is given the port.
    let held = TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = held.local_addr().unwrap();
    let mut peer = Peer::start(&mut wrapped(&format!("http://{address}/mcp?key=secret")));
    let expected = format!(
        "cannot reach upstream `fixture` at http://{address}/mcp: connection refused; is it running?"
    );
    assert_eq!(error_of(0, &peer.ask(INITIALIZE)), expected);
    assert_eq!(error_of(1, &peer.ask(&call(1, "echo", json!({})))), expected);
    let mut fixture = Command::new(programs::fixture_upstream());
    drop(held);
    let _upstream = HttpPeer::start(fixture.args(["--http", &address.to_string()]));
    assert!(message(&peer.ask(INITIALIZE))["result"].is_object());
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(0));
}

#[test]
fn upstream_dying_mid_stream_is_an_error_of_the_call() {
    let upstream = HttpPeer::fixture();
    let mut peer = Peer::start(&mut wrapped(&upstream.url()));
    let arguments = json!({"stream": true, "fault": "die", "logs": 1});
    assert_eq!(
        message(&peer.ask(&modern_call(1, "bytes", arguments)))["method"],
        "notifications/message"
    );
    let error = error_of(1, &peer.next_line());
    assert!(error.contains("was to answer on a stream that broke off"), "{error}");
    let error = error_of(2, &peer.ask(&modern_call(2, "echo", json!({}))));
    // Whether the connection that was kept is found broken first is a matter of moments.
    assert!(error.contains("is it running?") || error.contains("broke the connection"), "{error}");
}

#[test]
fn a_response_that_breaks_off_is_an_error_of_the_call() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    let error = error_of(1, &peer.ask(&call(1, "echo", json!({"fault": "cut"}))));
    assert!(error.contains("broke the connection off"), "{error}");
    assert_eq!(message(&peer.ask(&call(2, "echo", json!({}))))["id"], 2, "the session goes on");
}

#[test]
fn a_stream_that_breaks_off_is_resumed_and_answers_once() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    for (id, arguments) in [
        (1, json!({"stream": true, "progress": 3, "detach": true})),
        (2, json!({"stream": true, "progress": 3, "fault": "cut"})),
        (3, json!({"stream": true, "progress": 3, "fault": "silence"})),
    ] {
        peer.send(&call(id, "echo", arguments));
        for progress in 1..=3 {
            assert_eq!(message(&peer.next_line())["params"]["progress"], progress, "call {id}");
        }
        assert_eq!(message(&peer.next_line())["id"], id);
    }
    assert_eq!(message(&peer.ask(&call(9, "echo", json!({}))))["id"], 9, "and nothing twice");
}

#[test]
fn a_response_that_is_no_message_is_an_error_of_the_call() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    let at = format!("upstream `fixture` at {}", upstream.url());
    for (id, fault, expected) in [
        (1, "garbage", format!("{at} answered 200 OK with what is no message")),
        (2, "malformed", format!("{at} answered 200 OK with what is no message")),
        (3, "silence", format!("{at} answered 200 OK with nothing")),
        (4, "error", format!("{at} answered 500 Internal Server Error: the fixture fails")),
        (5, "redirect", format!("write --url http://{}/elsewhere instead", upstream.address())),
        (6, "refuse", format!("run: forebay auth login {}", upstream.url())),
    ] {
        let error = error_of(id, &peer.ask(&call(id, "echo", json!({"fault": fault}))));
        assert!(error.contains(&expected), "{fault}: {error}");
    }
    assert_eq!(message(&peer.ask(&call(9, "echo", json!({}))))["id"], 9, "the session goes on");
}

#[test]
fn a_forgotten_session_is_opened_anew_and_nobody_notices() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    peer.ask(&call(1, "echo", json!({"fault": "forget"})));
    // Both find the session gone.
    peer.send(&call(2, "echo", json!({})));
    peer.send(&call(3, "echo", json!({})));
    let ids: BTreeSet<u64> =
        (0..2).map(|_| message(&peer.next_line())["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [2, 3].into());
    let requests = upstream.stats()["requests"].clone();
    assert_eq!(requests["initialize"], 2, "{requests}");
    assert_eq!(requests["notifications/initialized"], 2, "{requests}");
    upstream.eventually("the new session is listened to", |stats| {
        stats["requests"]["initialize"] == 2 && stats["listeners"] != 0
    });
    peer.close_input();
    assert_eq!(peer.next_bytes(), None, "the answer to the second `initialize` is not passed on");
    assert_eq!(peer.wait().code(), Some(0));
}

#[test]
fn a_signal_ends_the_session_and_answers_what_is_left() {
    let upstream = HttpPeer::fixture();
    let mut peer = Peer::start(
        forebay(["wrap", "--no-capture", "--name", "fixture", "--url"]).arg(upstream.url()),
    );
    peer.ask(INITIALIZE);
    peer.send(INITIALIZED);
    peer.send(&call(1, "echo", json!({"hold": "gate"})));
    upstream.eventually("the call has arrived", |stats| stats["held"] == json!(["gate"]));
    let sent = Command::new("kill").arg(peer.child.id().to_string()).status();
    assert!(sent.unwrap().success());
    let error = error_of(1, &peer.next_line());
    assert_eq!(error, "the session with upstream `fixture` was ended");
    assert_eq!(peer.next_bytes(), None);
    assert_eq!(peer.wait().code(), Some(0));
    assert_eq!(upstream.stats()["deleted"], 1);
}

#[test]
fn a_client_that_closes_gets_its_answers_first() {
    let upstream = HttpPeer::fixture();
    let mut peer = opened(&upstream.url());
    peer.send(&call(1, "echo", json!({"hold": "gate"})));
    upstream.eventually("the call has arrived", |stats| stats["held"] == json!(["gate"]));
    peer.close_input();
    let mut other = opened(&upstream.url());
    other.ask(&call(2, "release", json!({"name": "gate"})));
    assert_eq!(message(&peer.next_line())["id"], 1);
    assert_eq!(peer.wait().code(), Some(0));
}

fn peak_mib(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[test]
fn a_message_of_many_megabytes_passes_in_little_memory() {
    let upstream = HttpPeer::fixture();
    let (peer, output) = Peer::start_without_reading(&mut wrapped(&upstream.url()));
    let mut peer = peer;
    let mut output = BufReader::new(output);
    let mut next = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    peer.send(INITIALIZE);
    next();
    peer.send(INITIALIZED);
    let count = 96 * MIB;
    for (id, arguments) in
        [(1, json!({"count": count})), (2, json!({"count": count, "stream": true}))]
    {
        peer.send(&call(id, "bytes", arguments));
        let line = next();
        assert!(line.len() > count && line.contains(&format!("\"id\":{id}")), "{}", line.len());
    }
    let long = call(3, "echo", json!({"text": "x".repeat(count)}));
    let bytes = long.len() + 1;
    peer.send(&long);
    assert_eq!(text_of(&next()), bytes.to_string());
    let peak = peak_mib(peer.child.id());
    assert!(peak < 96, "{peak} MiB");
}

/// A server that answers each request with these bytes and hangs up; says where it is.
pub(crate) fn answering(response: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = BufReader::new(connection.try_clone().unwrap());
            let (mut length, mut line) = (0, String::new());
            while head.read_line(&mut line).unwrap() > 2 {
                if let Some(count) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = count.trim().parse().unwrap();
                }
                line.clear();
            }
            head.read_exact(&mut vec![0; length]).unwrap();
            connection.write_all(response).unwrap();
        }
    });
    url
}

#[test]
fn events_in_any_form_become_lines() {
    let url = answering(
        b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nConnection: close\r\n\r\n\
          \xEF\xBB\xBF: hello\r\n\r\nid: 1\r\ndata:\r\n\r\n\
          event: ping\rdata: not for you\r\r\
          unknown: field\ndata:{\"method\":\r\ndata: \"notifications/x\"}\n\n\
          data: no JSON at all\n\n\
          event: message\ndata: {\"jsonrpc\":\"2.0\",\n: comment\ndata: \"id\":1,\ndata:\"result\":{}}\n\n\
          data: {\"id\":1,\"result\":{\"twice\":true}}\n\n",
    );
    let mut peer = Peer::start(&mut wrapped(&url));
    assert_eq!(peer.ask(&modern_call(1, "echo", json!({}))), r#"{"method": "notifications/x"}"#);
    assert_eq!(peer.next_line(), "no JSON at all");
    assert_eq!(peer.next_line(), r#"{"jsonrpc":"2.0", "id":1, "result":{}}"#);
    peer.close_input();
    assert_eq!(peer.next_bytes(), None);
}

#[test]
fn a_message_on_several_lines_becomes_one() {
    let url = answering(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
          [\n  {\"id\": 1,\r\n \"result\": {}}\n]\n",
    );
    let mut peer = Peer::start(&mut wrapped(&url));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    assert_eq!(peer.ask(batch), r#"[   {"id": 1,   "result": {}} ] "#);
}

#[test]
fn an_error_that_names_no_request_is_that_of_the_request() {
    let url = answering(
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
          {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":[1]}}",
    );
    let mut peer = Peer::start(&mut wrapped(&url));
    assert_eq!(
        peer.ask(&modern(7, "server/discover", json!({}))),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no","data":[1]}}"#
    );
}

#[test]
fn a_url_and_a_command_are_not_both_wrapped() {
    for arguments in [
        &["wrap", "--url", "http://127.0.0.1:1/", "--", "cat"][..],
        &["wrap", "--url", "http://127.0.0.1:1/", "--cwd", "/"],
        &["wrap", "--header", "a:b", "--", "cat"],
        &["wrap", "--url", "http://127.0.0.1:1/", "--header", "no colon"],
        &["wrap", "--url", "127.0.0.1:1"],
        &["wrap"],
    ] {
        let output = forebay(arguments).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    }
}
