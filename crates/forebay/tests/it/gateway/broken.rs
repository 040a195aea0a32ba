//! Servers that cannot be used: they hold up no other, and `list_servers` says what is wrong with each.

use forebay_testkit::http::Era;
use serde_json::json;

use super::{
    client::{Client, error_of},
    fixture, gateway, server,
};

#[test]
fn broken_servers_hold_up_no_other_and_are_told_of() {
    let home = tempfile::tempdir().unwrap();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let settings = [
        server("missing", &words(&["/no/such/program"]), ""),
        // Neither of them ever answers; one may take its time.
        server("mute", &words(&["sleep", "1000"]), ""),
        server("late", &words(&["sleep", "1000"]), "start_timeout = 1"),
        server("failing", &words(&["sh", "-c", "exit 3"]), ""),
        server("good", &fixture(&[]), ""),
    ]
    .concat();
    // A modern client need not open, so its first call is the first that is said at all.
    let mut command = gateway(home.path(), &settings);
    let mut client = Client::start(Era::Modern, command.args(["--grace", "0.1"]));
    let text = client.text("good__records", &json!({ "count": 3_000 }));
    assert!(text.starts_with("Large response detected"), "{text}");

    let tools = client.tools();
    assert!(tools.contains(&"good__echo".to_owned()), "{tools:?}");
    for broken in ["missing", "mute", "late", "failing"] {
        assert!(!tools.iter().any(|tool| tool.starts_with(broken)), "{tools:?}");
    }
    let mute = client.standing("mute");
    assert_eq!(mute, json!({ "name": "mute", "state": "starting", "datasets": 0 }));
    let good = client.standing("good");
    let expected = json!({
        "name": "good", "state": "open", "revision": "2026-07-28", "tools": 4, "datasets": 1
    });
    assert_eq!(good, expected);

    for (name, why) in [
        ("missing", "cannot be started: there is no file `/no/such/program`"),
        ("late", "did not open within 1 s"),
        ("failing", "exited with code 3"),
    ] {
        let told = client.until_standing(name, "down", |it| {
            it["last_error"].as_str().is_some_and(|error| error.contains(why))
        });
        assert_eq!(told["datasets"], 0, "{told}");
    }
    let refused = client.call("nobody__echo", &json!({}));
    assert_eq!(error_of(&refused), "Unknown tool: nobody__echo");
    client.end();
}
