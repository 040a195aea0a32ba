//! Texts of others, so that what cannot be seen in them is.
//!
//! A character that hides itself or reorders what stands around it is shown by its number, and a name that
//! is empty has a word in its place.

use forebay_text::is_deceptive;

/// What stands in the place of a text without any letter.
const EMPTY: &str = "“empty”";

/// A name, or a short text that stands by itself.
pub(crate) fn named(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    if text.trim().is_empty() { EMPTY.to_owned() } else { visible(text) }
}

/// A text with its lines and tabs, and with numbers for what cannot be seen.
pub(crate) fn visible(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let shown = |letter: char| match letter {
        hidden if is_hidden(hidden) => format!("⟨U+{:04X}⟩", u32::from(hidden)),
        plain => plain.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Those between the parts of one emoji, or of one word in some scripts, belong to what is seen.
fn is_hidden(letter: char) -> bool {
    is_deceptive(letter) && !matches!(letter, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(visible("a\u{202e}b\u{7}"), "a⟨U+202E⟩b⟨U+0007⟩");
        assert_eq!(visible("größe\n\t👩\u{200d}💻"), "größe\n\t👩\u{200d}💻");
        assert_eq!((named(""), named(" \t")), (EMPTY.to_owned(), EMPTY.to_owned()));
        assert_eq!(named("\u{202e}txt"), "⟨U+202E⟩txt");
    }
}
