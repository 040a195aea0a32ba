use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use forebay_query::Observer;
use forebay_search::Found;
use forebay_store::{Facts, Principal, Retention, Scope, Tag, Viewer};
use serde_json::json;

use super::*;
use crate::{
    arguments::Arguments,
    budget::Budget,
    testing::{Stage, hit, texts},
};

const BUDGET: Budget = Budget { tokens: 8_192, bytes: None };

/// Whoever waits until it does not want to.
#[derive(Default)]
struct Waiter(AtomicBool);

impl Observer for Waiter {
    fn progress(&self, _: f64, _: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn read(desk: &Desk, given: Value) -> Result<Vec<String>, ToolError> {
    let arguments = Arguments::new(Tool::WorkspaceFile, given)?;
    file::answer(desk, &arguments, BUDGET, &Waiter::default()).map(texts)
}

fn text_of(desk: &Desk, path: &str) -> String {
    let told = read(desk, json!({ "path": path })).unwrap();
    let told: Value = serde_json::from_str(&told[0]).unwrap();
    told["text"].as_str().unwrap().to_owned()
}

fn searched(desk: &Desk, given: Value) -> (Value, String) {
    let arguments = Arguments::new(Tool::SearchWorkspace, given).unwrap();
    let mut told = texts(search::answer(desk, &arguments, BUDGET).unwrap());
    let note = if told.len() > 1 { told.remove(1) } else { String::new() };
    (serde_json::from_str(&told[0]).unwrap(), note)
}

fn paths(reply: &Value) -> Vec<String> {
    let files = reply["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_file_has_a_path_that_leads_to_it() {
    let stage = Stage::new();
    let orders = stage.keep("list_orders", "json", b"[1, 2, 3]");
    let files = stage.keep_files(
        "photos",
        &[
            ("note.txt", "text/plain", b"first"),
            ("note.txt", "text/plain", b"second"),
            ("a/b.csv", "text/csv", b"x,y"),
        ],
    );
    let (reply, _) = searched(&stage.desk, json!({}));
    let id = files.id();
    let expected = [
        format!("{id}/0/note.txt"),
        format!("{id}/1/note.txt"),
        format!("{id}/a_b.csv"),
        format!("{}/data.json", orders.id()),
    ];
    assert_eq!(paths(&reply), expected, "the newest first");
    let read = expected.each_ref().map(|path| text_of(&stage.desk, path));
    assert_eq!(read, ["first", "second", "x,y", "[1, 2, 3]"]);
    assert_eq!(reply["files"][3]["tags"], json!(["server:shop", "tool:list_orders", "kind:json"]));
    // What stands in other replies is understood, too.
    for path in [
        orders.id().to_string(),
        format!("forebay://dataset/{}", orders.id()),
        format!("forebay://dataset/{}?block=0", orders.id()),
    ] {
        assert_eq!(text_of(&stage.desk, &path), "[1, 2, 3]", "{path}");
    }
}

#[test]
fn a_file_is_read_by_characters_and_never_half_a_one() {
    let stage = Stage::new();
    let text = "größe 数 😀\n".repeat(2_000);
    let dataset = stage.keep("read_log", "txt", text.as_bytes());
    let path = format!("{}/data.txt", dataset.id());
    let total = text.chars().count();
    let (mut whole, mut offset) = (String::new(), json!(0));
    while offset.is_number() {
        let told = read(&stage.desk, json!({"path": path, "offset": offset})).unwrap();
        let told: Value = serde_json::from_str(&told[0]).unwrap();
        assert_eq!(told["total_characters"], total);
        let part = told["text"].as_str().unwrap();
        assert!((1..=8_000).contains(&part.chars().count()), "{}", part.len());
        whole.push_str(part);
        offset = told["next_offset"].clone();
    }
    assert!(whole == text, "all of it, and nothing twice");
    let middle = read(&stage.desk, json!({"path": path, "offset": 8, "limit": 3})).unwrap();
    let middle: Value = serde_json::from_str(&middle[0]).unwrap();
    assert_eq!((&middle["text"], &middle["next_offset"]), (&json!("😀\ng"), &json!(11)));
    for (given, told) in [
        (json!({"path": path, "offset": total}), "past the end"),
        (json!({"path": path, "limit": 8_001}), "from 1 to 8000"),
        (json!({}), "needs path"),
    ] {
        let error = read(&stage.desk, given.clone()).unwrap_err().told();
        assert!(error.contains(told), "{given}: {error}");
    }
}

#[test]
fn what_is_compressed_reads_plain_and_what_is_damaged_is_told() {
    let stage = Stage::new();
    let text = "a line of a log\n".repeat(5_000);
    let dataset = stage.keep("read_log", "txt", text.as_bytes());
    let store = stage.desk.store().unwrap();
    let old = Retention { compress_after: Some(Duration::ZERO), ..Retention::default() };
    store.collect_now(&old, &mut |_, _| true).unwrap();
    assert!(dataset.path(0).to_string_lossy().ends_with(".zst"));
    let path = format!("{}/data.txt", dataset.id());
    assert_eq!(text_of(&stage.desk, &path), text[..8_000]);
    assert!(dataset.path(0).to_string_lossy().ends_with(".zst"), "and stays compressed");
    let mut bytes = fs::read(dataset.path(0)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(dataset.path(0), bytes).unwrap();
    assert!(read(&stage.desk, json!({ "path": path })).is_err());
}

#[test]
fn a_file_that_is_no_text_says_what_it_is_and_how_to_get_it() {
    let stage = Stage::new();
    let image = stage.keep_files("shoot", &[("cat.png", "image/png", b"\x89PNG")]);
    let path = format!("{}/cat.png", image.id());
    let told = read(&stage.desk, json!({ "path": path })).unwrap();
    let address = format!("forebay://dataset/{}?block=0", image.id());
    let expected = json!({"path": path, "media_type": "image/png", "bytes": 4, "uri": address});
    assert_eq!(serde_json::from_str::<Value>(&told[0]).unwrap(), expected);
    assert!(told[1].contains("Fetch it by its uri"), "{}", told[1]);
    let rows = Facts::of_query("SELECT 1".to_owned(), None);
    let rows = stage.keep_as("analyze", "parquet", b"PAR1", rows, &Viewer::default());
    let told = read(&stage.desk, json!({"path": rows.id().as_str()})).unwrap();
    assert!(told[1].contains("read-saved-dataset, or query dataset_"), "{}", told[1]);
}

#[test]
fn nothing_outside_the_store_is_read() {
    let stage = Stage::new();
    let secret = stage.home.path().join("secret.txt");
    fs::write(&secret, "the secret").unwrap();
    let dataset = stage.keep("read_log", "txt", b"a log");
    let id = dataset.id().as_str();
    let absolute = secret.to_str().unwrap();
    let own = dataset.path(0);
    for path in [
        absolute,
        "/etc/passwd",
        "file:///etc/passwd",
        "~/.ssh/id_rsa",
        "",
        ".",
        "..",
        "../secret.txt",
        "secret.txt",
        "catalog.db",
        "datasets/../secret.txt",
        &format!("{id}/../secret.txt"),
        &format!("{id}/./data.txt"),
        &format!("{id}/../../../../../secret.txt"),
        &format!("{id}/..\\..\\secret.txt"),
        &format!("{id}//data.txt"),
        &format!("{id}/%2e%2e/secret.txt"),
        &format!("{id}/data.txt\0.png"),
        &format!("{id}/{absolute}"),
        &format!("{id}/metadata.json"),
        &format!("{id}/{id}_metadata.json"),
        &format!("{id}_metadata.json"),
        &format!("forebay://dataset/{id}/../secret.txt"),
        &format!("forebay://dataset/{id}?block=7"),
        own.to_str().unwrap(),
    ] {
        let error = read(&stage.desk, json!({ "path": path })).unwrap_err();
        let told = error.told();
        assert!(matches!(error, ToolError::Refused(_) | ToolError::NotFound(_)), "{path}: {told}");
        assert!(!told.contains("the secret") && !told.contains("a log"), "{path}: {told}");
        assert!(told.contains("search_workspace") || told.contains("It has "), "{path}: {told}");
    }
    let error = read(&stage.desk, json!({"path": own})).unwrap_err().told();
    assert!(error.contains(&format!("Did you mean {id}/data.txt?")), "{error}");
    replace_with_link(&own, &secret);
    let error = read(&stage.desk, json!({"path": format!("{id}/data.txt")})).unwrap_err().told();
    assert!(error.contains("links are not followed") && !error.contains("the secret"), "{error}");
}

fn replace_with_link(path: &Path, target: &Path) {
    fs::remove_file(path).unwrap();
    symlink(target, path).unwrap();
}

#[test]
fn nobody_finds_or_reads_what_is_anothers() {
    let stage = Stage::new();
    let viewer = |name: &str, session: &str| Viewer {
        principal: Principal::new(name),
        session: Some(session.to_owned()),
        project: None,
        scope: Scope::Session,
    };
    let ada = viewer("ada", "1");
    let dataset = stage.keep_as("read_log", "txt", b"of ada", Facts::default(), &ada);
    let hits = vec![hit(&dataset, 0.9, "of ada", None)];
    let (stage, _) = stage.finding(Found { hits, ..Found::default() });
    let path = format!("{}/data.txt", dataset.id());
    assert_eq!(text_of(&stage.desk.seen_by(ada.clone()), &path), "of ada");
    for stranger in [viewer("grace", "1"), viewer("ada", "2"), Viewer::default()] {
        let desk = stage.desk.seen_by(stranger.clone());
        let error = read(&desk, json!({ "path": path })).unwrap_err().told();
        assert!(error.contains("There is no dataset"), "{stranger:?}: {error}");
        for given in [json!({}), json!({"query": "ada log"}), json!({"tags": ["kind:text"]})] {
            let (reply, note) = searched(&desk, given);
            assert!(paths(&reply).is_empty(), "{stranger:?}: {reply}");
            assert!(note.contains("Nothing has been saved yet"), "{note}");
        }
    }
}

#[test]
fn files_are_found_by_their_tags_names_and_meaning() {
    let stage = Stage::new();
    let orders = stage.keep("list_orders", "json", b"[]");
    let invoice = stage.keep_files("mail", &[("invoice-7.pdf", "application/pdf", b"%PDF")]);
    let log = stage.keep("read_log", "txt", b"x");
    stage.desk.store().unwrap().tag(orders.id(), &[Tag::parse("q3").unwrap()], &[]).unwrap();
    let path = |dataset: &Dataset, name: &str| format!("{}/{name}", dataset.id());
    let of = |desk: &Desk, given: Value| paths(&searched(desk, given).0);
    let desk = stage.desk.clone();
    assert_eq!(of(&desk, json!({"tags": ["q3"]})), [path(&orders, "data.json")]);
    assert_eq!(of(&desk, json!({"tags": "kind:pdf"})), [path(&invoice, "invoice-7.pdf")]);
    assert_eq!(of(&desk, json!({"tags": ["q3", "kind:pdf"]})), Vec::<String>::new());
    assert_eq!(of(&desk, json!({"query": "Invoices"})), [path(&invoice, "invoice-7.pdf")]);
    let (_, note) = searched(&desk, json!({"query": "invoice"}));
    assert!(note.starts_with("Found by names and tags alone: "), "{note}");
    let (_, note) = searched(&desk, json!({"tags": ["nope"]}));
    let all =
        "No file has all these tags. There are kind:json, kind:pdf, kind:text, q3, server:shop";
    assert!(note.starts_with(all), "{note}");
    let (_, note) = searched(&desk, json!({"query": "zebra"}));
    assert!(note.contains("No file fits \"zebra\""), "{note}");

    let hits = vec![hit(&log, 0.8, "logins", None), hit(&orders, 0.4, "orders", None)];
    let (stage, _) = stage.finding(Found { hits, waiting: 2, ..Found::default() });
    let by_meaning = json!({"query": "who could not get in"});
    let expected = [path(&log, "data.txt"), path(&orders, "data.json")];
    assert_eq!(of(&stage.desk, by_meaning.clone()), expected);
    assert!(searched(&stage.desk, by_meaning).1.contains("2 datasets are not indexed yet."));
    let tagged = json!({"query": "who could not get in", "tags": ["q3"]});
    assert_eq!(of(&stage.desk, tagged), [path(&orders, "data.json")]);
    let named = of(&stage.desk, json!({"query": "invoice"}));
    assert_eq!(named[0], path(&invoice, "invoice-7.pdf"), "its name says it");
}

#[test]
fn what_has_the_tags_is_found_by_meaning_behind_much_that_has_not() {
    let stage = Stage::new();
    let others: Vec<Dataset> = (0..60).map(|_| stage.keep("read_log", "txt", b"x")).collect();
    let orders = stage.keep("list_orders", "json", b"[]");
    stage.desk.store().unwrap().tag(orders.id(), &[Tag::parse("q3").unwrap()], &[]).unwrap();
    let mut hits: Vec<_> = others.iter().map(|it| hit(it, 0.8, "logins", None)).collect();
    hits.push(hit(&orders, 0.4, "orders", None));
    let (stage, _) = stage.finding(Found { hits, ..Found::default() });
    let (found, _) =
        searched(&stage.desk, json!({"query": "who could not get in", "tags": ["q3"]}));
    assert_eq!(paths(&found), [format!("{}/data.json", orders.id())]);
    let (stage, _) = stage.finding(Found::default());
    let (_, note) = searched(&stage.desk, json!({"query": "zebra", "tags": ["q3"]}));
    assert_eq!(note, "1 dataset has all these tags, but none fits \"zebra\". Try other words.");
}

#[test]
fn a_long_list_goes_on_where_it_ended() {
    let stage = Stage::new();
    let kept: Vec<Dataset> = (0..130).map(|n| stage.keep("list", "txt", &[n])).collect();
    let mut expected: Vec<String> =
        kept.iter().rev().map(|dataset| format!("{}/data.txt", dataset.id())).collect();
    for query in [None, Some("list")] {
        let (mut found, mut offset) = (Vec::new(), json!(0));
        while offset.is_number() {
            let given = json!({"offset": offset, "query": query});
            let (reply, _) = searched(&stage.desk, given);
            assert!(!paths(&reply).is_empty(), "{reply}");
            found.extend(paths(&reply));
            offset = reply["next_offset"].clone();
        }
        found.sort();
        expected.sort();
        assert!(found == expected, "{query:?}: {} of {}", found.len(), expected.len());
    }
    let (reply, note) = searched(&stage.desk, json!({"offset": 1_000}));
    assert!(paths(&reply).is_empty() && note == "There are no more files.", "{note}");
}
