//! How what was kept is found by its words and its meaning.

use std::time::Duration;

use forebay_search::Settings;

/// Whether what is kept is indexed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) is_enabled: bool,
    pub(crate) quiet: Duration,
    pub(crate) max_passages: usize,
    pub(crate) max_vectors: usize,
    pub(crate) idle: Duration,
    pub(crate) embedder: Embedding,
    /// Where the service is that makes vectors.
    pub(crate) embedder_url: Option<String>,
    /// What that service calls its model.
    pub(crate) embedder_model: Option<String>,
    /// The variable that holds its key.
    pub(crate) embedder_key_variable: Option<String>,
    /// A Chroma server for the vectors; `None` is in the store.
    pub(crate) chroma_url: Option<String>,
}

/// What makes vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Embedding {
    /// The model that is part of the program.
    #[default]
    Inside,
    /// A service.
    Service,
    /// Nothing: words are enough.
    None,
}

impl Default for Search {
    fn default() -> Self {
        let Settings { quiet, max_passages, max_vectors, idle, .. } = Settings::default();
        Self {
            is_enabled: true,
            quiet,
            max_passages,
            max_vectors,
            idle,
            embedder: Embedding::default(),
            embedder_url: None,
            embedder_model: None,
            embedder_key_variable: None,
            chroma_url: None,
        }
    }
}

impl Search {
    /// How much is indexed, and when.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            quiet: self.quiet,
            max_passages: self.max_passages,
            max_vectors: self.max_vectors,
            idle: self.idle,
            ..Settings::default()
        }
    }
}
