//! Stage 3 of 5: looks through a payload once and says what is in it.
//!
//! Records are found by looking, not by name ([`records`]); each field's facts are exact unless they
//! say otherwise ([`field`]). What holds no records gets an outline of its lines.

mod distinct;
mod field;
mod records;

use std::io;

use forebay_store::Mapped;
use forebay_wire::{syntax, walk};
use memchr::memchr_iter;
use serde_json::{Map, Value, json};

use self::records::Found;
pub(crate) use self::{distinct::Count, field::Field};
use crate::capture::Captured;

/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;
/// Fields past this many are counted, not described.
const MAX_FIELDS: usize = 2_000;
const SAMPLES: usize = 3;

/// What is in a result.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The payload that this is about.
    pub(crate) payload: usize,
    pub(crate) shape: Shape,
}

/// What a payload is.
#[derive(Debug)]
pub(crate) enum Shape {
    Table(Table),
    Text(Text),
}

/// Records and their fields.
#[derive(Debug)]
pub(crate) struct Table {
    /// Where they are, as a JSON path.
    pub(crate) path: String,
    pub(crate) records: u64,
    pub(crate) fields: Vec<Field>,
    /// How many fields were too many to describe.
    pub(crate) other_fields: usize,
    /// Some records as they are written: the first, a typical one, the longest.
    pub(crate) samples: Vec<String>,
}

/// Lines.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) lines: u64,
    pub(crate) longest_line: usize,
    pub(crate) head: Vec<String>,
    pub(crate) tail: Vec<String>,
}

/// Looks through the payloads and describes the one that holds the most.
pub(crate) fn of(captured: &Captured<'_>) -> io::Result<Profile> {
    let mut best: Option<Profile> = None;
    for (payload, bytes) in captured.payloads.iter().enumerate() {
        let profile = Profile { payload, shape: shape(bytes) };
        let weight = |profile: &Profile| {
            // The same text as structured content is one long line of escapes.
            let has_lines = matches!(&profile.shape, Shape::Text(text) if text.lines > 1);
            let length = captured.payloads[profile.payload].len();
            (profile.records().is_some(), has_lines, length)
        };
        if best.as_ref().is_none_or(|best| weight(&profile) > weight(best)) {
            best = Some(profile);
        }
    }
    best.ok_or_else(|| io::Error::other("there is nothing to describe"))
}

fn shape(bytes: &Mapped) -> Shape {
    let is_json = bytes.trim_ascii_start().first().is_some_and(|byte| b"{[".contains(byte))
        && is_valid(bytes);
    let found = if is_json { records::find(bytes) } else { None };
    match found {
        Some(found) => Shape::Table(table(bytes, found)),
        None => Shape::Text(text(bytes)),
    }
}

fn is_valid(bytes: &Mapped) -> bool {
    if bytes.len() <= RELEASE_BYTES {
        return syntax::check(bytes).is_ok();
    }
    // Slower than on a slice, but it holds no more than a buffer.
    matches!(syntax::check_reader(Releasing { bytes, at: 0 }), Ok(Ok(())))
}

/// Reads a payload and gives back the memory of what has been read.
struct Releasing<'a> {
    bytes: &'a Mapped,
    at: usize,
}

impl io::Read for Releasing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.bytes[self.at..]).read(buffer)?;
        let before = self.at / RELEASE_BYTES;
        self.at += count;
        if self.at / RELEASE_BYTES > before {
            self.bytes.release_before(self.at);
        }
        Ok(count)
    }
}

fn table(bytes: &Mapped, found: Found<'_>) -> Table {
    let mut fields = Fields::default();
    let mut samples = Samples::default();
    let mut records = 0;
    let mut released = 0;
    let base = bytes.as_ptr().addr();
    for (key, record) in found.records {
        records += 1;
        samples.offer(records, record);
        if let Some(key) = key {
            fields.observe(0, records, b"key", field::Raw::Key(key));
        }
        match walk::members(record) {
            Some(members) => {
                for (position, (name, value)) in members.enumerate() {
                    let position = position + usize::from(key.is_some());
                    fields.observe(position, records, name, field::Raw::Value(value));
                }
            }
            None => fields.observe(0, records, b"value", field::Raw::Value(record)),
        }
        let offset = record.as_ptr().addr() - base;
        if offset - released > RELEASE_BYTES {
            bytes.release_before(offset);
            released = offset;
        }
    }
    Table {
        path: found.path,
        records,
        other_fields: fields.passed_over,
        fields: fields.list.into_iter().map(|field| field.finish(records)).collect(),
        samples: samples.chosen(),
    }
}

/// The fields seen so far, in the order of their first appearance.
#[derive(Default)]
struct Fields {
    list: Vec<field::Observer>,
    by_name: std::collections::HashMap<Vec<u8>, usize, foldhash::fast::RandomState>,
    passed_over: usize,
}

