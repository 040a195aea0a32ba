//! Writes the records of a payload down, one JSON object on each line, for a database to read.
//!
//! They are read as they were described ([`crate::shape`]): what the summary says of a field is true
//! of its column. Columns go by their place, since names may be anything, and twice the same.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use forebay_store::Mapped;
use forebay_wire::walk;
use jiff::{Timestamp, tz::TimeZone};
use memchr::{memchr2, memmem};
use serde_json::Value;

use crate::{
    profile::{KEY, Raw, Records, is_marker, text_of},
    shape::{self, Format, quoted},
};

/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;

/// What has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// How many rows.
    pub rows: u64,
    /// How long the longest line is.
    pub longest_line: usize,
}

/// Writes the records of a table, which `facts` are the metadata of, as lines such as
/// `{"at":17,"0":1,"1":"a"}`: where the record begins in the payload, if it is there as JSON, and the
/// values of the columns that it has.
pub fn write_rows(payload: &Mapped, facts: &Value, out: &mut dyn Write) -> io::Result<Written> {
    let path = facts["path"].as_str().unwrap_or("$");
    for view in [shape::of, shape::not_json, shape::text] {
        let view = view(payload);
        let writer = Writer::new(payload, facts, view.format, &mut *out);
        if let Some(writer) = view.rows(path, writer)
            && writer.rows > 0
        {
            return writer.finish();
        }
    }
    Err(io::Error::other(format!("its records are no longer found at {path}")))
}

/// Writes the lines of a text as rows of two columns: the line's number, and what it says.
pub fn write_lines(payload: &Mapped, out: &mut dyn Write) -> io::Result<Written> {
    let mut written = Written { rows: 0, longest_line: 0 };
    let text = payload.strip_suffix(b"\n").unwrap_or(payload);
    let mut row = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        written.rows += 1;
        row.clear();
        write!(row, "{{\"0\":{},\"1\":", written.rows)?;
        push_text(&mut row, line);
        row.extend(b"}\n");
        written.longest_line = written.longest_line.max(row.len());
        out.write_all(&row)?;
    }
    Ok(written)
}

struct Writer<'w> {
    payload: &'w Mapped,
    out: &'w mut dyn Write,
    /// For each column, how its values are written.
    columns: Vec<Column>,
    by_name: HashMap<Vec<u8>, usize>,
    /// Records are JSON, in the payload itself.
    is_json: bool,
    /// Strings in JSON stand for whatever they look like.
    has_cells: bool,
    /// The row that is being written.
    row: Vec<u8>,
    rows: u64,
    skipped: u64,
    longest_line: usize,
    released: usize,
    trouble: Option<io::Error>,
}

struct Column {
    style: Style,
    /// The row that has a value for it already: of two of the same name the first one counts.
    last_row: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Text,
    Timestamp,
    Other,
}

impl<'w> Writer<'w> {
    fn new(payload: &'w Mapped, facts: &Value, format: Format, out: &'w mut dyn Write) -> Self {
        let fields = || facts["fields"].as_array().into_iter().flatten();
        let style = |field: &Value| match field["type"].as_str() {
            Some("string" | "date" | "uuid" | "url") => Style::Text,
            Some("timestamp") => Style::Timestamp,
            _ => Style::Other,
        };
        let columns = fields().map(|field| Column { style: style(field), last_row: 0 }).collect();
        let name = |field: &Value| field["name"].as_str().unwrap_or_default().as_bytes().to_vec();
        let mut by_name: HashMap<Vec<u8>, usize> = HashMap::new();
        for (index, field) in fields().enumerate() {
            by_name.entry(name(field)).or_insert(index);
        }
        if facts["kind"] == "map" {
            by_name.insert(KEY.to_vec(), 0);
        }
        Self {
            payload,
            out,
            columns,
            by_name,
            is_json: matches!(format, Format::Json | Format::Ndjson),
            has_cells: format == Format::Xml,
            row: Vec::new(),
            rows: 0,
            skipped: 0,
            longest_line: 0,
            released: 0,
            trouble: None,
        }
    }

    fn finish(mut self) -> io::Result<Written> {
        self.end_row();
        match self.trouble {
            Some(error) => Err(error),
            None => Ok(Written { rows: self.rows, longest_line: self.longest_line }),
        }
    }

