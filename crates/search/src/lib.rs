//! Finds what was kept, by its words and by its meaning.
//!
//! What is kept becomes a [`Document`]: passages of text that say what it is. Their words are in an index
//! on disk, their vectors there or at a service.

mod asking;
mod background;
mod chroma;
mod columns;
mod compose;
mod database;
mod document;
mod engine;
mod error;
mod events;
mod failures;
mod finding;
mod fusion;
mod index;
mod indexing;
mod lock;
mod nearest;
mod parts;
mod quantised;
mod question;
mod removals;
mod said;
mod search;
mod settings;
mod texts;
mod vectors;
mod waiting;
mod words;

pub use chroma::{Chroma, ChromaSettings};
pub use document::{Document, Passage};
pub use engine::Search;
pub use error::{COLLECTION, ChromaError, SearchError};
pub use failures::{FAILURES, OF_CHROMA, OF_EMBEDDER};
pub use parts::{Counts, Embedders, Indexed, Parts};
pub use question::{Found, Hit, Question, Way};
pub use said::{mark, parted};
pub use settings::Settings;
pub use vectors::{Among, Near, PassageVector, Vectors};
