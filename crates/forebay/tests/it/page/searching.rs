//! What is sought on the shelf, and which filters hold for it.

use std::fs;

use serde_json::Value;

use super::{Page, index, keep};

/// More than a search lists.
const KEPT: u64 = 56;

fn ids(found: &Value) -> Vec<String> {
    let listed = found["datasets"].as_array().unwrap().iter();
    listed.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_filter_holds_before_the_best_are_taken() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("forebay.toml"), "[search]\nembedder = \"none\"\n").unwrap();
    let results: Vec<(&str, u64)> = (0..KEPT).map(|number| ("records", 20 + number)).collect();
    keep(home.path(), &results);
    index(home.path());
    let page = Page::at(home);
    let all = page.ids();
    assert_eq!(all.len() as u64, KEPT);

    let best = page.json("/shelf.json?q=records");
    let found = ids(&best);
    assert_eq!((found.len(), &best["fitting"], &best["among"]), (50, &50.into(), &KEPT.into()));
    assert!(page.get("/shelf?q=records").text.contains("The best 50 of 56 datasets"));

    let missed: Vec<&String> = all.iter().filter(|id| !found.contains(id)).collect();
    assert_eq!(missed.len(), 6);
    page.post(&format!("/dataset/{}/tag", missed[0]), "tag=late");
    let late = page.json("/shelf.json?q=records&tag=late");
    assert_eq!(ids(&late), [missed[0].clone()]);
    assert_eq!(late["among"], 1);
    let told = page.get("/shelf?q=records&tag=late").text;
    assert!(told.contains("best first, of the 1 that fit, of 56 datasets"), "{told}");

    let by_size = page.json("/shelf.json?sort=size");
    let least = &by_size["datasets"][2]["bytes"];
    let mut large = ids(&page.json(&format!("/shelf.json?q=records&min={least}")));
    large.sort();
    let mut expected = ids(&by_size)[..3].to_vec();
    expected.sort();
    assert_eq!(large, expected);
    assert_eq!(page.json("/shelf.json?q=records&day=2001-01-01")["among"], 0);
    assert_eq!(ids(&page.json("/shelf.json?q=records&day=2001-01-01")), [] as [String; 0]);
}