    fn end_row(&mut self) {
        if self.row.is_empty() || self.trouble.is_some() {
            return;
        }
        if self.row.last() == Some(&b',') {
            self.row.pop();
        }
        self.row.extend(b"}\n");
        self.longest_line = self.longest_line.max(self.row.len());
        self.trouble = self.out.write_all(&self.row).err();
        self.row.clear();
    }

    /// Begins a value, and says how it is written; `None` if it is not.
    fn begin(&mut self, name: &[u8]) -> Option<Style> {
        let index = *self.by_name.get(name)?;
        let column = &mut self.columns[index];
        if column.last_row == self.rows {
            return None;
        }
        column.last_row = self.rows;
        let _ = write!(self.row, "\"{index}\":");
        Some(column.style)
    }

    fn value(&mut self, name: &[u8], value: Raw<'_>) {
        let Some(style) = self.begin(name) else { return };
        match value {
            Raw::Json(json @ [b'"', ..]) if self.has_cells => self.cell(&text_of(json), style),
            Raw::Json(json @ [b'"', ..]) if style == Style::Timestamp => {
                self.timestamp(&text_of(json));
            }
            Raw::Json(json) => self.json(json),
            Raw::Number(number) => self.row.extend(number.json),
            Raw::Text(text) if style == Style::Timestamp => self.timestamp(text),
            Raw::Text(text) => push_text(&mut self.row, text),
            Raw::Cell(text) => self.cell(text, style),
        }
        self.row.push(b',');
    }

    fn json(&mut self, json: &[u8]) {
        let start = self.row.len();
        self.row.extend_from_slice(json);
        let copy = &mut self.row[start..];
        // Between the values of a JSON document there may be line breaks; in its texts there are
        // none.
        if memchr2(b'\n', b'\r', json).is_some() {
            copy.iter_mut()
                .filter(|byte| matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
        }
        mend_surrogates(copy);
    }

    fn cell(&mut self, cell: &[u8], style: Style) {
        let trimmed = cell.trim_ascii();
        match style {
            _ if cell.is_empty() => self.row.extend(b"null"),
            Style::Text => push_text(&mut self.row, cell),
            Style::Timestamp => self.timestamp(trimmed),
            Style::Other if is_marker(cell) => self.row.extend(b"null"),
            Style::Other => push_text(&mut self.row, trimmed),
        }
    }

    /// A time in UTC, with a point before its fraction: what reads these lines knows no other.
    fn timestamp(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text).replacen(',', ".", 1);
        let is_utc = text.ends_with(['Z', 'z'])
            || !text.bytes().skip(16).any(|byte| matches!(byte, b'+' | b'-'));
        let other_zone = || -> Option<String> {
            let time: Timestamp = text.trim().replacen(' ', "T", 1).parse().ok()?;
            Some(time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S%.f").to_string())
        };
        let time = if is_utc { None } else { other_zone() };
        push_text(&mut self.row, time.unwrap_or(text).as_bytes());
    }
}

impl Records<'_> for Writer<'_> {
    fn record(&mut self, written: &[u8]) -> bool {
        self.end_row();
        self.rows += 1;
        self.row.push(b'{');
        let offset = written.as_ptr().addr().wrapping_sub(self.payload.as_ptr().addr());
        if offset < self.payload.len() {
            if self.is_json {
                let _ = write!(self.row, "\"at\":{offset},");
            }
            if offset > self.released + RELEASE_BYTES {
                self.payload.release_before(offset);
                self.released = offset;
            }
        }
        self.trouble.is_none()
    }

    fn field(&mut self, _place: usize, name: &[u8], value: Raw<'_>) {
        self.value(name, value);
    }

    fn members(&mut self, _before: usize, json: &[u8]) {
        for (key, value) in walk::members(json).into_iter().flatten() {
            self.value(&text_of(quoted(json, key)), Raw::Json(value));
        }
    }

    fn skip(&mut self) {
        self.skipped += 1;
    }

