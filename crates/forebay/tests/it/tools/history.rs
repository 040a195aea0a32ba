//! All results of a tool as one table: the same however many there are, and however they are read.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::Client;
use crate::{forebay, home};

/// Everything is kept that is longer than its summary, which is short.
const ALL: [(&str, &str); 2] = [("FOREBAY_THRESHOLD", "1"), ("FOREBAY_SUMMARY_TOKENS", "100")];

/// Makes a record long enough to be kept among few.
const PADDING: &str = "what is said at some length, so that a few of these are more than a summary, and then \
                       once more at the same length, since a summary may be as long as that";

fn folder(name: &str) -> PathBuf {
    let folder = home().join("history").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn said(home: &Path, arguments: &[&str]) -> String {
    let output = forebay(arguments).env("FOREBAY_HOME", home).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(output.stderr));
    text(output.stdout)
}

fn asked(home: &Path, query: &str) -> String {
    said(home, &["query", query, "--json"])
}

/// The files below a folder whose names end so.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn segments(home: &Path) -> Vec<PathBuf> {
    files(&home.join("united"), ".parquet")
}

/// A result of its own, with its number in each of its records.
fn numbered(number: u64) -> Value {
    (0..20)
        .map(|n| json!({"id": n, "number": number, "text": format!("{number}: {PADDING}")}))
        .collect()
}

/// Keeps so many results; the names of their datasets.
fn keep(home: &Path, numbers: std::ops::Range<u64>) -> Vec<String> {
    let mut client = Client::at(home.to_owned(), &[], &ALL);
    numbers.map(|number| client.keep(&numbered(number))).collect()
}

const SUM: &str = "SELECT count(*) AS n, count(DISTINCT _dataset) AS d, sum(number) AS s, \
                   count(DISTINCT _arguments->>'path') AS a FROM file_history";

fn sum_of(numbers: impl Iterator<Item = u64>) -> Value {
    let (mut count, mut sum) = (0, 0);
    numbers.for_each(|number| (count, sum) = (count + 1, sum + 20 * number));
    json!([{"n": 20 * count, "d": count, "s": sum.to_string(), "a": 1}])
}

fn assert_sum(home: &Path, numbers: impl Iterator<Item = u64>) {
    let found: Value = serde_json::from_str(&asked(home, SUM)).unwrap();
    let text = |value: &Value| value.to_string().replace('"', "");
    assert_eq!(text(&found), text(&sum_of(numbers)));
}

#[test]
fn many_results_are_read_from_a_segment_and_not_one_by_one() {
    let home = folder("segment");
    keep(&home, 0..40);
    for path in files(&home, "_rows.parquet") {
        fs::remove_file(path).unwrap();
    }
    assert_sum(&home, 0..40);
    assert_eq!(files(&home, "_rows.parquet"), Vec::<PathBuf>::new());
    let made = segments(&home);
    assert_eq!(made.len(), 1);
    assert_sum(&home, 0..40);
    // A few more are read one by one, more of them make another segment.
    keep(&home, 40..50);
    assert_sum(&home, 0..50);
    assert_eq!(segments(&home), made);
    keep(&home, 50..60);
    assert_sum(&home, 0..60);
    assert_eq!(segments(&home).len(), 2);
    assert!(segments(&home).contains(&made[0]), "what is there is left alone");
    assert!(said(&home, &["datasets", "verify"]).contains("all is as it was kept"));
}

/// Puts so many copies of a result beside it, of which each has a name of its own.
fn copy(home: &Path, id: &str, count: usize) {
    const DIGITS: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";
    let metadata = files(home, "_metadata.json").remove(0);
    let text = fs::read_to_string(&metadata).unwrap();
    let mut described: Value = serde_json::from_str(&text).unwrap();
    described.as_object_mut().unwrap().remove("checksum");
    let text = described.to_string();
    for number in 0..count {
        let digit = |power: u32| char::from(DIGITS[number / 30_usize.pow(power) % 30]);
        let other = format!("dataset_22222{}{}{}", digit(2), digit(1), digit(0));
        for part in described["parts"].as_array().unwrap() {
            let file = part["file"].as_str().unwrap();
            let copy = metadata.with_file_name(file.replace(id, &other));
            fs::hard_link(metadata.with_file_name(file), copy).unwrap();
        }
        let copy = metadata.with_file_name(format!("{other}_metadata.json"));
        fs::write(copy, text.replace(id, &other)).unwrap();
    }
    for file in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let _ = fs::remove_file(home.join(file));
    }
}

