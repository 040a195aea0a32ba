use std::{io::Read, process::Command};

use serde_json::{Value, json};

use super::{Era, HttpPeer, McpHttpClient};
use crate::{peer::Peer, programs};

fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"))
}

#[test]
fn an_address_is_found_in_either_form() {
    for line in [
        "listening on 127.0.0.1:80\n",
        "12:00 INFO listening on http://127.0.0.1:80/mcp\n",
        "Server listening on port 80\n",
    ] {
        assert_eq!(super::listening(line), Some("127.0.0.1:80".parse().unwrap()));
    }
}

#[test]
fn both_eras_call_tools_and_get_json_or_events() {
    let fixture = HttpPeer::fixture();
    for era in [Era::Legacy, Era::Modern] {
        let mut client = McpHttpClient::of(era, &fixture);
        for arguments in [json!({}), json!({"stream": true}), json!({"delay": 1})] {
            let response = client.call_tool("echo", &arguments);
            let echoed: Value = serde_json::from_str(text(&response)).unwrap();
            assert_eq!(echoed["arguments"], arguments);
            assert_eq!(response["result"]["resultType"] == "complete", era == Era::Modern);
        }
        assert!(client.notifications.is_empty());
        let params = json!({"name": "echo", "arguments": {"progress": 3, "logs": 1},
            "_meta": {"progressToken": "p"}});
        client.call("tools/call", &params);
        let methods: Vec<&Value> = client.notifications.iter().map(|n| &n["method"]).collect();
        let progress = "notifications/progress";
        assert_eq!(methods, [progress, progress, progress, "notifications/message"]);
    }
    let stats = fixture.stats();
    assert_eq!(stats["requests"]["tools/call"], 8);
    assert_eq!(stats["last_post"]["mcp-name"], "echo");
}

#[test]
fn a_session_is_needed_and_ends() {
    let fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::legacy(&fixture);
    let mut stream = client.listen(None);
    client.call_tool("announce", &json!({"what": "tools"}));
    let told = stream.next_message().unwrap().unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(fixture.stats()["sessions"], 1);
    assert_eq!(client.delete(), 200);
    assert!(stream.next_message().unwrap().is_none(), "the stream ends with the session");
    assert_eq!(client.start("tools/list", &json!({})).head.status, 404);
    fixture.eventually("the stream is closed", |stats| stats["streams"] == 0);
    let stats = fixture.stats();
    assert_eq!((&stats["sessions"], &stats["deleted"]), (&json!(0), &json!(1)));
    let mut connection = fixture.connect();
    let message = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    connection.send("POST", "/mcp", &[], message);
    assert_eq!(connection.head().status, 400);
    let mut client = McpHttpClient::legacy(&fixture);
    client.call_tool("echo", &json!({"fault": "forget"}));
    assert_eq!(client.start("tools/list", &json!({})).head.status, 404);
}

#[test]
fn a_stream_is_read_on_where_it_broke_off() {
    let fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::legacy(&fixture);
    for shape in [json!({"detach": true}), json!({"stream": true, "fault": "cut"})] {
        let mut exchange =
            client.start("tools/call", &json!({"name": "bytes", "arguments": shape}));
        while let Ok(Some(event)) = exchange.next_event() {
            assert_eq!(event.data, "", "only an id to come back by");
        }
        let mut resumed = client.listen(exchange.last_event_id.as_deref());
        let response = resumed.next_message().unwrap().unwrap();
        assert_eq!(response["id"], exchange.id);
        assert!(resumed.next_message().unwrap().is_none());
    }
    assert_eq!(client.listen(Some("77-0")).head.status, 400);
}

#[test]
fn a_call_waits_until_it_is_released() {
    let fixture = HttpPeer::fixture();
    for (era, name) in [(Era::Legacy, "a"), (Era::Modern, "b")] {
        let mut client = McpHttpClient::of(era, &fixture);
        let params = json!({"name": "echo", "arguments": {"hold": name}});
        let (id, mut connection) = client.send("tools/call", &params);
        fixture.eventually("the call is held", |stats| stats["held"] == json!([name]));
        client.call_tool("release", &json!({"name": name}));
        connection.head();
        assert_eq!(connection.json()["id"], id);
    }
}

