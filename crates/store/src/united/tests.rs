use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    time::SystemTime,
};

use serde_json::json;

use super::*;
use crate::{Description, Durability, Retention, Verification};

fn store(home: &Path) -> Store {
    Store::open(home, Durability::default()).unwrap()
}

fn origin() -> Origin {
    let [server, tool, project] = ["shop", "list", ""].map(str::to_owned);
    Origin { principal: Principal::default(), server, tool, project }
}

fn keep(store: &Store, count: u8) -> Vec<DatasetId> {
    let keep = |number: u8| {
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(&[number]).unwrap();
        let Origin { server, tool, .. } = origin();
        let description = Description { tool, server, ..Description::default() };
        capture.commit(description).unwrap().id().clone()
    };
    (0..count).map(keep).collect()
}

fn put(store: &Store, datasets: &[DatasetId], rows: &str) {
    put_from(store, datasets, rows, &[]);
}

fn put_from(store: &Store, datasets: &[DatasetId], rows: &str, made_from: &[PathBuf]) {
    store.make_united_folder().unwrap();
    let file = store.layout.home().join("rows");
    fs::write(&file, rows).unwrap();
    store.put_segment(&origin(), &file, datasets.to_vec(), json!(rows), made_from).unwrap();
}

/// What is said of the segments that are there.
fn segments(store: &Store) -> Vec<Value> {
    let united = store.united(&origin(), &|_| false).unwrap();
    united.segments.into_iter().map(|segment| segment.about).collect()
}

fn tidy(store: &Store) {
    store.collect_now(&Retention::default(), &mut |_, _| true).unwrap();
}

#[test]
fn a_segment_lives_as_long_as_all_its_results() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 4);
    put(&store, &kept[..2], "one");
    put(&store, &kept[2..], "two");
    assert_eq!(segments(&store), ["one", "two"]);
    assert!(store.remove(&kept[3]).unwrap());
    assert_eq!(segments(&store), ["one"]);
    assert_eq!(files(&store.layout).len(), 2, "the list and a segment");
    tidy(&store);
    assert_eq!(segments(&store), ["one"]);
    // By hand, so that nobody has told the store.
    let dataset = store.dataset(&kept[0]).unwrap();
    fs::remove_file(store.layout.metadata(dataset.folder(), &kept[0])).unwrap();
    tidy(&store);
    assert_eq!(files(&store.layout).len(), 1);
    assert_eq!(segments(&store).len(), 0);
}

#[test]
fn a_segment_of_a_result_that_is_gone_by_then_is_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 2);
    assert!(store.remove(&kept[1]).unwrap());
    put(&store, &kept, "both");
    assert_eq!(segments(&store).len(), 0);
    assert_eq!(files(&store.layout).len(), 1);
}

#[test]
fn no_result_is_in_two_segments() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 3);
    put(&store, &kept[..2], "by one process");
    put(&store, &kept[1..], "by another");
    assert_eq!(segments(&store), ["by one process"]);
}

#[test]
fn what_no_list_names_is_removed_once_it_is_old() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 2);
    put(&store, &kept, "both");
    let left = store.layout.united().join("left.parquet");
    fs::write(&left, "left").unwrap();
    tidy(&store);
    assert!(left.exists());
    for path in files(&store.layout) {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
    }
    tidy(&store);
    assert!(!left.exists());
    assert_eq!(segments(&store), ["both"]);
}

#[test]
fn a_segment_that_others_were_merged_into_takes_their_place() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 2);
    put(&store, &kept[..1], "one");
    put(&store, &kept[1..], "two");
    let small: Vec<PathBuf> =
        files(&store.layout).into_iter().filter(|path| !is_list(path)).collect();
    put_from(&store, &kept, "both", &small);
    assert_eq!(segments(&store), ["both"]);
    tidy(&store);
    assert!(small.iter().all(|path| path.exists()), "somebody may be reading them");
    File::options()
        .write(true)
        .open(&small[0])
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH)
        .unwrap();
    tidy(&store);
    assert_eq!((small[0].exists(), small[1].exists()), (false, true));
    for id in &kept {
        assert!(store.remove(id).unwrap());
    }
    assert!(!small[1].exists(), "it had the rows of one of them");
}

#[test]
fn damage_is_told_and_is_no_segment() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let kept = keep(&store, 2);
    put(&store, &kept, "both");
    let faults = || {
        let mut how = Verification { repairs: false, tell: &mut |_, _| true };
        store.verify(&mut how).unwrap().faults.len()
    };
    assert_eq!(faults(), 0);
    let segment = files(&store.layout).into_iter().find(|path| !is_list(path)).unwrap();
    fs::write(&segment, "bath").unwrap();
    assert_eq!(faults(), 1);
    assert_eq!(segments(&store).len(), 0);
    put(&store, &kept, "both");
    assert_eq!((faults(), segments(&store).len()), (0, 1));
    let list = store.united_list(&origin());
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, text.replacen(kept[0].as_str(), "dataset_22222222", 1)).unwrap();
    assert_eq!((faults(), segments(&store).len()), (1, 0));
    assert!(store.remove(&kept[0]).unwrap());
    assert_eq!(files(&store.layout).len(), 0, "any of them may have had its rows");
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = store(home.path());
    let kept = keep(&store, 2);
    put(&store, &kept, "both");
    let folder = store.layout.united();
    for path in files(&store.layout) {
        fs::rename(&path, elsewhere.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &folder).unwrap();
    assert_eq!(segments(&store).len(), 0);
    assert!(store.make_united_folder().is_err());
    tidy(&store);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 2);
}
