//! Sessions with a process each, requests that share one, and streams that can be come back to.

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::{eventually, is_running},
    programs,
};
use serde_json::json;

use super::{INITIALIZE, JSON, call, error_of, in_front_of, in_front_of_a_command, text_of};
use crate::forebay;

fn pid(client: &mut McpHttpClient) -> u32 {
    text_of(&client.call_tool("pid", &json!({}))).parse().unwrap()
}

#[test]
fn each_session_has_a_process_that_ends_with_it() {
    let served = in_front_of_a_command(&[]);
    let (mut one, mut two) =
        (McpHttpClient::legacy(&served.peer), McpHttpClient::legacy(&served.peer));
    let pids = (pid(&mut one), pid(&mut two));
    assert_ne!(pids.0, pids.1);
    assert_eq!((pid(&mut one), served.sessions()), (pids.0, 2));
    assert_eq!(one.delete(), 204);
    eventually("its process ends", || !is_running(pids.0));
    assert_eq!((one.delete(), served.sessions()), (404, 1));
    assert_eq!(pid(&mut two), pids.1);
}

#[test]
fn modern_requests_share_a_process_and_are_told_apart() {
    let served = in_front_of_a_command(&[]);
    let mut clients: Vec<_> = (0..8).map(|_| McpHttpClient::modern(&served.peer)).collect();
    let pids: std::collections::BTreeSet<u32> = clients.iter_mut().map(pid).collect();
    assert_eq!((pids.len(), served.sessions()), (1, 0));
    // All use the same ids and the same token, at the same time.
    let exchanges: Vec<_> = clients
        .iter_mut()
        .enumerate()
        .map(|(index, client)| {
            let arguments = json!({ "mine": index, "progress": 2, "hold": "all" });
            client.send("tools/call", &call("echo", &arguments))
        })
        .collect();
    McpHttpClient::modern(&served.peer).call_tool("release", &json!({ "name": "all" }));
    for (index, (id, mut connection)) in exchanges.into_iter().enumerate() {
        assert!(connection.head().is_stream());
        for done in 1..=2 {
            let event = connection.next_event().unwrap().unwrap();
            let progress: serde_json::Value = serde_json::from_str(&event.data).unwrap();
            assert_eq!(progress["params"]["progressToken"], "token", "{progress}");
            assert_eq!(progress["params"]["progress"], done, "{progress}");
        }
        let answer: serde_json::Value =
            serde_json::from_str(&connection.next_event().unwrap().unwrap().data).unwrap();
        assert_eq!(answer["id"], id);
        assert!(text_of(&answer).contains(&format!(r#""mine":{index}"#)), "{answer}");
    }
}

#[test]
fn a_modern_subscription_hears_what_it_asked_for() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::modern(&served.peer);
    let wish = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = client.start("subscriptions/listen", &wish);
    let acknowledged = listening.next_message().unwrap().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    client.call_tool("announce", &json!({ "what": "tools" }));
    let changed = listening.next_message().unwrap().unwrap();
    let subscription = &changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(
        (&changed["method"], subscription),
        (&json!("notifications/tools/list_changed"), &listening.id)
    );
    client.call_tool("hang-up", &json!({}));
    let ended = listening.next_message().unwrap().unwrap();
    assert_eq!(ended["id"], listening.id, "{ended}");
}

#[test]
fn sessions_have_a_cap() {
    let served = in_front_of_a_command(&["--max-sessions", "2"]);
    let mut clients = [McpHttpClient::legacy(&served.peer), McpHttpClient::legacy(&served.peer)];
    let (status, body) = served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
    assert!(status == 503 && body.contains("--max-sessions"), "{body}");
    clients[0].delete();
    assert_eq!(served.request("POST", "/mcp", &[JSON], INITIALIZE.as_bytes()).0, 200);
}

#[test]
fn an_idle_session_ends_and_one_that_is_listened_to_does_not() {
    let served = in_front_of_a_command(&["--idle", "3"]);
    let mut idle = McpHttpClient::legacy(&served.peer);
    let idle_pid = pid(&mut idle);
    let mut heard = McpHttpClient::legacy(&served.peer);
    let listening = heard.listen(None);
    assert_eq!(listening.head.status, 200);
    eventually("the idle session ends", || !is_running(idle_pid));
    assert_eq!(served.sessions(), 1);
    pid(&mut heard);
}

#[test]
fn a_question_of_the_upstream_reaches_the_client_that_made_it_ask() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let mut asking =
        client.start("tools/call", &call("echo", &json!({ "ask": "sampling/createMessage" })));
    let question = asking.next_message().unwrap().unwrap();
    assert_eq!(question["method"], "sampling/createMessage", "{question}");
    assert_eq!(client.answer(&question["id"], &json!({ "said": "forty-two" })), 202);
    let answer = asking.response();
    assert!(text_of(&answer).contains("forty-two"), "{answer}");
}

#[test]
fn a_client_that_was_cut_off_comes_back_for_the_rest() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let arguments = json!({ "progress": 1, "hold": "later", "count": 3_000 });
    let mut cut_off = client.start("tools/call", &call("records", &arguments));
    while cut_off.last_event_id.is_none() {
        cut_off.next_event().unwrap().unwrap();
    }
    let last = cut_off.last_event_id.clone().unwrap();
    let id = cut_off.id.clone();
    drop(cut_off);
    client.call_tool("release", &json!({ "name": "later" }));
    let comes_back = |client: &mut McpHttpClient| client.listen(Some(&last)).response();
    let first = comes_back(&mut client);
    assert_eq!(first["id"], id);
    assert!(text_of(&first).starts_with("Large response detected"), "{first}");
    assert_eq!(comes_back(&mut client), first, "what is told again is told the same");
    let nowhere = client.listen(Some("77-1"));
    assert_eq!(nowhere.head.status, 400);
}

