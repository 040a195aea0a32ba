//! Shelves of any size, made of a few results that were really kept and of copies of them.
//!
//! Only files of datasets are made: whatever else a store has, it makes anew. They were written just now,
//! and are compressed no sooner than any other, however long ago they are said to have been kept.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use forebay_store::{Dataset, Durability, Filter, Store};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::common::session::Session;

/// Nothing goes by its age or for want of space meanwhile.
pub(crate) const VARIABLES: [(&str, &str); 2] =
    [("FOREBAY_CLEANUP_AFTER_DAYS", "90"), ("FOREBAY_MAX_STORE_BYTES", "1 TB")];

/// How many results are copied at least.
pub(crate) const ORIGINALS: u64 = 4;
/// A file can have some ten thousand names, not a hundred thousand.
const COPIES_OF_EACH: u64 = 25_000;

/// What a shelf holds.
pub(crate) struct Copies {
    /// How many datasets.
    pub(crate) count: u64,
    /// From when to now they were kept, at even intervals.
    pub(crate) over: SignedDuration,
    /// How many tools they are of, in turn.
    pub(crate) tools: u64,
    /// How many records each of them has.
    pub(crate) records: u64,
    pub(crate) payloads: Payloads,
    pub(crate) rows: Rows,
}

/// Whether copies are equal to what they are copies of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payloads {
    /// No two are equal.
    Own,
    /// One file with many names, as the store does it itself with equal payloads.
    Shared,
}

/// Whether the rows are there that queries read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    Made,
    ToBeMade,
}

/// Fills an empty store. It has no catalog then: the next to open it makes one, from the files.
pub(crate) fn fill(home: &Path, copies: &Copies) {
    let originals: Vec<Original> =
        keep(home, copies).iter().map(|it| Original::of(it, copies)).collect();
    let newest = Timestamp::now();
    let left = copies.count - originals.len() as u64;
    let step = copies.over / i32::try_from(left.max(1)).expect("a million");
    for (index, original) in (0..left).zip(originals.iter().cycle()) {
        let before = step * i32::try_from(index + 1).expect("a million");
        original.copy(home, index, &tool(index % copies.tools), newest - before);
    }
    remove_catalog(home);
}

/// Makes sure that the store has them all.
pub(crate) fn check(home: &Path, count: u64) {
    let store = Store::open(home, Durability::RightAfter).expect("a store");
    assert_eq!(store.count(&Filter::default()).expect("a count"), count);
}

/// Removes what the store makes anew of its datasets.
pub(crate) fn remove_catalog(home: &Path) {
    for file in fs::read_dir(home).expect("a store").flatten() {
        if file.file_name().to_string_lossy().starts_with("catalog.db") {
            fs::remove_file(file.path()).expect("a file");
        }
    }
}

/// The name of a copy, as if by chance; the first one is the newest.
pub(crate) fn name(index: u64) -> String {
    const DIGITS: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";
    let mut rest = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let digits = (0..8).map(|_| {
        let digit = usize::try_from(rest % 30).unwrap_or(0);
        rest /= 30;
        char::from(DIGITS[digit])
    });
    format!("dataset_{}", digits.collect::<String>())
}

/// The tool that a copy is of.
pub(crate) fn tool(number: u64) -> String {
    format!("list_things_{number}")
}

/// Keeps the results that are copied, no two of them equal.
fn keep(home: &Path, copies: &Copies) -> Vec<Dataset> {
    // However small they are.
    let variables = [VARIABLES.as_slice(), &[("FOREBAY_THRESHOLD", "1")]].concat();
    let mut session = Session::start(home, &variables);
    let count = (copies.count / COPIES_OF_EACH).max(ORIGINALS).min(copies.count);
    let kept: Vec<Dataset> = (0..count).map(|_| session.keep_records(copies.records)).collect();
    if copies.rows == Rows::Made {
        for dataset in &kept {
            let query = format!("SELECT count(*) FROM {}", dataset.id());
            session.call("analyze-with-duckdb", &json!({"query": query}));
            wait_a_little(|| dataset.rows_path(0).exists());
        }
    }
    kept
}

/// Waits for something that need not come.
fn wait_a_little(is_there: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_there() && started.elapsed() < Duration::from_secs(3) {
        thread::sleep(Duration::from_millis(5));
    }
}

/// What is copied.
struct Original {
    metadata: Value,
    /// What follows the dataset's name in the names of its parts.
    parts: Vec<String>,
    /// The first part, if each copy gets one of its own.
    payload: Option<String>,
    /// The files that copies share: what follows the dataset's name, and where they are.
    shared: Vec<(String, PathBuf)>,
}

impl Original {
    fn of(dataset: &Dataset, copies: &Copies) -> Self {
        let (id, metadata) = (dataset.id().as_str(), dataset.metadata());
        let payload = dataset.path(0);
        let rest = |file: &str| file.strip_prefix(id).map(str::to_owned);
        let parts = metadata.parts.iter().filter_map(|part| rest(&part.file)).collect();
        let mut shared = Vec::new();
        for file in fs::read_dir(payload.parent().expect("a folder")).expect("a folder").flatten() {
            let path = file.path();
            let Some(rest) = file.file_name().to_str().and_then(rest) else { continue };
            let is_own = copies.payloads == Payloads::Own && path == payload;
            match (rest.starts_with("_rows"), copies.rows) {
                (true, Rows::ToBeMade) => fs::remove_file(path).expect("a file"),
                (true, Rows::Made) => shared.push((rest, path)),
                (false, _) if rest.starts_with("_data") && !is_own => shared.push((rest, path)),
                (false, _) => {}
            }
        }
        let payload = match copies.payloads {
            Payloads::Own => Some(fs::read_to_string(payload).expect("a payload")),
            Payloads::Shared => None,
        };
        Self { metadata: serde_json::to_value(metadata).expect("JSON"), parts, payload, shared }
    }

    fn copy(&self, home: &Path, index: u64, tool: &str, timestamp: Timestamp) {
        let day = timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string();
        let folder = home.join("datasets").join(day);
        fs::create_dir_all(&folder).expect("a folder");
        let id = name(index);
        for (rest, file) in &self.shared {
            fs::hard_link(file, folder.join(format!("{id}{rest}"))).expect("a link");
        }
        let mut metadata = self.metadata.clone();
        metadata["id"] = id.as_str().into();
        metadata["timestamp"] = timestamp.to_string().into();
        metadata["tool"] = tool.into();
        for (part, rest) in self.parts.iter().enumerate() {
            metadata["parts"][part]["file"] = format!("{id}{rest}").into();
        }
        if let Some(text) = &self.payload {
            let text = numbered(text, index);
            metadata["parts"][0]["bytes"] = text.len().into();
            metadata["parts"][0]["blake3"] = blake3::hash(text.as_bytes()).to_string().into();
            fs::write(folder.join(format!("{id}{}", self.parts[0])), text).expect("a file");
        }
        let text = serde_json::to_vec_pretty(&metadata).expect("JSON");
        fs::write(folder.join(format!("{id}_metadata.json")), text).expect("a file");
    }
}

/// The fixture's records with another number in the first of them, as it makes results differ itself.
fn numbered(text: &str, number: u64) -> String {
    let (_, rest) = text.split_once('}').expect("a record");
    format!(r#"[{{"id":{}}}{rest}"#, 1_000_000 + number)
}
