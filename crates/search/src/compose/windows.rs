//! Pieces of a text: about two hundred tokens of the model's each, with their lines, overlapping a little.

use forebay_embed::{token_count, windows};

use super::{Pieces, evenly};
use crate::Passage;

/// How many tokens a piece has at most. An embedder reads 256, the title included.
const TOKENS: usize = 200;
/// How many tokens two pieces share at most.
const SHARED: usize = 40;
/// A text of no more tokens is not cut.
const WHOLE: usize = 250;
/// No text of more bytes has so few tokens that it would not be cut.
const WHOLE_BYTES: usize = 4_000;
/// About how much text is in a piece.
const PIECE_BYTES: usize = 800;
/// A long text is looked at in stretches of so many bytes.
const STRETCH_BYTES: usize = 16 * 1024;

/// The pieces of a text that is the beginning of a payload of so many bytes; about `room`, spread over all of
/// it.
pub(super) fn pieces(text: &str, room: usize, payload_bytes: usize) -> Pieces {
    let budget = room.saturating_mul(PIECE_BYTES).max(1);
    let mut passages = Vec::new();
    let mut seen = 0;
    let stretches = if text.len() <= budget { vec![text] } else { stretches(text) };
    let chosen = evenly(stretches.len(), budget.div_ceil(STRETCH_BYTES));
    let mut lines = Lines::new(text);
    for place in chosen {
        let stretch = stretches[place];
        seen += stretch.len();
        passages.extend(cut(stretch).into_iter().map(|piece| {
            let (first, last) = (lines.of(piece), lines.of(&piece[piece.len()..]));
            Passage { text: piece.to_owned(), lines: Some((first, last)), block: None }
        }));
    }
    let each = seen.checked_div(passages.len()).unwrap_or(1).max(1);
    let unseen = payload_bytes.max(text.len()) - seen;
    // A text that says nothing has nothing left out.
    let left_out = if text.is_empty() { 0 } else { unseen / each };
    Pieces { passages, left_out: left_out as u64 }
}

/// Cuts a text into pieces.
pub(super) fn cut(text: &str) -> Vec<&str> {
    let whole = text.trim();
    if whole.is_empty() {
        return Vec::new();
    }
    if whole.len() <= WHOLE_BYTES && token_count(whole) <= WHOLE {
        return vec![whole];
    }
    windows(text, TOKENS, SHARED).into_iter().filter_map(|place| text.get(place)).collect()
}

/// The stretches of a long text, each of whole lines if they are not too long.
fn stretches(text: &str) -> Vec<&str> {
    let mut stretches = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(STRETCH_BYTES);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        if end < rest.len() {
            end = rest[..end].rfind('\n').map_or(end, |line| line + 1);
        }
        let (stretch, behind) = rest.split_at(end);
        stretches.push(stretch);
        rest = behind;
    }
    stretches
}

/// The numbers of lines, found by going on from the last one that was asked for.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    before: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, offset: 0, before: 0 }
    }

    /// The number of the line that a part of the text begins on.
    fn of(&mut self, part: &str) -> u64 {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        // Pieces overlap: the next one begins before the last one's end.
        if offset >= self.offset {
            self.before += count(&self.text[self.offset..offset]);
        } else {
            self.before -= count(&self.text[offset..self.offset]);
        }
        self.offset = offset;
        self.before + 1
    }
}