#[test]
fn very_many_results_are_united_some_hundred_at_a_time() {
    let home = folder("very-many");
    let kept = keep(&home, 3..4);
    copy(&home, &kept[0], 1_099);
    for _ in 0..2 {
        assert_sum(&home, std::iter::repeat_n(3, 1_100));
        assert_eq!(segments(&home).len(), 3);
    }
    let once = "SELECT count(*) AS n FROM (SELECT _dataset, id FROM file_history GROUP BY ALL)";
    assert!(asked(&home, once).contains("22000"));
}

#[test]
fn many_small_segments_become_one() {
    let home = folder("small");
    for round in 0..9 {
        keep(&home, round * 17..(round + 1) * 17);
        assert_sum(&home, 0..(round + 1) * 17);
        assert_eq!(segments(&home).len() as u64, if round < 8 { round + 1 } else { 10 });
    }
    let list = fs::read_to_string(&files(&home.join("united"), ".segments")[0]).unwrap();
    let list: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let in_use =
        list["segments"].as_array().unwrap().iter().filter(|it| it["is_replaced"] == false);
    assert_eq!(in_use.count(), 1);
}

#[test]
fn the_rows_of_a_removed_result_are_in_no_segment() {
    let home = folder("removed");
    let kept = keep(&home, 0..40);
    assert_sum(&home, 0..40);
    let made = segments(&home);
    said(&home, &["datasets", "rm", &kept[7]]);
    assert_eq!(segments(&home), Vec::<PathBuf>::new());
    assert_sum(&home, (0..40).filter(|number| *number != 7));
    assert_ne!(segments(&home), made);
    // Removed by hand: the catalog learns of it when the store is tidied.
    for path in files(&home, "").iter().filter(|path| path.to_string_lossy().contains(&kept[9])) {
        fs::remove_file(path).unwrap();
    }
    said(&home, &["datasets", "gc"]);
    assert_eq!(segments(&home), Vec::<PathBuf>::new());
    assert_sum(&home, (0..40).filter(|number| ![7, 9].contains(number)));
}

#[test]
fn a_damaged_segment_is_made_again() {
    let home = folder("damaged");
    keep(&home, 0..40);
    assert_sum(&home, 0..40);
    let lists = || files(&home.join("united"), ".segments");
    for path in [segments(&home), lists()].concat() {
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() / 2], b"", &[&whole[..], b" "].concat()] {
            fs::write(&path, damaged).unwrap();
            assert_sum(&home, 0..40);
        }
    }
    let segment = segments(&home).pop().unwrap();
    fs::write(&segment, b"PAR1").unwrap();
    let mut verify = forebay(["datasets", "verify"]);
    let output = verify.env("FOREBAY_HOME", &home).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("is not as it was made") && told.contains("1 fault"), "{told}");
    said(&home, &["datasets", "verify", "--repair"]);
    assert!(!segment.exists());
    assert_sum(&home, 0..40);
}

#[test]
fn a_segment_shows_nobody_what_is_out_of_sight() {
    let (home, here, there) = (folder("scope"), folder("here"), folder("there"));
    let start = |directory: &Path, scope: &str| {
        let variables = [ALL[0], ALL[1], ("FOREBAY_SCOPE", scope)];
        Client::started_in(directory, home.clone(), &[], &variables)
    };
    let sees = |client: &mut Client| {
        let found =
            client.analyze("SELECT count(DISTINCT number) AS n, sum(id) AS s FROM file_history");
        let columns = client.analyze("DESCRIBE file_history").rows().contains("secret");
        (found.rows().to_owned(), columns)
    };
    let (mut one, mut two) = (start(&here, "project"), start(&here, "session"));
    let mut three = start(&there, "project");
    for number in 0..20 {
        one.keep(&numbered(number));
        two.keep(&numbered(100 + number));
        let secret = |n: u64| json!({"id": n, "number": 200 + number, "secret": PADDING});
        three.keep(&(0..20).map(secret).collect());
    }
    let all = || ("n,s\n40,7600".to_owned(), false);
    let own = |secret| ("n,s\n20,3800".to_owned(), secret);
    for _ in 0..2 {
        assert_eq!(sees(&mut one), all());
        assert_eq!(sees(&mut two), own(false), "of the project's segment, or its own");
        assert_eq!(sees(&mut three), own(true));
        assert_eq!(sees(&mut start(&here, "all")), ("n,s\n60,11400".to_owned(), true));
    }
    // One of its results says what nobody else's does.
    let odd = |n: u64| json!({"id": n, "number": n, "text": {"secret": PADDING}});
    one.keep(&(0..20).map(odd).collect());
    assert_eq!(sees(&mut two), own(false));
}

