//! Listing and reading with many datasets on the shelf, beside few.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use forebay_store::{Dataset, Durability, Store};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::{
    Home,
    common::{millis, ratio, target},
    median,
    session::{Session, wait_for},
};

const SIZES: [u64; 2] = [100, 10_000];
const RECORDS: u64 = 5_000;
const TOOLS: u64 = 5;
const DAYS: i64 = 60;
const CALLS: usize = 51;
/// Nothing goes by its age meanwhile.
const VARIABLES: [(&str, &str); 1] = [("FOREBAY_CLEANUP_AFTER_DAYS", "90")];

pub(crate) fn report(home: &Home, report: &mut String) {
    let mut shelves = SIZES.map(|size| {
        let store = home.store(&size.to_string());
        let started = Instant::now();
        fill(&store, size);
        let _ = writeln!(
            report,
            "\n{size} datasets over {DAYS} days, made in {:.1} s",
            started.elapsed().as_secs_f64()
        );
        Shelf::open(&store, size, report)
    });
    let _ =
        writeln!(report, "\n  warm, p50                       {:>8}   {:>8}", SIZES[0], SIZES[1]);
    let mut times = vec![[const { Vec::new() }; 2]; shelves[0].asked.len()];
    // In turns, so that whatever else the machine does falls on all of them.
    for _ in 0..CALLS {
        for (index, times) in times.iter_mut().enumerate() {
            for (shelf, times) in shelves.iter_mut().zip(times) {
                times.push(shelf.time(index));
            }
        }
    }
    let mut ratios = Vec::new();
    for ((name, ..), times) in shelves[0].asked.iter().zip(times) {
        let [few, many] = times.map(median);
        let _ = writeln!(report, "    {name:<28} {:>8.2} ms {:>8.2} ms", millis(few), millis(many));
        ratios.push((name, ratio(many, few)));
    }
    for (name, value) in ratios {
        target(report, name, value, "≤ 2");
    }
}

/// A session with a shelf, and what it is asked.
struct Shelf {
    session: Session,
    asked: Vec<(&'static str, &'static str, Value)>,
}

impl Shelf {
    /// Starts a session and asks everything once.
    fn open(home: &Path, size: u64, report: &mut String) -> Self {
        const LIMIT: u64 = 20;
        let (list, read) = ("list-saved-datasets", "read-saved-dataset");
        // The latest of its tool, so that all that is read and queried is one dataset: a database
        // reaches only what it was made for, and another one would be made at each turn.
        let (dataset, deep) = (name(3), RECORDS / LIMIT - 10);
        let asked = vec![
            ("list, first page", list, json!({})),
            ("list, last page", list, json!({"page": size / LIMIT})),
            ("list, of a tool", list, json!({"filter": {"tool": tool(3)}})),
            ("read, first page", read, json!({"dataset_id": dataset})),
            ("read, a deep page", read, json!({"dataset_id": dataset, "page": deep})),
            (
                "query, by a tool's name",
                "analyze-with-duckdb",
                json!({
                    "query": format!("SELECT count(*) FROM {}", tool(3)),
                }),
            ),
        ];
        let mut shelf = Self { session: Session::start(home, &VARIABLES), asked };
        for index in 0..shelf.asked.len() {
            let cold = millis(shelf.time(index));
            let _ = writeln!(report, "    {:<28} {cold:>8.2} ms at first", shelf.asked[index].0);
        }
        wait_until_tidy(home);
        shelf
    }

    fn time(&mut self, index: usize) -> Duration {
        let (_, tool, arguments) = &self.asked[index];
        self.session.time(tool, arguments)
    }
}

/// A session tidies a moment after its start, at a low priority.
fn wait_until_tidy(home: &Path) {
    thread::sleep(Duration::from_secs(3));
    let lock = File::create(home.join("housekeeping.lock")).expect("a file");
    lock.lock().expect("a lock");
}

/// Makes a store of one real capture and copies of it, which lie some time apart.
fn fill(home: &Path, size: u64) {
    let mut session = Session::start(home, &VARIABLES);
    let first = session.keep_records(RECORDS);
    wait_for("its rows are made", || first.rows_path(0).exists().then_some(()));
    drop(session);
    let step = SignedDuration::from_hours(24 * DAYS) / i32::try_from(size).expect("a few thousand");
    let mut copied = Copied::of(home, &first);
    for index in 1..size {
        let before = step * i32::try_from(index).expect("a few thousand");
        copied.put(index, first.metadata().timestamp - before);
    }
    // The next to open the store makes its catalog anew, from the files.
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(home.join(format!("catalog.db{ending}")));
    }
    let store = Store::open(home, Durability::RightAfter).expect("a store");
    assert_eq!(store.count(&forebay_store::Filter::default()).expect("a count"), size);
}

/// What is copied: the metadata differ, the payload is one file, as the store does it itself.
struct Copied<'a> {
    home: &'a Path,
    original: &'a Dataset,
    metadata: Value,
}

impl<'a> Copied<'a> {
    fn of(home: &'a Path, original: &'a Dataset) -> Self {
        let metadata = serde_json::to_value(original.metadata()).expect("JSON");
        Self { home, original, metadata }
    }

    fn put(&mut self, index: u64, timestamp: Timestamp) {
        let day = timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string();
        let folder = self.home.join("datasets").join(day);
        fs::create_dir_all(&folder).expect("a folder");
        let id = name(index);
        self.metadata["id"] = id.as_str().into();
        self.metadata["timestamp"] = timestamp.to_string().into();
        self.metadata["tool"] = tool(index % TOOLS).into();
        for (part, of) in self.original.metadata().parts.iter().enumerate() {
            let file = of.file.replace(self.original.id().as_str(), &id);
            fs::hard_link(self.original.path(part), folder.join(&file)).expect("a link");
            self.metadata["parts"][part]["file"] = file.into();
        }
        let text = serde_json::to_vec_pretty(&self.metadata).expect("JSON");
        fs::write(folder.join(format!("{id}_metadata.json")), text).expect("a file");
    }
}

fn tool(number: u64) -> String {
    format!("list_things_{number}")
}

/// A dataset's name, as if by chance.
fn name(index: u64) -> String {
    const DIGITS: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";
    let mut rest = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let digits = (0..8).map(|_| {
        let digit = usize::try_from(rest % 30).unwrap_or(0);
        rest /= 30;
        char::from(DIGITS[digit])
    });
    format!("dataset_{}", digits.collect::<String>())
}
