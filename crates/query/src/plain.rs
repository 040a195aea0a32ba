//! Names that others have given, as they can be told to a model or shown on a terminal.

use forebay_text::is_deceptive;

/// How much of a name is told.
const MAX_CHARS: usize = 80;

/// A name without anything that could be taken for more than a name: what deceives is written as its
/// code, and what is long is cut.
pub fn plain(name: &str) -> String {
    let mut plain: String = name.chars().take(MAX_CHARS).map(told).collect();
    if name.chars().nth(MAX_CHARS).is_some() {
        plain.push('…');
    }
    plain
}

/// A text of several lines, with all else as in [`plain`].
pub fn plain_lines(text: &str) -> String {
    let line = |line: &str| line.chars().map(told).collect::<String>();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn told(character: char) -> String {
    if is_deceptive(character) {
        character.escape_unicode().to_string()
    } else {
        character.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_nothing_but_a_name() {
        assert_eq!(plain("unit price"), "unit price");
        assert_eq!(plain("größe 数 😀"), "größe 数 😀");
        assert_eq!(plain("a\nb\u{1b}[2J"), r"a\u{a}b\u{1b}[2J");
        assert_eq!(plain("\u{202e}txt\u{2066}"), r"\u{202e}txt\u{2066}");
        let long = plain(&"x".repeat(5_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (81, true));
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(plain_lines("a\nb\tc\u{7}"), "a\nb\\u{9}c\\u{7}");
    }
}