#[test]
fn a_value_that_does_not_fit_stays_as_it_is_written() {
    let home = folder("misfit");
    let variables = [ALL[0], ALL[1], ("FOREBAY_SCHEMA_INFERENCE_SAMPLE_SIZE", "5")];
    let mut client = Client::at(home.clone(), &[], &variables);
    for number in 0..40_u64 {
        let is_odd = |n: u64| number % 13 == 5 && n == 15;
        let value = |n: u64| if is_odd(n) { json!("none at all") } else { json!(n) };
        client
            .keep(&(0..20).map(|n| json!({"id": n, "value": value(n), "text": PADDING})).collect());
    }
    drop(client);
    let query = "SELECT count(*) AS n, count(DISTINCT _dataset) AS d, sum(TRY_CAST(value AS INTEGER)) AS s, \
                 count(*) FILTER (value::VARCHAR = 'none at all') AS o FROM file_history";
    for _ in 0..2 {
        let found = asked(&home, query).replace('"', "");
        assert!(found.contains("n:800,d:40,s:7555,o:3"), "{found}");
    }
    assert!(!segments(&home).is_empty());
}

/// Numbers that look like chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A result whose fields are of one kind or another, half of them of the first.
    fn result(&mut self) -> Value {
        let kinds: Vec<(&str, u64)> = ["a", "b", "B c", "d"]
            .into_iter()
            .map(|name| (name, self.below(13) * self.below(2)))
            .collect();
        let record = |n: u64| {
            let mut record = serde_json::Map::new();
            record.insert("id".to_owned(), json!(n));
            record.insert("text".to_owned(), json!(PADDING));
            for (name, kind) in &kinds {
                if let Some(value) = value(*kind, n) {
                    record.insert((*name).to_owned(), value);
                }
            }
            Value::Object(record)
        };
        (0..15 + self.below(10)).map(record).collect()
    }
}

fn value(kind: u64, n: u64) -> Option<Value> {
    Some(match kind {
        0 => json!(n * 7),
        1 => Value::Null,
        2 => json!(format!("text {n}")),
        3 => return None,
        4 => json!({"k": n, "l": [n, null]}),
        5 => json!({"k": n, "l": []}),
        6 => json!(f64::from(u32::try_from(n).unwrap()) + 0.5),
        7 => json!([n, "mixed", {"x": n}]),
        8 => json!({"k": n.to_string(), "l": null}),
        9 => json!({"k": n, "m": true}),
        10 => json!(format!("2026-01-{:02}", n % 28 + 1)),
        11 => json!(format!("2026-01-{:02}T10:00:00Z", n % 28 + 1)),
        _ if n.is_multiple_of(2) => json!(u64::MAX - n),
        _ => json!({ "other": n }),
    })
}

/// A store of which nothing can be united: a file stands in the way.
fn without_segments(home: &Path, name: &str) -> PathBuf {
    let other = folder(name);
    let copied = Command::new("cp").arg("-r").arg(home.join(".")).arg(&other).status().unwrap();
    assert!(copied.success());
    let _ = fs::remove_dir_all(other.join("united"));
    fs::write(other.join("united"), "").unwrap();
    other
}

#[test]
fn a_history_from_segments_is_that_from_the_results_themselves() {
    let home = folder("chance");
    let mut chance = Chance(17);
    let mut kept = Vec::new();
    for round in 0..2 {
        for server in ["one", "two"] {
            let mut client = Client::at(home.clone(), &["--name", server], &ALL);
            for _ in 0..30 {
                kept.push(client.keep(&chance.result()));
            }
        }
        let others = without_segments(&home, &format!("chance-{round}"));
        for query in [
            "SELECT * FROM one.file_history ORDER BY _dataset, id",
            "SELECT * FROM two.file_history ORDER BY _dataset, id",
            "DESCRIBE one.file_history",
            "SELECT count(*) AS n, count(DISTINCT _dataset) AS d FROM two.file_history",
        ] {
            let (ours, theirs) = (asked(&home, query), asked(&others, query));
            for (line, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
                assert_eq!(ours, theirs, "{query}, line {line} of round {round}");
            }
            assert_eq!(ours, theirs, "{query}, round {round}");
        }
        assert!(!segments(&home).is_empty());
        assert!(segments(&others).is_empty());
        for _ in 0..4 {
            let at = usize::try_from(chance.below(kept.len() as u64)).unwrap();
            said(&home, &["datasets", "rm", &kept.swap_remove(at)]);
        }
    }
}
