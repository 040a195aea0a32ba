//! Every transport on either side, in either era: one conversation, the same in all of them.

use std::process::Command;

use forebay_testkit::{
    http::{Era, HttpPeer, McpHttpClient},
    peer::Peer,
    programs,
};
use serde_json::{Value, json};

use crate::forebay;

#[derive(Clone, Copy)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// A client of either transport.
pub(crate) enum Client {
    Stdio { peer: Peer, era: Era, last_id: u64, told: Vec<Value> },
    Http { forebay: HttpPeer, client: McpHttpClient },
}

#[test]
fn stdio_to_stdio_legacy() {
    converse(Transport::Stdio, Transport::Stdio, Era::Legacy);
}

#[test]
fn stdio_to_stdio_modern() {
    converse(Transport::Stdio, Transport::Stdio, Era::Modern);
}

#[test]
fn stdio_to_http_legacy() {
    converse(Transport::Stdio, Transport::Http, Era::Legacy);
}

#[test]
fn stdio_to_http_modern() {
    converse(Transport::Stdio, Transport::Http, Era::Modern);
}

#[test]
fn http_to_stdio_legacy() {
    converse(Transport::Http, Transport::Stdio, Era::Legacy);
}

#[test]
fn http_to_stdio_modern() {
    converse(Transport::Http, Transport::Stdio, Era::Modern);
}

#[test]
fn http_to_http_legacy() {
    converse(Transport::Http, Transport::Http, Era::Legacy);
}

#[test]
fn http_to_http_modern() {
    converse(Transport::Http, Transport::Http, Era::Modern);
}

/// Says everything that matters, and asserts what must hold whatever lies in between.
fn converse(from: Transport, to: Transport, era: Era) {
    let home = tempfile::tempdir().unwrap();
    let remote = matches!(to, Transport::Http).then(HttpPeer::fixture);
    let mut command = forebay(match from {
        Transport::Stdio => vec!["wrap", "--grace", "0.2"],
        Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
    });
    command.env("FOREBAY_HOME", home.path()).args(["--name", "fixture"]);
    match &remote {
        Some(remote) => command.args(["--url", &remote.url()]),
        None => command.arg("--").arg(programs::fixture_upstream()),
    };
    let mut client = Client::start(from, era, &mut command);

    shakes_hands(&mut client, era);
    lists_tools_of_both(&mut client);
    passes_what_is_small(&mut client);
    passes_progress_before_the_result(&mut client);
    keeps_what_is_large(&mut client);
    keeps_what_comes_as_an_event(&mut client);
    keeps_the_result_of_a_task(&mut client, era);
    keeps_the_arguments_of_each(&mut client);
    passes_errors(&mut client);
    client.end();

    if let Some(remote) = remote {
        remote.eventually("nothing is left open", |stats| {
            stats["streams"] == 0 && stats["sessions"] == 0 && stats["listeners"] == 0
        });
    }
}

fn shakes_hands(client: &mut Client, era: Era) {
    if era == Era::Modern {
        let found = client.ask("server/discover", &json!({}));
        let revisions = found["result"]["supportedVersions"].as_array().unwrap();
        assert!(revisions.contains(&json!("2026-07-28")), "{found}");
    }
}

