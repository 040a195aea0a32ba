//! Writes the records of a payload down, one JSON object on each line, for a database to read.
//!
//! They are read as they were described ([`crate::shape`]): what the summary says of a field is true
//! of its column. Columns go by their place, since names may be anything, and twice the same.

mod column;

use std::io::{self, Write};

use forebay_store::{Mapped, facts};
use forebay_wire::walk;

use self::column::{Members, push_text};
use crate::{
    shape::{self, Format},
    strings::{quoted, text_of},
    table::{Raw, Records},
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
pub fn write_rows(
    payload: &Mapped,
    facts: &facts::Table,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let path = &facts.path;
    let format = facts.format.as_deref();
    for view in [shape::of, shape::not_json, shape::text] {
        let view = view(payload);
        // What begins like JSON was read to its end to tell what it is.
        if format.is_some_and(|format| format != view.format.name()) {
            continue;
        }
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
    columns: Members,
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

impl<'w> Writer<'w> {
    fn new(
        payload: &'w Mapped,
        facts: &facts::Table,
        format: Format,
        out: &'w mut dyn Write,
    ) -> Self {
        Self {
            payload,
            out,
            columns: Members::by_place(&facts.fields),
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
        column::close(&mut self.row, b'}');
        self.row.push(b'\n');
        self.longest_line = self.longest_line.max(self.row.len());
        self.trouble = self.out.write_all(&self.row).err();
        self.row.clear();
    }
}

impl Records<'_> for Writer<'_> {
    fn record(&mut self, written: &[u8]) -> bool {
        self.end_row();
        self.rows += 1;
        self.columns.begin();
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
        self.columns.member(&mut self.row, name, value, self.has_cells);
    }

    fn members(&mut self, _before: usize, json: &[u8]) {
        for (key, value) in walk::members(json).into_iter().flatten() {
            let name = text_of(quoted(json, key));
            self.columns.member(&mut self.row, &name, Raw::Json(value), self.has_cells);
        }
    }

    fn skip(&mut self) {
        self.skipped += 1;
    }

    fn is_mostly_skipped(&self) -> bool {
        self.skipped * 10 > self.rows
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::describe;

    fn rows(text: &str) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let payload = Mapped::open(file.path()).unwrap();
        let facts = describe(&payload);
        let mut out = Vec::new();
        let written = write_rows(&payload, &facts.tables()[0], &mut out).unwrap();
        let lines: Vec<String> =
            String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(written.rows, facts.tables()[0].records);
        assert_eq!(written.longest_line, lines.iter().map(|line| line.len() + 1).max().unwrap());
        lines
    }

    #[test]
    fn records_of_every_form_become_rows() {
        let list = "[{\"a\":1,\n \"b\":\"x\"},{\"b\":null,\"A\":[1,\n2],\"b\":2}]";
        assert_eq!(rows(list), [r#"{"at":1,"0":1,"1":"x"}"#, r#"{"at":19,"1":null,"2":[1,2]}"#]);
        let nested = r#"{"total":2,"data":{"edges":[{"node":{"id":7}},{"node":{"id":8}},{"node":{"id":9}}]}}"#;
        assert_eq!(rows(nested)[1], r#"{"at":46,"0":{"id":8}}"#);
        let columns = r#"{"a":[1,2,3],"b":["x","y","z"]}"#;
        assert_eq!(rows(columns)[2], r#"{"0":3,"1":"z"}"#);
        let header = r#"[["a","b"],[1,"x"],[2,null]]"#;
        assert_eq!(rows(header)[1], r#"{"at":19,"0":2,"1":null}"#);
        let csv = "name,n,when\nA,1,2024-01-01T10:00:00+02:00\n\"B, C\",NA,2024-01-01T10:00:00Z\nNA, 3 ,\nD,4,\n";
        assert_eq!(
            rows(csv),
            [
                r#"{"0":"A","1":"1","2":"2024-01-01 08:00:00","3":"2024-01-01 10:00:00"}"#,
                r#"{"0":"B, C","1":null,"2":"2024-01-01 10:00:00","3":"2024-01-01 10:00:00"}"#,
                r#"{"0":"NA","1":"3","2":null,"3":null}"#,
                r#"{"0":"D","1":"4","2":null,"3":null}"#,
            ]
        );
        let map: serde_json::Map<String, Value> =
            (0..9).map(|n| (format!("k{n}"), json!({"v": n}))).collect();
        assert_eq!(rows(&Value::from(map).to_string())[1], r#"{"at":14,"0":"k1","1":1}"#);
    }

    #[test]
    fn of_several_documents_the_rows_are_of_the_one_that_is_described() {
        let list = |from: u32, to: u32| -> String {
            Value::from((from..to).map(|n| json!({"id": n})).collect::<Vec<_>>()).to_string()
        };
        let (short, long) = (list(0, 3), list(7, 20));
        for text in [
            format!("{short}\n{long}"),
            format!("{short} {short}\n\n{long}"),
            format!("{{\"n\": 1}}\n{long}\n{{\"n\": 2}}"),
        ] {
            assert!(rows(&text)[0].ends_with(r#""0":7}"#), "{text}: {:?}", rows(&text)[0]);
        }
        assert!(rows(&format!("{long}\n{short}"))[0].ends_with(r#""0":7}"#));
    }

    #[test]
    fn times_are_written_in_one_way() {
        let line = |n: u32| format!("2024-01-01 10:00:{n},241 INFO something was done {n}");
        let log = (10..40).map(line).collect::<Vec<_>>().join("\n");
        let row = r#"{"0":"2024-01-01 10:00:10.241","1":"INFO","2":"something was done 10"}"#;
        assert_eq!(rows(&log)[0], row);
    }

    #[test]
    fn times_with_an_offset_are_written_in_utc_and_as_they_stand() {
        let json = r#"[{"at":"2025-03-01T00:30:00,5+02:00","x":{"at":"2025-03-01 00:30 -0330"}},{"at":null,"x":{}}]"#;
        let row = r#"{"at":1,"0":"2025-02-28 22:30:00.5","2":"2025-03-01 00:30:00.5","1":{"at":"2025-03-01 04:00:00","at_local":"2025-03-01 00:30:00"}}"#;
        assert_eq!(rows(json)[0], row);
        // Without an offset, or with none from UTC, there is nothing to tell apart.
        let json = r#"[{"at":"2025-03-01T00:30:00Z"},{"at":"2025-03-01T00:30:00+00:00"}]"#;
        assert!(!rows(json)[0].contains("\"1\""), "{}", rows(json)[0]);
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
