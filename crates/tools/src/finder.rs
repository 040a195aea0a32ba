//! Whoever finds what was kept by its words and its meaning.

use forebay_search::{Found, Question, Search, SearchError};
use forebay_store::Viewer;

/// Finds what was kept, and tells which of some texts are nearest to a question.
pub trait Finder: Send + Sync {
    /// The datasets that fit a question best, of those that `viewer` may see.
    fn find(&self, question: &Question, viewer: &Viewer) -> Result<Found, SearchError>;

    /// How near each of `texts` is to what is asked, from 0 to 1; `None` if that cannot be told at once.
    fn rank(&self, query: &str, texts: &[&str]) -> Option<Vec<f32>>;
}

impl Finder for Search {
    fn find(&self, question: &Question, viewer: &Viewer) -> Result<Found, SearchError> {
        Search::find(self, question, viewer)
    }

    fn rank(&self, query: &str, texts: &[&str]) -> Option<Vec<f32>> {
        Search::rank(self, query, texts)
    }
}
