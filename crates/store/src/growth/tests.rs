use std::{
    io::{Read, Write},
    time::Duration,
};

use super::*;
use crate::{Facts, Filter, Retention, Verification};

fn described(records: u64) -> Description {
    Description {
        tool: "list_orders".to_owned(),
        server: "shop".to_owned(),
        record_count: Some(records),
        facts: Facts { edition: Some(1), ..Facts::default() },
        ..Description::default()
    }
}

fn keep(store: &Store, payload: &str) -> Dataset {
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(payload.as_bytes()).unwrap();
    capture.commit(described(1)).unwrap()
}

fn grow(store: &Store, id: &DatasetId, payload: &str, records: u64) -> Dataset {
    let mut growth = store.grow(id, "json").unwrap();
    growth.part().unwrap().write_all(payload.as_bytes()).unwrap();
    assert_eq!(&*growth.map().unwrap(), payload.as_bytes());
    growth.commit(described(records)).unwrap()
}

fn open(home: &tempfile::TempDir) -> Store {
    Store::open(home.path(), Durability::BeforeCommitReturns).unwrap()
}

fn text(dataset: &Dataset) -> String {
    let mut text = String::new();
    dataset.open(0).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn line(store: &Store) -> (u64, Option<u64>) {
    let mut entries = store.list(&Filter::default()).unwrap();
    assert_eq!(entries.len(), 1);
    let entry = entries.remove(0);
    (entry.bytes, entry.records)
}

fn faults(store: &Store) -> usize {
    let mut how = Verification { repairs: false, tell: &mut |_, _| true };
    store.verify(&mut how).unwrap().faults.len()
}

#[test]
fn a_dataset_grows_under_its_name() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let first = keep(&store, "[1]");
    let second = grow(&store, first.id(), "[1,2]", 2);
    assert_eq!(second.id(), first.id());
    assert_eq!(second.metadata().timestamp, first.metadata().timestamp);
    assert_eq!(text(&store.dataset(first.id()).unwrap()), "[1,2]");
    assert_eq!(line(&store), (5, Some(2)));
    assert_eq!(text(&first), "[1]", "a query may be reading it");
    assert_ne!(first.rows_path(0), second.rows_path(0));
    grow(&store, first.id(), "[1,2,3]", 3);
    assert!(!layout::is_there(&first.path(0)));
    assert_eq!(text(&second), "[1,2]");
    assert_eq!(faults(&store), 0);
    let other = open(&home);
    assert_eq!(line(&other), (7, Some(3)));
}

#[test]
fn what_is_given_up_leaves_the_dataset_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "[1]");
    let files = || store.layout.files(dataset.folder(), dataset.id()).len();
    let before = files();
    let mut growth = store.grow(dataset.id(), "json").unwrap();
    growth.part().unwrap().write_all(b"[1,2").unwrap();
    let hidden = growth.part().unwrap().path().to_owned();
    assert!(layout::is_there(&hidden));
    drop(growth);
    assert!(!layout::is_there(&hidden));
    assert_eq!((files(), line(&store)), (before, (3, Some(1))));
    grow(&store, dataset.id(), "[1,2]", 2);
}

#[test]
fn only_one_at_a_time_makes_a_dataset_grow_and_only_one_that_can() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "[1]");
    let growth = store.grow(dataset.id(), "json").unwrap();
    let again = open(&home).grow(dataset.id(), "json").map(drop);
    assert!(matches!(again, Err(StoreError::BeingChanged(_))), "{again:?}");
    drop(growth);
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"[]").unwrap();
    let fixed = capture.commit(Description::default()).unwrap();
    let refused = store.grow(fixed.id(), "json").map(drop);
    assert!(matches!(refused, Err(StoreError::Complete(_))), "{refused:?}");
    store.grow(dataset.id(), "json").unwrap();
}

#[test]
fn a_dataset_that_grew_before_its_process_died_is_entered_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let first = keep(&store, "[1]");
    let second = grow(&store, first.id(), "[1,2]", 2);
    // As if we had died between the metadata and the catalog.
    store.ask(|catalog| catalog.settle(&first)).unwrap();
    let claim = Claim::on_growing(&store.layout, second.folder(), second.id()).unwrap();
    drop(claim);
    drop(store);
    let store = open(&home);
    assert_eq!(line(&store), (5, Some(2)));
    assert_eq!(faults(&store), 0);
}

#[test]
fn a_dataset_that_was_removed_meanwhile_stays_so() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "[1]");
    let mut growth = store.grow(dataset.id(), "json").unwrap();
    growth.part().unwrap().write_all(b"[1,2]").unwrap();
    assert!(store.remove(dataset.id()).unwrap());
    let committed = growth.commit(described(2));
    assert!(matches!(committed, Err(StoreError::Unknown(_))), "{committed:?}");
    assert!(store.list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn all_editions_go_with_the_dataset_and_old_ones_when_it_is_compressed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let first = keep(&store, "[1]");
    let long = format!("[{}]", vec!["1234567"; 1_000].join(","));
    let second = grow(&store, first.id(), &long, 1_000);
    let bytes = store.list(&Filter::default()).unwrap()[0].stored_bytes;
    assert_eq!(bytes, 3 + long.len() as u64, "both take their place");
    let retention = Retention { compress_after: Some(Duration::ZERO), ..Retention::default() };
    store.collect_now(&retention, &mut |_, _| true).unwrap();
    assert!(!layout::is_there(&first.path(0)));
    assert_eq!(text(&second), long);
    let third = grow(&store, first.id(), "[]", 0);
    assert_eq!(faults(&store), 0);
    assert!(store.remove(third.id()).unwrap());
    assert!(store.layout.files(third.folder(), third.id()).is_empty());
}
