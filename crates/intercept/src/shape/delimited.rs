//! CSV and its kin: fields between commas, tabs, semicolons or bars, under a header or not.

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::profile::{Builder, Raw};

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

/// Hands the records of `text` to `table`.
pub(super) fn records<'a>(text: &'a [u8], delimiter: u8, mut table: Builder<'a>) -> Builder<'a> {
    let mut reader = reader(text, delimiter);
    let mut record = ByteRecord::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut is_first = true;
    loop {
        let start = offset(&reader);
        if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
            return table;
        }
        if std::mem::take(&mut is_first) && is_header(&record) {
            names = record.iter().map(|name| name.trim_ascii().to_vec()).collect();
            continue;
        }
        if table.record(text[start..offset(&reader)].trim_ascii()) {
            for (place, cell) in record.iter().enumerate() {
                if names.len() == place {
                    names.push(format!("column_{}", place + 1).into_bytes());
                }
                table.field(place, &names[place], Raw::Cell(cell));
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
    let mut widths = Vec::new();
    for record in reader(head, delimiter).byte_records().take(LOOKED_AT) {
        widths.push(record.ok()?.len());
    }
    if !is_all && widths.len() < LOOKED_AT {
        // A quoted field may go on behind the cut.
        widths.pop();
    }
    let first = *widths.first()?;
    // Two columns may be a sentence with a comma in it.
    let needed = if first == 2 { 2 * MIN_RECORDS } else { MIN_RECORDS };
    let is_table =
        first > 1 && widths.len() >= needed && widths.iter().all(|width| *width == first);
    (is_table && !is_prose(head, delimiter)).then_some(first)
}

/// True if what is between the delimiters reads like sentences.
fn is_prose(head: &[u8], delimiter: u8) -> bool {
    let mut lines = super::filled_lines(head).take(LOOKED_AT).peekable();
    delimiter == b','
        && lines.peek().is_some()
        && lines.all(|line| {
            line.ends_with(b".")
                || line.ends_with(b",")
                || line.ends_with(b";")
                || line.ends_with(b"{")
        })
}

/// True if a first record names the columns: each differently, and none with a number.
fn is_header(record: &ByteRecord) -> bool {
    let names: Vec<&[u8]> = record.iter().map(<[u8]>::trim_ascii).collect();
    let is_name = |name: &&[u8]| {
        !name.is_empty() && std::str::from_utf8(name).is_ok_and(|name| name.parse::<f64>().is_err())
    };
    // The first column of an index often has no name.
    let is_different = names.iter().enumerate().all(|(index, name)| !names[..index].contains(name));
    names.iter().skip(1).all(is_name)
        && is_different
        && names.first().is_some_and(|first| first.is_empty() || is_name(first))
}
