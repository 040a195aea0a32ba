//! A span for each tool call goes to whoever receives traces.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    sync::mpsc,
    thread,
};

use forebay_testkit::{peer::Peer, programs};
use serde_json::{Value, json};

use crate::{forebay, home};

/// Receives what is posted to it, and answers with this status.
fn receiver(status: &'static str) -> (SocketAddr, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            let mut line = String::new();
            while stream.read_line(&mut line).unwrap() > 2 {
                let header = line.to_ascii_lowercase();
                if let Some(value) = header.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    (address, received)
}

/// A server behind Forebay, which sends its traces there.
fn wrapped(test: &str, server: &[&str], address: SocketAddr) -> Peer {
    let mut command = forebay(["wrap", "--name", "orders", "--"]);
    command
        .args(server)
        .env("FOREBAY_HOME", home().join(test))
        .env("FOREBAY_TRACES_URL", format!("http://{address}/v1/traces"));
    Peer::start(&mut command)
}

/// What has been received.
fn spans(received: &mpsc::Receiver<Value>) -> Vec<Value> {
    let spans = received.try_iter().map(|request| {
        request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    });
    spans.flatten().collect()
}

fn call(id: u64, tool: &str, meta: &Value) -> String {
    let params = json!({"name": tool, "arguments": {"count": 1}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_span_belongs_to_the_trace_of_the_call_and_all_are_sent_before_the_end() {
    let (address, received) = receiver("200 OK");
    let fixture = programs::fixture_upstream();
    let mut peer = wrapped("traces", &[fixture.to_str().unwrap()], address);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let sampled = json!({"traceparent": format!("00-{trace}-b7ad6b7169203331-01")});
    let not_sampled = json!({"traceparent": format!("00-{trace}-b7ad6b7169203331-00")});
    peer.ask(&call(1, "echo", &sampled));
    peer.ask(&call(2, "echo", &not_sampled));
    peer.ask(&call(3, "bytes", &json!({})));
    peer.close_input();
    assert!(peer.wait().success());
    let spans = spans(&received);
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["tools/call echo", "tools/call bytes"]);
    assert_eq!(spans[0]["traceId"], trace);
    assert_eq!(spans[0]["parentSpanId"], "b7ad6b7169203331");
    assert!(spans.iter().all(|span| span.get("status").is_none()), "{spans:?}");
    assert!(spans[1].get("parentSpanId").is_none() && spans[1]["traceId"] != trace);
    let attribute = json!({"key": "forebay.server", "value": {"stringValue": "orders"}});
    assert!(spans[0]["attributes"].as_array().unwrap().contains(&attribute), "{}", spans[0]);
}

#[test]
fn a_call_that_a_server_leaves_behind_is_one_that_failed() {
    let (address, received) = receiver("200 OK");
    let mut peer = wrapped("traces-failed", &["sh", "-c", "read line; exit 3"], address);
    let answer = peer.ask(&call(1, "echo", &json!({})));
    assert!(answer.contains("exited with code 3"), "{answer}");
    assert_eq!(peer.wait().code(), Some(3));
    let spans = spans(&received);
    assert_eq!((spans.len(), &spans[0]["status"]["code"]), (1, &json!(2)));
}

#[test]
fn nobody_waits_for_a_receiver_that_refuses() {
    let (address, received) = receiver("503 Service Unavailable");
    let fixture = programs::fixture_upstream();
    let mut peer = wrapped("traces-refused", &[fixture.to_str().unwrap()], address);
    let answer = peer.ask(&call(1, "echo", &json!({})));
    assert!(answer.contains("result"), "{answer}");
    received.recv().unwrap();
    peer.close_input();
    let said = peer.wait_for_stderr();
    assert!(said.contains("traces cannot be sent"), "{said}");
}
