//! Counts tokens as today's models do (o200k), exactly. Does no I/O.
//!
//! A text is split into [`pieces`]; a piece that is a token of the [`vocabulary`] counts once, and in any
//! other neighbours are [merged](merge) as long as they make a token. There is nothing to set up: what
//! this needs to know lies in the program, as `build.rs` wrote it.

mod layout;
mod merge;
mod pieces;
mod vocabulary;

#[cfg(test)]
mod tests;

use crate::{merge::Merger, pieces::Pieces};

/// No token is longer than this, so a text of more bytes for each token has more tokens.
pub const MAX_TOKEN_BYTES: u64 = layout::MAX_TOKEN_BYTES as u64;

/// How many tokens `text` has.
///
/// ```
/// assert_eq!(forebay_tokens::count("A proxy's tokens."), 5);
/// ```
pub fn count(text: &str) -> u64 {
    counted(text, u64::MAX)
}

/// How many tokens `text` has, if they are no more than `limit`. Stops as soon as they are more.
pub fn count_up_to(limit: u64, text: &str) -> Option<u64> {
    if text.len() as u64 > limit.saturating_mul(MAX_TOKEN_BYTES) {
        return None;
    }
    // Most of what has more has more pieces already, which are found in a fraction of the time.
    let next = usize::try_from(limit).unwrap_or(usize::MAX);
    if text.len() > next && Pieces::of(text).nth(next).is_some() {
        return None;
    }
    Some(counted(text, limit)).filter(|count| *count <= limit)
}

/// How many tokens `text` has, or its first pieces, if these have more than `limit`.
fn counted(text: &str, limit: u64) -> u64 {
    let mut merger = Merger::default();
    let mut count = 0;
    for piece in Pieces::of(text) {
        count += merger.count(piece) as u64;
        if count > limit {
            break;
        }
    }
    count
}
