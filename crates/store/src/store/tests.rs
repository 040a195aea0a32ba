mod planted;
mod rot;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use jiff::SignedDuration;
use serde_json::json;

use super::*;
use crate::{
    Description, Facts, Passed, Principal,
    claim::Claim,
    facts::{Field, Kind, Records, Schema, Summary},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn open(home: &tempfile::TempDir) -> Store {
    Store::open(home.path(), Durability::RightAfter).unwrap()
}

fn described(tool: &str) -> Description {
    Description {
        tool: tool.to_owned(),
        server: "shop".to_owned(),
        original_size: 7,
        record_count: Some(2),
        schema: Some(Schema {
            fields: vec![Field::new("id".to_owned(), Kind::Integer)],
            ..Schema::default()
        }),
        summary: Some(Summary::Records(Records { total_records: 2, ..Records::default() })),
        ..Description::default()
    }
}

fn keep(store: &Store, tool: &str, payload: &[u8]) -> Dataset {
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(payload).unwrap();
    capture.commit(described(tool)).unwrap()
}

/// Short results of a tool.
fn of<'a>(server: &'a str, tool: &'a str, counts: Counts) -> Passed<'a> {
    Passed { server, tool, size: SizeClass::of(0), counts }
}

fn passed(results: u64, bytes: u64) -> Counts {
    Counts { results, bytes, ..Counts::default() }
}

fn keep_at(store: &Store, timestamp: Timestamp, payload: &[u8]) -> DatasetId {
    let mut capture = Capture::begin(store, timestamp).unwrap();
    capture.start_part("json").unwrap().write_all(payload).unwrap();
    let dataset = capture.commit(described("t")).unwrap();
    // A payload that is shared keeps the time of the older one.
    if fs::metadata(dataset.path(0)).unwrap().nlink() == 1 {
        File::open(dataset.path(0)).unwrap().set_modified(timestamp.into()).unwrap();
    }
    dataset.id().clone()
}

fn read(dataset: &Dataset, part: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    dataset.open(part).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn names(store: &Store) -> BTreeSet<DatasetId> {
    store.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.id).collect()
}

/// All files below the store's datasets.
fn files(home: &tempfile::TempDir) -> Vec<PathBuf> {
    let mut folders = vec![home.path().join("datasets")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn what_was_kept_is_read_back_part_by_part() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"[1,2]").unwrap();
    let text = capture.start_part("txt").unwrap();
    text.write_all(b"two ").unwrap();
    text.write_all(b"pieces\n").unwrap();
    let id = capture.id().clone();
    capture.commit(described("orders")).unwrap();

    let dataset = open(&home).dataset(&id).unwrap();
    assert_eq!(read(&dataset, 0), b"[1,2]");
    assert_eq!(read(&dataset, 1), b"two pieces\n");
    assert_eq!(dataset.metadata().parts[1].blake3, blake3::hash(b"two pieces\n").to_hex().as_str());
}

#[test]
fn the_files_are_where_and_what_the_contract_says() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let moment: Timestamp = "2026-11-14T10:30:00Z".parse().unwrap();
    let id = keep_at(&store, moment, b"[]");
    let folder = home.path().join("datasets/2026/11/14");
    let metadata = folder.join(format!("{id}_metadata.json"));
    let data = folder.join(format!("{id}_data.json"));
    assert_eq!(files(&home), [data.clone(), metadata.clone()]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&metadata), mode(&folder)), (0o600, 0o600, 0o700));

    let text: serde_json::Value = serde_json::from_slice(&fs::read(metadata).unwrap()).unwrap();
    assert_eq!(
        text,
        json!({
            "id": id.as_str(), "timestamp": "2026-11-14T10:30:00Z", "tool": "t", "server": "shop",
            "originalSize": 7, "recordCount": 2,
            "schema": {"fields": [{"name": "id", "type": "integer"}]},
            "summary": {"totalRecords": 2},
            "parts": [{"file": format!("{id}_data.json"), "bytes": 2,
                       "blake3": blake3::hash(b"[]").to_hex().as_str()}],
            "checksum": text["checksum"],
        })
    );
}

#[test]
fn a_capture_that_is_dropped_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"[").unwrap();
    assert!(names(&store).is_empty(), "not before it is whole");
    drop(capture);
    assert!(files(&home).is_empty() && names(&store).is_empty());
}

