//! Who is let in, and how much they may say.

use std::{fs, io::Write};

use forebay_testkit::http::McpHttpClient;

use super::{INITIALIZE, JSON, in_front_of_a_command};
use crate::forebay;

#[test]
fn a_foreign_host_or_origin_is_turned_away() {
    let served = in_front_of_a_command(&[]);
    for (name, value) in [("Host", "evil.example"), ("Origin", "http://evil.example")] {
        let mut connection = served.peer.connect();
        let host = if name == "Host" { "" } else { "Host: localhost\r\n" };
        let length = INITIALIZE.len();
        connection.send_bytes(
            format!(
                "POST /mcp HTTP/1.1\r\n{host}{name}: {value}\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n\r\n{INITIALIZE}"
            )
            .as_bytes(),
        );
        assert_eq!(connection.head().status, 403, "{name}");
        assert!(connection.json()["error"]["message"].as_str().unwrap().contains("evil.example"));
    }
    assert_eq!(served.sessions(), 0);
    let origin = ("Origin", "http://localhost:3000");
    assert_eq!(served.request("POST", "/mcp", &[JSON, origin], INITIALIZE.as_bytes()).0, 200);
}

#[test]
fn a_token_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    fs::write(&file, "a-long-enough-secret\n").unwrap();
    let served = in_front_of_a_command(&["--token-file", file.to_str().unwrap()]);
    let (status, body) = served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
    assert_eq!(status, 401);
    assert!(body.contains("Authorization: Bearer") && !body.contains("secret"), "{body}");
    let token = ("Authorization", "Bearer a-long-enough-secret");
    assert_eq!(served.request("POST", "/mcp", &[JSON, token], INITIALIZE.as_bytes()).0, 200);
    assert_eq!(served.request("GET", "/healthz", &[], b"").0, 200);
}

#[test]
fn what_cannot_be_served_is_told_at_the_start() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let holder = in_front_of_a_command(&[]);
    let held = holder.peer.address().to_string();
    let cases = [
        (
            &["--listen", &held, "--", "true"][..],
            "another program does already; choose another with --listen",
        ),
        (&["--listen", &taken, "--", "nosuchcmd"], "there is no `nosuchcmd` in PATH"),
        (&["--listen", &taken, "--", "/nosuchcmd"], "there is no file `/nosuchcmd`"),
        (&["--listen", &taken, "--", "/dev/null"], "may not be executed"),
        (&["--listen", &taken, "--cwd", "/nope", "--", "true"], "there is no directory `/nope`"),
        (&["--max-sessions", "0", "--", "true"], "write a number, 1 or more"),
    ];
    for (arguments, expected) in cases {
        let output = forebay(["serve"]).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = if arguments.contains(&"--max-sessions") { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected) && !said.contains("listening on"), "{said}");
        assert_eq!(said.matches("Address already in use").count(), 0, "{said}");
    }
}

#[test]
fn a_body_that_is_no_json_is_told_so() {
    let served = in_front_of_a_command(&[]);
    for body in ["garbage", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", ""] {
        let (status, answer) = served.request("POST", "/mcp", &[JSON], body.as_bytes());
        assert_eq!(status, 400);
        assert!(answer.contains("Parse error") && answer.contains("-32700"), "{answer}");
    }
    let (status, answer) = served.request("POST", "/mcp", &[JSON], b"42");
    assert_eq!(status, 400);
    assert!(answer.contains("send one JSON-RPC request"), "{answer}");
}

#[test]
fn no_other_machine_is_let_in_without_a_token() {
    let refused = |arguments: &[&str]| {
        let output = forebay(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = refused(&["serve", "--listen", "0.0.0.0:0", "--", "true"]);
    assert!(told.contains("--token-file"), "{told}");
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    fs::write(&file, "short").unwrap();
    let told = refused(&["serve", "--token-file", file.to_str().unwrap(), "--", "true"]);
    assert!(told.contains("16 characters"), "{told}");
}

#[test]
fn what_is_not_there_is_told() {
    let served = in_front_of_a_command(&[]);
    assert_eq!(served.request("GET", "/nothing", &[], b"").0, 404);
    assert_eq!(served.request("PUT", "/mcp", &[JSON], b"{}").0, 405);
    assert_eq!(served.request("POST", "/mcp", &[("Content-Type", "text/plain")], b"{}").0, 415);
    let html = ("Accept", "text/html");
    assert_eq!(served.request("POST", "/mcp", &[JSON, html], INITIALIZE.as_bytes()).0, 406);
    let (status, body) = served.request("POST", "/mcp", &[JSON], b"{not json");
    assert!(status == 400 && body.contains("error"), "{body}");
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let (status, body) = served.request("POST", "/mcp", &[JSON], list);
    assert!(status == 400 && body.contains("Mcp-Session-Id"), "{body}");
    let unknown = ("Mcp-Session-Id", "nobody");
    let (status, body) = served.request("POST", "/mcp", &[JSON, unknown], list);
    assert!(status == 404 && body.contains("initialize"), "{body}");
    let odd = ("MCP-Protocol-Version", "yesterday");
    assert_eq!(served.request("POST", "/mcp", &[JSON, odd], INITIALIZE.as_bytes()).0, 400);
}

#[test]
fn oversized_headers_and_bodies_are_refused() {
    let served = in_front_of_a_command(&[]);
    let long = "x".repeat(1_000_000);
    let mut connection = served.peer.connect();
    // It may be refused before all of it has been sent.
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\n\r\n");
    let _ = connection.socket().write_all(head.as_bytes());
    assert_eq!(connection.try_head().map_or(431, |head| head.status), 431);
    let mut connection = served.peer.connect();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 100000000\r\n\r\n";
    connection.send_bytes(head.as_bytes());
    let piece = vec![b' '; 1_000_000];
    for _ in 0..100 {
        if connection.socket().write_all(&piece).is_err() {
            break;
        }
    }
    assert_eq!(connection.try_head().map_or(413, |head| head.status), 413);
    assert_eq!(served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes()).0, 200);
}

#[test]
fn slow_loris_clients_hold_up_nobody() {
    let served = in_front_of_a_command(&[]);
    let slow: Vec<_> = (0..200)
        .map(|index| {
            let mut connection = served.peer.connect();
            let half: &[u8] = if index % 2 == 0 {
                b"POST /mcp HTTP/1.1\r\nHost: loc"
            } else {
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"
            };
            connection.send_bytes(half);
            connection
        })
        .collect();
    let mut client = McpHttpClient::legacy(&served.peer);
    let answer = client.call_tool("echo", &serde_json::json!({}));
    assert!(answer["result"].is_object(), "{answer}");
    drop(slow);
}
