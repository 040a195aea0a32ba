//! What is known of a dataset by the index.

use forebay_store::{DatasetId, Principal};
use jiff::Timestamp;

/// What is found by its passages.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The dataset that it stands for.
    pub dataset: DatasetId,
    /// For whom that was kept.
    pub principal: Principal,
    /// Where it came from.
    pub server: String,
    /// What made it.
    pub tool: String,
    /// When it was kept.
    pub kept: Timestamp,
    /// How long its payloads are.
    pub bytes: u64,
    /// One sentence about it.
    pub title: String,
    /// What it is found by.
    pub passages: Vec<Passage>,
}

/// A piece of text that something is found by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passage {
    /// The text itself.
    pub text: String,
    /// The first and the last line of the payload that it is from, from 1 on; `None` if it is about the whole.
    pub lines: Option<(u64, u64)>,
    /// Which payload that is, if not the main one.
    pub block: Option<usize>,
}
