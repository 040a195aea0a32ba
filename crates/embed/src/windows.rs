//! Cuts a text into parts that the model can take at once.

use std::ops::Range;

use crate::tokenize::{self, MAX_WORD_CHARS};

/// Blanks between two words that count as one piece: a part has no end of them.
const BLANK_BYTES: usize = 64;

/// Characters of a word that is too long to be known, of which one piece is counted.
const UNKNOWN_CHARS: usize = 4;

/// The parts of a text that have at most `tokens` pieces each, as places in it, in their order.
///
/// They end where a paragraph, a line or a sentence does if one ends in their second half, and begin and end
/// with a word. Each shares up to `overlap` pieces with the one before, again from the beginning of a line or a
/// sentence on if there is one. All words of the text are in one of them. A single word that has more pieces is
/// a part by itself.
pub fn windows(text: &str, tokens: usize, overlap: usize) -> Vec<Range<usize>> {
    let atoms = atoms(text);
    let mut windows = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < atoms.len() {
        let full = reach(&atoms, start, tokens);
        end = if full == atoms.len() { full } else { best_end(&atoms, start, end, full) };
        windows.push(atoms[start].place.start..atoms[end - 1].place.end);
        if let Some(next) = atoms.get(end) {
            let overlap = overlap.min(tokens.saturating_sub(next.pieces));
            start = next_start(&atoms, start, end, overlap);
        }
    }
    windows
}

/// What is not cut: a word, or a part of one that is very long.
struct Atom {
    place: Range<usize>,
    /// How many pieces it counts for, with the blanks before it.
    pieces: usize,
    /// What comes to its end right before it.
    before: Boundary,
}

/// What lies between two words, the better place to cut the greater it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Boundary {
    Nothing,
    Blank,
    Sentence,
    Line,
    Paragraph,
}

fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    let mut pieces = Vec::new();
    tokenize::words(text, |word| {
        let last = atoms.last().map_or(0, |atom| atom.place.end);
        let is_first = atoms.is_empty();
        // An ideograph may be made of several characters, which are in one place.
        let between = text.get(last..word.place.start).unwrap_or_default();
        let before = if is_first { Boundary::Nothing } else { boundary(&text[..last], between) };
        let blanks = if is_first { 0 } else { between.len() / BLANK_BYTES };
        if word.chars > MAX_WORD_CHARS {
            for (number, place) in parts(text, &word.place).into_iter().enumerate() {
                let (before, blanks) =
                    if number == 0 { (before, blanks) } else { (Boundary::Nothing, 0) };
                atoms.push(Atom { place, pieces: MAX_WORD_CHARS / UNKNOWN_CHARS + blanks, before });
            }
            return;
        }
        pieces.clear();
        word.pieces(&mut pieces);
        atoms.push(Atom { place: word.place.clone(), pieces: pieces.len() + blanks, before });
    });
    atoms
}

/// The parts of a word that is too long, of [`MAX_WORD_CHARS`] each.
fn parts(text: &str, place: &Range<usize>) -> Vec<Range<usize>> {
    let word = text.get(place.clone()).unwrap_or_default();
    let mut starts: Vec<usize> =
        word.char_indices().step_by(MAX_WORD_CHARS).map(|(at, _)| place.start + at).collect();
    starts.push(place.end);
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn boundary(before: &str, between: &str) -> Boundary {
    match between.matches('\n').count() {
        0 if !between.contains(char::is_whitespace) => match before.chars().next_back() {
            Some('。' | '！' | '？') => Boundary::Sentence,
            _ => Boundary::Nothing,
        },
        0 if before.ends_with(['.', '!', '?', '。', '！', '？']) => Boundary::Sentence,
        0 => Boundary::Blank,
        1 => Boundary::Line,
        _ => Boundary::Paragraph,
    }
}

/// The end of what fits from `start` on: at least one atom.
fn reach(atoms: &[Atom], start: usize, tokens: usize) -> usize {
    let mut sum = 0;
    let fitting = atoms[start..].iter().take_while(|atom| {
        sum += atom.pieces;
        sum <= tokens
    });
    start + fitting.count().max(1)
}

/// The best place to end in the second half of what fits, and behind the end of the part before; the last of
/// several.
fn best_end(atoms: &[Atom], start: usize, before: usize, full: usize) -> usize {
    let half = start + (full - start).div_ceil(2);
    (half.max(before + 1)..=full).max_by_key(|end| atoms[*end].before).unwrap_or(full)
}

/// Where the part behind one begins: with the last pieces of it, but not with all.
fn next_start(atoms: &[Atom], start: usize, end: usize, overlap: usize) -> usize {
    let mut sum = 0;
    let shared = atoms[start + 1..end].iter().rev().take_while(|atom| {
        sum += atom.pieces;
        sum <= overlap
    });
    let earliest = end - shared.count();
    // The first of the best, so that as much as possible is shared.
    (earliest..=end).rev().max_by_key(|at| atoms[*at].before).unwrap_or(end)
}

#[cfg(test)]
mod tests;
