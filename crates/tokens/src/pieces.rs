//! Splits a text into the pieces that are encoded one by one, as o200k's pattern does.
//!
//! The pattern's alternatives, of which the first that matches is taken, written with the sets of
//! [`crate::layout::set`]:
//!
//! ```text
//! LEAD? UPPER* LOWER+ (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! LEAD? UPPER+ LOWER* (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! NUMBER{1,3}
//! [ ]? SYMBOL+ [\r\n/]*
//! \s* [\r\n]+
//! \s+ (?!\S)
//! \s+
//! ```

use crate::layout::{
    PAGE_CHARACTERS,
    set::{BREAK, BREAK_OR_SLASH, LEAD, LOWER, NUMBER, SPACE, SYMBOL, UPPER},
};

/// Of each page of Unicode, which of [`PAGES`] it is.
static PAGE_NUMBERS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page_numbers"));
/// The sets of each character of a page.
static PAGES: &[[u8; PAGE_CHARACTERS]] =
    include_bytes!(concat!(env!("OUT_DIR"), "/pages")).as_chunks().0;

const MAX_DIGITS: usize = 3;

/// The pieces of a text, which are all of it.
pub(crate) struct Pieces<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, start: 0 }
    }

    /// Where the piece ends that begins at `start`.
    fn end(&self, start: usize) -> usize {
        let (sets, length) = self.at(start);
        if sets & (UPPER | LOWER) != 0 {
            return self.word_end(start);
        }
        let next = start + length;
        let (next_sets, _) = self.at(next);
        if sets & LEAD != 0 && next_sets & (UPPER | LOWER) != 0 {
            return self.word_end(next);
        }
        if sets & NUMBER != 0 {
            return self.number_end(next);
        }
        let is_blank = self.text.as_bytes()[start] == b' ';
        if sets & SYMBOL != 0 || is_blank && next_sets & SYMBOL != 0 {
            return self.run_end(BREAK_OR_SLASH, self.run_end(SYMBOL, next));
        }
        self.space_end(start)
    }

    /// The first two alternatives, from where a letter or a mark is.
    ///
    /// A mark could also be the lead, but then the word ends where it ends with the mark as its first
    /// letter.
    fn word_end(&self, start: usize) -> usize {
        let mut end = start;
        // After the last one among the upper that is lower as well.
        let mut either_end = None;
        loop {
            let (sets, length) = self.at(end);
            if sets & UPPER == 0 {
                let has_lower = sets & LOWER != 0;
                let end =
                    if has_lower { self.run_end(LOWER, end) } else { either_end.unwrap_or(end) };
                return end + self.contraction(end);
            }
            end += length;
            if sets & LOWER != 0 {
                either_end = Some(end);
            }
        }
    }

    /// How long the contraction is that stands at `start`, or 0.
    fn contraction(&self, start: usize) -> usize {
        let Some([b'\'', rest @ ..]) = self.text.as_bytes().get(start..) else { return 0 };
        match rest {
            [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
            [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => 3,
            // U+017F, the long s, is an s if case is ignored.
            [0xc5, 0xbf, ..] => 3,
            _ => 0,
        }
    }

    /// Where a number ends whose first digit ends at `next`.
    fn number_end(&self, next: usize) -> usize {
        let mut end = next;
        for _ in 1..MAX_DIGITS {
            let (sets, length) = self.at(end);
            if sets & NUMBER == 0 {
                break;
            }
            end += length;
        }
        end
    }

    /// The alternatives for white space: up to its last line break; else all of it at the end of the
    /// text; else all but its last character, which belongs to what follows, unless it is the only one.
    fn space_end(&self, start: usize) -> usize {
        let (mut end, mut last) = (start, start);
        let mut break_end = None;
        loop {
            let (sets, length) = self.at(end);
            if sets & SPACE == 0 {
                break;
            }
            last = end;
            end += length;
            if sets & BREAK != 0 {
                break_end = Some(end);
            }
        }
        match break_end {
            Some(break_end) => break_end,
            None if end == self.text.len() || last == start => end,
            None => last,
        }
    }

    /// Where the characters of `set` end that begin at `start`.
    fn run_end(&self, set: u8, start: usize) -> usize {
        let mut end = start;
        loop {
            let (sets, length) = self.at(end);
            if sets & set == 0 {
                return end;
            }
            end += length;
        }
    }

    /// The sets of the character at `place` and how many bytes it has. The end of the text is in none.
    #[inline]
    fn at(&self, place: usize) -> (u8, usize) {
        match self.text.as_bytes().get(place) {
            None => (0, 0),
            Some(byte) if byte.is_ascii() => (PAGES[0][usize::from(*byte)], 1),
            Some(_) => self.wide_at(place),
        }
    }

    fn wide_at(&self, place: usize) -> (u8, usize) {
        let Some(character) = self.text[place..].chars().next() else { return (0, 0) };
        let code = character as usize;
        let page = PAGE_NUMBERS[code / PAGE_CHARACTERS];
        (PAGES[usize::from(page)][code % PAGE_CHARACTERS], character.len_utf8())
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.start == self.text.len() {
            return None;
        }
        let end = self.end(self.start);
        let piece = &self.text.as_bytes()[self.start..end];
        self.start = end;
        Some(piece)
    }
}