#[test]
fn equal_content_is_stored_once_and_outlives_its_twin() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let first = keep(&store, "a", b"the same");
    let second = keep(&store, "b", b"the same");
    let inode = |dataset: &Dataset| fs::metadata(dataset.path(0)).unwrap().ino();
    assert_ne!(first.id(), second.id());
    assert_eq!(inode(&first), inode(&second));
    assert!(store.remove(first.id()).unwrap());
    assert_eq!(read(&second, 0), b"the same");
}

#[test]
fn datasets_are_listed_newest_first_and_by_origin() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let ids: Vec<DatasetId> = (0..5_u8)
        .map(|hours| keep_at(&store, now - SignedDuration::from_hours(hours.into()), &[hours]))
        .collect();
    let other = keep(&store, "other", b"x").id().clone();
    let list = |filter: Filter| -> Vec<DatasetId> {
        store.list(&filter).unwrap().into_iter().map(|entry| entry.id).collect()
    };
    let tool = |tool: &str| Filter { tool: Some(tool.to_owned()), ..Filter::default() };
    assert_eq!(list(tool("t")), ids);
    assert_eq!(list(tool("other")), [other]);
    assert_eq!(list(Filter { limit: Some(2), offset: 1, ..tool("t") }), ids[1..3]);
    assert_eq!(store.count(&Filter { limit: Some(2), ..tool("t") }).unwrap(), 5);
    let until = Some(now - SignedDuration::from_mins(90));
    assert_eq!(list(Filter { until, ..tool("t") }), ids[2..]);
    assert_eq!(list(Filter { from: until, ..tool("t") }), ids[..2]);
    assert!(list(Filter { server: Some("elsewhere".to_owned()), ..Filter::default() }).is_empty());
}

#[test]
fn a_catalog_that_is_missing_or_damaged_is_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let pinned = keep(&store, "a", b"1").id().clone();
    keep(&store, "b", b"22");
    store.pin(&pinned).unwrap();
    let before = store.list(&Filter::default()).unwrap();
    drop(store);
    let catalog = home.path().join("catalog.db");

    fs::remove_file(&catalog).unwrap();
    assert_eq!(open(&home).list(&Filter::default()).unwrap(), before);
    fs::write(&catalog, b"this is not a database, whatever its name says").unwrap();
    assert_eq!(open(&home).list(&Filter::default()).unwrap(), before);
    let mut bytes = fs::read(&catalog).unwrap();
    let middle = bytes.len() / 2;
    bytes[100..middle].fill(0xA5);
    fs::write(&catalog, bytes).unwrap();
    let _ = fs::remove_file(home.path().join("catalog.db-wal"));
    assert_eq!(open(&home).list(&Filter::default()).unwrap(), before);
}

#[test]
fn a_catalog_that_is_locked_is_not_taken_for_a_damaged_one() {
    let home = tempfile::tempdir().unwrap();
    let id = keep(&open(&home), "a", b"1").id().clone();
    let path = home.path().join("catalog.db");
    let before = fs::metadata(&path).unwrap().ino();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(Store::open_with(home.path(), Durability::RightAfter, HURRY).is_err());
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
    drop(other);
    assert_eq!(names(&open(&home)), [id].into());
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
}

#[test]
fn a_capture_does_without_a_catalog_that_another_process_writes_to() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open_with(home.path(), Durability::RightAfter, HURRY).unwrap();
    let other = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = keep(&store, "a", b"1").id().clone();
    assert!(store.enter_new(&[of("shop", "a", passed(1, 1))]).is_err());
    assert_eq!(read(&store.dataset(&first).unwrap(), 0), b"1");
    assert!(names(&store).is_empty(), "the line is entered later");
    let second = Store::open_with(home.path(), Durability::RightAfter, HURRY).unwrap();
    assert!(names(&second).is_empty(), "opening does not wait either");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(names(&second), [first.clone()].into(), "by whoever looks next");
    let next = keep(&store, "a", b"2").id().clone();
    assert_eq!(names(&store), [first, next].into());
    drop(store);
    assert_eq!(fs::read_dir(home.path().join("capturing")).unwrap().count(), 0);
}

