//! A part of a result that stands for the whole: records evenly over all, or windows evenly over a text.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use forebay_intercept::Asked;
use forebay_records::{shorten_to_fit, tokens_up_to, write_rows};
use forebay_store::facts::Table;
use forebay_text::{is_secret_name, without_secrets};
use serde_json::{Map, Value};

use super::{CONTEXT_BYTES, MASK, as_many_as_fit, masked};

/// More records are not looked at for a sample.
const MAX_RECORDS: usize = 60;
const MAX_RECORD_CHARS: usize = 400;
/// So many bytes of the texts in a record are read to be masked; the others are not shown.
const MAX_RECORD_BYTES: usize = 16 * 1024;
/// The records of a longer payload are not all read for a sample; some that are known stand for them.
const MAX_READ_BYTES: usize = 8 * 1024 * 1024;
/// How many windows a text is shown through.
const WINDOWS: usize = 8;
/// A private key has hardly more lines.
const MAX_KEY_LINES: usize = 400;
/// A token has about so many bytes.
const BYTES_PER_TOKEN: usize = 4;

/// A sample of what was asked about, as much as fits.
pub(super) fn within(budget: u64, asked: &Asked<'_>) -> String {
    match asked.dataset.facts().tables().first() {
        Some(table) => of_records(budget, asked, table),
        None => of_text(budget, asked.payload),
    }
}

fn of_records(budget: u64, asked: &Asked<'_>, table: &Table) -> String {
    let mut records = Vec::new();
    if asked.payload.len() <= MAX_READ_BYTES {
        let mut sink = EvenLines::of(table.records, MAX_RECORDS);
        if write_rows(asked.payload, table, &mut sink).is_ok() {
            records = sink.lines.iter().filter_map(|line| named(line, table)).collect();
        }
    }
    if records.is_empty() {
        let samples = asked.dataset.facts().samples.iter().flatten();
        records = samples.map(|sample| record_without_secrets(sample)).collect();
    }
    let records: Vec<String> = records.iter().map(|record| shortened(record)).collect();
    let head =
        |count: usize| format!("SAMPLE: {count} of {} records, evenly over all\n", table.records);
    // Fewer, but still evenly, until they fit.
    let mut count = records.len();
    loop {
        let chosen: Vec<String> =
            even(records.len(), count).map(|at| records[at].clone()).collect();
        let text = head(count) + &chosen.join("\n");
        if tokens_up_to(budget, &text).is_some() || count <= 1 {
            let lines: Vec<String> =
                [head(count).trim_end().to_owned()].into_iter().chain(chosen).collect();
            return as_many_as_fit(&lines, budget);
        }
        count = count * 4 / 5;
    }
}

/// How it begins, how it ends, and windows evenly in between.
fn of_text(budget: u64, payload: &[u8]) -> String {
    let mut room = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    loop {
        let text = windows(payload, room);
        if tokens_up_to(budget, &text).is_some() || room < 100 {
            return text;
        }
        room = room * 4 / 5;
    }
}

fn windows(payload: &[u8], room: usize) -> String {
    if payload.len() <= room {
        return format!("SAMPLE: the whole text\n{}", String::from_utf8_lossy(payload));
    }
    let length = (room / WINDOWS).max(1);
    let mut out = format!("SAMPLE: {WINDOWS} parts of the text, evenly over its length\n");
    for window in 0..WINDOWS {
        let start = (payload.len() - length) / (WINDOWS - 1) * window;
        let start = if window + 1 == WINDOWS { payload.len() - length } else { start };
        let is_read = payload.len() <= MAX_READ_BYTES;
        let line = is_read.then(|| payload[..start].split(|byte| *byte == b'\n').count());
        let place =
            line.map_or_else(|| format!("from byte {start}"), |line| format!("from line {line}"));
        let part = part(payload, start, start + length);
        let part = part.trim_matches('\u{fffd}');
        let _ = writeln!(out, "[{place}]\n{part}");
    }
    out
}

