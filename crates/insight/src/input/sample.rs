//! A part of a result that stands for the whole: records evenly over all, or windows evenly over a text.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use forebay_intercept::Asked;
use forebay_records::{shorten_to_fit, tokens_up_to, write_rows};
use forebay_store::facts::Table;
use serde_json::{Map, Value};

use super::as_many_as_fit;

/// More records are not looked at for a sample.
const MAX_RECORDS: usize = 60;
const MAX_RECORD_CHARS: usize = 400;
/// The records of a longer payload are not all read for a sample; some that are known stand for them.
const MAX_READ_BYTES: usize = 8 * 1024 * 1024;
/// How many windows a text is shown through.
const WINDOWS: usize = 8;
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
        records = asked.dataset.facts().samples.clone().unwrap_or_default();
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
        let part = String::from_utf8_lossy(&payload[start..start + length]);
        let part = part.trim_matches('\u{fffd}');
        let _ = writeln!(out, "[{place}]\n{part}");
    }
    out
}

/// Keeps some of the lines that are written, evenly over so many.
struct EvenLines {
    wanted: Vec<u64>,
    next: usize,
    number: u64,
    line: Vec<u8>,
    lines: Vec<Vec<u8>>,
}

impl EvenLines {
    fn of(lines: u64, most: usize) -> Self {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let wanted = even(lines, most).map(|at| at as u64).collect();
        Self { wanted, next: 0, number: 0, line: Vec::new(), lines: Vec::new() }
    }
}

impl Write for EvenLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_wanted = self.wanted.get(self.next) == Some(&self.number);
            if is_wanted {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.number += 1;
                if is_wanted {
                    self.next += 1;
                    self.lines.push(std::mem::take(&mut self.line));
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `count` places out of `of`, evenly, the first and the last among them.
fn even(of: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(of);
    (0..count).map(move |index| if count == 1 { 0 } else { index * (of - 1) / (count - 1) })
}

/// A row, whose columns are numbers, with their names.
fn named(row: &[u8], table: &Table) -> Option<String> {
    let row: Map<String, Value> = serde_json::from_slice(row).ok()?;
    let named = table.fields.iter().enumerate().filter_map(|(index, field)| {
        Some((field.name.clone()?, row.get(&index.to_string())?.clone()))
    });
    Some(Value::Object(named.collect()).to_string())
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
