//! A workbook with one sheet.

use std::{io::Write as _, path::Path};

use forebay_query::{Column, Observer, Query, Selected};
use forebay_wire::walk;
use jiff::civil::{Date, DateTime, Time};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, Worksheet, XlsxError};
use serde_json::Value;

use crate::{
    Desk, ToolError,
    arguments::counted,
    error::refuse,
    export::{self, Outcome},
};

/// How many rows a sheet can have, without its header.
const MAX_ROWS: u64 = 1_048_575;
/// How much is made into a workbook: all of it is in memory for a while.
const MAX_BYTES: u64 = 200_000_000;
/// How many characters a cell can have.
const MAX_CHARS: usize = 32_767;
/// The largest whole number that a cell keeps exactly.
const MAX_EXACT: u64 = 9_007_199_254_740_992;
/// What a cell cannot keep of a time, in nanoseconds.
const MILLISECOND: i32 = 1_000_000;

/// Writes all rows of a query. Says how many there are, what a workbook cannot hold as it is, and of
/// what they are.
pub(super) fn write(
    desk: &Desk,
    query: &Query,
    file: &Path,
    observer: &dyn Observer,
) -> Result<Outcome, ToolError> {
    let found = desk.service().select(query, MAX_ROWS, MAX_BYTES, observer)?;
    if found.has_more {
        return refuse!(
            "A workbook has {MAX_ROWS} rows and {} MB at most, and there is more: choose csv or \
             parquet, or write a query for fewer rows.",
            MAX_BYTES / 1_000_000
        );
    }
    let mut book = Workbook::new();
    let filled = fill(book.add_worksheet_with_constant_memory(), &found);
    // In memory first: the library panics where a disk is full.
    let (changed, bytes) = match filled.and_then(|changed| Ok((changed, book.save_to_buffer()?))) {
        Ok(made) => made,
        Err(error) => {
            return refuse!("The workbook cannot be made: {error}. Choose csv instead.");
        }
    };
    export::create(file)?.write_all(&bytes)?;
    let mut notes = changed.told();
    notes.extend(export::without_zones(&found.columns));
    Ok(Outcome { rows: found.rows.len() as u64, notes, sources: found.sources })
}

/// How many cells are not what the query gave, by the reason.
#[derive(Debug, Default)]
struct Changed {
    long_numbers: usize,
    early_times: usize,
    fine_times: usize,
    long_texts: usize,
}

impl Changed {
    fn told(&self) -> Vec<String> {
        let notes = [
            (self.long_numbers, "number", "with more digits than a workbook keeps, as text"),
            (self.early_times, "date", "outside of 1900 to 9999, as text"),
            (self.fine_times, "time", "without what is finer than a millisecond"),
            (self.long_texts, "text", "cut at 32767 characters"),
        ];
        let told = notes.iter().filter(|(count, ..)| *count > 0);
        told.map(|(count, what, how)| format!("{} {how}", counted(count, what))).collect()
    }
}

fn fill(sheet: &mut Worksheet, found: &Selected) -> Result<Changed, XlsxError> {
    sheet.set_freeze_panes(1, 0)?;
    let mut changed = Changed::default();
    let mut formats = Vec::new();
    for (place, column) in (0..).zip(&found.columns) {
        formats.push(time_format(sheet, place, column, &found.rows)?);
    }
    let bold = Format::new().set_bold();
    for (place, column) in (0..).zip(&found.columns) {
        sheet.write_string_with_format(0, place, cut(&column.name, &mut changed), &bold)?;
    }
    for (line, row) in (1..).zip(&found.rows) {
        let cells = walk::elements(row.as_bytes()).into_iter().flatten();
        for ((place, cell), format) in (0..).zip(cells).zip(&formats) {
            fill_cell(sheet, (line, place), cell, format.as_ref(), &mut changed)?;
        }
    }
    Ok(changed)
}

/// How the times of a column are shown, which gets as much room as that needs; `None` if it holds
/// anything else.
fn time_format(
    sheet: &mut Worksheet,
    place: u16,
    column: &Column,
    rows: &[String],
) -> Result<Option<Format>, XlsxError> {
    let has_fraction = |row: &String| {
        let mut cells = walk::elements(row.as_bytes()).into_iter().flatten();
        cells.nth(usize::from(place)).is_some_and(|cell| cell.contains(&b'.'))
    };
    let (width, format) = match column.kind.as_str() {
        "DATE" => (11, "yyyy-mm-dd"),
        kind if !kind.starts_with("TIMESTAMP") => return Ok(None),
        _ if rows.iter().any(has_fraction) => (24, "yyyy-mm-dd hh:mm:ss.000"),
        _ => (20, "yyyy-mm-dd hh:mm:ss"),
    };
    sheet.set_column_width(place, width)?;
    Ok(Some(Format::new().set_num_format(format)))
}

fn fill_cell(
    sheet: &mut Worksheet,
    (line, place): (u32, u16),
    cell: &[u8],
    time_format: Option<&Format>,
    changed: &mut Changed,
) -> Result<(), XlsxError> {
    match (serde_json::from_slice(cell).unwrap_or_default(), time_format) {
        (Value::Null, _) => {}
        (Value::String(text), Some(format)) => {
            if let Some((time, is_finer)) = time(&text) {
                changed.fine_times += usize::from(is_finer);
                sheet.write_datetime_with_format(line, place, &time, format)?;
            } else {
                changed.early_times += 1;
                sheet.write_string(line, place, &text)?;
            }
        }
        (Value::Bool(on), _) => {
            sheet.write_boolean(line, place, on)?;
        }
        (Value::Number(number), _) if is_exact(&number, cell) => {
            sheet.write_number(line, place, number.as_f64().unwrap_or_default())?;
        }
        (Value::String(text), None) => {
            sheet.write_string(line, place, cut(&text, changed))?;
        }
        (other, _) => {
            changed.long_numbers += usize::from(other.is_number());
            sheet.write_string(line, place, cut(&String::from_utf8_lossy(cell), changed))?;
        }
    }
    Ok(())
}

/// A date or time as DuckDB writes it, and whether that is more exact than a workbook can be; `None`
/// if a workbook has no such date.
fn time(text: &str) -> Option<(ExcelDateTime, bool)> {
    let text = text.trim_end_matches("+00");
    let time: DateTime = if text.contains([' ', 'T']) {
        text.parse().ok()?
    } else {
        text.parse::<Date>().ok()?.to_datetime(Time::midnight())
    };
    let (year, month) = (u16::try_from(time.year()).ok()?, time.month().unsigned_abs());
    let seconds =
        f64::from(time.second()) + f64::from(time.subsec_nanosecond() / MILLISECOND) / 1_000.0;
    let date = ExcelDateTime::from_ymd(year, month, time.day().unsigned_abs()).ok()?;
    let (hour, minute) = (u16::from(time.hour().unsigned_abs()), time.minute().unsigned_abs());
    let is_finer = time.subsec_nanosecond() % MILLISECOND != 0;
    Some((date.and_hms(hour, minute, seconds).ok()?, is_finer))
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

fn cut(text: &str, changed: &mut Changed) -> String {
    let cut: String = text.chars().take(MAX_CHARS).collect();
    changed.long_texts += usize::from(cut.len() < text.len());
    cut
}
