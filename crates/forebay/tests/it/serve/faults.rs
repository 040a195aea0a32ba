//! What can go wrong with an upstream, by name.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    thread,
};

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    programs,
};
use serde_json::json;

use super::{INITIALIZE, JSON, call, error_of, in_front_of, in_front_of_a_command, serve, text_of};
use crate::remote::answering;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A call with that fault: the error that the client gets, and then that all is well again.
fn told_of(fault: &str, era: Era, arguments: &serde_json::Value) -> String {
    let remote = HttpPeer::fixture();
    let served = in_front_of(&remote.url(), &[]);
    let mut client = McpHttpClient::of(era, &served.peer);
    let mut arguments = arguments.clone();
    arguments["fault"] = json!(fault);
    let exchange = client.start("tools/call", &call("echo", &arguments));
    let told = error_of(&exchange.response()).to_owned();
    let answer = client.call_tool("echo", &json!({ "fine": true }));
    assert!(text_of(&answer).contains("fine"), "{answer}");
    told
}

#[test]
fn upstream_down_at_start() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let served = in_front_of(&format!("http://{address}/mcp"), &[]);
    let (status, body) = served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
    assert_eq!(status, 502);
    assert!(body.contains("is it running?") && body.contains(&address.to_string()), "{body}");
    // Once it is there, it is found.
    let mut command = Command::new(programs::fixture_upstream());
    let _remote = HttpPeer::start(command.args(["--http", &address.to_string()]));
    let mut client = McpHttpClient::legacy(&served.peer);
    assert!(client.call_tool("echo", &json!({}))["result"].is_object());
}

#[test]
fn upstream_dying_mid_stream() {
    for era in ERAS {
        let remote = HttpPeer::fixture();
        let served = in_front_of(&remote.url(), &[]);
        let mut client = McpHttpClient::of(era, &served.peer);
        let arguments = json!({ "progress": 1, "stream": true, "fault": "die" });
        let mut exchange = client.start("tools/call", &call("echo", &arguments));
        let mut said = Vec::new();
        while let Ok(Some(message)) = exchange.next_message() {
            said.push(message);
        }
        assert_eq!(said.remove(0)["method"], "notifications/progress");
        match era {
            // The client could come back to the stream, so nothing is made up.
            Era::Legacy => {
                assert!(said.is_empty(), "{said:?}");
                assert!(exchange.last_event_id.is_some(), "there is a place to come back to");
            }
            Era::Modern => {
                assert_eq!(said.len(), 1, "{said:?}");
                assert!(error_of(&said[0]).contains("fixture"), "{said:?}");
            }
        }
        let (status, body) = served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
        assert!(status == 502 && body.contains("fixture"), "{body}");
    }
}

#[test]
fn child_dying_mid_call() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let answer = client.call_tool("exit", &json!({ "count": 3 }));
    assert_eq!(error_of(&answer), "upstream `fixture` exited with code 3");
    let again = client.start("tools/call", &call("echo", &json!({})));
    assert_eq!(again.head.status, 404, "the session is over");

    let mut client = McpHttpClient::modern(&served.peer);
    let answer = client.call_tool("exit", &json!({ "count": 3 }));
    assert_eq!(error_of(&answer), "upstream `fixture` exited with code 3");
    let answer = client.call_tool("echo", &json!({ "another": "process" }));
    assert!(text_of(&answer).contains("another"), "{answer}");
}

#[test]
fn connection_cut_mid_answer() {
    for era in ERAS {
        let told = told_of("cut", era, &json!({ "count": 1000 }));
        assert!(told.contains("upstream `fixture`") && told.contains("broke"), "{told}");
    }
}

#[test]
fn malformed_sse() {
    let told = told_of("garbage", Era::Modern, &json!({ "stream": true }));
    assert!(told.contains("upstream `fixture`"), "{told}");
}

#[test]
fn redirect() {
    for era in ERAS {
        let told = told_of("redirect", era, &json!({}));
        assert!(told.contains("has moved to http"), "{told}");
    }
}

#[test]
fn login_wanted() {
    for era in ERAS {
        let told = told_of("refuse", era, &json!({}));
        assert!(told.contains("forebay auth login http://127.0.0.1"), "{told}");
    }
}

#[test]
fn a_session_that_the_upstream_forgot_is_for_the_client_to_open_again() {
    let remote = HttpPeer::fixture();
    let served = in_front_of(&remote.url(), &[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    client.start("tools/call", &call("echo", &json!({ "fault": "forget" })));
    let lost = client.start("tools/call", &call("echo", &json!({})));
    assert_eq!(lost.head.status, 404);
    assert_eq!(served.sessions(), 0);
}

#[test]
fn errors_of_the_upstream_pass_as_they_are() {
    let remote = HttpPeer::fixture();
    let served = in_front_of(&remote.url(), &[]);
    let mut client = McpHttpClient::modern(&served.peer);
    let failed = client.start("tools/call", &call("echo", &json!({ "fault": "error" })));
    assert_eq!(failed.head.status, 500);
    let broken = client.start("tools/call", &call("echo", &json!({ "fault": "malformed" })));
    assert_eq!(broken.head.status, 200);
}

#[test]
fn an_upstream_that_is_no_mcp_server_hurts_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stranger = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut taken = [0; 4096];
        let _ = socket.read(&mut taken).unwrap();
        let _ = socket.write_all(b"220 mail.example ESMTP\r\n");
    });
    let served = in_front_of(&format!("http://{address}/mcp"), &[]);
    let (status, body) = served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
    assert!(status == 502 && body.contains("upstream `fixture`"), "{status} {body}");
    stranger.join().unwrap();
}

#[test]
fn an_answer_for_which_there_is_no_room_is_an_error_and_takes_no_memory() {
    let served = serve(&["--no-capture"], |command| {
        command.env("FOREBAY_MAX_SPOOL_BYTES", "20 MB").arg("--").arg(programs::fixture_upstream());
    });
    for era in ERAS {
        let mut client = McpHttpClient::of(era, &served.peer);
        let exchange = client.start("tools/call", &call("bytes", &json!({ "count": 200_000_000 })));
        let told = error_of(&exchange.response()).to_owned();
        assert!(told.contains("too long to be held") && told.contains("max_spool_bytes"), "{told}");
        let answer = client.call_tool("echo", &json!({ "fine": true }));
        assert!(text_of(&answer).contains("fine"), "{answer}");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.peer.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 100_000, "{peak} kB");
}

#[test]
fn sessions_that_the_upstream_does_not_know_are_not_remembered() {
    let refusing = answering(
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\
          Connection: close\r\n\r\n{}",
    );
    let served = in_front_of(&refusing, &[]);
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for number in 0..20 {
        let id = format!("invented-{number}");
        let (status, _) = served.request("POST", "/mcp", &[JSON, ("Mcp-Session-Id", &id)], ping);
        assert_eq!(status, 400);
    }
    assert_eq!(served.sessions(), 0);
    let long = "x".repeat(1025);
    for (method, body) in [("POST", &ping[..]), ("GET", b""), ("DELETE", b"")] {
        let headers = [JSON, ("Mcp-Session-Id", long.as_str())];
        let (status, told) = served.request(method, "/mcp", &headers, body);
        assert_eq!(status, 400);
        assert!(told.contains("Mcp-Session-Id has 1025 bytes; up to 1024 are taken"), "{told}");
    }
}
