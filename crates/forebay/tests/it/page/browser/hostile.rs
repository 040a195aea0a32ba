//! What was kept is others' words: nothing in it is done by the browser.

use std::{io::Write as _, path::Path};

use forebay_store::{Description, Durability, Store};
use forebay_testkit::{peer::Peer, programs, real};
use serde_json::{Value, json};

use super::super::{Page, index, keep_file};
use crate::{call, forebay};

/// Keeps a text of a server and a tool that are called so.
fn keep_named(home: &Path, name: &str) {
    let store = Store::open(home, Durability::default()).unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(b"a text of records").unwrap();
    let (server, tool) = (name.to_owned(), name.to_owned());
    capture.commit(Description { server, tool, ..Description::default() }).unwrap();
}

#[test]
fn a_result_full_of_scripts_does_nothing() {
    let test = "a_result_full_of_scripts_does_nothing";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    let home = tempfile::tempdir().unwrap();
    let hostile = "</pre></td><script>document.title='acted'</script><img src=x onerror=\"document.title='acted'\">\
                   <style>*{display:none}</style><form action=https://evil.example><svg onload=\"document.title='acted'\">";
    let rows: Vec<Value> =
        (0..40).map(|id| json!({"id": id % 3, hostile: hostile, "b": hostile})).collect();
    keep_file(home.path(), &serde_json::to_string(&rows).unwrap());
    // Names of servers and tools are others' words, too.
    let mut command = forebay(["wrap", "--grace", "0.1", "--name", hostile, "--"]);
    command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", home.path());
    let mut peer = Peer::start(command.env("FOREBAY_THRESHOLD", "100"));
    peer.ask(&call(1, "records", 50));
    peer.close_input();
    peer.wait();
    keep_named(home.path(), hostile);
    index(home.path());
    let page = Page::at(home);
    let ids = page.ids();
    let [named, of_server, id] = &ids[..] else { panic!("{ids:?}") };
    let tagged = page.post(&format!("/dataset/{id}/tag"), "tag=%3Cscript%3E");
    assert_eq!(tagged.head.status, 400, "no tag can be called so");
    let pages = ["", "/original", "/rows", "/fields", "/sql?sql=FROM%20dataset"];
    let pages = pages.iter().map(|it| format!("/dataset/{id}{it}"));
    let others = [named, of_server].map(|id| format!("/dataset/{id}"));
    let lists = ["/", "/shelf", "/shelf?q=records", "/savings", "/servers"].map(str::to_owned);
    let views: Vec<Value> =
        pages.chain(others).chain(lists).map(|path| json!({"path": path})).collect();
    let seen = tour.of(chromium, &json!({"open": page.opening(), "views": views}));
    for view in seen["views"].as_array().unwrap() {
        assert_ne!(view["title"], "acted", "{}", view["path"]);
        assert_eq!(view["complaints"], json!([]), "{}", view["path"]);
        let shown = view["text"].as_str().unwrap();
        assert!(
            shown.contains("onerror") && shown.contains("<script>"),
            "{}: it is text",
            view["path"]
        );
        let asked = view["requests"].as_array().unwrap().iter();
        let here = format!("http://{}/", page.address);
        assert!(asked.clone().all(|url| url.as_str().unwrap().starts_with(&here)), "{asked:?}");
    }
}
