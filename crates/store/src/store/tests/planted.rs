//! Somebody else has put things into the store that are not what they seem.

use std::os::unix::fs::symlink;

use super::*;

const SECRET: &[u8] = b"a secret a secret a secret a secret a secret a secret a secret a secret";

/// A store with a dataset, and a file beside the store that is none of its business.
fn with_secret() -> (tempfile::TempDir, Store, Dataset, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "a", b"[1]");
    let secret = home.path().join("secret");
    fs::write(&secret, SECRET).unwrap();
    (home, store, dataset, secret)
}

/// Has everything compressed and removed that may be.
fn tidy(store: &Store) {
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    let at_once = Some(Duration::ZERO);
    let compress = Retention { compress_after: at_once, ..Retention::default() };
    let _ = store.collect(&compress, tomorrow, &mut |_, _| true);
    let remove = Retention { max_age: at_once, ..Retention::default() };
    let _ = store.collect(&remove, tomorrow, &mut |_, _| true);
}

fn replace_with_link(path: &Path, target: &Path) {
    let _ = fs::remove_file(path);
    symlink(target, path).unwrap();
}

#[test]
fn metadata_that_name_a_file_outside_are_not_believed() {
    let (home, store, dataset, secret) = with_secret();
    let path = store.layout.metadata(dataset.folder(), dataset.id());
    for name in ["../../../../secret", secret.to_str().unwrap(), "dataset_22222222_data.json"] {
        let mut metadata = dataset.metadata().clone();
        name.clone_into(&mut metadata.parts[0].file);
        fs::write(&path, metadata.to_text().unwrap()).unwrap();
        let store = open(&home);
        assert!(matches!(store.dataset(dataset.id()), Err(StoreError::Metadata { .. })), "{name}");
        tidy(&store);
        assert_eq!(fs::read(&secret).unwrap(), SECRET, "{name}");
    }
}

#[test]
fn a_catalog_that_names_a_folder_outside_is_made_anew() {
    let (home, store, dataset, _) = with_secret();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let theirs = [dataset.path(0), store.layout.metadata(dataset.folder(), dataset.id())];
    for path in theirs {
        fs::copy(&path, outside.join(path.file_name().unwrap())).unwrap();
    }
    drop(store);
    for folder in ["../outside", outside.to_str().unwrap(), "2026/11/14/../../../../outside", ""] {
        let other = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
        other.execute("UPDATE datasets SET folder = ?1", [folder]).unwrap();
        drop(other);
        let store = open(&home);
        assert_eq!(names(&store), [dataset.id().clone()].into(), "{folder}");
        assert_eq!(store.dataset(dataset.id()).unwrap().path(0), dataset.path(0), "{folder}");
    }
    let store = open(&home);
    tidy(&store);
    assert!(names(&store).is_empty());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2, "what lies outside stays");
}

#[test]
fn links_are_not_followed() {
    let (home, store, dataset, secret) = with_secret();
    let metadata = store.layout.metadata(dataset.folder(), dataset.id());
    let text = fs::read(&metadata).unwrap();
    replace_with_link(&dataset.path(0), &secret);
    for error in [dataset.open(0).map(drop), store.plain_file(&dataset, 0).map(drop)] {
        assert!(error.is_err());
    }
    tidy(&open(&home));
    assert_eq!(fs::read(&secret).unwrap(), SECRET, "a payload");

    fs::write(home.path().join("theirs"), text).unwrap();
    replace_with_link(&metadata, &home.path().join("theirs"));
    let store = open(&home);
    assert!(matches!(store.dataset(dataset.id()), Err(StoreError::File { .. })));
    tidy(&store);
    assert!(home.path().join("theirs").exists(), "metadata");
}

#[test]
fn a_folder_that_is_a_link_is_none_of_the_stores() {
    let (home, store, dataset, _) = with_secret();
    let folder = store.layout.folder(dataset.folder());
    let outside = home.path().join("outside");
    fs::rename(&folder, &outside).unwrap();
    symlink(&outside, &folder).unwrap();
    let before = fs::read_dir(&outside).unwrap().count();
    for store in [store, open(&home)] {
        assert!(matches!(store.dataset(dataset.id()), Err(StoreError::Unknown(_))));
        assert!(store.capture().is_err(), "nothing is written there");
        assert!(store.remove(dataset.id()).is_err());
        tidy(&store);
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), before);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let (_home, store, dataset, _) = with_secret();
    let path = dataset.path(0);
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(dataset.open(0).is_err() && store.plain_file(&dataset, 0).is_err());
    assert!(store.remove(dataset.id()).unwrap());
}

