//! CSV and its kin: fields between commas, tabs, semicolons or bars, under a header or not.

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::profile::{Raw, Records};

/// How much is looked at to tell the form.
const LOOKED_AT_BYTES: usize = 64 * 1024;
const LOOKED_AT: usize = 100;
/// Fewer lines may have equally many commas by chance.
const MIN_RECORDS: usize = 4;

/// What stands between the fields of `text`, if it is of this form.
pub(super) fn delimiter(text: &[u8]) -> Option<u8> {
    [b'\t', b',', b';', b'|']
        .into_iter()
        .filter_map(|delimiter| Some((columns(text, delimiter)?, delimiter)))
        .max_by_key(|(columns, _)| *columns)
        .map(|(_, delimiter)| delimiter)
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
            let is_header = is_header(&record);
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

/// True if a first record names the columns: none with a number, and most of them at all.
fn is_header(record: &ByteRecord) -> bool {
    let filled = || record.iter().map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
    let is_name =
        |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| name.parse::<f64>().is_err());
    filled().all(is_name) && filled().count() * 2 > record.len()
}

/// The names of the columns, no two the same.
fn column_names(record: &ByteRecord, is_header: bool) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for (place, cell) in record.iter().enumerate() {
        let given = cell.trim_ascii().to_vec();
        let mut name = if is_header && !given.is_empty() {
            given
        } else {
            format!("column_{}", place + 1).into_bytes()
        };
        if names.contains(&name) {
            name.extend(format!("_{}", place + 1).into_bytes());
        }
        names.push(name);
    }
    names
}
