//! Text without the sequences that colour it in a terminal: a word is a word, whatever its colour.

use std::borrow::Cow;

const ESCAPE: char = '\x1B';

/// The text without them. Its lines stay what they were.
pub(super) fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut rest = &*text;
    let mut left = String::with_capacity(text.len());
    while let Some(start) = rest.find(ESCAPE) {
        left.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        rest = &rest[length(rest)..];
    }
    left.push_str(rest);
    left.into()
}

/// How long a sequence is, without the escape that it begins with.
fn length(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, '[')) => {
            let is_inside = |character: &char| matches!(character, ' '..='?');
            match characters.find(|(_, character)| !is_inside(character)) {
                Some((at, '@'..='~')) => at + 1,
                // Broken off.
                Some((at, _)) => at,
                None => text.len(),
            }
        }
        Some((_, '(' | ')' | '7' | '8' | '=' | '>' | 'c')) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_and_lines_stay() {
        let told = |text: &str| plain(text.to_owned().into()).into_owned();
        assert_eq!(told("\x1B[31mERROR\x1B[0m \x1B[1;33mzebra\x1B[0m\nnext"), "ERROR zebra\nnext");
        assert_eq!(told("no colour"), "no colour");
        assert_eq!(told("ends \x1B[31"), "ends ");
        assert_eq!(told("broken \x1B[3\nnext \x1B"), "broken \nnext ");
        assert_eq!(told("\x1Bé"), "é");
    }
}
