//! Numbers that are written in words: `three hundred`, `two thirds`, `no`.

use super::{Number, Word};

/// By how many points a share in words may be off.
const SHARE_SLACK: f64 = 5.0;

/// The words, with numbers in the place of those that are some.
pub(super) fn as_numbers(words: &[Word]) -> Vec<Word> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let read = absence(words, at).or_else(|| share(words, at)).or_else(|| count(words, at));
        let (word, length) = read.unwrap_or_else(|| (words[at].clone(), 1));
        out.push(word);
        at += length;
    }
    out
}

fn plain(words: &[Word], at: usize) -> Option<&str> {
    match words.get(at)? {
        Word::Plain(word) => Some(word),
        Word::Quoted(_) | Word::Number(_) | Word::Day(_) | Word::Mark(_) => None,
    }
}

fn before(words: &[Word], at: usize) -> Option<&str> {
    plain(words, at.checked_sub(1)?)
}

/// `no active orders`, `none of them`
fn absence(words: &[Word], at: usize) -> Option<(Word, usize)> {
    let next = plain(words, at + 1)?;
    let is_absence = match plain(words, at)? {
        "no" => !matches!(
            next,
            "longer" | "more" | "less" | "fewer" | "other" | "one" | "matter" | "doubt" | "further"
        ),
        "none" => matches!(next, "of" | "is" | "are" | "was" | "were" | "has" | "have" | "exist"),
        _ => false,
    };
    let is_value = at.checked_sub(1).is_some_and(|it| matches!(words[it], Word::Mark(':' | '=')));
    let zero =
        Number { value: 0.0, slack: 0.0, is_percent: false, has_unit: false, is_absence: true };
    (is_absence && !is_value).then_some((Word::Number(zero), 1))
}

/// `half of`, `a third of`, `two thirds`, `three-quarters`
fn share(words: &[Word], at: usize) -> Option<(Word, usize)> {
    let (first, next) = (plain(words, at)?, plain(words, at + 1));
    let is_of = |at: usize| plain(words, at) == Some("of");
    let is_second = matches!(before(words, at), Some("first" | "second" | "last" | "other"));
    let (percent, length) = match (first, next) {
        ("half", Some("of" | "the" | "all" | "are" | "is" | "were" | "have" | "has"))
            if !is_second =>
        {
            (50.0, 1)
        }
        ("a" | "one", Some("third")) if is_of(at + 2) => (100.0 / 3.0, 2),
        ("a" | "one", Some("quarter")) if is_of(at + 2) => (25.0, 2),
        ("two", Some("thirds")) => (200.0 / 3.0, 2),
        ("three", Some("quarters")) => (75.0, 2),
        ("one-third", _) => (100.0 / 3.0, 1),
        ("one-quarter", _) => (25.0, 1),
        ("two-thirds", _) => (200.0 / 3.0, 1),
        ("three-quarters", _) => (75.0, 1),
        _ => return None,
    };
    let share = Number {
        value: percent,
        slack: SHARE_SLACK,
        is_percent: true,
        has_unit: false,
        is_absence: false,
    };
    Some((Word::Number(share), length))
}

/// `three hundred and five`, `twenty-one`, `a dozen`
fn count(words: &[Word], from: usize) -> Option<(Word, usize)> {
    let (mut whole, mut group) = (0_u64, 0_u64);
    let (mut at, mut is_begun) = (from, false);
    if plain(words, at) == Some("a") && scale(plain(words, at + 1)?).is_some() {
        (group, is_begun, at) = (1, true, at + 1);
    }
    while let Some(word) = plain(words, at) {
        // Alone, `one` stands for what was named before.
        let is_one = word == "one";
        let is_counting =
            || plain(words, at + 1).and_then(scale).is_some() || is_part_in(words, at);
        if let Some(value) = small(word).filter(|_| !is_one || is_begun || is_counting()) {
            let fits =
                !is_begun || (group.is_multiple_of(100) && value > 0) || follows_tens(group, value);
            if !fits {
                break;
            }
            group += value;
        } else if let Some(scale) = scale(word).filter(|_| is_begun) {
            if scale <= 100 {
                group = group.max(1).checked_mul(scale)?;
            } else {
                whole = whole.checked_add(group.max(1).checked_mul(scale)?)?;
                group = 0;
            }
        } else if word == "and" && is_begun && ends_group(words, at) {
            at += 1;
            continue;
        } else {
            break;
        }
        is_begun = true;
        at += 1;
    }
    let value = u32::try_from(whole.checked_add(group)?).ok()?;
    let number = Number {
        value: f64::from(value),
        slack: 0.0,
        is_percent: false,
        has_unit: false,
        is_absence: false,
    };
    is_begun.then_some((Word::Number(number), at - from))
}

/// `one in ten`
fn is_part_in(words: &[Word], at: usize) -> bool {
    let is_number = matches!(words.get(at + 2), Some(Word::Number(_)))
        || plain(words, at + 2).and_then(small).is_some();
    plain(words, at + 1) == Some("in") && is_number
}

/// `twenty` and `one`, in two words.
fn follows_tens(group: u64, value: u64) -> bool {
    group % 100 >= 20 && group.is_multiple_of(10) && (1..10).contains(&value)
}

/// True if an `and` stands between a hundred and what is left: `three hundred and five`.
fn ends_group(words: &[Word], at: usize) -> bool {
    let is_scale = before(words, at).is_some_and(|it| matches!(it, "hundred" | "thousand"));
    is_scale && plain(words, at + 1).and_then(small).is_some()
}

fn scale(word: &str) -> Option<u64> {
    match word {
        "dozen" => Some(12),
        "hundred" => Some(100),
        "thousand" => Some(1_000),
        "million" => Some(1_000_000),
        _ => None,
    }
}

fn small(word: &str) -> Option<u64> {
    const UNITS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] =
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str], word: &str| list.iter().position(|it| *it == word);
    let unit = |word: &str| place(&UNITS, word).map(|it| it as u64);
    let tens = |word: &str| place(&TENS, word).map(|it| (it as u64 + 2) * 10);
    match word.split_once('-') {
        Some((first, last)) => Some(tens(first)? + unit(last).filter(|it| (1..10).contains(it))?),
        None => unit(word).or_else(|| tens(word)),
    }
}
