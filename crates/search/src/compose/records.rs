//! Pieces of a table: records as text, several in a piece if they are short.
//!
//! A long text in a record, such as the body of an issue, is what it is found by, and is cut as any text is.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use forebay_records::write_rows;
use forebay_store::{Mapped, facts::Table};
use serde_json::{Map, Value};

use super::{Pieces, windows};
use crate::Passage;

/// Where in a payload its records are, as far as they have been read.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Where each begins.
    pub(super) records: HashSet<usize>,
    /// Whether there are records that nobody knows the place of.
    pub(super) are_partly_unknown: bool,
}

/// About how much text is in a piece.
const PIECE_BYTES: usize = 800;
/// A record of more text than this is cut.
const LONG_BYTES: usize = 1_200;

/// The pieces of a table's records, which take about `bytes`: about `room` of them, spread over all records. Where the records are is
/// added to `places`.
pub(super) fn pieces(
    payload: &Mapped,
    table: &Table,
    (room, bytes): (usize, usize),
    max_bytes: usize,
    places: &mut Places,
) -> Pieces {
    let names = table.fields.iter().map(|field| field.name().to_owned()).collect();
    let step = bytes.div_ceil((room * PIECE_BYTES).max(1)).max(1);
    let mut reader = Reader {
        names,
        step,
        left_bytes: max_bytes,
        line: Vec::new(),
        record: 0,
        seen: 0,
        passed_over: 0,
        places,
        gathered: Gathered::new(payload),
    };
    // It ends with an error when enough has been seen.
    let _ = write_rows(payload, table, &mut reader);
    if reader.seen < table.records {
        reader.places.are_partly_unknown = true;
    }
    let passages = reader.gathered.passages();
    let all = table.records.max(reader.seen);
    let left_out = all - reader.seen + reader.passed_over;
    let told = reader.seen - reader.passed_over;
    let each = told.checked_div(passages.len() as u64).unwrap_or(1).max(1);
    Pieces { passages, left_out: left_out / each }
}

/// Takes the rows that are written, and makes pieces of them.
struct Reader<'a> {
    names: Vec<String>,
    /// Every so manieth record is taken.
    step: usize,
    left_bytes: usize,
    line: Vec<u8>,
    record: usize,
    seen: u64,
    passed_over: u64,
    places: &'a mut Places,
    gathered: Gathered<'a>,
}

/// Texts of a payload put together to pieces: several short ones are one, and a long one is several.
pub(super) struct Gathered<'a> {
    payload: &'a [u8],
    lines: Lines,
    piece: Option<Passage>,
    passages: Vec<Passage>,
}

/// The number of a line, found by going on from the last one that was.
#[derive(Default)]
struct Lines {
    offset: usize,
    before: u64,
}

impl Lines {
    /// The number of the line that the byte at `offset` is on.
    fn at(&mut self, payload: &[u8], offset: usize) -> u64 {
        if offset < self.offset {
            *self = Self::default();
        }
        let passed = payload.get(self.offset..offset).unwrap_or_default();
        self.before += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.offset = offset;
        self.before + 1
    }
}

impl<'a> Gathered<'a> {
    pub(super) fn new(payload: &'a [u8]) -> Self {
        Self { payload, lines: Lines::default(), piece: None, passages: Vec::new() }
    }

    /// Adds a text that stands at a place, if that is known.
    pub(super) fn add(&mut self, text: &str, at: Option<usize>) {
        let line = at.map(|at| self.lines.at(self.payload, at));
        let lines = line.map(|line| (line, line));
        if text.len() > LONG_BYTES {
            self.end_piece();
            let cut = windows::cut(text).into_iter();
            self.passages.extend(cut.map(|piece| Passage {
                text: piece.to_owned(),
                lines,
                block: None,
            }));
            return;
        }
        let piece = self.piece.get_or_insert_with(|| Passage { lines, ..Passage::default() });
        if !piece.text.is_empty() {
            piece.text.push('\n');
        }
        piece.text.push_str(text);
        piece.lines = piece.lines.zip(line).map(|((first, _), line)| (first, line));
        if piece.text.len() >= PIECE_BYTES {
            self.end_piece();
        }
    }

    fn end_piece(&mut self) {
        self.passages.extend(self.piece.take());
    }

    /// All of them.
    pub(super) fn passages(mut self) -> Vec<Passage> {
        self.end_piece();
        self.passages
    }
}

impl Reader<'_> {
    fn take(&mut self, row: &[u8], at: Option<usize>) {
        let Ok(Value::Object(row)) = serde_json::from_slice(row) else { return };
        let text = self.text(&row);
        self.gathered.add(&text, at);
    }

    /// Where the record of a row stands, noted for whoever looks for what is beside.
    fn place(&mut self, row: &[u8]) -> Option<usize> {
        let at = row.strip_prefix(b"{\"at\":");
        let digits =
            at.map(|at| at.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default());
        let at = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        match at {
            Some(at) => drop(self.places.records.insert(at)),
            None => self.places.are_partly_unknown = true,
        }
        at
    }

    /// A record in words: the names of its fields, and what they hold.
    fn text(&self, row: &Map<String, Value>) -> String {
        let mut text = String::new();
        for (place, name) in self.names.iter().enumerate() {
            let value = match row.get(&place.to_string()) {
                None | Some(Value::Null) => continue,
                Some(value) => value,
            };
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(name);
            text.push_str(": ");
            push_value(value, &mut text);
        }
        text
    }
}

/// What a value says, without the signs that JSON needs.
fn push_value(value: &Value, text: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::String(value) => text.push_str(value),
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    text.push_str(", ");
                }
                push_value(value, text);
            }
        }
        Value::Object(members) => {
            for (place, (name, value)) in members.iter().enumerate() {
                if place > 0 {
                    text.push_str(", ");
                }
                text.push_str(name);
                text.push(' ');
                push_value(value, text);
            }
        }
    }
}

impl Write for Reader<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left_bytes {
            return Err(io::Error::other("enough has been seen"));
        }
        self.left_bytes -= bytes.len();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.seen += 1;
                let at = self.place(&line);
                if self.record.is_multiple_of(self.step) {
                    self.take(&line, at);
                } else {
                    self.passed_over += 1;
                }
                self.record += 1;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
