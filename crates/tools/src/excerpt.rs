//! A part of a text in which the words that were asked for stand.

use std::ops::Range;

/// So much stands before the first word that was asked for.
const BEFORE: usize = 40;
/// A word of fewer letters says little about a place.
const MIN_WORD: usize = 3;

/// About `room` characters of a text on one line, from where the words of a query stand closest; what is
/// left out is marked with `…`.
pub(crate) fn around(text: &str, query: &str, room: usize) -> String {
    let text = on_one_line(text);
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= room {
        return text;
    }
    let first = best_start(&letters, query, room);
    let start = beginning_of_word(&letters, first.saturating_sub(BEFORE).min(letters.len() - room));
    let end = (start + room).min(letters.len());
    let before = if start > 0 { "…" } else { "" };
    let behind = if end < letters.len() { "…" } else { "" };
    format!("{before}{}{behind}", letters[start..end].iter().collect::<String>().trim())
}

/// Without line breaks and what else a reader could take for more than text.
pub(crate) fn on_one_line(text: &str) -> String {
    let plain = text
        .chars()
        .filter(|letter| letter.is_whitespace() || !forebay_text::is_deceptive(*letter));
    plain.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the part begins in which most different words of the query stand.
fn best_start(letters: &[char], query: &str, room: usize) -> usize {
    let small: Vec<char> =
        letters.iter().map(|letter| letter.to_lowercase().next().unwrap_or(*letter)).collect();
    let wanted: Vec<Vec<char>> = query
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() >= MIN_WORD)
        .map(|word| word.chars().flat_map(char::to_lowercase).collect())
        .collect();
    let places = wanted.iter().enumerate().flat_map(|(word, sought)| {
        let places = small.windows(sought.len()).enumerate();
        places.filter(|(_, there)| *there == sought.as_slice()).map(move |(at, _)| (at, word))
    });
    let mut places: Vec<(usize, usize)> = places.collect();
    places.sort_unstable();
    let mut best: Option<(usize, usize)> = None;
    for (index, (start, _)) in places.iter().enumerate() {
        let within: Range<usize> = *start..start + room.saturating_sub(BEFORE);
        let near = places[index..].iter().take_while(|(at, _)| within.contains(at));
        let words: std::collections::BTreeSet<usize> = near.map(|(_, word)| *word).collect();
        if best.is_none_or(|(most, _)| words.len() > most) {
            best = Some((words.len(), *start));
        }
    }
    best.map_or(0, |(_, start)| start)
}

/// The next place from here on at which a word begins, if that is near.
fn beginning_of_word(letters: &[char], from: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let near = letters[from - 1..].iter().take(BEFORE / 2);
    near.clone().position(|letter| *letter == ' ').map_or(from, |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_told_on_one_line() {
        assert_eq!(around("one\n\ttwo \u{202e}three", "x", 40), "one two three");
    }

    #[test]
    fn the_part_with_most_of_the_words_is_shown() {
        let text = format!(
            "{} login here {} the login failed with a timeout {}",
            "a b c ".repeat(100),
            "d e f ".repeat(100),
            "g h i ".repeat(100)
        );
        let shown = around(&text, "Login timeout", 80);
        assert!(shown.contains("login failed with a timeout"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= 82, "{shown}");
        assert!(around(&text, "zebra", 80).starts_with("a b c"));
    }

    #[test]
    fn wide_letters_are_not_cut() {
        let text = "größe 数 😀 ".repeat(200);
        for room in 1..60 {
            let shown = around(&text, "größe", room);
            assert!(shown.chars().count() <= room + 2, "{room}: {shown}");
        }
        assert_eq!(around("", "x", 10), "");
        assert_eq!(around("short", "short longer than the text is", 3), "sho…");
    }
}
