//! How long ago something was, and since when something is wanted.

use jiff::{SignedDuration, Timestamp};

use crate::{
    ToolError,
    error::refuse,
    list::{Edge, moment},
};

/// Units of time, the smallest first: how many seconds one has, and what it is called.
const UNITS: [(i64, &str); 4] = [(1, "s"), (60, "min"), (60 * 60, "h"), (24 * 60 * 60, "d")];

/// How long ago a time was, in the largest unit that it has one of: `3 h ago`.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    // A clock may have been set back.
    let seconds = now.duration_since(time).as_secs().max(0);
    let unit = UNITS.iter().rev().find(|(length, _)| seconds >= *length);
    match unit {
        Some((length, name)) => format!("{} {name} ago", seconds / length),
        None => "just now".to_owned(),
    }
}

/// The moment that is meant by `2h`, `7d`, a date or a time.
pub fn since(text: &str, now: Timestamp) -> Result<Timestamp, ToolError> {
    let text = text.trim();
    if let Some(back) = back(text) {
        return Ok(now.checked_sub(back).unwrap_or(Timestamp::MIN));
    }
    match moment("since", text, Edge::Start) {
        Ok(time) => Ok(time),
        Err(_) => refuse!(
            "since must be how long ago, such as 30m, 2h, 7d or 4w, a date such as 2026-11-14, or a time \
             such as 2026-11-14T10:30:00Z."
        ),
    }
}

/// A length of time: `2h`, `7 days`. `None` if it is written in another way.
fn back(text: &str) -> Option<SignedDuration> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let number: i64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 60 * 60,
        "d" | "day" | "days" => 24 * 60 * 60,
        "w" | "week" | "weeks" => 7 * 24 * 60 * 60,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-18T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, told) in [
            (0, "just now"),
            (-5, "just now"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3 * 3_600 + 59, "3 h ago"),
            (86_399, "23 h ago"),
            (400 * 86_400, "400 d ago"),
        ] {
            let time = now() - SignedDuration::from_secs(seconds);
            assert_eq!(ago(time, now()), told, "{seconds}");
        }
    }

    #[test]
    fn a_beginning_is_a_length_of_time_a_date_or_a_time() {
        for (text, meant) in [
            ("2h", "2026-11-18T10:00:00Z"),
            (" 30 min ", "2026-11-18T11:30:00Z"),
            ("7d", "2026-11-11T12:00:00Z"),
            ("1 week", "2026-11-11T12:00:00Z"),
            ("2026-11-14", "2026-11-14T00:00:00Z"),
            ("2026-11-14T10:30:00Z", "2026-11-14T10:30:00Z"),
        ] {
            assert_eq!(since(text, now()).unwrap().to_string(), meant, "{text}");
        }
        for text in ["yesterday", "7", "-2h", "2 fortnights", ""] {
            let error = since(text, now()).unwrap_err().told();
            assert!(error.contains("such as 30m, 2h, 7d"), "{text}: {error}");
        }
        assert_eq!(since("99999999999999999999h", now()).map_err(|_| ()), Err(()));
        assert_eq!(since("999999999999999w", now()).unwrap(), Timestamp::MIN);
    }
}
