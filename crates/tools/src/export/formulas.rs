//! Texts in a CSV that a spreadsheet would run as formulas: a `'` before them makes them texts again.

use std::io::{self, BufRead, Write};

/// Copies a CSV and puts a `'` before each text that begins like a formula; `is_text` says which
/// columns hold texts, and the names of all columns are. Returns how many there were.
pub(super) fn disarm(csv: impl BufRead, mut out: impl Write, is_text: &[bool]) -> io::Result<u64> {
    let mut cells = Cells::of(csv);
    let (mut column, mut is_header, mut disarmed) = (0, true, 0);
    while let Some(ending) = cells.next()? {
        let is_text = is_header || is_text.get(column).copied().unwrap_or(true);
        if is_text && is_formula(&cells.cell) {
            disarmed += 1;
            match cells.cell.strip_prefix(b"\"") {
                Some(rest) => out.write_all(&[b"\"'", rest].concat())?,
                None => out.write_all(&[b"'", &cells.cell[..]].concat())?,
            }
        } else {
            out.write_all(&cells.cell)?;
        }
        match ending {
            Ending::Comma => column += 1,
            Ending::Line => (column, is_header) = (0, false),
            Ending::File => continue,
        }
        out.write_all(&[ending as u8])?;
    }
    out.flush()?;
    Ok(disarmed)
}

/// True if a spreadsheet may take the cell for a formula. A number is none, nor is a sign alone.
fn is_formula(cell: &[u8]) -> bool {
    let is_quoted = cell.starts_with(b"\"");
    let text = if is_quoted { cell[1..].strip_suffix(b"\"").unwrap_or(&cell[1..]) } else { cell };
    let begins_like_one = matches!(text, [b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r', _, ..]);
    let is_number = || str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
    begins_like_one && !is_number()
}

/// What stands behind a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Comma = b',' as isize,
    Line = b'\n' as isize,
    File,
}

/// The cells of a CSV, one after the other, with the quotes around them.
struct Cells<R> {
    csv: R,
    cell: Vec<u8>,
    has_ended: bool,
}

impl<R: BufRead> Cells<R> {
    fn of(csv: R) -> Self {
        Self { csv, cell: Vec::new(), has_ended: false }
    }

    /// Reads the next cell, and says what stands behind it; `None` after the last.
    fn next(&mut self) -> io::Result<Option<Ending>> {
        self.cell.clear();
        if self.has_ended {
            return Ok(None);
        }
        let mut is_within_quotes = false;
        loop {
            let read = self.csv.fill_buf()?;
            if read.is_empty() {
                self.has_ended = true;
                return Ok((!self.cell.is_empty()).then_some(Ending::File));
            }
            let ends = |byte: &u8| {
                // A quote within a quoted cell is written twice, which changes nothing.
                is_within_quotes ^= *byte == b'"';
                !is_within_quotes && matches!(byte, b',' | b'\n')
            };
            if let Some(end) = read.iter().position(ends) {
                let ending = if read[end] == b',' { Ending::Comma } else { Ending::Line };
                self.cell.extend_from_slice(&read[..end]);
                self.csv.consume(end + 1);
                return Ok(Some(ending));
            }
            let length = read.len();
            self.cell.extend_from_slice(read);
            self.csv.consume(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disarmed(csv: &str, is_text: &[bool]) -> (u64, String) {
        // Short reads: a cell may come in parts.
        let csv = io::BufReader::with_capacity(3, csv.as_bytes());
        let mut out = Vec::new();
        let count = disarm(csv, &mut out, is_text).unwrap();
        (count, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_text_that_begins_like_a_formula_gets_a_quote_before_it() {
        let csv = "a,=b\n=1+1,x\n\"=cmd|'/C calc'!A0, \"\"\",\"\r1\"\n@sum,\t=1\n+49 171,-x\n";
        let safe =
            "a,'=b\n'=1+1,x\n\"'=cmd|'/C calc'!A0, \"\"\",\"'\r1\"\n'@sum,'\t=1\n'+49 171,'-x\n";
        assert_eq!(disarmed(csv, &[true, true]), (8, safe.to_owned()));
    }

    #[test]
    fn all_else_stays_as_it_is() {
        let csv = "a,b\n-5,-1 day\n\"-5,5\nx\"\"\",+1.5e3\n-,=\n,\"\"\nü,'=1";
        let (count, out) = disarmed(csv, &[false, true]);
        assert_eq!((count, out), (1, csv.replace("-1 day", "'-1 day")));
        assert_eq!(disarmed("", &[]), (0, String::new()));
    }
}
