//! A sentence as words, numbers and marks, and the clauses that it is made of.

mod spelled;

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    /// In small letters.
    Plain(String),
    /// What stands in quotes, in small letters.
    Quoted(String),
    Number(Number),
    /// A day, such as `2026-11-18`.
    Day(String),
    /// A sign that is none of these.
    Mark(char),
}

/// A number as it is written in a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    /// By how much it may be off because it is rounded.
    pub(super) slack: f64,
    pub(super) is_percent: bool,
    /// It has a unit, a currency or a sign that makes it no count.
    pub(super) has_unit: bool,
    /// It is written as `no` or `none`.
    pub(super) is_absence: bool,
}

const UNITS: [&str; 45] = [
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "minute",
    "minutes",
    "min",
    "mins",
    "hour",
    "hours",
    "hr",
    "hrs",
    "h",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "kb",
    "mb",
    "gb",
    "tb",
    "kib",
    "mib",
    "gib",
    "byte",
    "bytes",
    "km",
    "kg",
    "usd",
    "eur",
    "gbp",
    "dollars",
    "euros",
    "cents",
    "points",
    "degrees",
    "characters",
    "chars",
    "tokens",
];

/// The words of a name: `createdAt` and `created_at` are `created` and `at`.
pub(super) fn of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && was_small;
        if !character.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(character.to_lowercase());
        }
        was_small = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The day that a time begins with.
pub(super) fn day(time: &str) -> Option<&str> {
    let day = time.trim_matches('"').get(..10)?;
    is_day(day).then_some(day)
}

