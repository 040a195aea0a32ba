//! A text as the model reads it: the numbers of pieces of words.
//!
//! This is what BERT without case does. Control characters are dropped; letters lose their case and their
//! accents; white space ends a word; punctuation marks and ideographs are words by themselves. Each word is
//! then cut into the longest pieces that the vocabulary has, from its beginning on. What `[SEP]` and its kind
//! mean to the model they do not mean in a text: there they are letters between brackets.

mod characters;
mod vocabulary;

use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

use self::{characters::Characters, vocabulary::Vocabulary};

/// How many pieces of a text the model looks at, with the marks of its beginning and its end.
pub const MAX_TOKENS: usize = 256;

/// A longer word is unknown.
pub(crate) const MAX_WORD_CHARS: usize = 100;

/// How many bytes of a text are looked at. Words of some length fill [`MAX_TOKENS`] much sooner.
const MAX_TEXT_BYTES: usize = 16 << 10;

const UNKNOWN: u16 = 100;
const BEGINNING: u16 = 101;
const END: u16 = 102;

/// How many pieces a text has, without the marks of its beginning and its end, however long it is.
pub fn token_count(text: &str) -> usize {
    let mut count = 0;
    let mut pieces = Vec::new();
    words(text, |word| {
        pieces.clear();
        word.pieces(&mut pieces);
        count += pieces.len();
    });
    count
}

/// The numbers of the pieces that the model looks at.
pub(crate) fn tokens(text: &str) -> Vec<u16> {
    let mut tokens = vec![BEGINNING];
    words(shortened(text), |word| {
        if tokens.len() < MAX_TOKENS {
            word.pieces(&mut tokens);
        }
    });
    tokens.truncate(MAX_TOKENS - 1);
    tokens.push(END);
    tokens
}

/// The part of a text that is looked at.
pub(crate) fn shortened(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A word of a text.
pub(crate) struct Word<'a> {
    /// Where in the text it is, in bytes.
    pub(crate) place: Range<usize>,
    /// How many characters it has, once its accents are gone.
    pub(crate) chars: usize,
    /// Without case and accents, and no more of it than a known word can have.
    letters: &'a str,
}

impl Word<'_> {
    /// Adds the pieces of the word; if it is not made of any, that it is unknown.
    pub(crate) fn pieces(&self, pieces: &mut Vec<u16>) {
        let before = pieces.len();
        if self.chars > MAX_WORD_CHARS || !cut(self.letters, pieces) {
            pieces.truncate(before);
            pieces.push(UNKNOWN);
        }
    }
}

/// Gives the words of a text one after the other.
pub(crate) fn words(text: &str, mut then: impl FnMut(&Word<'_>)) {
    let characters = Characters::get();
    let mut open = Open::default();
    for (start, character) in text.char_indices() {
        if characters.are_removed(character) {
            continue;
        }
        let end = start + character.len_utf8();
        if character.is_whitespace() {
            open.close(&mut then);
            continue;
        }
        let is_apart = characters.are_ideographs(character);
        if is_apart {
            open.close(&mut then);
        }
        decompose_canonical(character, |part| {
            if characters.are_marks(part) {
                return;
            }
            for letter in part.to_lowercase() {
                if letter.is_whitespace() {
                    open.close(&mut then);
                } else if characters.are_punctuation(letter) {
                    open.close(&mut then);
                    open.add(letter, start..end);
                    open.close(&mut then);
                } else {
                    open.add(letter, start..end);
                }
            }
        });
        if is_apart {
            open.close(&mut then);
        }
    }
    open.close(&mut then);
}

/// A word that may go on.
#[derive(Default)]
struct Open {
    letters: String,
    chars: usize,
    place: Range<usize>,
}

impl Open {
    fn add(&mut self, letter: char, place: Range<usize>) {
        if self.chars == 0 {
            self.place.start = place.start;
        }
        self.place.end = place.end;
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.letters.push(letter);
        }
    }

    fn close(&mut self, then: &mut impl FnMut(&Word<'_>)) {
        if self.chars > 0 {
            then(&Word { place: self.place.clone(), chars: self.chars, letters: &self.letters });
        }
        self.letters.clear();
        self.chars = 0;
    }
}

/// Cuts a word into the longest pieces that there are. False if there are none for a part of it.
fn cut(word: &str, pieces: &mut Vec<u16>) -> bool {
    let vocabulary = Vocabulary::get();
    let mut rest = word;
    while !rest.is_empty() {
        let is_first = rest.len() == word.len();
        let longest = rest.char_indices().rev().find_map(|(at, character)| {
            let end = at + character.len_utf8();
            let piece = &rest[..end];
            let number =
                if is_first { vocabulary.beginning(piece) } else { vocabulary.going_on(piece) };
            number.map(|number| (number, end))
        });
        let Some((number, end)) = longest else { return false };
        pieces.push(number);
        rest = &rest[end..];
    }
    true
}

#[cfg(test)]
mod tests;
