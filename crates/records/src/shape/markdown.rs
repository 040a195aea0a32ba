//! Tables in Markdown: a header, a line of dashes, rows between bars.

use super::around::{AFTER, Around, BEFORE, BETWEEN};
use crate::table::{Raw, Records};

/// The first table begins within this much.
const LOOKED_AT_BYTES: usize = 256 * 1024;
/// How often whoever asked is told what is still to come.
const STEP: usize = 16 * 1024 * 1024;
/// A text of which the tables are a smaller part than one in this many is prose.
const MIN_SHARE: usize = 4;

/// The tables in a text, if they are a good part of it, and what stands around them.
pub(super) fn tables<'a>(text: &'a [u8], passed: &dyn Fn(&[u8])) -> (Vec<&'a [u8]>, Around) {
    let mut around = Around::default();
    let head = &text[..text.len().min(LOOKED_AT_BYTES)];
    if !head.split(|byte| *byte == b'\n').any(|line| cells(line).count() > 1 && is_rule(line)) {
        return (Vec::new(), around);
    }
    let mut found: Vec<&[u8]> = Vec::new();
    // The line before: where it begins, and how many cells it has.
    let mut before: Option<(usize, usize)> = None;
    // The table that is open: where it begins.
    let mut open: Option<usize> = None;
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let width = cells(line).count();
        if open.is_some() && width < 2 {
            found.extend(open.take().map(|begin| &text[begin..start]));
        }
        if let (None, Some((begin, columns))) = (open, before)
            && columns == width
            && is_rule(line)
        {
            open = Some(begin);
        }
        before = (width > 1).then_some((start, width));
        if start / STEP < (start + line.len()) / STEP {
            passed(&text[start..]);
        }
        start += line.len();
    }
    found.extend(open.map(|begin| &text[begin..]));
    let in_tables: usize = found.iter().map(|table| table.len()).sum();
    if in_tables * MIN_SHARE < text.len() {
        found.clear();
    }
    let mut end = 0;
    for (index, table) in found.iter().enumerate() {
        let start = table.as_ptr().addr() - text.as_ptr().addr();
        around.text(if index == 0 { BEFORE } else { BETWEEN }, &text[end..start]);
        end = start + table.len();
    }
    around.text(AFTER, &text[end..]);
    (found, around)
}

/// Hands the rows of a table to `table`.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    let mut lines = text.split(|byte| *byte == b'\n');
    let names: Vec<Vec<u8>> = lines.next().into_iter().flat_map(cells).map(unescaped).collect();
    for line in lines.skip(1).filter(|line| !line.trim_ascii().is_empty()) {
        // A bar in a cell that is not escaped: nothing tells which cell it belongs to.
        if cells(line).count() > names.len() {
            table.skip();
            continue;
        }
        if table.record(line.trim_ascii()) {
            for (place, (name, cell)) in names.iter().zip(cells(line)).enumerate() {
                table.field(place, name, Raw::Cell(&unescaped(cell)));
            }
        }
    }
    table
}

/// The cells of a line, if it has bars.
fn cells(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"|").unwrap_or(line);
    let ends_escaped = line.ends_with(b"\\|");
    let line = if ends_escaped { line } else { line.strip_suffix(b"|").unwrap_or(line) };
    let mut is_escaped = false;
    line.split(move |byte| {
        let is_bar = *byte == b'|' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_bar
    })
    .map(<[u8]>::trim_ascii)
}

/// True if each cell of a line is dashes, with a colon on the side that the text is aligned to.
fn is_rule(line: &[u8]) -> bool {
    cells(line).all(|cell| {
        let cell = cell.strip_prefix(b":").unwrap_or(cell);
        let dashes = cell.strip_suffix(b":").unwrap_or(cell);
        !dashes.is_empty() && dashes.iter().all(|byte| *byte == b'-')
    })
}

fn unescaped(cell: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(cell.len());
    let mut bytes = cell.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && bytes.peek() == Some(&&b'|') {
            continue;
        }
        text.push(*byte);
    }
    text
}