#[test]
fn a_catalog_that_is_replaced_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let before = keep(&store, "a", b"1").id().clone();
    let remove_catalog = || {
        for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
            let _ = fs::remove_file(home.path().join(name));
        }
    };
    remove_catalog();
    let other = open(&home);
    let after = keep(&store, "a", b"2").id().clone();
    assert_eq!(names(&other), [before.clone(), after.clone()].into());
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"3").unwrap();
    remove_catalog();
    let last = capture.commit(described("a")).unwrap().id().clone();
    assert_eq!(names(&open(&home)), [before, after, last].into());
}

#[test]
fn a_dataset_that_the_catalog_lacks_is_found_and_entered() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let long_ago = |days: i64| now - SignedDuration::from_hours(24 * days);
    let ids: Vec<DatasetId> =
        (0..4).map(|age| keep_at(&store, long_ago(100 * age), b"x")).collect();
    let forget_all = || ids.iter().for_each(|id| store.catalog().forget(id).unwrap());
    forget_all();
    assert_eq!(read(&store.dataset(&ids[3]).unwrap(), 0), b"x");
    assert_eq!(names(&store), [ids[3].clone()].into());
    forget_all();
    assert_eq!(names(&open(&home)), [].into(), "nobody looks for what nobody was at");
    store.collect(&Retention::default(), now, &mut |_, _| true).unwrap();
    assert_eq!(names(&store), ids.into_iter().collect());
}

#[test]
fn how_far_tidying_is_is_told_of_the_datasets_of_all_principals() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    for name in ["local", "ada", "grace"] {
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(name.as_bytes()).unwrap();
        let mut description = described("a");
        description.facts.principal = Principal::new(name);
        capture.commit(description).unwrap();
    }
    let mut totals = BTreeSet::new();
    let mut how_far = |_, total| {
        totals.insert(total);
        true
    };
    store.collect(&Retention::default(), Timestamp::now(), &mut how_far).unwrap();
    assert_eq!(totals, [3].into());
}

#[test]
fn a_name_is_taken_by_whoever_captures_under_it_or_has() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let capture = store.capture().unwrap();
    let folder = Folder::of(Timestamp::now());
    let id = capture.id().clone();
    assert!(Claim::make(&store.layout, &folder, &id).unwrap().is_none());
    capture.commit(described("a")).unwrap();
    assert!(Claim::make(&store.layout, &folder, &id).unwrap().is_none());
}

#[test]
fn a_damaged_metadata_file_hides_only_its_own_dataset() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let good = keep(&store, "a", b"1").id().clone();
    let bad = keep(&store, "b", b"2").id().clone();
    let folder = Folder::of(Timestamp::now());
    fs::write(store.layout.metadata(&folder, &bad), b"{\"id\":").unwrap();
    drop(store);
    fs::remove_file(home.path().join("catalog.db")).unwrap();
    let store = open(&home);
    assert_eq!(names(&store), [good].into());
    assert!(matches!(store.dataset(&bad), Err(StoreError::Metadata { .. })));
}

#[test]
fn the_catalog_is_for_its_owner_alone_in_whatever_home() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let store = open(&home);
    keep(&store, "a", b"1");
    let modes = || {
        let there = database::files(&home.path().join("catalog.db"));
        there.map(|path| fs::metadata(path).map(|file| file.permissions().mode() & 0o777).unwrap())
    };
    assert_eq!(modes(), [0o600; 3]);
    for path in database::files(&home.path().join("catalog.db")) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let _other = open(&home);
    assert_eq!(modes(), [0o600; 3], "one from before");
}

#[test]
fn who_only_looks_makes_nothing_and_sees_what_is_there() {
    let parent = tempfile::tempdir().unwrap();
    let nowhere = parent.path().join("nowhere");
    let store = Store::open_to_read(&nowhere, Durability::RightAfter).unwrap();
    assert!(names(&store).is_empty() && store.usage(None).unwrap().is_empty());
    assert!(matches!(
        store.dataset(&DatasetId::parse("k3v9x2ma").unwrap()),
        Err(StoreError::Unknown(_))
    ));
    assert_eq!(
        store.collect(&Retention::default(), Timestamp::now(), &mut |_, _| true).unwrap(),
        Collected::default()
    );
    assert!(!nowhere.exists());
}

