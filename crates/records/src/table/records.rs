//! What takes the records of a text.

use super::Raw;

/// Takes records one after the other, where they lie: to describe them, or to write them down.
pub(crate) trait Records<'a> {
    /// Begins a record; `false` if its fields need not be told.
    fn record(&mut self, written: &'a [u8]) -> bool;

    /// A field of the record, whose name is a text.
    fn field(&mut self, place: usize, name: &[u8], value: Raw<'_>);

    /// The fields of the JSON object at the front of `json`, after `before` others.
    fn members(&mut self, before: usize, json: &[u8]);

    /// Passes over something that stands between the records and is none.
    fn skip(&mut self);

    /// True if what was skipped is so much that this is no table.
    fn is_mostly_skipped(&self) -> bool;
}