#[test]
fn what_is_compressed_unpacks_to_no_more_than_was_kept() {
    let home = tempfile::tempdir().unwrap();
    let dataset = keep(&open(&home), "a", b"[1]");
    let plain = dataset.path(0);
    fs::remove_file(&plain).unwrap();
    let bomb = zstd::encode_all(std::io::repeat(0).take(500_000_000), 3).unwrap();
    fs::write(layout::compressed(&plain), bomb).unwrap();
    let mut bytes = Vec::new();
    assert!(dataset.open(0).unwrap().read_to_end(&mut bytes).is_err());
    assert!(bytes.len() <= 3);
    let said = open(&home).plain_file(&dataset, 0).unwrap_err().to_string();
    assert!(said.ends_with("it is longer than what was kept"), "{said}");
    assert_eq!(files(&home).len(), 2, "nothing is left of it");
}

#[test]
fn a_link_in_the_place_of_a_lock_does_not_touch_its_target() {
    let (home, store, _, secret) = with_secret();
    replace_with_link(&store.layout.housekeeping_lock(), &secret);
    assert!(store.collect(&Retention::default(), Timestamp::now(), &mut |_, _| true).is_err());
    fs::remove_file(home.path().join("catalog.db")).unwrap();
    assert!(Store::open(home.path(), Durability::RightAfter).is_err());
    assert_eq!(fs::read(&secret).unwrap(), SECRET);
}

#[test]
fn a_catalog_that_is_a_link_is_replaced_and_its_target_stays() {
    let (home, store, dataset, _) = with_secret();
    drop(store);
    let path = home.path().join("catalog.db");
    let elsewhere = home.path().join("elsewhere.db");
    let other = rusqlite::Connection::open(&elsewhere).unwrap();
    other.execute_batch("CREATE TABLE usage (mine)").unwrap();
    drop(other);
    let before = fs::read(&elsewhere).unwrap();
    for file in database::files(&path) {
        let _ = fs::remove_file(file);
    }
    symlink(&elsewhere, &path).unwrap();
    assert_eq!(names(&open(&home)), [dataset.id().clone()].into());
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert!(fs::read(&elsewhere).unwrap() == before);
}

#[test]
fn what_cannot_be_read_does_not_keep_the_rest_from_being_tidied() {
    let (home, store, dataset, secret) = with_secret();
    let folder = store.layout.folder(dataset.folder());
    fs::create_dir(folder.join("dataset_22222222_data.json")).unwrap();
    symlink(&secret, folder.join("dataset_33333333_metadata.json")).unwrap();
    let linked = keep(&store, "a", &[b'x'; 1_000]);
    replace_with_link(&linked.path(0), &secret);
    let long = keep(&store, "a", &[b'y'; 1_000]);
    drop(store);
    for file in database::files(&home.path().join("catalog.db")) {
        let _ = fs::remove_file(file);
    }
    let store = open(&home);
    let all = [dataset.id(), linked.id(), long.id()].map(Clone::clone);
    assert_eq!(names(&store), all.into());
    for id in names(&store) {
        store.catalog().forget(&id).unwrap();
    }
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    let compress = Retention { compress_after: Some(DAY), ..Retention::default() };
    assert_eq!(store.collect(&compress, tomorrow, &mut |_, _| true).unwrap().compressed, 1);
    assert_eq!(names(&store).len(), 3, "they are entered again");
    let remove = Retention { max_age: Some(DAY), ..Retention::default() };
    assert_eq!(store.collect(&remove, tomorrow, &mut |_, _| true).unwrap().removed, 3);
    assert_eq!(fs::read(&secret).unwrap(), SECRET);
}

#[test]
fn a_link_beside_the_catalog_does_not_keep_it_from_being_used() {
    let (home, store, dataset, secret) = with_secret();
    drop(store);
    for name in ["catalog.db-wal", "catalog.db-shm"] {
        replace_with_link(&home.path().join(name), &secret);
        assert_eq!(names(&open(&home)), [dataset.id().clone()].into(), "{name}");
        assert_eq!(fs::read(&secret).unwrap(), SECRET, "{name}");
    }
}