#[test]
fn where_nothing_can_be_written_what_was_kept_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let payload = b"all work and no play ".repeat(1000);
    let compressed = keep(&store, "a", &payload);
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    assert_eq!(store.collect(&retention, tomorrow, &mut |_, _| true).unwrap().compressed, 1);
    let plain = keep(&store, "b", b"[1]");
    store.pin(plain.id()).unwrap();
    store.enter_new(&[of("shop", "a", passed(3, 30))]).unwrap();
    let before = (store.list(&Filter::default()).unwrap(), store.usage(None).unwrap());
    drop(store);
    let there = files(&home);

    let store = Store::looking_at(Layout::new(home.path()), Durability::RightAfter).unwrap();
    assert!(!store.is_writable());
    assert_eq!((store.list(&Filter::default()).unwrap(), store.usage(None).unwrap()), before);
    assert!(read(&store.dataset(compressed.id()).unwrap(), 0) == payload);
    let spare = tempfile::tempdir().unwrap();
    for (dataset, payload) in [(&compressed, &payload[..]), (&plain, b"[1]")] {
        let path = store.plain_file_or_copy(dataset, 0, spare.path()).unwrap();
        assert!(fs::read(path).unwrap() == payload);
        assert!(*store.map(dataset, 0).unwrap() == *payload);
    }
    assert!(
        store
            .verify(&mut Verification { repairs: false, tell: &mut |_, _| true })
            .unwrap()
            .faults
            .is_empty()
    );
    assert_eq!(files(&home), there, "nothing is made");
}

#[test]
fn what_would_go_is_what_goes() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let days = |count: i64| now - SignedDuration::from_hours(24 * count);
    let ids: Vec<DatasetId> =
        (0..5_u8).map(|age| keep_at(&store, days(i64::from(age) * 10), &[age; 100])).collect();
    store.pin(&ids[4]).unwrap();
    let retention =
        Retention { max_age: Some(25 * DAY), max_stored_bytes: Some(200), ..Retention::default() };
    let going: Vec<DatasetId> =
        store.would_remove(&retention).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(going, [ids[3].clone(), ids[2].clone(), ids[1].clone()]);
    assert_eq!(names(&store).len(), 5, "nothing is gone yet");
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().removed, 3);
    assert_eq!(names(&store), [ids[0].clone(), ids[4].clone()].into());
}

#[test]
fn without_a_quota_there_is_one_that_follows_from_the_disk() {
    let home = tempfile::tempdir().unwrap();
    let usual = Retention::usual_bytes(&home.path().join("not/yet/there"));
    assert_eq!(usual, Retention::usual_bytes(home.path()));
    assert!((1..=20_000_000_000).contains(&usual), "{usual}");
}

#[test]
fn an_unknown_dataset_is_said_to_be_unknown() {
    let home = tempfile::tempdir().unwrap();
    let id = DatasetId::parse("k3v9x2ma").unwrap();
    let store = open(&home);
    for outcome in [store.dataset(&id).map(drop), store.pin(&id), store.remove(&id).map(drop)] {
        assert!(matches!(outcome, Err(StoreError::Unknown(_))));
    }
}

#[test]
fn age_takes_what_is_not_pinned() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let days = |count: i64| now - SignedDuration::from_hours(24 * count);
    let (old, pinned, young) = (
        keep_at(&store, days(40), b"1"),
        keep_at(&store, days(50), b"2"),
        keep_at(&store, days(3), b"3"),
    );
    store.pin(&pinned).unwrap();
    let retention = Retention { max_age: Some(30 * DAY), ..Retention::default() };
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().removed, 1);
    assert_eq!(names(&store), [pinned.clone(), young.clone()].into());
    assert!(!names(&store).contains(&old));

    // A clock that is set back, or far ahead for the captures, makes nothing old.
    assert_eq!(
        store.collect(&retention, days(100), &mut |_, _| true).unwrap(),
        Collected::default()
    );
    store.unpin(&pinned).unwrap();
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().removed, 1);
    assert_eq!(names(&store), [young].into());
}

#[test]
fn quota_takes_the_oldest_first() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let ids: Vec<DatasetId> = (0..5_u8)
        .map(|age| keep_at(&store, now - SignedDuration::from_hours(age.into()), &[age; 100]))
        .collect();
    // A twin takes no space of its own.
    let twin = keep_at(&store, now, &[0; 100]);
    store.pin(&ids[4]).unwrap();
    let retention = Retention { max_stored_bytes: Some(300), ..Retention::default() };
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().removed, 2);
    assert_eq!(names(&store), [ids[0].clone(), twin, ids[1].clone(), ids[4].clone()].into());
}

