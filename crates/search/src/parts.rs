//! What a search is made of, and what it tells of itself.

use std::sync::Arc;

use forebay_embed::Embedder;

use crate::Vectors;

/// What a search is made of, besides words. Without embedders it goes by words alone.
#[derive(Default, Clone)]
pub struct Parts {
    /// What makes vectors.
    pub embedders: Option<Embedders>,
    /// Where vectors are; `None` is in the index itself.
    pub vectors: Option<Arc<dyn Vectors>>,
}

/// What makes vectors: the same model on two ways, so that a question does not wait for what is indexed.
#[derive(Clone)]
pub struct Embedders {
    /// For questions, which somebody waits for.
    pub queries: Arc<dyn Embedder>,
    /// For what is indexed, which gives way to everything else.
    pub indexing: Arc<dyn Embedder>,
}

/// What indexing has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    /// How many datasets are new in the index, or new again.
    pub documents: u64,
    /// How many of them are found by their meaning now.
    pub with_vectors: u64,
    /// How many are in the index no more.
    pub removed: u64,
    /// How many could not be read.
    pub failed: u64,
    /// Why there are no vectors of some, if that is so.
    pub without_vectors: Option<String>,
    /// Whether more can be done once what makes vectors, or keeps them, works again.
    pub is_held_up: bool,
}

/// How much is in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many datasets.
    pub documents: u64,
    /// How many passages of them.
    pub passages: u64,
    /// How many passages were left out, about, because a dataset has too many.
    pub left_out: u64,
    /// How many passages are found by their meaning, too.
    pub vectors: u64,
    /// How many datasets have no vectors yet.
    pub without_vectors: u64,
    /// How many others have none, since their texts have been refused time and again.
    pub refused: u64,
    /// How many datasets have been kept that are not in the index yet.
    pub waiting: u64,
    /// How often something could not be indexed.
    pub failures: u64,
    /// How much of the disk it takes.
    pub bytes: u64,
}
