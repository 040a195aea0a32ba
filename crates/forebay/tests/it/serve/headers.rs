//! What a modern request says twice, in front of an upstream that sees only its body.

use forebay_testkit::http::McpHttpClient;
use serde_json::{Value, json};

use super::{JSON, Served, call, error_of, in_front_of_a_command, text_of};

#[test]
fn an_argument_that_its_header_does_not_repeat_is_refused() {
    let served = in_front_of_a_command(&[]);
    let mut client = McpHttpClient::modern(&served.peer);
    client.call("tools/list", &json!({}));
    let mut says = |header: Option<&str>, region: &Value| {
        let named = |value: &str| ("Mcp-Param-Region".to_owned(), value.to_owned());
        client.headers = header.map(named).into_iter().collect();
        let arguments = json!({ "region": region });
        let exchange = client.start("tools/call", &call("region", &arguments));
        (exchange.head.status, exchange.response())
    };
    for (header, region) in [("eu", "eu"), ("=?base64?WsO8cmljaA==?=", "Zürich")] {
        let (status, answer) = says(Some(header), &json!(region));
        assert_eq!((status, text_of(&answer)), (200, region));
    }
    assert_eq!(says(None, &Value::Null).0, 200, "what is null is not said again");
    for header in [None, Some("us"), Some("=?base64?ZXU?=")] {
        let (status, answer) = says(header, &json!("eu"));
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)), "{answer}");
        assert!(error_of(&answer).contains("mcp-param-region"), "{answer}");
    }
}

#[test]
fn a_tool_is_known_to_all_who_share_a_process_and_after_its_end() {
    let served = in_front_of_a_command(&[]);
    McpHttpClient::modern(&served.peer).call("tools/list", &json!({}));
    let mut another = McpHttpClient::modern(&served.peer);
    let told = error_of(&another.call_tool("exit", &json!({ "count": 3 }))).to_owned();
    assert!(told.contains("exited with code 3"), "{told}");
    let refused = another.start("tools/call", &call("region", &json!({ "region": "eu" })));
    assert_eq!(refused.head.status, 400);
}

/// What a request for that revision is answered with: its status and its error.
fn refusal(served: &Served, version: &str, header: &str) -> (u16, Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = json!({ "jsonrpc": "2.0", "id": 7, "method": "server/discover",
        "params": { "_meta": meta } });
    let headers = [JSON, ("MCP-Protocol-Version", header), ("Mcp-Method", "server/discover")];
    let (status, answer) =
        served.request("POST", "/mcp", &headers, discover.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], 7, "{answer}");
    (status, answer["error"].clone())
}

#[test]
fn a_revision_that_the_upstream_does_not_know_is_answered_with_those_that_it_does() {
    let served = in_front_of_a_command(&[]);
    for version in ["v999.0.0", "2099-01-01"] {
        let (status, error) = refusal(&served, version, version);
        assert_eq!((status, &error["code"]), (400, &json!(-32022)), "{error}");
        assert_eq!(error["data"]["requested"], version);
        assert_eq!(error["data"]["supported"][0], "2026-07-28");
        let (status, error) = refusal(&served, version, "2026-07-28");
        assert_eq!((status, &error["code"]), (400, &json!(-32020)), "the header says another");
    }
}

#[test]
fn what_the_upstream_has_said_of_its_revisions_is_held_to() {
    let served = in_front_of_a_command(&[]);
    let discovered = McpHttpClient::modern(&served.peer).call("server/discover", &json!({}));
    // The fixture itself would name those of the other era, too.
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    let (status, error) = refusal(&served, "v999.0.0", "v999.0.0");
    assert_eq!((status, &error["code"]), (400, &json!(-32022)), "{error}");
    let data = json!({ "supported": ["2026-07-28"], "requested": "v999.0.0" });
    assert_eq!(error["data"], data);
}