#[test]
fn old_payloads_are_compressed_and_read_as_before() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let payload = b"all work and no play ".repeat(1000);
    let id = keep_at(&store, now - SignedDuration::from_hours(48), &payload);
    let mut noise = vec![0; 1000];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    let incompressible = keep_at(&store, now - SignedDuration::from_hours(48), &noise);
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().compressed, 1);
    let dataset = store.dataset(&id).unwrap();
    assert!(dataset.path(0).to_str().unwrap().ends_with("_data.json.zst"));
    assert!(read(&dataset, 0) == payload);
    assert!(read(&store.dataset(&incompressible).unwrap(), 0) == noise);
    let entry = store.list(&Filter::default()).unwrap().into_iter().find(|entry| entry.id == id);
    assert!(entry.unwrap().stored_bytes < 1000);
    assert_eq!(
        store.collect(&retention, now, &mut |_, _| true).unwrap(),
        Collected::default(),
        "only once"
    );
}

#[test]
fn the_file_of_a_dataset_is_plain_for_whoever_asks() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let payload = b"all work and no play ".repeat(1000);
    let id = keep_at(&store, now - SignedDuration::from_hours(48), &payload);
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().compressed, 1);
    let twin = keep(&store, "t", &payload);
    assert!(fs::read(twin.path(0)).unwrap() == payload, "not that of a compressed one");

    let dataset = store.dataset(&id).unwrap();
    let compressed = dataset.path(0);
    let plain = store.plain_file(&dataset, 0).unwrap();
    assert!(fs::read(&plain).unwrap() == payload && !compressed.exists());
    assert_eq!(store.plain_file(&dataset, 0).unwrap(), plain);
    let entries = store.list(&Filter::default()).unwrap();
    assert!(entries.iter().all(|entry| entry.stored_bytes == entry.bytes));
    assert_eq!(
        store.collect(&retention, now, &mut |_, _| true).unwrap().compressed,
        0,
        "it is in use"
    );
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    assert_eq!(store.collect(&retention, tomorrow, &mut |_, _| true).unwrap().compressed, 2);
    assert!(compressed.exists() && read(&dataset, 0) == payload);
}

#[test]
fn several_that_unpack_the_same_payload_all_see_the_whole_of_it() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let payload = b"all work and no play ".repeat(300_000);
    let dataset = keep(&store, "t", &payload);
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    assert_eq!(store.collect(&retention, tomorrow, &mut |_, _| true).unwrap().compressed, 1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let plain = store.plain_file(&dataset, 0).unwrap();
                assert!(fs::read(plain).unwrap() == payload);
            });
        }
    });
    assert!(read(&dataset, 0) == payload);
}

#[test]
fn equal_content_stays_one_file_when_it_is_compressed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let payload = b"all work and no play ".repeat(1000);
    let twins = [keep(&store, "a", &payload), keep(&store, "b", &payload)];
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    assert_eq!(store.collect(&retention, tomorrow, &mut |_, _| true).unwrap().compressed, 2);
    let files = twins.map(|twin| (twin.path(0).extension().unwrap().to_owned(), twin.path(0)));
    assert!(files.iter().all(|(ending, _)| ending == "zst"));
    let [one, other] = files.map(|(_, path)| fs::metadata(path).unwrap().ino());
    assert_eq!(one, other);
}

#[test]
fn nothing_is_taken_from_a_reader() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let now = Timestamp::now();
    let payload = b"a".repeat(100_000);
    let id = keep_at(&store, now - SignedDuration::from_hours(48), &payload);
    let mut reader = store.dataset(&id).unwrap().open(0).unwrap();
    let retention = Retention {
        max_age: Some(DAY),
        compress_after: Some(Duration::ZERO),
        max_stored_bytes: Some(0),
    };
    let collected = store.collect(&retention, now, &mut |_, _| true).unwrap();
    assert_eq!((collected.removed, collected.compressed), (0, 0));
    assert!(collected.in_use > 0 && !store.remove(&id).unwrap());
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert!(bytes == payload);
    drop(reader);
    assert_eq!(store.collect(&retention, now, &mut |_, _| true).unwrap().removed, 1);
}

#[test]
fn only_one_process_cleans_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    keep_at(&store, Timestamp::now() - SignedDuration::from_hours(48), b"x");
    let other = File::create(store.layout.housekeeping_lock()).unwrap();
    other.lock().unwrap();
    let retention = Retention { max_age: Some(DAY), ..Retention::default() };
    let refused = store.collect(&retention, Timestamp::now(), &mut |_, _| true);
    assert!(matches!(refused, Err(StoreError::BeingTidied)));
    drop(other);
    assert_eq!(store.collect(&retention, Timestamp::now(), &mut |_, _| true).unwrap().removed, 1);
}

