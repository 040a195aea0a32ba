//! The page in a real browser: every page and action, with and without scripts, light and dark, narrow and wide.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use forebay_store::{Description, Durability, Store};
use forebay_testkit::{peer::Peer, programs, real};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Page, index, keep, keep_file};
use crate::{call, forebay};

/// Every page, with a dataset's name in the place of ID.
const PAGES: [&str; 14] = [
    "/",
    "/shelf",
    "/shelf?q=order",
    "/dataset/ID",
    "/dataset/ID/original",
    "/dataset/ID/rows",
    "/dataset/ID/rows?where=eq:status=active&sort=-id",
    "/dataset/ID/fields",
    "/dataset/ID/sql?sql=SELECT%20status%2C%20count(*)%20AS%20n%20FROM%20dataset%20GROUP%20BY%20ALL&chart=bar&x=status&y=n",
    "/dataset/ID/delete",
    "/savings?price=3",
    "/servers",
    "/settings",
    "/doctor",
];

/// Pictures are kept if this is set, for whoever wants to look at them.
fn pictures() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FOREBAY_PICTURES")?);
    fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

fn kept() -> Page {
    kept_in(tempfile::tempdir().unwrap())
}

fn kept_in(home: TempDir) -> Page {
    keep(home.path(), &[("nested", 60), ("log", 80), ("echo", 1), ("fail", 1), ("records", 300)]);
    index(home.path());
    Page::at(home)
}

#[test]
fn every_page_can_be_used_by_all_and_asks_nobody_else() {
    let test = "every_page_can_be_used_by_all_and_asks_nobody_else";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    // The doctor names the home, whose path has no place to break a line.
    let long = "long".repeat(20);
    let page = kept_in(tempfile::Builder::new().prefix(&long).tempdir().unwrap());
    let id = page.ids().remove(0);
    let mut views = Vec::new();
    for path in PAGES.map(|path| path.replace("ID", &id)) {
        for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            views.push(json!({"path": path, "width": width, "dark": dark}));
        }
    }
    // Without scripts, for a stranger, and where there is nothing.
    for path in ["/".to_owned(), "/shelf".to_owned(), format!("/dataset/{id}/rows")] {
        views.push(json!({"path": path, "width": 390, "dark": false, "scripts": false}));
    }
    views.push(
        json!({"path": "/shelf?", "width": 390, "dark": true, "stranger": true, "status": 401}),
    );
    views.push(json!({"path": "/dataset/none", "width": 390, "dark": false, "status": 404}));
    let plan =
        json!({"open": page.opening(), "views": views, "pictures": pictures(), "whole": true});
    let seen = tour.of(chromium, &plan);
    let here = format!("http://{}/", page.address);
    assert_eq!(seen["opened"], here, "the token is gone from the address");
    let views = seen["views"].as_array().unwrap();
    assert_eq!(views.len(), 4 * PAGES.len() + 5);
    for view in views {
        let name = format!("{} at {}, dark {}", view["path"], view["width"], view["dark"]);
        // The browser itself says so when a page is refused, or is not there.
        let status = view["status"].as_u64().map(|status| format!("status of {status}"));
        let complaints = view["complaints"].as_array().unwrap();
        let is_status = |it: &Value| {
            status.as_ref().is_some_and(|status| it.as_str().unwrap().contains(status))
        };
        assert!(complaints.iter().all(is_status), "{name}: {complaints:?}");
        assert_eq!(complaints.is_empty(), status.is_none(), "{name}");
        let asked = view["requests"].as_array().unwrap();
        let is_here = |url: &Value| url.as_str().unwrap().starts_with(&here);
        assert!(!asked.is_empty() && asked.iter().all(is_here), "{name}: {asked:?}");
        assert_eq!(view["overflow"], false, "{name} is not wider than the screen");
        let grave = view["axe"].as_array().unwrap().iter();
        let grave: Vec<&Value> =
            grave.filter(|it| it["impact"] == "serious" || it["impact"] == "critical").collect();
        assert_eq!(grave, Vec::<&Value>::new(), "{name}");
    }
}

