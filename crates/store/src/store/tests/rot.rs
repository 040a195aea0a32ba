//! What is on the disk is no longer what was put there.

use super::*;
use crate::{Fault, Findings, Verification, fuzzing::Files};

const PAYLOAD: &[u8] = b"all work and no play makes Jack a dull boy; ";

/// Numbers as if by chance, the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    /// The bytes with one bit, or one byte, changed, or cut.
    fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        let at = self.below(bytes.len());
        match self.below(4) {
            0 => damaged.truncate(at),
            1 => damaged[at] = !damaged[at],
            _ => damaged[at] ^= 1 << self.below(8),
        }
        damaged
    }
}

fn compress_all(store: &Store) {
    let retention = Retention { compress_after: Some(DAY), ..Retention::default() };
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(25);
    assert!(store.collect(&retention, tomorrow, &mut |_, _| true).unwrap().compressed > 0);
}

fn verified(store: &Store, repairs: bool) -> Findings {
    store.verify(&mut Verification { repairs, tell: &mut |_, _| true }).unwrap()
}

fn remedies(findings: &Findings) -> Vec<Option<&'static str>> {
    findings.faults.iter().map(|Fault { remedy, .. }| *remedy).collect()
}

#[test]
fn a_payload_that_was_cut_or_changed_is_never_given_out_as_whole() {
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes[20] ^= 1,
        |bytes| bytes.push(b' '),
        Vec::clear,
    ];
    for is_compressed in [false, true] {
        for damage in damages {
            let home = tempfile::tempdir().unwrap();
            let dataset = keep(&open(&home), "a", &PAYLOAD.repeat(1_000));
            if is_compressed {
                compress_all(&open(&home));
            }
            let path = dataset.path(0);
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            let store = open(&home);
            let read = dataset.open(0).unwrap().read_to_end(&mut Vec::new());
            assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
            let errors = [
                dataset.verify(0),
                store.plain_file(&dataset, 0).map(drop),
                store.map(&dataset, 0).map(drop),
            ];
            for error in errors {
                let said = error.unwrap_err().to_string();
                let expected = format!("the data file `{}` is damaged: it ", path.display());
                assert!(said.starts_with(&expected), "{said}");
            }
            assert_eq!(dataset.path(0), path, "nothing was put in its place");
        }
    }
}

#[test]
fn a_payload_that_has_not_changed_is_checked_once() {
    let home = tempfile::tempdir().unwrap();
    let dataset = keep(&open(&home), "a", b"one");
    let store = open(&home);
    let path = store.plain_file(&dataset, 0).unwrap();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, b"two").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    store.plain_file(&dataset, 0).unwrap();
    assert!(open(&home).plain_file(&dataset, 0).is_err(), "another process looks for itself");
    fs::write(&path, b"three").unwrap();
    assert!(store.plain_file(&dataset, 0).is_err(), "its length has changed");
}

#[test]
fn a_missing_data_file_is_said_to_be_missing() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep(&store, "a", b"one");
    let path = dataset.path(0);
    fs::remove_file(&path).unwrap();
    let expected = format!("the data file `{}` is missing", path.display());
    for error in [dataset.open(0).map(drop), store.plain_file(&dataset, 0).map(drop)] {
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_damaged_twin_is_not_shared() {
    let home = tempfile::tempdir().unwrap();
    let payload = PAYLOAD.repeat(10);
    let first = keep(&open(&home), "a", &payload);
    let mut bytes = payload.clone();
    bytes[7] ^= 1;
    fs::write(first.path(0), bytes).unwrap();
    let second = keep(&open(&home), "a", &payload);
    assert!(read(&second, 0) == payload);
}

#[test]
fn a_damaged_compressed_twin_is_not_shared_either() {
    let home = tempfile::tempdir().unwrap();
    let payload = PAYLOAD.repeat(100);
    let first = keep(&open(&home), "a", &payload);
    compress_all(&open(&home));
    let second = keep(&open(&home), "a", &payload);
    fs::write(first.path(0), b"no longer what it was").unwrap();
    compress_all(&open(&home));
    assert_eq!(second.path(0).extension().unwrap(), "zst");
    assert!(read(&second, 0) == payload);
}

#[test]
fn rows_that_are_not_as_they_were_made_are_not_given_out() {
    let home = tempfile::tempdir().unwrap();
    let dataset = keep(&open(&home), "a", b"[]");
    let file = home.path().join("rows");
    let put = || {
        fs::write(&file, b"PAR1 these are rows PAR1").unwrap();
        open(&home).put_rows(&dataset, 0, &file).unwrap().unwrap()
    };
    let path = put();
    assert_eq!(open(&home).rows(&dataset, 0).as_ref(), Some(&path));
    assert_eq!(open(&home).rows(&dataset, 1), None, "there are none");
    for damaged in [&b"PAR1 these are rowz PAR1"[..], b"PAR1 these", b""] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(open(&home).rows(&dataset, 0), None);
    }
    assert_eq!(put(), path);
    assert_eq!(open(&home).rows(&dataset, 0).as_ref(), Some(&path), "made again");
    fs::write(dataset.rows_hash_path(0), b"").unwrap();
    assert_eq!(open(&home).rows(&dataset, 0), None);
    fs::remove_file(dataset.rows_hash_path(0)).unwrap();
    assert_eq!(open(&home).rows(&dataset, 0), None, "from before they had a hash");
    open(&home).remove(dataset.id()).unwrap();
    assert!(files(&home).is_empty(), "the hash goes with the rows");
}

