//! Where vectors are kept, and the nearest ones found.

use std::{collections::HashSet, sync::Arc};

use forebay_store::{DatasetId, Principal};
use jiff::Timestamp;

use crate::{Document, SearchError};

/// What the index itself is called, as the place where vectors are.
pub(crate) const HERE: &str = "here";

/// The vector of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVector {
    /// Which passage of its document it is.
    pub passage: usize,
    /// Of length one.
    pub vector: Vec<f32>,
}

/// A passage that lies near.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// Whose it is.
    pub dataset: DatasetId,
    /// Which passage of its document it is.
    pub passage: usize,
    /// The cosine of the angle between the two.
    pub similarity: f32,
}

/// Which passages are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Among {
    /// For whom they were kept.
    pub principal: Principal,
    /// Where they came from, if that matters.
    pub server: Option<String>,
    /// What made them, if that matters.
    pub tool: Option<String>,
    /// Not kept before this, if that matters.
    pub since: Option<Timestamp>,
    /// Kept before this, if that matters.
    pub until: Option<Timestamp>,
    /// Of payloads of so many bytes or more, if that matters.
    pub min_bytes: Option<u64>,
    /// Of these alone, if that matters.
    pub within: Option<Arc<HashSet<DatasetId>>>,
}

/// Vectors of one model. They may lie in the store, or at a service that many share.
pub trait Vectors: Send + Sync {
    /// Where they are. What is elsewhere is not here: after a change of the place they are made again.
    fn place(&self) -> String;

    /// Keeps those of a document, in the place of what was there of the same dataset.
    fn put(&self, document: &Document, vectors: &[PassageVector]) -> Result<(), SearchError>;

    /// Forgets those of datasets that are no more.
    fn remove(&self, datasets: &[DatasetId]) -> Result<(), SearchError>;

    /// Sees to it that vectors like `sample`, if it gives one, can be put, before all are put again. What others
    /// have put there stays, unless it is in the way.
    fn make_room(&self, sample: &dyn Fn() -> Option<Vec<f32>>) -> Result<(), SearchError>;

    /// The nearest passages, the nearest first, `limit` at most.
    fn nearest(
        &self,
        vector: &[f32],
        among: &Among,
        limit: usize,
    ) -> Result<Vec<Near>, SearchError>;

    /// The vector of a passage, if it is there.
    fn of(&self, dataset: &DatasetId, passage: usize) -> Result<Option<Vec<f32>>, SearchError>;
}
