//! Texts whose order readers know: months, weekdays, quarters, and what begins with a number.

use std::net::IpAddr;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A number of this size or more is a year, which counts before what stands to its left.
const FIRST_YEAR: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Number(u64),
    Month(u64),
    Weekday(u64),
    /// A number with a letter before it that says of what: the third quarter, the twelfth week.
    Part(char, u64),
    Other,
}

/// Returns what `texts` are to be sorted by, if they have an order of their own.
pub(super) fn keys(texts: &[&str]) -> Option<Vec<Vec<u64>>> {
    let read: Vec<Vec<Word>> = texts.iter().map(|text| words(text)).collect();
    let first = named(read.first()?);
    let has_order = |(words, text): (&Vec<Word>, &&str)| {
        let is_readable = !words.contains(&Word::Other)
            || (matches!(words.first(), Some(Word::Number(_)))
                && text.starts_with(|letter: char| letter.is_ascii_digit()));
        is_readable
            && named(words) == first
            && words.iter().any(|word| *word != Word::Other)
            && text.parse::<IpAddr>().is_err()
    };
    if !read.iter().zip(texts).all(has_order) {
        return None;
    }
    let are_days_first = are_days_first(&read, texts);
    Some(read.iter().map(|words| key(words, are_days_first)).collect())
}

fn words(text: &str) -> Vec<Word> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(word).collect()
}

fn word(text: &str) -> Word {
    if let Ok(number) = text.parse() {
        return Word::Number(number);
    }
    let text = text.to_lowercase();
    let place = |names: &[&str]| {
        let is_meant = |name: &&str| *name == text || (text.len() == 3 && name.starts_with(&text));
        names.iter().position(is_meant).map(|place| place as u64)
    };
    if let Some(month) = place(&MONTHS) {
        return Word::Month(month);
    }
    if let Some(day) = place(&WEEKDAYS) {
        return Word::Weekday(day);
    }
    let part = text.strip_prefix(['q', 'h', 'w']).and_then(|number| number.parse().ok());
    match (part, text.chars().next()) {
        (Some(number), Some(letter)) => Word::Part(letter, number),
        _ => Word::Other,
    }
}

/// Which kinds of words there are that tell the order: all texts must have the same.
fn named(words: &[Word]) -> Vec<char> {
    let kind = |word: &Word| match word {
        Word::Month(_) => Some('m'),
        Word::Weekday(_) => Some('d'),
        Word::Part(letter, _) => Some(*letter),
        Word::Number(_) | Word::Other => None,
    };
    words.iter().filter_map(kind).collect()
}

/// True of dates such as 31.12.2025, where no number says that the month comes first.
fn are_days_first(read: &[Vec<Word>], texts: &[&str]) -> bool {
    let date = |words: &Vec<Word>| match words[..] {
        [Word::Number(first), Word::Number(second), Word::Number(year)] if year >= FIRST_YEAR => {
            Some((first, second))
        }
        _ => None,
    };
    let dates: Option<Vec<(u64, u64)>> = read.iter().map(date).collect();
    dates.is_some_and(|dates| {
        dates.iter().any(|(first, _)| *first > 12)
            || (texts[0].contains('.') && dates.iter().all(|(_, second)| *second <= 12))
    })
}

/// Years first, then the rest as it stands.
fn key(words: &[Word], are_days_first: bool) -> Vec<u64> {
    let number = |word: &Word| match word {
        Word::Number(number)
        | Word::Month(number)
        | Word::Weekday(number)
        | Word::Part(_, number) => Some(*number),
        Word::Other => None,
    };
    let numbers = words.iter().filter_map(number);
    let (mut key, mut rest): (Vec<u64>, Vec<u64>) =
        numbers.partition(|number| *number >= FIRST_YEAR);
    if are_days_first {
        rest.reverse();
    }
    key.append(&mut rest);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts in the order that is known, if one is.
    fn sorted(texts: &[&'static str]) -> Option<Vec<&'static str>> {
        let keys = keys(texts)?;
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|index| &keys[*index]);
        Some(order.into_iter().map(|index| texts[index]).collect())
    }

    #[test]
    fn the_order_of_the_calendar_and_of_numbers_is_known() {
        for expected in [
            &["Jan", "Feb", "Oct"][..],
            &["March", "May", "December"],
            &["Monday", "Tuesday", "Sunday"],
            &["Q1", "Q2", "Q4"],
            &["Q3 2024", "Q1 2025", "Q2 2025"],
            &["2024-W09", "2024-W10", "2025-W01"],
            &["Dec 2024", "Jan 2025", "Nov 2025"],
            &["2024-09", "2024-10", "2025-01"],
            &["02.12.2024", "31.01.2025", "01.02.2025"],
            &["12/02/2024", "1/31/2025", "2/1/2025"],
            &["<5", "5-9", "10-19", "100+"],
            &["2 rooms", "3 rooms", "10 rooms"],
            &["08:00", "09:30", "17:00"],
        ] {
            let mut mixed = expected.to_vec();
            mixed.rotate_left(1);
            assert_eq!(sorted(&mixed).as_deref(), Some(expected));
        }
    }

    #[test]
    fn other_texts_have_no_order() {
        for texts in [
            &["Oslo", "Bergen"][..],
            &["10.0.0.2", "10.0.0.1"],
            &["7-Eleven", "Aldi"],
            &["Jan", "Monday"],
            &["3f2a", "91bc"],
            &["May", "June Carter"],
            &["", "1"],
        ] {
            assert_eq!(sorted(texts), None, "{texts:?}");
        }
    }
}
