//! What a payload is: its form, its tables, every field's facts, its rows and its tokens.
//!
//! Pure but for threads: nothing is kept here, and no setting is read. [`intercept`] says what it finds
//! in a summary, [`query`] makes rows of it.
//!
//! ```text
//! profile ─▶ shape ─▶ table     what a payload is, by its form; the facts of its records
//!    rows ─▶ shape ─▶ table     the same records, written down for a database
//! ```
//!
//! [`intercept`]: ../forebay_intercept/index.html
//! [`query`]: ../forebay_query/index.html

mod parallel;
mod profile;
mod rows;
mod shape;
mod strings;
mod table;
mod tokens;

use forebay_store::{Facts, Mapped};

pub use parallel::both;
pub use profile::{Inference, Outline, Profile, profile};
pub use rows::{Written, write_lines, write_rows};
pub use shape::{Counts, Format};
pub use strings::text_of;
pub use table::{
    Carried, Count, Entries, Field, InnerForm, Items, Kind, Nested, Table, Within, shorten_to_fit,
};
pub use tokens::Tokenizer;

/// What a payload is: its form, its tables, and every field's facts.
pub fn describe(payload: &Mapped) -> Facts {
    profile::of_payload(0, payload, Inference::default()).facts()
}

/// How many tokens `text` has for today's models (o200k).
pub fn tokens(text: &str) -> u64 {
    tokens::of(text)
}

/// [`tokens`], if they are no more than `limit`. A text of many more takes no longer.
pub fn tokens_up_to(limit: u64, text: &str) -> Option<u64> {
    tokens::up_to(limit, text)
}