#[test]
fn thousands_of_damaged_files_are_refused_or_mean_the_same() {
    let files = Files::new();
    let [metadata, compressed, rows, _] = files.whole();
    let mut chance = Chance(2);
    for _ in 0..2_000 {
        files.metadata(&chance.damaged(&metadata));
        files.compressed(&chance.damaged(&compressed));
        files.rows(&chance.damaged(&rows));
    }
}

#[test]
fn a_catalog_that_is_damaged_in_any_way_is_made_anew() {
    let files = Files::new();
    let [_, _, _, catalog] = files.whole();
    // The first bytes say what the file is.
    for at in 0..100 {
        let mut damaged = catalog.clone();
        damaged[at] = !damaged[at];
        files.catalog(&damaged);
    }
    let mut chance = Chance(3);
    for _ in 0..200 {
        files.catalog(&chance.damaged(&catalog));
    }
    for nothing in [&b""[..], b"x", &[0; 4_096]] {
        files.catalog(nothing);
    }
}

#[test]
fn a_damaged_metadata_file_is_named_until_it_is_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let good = keep(&store, "a", b"1").id().clone();
    let bad = keep(&store, "b", b"2");
    let path = store.layout.metadata(bad.folder(), bad.id());
    fs::write(&path, b"{\"id\":").unwrap();
    drop(store);
    let store = open(&home);
    let said = store.dataset(bad.id()).unwrap_err().to_string();
    assert!(said.contains(path.to_str().unwrap()), "{said}");
    assert!(said.contains("`forebay datasets verify --repair`"), "{said}");

    assert_eq!(remedies(&verified(&store, false)), [None]);
    assert!(path.exists());
    assert_eq!(remedies(&verified(&store, true)), [Some("set aside")]);
    assert!(!path.exists() && home.path().join("damaged").join(path.file_name().unwrap()).exists());
    assert_eq!(names(&store), [good].into());
    assert!(matches!(store.dataset(bad.id()), Err(StoreError::Unknown(_))));
    assert!(verified(&open(&home), false).faults.is_empty());
}

#[test]
fn everything_is_verified_and_put_right_where_that_can_be() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let kept: Vec<Dataset> = (0..6_u8).map(|byte| keep(&store, "a", &[byte; 1_000])).collect();
    let file = home.path().join("rows");
    fs::write(&file, b"rows").unwrap();
    store.put_rows(&kept[0], 0, &file).unwrap();
    let sound = verified(&open(&home), false);
    assert_eq!((sound.datasets, sound.bytes, sound.faults.len()), (6, 6_000, 0));

    fs::write(kept[0].rows_path(0), b"rowz").unwrap();
    fs::write(kept[1].path(0), [9; 1_000]).unwrap();
    let twin = keep(&open(&home), "b", &[2; 1_000]);
    fs::remove_file(twin.path(0)).unwrap();
    fs::remove_file(kept[3].path(0)).unwrap();
    let other = rusqlite::Connection::open(home.path().join("catalog.db")).unwrap();
    let change = "UPDATE datasets SET tool = 'z' WHERE id = ?1";
    other.execute(change, [kept[5].id().as_str()]).unwrap();
    drop(other);

    let store = open(&home);
    assert_eq!(remedies(&verified(&store, false)), [None; 5]);
    let mut done = remedies(&verified(&open(&home), true));
    done.sort();
    let expected = [
        "made again when it is needed",
        "made anew from the files",
        "put right from an equal result",
        "set aside",
        "set aside",
    ];
    assert_eq!(done, expected.map(Some));
    let store = open(&home);
    assert!(verified(&store, false).faults.is_empty());
    assert!(read(&twin, 0) == [2; 1_000]);
    assert_eq!(names(&store).len(), 5);
    let mut told = 0;
    let mut tell = |_: f64, _: &DatasetId| {
        told += 1;
        false
    };
    let ended = store.verify(&mut Verification { repairs: false, tell: &mut tell });
    assert!(matches!(ended, Err(StoreError::Interrupted)) && told == 1);
}

#[test]
fn of_a_plain_and_a_compressed_file_the_sound_one_is_used() {
    let home = tempfile::tempdir().unwrap();
    let payload = PAYLOAD.repeat(100);
    let dataset = keep(&open(&home), "a", &payload);
    compress_all(&open(&home));
    // As if the process had ended before the plain one was gone.
    fs::write(dataset.plain_path(0), &payload[1..]).unwrap();
    let store = open(&home);
    let path = store.plain_file(&dataset, 0).unwrap();
    assert!(fs::read(path).unwrap() == payload);
    assert_eq!(dataset.path(0), dataset.plain_path(0), "one is left");
}
