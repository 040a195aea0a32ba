//! What is looked for, and what was found.

use std::{collections::HashSet, sync::Arc};

use forebay_store::DatasetId;
use jiff::Timestamp;

use crate::Passage;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// In words, or in a sentence.
    pub text: String,
    /// How many datasets are wanted.
    pub limit: usize,
    /// Where they came from, if that matters.
    pub server: Option<String>,
    /// What made them, if that matters.
    pub tool: Option<String>,
    /// Not kept before this, if that matters.
    pub since: Option<Timestamp>,
    /// Kept before this, if that matters.
    pub until: Option<Timestamp>,
    /// With payloads of so many bytes or more, if that matters.
    pub min_bytes: Option<u64>,
    /// Only these, if that matters: what the index does not know, such as tags, is looked up before.
    pub within: Option<Arc<HashSet<DatasetId>>>,
}

/// How it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// By words alone.
    Words,
    /// By meaning alone.
    Meaning,
    /// By both.
    #[default]
    Both,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How many datasets have been kept that are not in the index yet.
    pub waiting: u64,
    /// How many datasets are found by their words alone so far, because their vectors are still to be made.
    pub without_vectors: u64,
    /// How many others are, since no vectors can be made of their texts.
    pub refused: u64,
    /// Why it was looked for by words alone, if it was.
    pub by_words_alone: Option<String>,
}

/// A dataset that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Which.
    pub dataset: DatasetId,
    /// How well it fits, from 0 to 1.
    pub score: f32,
    /// The sentence about it.
    pub title: String,
    /// What of it fits best.
    pub passage: Passage,
    /// How many passages of it are not in the index, about: it has too many.
    pub left_out: u64,
}