impl Fields {
    fn observe(&mut self, position: usize, record: u64, name: &[u8], value: field::Raw<'_>) {
        // Records are mostly alike: the field is where it was in the one before.
        let index = match self.list.get(position) {
            Some(field) if field.is_called(name) => position,
            _ => match self.by_name.get(name) {
                Some(index) => *index,
                None if self.list.len() < MAX_FIELDS => {
                    self.by_name.insert(name.to_vec(), self.list.len());
                    self.list.push(field::Observer::new(name));
                    self.list.len() - 1
                }
                None => {
                    self.passed_over += 1;
                    return;
                }
            },
        };
        self.list[index].see(record, value);
    }
}

/// Chooses records to show: the first, the middle one of those seen, the longest.
#[derive(Default)]
struct Samples<'a> {
    first: Option<&'a [u8]>,
    typical: Option<(u64, &'a [u8])>,
    longest: Option<&'a [u8]>,
}

impl<'a> Samples<'a> {
    fn offer(&mut self, number: u64, record: &'a [u8]) {
        self.first.get_or_insert(record);
        // Replaced at every doubling: in the end it lies in the middle, more or less.
        if number.is_power_of_two() || self.typical.is_none() {
            self.typical = Some((number, record));
        }
        if self.longest.is_none_or(|longest| record.len() > longest.len()) {
            self.longest = Some(record);
        }
    }

    fn chosen(&self) -> Vec<String> {
        let typical = self.typical.map(|(_, record)| record);
        let mut chosen: Vec<&[u8]> = Vec::new();
        for record in [self.first, typical, self.longest].into_iter().flatten() {
            if !chosen.contains(&record) && chosen.len() < SAMPLES {
                chosen.push(record);
            }
        }
        chosen.into_iter().map(|record| String::from_utf8_lossy(record).into_owned()).collect()
    }
}

fn text(bytes: &Mapped) -> Text {
    const SHOWN: usize = 5;
    let mut longest_line = 0;
    let mut lines = 0;
    let mut start = 0;
    let mut head = Vec::new();
    let mut tail = std::collections::VecDeque::new();
    let mut see = |line: &[u8]| {
        lines += 1;
        longest_line = longest_line.max(line.len());
        if head.len() < SHOWN {
            head.push(shortened(line));
        } else {
            tail.push_back(line.to_vec());
            if tail.len() > SHOWN {
                tail.pop_front();
            }
        }
    };
    let mut released = 0;
    for newline in memchr_iter(b'\n', bytes) {
        see(&bytes[start..newline]);
        start = newline + 1;
        if start - released > RELEASE_BYTES {
            bytes.release_before(start);
            released = start;
        }
    }
    if start < bytes.len() {
        see(&bytes[start..]);
    }
    let tail = tail.iter().map(|line| shortened(line)).collect();
    Text { lines, longest_line, head, tail }
}

/// The beginning of a line that is too long to show.
fn shortened(line: &[u8]) -> String {
    const MAX: usize = 200;
    String::from_utf8_lossy(&line[..line.len().min(MAX)]).trim_end().to_owned()
}

impl Profile {
    /// How many fields or lines there are to tell of.
    pub(crate) fn items(&self) -> usize {
        match &self.shape {
            Shape::Table(table) => table.fields.len(),
            Shape::Text(_) => 0,
        }
    }

    pub(crate) fn records(&self) -> Option<u64> {
        match &self.shape {
            Shape::Table(table) => Some(table.records),
            Shape::Text(_) => None,
        }
    }

    /// The fields' names and types.
    pub(crate) fn schema(&self) -> Value {
        let fields = match &self.shape {
            Shape::Table(table) => table.fields.as_slice(),
            Shape::Text(_) => &[],
        };
        let described: Vec<Value> = fields
            .iter()
            .map(|field| json!({"name": field.name, "type": field.kind.name()}))
            .collect();
        json!({ "fields": described })
    }

    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> Value {
        match &self.shape {
            Shape::Table(table) => {
                let fields: Map<String, Value> =
                    table.fields.iter().map(|field| (field.name.clone(), field.facts())).collect();
                let values = table.fields.iter().filter(|field| !field.top.is_empty());
                let distinct: Map<String, Value> = values
                    .map(|field| {
                        let counts: Map<String, Value> =
                            field.top.iter().map(|(v, n)| (v.clone(), (*n).into())).collect();
                        (field.name.clone(), counts.into())
                    })
                    .collect();
                json!({
                    "totalRecords": table.records, "sampleRecords": table.samples.len(),
                    "distinctValues": distinct, "fields": fields,
                })
            }
            Shape::Text(text) => json!({"lines": text.lines, "longestLine": text.longest_line}),
        }
    }
}
