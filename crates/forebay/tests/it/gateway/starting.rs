//! Servers that are started when they are needed, and `forebay servers`, which says what there is.

use std::{fs, path::Path, process::Output};

use forebay_testkit::http::Era;
use serde_json::json;

use super::{client::Client, fixture, gateway, server, write_settings};
use crate::forebay;

#[test]
fn a_lazy_server_is_listed_without_a_process_and_started_by_the_first_call() {
    let home = tempfile::tempdir().unwrap();
    let starts = home.path().join("starts");
    let script = "echo started >> \"$0\"; exec \"$@\"";
    let words = ["sh", "-c", script, starts.to_str().unwrap()].map(str::to_owned);
    let words = [words.to_vec(), fixture(&[])].concat();
    let settings = server("lazy", &words, "start = \"lazy\"");
    let started = || fs::read_to_string(&starts).unwrap_or_default().lines().count();

    let mut first = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    first.until_open(&["lazy"]);
    let tools = first.tools();
    assert!(tools.contains(&"lazy__echo".to_owned()), "{tools:?}");
    first.end();
    assert_eq!(started(), 1, "what it has is not known before it has been there once");

    let mut second = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    assert_eq!(second.tools(), tools, "as it was the last time");
    let standing = second.standing("lazy");
    assert_eq!(standing["state"], "not started", "{standing}");
    assert_eq!(started(), 1);
    assert!(second.text("lazy__echo", &json!({ "text": "wake up" })).contains("wake up"));
    assert_eq!(second.standing("lazy")["state"], "open");
    assert_eq!(started(), 2);
    second.end();
}

#[test]
fn servers_are_shown_and_checked() {
    let home = tempfile::tempdir().unwrap();
    let missing = ["/no/such/program".to_owned()];
    let settings = [
        server("good", &fixture(&["--era", "modern"]), ""),
        server("old", &fixture(&["--era", "legacy"]), "start = \"lazy\""),
        server("broken", &missing, ""),
        server("failing", &["sh", "-c", "exit 3"].map(str::to_owned), "enabled = false"),
    ]
    .concat();
    write_settings(home.path(), &settings);

    let listed = servers(home.path(), &[]);
    assert_eq!(listed.status.code(), Some(0));
    let text = String::from_utf8(listed.stdout).unwrap();
    let started: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|it| !it.is_empty()).take(2).collect())
        .collect();
    let expected = [
        ["NAME", "STARTED"],
        ["good", "at once"],
        ["old", "when needed"],
        ["broken", "at once"],
        ["failing", "never"],
    ];
    assert_eq!(started, expected, "{text}");

    for (name, code, told) in [
        ("good", 0, "good: works, with 4 tools; speaks 2026-07-28"),
        ("old", 0, "old: works, with 3 tools; speaks 2025-11-25"),
        ("broken", 1, "broken: cannot be started: there is no file `/no/such/program`"),
        ("failing", 1, "failing: exited with code 3"),
        ("nobody", 3, "there is no server `nobody`; there is good, old, broken, failing"),
    ] {
        let checked = servers(home.path(), &["check", name]);
        let text = [checked.stdout, checked.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(told), "{name}: {text}");
        assert_eq!(checked.status.code(), Some(code), "{name}: {text}");
    }
    let all = servers(home.path(), &["check"]);
    assert_eq!(all.status.code(), Some(1), "one of them is broken");
    assert_eq!(String::from_utf8(all.stdout).unwrap().lines().count(), 3, "of those in use");
}

fn servers(home: &Path, arguments: &[&str]) -> Output {
    forebay([&["servers"], arguments].concat()).env("FOREBAY_HOME", home).output().unwrap()
}
