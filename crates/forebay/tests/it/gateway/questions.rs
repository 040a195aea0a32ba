//! What servers ask of clients in the middle of a call, where it is not plain sailing: over HTTP, of clients
//! that cannot answer, and with several calls under way.

use std::path::Path;

use forebay_testkit::http::{Era, HttpPeer, McpHttpClient};
use serde_json::{Value, json};

use super::{
    client::{Client, text_of},
    fixture, gateway, server, write_settings,
};
use crate::forebay;

const ELICIT: &str = "elicitation/create";

fn servers() -> String {
    let of = |name| server(name, &fixture(&["--rich", "--era", name]), "");
    [of("legacy"), of("modern")].concat()
}

fn serve(home: &Path) -> HttpPeer {
    write_settings(home, &servers());
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
    HttpPeer::start(command.env("FOREBAY_HOME", home))
}

fn asking(server: &str) -> Value {
    json!({ "name": format!("{server}__echo"), "arguments": { "ask": ELICIT } })
}

#[test]
fn over_http_a_question_comes_with_the_call_that_it_is_about() {
    let home = tempfile::tempdir().unwrap();
    let peer = serve(home.path());
    let mut client = McpHttpClient::legacy(&peer);
    for server in ["legacy", "modern"] {
        let mut exchange = client.start("tools/call", &asking(server));
        let question = exchange.next_message().unwrap().unwrap();
        assert_eq!(question["method"], ELICIT, "{server}: {question}");
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        assert_eq!(client.answer(&question["id"], &answer), 202);
        let response = exchange.response();
        assert!(text_of(&response).contains("Ada"), "{server}: {response}");
    }
}

#[test]
fn a_modern_client_that_cannot_answer_is_not_asked() {
    let home = tempfile::tempdir().unwrap();
    let peer = serve(home.path());
    // It says of itself that it knows tasks, and nothing else.
    let mut client = McpHttpClient::modern(&peer);
    let response = client.call("tools/call", &asking("legacy"));
    let text = text_of(&response);
    assert!(text.contains("the client cannot answer `elicitation/create`"), "{text}");
}

#[test]
fn a_legacy_server_cannot_ask_a_modern_client_while_it_works_on_several_calls() {
    let home = tempfile::tempdir().unwrap();
    let mut client = Client::start(Era::Modern, &mut gateway(home.path(), &servers()));
    let held = json!({
        "name": "legacy__echo", "arguments": { "progress": 1, "hold": "a while" },
        "_meta": { "progressToken": "held" },
    });
    let held = client.send("tools/call", &held);
    client.told("notifications/progress");
    let text = text_of(&client.ask("tools/call", &asking("legacy")));
    assert!(text.contains("it is not known which one"), "{text}");

    client.text("legacy__release", &json!({ "name": "a while" }));
    client.response(held);
    let first = client.ask("tools/call", &asking("legacy"));
    assert_eq!(first["result"]["resultType"], "input_required", "alone it is asked: {first}");

    // Whoever comes back too late, or with what nobody gave, learns what to do.
    let mut again = asking("legacy");
    again["requestState"] = json!("forebay:0000");
    let refused = client.ask("tools/call", &again);
    let why = "the call that this goes on with is over; make it anew, without `requestState`";
    assert_eq!(refused["error"]["message"], why, "{refused}");
    client.end();
}
