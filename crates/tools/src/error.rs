//! Why a tool cannot do what it was asked, in words that say what to try. A model reads them.

use std::io;

use forebay_chart::ChartError;
use forebay_proxy::chain::with_causes;
use forebay_query::QueryError;
use forebay_search::SearchError;
use forebay_store::StoreError;

/// Why a tool could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// What was asked for cannot be: what is wrong, and what to try.
    #[error("{0}")]
    Refused(String),
    /// What was named is not there: what is missing, and what there is.
    #[error("{0}")]
    NotFound(String),
    /// The query could not run.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chart could not be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// Nothing could be found.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A file could not be used.
    #[error("a file could not be used")]
    File(#[from] io::Error),
}

impl ToolError {
    /// What is wrong, with all causes, as one text.
    pub fn told(&self) -> String {
        // It may hold names and values of the data.
        let text = forebay_query::plain_lines(&with_causes(self));
        // What was written for a model begins as it should.
        if matches!(self, Self::Refused(_) | Self::NotFound(_) | Self::Query(_)) {
            return text;
        }
        let mut letters = text.chars();
        let word = text.split_whitespace().next().unwrap_or_default();
        match letters.next() {
            // A name stays as it is.
            Some(first) if word.chars().all(char::is_alphabetic) => {
                first.to_uppercase().chain(letters).collect()
            }
            _ => text,
        }
    }
}

/// Refuses with a text that is put together like `format!`.
macro_rules! refuse {
    ($($text:tt)*) => { Err($crate::ToolError::Refused(format!($($text)*))) };
}
pub(crate) use refuse;
