//! Makes texts fit to be placed: nothing in them that a reader cannot see, and no wider than there
//! is room.

use crate::font::{Fonts, Weight};

/// More letters have room nowhere. It bounds the work for a text of megabytes.
const MAX_LETTERS: usize = 2_000;

/// Returns `text` without control characters, marks that change the direction of what follows and
/// characters that XML forbids, on one line.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    let mut letters = 0;
    for letter in text.chars().filter(|letter| !is_unseen(*letter)) {
        if letters == MAX_LETTERS {
            cleaned.push('…');
            break;
        }
        if !letter.is_whitespace() && !letter.is_control() {
            cleaned.push(letter);
            letters += 1;
        } else if !cleaned.is_empty() && !cleaned.ends_with(' ') {
            cleaned.push(' ');
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// Returns the name of a category, also if it is empty or missing, or has nothing that can be seen.
pub(crate) fn name(text: Option<&str>) -> String {
    match text.map(clean) {
        None => "(null)".to_owned(),
        Some(_) if text == Some("") => "(empty)".to_owned(),
        Some(cleaned) if cleaned.is_empty() => "(blank)".to_owned(),
        Some(cleaned) => cleaned,
    }
}

/// Where a text that is too wide is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// In the middle: names tend to differ at either end.
    Middle,
    End,
}

/// Returns `text`, with an ellipsis for what does not fit in `room`.
pub(crate) fn shorten(
    fonts: &Fonts,
    text: &str,
    (size, weight): (f64, Weight),
    room: f64,
    cut: Cut,
) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut widths = vec![0.0];
    for letter in &letters {
        widths.push(widths[widths.len() - 1] + fonts.advance(*letter, weight) * size);
    }
    let whole = widths[letters.len()];
    if whole <= room {
        return text.to_owned();
    }
    let ellipsis = fonts.advance('…', weight) * size;
    let ends = |kept: usize| match cut {
        Cut::Middle => (kept - kept * 2 / 5, letters.len() - kept * 2 / 5),
        Cut::End => (kept, letters.len()),
    };
    let fits =
        |(head, tail): &(usize, usize)| widths[*head] + ellipsis + (whole - widths[*tail]) <= room;
    let (head, tail) = (0..letters.len()).rev().map(ends).find(fits).unwrap_or((0, letters.len()));
    let [head, tail] = [&letters[..head], &letters[tail..]].map(String::from_iter);
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Tells whether `letter` shows nothing of itself but may change what stands around it, or may not
/// stand in XML.
fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
