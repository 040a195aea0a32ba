//! The pieces of words that the model knows. A piece's number is its line.

use std::{cmp::Ordering, sync::LazyLock};

/// What begins a piece that goes on with a word.
const GOING_ON: &str = "##";

/// No piece has more bytes.
const MAX_PIECE_BYTES: usize = 18;

static TEXT: &str = include_str!("../../vocabulary.txt");

/// The pieces in the order of their bytes. A table of hashes would take ten times the memory, in every process
/// that has ever cut a text.
pub(super) struct Vocabulary {
    /// Where the line of each number begins.
    lines: Vec<u32>,
    /// The numbers, in the order of their pieces.
    sorted: Vec<u16>,
}

impl Vocabulary {
    pub(super) fn get() -> &'static Self {
        static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::read);
        &VOCABULARY
    }

    /// The number of a piece that a word begins with.
    pub(super) fn beginning(&self, piece: &str) -> Option<u16> {
        self.number(&[piece.as_bytes()])
    }

    /// The number of a piece that a word goes on with.
    pub(super) fn going_on(&self, piece: &str) -> Option<u16> {
        self.number(&[GOING_ON.as_bytes(), piece.as_bytes()])
    }

    fn read() -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in TEXT.split_inclusive('\n') {
            lines.push(start);
            start += u32::try_from(line.len()).unwrap_or_default();
        }
        let mut vocabulary = Self { lines, sorted: Vec::new() };
        let mut sorted: Vec<u16> =
            (0..vocabulary.lines.len()).filter_map(|it| it.try_into().ok()).collect();
        sorted.sort_unstable_by_key(|number| vocabulary.piece(*number));
        vocabulary.sorted = sorted;
        vocabulary
    }

    fn piece(&self, number: u16) -> &'static [u8] {
        let start = self.lines.get(usize::from(number)).map_or(TEXT.len(), |start| *start as usize);
        let rest = &TEXT.as_bytes()[start..];
        rest.split(|byte| *byte == b'\n').next().unwrap_or_default()
    }

    fn number(&self, parts: &[&[u8]]) -> Option<u16> {
        if parts.iter().map(|part| part.len()).sum::<usize>() > MAX_PIECE_BYTES {
            return None;
        }
        let found = self.sorted.binary_search_by(|number| compared(self.piece(*number), parts));
        self.sorted.get(found.ok()?).copied()
    }
}

/// How a piece compares with what these parts make.
fn compared(piece: &[u8], parts: &[&[u8]]) -> Ordering {
    piece.iter().cmp(parts.iter().copied().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_found_under_its_number() {
        let vocabulary = Vocabulary::get();
        let mut count = 0;
        for (number, piece) in TEXT.lines().enumerate() {
            let found = match piece.strip_prefix(GOING_ON) {
                Some(rest) if !rest.is_empty() => vocabulary.going_on(rest),
                Some(_) | None => vocabulary.beginning(piece),
            };
            assert_eq!(found.map(usize::from), Some(number), "{piece}");
            count += 1;
        }
        assert_eq!(count, 30_522);
        assert_eq!(vocabulary.beginning("forebay"), None);
    }
}
