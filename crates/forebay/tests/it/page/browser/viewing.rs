//! Every page as it is seen: by whom, how wide, in which colours, and with what in it.

use std::{fs, path::Path};

use forebay_store::{DatasetId, Filter};
use forebay_testkit::{peer::Peer, real};
use serde_json::json;
use tempfile::TempDir;

use super::{
    super::{Page, index, keep},
    SIZES, check, pictures,
};
use crate::wrapped_fixture;

/// Every page, and what it is answered with. In the place of a tool in capitals stands the name of its dataset, and in
/// that of INNER the name of an inner table.
const PAGES: [(&str, u16); 22] = [
    ("/", 200),
    ("/shelf", 200),
    ("/shelf?q=order", 200),
    ("/dataset/RECORDS", 200),
    ("/dataset/RECORDS/original", 200),
    ("/dataset/RECORDS/rows", 200),
    ("/dataset/RECORDS/rows?where=eq:status=active&sort=-id", 200),
    ("/dataset/RECORDS/fields", 200),
    (
        "/dataset/RECORDS/sql?sql=SELECT%20status%2C%20count(*)%20AS%20n%20FROM%20dataset%20GROUP%20BY%20ALL&chart=bar&x=status&y=n",
        200,
    ),
    ("/dataset/RECORDS/delete", 200),
    ("/dataset/NESTED/rows?table=INNER", 200),
    ("/dataset/NESTED/fields", 200),
    ("/dataset/PROSE", 200),
    ("/dataset/PROSE/original", 200),
    ("/dataset/MEMBERS", 200),
    ("/dataset/MEMBERS/original", 200),
    // Its payload is not what was kept, and the other's metadata are gone.
    ("/dataset/RESULTS", 200),
    ("/dataset/CSV", 500),
    ("/savings?price=3", 200),
    ("/servers", 200),
    ("/settings", 200),
    ("/doctor", 200),
];

/// A picture of 1920 × 1080 pixels, but for its end.
const GIF: &str = "R0lGODlhgAc4BIAAAMxmMwAAACwAAAAAAQABAAACAkQB";

/// A home with something of each kind, sound and damaged.
fn of_all_kinds(home: TempDir) -> Page {
    let results = [
        ("nested", 60),
        ("log", 80),
        ("prose", 5_000),
        ("results", 5_000),
        ("csv", 5_000),
        ("echo", 1),
        ("fail", 1),
        ("records", 300),
    ];
    keep(home.path(), &results);
    keep_picture(home.path());
    index(home.path());
    let page = Page::at(home);
    let dataset = |tool: &str| page.store().dataset(&id_of(&page, tool)).unwrap();
    let results = dataset("results");
    fs::write(results.path(results.main_part()), "[]").unwrap();
    let csv = dataset("csv");
    fs::remove_file(csv.path(0).with_file_name(format!("{}_metadata.json", csv.id()))).unwrap();
    page
}

fn keep_picture(home: &Path) {
    let data = GIF.to_owned() + &"OwAA".repeat(30_000);
    let file = home.join("members");
    let picture = json!([{"type": "image", "data": data, "mimeType": "image/gif"}]);
    fs::write(&file, format!("\"content\":{picture}")).unwrap();
    let mut peer = Peer::start(wrapped_fixture().env("FOREBAY_HOME", home));
    let params = json!({"name": "members", "arguments": {"path": file}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    peer.ask(&call.to_string());
    peer.close_input();
    peer.wait();
}

/// The name of the one dataset of a tool.
fn id_of(page: &Page, tool: &str) -> DatasetId {
    let all = page.store().list(&Filter::default()).unwrap();
    let of_tool: Vec<_> = all.into_iter().filter(|entry| entry.tool == tool).collect();
    let [entry] = &of_tool[..] else { panic!("{tool}: {of_tool:?}") };
    entry.id.clone()
}

#[test]
fn every_page_can_be_used_by_all_and_asks_nobody_else() {
    let test = "every_page_can_be_used_by_all_and_asks_nobody_else";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    // The doctor names the home, whose path has no place to break a line.
    let long = "long".repeat(20);
    let page = of_all_kinds(tempfile::Builder::new().prefix(&long).tempdir().unwrap());
    let nested = page.json(&format!("/dataset/{}.json", id_of(&page, "nested")));
    let inner = nested["dataset"]["tables"][1]["suffix"].as_str().unwrap();
    let place = |path: &str| {
        let tools = ["records", "nested", "prose", "members", "results", "csv"];
        tools.iter().fold(path.replace("INNER", inner), |path, tool| {
            path.replace(&tool.to_uppercase(), id_of(&page, tool).as_str())
        })
    };
    let mut views = Vec::new();
    for (path, status) in PAGES.map(|(path, status)| (place(path), status)) {
        for (width, dark) in SIZES {
            views.push(json!({"path": path, "width": width, "dark": dark, "status": status}));
        }
        let plain = json!({"path": path, "width": 390, "scripts": false, "status": status});
        views.push(plain);
    }
    // For a stranger, and where there is nothing.
    views.push(
        json!({"path": "/shelf?", "width": 390, "dark": true, "stranger": true, "status": 401}),
    );
    views.push(json!({"path": "/dataset/none", "width": 390, "status": 404}));
    let plan =
        json!({"open": page.opening(), "views": views, "pictures": pictures(test), "whole": true});
    let seen = tour.of(chromium, &plan);
    let here = format!("http://{}/", page.address);
    assert_eq!(seen["opened"], here, "the token is gone from the address");
    check(&seen, views.len());
}

#[test]
fn pages_where_nothing_was_kept_can_be_used_by_all() {
    let test = "pages_where_nothing_was_kept_can_be_used_by_all";
    let (Some(chromium), Some(tour)) = (real::chromium(test), real::tour(test)) else { return };
    let page = Page::at(tempfile::tempdir().unwrap());
    let mut views = Vec::new();
    for path in ["/", "/shelf", "/savings", "/servers"] {
        for (width, dark) in SIZES {
            views.push(json!({"path": path, "width": width, "dark": dark}));
        }
        views.push(json!({"path": path, "width": 390, "scripts": false}));
    }
    let plan =
        json!({"open": page.opening(), "views": views, "pictures": pictures(test), "whole": true});
    let seen = tour.of(chromium, &plan);
    check(&seen, views.len());
    let shown = |path: &str| {
        let mut views = seen["views"].as_array().unwrap().iter();
        views.find(|view| view["path"] == path).unwrap()["text"].as_str().unwrap()
    };
    assert!(shown("/").contains("No calls yet"), "{}", shown("/"));
    assert!(shown("/shelf").contains("Nothing has been kept yet"), "{}", shown("/shelf"));
}
