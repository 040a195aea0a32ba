//! What happens to a session while servers die, change, come and go, and when the gateway is told to end.

use std::{fs, process::Command};

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    peer::is_running,
};
use serde_json::{Value, json};

use super::{
    client::{Client, error_of, text_of},
    fixture, gateway, server, write_settings,
};
use crate::forebay;

fn kill(signal: &str, pid: u32) {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

fn pid_of(client: &mut Client, server: &str) -> u32 {
    client.text(&format!("{server}__pid"), &json!({})).parse().unwrap()
}

/// A call that is under way, as its progress shows, and waits for `gate`.
fn held_call(client: &mut Client, tool: &str, gate: &str) -> u64 {
    let params = json!({
        "name": tool, "arguments": { "progress": 1, "hold": gate },
        "_meta": { "progressToken": gate },
    });
    let call = client.send("tools/call", &params);
    client.told("notifications/progress");
    call
}

#[test]
fn a_server_killed_in_a_call_is_an_error_and_started_again() {
    let home = tempfile::tempdir().unwrap();
    let settings =
        [server("one", &fixture(&["--rich"]), ""), server("two", &fixture(&["--rich"]), "")]
            .concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    client.until_open(&["one", "two"]);
    let (one, two) = (pid_of(&mut client, "one"), pid_of(&mut client, "two"));
    let (lost, kept) =
        (held_call(&mut client, "one__echo", "a"), held_call(&mut client, "two__echo", "b"));
    kill("-KILL", one);
    let answer = client.response(lost);
    assert_eq!(error_of(&answer), "upstream `one` was ended by signal 9 (SIGKILL)");

    let again = pid_of(&mut client, "one");
    assert_ne!(again, one);
    client.until_open(&["one"]);
    assert!(client.tools().contains(&"one__echo".to_owned()));
    assert_eq!(pid_of(&mut client, "two"), two, "the other has seen nothing of it");
    client.text("two__release", &json!({ "name": "b" }));
    assert!(text_of(&client.response(kept)).contains("\"hold\":\"b\""));
    client.end();
    assert!(!is_running(again) && !is_running(two), "nobody is left behind");
}

#[test]
fn changed_settings_are_taken_over_and_the_session_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let of = |name: &str| server(name, &fixture(&["--rich"]), "");
    let before = [of("stays"), of("goes")].concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &before));
    client.until_open(&["stays", "goes"]);
    assert!(client.tools().contains(&"goes__echo".to_owned()));
    let (stays, goes) = (pid_of(&mut client, "stays"), pid_of(&mut client, "goes"));
    let call = held_call(&mut client, "stays__echo", "later");
    client.take_kept();

    write_settings(home.path(), &[of("stays"), of("comes")].concat());
    client.until_open(&["comes"]);
    client.told("notifications/tools/list_changed");
    let tools = client.tools();
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    assert!(has("stays__echo") && has("comes__echo") && !has("goes__echo"), "{tools:?}");
    assert_eq!(client.standing("goes"), Value::Null);
    assert_eq!(pid_of(&mut client, "stays"), stays, "it goes on");
    assert_ne!(pid_of(&mut client, "comes"), stays);
    let gone = client.call("goes__pid", &json!({}));
    assert_eq!(error_of(&gone), "Unknown tool: goes__pid");
    client.text("stays__release", &json!({ "name": "later" }));
    assert!(text_of(&client.response(call)).contains("later"));
    client.end();
    assert!(!is_running(goes));
}

#[test]
fn a_watched_server_is_started_anew_while_the_client_stays() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("source");
    fs::write(&source, "export FIXTURE=first").unwrap();
    let path = source.to_str().unwrap();
    let mut command = forebay(["wrap", "--grace", "0.5", "--watch", path, "--", "sh", "-c"]);
    command.env("FOREBAY_HOME", home.path()).arg(". \"$0\"; exec \"$@\"").arg(path);
    let mut client = Client::start(Era::Legacy, command.args(fixture(&["--rich"])));
    let tools = client.tools();
    assert!(tools.contains(&"echo".to_owned()), "to clients it is alone: {tools:?}");
    assert_eq!(client.text("environment", &json!({})), "first");
    let first: u32 = client.text("pid", &json!({})).parse().unwrap();

    fs::write(&source, "export FIXTURE=second").unwrap();
    // What is asked in between is answered by one or the other, and by nobody with an error that lasts.
    let started = std::time::Instant::now();
    while client.call("environment", &json!({}))["result"]["content"][0]["text"] != "second" {
        assert!(started.elapsed() < forebay_testkit::peer::PATIENCE, "it is never started anew");
    }
    let second: u32 = client.text("pid", &json!({})).parse().unwrap();
    assert_ne!(first, second);
    assert_eq!(client.tools(), tools);
    client.end();
    assert!(!is_running(first) && !is_running(second));
}

#[test]
fn told_to_end_a_gateway_finishes_what_is_under_way() {
    let home = tempfile::tempdir().unwrap();
    let remote = HttpPeer::fixture();
    let settings = format!("[servers.one]\nurl = \"{}\"\n", remote.url());
    let mut command = gateway(home.path(), &settings);
    let mut client = Client::start(Era::Legacy, command.args(["--grace", "30"]));
    client.until_open(&["one"]);
    let call = held_call(&mut client, "one__echo", "the end");
    kill("-TERM", client.peer.child.id());
    release(&remote, "the end");
    assert!(text_of(&client.response(call)).contains("the end"));
    assert!(client.peer.next_bytes().is_none(), "nothing else is said");
    client.peer.wait();
}

#[test]
fn told_to_end_an_endpoint_finishes_what_is_under_way() {
    let home = tempfile::tempdir().unwrap();
    let remote = HttpPeer::fixture();
    let settings = format!("[servers.one]\nurl = \"{}\"\n", remote.url());
    write_settings(home.path(), &settings);
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--grace", "30"]);
    let mut peer = HttpPeer::start(command.env("FOREBAY_HOME", home.path()));
    let mut client = McpHttpClient::modern(&peer);
    let params = json!({ "name": "one__echo", "arguments": { "hold": "the end" } });
    let (_, mut connection) = client.send("tools/call", &params);
    remote.eventually("the call is under way", |stats| stats["held"] == json!(["the end"]));
    peer.terminate();
    release(&remote, "the end");
    assert_eq!(connection.head().status, 200);
    let body = String::from_utf8(connection.body().unwrap()).unwrap();
    assert!(body.contains("the end"), "{body}");
    assert!(peer.wait().success());
}

/// Lets a call go, without whoever stands in between.
fn release(remote: &HttpPeer, gate: &str) {
    let answer = McpHttpClient::modern(remote).call_tool("release", &json!({ "name": gate }));
    assert_eq!(text_of(&answer), "released");
}