fn lists_tools_of_both(client: &mut Client) {
    let list = client.ask("tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["echo", "analyze-with-duckdb", "list-saved-datasets", "read-saved-dataset"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

fn passes_what_is_small(client: &mut Client) {
    let text = "as it came: \"\\ \u{1F30A} 12345678901234567890";
    let answer = client.call("echo", &json!({ "text": text }), json!({}));
    assert!(text_of(&answer).contains("12345678901234567890"), "{answer}");
    assert!(text_of(&answer).contains('\u{1F30A}'), "{answer}");
}

fn passes_progress_before_the_result(client: &mut Client) {
    let meta = json!({ "progressToken": "mine" });
    let answer = client.call("echo", &json!({ "progress": 3 }), meta);
    assert!(answer["result"]["content"].is_array(), "{answer}");
    let told = client.told();
    let progress: Vec<_> =
        told.iter().filter(|it| it["method"] == "notifications/progress").collect();
    assert_eq!(progress.len(), 3, "{told:?}");
    assert!(progress.iter().all(|it| it["params"]["progressToken"] == "mine"), "{told:?}");
}

fn keeps_what_is_large(client: &mut Client) {
    let answer = client.call("records", &json!({ "count": 3_000 }), json!({}));
    counts(client, &handle(&answer), 3_000);
}

/// Over HTTP the upstream answers with a stream; elsewhere the wish is ignored.
fn keeps_what_comes_as_an_event(client: &mut Client) {
    let arguments = json!({ "count": 2_000, "stream": true, "progress": 1 });
    let answer = client.call("records", &arguments, json!({ "progressToken": 7 }));
    assert_eq!(client.told().len(), 1);
    counts(client, &handle(&answer), 2_000);
}

fn keeps_the_result_of_a_task(client: &mut Client, era: Era) {
    let arguments = json!({ "count": 1_500, "task": true });
    let params = json!({ "name": "records", "arguments": arguments, "task": {} });
    let created = client.ask("tools/call", &params);
    let task =
        created["result"]["taskId"].as_str().or(created["result"]["task"]["taskId"].as_str());
    let params = json!({ "taskId": task.unwrap_or_else(|| panic!("{created}")) });
    let answer = match era {
        Era::Legacy => client.ask("tasks/result", &params),
        Era::Modern => loop {
            let state = client.ask("tasks/get", &params);
            if state["result"]["status"] == "completed" {
                break json!({ "result": state["result"]["result"] });
            }
        },
    };
    counts(client, &handle(&answer), 1_500);
}

/// Those of a task's result are the arguments of the call that began it.
fn keeps_the_arguments_of_each(client: &mut Client) {
    let query = "SELECT DISTINCT (_arguments->>'count')::INT AS n, _arguments->>'task' AS task \
                 FROM records_history ORDER BY n";
    let answer = client.call("analyze-with-duckdb", &json!({ "query": query }), json!({}));
    assert_eq!(text_of(&answer), "n,task\n1500,\"true\"\n2000,\n3000,");
}

fn passes_errors(client: &mut Client) {
    let answer = client.ask("tasks/get", &json!({ "taskId": "no-such-task" }));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    let answer =
        client.call("analyze-with-duckdb", &json!({ "query": "SELECT nonsense" }), json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

/// The dataset that a result was kept as.
pub(crate) fn handle(answer: &Value) -> String {
    let text = text_of(answer);
    assert!(text.starts_with("Large response detected"), "{text}");
    let at = text.find("dataset_").unwrap();
    text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

fn counts(client: &mut Client, dataset: &str, expected: u64) {
    let query = format!("SELECT count(DISTINCT id) AS ids FROM {dataset}");
    let answer = client.call("analyze-with-duckdb", &json!({ "query": query }), json!({}));
    let text = text_of(&answer);
    assert!(text.contains(&format!("\n{expected}")), "{text}");
}

pub(crate) fn text_of(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

impl Client {
    pub(crate) fn start(transport: Transport, era: Era, command: &mut Command) -> Self {
        match transport {
            Transport::Stdio => {
                let peer = Peer::start(command);
                let mut client = Self::Stdio { peer, era, last_id: 0, told: Vec::new() };
                if era == Era::Legacy {
                    let params = json!({
                        "protocolVersion": "2025-11-25", "capabilities": {},
                        "clientInfo": { "name": "testkit", "version": "1" }
                    });
                    let answer = client.ask("initialize", &params);
                    assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
                    let Self::Stdio { peer, .. } = &mut client else { unreachable!() };
                    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                }
                client
            }
            Transport::Http => {
                let forebay = HttpPeer::start(command);
                let client = McpHttpClient::of(era, &forebay);
                Self::Http { forebay, client }
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value, meta: Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if meta != json!({}) {
            params["_meta"] = meta;
        }
        self.ask("tools/call", &params)
    }

    /// Asks, and gives the response; what else comes meanwhile is told.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        match self {
            Self::Http { client, .. } => client.call(method, params),
            Self::Stdio { peer, era, last_id, told } => {
                *last_id += 1;
                let mut params = params.clone();
                if *era == Era::Modern {
                    let meta = &mut params["_meta"];
                    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
                    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
                }
                let request = json!({
                    "jsonrpc": "2.0", "id": *last_id, "method": method, "params": params
                });
                peer.send(&request.to_string());
                loop {
                    let message: Value = serde_json::from_str(&peer.next_line()).unwrap();
                    if message["id"] == *last_id && message["method"].is_null() {
                        return message;
                    }
                    told.push(message);
                }
            }
        }
    }

    /// What has come besides responses.
    pub(crate) fn told(&mut self) -> Vec<Value> {
        match self {
            Self::Stdio { told, .. } => std::mem::take(told),
            Self::Http { client, .. } => std::mem::take(&mut client.notifications),
        }
    }

    /// Leaves as a client does, and waits until Forebay has ended, too.
    pub(crate) fn end(self) {
        match self {
            Self::Stdio { mut peer, .. } => {
                peer.close_input();
                assert!(peer.wait().success());
            }
            Self::Http { mut forebay, mut client } => {
                if client.session().is_some() {
                    assert!([200, 204].contains(&client.delete()));
                }
                drop(client);
                forebay.terminate();
                assert!(forebay.wait().success());
            }
        }
    }
}
