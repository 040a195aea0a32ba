//! Every action by its form, with and without scripts, and some by keys alone.

use std::fs;

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
    real,
};
use serde_json::{Value, json};

use super::{SIZES, check, kept, pictures};
use crate::{
    forebay,
    gateway::{client::text_of, fixture, server},
};

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
fn a_server_is_started_anew_by_its_button() {
    let test = "a_server_is_started_anew_by_its_button";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    let home = tempfile::tempdir().unwrap();
    let rich = fixture(&["--rich"]);
    let settings = [server("one", &rich, ""), server("two", &rich, "")];
    fs::write(home.path().join("forebay.toml"), settings.concat()).unwrap();
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
    let peer = HttpPeer::start(command.env("FOREBAY_HOME", home.path()));
    let mut opening = None;
    eventually("it tells where the page is", || {
        let said = peer.stderr();
        let page = said.lines().find_map(|line| line.split_once("the page is at "));
        opening = page.map(|(_, address)| address.trim().to_owned());
        opening.is_some()
    });
    let mut client = McpHttpClient::legacy(&peer);
    let mut pid = |name: &str| {
        let answer = client.call_tool(&format!("{name}__pid"), &json!({}));
        let told = answer["result"].is_object().then(|| text_of(&answer));
        told.and_then(|pid| pid.parse::<u32>().ok())
    };
    eventually("both are known", || pid("one").is_some() && pid("two").is_some());
    let before = [pid("one"), pid("two")];

    let look = |(width, dark)| json!({"path": "/servers", "width": width, "dark": dark});
    let press = |name: &str, scripts: bool| json!({"at": "/servers", "click": format!("button[name=restart][value={name}]"), "scripts": scripts});
    let plan = json!({
        "open": opening, "pictures": pictures(test), "whole": true,
        "views": SIZES.map(look), "acts": [press("one", true), press("two", false)],
    });
    let seen = tour.of(chromium, &plan);
    check(&seen, SIZES.len());
    for act in seen["acts"].as_array().unwrap() {
        assert_eq!(act["complaints"], json!([]));
        assert!(act["href"].as_str().unwrap().ends_with("/servers"), "{}", act["href"]);
        let shown = act["told"].as_str().unwrap();
        assert!(shown.contains("one") && shown.contains("two"), "{shown}");
    }
    for (name, before) in ["one", "two"].into_iter().zip(before) {
        eventually("another process answers", || pid(name).is_some_and(|now| Some(now) != before));
    }
}