    fn is_mostly_skipped(&self) -> bool {
        self.skipped * 10 > self.rows
    }
}

/// Writes a text as a JSON string.
fn push_text(row: &mut Vec<u8>, text: &[u8]) {
    let written = serde_json::to_writer(&mut *row, &String::from_utf8_lossy(text));
    debug_assert!(written.is_ok(), "a text in memory can be written");
}

/// Half a surrogate pair is allowed in JSON, but no text can hold it: what reads these lines would
/// refuse them all.
fn mend_surrogates(json: &mut [u8]) {
    let unit = |json: &[u8], at: usize| -> Option<u16> {
        let escape = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(escape).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memmem::find(&json[at..], b"\\u") {
        at += found;
        let backslashes = json[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        match unit(json, at) {
            // The backslash is itself escaped: this is text.
            _ if backslashes % 2 == 1 => at += 2,
            Some(0xD800..=0xDBFF) if matches!(unit(json, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                json[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::describe;

    fn rows(text: &str) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let payload = Mapped::open(file.path()).unwrap();
        let facts = describe(&payload);
        let mut out = Vec::new();
        let written = write_rows(&payload, &facts["tables"][0], &mut out).unwrap();
        let lines: Vec<String> =
            String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(written.rows, facts["tables"][0]["records"].as_u64().unwrap());
        assert_eq!(written.longest_line, lines.iter().map(|line| line.len() + 1).max().unwrap());
        lines
    }

    #[test]
    fn records_of_every_form_become_rows() {
        let list = "[{\"a\":1,\n \"b\":\"x\"},{\"b\":null,\"A\":[1,\n2],\"b\":2}]";
        assert_eq!(rows(list), [r#"{"at":1,"0":1,"1":"x"}"#, r#"{"at":19,"1":null,"2":[1, 2]}"#]);
        let nested = r#"{"total":2,"data":{"edges":[{"node":{"id":7}},{"node":{"id":8}},{"node":{"id":9}}]}}"#;
        assert_eq!(rows(nested)[1], r#"{"at":54,"0":8}"#);
        let columns = r#"{"a":[1,2,3],"b":["x","y","z"]}"#;
        assert_eq!(rows(columns)[2], r#"{"0":3,"1":"z"}"#);
        let header = r#"[["a","b"],[1,"x"],[2,null]]"#;
        assert_eq!(rows(header)[1], r#"{"at":19,"0":2,"1":null}"#);
        let csv = "name,n,when\nA,1,2024-01-01T10:00:00+02:00\n\"B, C\",NA,2024-01-01T10:00:00Z\nNA, 3 ,\nD,4,\n";
        assert_eq!(
            rows(csv),
            [
                r#"{"0":"A","1":"1","2":"2024-01-01 08:00:00"}"#,
                r#"{"0":"B, C","1":null,"2":"2024-01-01T10:00:00Z"}"#,
                r#"{"0":"NA","1":"3","2":null}"#,
                r#"{"0":"D","1":"4","2":null}"#,
            ]
        );
        let map: serde_json::Map<String, Value> =
            (0..9).map(|n| (format!("k{n}"), json!({"v": n}))).collect();
        assert_eq!(rows(&Value::from(map).to_string())[1], r#"{"at":14,"0":"k1","1":1}"#);
    }

    #[test]
    fn times_are_written_in_one_way() {
        let line = |n: u32| format!("2024-01-01 10:00:{n},241 INFO something was done {n}");
        let log = (10..40).map(line).collect::<Vec<_>>().join("\n");
        let row = r#"{"0":"2024-01-01 10:00:10.241","1":"INFO","2":"something was done 10"}"#;
        assert_eq!(rows(&log)[0], row);
    }

    #[test]
    fn half_a_surrogate_pair_is_mended() {
        for (json, mended) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d!""#, r#""\ufffd!""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
        ] {
            let mut text = json.as_bytes().to_vec();
            mend_surrogates(&mut text);
            assert_eq!(String::from_utf8(text).unwrap(), mended);
        }
    }

    #[test]
    fn lines_of_a_text_become_rows() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "one\r\n\n\"three\"\n").unwrap();
        let mut out = Vec::new();
        let payload = Mapped::open(file.path()).unwrap();
        assert_eq!(write_lines(&payload, &mut out).unwrap().rows, 3);
        let expected =
            "{\"0\":1,\"1\":\"one\"}\n{\"0\":2,\"1\":\"\"}\n{\"0\":3,\"1\":\"\\\"three\\\"\"}\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
