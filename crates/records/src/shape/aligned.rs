//! Tables that programs print for people: columns under each other, set off by bars, rules or blanks.
//!
//! Each way of drawing them has a file of its own, which says whether a table begins at a line and
//! where it ends, and reads its rows. A table is taken for one only if every row that is looked at
//! fits its columns; a row further on that does not is counted as skipped.

mod boxed;
mod columns;
mod expanded;
mod files;
mod header;
mod line;
mod programs;
mod signs;

use self::{boxed::Boxed, columns::Columns, expanded::Expanded, files::Files};
use super::around::{AFTER, Around, BEFORE, BETWEEN, FOOTER};
use crate::table::{Raw, Records};

/// The first table begins within this much.
const LOOKED_AT_BYTES: usize = 64 * 1024;
/// A text of which the tables are a smaller part than one in this many is prose.
const MIN_SHARE: usize = 2;

/// A table, and where its rows are.
pub(super) struct Table<'a> {
    layout: Layout,
    body: &'a [u8],
}

impl Table<'_> {
    /// How long its rows are.
    pub(super) fn size(&self) -> usize {
        self.body.len()
    }
}

enum Layout {
    Boxed(Boxed),
    Columns(Columns),
    Expanded(Expanded),
    Files(Files),
}

/// A table that begins at the front of a text.
struct Found<'a> {
    layout: Layout,
    /// The lines of its rows.
    body: &'a [u8],
    /// Where the table ends.
    end: usize,
    /// A part of its header that is no names.
    note: Option<&'a [u8]>,
}

/// The tables in a text, if they are most of it, and what stands around them.
pub(super) fn tables(text: &[u8]) -> (Vec<Table<'_>>, Around) {
    let mut around = Around::default();
    let mut tables = Vec::new();
    // Where the last table ends, and how much of the text is in tables.
    let (mut end, mut in_tables) = (0, 0);
    let (mut start, mut in_paragraph) = (0, 0);
    while start < text.len() && (start < LOOKED_AT_BYTES || !tables.is_empty()) {
        let rest = &text[start..];
        let next = line::length(rest);
        if rest[..next].trim_ascii().is_empty() {
            in_paragraph = 0;
            start += next;
            continue;
        }
        let Some(found) = at(rest, in_paragraph) else {
            in_paragraph += 1;
            start += next;
            continue;
        };
        around.text(if tables.is_empty() { BEFORE } else { BETWEEN }, &text[end..start]);
        if let Some(note) = found.note {
            around.text("header", note);
        }
        in_tables += found.end;
        let after = start + found.end;
        end = after + footer_length(&text[after..]);
        around.text(FOOTER, &text[after..end]);
        tables.push(Table { layout: found.layout, body: found.body });
        start = end;
        in_paragraph = 0;
    }
    around.text(AFTER, &text[end..]);
    if in_tables * MIN_SHARE < text.len() {
        return (Vec::new(), Around::default());
    }
    (tables, around)
}

/// Hands the rows of a table to `sink`; `None` if many lines turn out to be none.
pub(super) fn records<'a, R: Records<'a>>(table: &Table<'a>, mut sink: R) -> Option<R> {
    match &table.layout {
        Layout::Boxed(layout) => layout.records(table.body, &mut sink),
        Layout::Columns(layout) => layout.records(table.body, &mut sink),
        Layout::Expanded(layout) => layout.records(table.body, &mut sink),
        Layout::Files(layout) => layout.records(table.body, &mut sink),
    }
    (!sink.is_mostly_skipped()).then_some(sink)
}

/// The table that begins at the front of a text, `line` lines into a paragraph.
fn at(text: &[u8], line: usize) -> Option<Found<'_>> {
    boxed::at(text)
        .or_else(|| expanded::at(text))
        .or_else(|| columns::at(text, line))
        .or_else(|| files::at(text, line))
}

/// How long the lines are that follow a table at once, up to the next table or a blank line.
fn footer_length(text: &[u8]) -> usize {
    const MAX_LINES: usize = 20;
    let mut end = 0;
    for _ in 0..MAX_LINES {
        let length = line::length(&text[end..]);
        let line = &text[end..end + length];
        if line.trim_ascii().is_empty() || programs::begins_section(line) {
            break;
        }
        if at(&text[end..], 0).is_some() {
            break;
        }
        end += length;
    }
    end
}

/// Hands a row on: a cell for each name.
fn tell<'a, C: AsRef<[u8]>>(
    sink: &mut impl Records<'a>,
    written: &'a [u8],
    names: &[Vec<u8>],
    cells: &[C],
) {
    if sink.record(written) {
        for (place, (name, cell)) in names.iter().zip(cells).enumerate() {
            sink.field(place, name, Raw::Cell(&line::cell(cell.as_ref())));
        }
    }
}
