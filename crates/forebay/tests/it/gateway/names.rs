//! What is offered of each server, and whom a name leads to.

use forebay_testkit::http::Era;
use serde_json::json;

use super::{
    client::{Client, error_of},
    fixture, gateway, server,
};

#[test]
fn tools_that_are_not_offered_are_neither_listed_nor_called() {
    let home = tempfile::tempdir().unwrap();
    let rules = "allow_tools = [\"echo\", \"rec*\", \"pid\"]\ndeny_tools = [\"p?d\"]";
    let settings =
        [server("some", &fixture(&["--rich"]), rules), server("all", &fixture(&["--rich"]), "")]
            .concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    client.until_open(&["some", "all"]);
    let tools = client.tools();
    let of_some: Vec<&String> = tools.iter().filter(|tool| tool.starts_with("some__")).collect();
    assert_eq!(of_some, ["some__echo", "some__records"]);
    assert!(tools.contains(&"all__pid".to_owned()), "{tools:?}");
    let refused = client.call("some__pid", &json!({}));
    assert_eq!(error_of(&refused), "Unknown tool: some__pid");
    assert!(client.text("all__pid", &json!({})).parse::<u32>().is_ok());
    client.end();
}

#[test]
fn where_no_two_have_the_same_name_the_server_is_left_out_of_it() {
    let home = tempfile::tempdir().unwrap();
    let settings = [
        "[gateway]\nprefix = \"where_needed\"\nseparator = \".\"\n".to_owned(),
        server("one", &fixture(&[]), ""),
        server("two", &fixture(&["--rich"]), "deny_tools = [\"echo\"]"),
    ]
    .concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    client.until_open(&["one", "two"]);
    let tools = client.tools();
    for name in ["echo", "bytes", "one.records", "two.records", "pid"] {
        assert!(tools.iter().any(|tool| tool == name), "{name} in {tools:?}");
    }
    assert!(client.text("echo", &json!({ "text": "alone" })).contains("alone"));
    assert!(client.text("pid", &json!({})).parse::<u32>().is_ok());
    client.end();
}

#[test]
fn a_resource_that_several_may_have_is_asked_for_by_its_server() {
    let home = tempfile::tempdir().unwrap();
    let of = |name: &str| {
        server(name, &fixture(&["--rich"]), &format!("env = {{ FIXTURE = \"{name}\" }}"))
    };
    let settings = [of("one"), of("two")].concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    client.until_open(&["one", "two"]);
    let refused = client.ask("resources/read", &json!({ "uri": "note://other" }));
    let advice = "ask for forebay://one/note://other or forebay://two/note://other";
    assert!(error_of(&refused).ends_with(advice), "{refused}");
    let read = client.ask("resources/read", &json!({ "uri": "forebay://two/note://other" }));
    assert_eq!(read["result"]["contents"][0]["text"], "note://other as two has it", "{read}");
    client.end();
}
