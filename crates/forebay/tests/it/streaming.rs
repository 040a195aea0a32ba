//! What comes before a result is passed on at once, and keeping a long result is told of, too.

use forebay_testkit::{http::Era, programs};
use serde_json::{Value, json};

use crate::{
    forebay,
    transports::{Client, Transport, handle},
};

/// A result of 20 MB, which takes a moment to keep.
const LONG: u64 = 20_000_000;

#[test]
fn keeping_a_long_result_is_told_of_on_stdio() {
    is_told_of(Transport::Stdio);
}

#[test]
fn keeping_a_long_result_is_told_of_over_http() {
    is_told_of(Transport::Http);
}

fn is_told_of(from: Transport) {
    let home = tempfile::tempdir().unwrap();
    let mut command = forebay(match from {
        Transport::Stdio => vec!["wrap", "--grace", "0.2"],
        Transport::Http => vec!["serve", "--listen", "127.0.0.1:0", "--grace", "2"],
    });
    command.env("FOREBAY_HOME", home.path()).arg("--").arg(programs::fixture_upstream());
    let mut client = Client::start(from, Era::Legacy, &mut command);

    let told = progress(&mut client, &json!({ "count": LONG }));
    let messages: Vec<&str> = told.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 3, "{told:?}");
    assert!(messages[0].starts_with("Keeping the result (19 MB)"), "{messages:?}");
    assert!(told.iter().all(|it| it["total"] == 3), "{told:?}");
    rises(&told);

    // Behind what the upstream has told, which counts something else.
    let told = progress(&mut client, &json!({ "count": LONG, "progress": 4 }));
    assert_eq!(told.len(), 4 + 3, "{told:?}");
    assert!(told[4..].iter().all(|it| it.get("total").is_none()), "{told:?}");
    rises(&told);

    let told = progress(&mut client, &json!({ "count": 100_000 }));
    assert!(told.is_empty(), "what is short is kept at once: {told:?}");
    client.end();
}

/// What is told before a result, which is kept.
fn progress(client: &mut Client, arguments: &Value) -> Vec<Value> {
    client.told();
    handle(&client.call("bytes", arguments, json!({ "progressToken": "mine" })));
    let mut told = client.told();
    told.retain(|it| it["method"] == "notifications/progress");
    assert!(told.iter().all(|it| it["params"]["progressToken"] == "mine"), "{told:?}");
    told.iter().map(|it| it["params"].clone()).collect()
}

fn rises(told: &[Value]) {
    let done: Vec<f64> = told.iter().map(|it| it["progress"].as_f64().unwrap()).collect();
    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "{done:?}");
}