/// A part of a payload without secrets, nor pieces of those that reach over its ends: what stands around it is
/// masked with it, and then left out.
fn part(payload: &[u8], start: usize, end: usize) -> String {
    let from = start.saturating_sub(CONTEXT_BYTES);
    let to = (end + CONTEXT_BYTES).min(payload.len());
    let text = |from: usize, to: usize| String::from_utf8_lossy(&payload[from..to]);
    let (before, behind) = (text(from, start), text(end, to));
    let all = without_secrets(&format!("{before}{}{behind}", text(start, end)));
    let before = without_secrets(&before);
    let same = all.chars().zip(before.chars()).take_while(|(one, other)| one == other);
    let rest = &all[same.map(|(one, _)| one.len_utf8()).sum()..];
    let behind = without_secrets(&behind);
    let same = rest.chars().rev().zip(behind.chars().rev()).take_while(|(one, other)| one == other);
    let left = rest.len() - same.map(|(one, _)| one.len_utf8()).sum::<usize>();
    rest[..left].to_owned()
}

/// Keeps some of the lines that are written, evenly over so many; none that lies within a private key.
struct EvenLines {
    wanted: Vec<u64>,
    next: usize,
    number: u64,
    line: Vec<u8>,
    lines: Vec<Vec<u8>>,
    /// How many lines of a private key may still follow.
    key_lines: usize,
}

impl EvenLines {
    fn of(lines: u64, most: usize) -> Self {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let wanted = even(lines, most).map(|at| at as u64).collect();
        Self { wanted, next: 0, number: 0, line: Vec::new(), lines: Vec::new(), key_lines: 0 }
    }

    fn take_line(&mut self) {
        let is_within_key = self.key_lines > 0;
        match end_of_keys(&self.line) {
            Some(KeyMark::Begin) => self.key_lines = MAX_KEY_LINES,
            Some(KeyMark::End) => self.key_lines = 0,
            None => self.key_lines = self.key_lines.saturating_sub(1),
        }
        let line = std::mem::take(&mut self.line);
        if self.wanted.get(self.next) == Some(&self.number) {
            self.next += 1;
            if !is_within_key {
                self.lines.push(line);
            }
        }
        self.number += 1;
    }
}

impl Write for EvenLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.take_line();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a private key begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyMark {
    Begin,
    End,
}

/// The last mark of a private key in a line.
fn end_of_keys(line: &[u8]) -> Option<KeyMark> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.contains("PRIVATE KEY"))?;
    let (begin, end) = (line.rfind("-----BEGIN "), line.rfind("-----END "));
    match (begin, end) {
        (None, None) => None,
        (begin, end) => Some(if begin > end { KeyMark::Begin } else { KeyMark::End }),
    }
}

/// `count` places out of `of`, evenly, the first and the last among them.
fn even(of: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(of);
    (0..count).map(move |index| if count == 1 { 0 } else { index * (of - 1) / (count - 1) })
}

/// A row, whose columns are numbers, with their names and without secrets.
fn named(row: &[u8], table: &Table) -> Option<String> {
    let row: Map<String, Value> = serde_json::from_slice(row).ok()?;
    let named = table.fields.iter().enumerate().filter_map(|(index, field)| {
        Some((field.name.clone()?, row.get(&index.to_string())?.clone()))
    });
    Some(whole_without_secrets(Value::Object(named.collect())).to_string())
}

pub(super) fn record_without_secrets(record: &str) -> String {
    match serde_json::from_str(record) {
        Ok(value) => whole_without_secrets(value).to_string(),
        Err(_) => masked(record),
    }
}

fn whole_without_secrets(value: Value) -> Value {
    let mut room = MAX_RECORD_BYTES;
    value_without_secrets(value, &mut room)
}