/// Runs this test binary again as another process that captures into `home`; see
/// [`captures_for_other_tests`].
fn another_process(home: &Path, work: &str, shell: &str) -> std::process::Child {
    Command::new("sh")
        .args([
            "-c",
            &format!("{shell} exec \"$0\" --exact store::tests::captures_for_other_tests"),
        ])
        .arg(std::env::current_exe().unwrap())
        .env("FOREBAY_STORE_HOME", home)
        .env("FOREBAY_STORE_WORK", work)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test by itself: what another process does for the tests below.
#[test]
fn captures_for_other_tests() {
    let Some(home) = std::env::var_os("FOREBAY_STORE_HOME") else { return };
    let store = Store::open(Path::new(&home), Durability::RightAfter).unwrap();
    match std::env::var("FOREBAY_STORE_WORK").unwrap().as_str() {
        "twenty" => {
            for index in 0..20 {
                keep(&store, "t", format!("{index}").as_bytes());
            }
        }
        "count" => {
            for _ in 0..50 {
                store.enter_new(&[of("shop", "orders", passed(1, 10))]).unwrap();
            }
        }
        "until killed" => loop {
            let mut capture = store.capture().unwrap();
            let part = capture.start_part("json").unwrap();
            for chunk in 0..50_u8 {
                part.write_all(&[chunk; 10_000]).unwrap();
            }
            capture.commit(described("t")).unwrap();
        },
        "too much" => {
            let mut capture = store.capture().unwrap();
            let part = capture.start_part("json").unwrap();
            let written = part.write_all(&vec![1; 1_000_000]).and_then(|()| part.flush());
            assert!(written.is_err());
        }
        work => panic!("{work}"),
    }
}

#[test]
fn processes_capture_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let mut processes: Vec<_> =
        (0..4).map(|_| another_process(home.path(), "twenty", "")).collect();
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let store = open(&home);
    assert_eq!(names(&store).len(), 80);
    for id in names(&store) {
        let dataset = store.dataset(&id).unwrap();
        let hash = blake3::hash(&read(&dataset, 0)).to_hex();
        assert_eq!(dataset.metadata().parts[0].blake3, hash.as_str());
    }
}

#[test]
fn counts_of_several_processes_add_up() {
    let home = tempfile::tempdir().unwrap();
    let mut processes: Vec<_> = (0..3).map(|_| another_process(home.path(), "count", "")).collect();
    let store = open(&home);
    let captured =
        Counts { captured: 1, captured_tokens: 9_000, given_tokens: 500, ..passed(1, 7) };
    store.enter_new(&[of("shop", "orders", captured)]).unwrap();
    store.enter_new(&[of("shop", "other", passed(2, 20))]).unwrap();
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let mut usage = store.usage(None).unwrap();
    usage.sort_by(|one, other| one.tool.cmp(&other.tool));
    assert_eq!(usage[0].counts, Counts { results: 151, bytes: 1_507, ..captured });
    assert_eq!(usage[0].counts.tokens_kept_out(), 8_500);
    assert_eq!((usage[1].tool.as_str(), usage[1].counts), ("other", passed(2, 20)));
}

#[test]
fn counts_are_kept_by_day() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let today = usage::day(Timestamp::now());
    for (days, results) in [(0, 1), (1, 10), (29, 100), (30, 1_000)] {
        let since = today - days.days();
        store.catalog().add_usage(since, of("shop", "orders", passed(results, 0))).unwrap();
    }
    let seen = |days| {
        let usage = store.usage_as_of(today, days).unwrap().remove(0);
        (usage.counts.results, (today - usage.since).get_days())
    };
    assert_eq!(seen(Some(1)), (1, 0));
    assert_eq!(seen(Some(2)), (11, 1));
    assert_eq!(seen(Some(30)), (111, 29));
    assert_eq!(seen(None), (1_111, 30));
    assert_eq!(seen(Some(u16::MAX)), seen(None));
}