#[test]
fn every_action_works_with_and_without_scripts() {
    let test = "every_action_works_with_and_without_scripts";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    for scripts in [true, false] {
        let page = kept();
        let ids = page.ids();
        let at = format!("/dataset/{}", ids[0]);
        let acts = json!([
            {"at": at, "click": ".acts form button", "tell": "document.querySelector('.title').innerText"},
            {"at": at, "fill": {"#newtag": "late"}, "click": ".acts form:nth-of-type(2) button", "tell": "document.querySelector('.title').innerText"},
            {"at": "/shelf", "fill": {"#q": "customer"}, "click": ".search button", "tell": "document.querySelector('.title').innerText"},
            {"at": "/shelf", "click": ".facet:nth-of-type(2) li a", "tell": "document.querySelector('.chips').innerText"},
            {"at": format!("{at}/rows"), "fill": {"#field": "id", "#op": "lt", "#value": "10"}, "click": "form.line button", "tell": "document.querySelector('section .bar').innerText"},
            {"at": format!("{at}/rows"), "click": "thead th:nth-of-type(2) a", "tell": "document.querySelector('[aria-sort=ascending]').innerText"},
            {"at": format!("{at}/sql"), "fill": {"#sql": "SELECT 6 * 7 AS answer"}, "click": ".sql button", "tell": "document.querySelector('.data tbody').innerText"},
            {"at": "/savings", "fill": {"#price": "2.50"}, "click": "form button", "tell": "document.querySelector('.lead').innerText"},
            {"at": "/shelf", "fill": {"tbody tr:last-of-type input": true}, "click": "button.danger", "tell": "document.querySelector('h1').innerText"},
            {"at": at, "click": ".acts form button", "tell": "document.querySelector('.title').innerText"},
            {"at": at, "click": ".title form.tag button", "tell": "document.querySelector('.title').innerText"},
            {"at": "/shelf", "fill": {"tbody tr:first-of-type input": true, "tbody tr:last-of-type input": true}, "click": "button[value=pin]", "tell": "document.querySelectorAll('tbody .pin').length"},
            {"at": "/shelf", "fill": {"tbody tr:first-of-type input": true, "tbody tr:last-of-type input": true, "#tag": "both"}, "click": "button[value=tag]", "tell": "document.querySelectorAll('tbody .tag').length"},
            {"at": format!("{at}/sql?sql=FROM%20dataset"), "fill": {"[name=chart]": "bar", "[name=x]": "status"}, "click": "form.line:not(.sql) button", "tell": "document.querySelector('img.chart').complete + location.search"},
            {"at": format!("{at}/rows"), "saves": "p.acts a[download]"},
            {"at": format!("{at}/sql?sql=FROM%20dataset"), "saves": "p.acts a[download]:nth-of-type(2)"},
            {"at": "/shelf", "fill": {"#q": "order"}, "keys": [["#q", "Enter"]], "tell": "location.search"},
            {"at": "/shelf", "keys": [["tbody tr:last-of-type input", " "], ["button[value=unpin]", "Enter"]], "tell": "document.querySelectorAll('tbody .pin').length"},
            {"at": format!("{at}/delete"), "click": "button.danger", "tell": "document.querySelector('.title').innerText"},
        ]);
        let mut acts: Vec<Value> = serde_json::from_value(acts).unwrap();
        for act in &mut acts {
            act["scripts"] = scripts.into();
        }
        let seen = tour.of(chromium, &json!({"open": page.opening(), "acts": acts}));
        let told = |index: usize| seen["acts"][index]["told"].as_str().unwrap().to_owned();
        for act in seen["acts"].as_array().unwrap() {
            assert_eq!(act["complaints"], json!([]), "{}", act["at"]);
        }
        assert!(told(0).contains("pinned"), "{}", told(0));
        assert!(told(1).contains("late"), "{}", told(1));
        // By meaning or by words alone, which the embedder decides: the word is in the data.
        assert!(told(2).contains("first"), "{}", told(2));
        assert!(told(3).contains("tool:"), "{}", told(3));
        assert!(told(4).contains("rows") && told(4).contains("of"), "{}", told(4));
        assert!(told(5).contains('↑'), "{}", told(5));
        assert_eq!(told(6).trim(), "42");
        assert!(told(7).contains("at 2.5 for a million"), "{}", told(7));
        assert!(told(8).starts_with("Delete dataset_"), "{}", told(8));
        assert!(!told(9).contains("pinned") && told(9).contains("late"), "{}", told(9));
        assert!(!told(10).contains("late"), "{}", told(10));
        assert_eq!((&seen["acts"][11]["told"], &seen["acts"][12]["told"]), (&json!(2), &json!(2)));
        assert!(told(13).starts_with("true?") && told(13).contains("x=status"), "{}", told(13));
        assert!(
            told(14).starts_with("completed dataset_") && told(14).ends_with("true"),
            "{}",
            told(14)
        );
        assert!(told(15).starts_with("completed ") && told(15).ends_with("true"), "{}", told(15));
        assert!(told(16).contains("q=order"), "{}", told(16));
        assert_eq!(seen["acts"][17]["told"], 1, "by keys alone");
        assert!(!page.ids().contains(&ids[0]), "it is removed");
        assert_eq!(page.ids().len(), ids.len() - 1, "and no other is");
    }
}

#[test]
fn what_happens_is_seen_without_a_reload() {
    let test = "what_happens_is_seen_without_a_reload";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    let page = kept();
    let views = json!([{"path": "/", "until": "/now/calls"}]);
    let seen = tour.of(chromium, &json!({"open": page.opening(), "views": views}));
    let view = &seen["views"][0];
    let asked = view["requests"].as_array().unwrap();
    let is_asked = asked.iter().any(|url| url.as_str().unwrap().ends_with("/now/calls"));
    assert!(is_asked, "{asked:?}");
    assert_eq!(view["complaints"], json!([]));
    assert!(view["text"].as_str().unwrap().contains("records"), "it is still there");
}

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