/// Masks each text by itself, so that what is masked does not depend on how much of it is shown, as long as there
/// is room to read it.
fn value_without_secrets(value: Value, room: &mut usize) -> Value {
    match value {
        Value::String(_) if *room == 0 => "…".into(),
        Value::String(text) => {
            *room = room.saturating_sub(text.len());
            Value::String(masked(&text))
        }
        Value::Array(items) => {
            items.into_iter().map(|item| value_without_secrets(item, room)).collect()
        }
        Value::Object(members) => {
            let masked = members.into_iter().map(|(name, value)| {
                let is_secret = is_secret_name(&name) && !value.is_null();
                let value =
                    if is_secret { MASK.into() } else { value_without_secrets(value, room) };
                (name, value)
            });
            Value::Object(masked.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn shortened(record: &str) -> String {
    let record = record.replace(['\n', '\r'], " ");
    shorten_to_fit(record.as_bytes(), MAX_RECORD_CHARS)
        .unwrap_or_else(|| record.chars().take(MAX_RECORD_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_even_and_reach_both_ends() {
        let places = |of, count| even(of, count).collect::<Vec<_>>();
        assert_eq!(places(101, 5), [0, 25, 50, 75, 100]);
        assert_eq!(places(3, 5), [0, 1, 2]);
        assert_eq!((places(9, 1), places(0, 3)), (vec![0], vec![]));
    }

    #[test]
    fn lines_are_chosen_however_they_are_written() {
        let numbers: Vec<String> = (0..1_000).map(|number: u32| number.to_string()).collect();
        let text = numbers.join("\n") + "\n";
        for size in [1, 7, 4_096] {
            let mut sink = EvenLines::of(1_000, 4);
            for piece in text.as_bytes().chunks(size) {
                sink.write_all(piece).unwrap();
            }
            let lines: Vec<String> =
                sink.lines.iter().map(|it| String::from_utf8_lossy(it).trim().to_owned()).collect();
            assert_eq!(lines, ["0", "333", "666", "999"]);
        }
    }

    #[test]
    fn no_more_of_a_record_is_read_than_can_be_shown() {
        let token = "AKIAIOSFODNN7EXAMPLE";
        for before in [0, 300, 4_090, 8_190, 12_270, 12_280] {
            let text = format!("{} {token} {}", "x".repeat(before), "it goes on ".repeat(800_000));
            let record = serde_json::json!({"text": text, "more": text, "short": token});
            let shown = record_without_secrets(&record.to_string());
            assert!(shown.len() < 2 * MAX_RECORD_BYTES, "{}", shown.len());
            assert!(shown.contains(if before == 0 { "*** it goes on" } else { "xxx" }), "{shown}");
            assert!(!shown.contains("AKIA"), "{before}: {shown}");
        }
        let many = vec!["a text like any other"; 100_000];
        let shown = record_without_secrets(&serde_json::json!(many).to_string());
        assert!(
            shown.matches("any other").count() <= MAX_RECORD_BYTES / 21 + 1,
            "no more are read"
        );
    }

    #[test]
    fn a_text_is_seen_through_windows_from_its_beginning_to_its_end() {
        let lines: Vec<String> =
            (1..=5_000).map(|number| format!("line {number} of the log")).collect();
        let text = lines.join(
            "
",
        ) + "
";
        let shown = of_text(500, text.as_bytes());
        assert!(tokens_up_to(500, &shown).is_some());
        assert!(shown.contains("[from line 1]\nline 1 of"), "{shown}");
        assert!(shown.contains("line 5000 of the log"), "{shown}");
        let starts: Vec<usize> = shown
            .split("[from line ")
            .skip(1)
            .map(|it| it[..it.find(']').unwrap()].parse().unwrap())
            .collect();
        assert_eq!(starts.len(), WINDOWS);
        assert!(
            starts.windows(2).all(|pair| (500..900).contains(&(pair[1] - pair[0]))),
            "{starts:?}"
        );
        assert!(of_text(500, b"short").ends_with("the whole text\nshort"));
        of_text(50, "äöü€".repeat(5_000).as_bytes());
    }
}