#[test]
fn an_event_that_is_replayed_by_a_remote_upstream_is_replaced_the_same() {
    let remote = HttpPeer::fixture();
    let served = in_front_of(&remote.url(), &[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let arguments = json!({ "progress": 1, "detach": true, "count": 3_000 });
    let mut detached = client.start("tools/call", &call("records", &arguments));
    while detached.next_event().unwrap().is_some() {}
    let last = detached.last_event_id.clone().unwrap();
    let first = client.listen(Some(&last)).response();
    assert!(text_of(&first).starts_with("Large response detected"), "{first}");
    assert_eq!(client.listen(Some(&last)).response(), first);
}

#[test]
fn a_cancelled_call_ends_its_stream() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let arguments = json!({ "progress": 1, "hold": "for ever" });
    let mut exchange = client.start("tools/call", &call("echo", &arguments));
    exchange.next_event().unwrap().unwrap();
    let cancelled = json!({ "requestId": exchange.id });
    assert_eq!(client.tell("notifications/cancelled", &cancelled), 202);
    while exchange.next_event().unwrap().is_some() {}
}

#[test]
fn what_is_under_way_is_finished_when_we_are_told_to_end() {
    let mut served = in_front_of_a_command(&["--grace", "30"]);
    let mut client = McpHttpClient::legacy(&served.peer);
    let mut listening = client.listen(None);
    let held = json!({ "progress": 1, "hold": "end" });
    let mut exchange = client.start("tools/call", &call("echo", &held));
    exchange.next_event().unwrap().unwrap();
    let late = json!({ "progress": 1, "delay": 300, "late": 1 });
    let mut release = client.start("tools/call", &call("echo", &late));
    release.next_event().unwrap().unwrap();
    served.peer.terminate();
    assert!(listening.next_event().unwrap().is_none(), "what has no end ends at once");
    assert!(text_of(&release.response()).contains("late"));
    drop(exchange);
    client.headers.clear();
    drop(client);
    let _ = served.peer.wait();
}

#[test]
fn a_command_that_cannot_be_started_any_more_is_told() {
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("a-program");
    std::os::unix::fs::symlink(programs::fixture_upstream(), &program).unwrap();
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--"]);
    let peer = HttpPeer::start(command.arg(&program).env("FOREBAY_HOME", home.path()));
    std::fs::remove_file(&program).unwrap();
    let mut connection = peer.connect();
    connection.send("POST", "/mcp", &[JSON], INITIALIZE.as_bytes());
    assert_eq!(connection.head().status, 502);
    let answer = connection.json();
    assert!(error_of(&answer).contains("a-program") && answer["id"] == 0, "{answer}");
}