/// True if a text is a day, such as `2026-11-18`.
fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The clauses of a sentence. What is said in one is not said in another.
pub(super) fn clauses(sentence: &str) -> Vec<Vec<Word>> {
    let mut clauses = vec![Vec::new()];
    let mut is_between = false;
    for word in words(sentence) {
        let ends = match &word {
            Word::Mark(mark) => matches!(mark, ',' | ';' | '.' | '!' | '?' | '—'),
            Word::Plain(word) => {
                let joins = matches!(
                    word.as_str(),
                    "and" | "while" | "but" | "whereas" | "versus" | "vs" | "followed"
                );
                joins && !(word == "and" && std::mem::take(&mut is_between))
            }
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) => false,
        };
        is_between |= word == Word::Plain("between".to_owned());
        if ends {
            clauses.push(Vec::new());
            is_between = false;
        } else if let Some(clause) = clauses.last_mut() {
            clause.push(word);
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

fn words(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        let before = words.last().cloned();
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some((text, behind)) = quoted(rest) {
            words.push(Word::Quoted(text.to_lowercase()));
            rest = behind;
            continue;
        }
        let end = end_of_piece(rest);
        if end == 0 {
            words.push(Word::Mark(first));
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let piece = &rest[..end];
        rest = &rest[end..];
        take_piece(&mut words, piece, before.as_ref());
    }
    with_units(spelled::as_numbers(&words))
}

/// What stands in quotes at the beginning of `text`, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '\'' => open,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    let inside = &text[open.len_utf8()..];
    let end = inside.find(close)?;
    // Longer ones quote a sentence; an apostrophe has a letter behind it, and its partner is far.
    let is_value = end > 0 && end <= 60;
    is_value.then(|| (&inside[..end], &inside[end + close.len_utf8()..]))
}

/// How long the piece is that `text` begins with: letters and digits, and what joins them.
fn end_of_piece(text: &str) -> usize {
    let mut end = 0;
    for (at, character) in text.char_indices() {
        let next = text[at + character.len_utf8()..].chars().next();
        let joins = matches!(character, '.' | ',' | '-' | '_' | ':' | '/' | '\'' | '’' | '@' | '+')
            && at > 0
            && next.is_some_and(char::is_alphanumeric)
            // A comma joins digits alone: `1,000`, and not `a,b`.
            && (character != ',' || next.is_some_and(|it| it.is_ascii_digit()))
            && !text[at..].starts_with("..");
        if character.is_alphanumeric() || character == '_' || joins {
            end = at + character.len_utf8();
        } else {
            break;
        }
    }
    end
}

fn take_piece(words: &mut Vec<Word>, piece: &str, before: Option<&Word>) {
    let lower = piece.to_lowercase();
    if lower.get(..10).is_some_and(is_day) {
        words.push(Word::Day(lower[..10].to_owned()));
        return;
    }
    if let Some(number) = number(&lower) {
        let is_signed = matches!(before, Some(Word::Mark('$' | '€' | '£' | '#')));
        words.push(Word::Number(Number { has_unit: number.has_unit || is_signed, ..number }));
        return;
    }
    // `5,000-record` and `10-20`, but not `2024-11` or `a-b`.
    if let Some((one, other)) = lower.split_once('-')
        && let Some(first) = number(one)
        && !(one.len() == 4 && other.len() == 2)
        && (number(other).is_some() || other.chars().all(char::is_alphabetic))
    {
        words.push(Word::Number(first));
        match number(other) {
            Some(second) => {
                words.push(Word::Mark('–'));
                words.push(Word::Number(second));
            }
            None => words.push(Word::Plain(other.to_owned())),
        }
        return;
    }
    words.push(Word::Plain(lower));
}

/// Reads `1,234`, `12.5`, `3k` and the like; what has other letters is a word.
fn number(text: &str) -> Option<Number> {
    let (digits, factor) = match text.strip_suffix(['k', 'm', 'b']) {
        Some(digits) if digits.ends_with(|c: char| c.is_ascii_digit()) => (
            digits,
            match text.as_bytes().last() {
                Some(b'k') => 1e3,
                Some(b'm') => 1e6,
                _ => 1e9,
            },
        ),
        _ => (text, 1.0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let groups: Vec<&str> = whole.split([',', '_']).collect();
    let is_grouped = groups.len() == 1
        || groups
            .iter()
            .enumerate()
            .all(|(at, it)| if at == 0 { it.len() <= 3 } else { it.len() == 3 });
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_grouped || whole.is_empty() || !groups.iter().all(|it| are_digits(it)) {
        return None;
    }
    if !are_digits(fraction) || (digits.contains('.') && fraction.is_empty()) {
        return None;
    }
    let value: f64 = format!("{}.{fraction}0", groups.concat()).parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let unit = 10f64.powi(-places) * factor;
    // What is written to its last digit is exact, unless it was cut to fit a letter or a point.
    let slack = if factor > 1.0 || places > 0 { unit * 0.501 } else { 0.0 };
    Some(Number {
        value: value * factor,
        slack,
        is_percent: false,
        has_unit: false,
        is_absence: false,
    })
}

/// Notes which numbers are percentages, multiplied by a word, or of a unit.
fn with_units(words: Vec<Word>) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for word in words {
        if let Some(Word::Number(number)) = out.last_mut() {
            let factor = match &word {
                Word::Mark('%') => {
                    (number.is_percent, number.slack) = (true, number.slack.max(0.501));
                    continue;
                }
                Word::Plain(unit) => match unit.as_str() {
                    "percent" => {
                        (number.is_percent, number.slack) = (true, number.slack.max(0.501));
                        continue;
                    }
                    "thousand" => 1e3,
                    "million" => 1e6,
                    "billion" => 1e9,
                    unit => {
                        number.has_unit |= UNITS.contains(&unit);
                        1.0
                    }
                },
                Word::Quoted(_) | Word::Number(_) | Word::Day(_) | Word::Mark(_) => 1.0,
            };
            if factor > 1.0 {
                number.slack = number.slack.max(0.501) * factor;
                number.value *= factor;
                continue;
            }
        }
        out.push(word);
    }
    // A sign in front of a number.
    let mut signed: Vec<Word> = Vec::new();
    for word in out {
        match (signed.as_slice(), &word) {
            ([.., Word::Mark('-' | '−')], Word::Number(number)) => {
                signed.pop();
                signed.push(Word::Number(Number { value: -number.value, ..*number }));
            }
            _ => signed.push(word),
        }
    }
    signed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(sentence: &str) -> Vec<(f64, bool, bool)> {
        let words = words(sentence).into_iter();
        let numbers = words.filter_map(|word| match word {
            Word::Number(it) => Some((it.value, it.is_percent, it.has_unit)),
            _ => None,
        });
        numbers.collect()
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let plain = |value| (value, false, false);
        assert_eq!(numbers("1,234 and 5000 and 12.5"), [1234.0, 5000.0, 12.5].map(plain));
        assert_eq!(numbers("3k, 1.5M, 2 million"), [3000.0, 1.5e6, 2e6].map(plain));
        assert_eq!(numbers("60% or 12.5 percent"), [(60.0, true, false), (12.5, true, false)]);
        assert_eq!(
            numbers("$30, 40 ms, #7"),
            [(30.0, false, true), (40.0, false, true), (7.0, false, true)]
        );
        assert_eq!(numbers("1-9, 1..9, 1–9"), [1.0, 9.0, 1.0, 9.0, 1.0, 9.0].map(plain));
        assert_eq!(numbers("from -5 to 5"), [-5.0, 5.0].map(plain));
        assert_eq!(numbers("a 5,000-record list"), [plain(5000.0)]);
        for none in ["v1.2.3", "10.0.0.1", "order-17", "x86", "12:30", "2024-11", "1,23", "3rd"] {
            assert_eq!(numbers(none), [], "{none}");
        }
    }

    #[test]
    fn numbers_in_words_are_numbers() {
        for (written, value) in [
            ("three hundred are late", 300.0),
            ("Two hundred and five orders", 205.0),
            ("twenty-one rows", 21.0),
            ("one thousand two hundred", 1_200.0),
            ("a dozen", 12.0),
            ("zero errors", 0.0),
            ("No errors", 0.0),
            ("none of them", 0.0),
        ] {
            assert_eq!(numbers(written), [(value, false, false)], "{written}");
        }
        for (written, value) in [
            ("half of the orders", 50.0),
            ("three quarters", 75.0),
            ("sixty percent", 60.0),
            ("a quarter of all", 25.0),
        ] {
            assert_eq!(numbers(written), [(value, true, false)], "{written}");
        }
        for none in ["one per row", "no longer", "the first half of May", "hundreds of them"] {
            assert_eq!(numbers(none), [], "{none}");
        }
    }

    #[test]
    fn days_quotes_and_names_are_found() {
        let found = words("On 2024-01-05T10:00:00Z 'In Progress' it's “done”");
        assert!(found.contains(&Word::Day("2024-01-05".to_owned())), "{found:?}");
        assert!(found.contains(&Word::Quoted("in progress".to_owned())), "{found:?}");
        assert!(found.contains(&Word::Quoted("done".to_owned())), "{found:?}");
        assert!(found.contains(&Word::Plain("it's".to_owned())), "{found:?}");
        assert_eq!(of_name("createdAt"), ["created", "at"]);
        assert_eq!(of_name("unit_price USD"), ["unit", "price", "usd"]);
    }

    #[test]
    fn clauses_end_at_commas_and_conjunctions_but_not_within_between() {
        assert_eq!(clauses("a is 1, b is 2 and c is 3").len(), 3);
        assert_eq!(clauses("a lies between 1 and 2").len(), 1);
        assert_eq!(clauses("a has 1,000 records.").len(), 1);
    }
}
