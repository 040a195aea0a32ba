//! Programs on every way from a client to a server: the calls they make are the same.

use forebay_testkit::http::{Era, HttpPeer, McpHttpClient};
use serde_json::{Value, json};

use crate::{
    forebay,
    gateway::{client::Client, fixture, gateway, server},
    serving_command, serving_modern_command, serving_url,
};

/// A program that makes several calls at once, some of which tell of their progress.
const CODE: &str = "const all = await Promise.all([1, 2, 3, 4].map(n => tools.SERVER.records({ count: n * 100, progress: 1 })));\n\
                    return all.map(rows => rows.length)";

fn code(server: &str) -> Value {
    json!({ "code": CODE.replace("SERVER", server) })
}

fn over_http(peer: &HttpPeer, era: Era, server: &str) {
    let mut client = McpHttpClient::of(era, peer);
    let called = json!({ "name": "run_code", "arguments": code(server) });
    let mut with_progress = called.clone();
    with_progress["_meta"] = json!({ "progressToken": "mine" });
    // With progress, and then in the same session without.
    for params in [with_progress, called] {
        let result = client.call("tools/call", &params);
        assert_eq!(result["result"]["content"][0]["text"], "[101,201,301,401]", "{result}");
    }
    let told = |it: &&Value| it["params"]["progressToken"] == "mine";
    let told = client.notifications.iter().filter(told).count();
    // Each of its calls tells of its own, and that it is done.
    assert!(told >= 4, "{told} of {:?}", client.notifications);
}

#[test]
fn stdio_to_http() {
    let home = tempfile::tempdir().unwrap();
    for era in [Era::Legacy, Era::Modern] {
        let upstream = HttpPeer::fixture();
        let mut command =
            forebay(["wrap", "--tools", "full", "--name", "orders", "--url", &upstream.url()]);
        let mut client = Client::start(era, command.env("FOREBAY_HOME", home.path()));
        assert_eq!(client.text("run_code", &code("orders")), "[101,201,301,401]");
        client.end();
    }
}

#[test]
fn http_to_stdio() {
    let options = ["--tools", "full", "--name", "orders"];
    let legacy = serving_command(&fixture(&[]), &options);
    over_http(&legacy, Era::Legacy, "orders");
    let modern = serving_modern_command(&fixture(&["--era", "modern"]), &options);
    over_http(&modern, Era::Modern, "orders");
}

#[test]
fn http_to_http() {
    for era in [Era::Legacy, Era::Modern] {
        let upstream = HttpPeer::fixture();
        let peer = serving_url(&upstream.url(), &["--tools", "full", "--name", "orders"]);
        over_http(&peer, era, "orders");
    }
}

#[test]
fn gateway_to_both() {
    let home = tempfile::tempdir().unwrap();
    let upstream = HttpPeer::fixture();
    let settings = format!(
        "injected_tools = \"full\"\n{}[servers.far]\nurl = {:?}\n",
        server("near-by", &fixture(&[]), ""),
        upstream.url()
    );
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::start(era, &mut gateway(home.path(), &settings));
        for name in [".near_by", ".far", "['near-by']"] {
            let code = CODE.replace(".SERVER", name);
            let text = client.text("run_code", &json!({ "code": code }));
            assert_eq!(text, "[101,201,301,401]", "{name}");
        }
        client.end();
    }
}

#[test]
fn http_to_gateway() {
    for era in [Era::Legacy, Era::Modern] {
        let home = tempfile::tempdir().unwrap();
        let settings =
            format!("injected_tools = \"full\"\n{}", server("orders", &fixture(&[]), ""));
        std::fs::write(home.path().join("forebay.toml"), settings).unwrap();
        let mut serve = forebay(["serve", "--listen", "127.0.0.1:0"]);
        over_http(&HttpPeer::start(serve.env("FOREBAY_HOME", home.path())), era, "orders");
    }
}

#[test]
fn a_tool_that_a_gateway_does_not_offer_cannot_be_called_by_a_program() {
    let home = tempfile::tempdir().unwrap();
    let settings = format!(
        "injected_tools = \"full\"\n{}",
        server("orders", &fixture(&[]), "deny_tools = [\"rec*\"]")
    );
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    for code in [
        "return await tools.orders.records({})",
        "return await callMCPTool('orders', 'orders__records')",
    ] {
        let answer = client.call("run_code", &json!({ "code": code }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    client.end();
}
