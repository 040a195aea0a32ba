//! A workbook with one sheet.

use std::path::Path;

use forebay_query::{Conduct, Query, Selected, Source};
use forebay_wire::walk;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use serde_json::Value;

use crate::{Desk, ToolError, error::refuse};

/// How many rows a sheet can have, without its header.
const MAX_ROWS: u64 = 1_048_575;
/// How much is made into a workbook: all of it is in memory for a while.
const MAX_BYTES: u64 = 200_000_000;
/// How many characters a cell can have.
const MAX_CHARS: usize = 32_767;
/// The largest whole number that a cell keeps exactly.
const MAX_EXACT: u64 = 9_007_199_254_740_992;

/// Writes all rows of a query, and says how many there are, and of what.
pub(super) fn write(
    desk: &Desk,
    query: &Query,
    file: &Path,
    conduct: &dyn Conduct,
) -> Result<(u64, Vec<Source>), ToolError> {
    let found = desk.service().select(query, MAX_ROWS, MAX_BYTES, conduct)?;
    if found.has_more {
        return refuse!(
            "A workbook has {MAX_ROWS} rows and {} MB at most, and there is more: choose csv or \
             parquet, or write a query for fewer rows.",
            MAX_BYTES / 1_000_000
        );
    }
    let mut book = Workbook::new();
    let filled = fill(book.add_worksheet_with_constant_memory(), &found);
    match filled.and_then(|()| book.save(file)) {
        Ok(()) => Ok((found.rows.len() as u64, found.sources)),
        Err(error) => refuse!("The workbook cannot be written: {error}. Choose csv instead."),
    }
}

fn fill(sheet: &mut Worksheet, found: &Selected) -> Result<(), XlsxError> {
    sheet.set_freeze_panes(1, 0)?;
    let bold = Format::new().set_bold();
    for (place, column) in (0..).zip(&found.columns) {
        sheet.write_string_with_format(0, place, &column.name, &bold)?;
    }
    for (line, row) in (1..).zip(&found.rows) {
        for (place, cell) in (0..).zip(walk::elements(row.as_bytes()).into_iter().flatten()) {
            match serde_json::from_slice(cell).unwrap_or_default() {
                Value::Null => {}
                Value::Bool(on) => {
                    sheet.write_boolean(line, place, on)?;
                }
                Value::Number(number) if is_exact(&number, cell) => {
                    sheet.write_number(line, place, number.as_f64().unwrap_or_default())?;
                }
                Value::String(text) => {
                    sheet.write_string(line, place, cut(&text))?;
                }
                _ => {
                    sheet.write_string(line, place, cut(&String::from_utf8_lossy(cell)))?;
                }
            }
        }
    }
    Ok(())
}

/// True if a cell holds the number as it is.
fn is_exact(number: &serde_json::Number, written: &[u8]) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => number <= MAX_EXACT,
        (None, Some(number)) => number.unsigned_abs() <= MAX_EXACT,
        // Without a fraction, it is a whole number that is too long.
        (None, None) => written.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}