#[test]
fn tallies_add_up_over_processes_and_outlive_a_catalog() {
    let home = tempfile::tempdir().unwrap();
    let tally = |subject: &str, what: &str, count| Tally {
        subject: subject.to_owned(),
        what: what.to_owned(),
        count,
    };
    let (one, other) = (open(&home), open(&home));
    assert_eq!(one.tallies(None).unwrap(), []);
    one.add_tallies(&[tally("m", "calls", 2), tally("m", "tokens", 300)]).unwrap();
    other.add_tallies(&[tally("m", "calls", 1), tally("n", "calls", 7)]).unwrap();
    let sums = [tally("m", "calls", 3), tally("m", "tokens", 300), tally("n", "calls", 7)];
    assert_eq!(one.tallies(Some(1)).unwrap(), sums);
    drop((one, other));
    let catalog = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
    catalog.pragma_update(None, "user_version", 1).unwrap();
    drop(catalog);
    assert_eq!(open(&home).tallies(None).unwrap(), sums);
}

#[test]
fn counts_outlive_a_catalog_or_are_made_of_the_datasets() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"[]").unwrap();
    let facts = Facts { tokens: Some(9_000), ..Facts::default() };
    capture.commit(Description { facts, ..described("orders") }).unwrap();
    store.enter_new(&[of("shop", "orders", passed(5, 70))]).unwrap();
    let before = store.usage(None).unwrap();
    drop(store);
    let catalog = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
    catalog.pragma_update(None, "user_version", 9).unwrap();
    drop(catalog);
    assert_eq!(open(&home).usage(None).unwrap(), before);

    // What an older version has counted is taken over, too.
    let catalog = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
    catalog.execute_batch("ALTER TABLE usage DROP COLUMN cached; PRAGMA user_version = 7").unwrap();
    drop(catalog);
    assert_eq!(open(&home).usage(None).unwrap(), before);

    fs::remove_file(home.path().join("catalog.db")).unwrap();
    let recounted = open(&home).usage(None).unwrap().remove(0).counts;
    assert_eq!(recounted, Counts { captured: 1, captured_tokens: 9_000, ..passed(1, 7) });
}

#[test]
fn a_process_killed_at_any_moment_leaves_no_half_dataset() {
    const ROUNDS: usize = 25;
    /// Killed in the end, whatever happens.
    struct Victim(std::process::Child);
    impl Drop for Victim {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let home = tempfile::tempdir().unwrap();
    drop(open(&home));
    let is_metadata = |path: &PathBuf| path.to_string_lossy().ends_with("_metadata.json");
    let kept = || files(&home).iter().filter(|path| is_metadata(path)).count();
    for round in 0..ROUNDS {
        let before = kept();
        let mut victim = Victim(another_process(home.path(), "until killed", ""));
        let started = Instant::now();
        while kept() == before {
            assert!(started.elapsed() < Duration::from_secs(60), "it keeps nothing");
            assert!(victim.0.try_wait().unwrap().is_none(), "it works until it is killed");
        }
        // Each time at another moment of what it does next.
        std::thread::sleep(Duration::from_millis(round as u64 * 7 % 30));
    }
    let store = open(&home);
    assert!(names(&store).len() >= ROUNDS, "each has kept something");
    for id in names(&store) {
        let dataset = store.dataset(&id).unwrap();
        let bytes = read(&dataset, 0);
        assert_eq!(bytes.len(), 500_000);
        assert_eq!(dataset.metadata().parts[0].blake3, blake3::hash(&bytes).to_hex().as_str());
    }
    store.collect(&Retention::default(), Timestamp::now(), &mut |_, _| true).unwrap();
    let is_named = |path: &PathBuf| !path.file_name().unwrap().as_encoded_bytes().starts_with(b".");
    let count = files(&home).iter().filter(|path| is_named(path)).count();
    assert_eq!(count, 2 * names(&store).len(), "a payload and its metadata each, nothing else");
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    // A limit on the size of files, in blocks of 512 bytes, stands for a full disk.
    let mut process = another_process(home.path(), "too much", "trap '' XFSZ; ulimit -f 500;");
    assert!(process.wait().unwrap().success());
    assert!(files(&home).is_empty() && names(&open(&home)).is_empty());
}

#[test]
fn a_home_that_cannot_be_made_is_an_error_that_names_it() {
    let error = Store::open(Path::new("/dev/null/home"), Durability::RightAfter).unwrap_err();
    assert_eq!(error.to_string(), "cannot create `/dev/null/home/datasets`");
}
