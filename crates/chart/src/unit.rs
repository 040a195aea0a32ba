//! What an axis measures.

use crate::numbers::Grouping;

/// What is measured along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Number(Grouping),
    /// Numbers that are never broken, such as counts.
    Whole(Grouping),
    Time,
}
