//! CSV and its kin: fields between commas, tabs, semicolons or bars, under a header or not.

mod heading;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::around::{Around, BEFORE, FOOTER};
use crate::table::{Raw, Records};

/// How much is looked at to tell the form.
const LOOKED_AT_BYTES: usize = 64 * 1024;
const LOOKED_AT: usize = 100;
/// Fewer lines may have equally many commas by chance.
const MIN_RECORDS: usize = 4;

/// The lines of a table, what stands between its fields, and what stands around it; `None` if `text`
/// is not of this form.
pub(super) fn table(text: &[u8]) -> Option<(&[u8], u8, Around)> {
    let start = comments_length(text);
    let lines = &text[start..];
    let delimiter = [b'\t', b',', b';', b'|']
        .into_iter()
        .filter_map(|delimiter| Some((columns(lines, delimiter)?, delimiter)))
        .max_by_key(|(columns, _)| *columns)
        .map(|(_, delimiter)| delimiter)?;
    let footer = lines.len() - footer_length(lines, delimiter);
    let mut around = Around::default();
    around.text(BEFORE, &text[..start]);
    around.text(FOOTER, &lines[footer..]);
    Some((&lines[..footer], delimiter, around))
}

/// Hands the records of `text` to `table`; `None` if many lines turn out to be none.
pub(super) fn records<'a, R: Records<'a>>(
    text: &'a [u8],
    delimiter: u8,
    mut table: R,
) -> Option<R> {
    let mut reader = reader(text, delimiter);
    let mut record = ByteRecord::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    loop {
        let start = offset(&reader);
        if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
            return (!table.is_mostly_skipped()).then_some(table);
        }
        if names.is_empty() {
            let is_header = heading::is_one(&record, &text[offset(&reader)..], delimiter);
            names = column_names(&record, is_header);
            if is_header {
                continue;
            }
        }
        // Such as a line at the end that counts the rows.
        if record.len() != names.len() {
            table.skip();
            continue;
        }
        if table.record(text[start..offset(&reader)].trim_ascii()) {
            for (place, (name, cell)) in names.iter().zip(&record).enumerate() {
                table.field(place, name, Raw::Cell(cell));
            }
        }
    }
}

/// How long the comments before the header are. A header may begin with the sign of one.
fn comments_length(text: &[u8]) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let is_comment = |line: &&[u8]| line.starts_with(b"#") || line.trim_ascii().is_empty();
    let comments: Vec<&[u8]> = lines.take_while(is_comment).collect();
    let length = comments.iter().map(|line| line.len()).sum();
    let header = comments.iter().rfind(|line| !line.trim_ascii().is_empty());
    let rows = text[length..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has_columns = |line: &[u8], delimiter| memchr::memchr_iter(delimiter, line).count();
    let is_header = |line: &[u8]| {
        [b'\t', b',', b';', b'|'].into_iter().any(|delimiter| {
            let columns = has_columns(line, delimiter);
            columns > 0 && columns == has_columns(rows, delimiter)
        })
    };
    match header {
        Some(line) if is_header(line) => line.as_ptr().addr() - text.as_ptr().addr(),
        _ => length,
    }
}

/// How long the lines at the end are that are no records, such as one that counts the rows. After
/// the last quote nothing is within quotes.
fn footer_length(text: &[u8], delimiter: u8) -> usize {
    const MAX_LINES: usize = 3;
    let mut length = 0;
    let mut rest = text;
    for _ in 0..=MAX_LINES {
        let blanks = rest.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let trimmed = &rest[..rest.len() - blanks];
        let start = memchr::memrchr(b'\n', trimmed).map_or(0, |newline| newline + 1);
        let line = &trimmed[start..];
        if line.trim_ascii().is_empty() || memchr::memchr2(delimiter, b'"', line).is_some() {
            return length;
        }
        length = text.len() - start;
        rest = &text[..start];
    }
    // Lines that go on and on are something else.
    0
}

fn reader(text: &[u8], delimiter: u8) -> Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text)
}

fn offset(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.position().byte()).unwrap_or(usize::MAX)
}

/// How many columns there are, if every record that is looked at has as many.
fn columns(text: &[u8], delimiter: u8) -> Option<usize> {
    let is_all = text.len() <= LOOKED_AT_BYTES;
    let mut head = &text[..text.len().min(LOOKED_AT_BYTES)];
    if !is_all {
        // A record that is cut off has too few columns.
        head = &head[..memchr::memrchr(b'\n', head)?];
    }
    if !may_be_cells(head, delimiter) {
        return None;
    }
    let mut widths = Vec::new();
    let mut filled = 0;
    for record in reader(head, delimiter).byte_records().take(LOOKED_AT) {
        let record = record.ok()?;
        filled +=
            usize::from(record.iter().filter(|cell| !cell.trim_ascii().is_empty()).count() > 1);
        widths.push(record.len());
    }
    if is_all || widths.len() < LOOKED_AT {
        // A quoted field may go on behind the cut, and the last line may only count the rows.
        widths.pop();
    }
    let first = *widths.first()?;
    // Two columns may be a sentence with a comma in it.
    let needed = if first == 2 { 2 * MIN_RECORDS } else { MIN_RECORDS } - 1;
    let is_table = first > 1
        && widths.len() >= needed
        && filled * 2 > widths.len()
        && widths.iter().all(|width| *width == first);
    is_table.then_some(first)
}

/// True if lines do not look like sentences, code, JSON or what a terminal shows.
fn may_be_cells(head: &[u8], delimiter: u8) -> bool {
    let lines = || super::filled_lines(head).take(LOOKED_AT);
    let reads_like_text = |line: &[u8]| {
        matches!(line.last(), Some(b'.' | b',' | b';' | b'{' | b'}'))
            && !line.ends_with(&[delimiter])
    };
    let is_json = |line: &[u8]| matches!(line.first(), Some(b'{' | b'['));
    memchr::memchr(0x1B, head).is_none()
        && !lines().all(reads_like_text)
        && lines().filter(|line| is_json(line)).count() * 2 < lines().count()
}

fn column_names(record: &ByteRecord, is_header: bool) -> Vec<Vec<u8>> {
    super::column_names(record.iter().map(|cell| if is_header { cell } else { b"" }))
}