#[test]
fn going_away_cancels_in_the_modern_era_only() {
    let fixture = HttpPeer::fixture();
    for (era, arguments, cancelled) in [
        (Era::Legacy, json!({"hold": "a"}), 0),
        (Era::Modern, json!({"hold": "b"}), 1),
        (Era::Modern, json!({"hold": "c", "logs": 1}), 2),
    ] {
        let mut client = McpHttpClient::of(era, &fixture);
        let params = json!({"name": "echo", "arguments": arguments});
        let (_, connection) = client.send("tools/call", &params);
        let name = arguments["hold"].as_str().unwrap();
        let holds = |stats: &Value| stats["held"].as_array().unwrap().contains(&name.into());
        fixture.eventually("the call is held", holds);
        drop(connection);
        fixture.eventually("the connection is gone", |stats| stats["connections"] == 0);
        fixture.eventually("the count", |stats| stats["cancelled"] == cancelled);
        assert_eq!(holds(&fixture.stats()), era == Era::Legacy);
    }
    let mut client = McpHttpClient::legacy(&fixture);
    let (id, mut connection) =
        client.send("tools/call", &json!({"name": "echo", "arguments": {"hold": "d", "logs": 1}}));
    fixture.eventually("the call is held", |stats| stats["held"] == json!(["a", "d"]));
    assert_eq!(client.tell("notifications/cancelled", &json!({"requestId": id})), 202);
    connection.head();
    assert!(!String::from_utf8(connection.body().unwrap()).unwrap().contains("result"));
    assert_eq!(fixture.stats()["cancelled"], 3);
}

