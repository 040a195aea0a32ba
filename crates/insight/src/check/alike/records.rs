//! What the records of a table say besides numbers, in order, so that two lists can be compared one by one.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher as _},
    io::{self, Write},
};

use forebay_records::write_rows;
use forebay_store::{
    Mapped,
    facts::{Field, Kind, Table, Type},
};
use serde_json::{Map, Value};

use super::is_unique;

/// A longer payload is not compared: somebody waits.
const MAX_BYTES: usize = 1024 * 1024;
/// So many records are remembered of a result at most.
const MAX_RECORDS: u64 = 2_000;
/// What is said of few must be true of no other: a record more is like so many others, and
const MANY: usize = 5;
/// like one in so many.
const OF_MANY: usize = 10;

/// What the records of a table say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Records {
    /// Each record but for its numbers, as a hash.
    said: Vec<u64>,
    /// The same without what identifies it, and without its times: only the form of these.
    kinds: Vec<u64>,
    /// Of each field of numbers, which records have the least and the greatest.
    extremes: Vec<Option<(usize, usize)>>,
}

impl Records {
    /// `None` if these are too many, or cannot be read.
    pub(super) fn of(payload: &Mapped, table: &Table) -> Option<Self> {
        if payload.len() > MAX_BYTES || table.records > MAX_RECORDS {
            return None;
        }
        let mut sink = Sink::of(table);
        write_rows(payload, table, &mut sink).ok()?;
        let is_all = sink.records.said.len() as u64 == table.records;
        let extremes = sink.extremes.iter().map(|it| it.map(|(least, most)| (least.1, most.1)));
        let extremes = extremes.collect();
        is_all.then_some(Self { extremes, ..sink.records })
    }

    /// True if the same stands in both but for numbers, and but for some records more at one end of one of them,
    /// which are of a kind that many are of.
    pub(super) fn are_like(&self, other: &Self) -> bool {
        let (few, many) =
            if self.said.len() <= other.said.len() { (self, other) } else { (other, self) };
        let (count, all) = (few.said.len(), many.said.len());
        let more = if many.said.starts_with(&few.said) {
            count..all
        } else if many.said.ends_with(&few.said) {
            0..all - count
        } else {
            return false;
        };
        let mut kinds: HashMap<u64, usize> = HashMap::new();
        for kind in &few.kinds {
            *kinds.entry(*kind).or_default() += 1;
        }
        let is_usual =
            |kind: &u64| kinds.get(kind).is_some_and(|it| *it >= MANY && *it * OF_MANY >= count);
        let is_like = |(one, two): (usize, usize)| {
            few.said[one] == many.said[two]
                || (more.contains(&two) && few.kinds[one] == many.kinds[two])
        };
        let mut extremes = few.extremes.iter().zip(&many.extremes);
        let have_like_extremes = extremes.all(|(one, two)| match (*one, *two) {
            (Some(one), Some(two)) => is_like((one.0, two.0)) && is_like((one.1, two.1)),
            (one, two) => one == two,
        });
        many.kinds[more.clone()].iter().all(is_usual) && have_like_extremes
    }
}

/// A number, and which record has it.
type Extreme = (f64, usize);

/// Takes rows as they are written.
struct Sink {
    parts: Vec<Part>,
    line: Vec<u8>,
    records: Records,
    extremes: Vec<Option<(Extreme, Extreme)>>,
}

/// What the values of a field are for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// They tell which one it is.
    Identifies,
    /// The same, in letters and digits that say nothing.
    IdentifiesAtRandom,
    Times,
    /// They may differ a little.
    Measures,
    Says,
}

impl Sink {
    fn of(table: &Table) -> Self {
        let first = table.fields.iter().position(|field| is_unique(field, table.records));
        let part = |(place, field): (usize, &Field)| match &field.kind {
            // Other integers of which no two are the same may be measures all the same.
            Type::Known(Kind::Integer) if Some(place) == first => Part::Identifies,
            Type::Known(Kind::Integer | Kind::Float) => Part::Measures,
            Type::Known(Kind::Timestamp | Kind::Date) => Part::Times,
            Type::Known(Kind::Uuid) if is_unique(field, table.records) => Part::IdentifiesAtRandom,
            Type::Known(_) | Type::Other(_) if is_unique(field, table.records) => Part::Identifies,
            Type::Known(_) | Type::Other(_) => Part::Says,
        };
        Self {
            parts: table.fields.iter().enumerate().map(part).collect(),
            line: Vec::new(),
            records: Records::default(),
            extremes: vec![None; table.fields.len()],
        }
    }

    fn take(&mut self, row: &Map<String, Value>) {
        let (mut said, mut kind) = (DefaultHasher::new(), DefaultHasher::new());
        let mut numbers = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            let value = row.get(&place.to_string()).unwrap_or(&Value::Null);
            let (whole, form) = match part {
                _ if value.is_null() => ("null".to_owned(), "null".to_owned()),
                Part::Identifies | Part::Times => (value.to_string(), form(&value.to_string())),
                Part::IdentifiesAtRandom => (value.to_string(), "#".to_owned()),
                Part::Measures => {
                    numbers.extend(number(value).map(|number| (place, number)));
                    ("#".to_owned(), "#".to_owned())
                }
                Part::Says => {
                    let said = without_numbers(value).to_string();
                    (said.clone(), said)
                }
            };
            for (hasher, text) in [(&mut said, whole), (&mut kind, form)] {
                hasher.write(text.as_bytes());
                hasher.write_u8(0);
            }
        }
        for (place, number) in numbers {
            let here = (number, self.records.said.len());
            let (least, most) = self.extremes[place].unwrap_or((here, here));
            let least = if number < least.0 { here } else { least };
            let most = if number > most.0 { here } else { most };
            self.extremes[place] = Some((least, most));
        }
        self.records.said.push(said.finish());
        self.records.kinds.push(kind.finish());
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let row: Map<String, Value> = serde_json::from_slice(&self.line)?;
                self.line.clear();
                self.take(&row);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A number, also where it is written as a text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A value with nothing of its numbers but where they stand.
fn without_numbers(value: &Value) -> Value {
    match value {
        Value::Number(_) => Value::from(0),
        Value::Array(items) => items.iter().map(without_numbers).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| (name.clone(), without_numbers(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// What identifiers have in common besides their digits: `user-#`.
fn form(text: &str) -> String {
    let mut form = String::new();
    for character in text.chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                form.push_str(if form.ends_with('#') { "" } else { "#" });
            }
            other => form.push(other),
        }
    }
    form
}
