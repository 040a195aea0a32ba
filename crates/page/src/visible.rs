//! Texts of others, so that what cannot be seen in them is.
//!
//! A character that hides itself or reorders what stands around it is shown by its number, and a name that
//! is empty has a word in its place.

use forebay_text::is_deceptive;

/// What stands in the place of an empty text.
const EMPTY: &str = "“empty”";

/// A name, or a short text that stands by itself.
pub(crate) fn named(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    match text.trim() {
        _ if text.is_empty() => EMPTY.to_owned(),
        // Blanks alone differ from nothing, and from each other.
        "" => text.chars().map(by_number).collect(),
        _ => visible(text),
    }
}

/// A text with its lines and tabs, and with numbers for what cannot be seen.
pub(crate) fn visible(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let shown = |letter| if is_hidden(letter) { by_number(letter) } else { String::from(letter) };
    text.chars().map(shown).collect()
}

fn by_number(letter: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(letter))
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
        assert_eq!((named("").as_str(), named(" \t").as_str()), (EMPTY, "⟨U+0020⟩⟨U+0009⟩"));
        assert_eq!(named("\u{202e}txt"), "⟨U+202E⟩txt");
    }
}
