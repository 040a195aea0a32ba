//! Values as the columns of the index have them.

use forebay_store::DatasetId;
use jiff::Timestamp;
use rusqlite::Row;

/// A number as the database takes it.
pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The name of a dataset.
pub(crate) fn dataset(row: &Row<'_>, column: usize) -> rusqlite::Result<DatasetId> {
    let text: String = row.get(column)?;
    DatasetId::parse(&text).ok_or_else(|| wrong(column, text))
}

/// A point in time.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let written: i64 = row.get(column)?;
    Timestamp::from_millisecond(written).map_err(|_| wrong(column, written.to_string()))
}

/// A value that cannot be right: whoever wrote it, it was not us.
fn wrong(column: usize, value: String) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, value, rusqlite::types::Type::Text)
}
