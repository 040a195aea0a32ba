use std::{fs, io::Write, os::unix::fs::symlink, thread};

use super::*;
use crate::{
    Description, Durability, Facts, Filter, Retention, Scope, Verification, Viewer, facts,
};

fn open(home: &tempfile::TempDir) -> Store {
    Store::open(home.path(), Durability::default()).unwrap()
}

fn keep(store: &Store, tool: &str, files: &[(&str, &str)]) -> Dataset {
    let mut capture = store.capture().unwrap();
    for (extension, _) in files {
        capture.start_part(extension).unwrap().write_all(tool.as_bytes()).unwrap();
    }
    let told = files.iter().enumerate().filter(|(_, (_, media_type))| !media_type.is_empty());
    let told = told.map(|(block, (extension, media_type))| facts::File {
        block,
        description: None,
        media_type: (*media_type).to_owned(),
        name: format!("file-{block}.{extension}"),
    });
    let facts = Facts { files: told.collect(), ..Facts::default() };
    let (tool, server) = (tool.to_owned(), "my shop".to_owned());
    capture.commit(Description { tool, server, facts, ..Description::default() }).unwrap()
}

fn tags(words: &[&str]) -> Vec<Tag> {
    words.iter().map(|word| Tag::parse(word).unwrap()).collect()
}

fn found(store: &Store, words: &[&str]) -> Vec<String> {
    let wanted = words.iter().map(|word| (*word).to_owned()).collect();
    let filter = Filter { tags: wanted, ..Filter::default() };
    let listed = store.list(&filter).unwrap();
    assert_eq!(store.count(&filter).unwrap(), listed.len() as u64, "{words:?}");
    listed.into_iter().map(|entry| entry.tool).collect()
}

#[test]
fn a_tag_is_a_word_of_a_few_letters() {
    for good in ["a", "invoices/2026", "q3.2026", "Größe", "owner:ada", &"x".repeat(64)] {
        assert_eq!(Tag::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "two words", "a\nb", "a,b", "é\u{301}", "\u{202e}x", &"x".repeat(65)] {
        assert!(Tag::parse(bad).unwrap_err().contains("1 to 64 letters"), "{bad:?}");
    }
    for given in ["server:x", "tool:x", "kind:json"] {
        assert!(Tag::parse(given).unwrap_err().contains("given by Forebay"), "{given}");
    }
}

#[test]
fn datasets_are_found_by_all_of_their_tags() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let orders = keep(&store, "orders", &[("json", "")]);
    let photos = keep(&store, "photos", &[("txt", ""), ("png", "image/png")]);
    let given = store.tag(orders.id(), &tags(&["q3", "a/b"]), &[]).unwrap();
    assert_eq!(given, tags(&["a/b", "q3"]).into_iter().collect());
    store.tag(photos.id(), &tags(&["q3"]), &[]).unwrap();
    assert_eq!(
        store.dataset(photos.id()).unwrap().tags(),
        ["server:my shop", "tool:photos", "kind:image", "kind:text", "q3"]
    );
    for (wanted, expected) in [
        (&["q3"][..], &["photos", "orders"][..]),
        (&["q3", "kind:json"], &["orders"]),
        (&["kind:image", "q3", "server:my shop"], &["photos"]),
        (&["tool:orders", "a/b"], &["orders"]),
        (&["q"], &[]),
        (&["3"], &[]),
        (&["%"], &[]),
        (&["tool:orders", "tool:photos"], &[]),
    ] {
        assert_eq!(found(&store, wanted), expected, "{wanted:?}");
    }
    let all = ["a/b", "kind:image", "kind:json", "kind:text", "q3"];
    assert_eq!(store.tags(&Viewer::default()).unwrap().into_iter().collect::<Vec<_>>(), all);
    let stranger = Viewer { scope: Scope::Session, ..Viewer::default() };
    assert!(store.tags(&stranger).unwrap().is_empty());

    store.tag(orders.id(), &[], &tags(&["q3"])).unwrap();
    assert_eq!(found(&store, &["q3"]), ["photos"]);
    store.tag(orders.id(), &[], &tags(&["a/b", "never"])).unwrap();
    assert!(!orders.tags_path().exists(), "no tags, no file");
}

#[test]
fn tags_are_files_that_outlast_the_catalog_and_go_with_their_dataset() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "orders", &[("json", "")]);
    store.tag(dataset.id(), &tags(&["q3"]), &[]).unwrap();
    drop(store);
    fs::remove_file(home.path().join("catalog.db")).unwrap();
    let store = open(&home);
    assert_eq!(found(&store, &["q3"]), ["orders"]);
    let faults = |store: &Store, repairs| {
        let how = &mut Verification { repairs, tell: &mut |_, _| true };
        store.verify(how).unwrap().faults.len()
    };
    assert_eq!(faults(&store, false), 0);
    // By hand, behind the catalog's back.
    fs::write(dataset.tags_path(), "by-hand\nno tag\n").unwrap();
    assert_eq!((faults(&store, true), faults(&store, false)), (1, 0));
    assert_eq!(found(&store, &["by-hand"]), ["orders"]);
    let nothing = Retention { max_age: None, ..Retention::default() };
    store.collect_now(&nothing, &mut |_, _| true).unwrap();
    assert_eq!(found(&store, &["by-hand"]), ["orders"], "tidying leaves it");
    assert!(store.remove(dataset.id()).unwrap());
    assert!(!dataset.tags_path().exists());
    let gone = store.tag(dataset.id(), &tags(&["late"]), &[]);
    assert!(matches!(gone, Err(StoreError::Unknown(_))), "{gone:?}");
}

#[test]
fn no_dataset_has_too_many_tags_and_none_is_lost_when_many_give_them_at_once() {
    let home = tempfile::tempdir().unwrap();
    let id = keep(&open(&home), "orders", &[("json", "")]).id().clone();
    thread::scope(|scope| {
        for giver in 0..MAX_TAGS {
            let (home, id) = (&home, &id);
            scope.spawn(move || open(home).tag(id, &tags(&[&format!("t{giver}")]), &[]).unwrap());
        }
    });
    let store = open(&home);
    assert_eq!(store.dataset(&id).unwrap().own_tags().len(), MAX_TAGS);
    let error = store.tag(&id, &tags(&["one-more"]), &[]).unwrap_err().to_string();
    assert!(error.contains("more than 32 tags"), "{error}");
    store.tag(&id, &tags(&["one-more"]), &tags(&["t0"])).unwrap();
}

#[test]
fn a_link_in_the_place_of_tags_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "orders", &[("json", "")]);
    let secret = home.path().join("secret");
    fs::write(&secret, "secret\n").unwrap();
    symlink(&secret, dataset.tags_path()).unwrap();
    assert!(dataset.own_tags().is_empty());
    assert!(store.tag(dataset.id(), &tags(&["q3"]), &[]).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n");
}
