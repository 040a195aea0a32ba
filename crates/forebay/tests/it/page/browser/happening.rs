//! What happens while a page stands there is seen on it, by itself.

use forebay_testkit::real;
use serde_json::{Value, json};

use super::{super::keep, kept};

/// What the page says while it is not answered.
const NOTICE: &str = "Forebay does not answer";

#[test]
fn what_happens_is_seen_without_a_reload() {
    let test = "what_happens_is_seen_without_a_reload";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    let mut page = kept();
    let home = page.home.path().to_owned();
    let meanwhile = json!([
        {"miss": NOTICE}, {"miss": "csv fixture"},
        {"test": "keep"}, {"see": "csv fixture"},
        {"offline": true}, {"see": NOTICE},
        {"offline": false}, {"miss": NOTICE},
        {"test": "stop"}, {"see": NOTICE},
    ]);
    let plan = json!({"open": page.opening(), "views": [{"path": "/", "meanwhile": meanwhile}]});
    let seen = tour.with(chromium, &plan, |step| match step {
        "keep" => keep(&home, &[("csv", 5_000)]),
        "stop" => {
            page.process.kill().unwrap();
            page.process.wait().unwrap();
        }
        _ => panic!("{step}"),
    });
    let view = &seen["views"][0];
    let shown = view["text"].as_str().unwrap();
    let row = shown.lines().find(|line| line.contains("csv fixture")).unwrap();
    assert!(row.contains("kept dataset_"), "{row}");
    assert!(shown.contains("records fixture"), "what was there before still is: {shown}");
    let asked = view["requests"].as_array().unwrap();
    let whole = asked.iter().filter(|url| **url == format!("http://{}/", page.address));
    assert_eq!(whole.count(), 1, "it is not loaded again: {asked:?}");
    // It complains of the network, and of nothing else.
    let is_of_network = |it: &&Value| {
        let said = it.as_str().unwrap();
        said.contains("net::ERR_") || said.contains("Failed to fetch")
    };
    let complaints = view["complaints"].as_array().unwrap();
    assert_eq!(complaints.iter().find(|it| !is_of_network(it)), None);
}