#[test]
fn a_client_is_asked_in_the_manner_of_its_era() {
    let fixture = HttpPeer::fixture();
    let mut params = json!({"name": "echo", "arguments": {"ask": "elicitation/create"}});
    let mut client = McpHttpClient::legacy(&fixture);
    let mut exchange = client.start("tools/call", &params);
    let question = exchange.next_message().unwrap().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(client.answer(&question["id"], &json!({"action": "decline"})), 202);
    assert_eq!(text(&exchange.response()), r#"{"action":"decline"}"#);
    let mut client = McpHttpClient::modern(&fixture);
    let response = client.call("tools/call", &params);
    assert_eq!(response["result"]["resultType"], "input_required");
    params["inputResponses"] = json!({"question": {"action": "decline"}});
    let response = client.call("tools/call", &params);
    assert_eq!(text(&response), r#"{"question":{"action":"decline"}}"#);
}

#[test]
fn a_task_has_its_result_once_it_is_released() {
    let fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::legacy(&fixture);
    let params = json!({"name": "bytes", "arguments": {"count": 100_000}, "task": {}});
    let created = client.call("tools/call", &params);
    let id = &created["result"]["task"]["taskId"];
    let response = client.call("tasks/result", &json!({"taskId": id}));
    assert!(text(&response).len() > 50_000);

    let mut client = McpHttpClient::modern(&fixture);
    let arguments = json!({"count": 100_000, "task": true, "hold": "t"});
    let created = client.call_tool("bytes", &arguments);
    assert_eq!(created["result"]["resultType"], "task");
    let id = &created["result"]["taskId"];
    let mut listening =
        client.start("subscriptions/listen", &json!({"notifications": {"taskIds": [id]}}));
    let accepted = listening.next_message().unwrap().unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    let get = json!({"taskId": id});
    assert_eq!(client.call("tasks/get", &get)["result"]["status"], "working");
    client.call_tool("release", &json!({"name": "t"}));
    let got = client.call("tasks/get", &get)["result"].clone();
    assert_eq!(got["status"], "completed");
    let told = listening.next_message().unwrap().unwrap();
    assert_eq!(told["params"]["result"], got["result"]);
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening.id);
    client.call_tool("hang-up", &json!({}));
    let last = listening.response();
    assert_eq!(last["result"]["resultType"], "complete");
}

#[test]
fn headers_must_say_what_the_body_says() {
    let fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::modern(&fixture);
    let params = json!({"name": "region", "arguments": {"region": "eu"}});
    let exchange = client.start("tools/call", &params);
    assert_eq!(exchange.head.status, 400);
    assert_eq!(exchange.response()["error"]["code"], -32020);
    for value in ["eu", "=?base64?ZXU=?="] {
        client.headers = vec![("Mcp-Param-Region".to_owned(), value.to_owned())];
        assert_eq!(text(&client.call("tools/call", &params)), "eu");
    }
    assert_eq!(client.start("tools/call", &json!({"name": "näh"})).head.status, 200);
    let exchange = client.start("no/such", &json!({}));
    assert_eq!(exchange.head.status, 404);
    assert_eq!(exchange.response()["error"]["code"], -32601);
}

#[test]
fn faults_are_as_they_are_asked_for() {
    let mut fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::modern(&fixture);
    let mut start = |arguments: Value| {
        client.start("tools/call", &json!({"name": "echo", "arguments": arguments}))
    };
    let status = |fault: &str| json!({"fault": fault});
    assert_eq!(start(status("redirect")).head.status, 307);
    assert_eq!(start(status("error")).head.status, 500);
    let refused = start(status("refuse")).head;
    assert!(refused.header("WWW-Authenticate").unwrap().starts_with("Bearer "));
    for (fault, streams) in
        [("garbage", false), ("malformed", false), ("malformed", true), ("silence", false)]
    {
        let mut exchange = start(json!({"fault": fault, "stream": streams}));
        assert!(exchange.next_message().is_err(), "{fault}");
    }
    for fault in ["garbage", "silence"] {
        let mut exchange = start(json!({"fault": fault, "stream": true}));
        assert!(exchange.next_message().unwrap().is_none(), "{fault}");
    }
    for (fault, streams) in [("cut", true), ("cut", false), ("die", true)] {
        let mut exchange = start(json!({"fault": fault, "stream": streams}));
        let mut bytes = Vec::new();
        assert!(exchange.connection.read_to_end(&mut bytes).is_err(), "{fault}");
        assert!(!bytes.is_empty(), "{fault} in the middle");
    }
    assert_eq!(fixture.wait().code(), Some(1));
}

#[test]
fn a_body_is_the_same_in_chunks_and_in_an_event() {
    let fixture = HttpPeer::fixture();
    let mut client = McpHttpClient::modern(&fixture);
    let mut size = |streams: bool| {
        let arguments = json!({"count": 5_000_000, "stream": streams});
        let response = client.call_tool("bytes", &arguments);
        text(&response).len()
    };
    assert_eq!(size(true), size(false));
    let mut connection = fixture.connect();
    let params = " ".repeat(1 << 20);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{params}"}}"#);
    connection.send("POST", "/mcp", &[], long.as_bytes());
    connection.head();
    assert_eq!(text(&connection.json()), long.len().to_string());
}

#[test]
fn on_stdio_the_fixture_speaks_both_eras_as_well() {
    let mut fixture = Peer::start(&mut Command::new(programs::fixture_upstream()));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let mut ask = |id: u64, method: &str, mut params: Value| -> Value {
        params["_meta"] = meta.clone();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        serde_json::from_str(&fixture.ask(&request.to_string())).unwrap()
    };
    assert_eq!(ask(1, "server/discover", json!({}))["result"]["resultType"], "complete");
    let accepted =
        ask(2, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(accepted["params"]["notifications"]["toolsListChanged"], true);
    let told = ask(3, "tools/call", json!({"name": "announce", "arguments": {"what": "tools"}}));
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
    let next = |fixture: &Peer| -> Value { serde_json::from_str(&fixture.next_line()).unwrap() };
    assert_eq!(next(&fixture)["id"], 3);
    // A call that waits can be cancelled, and is then not answered.
    for (id, name) in [(4, "a"), (5, "b")] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"hold": name, "ask": "roots/list"}}});
        let question: Value = serde_json::from_str(&fixture.ask(&call.to_string())).unwrap();
        assert_eq!(question["method"], "roots/list");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"id": id}});
        fixture.send(&answer.to_string());
    }
    fixture
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#);
    for name in ["a", "b"] {
        let call = json!({"jsonrpc": "2.0", "id": name, "method": "tools/call",
            "params": {"name": "release", "arguments": {"name": name}}});
        fixture.send(&call.to_string());
    }
    let mut answers = [next(&fixture), next(&fixture), next(&fixture)];
    answers.sort_by_key(|answer| answer["id"].is_number());
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!("a"), &json!("b")));
    assert_eq!((&answers[2]["id"], text(&answers[2])), (&json!(5), r#"{"id":5}"#));
}
