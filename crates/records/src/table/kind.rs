//! What a field's values are, by what they look like.

pub use forebay_store::facts::Kind;

/// What a text is, by its form.
pub(super) fn of_text(text: &[u8]) -> Kind {
    if has_form(text, b"9999-99-99") && is_day(text) {
        return match text.len() {
            10 => Kind::Date,
            16.. if has_form(text, b"9999-99-99T99:99")
                && is_hour_and_minute(&text[11..])
                && is_rest_of_time(&text[16..]) =>
            {
                Kind::Timestamp
            }
            _ => Kind::String,
        };
    }
    if text.len() == 36 && has_form(text, b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Kind::Uuid;
    }
    let is_url = text.starts_with(b"https://") || text.starts_with(b"http://");
    if is_url && !text.iter().any(u8::is_ascii_whitespace) { Kind::Url } else { Kind::String }
}

/// What a cell is, which has no type but what it looks like.
pub(super) fn of_cell(text: &[u8]) -> Kind {
    match text.first() {
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => match number(text) {
            Some(kind) => kind,
            None => of_text(text),
        },
        Some(b't' | b'T' | b'f' | b'F')
            if text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false") =>
        {
            Kind::Boolean
        }
        _ => of_text(text),
    }
}

/// What kind of number a text is. A leading zero makes it a code, such as 00501, not a number.
fn number(text: &[u8]) -> Option<Kind> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_code = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
    if is_code || digits.is_empty() || text[0] == b'+' {
        return None;
    }
    if digits.iter().all(u8::is_ascii_digit) {
        return Some(if digits.len() <= 18 { Kind::Integer } else { Kind::String });
    }
    let is_written_so =
        digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let value = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
    (is_written_so && value.is_finite()).then_some(Kind::Float)
}

/// True if `text` begins like `form`, in which 9 is a digit, x a hexadecimal one, a a letter, and T
/// what stands between a day and a time.
pub(crate) fn has_form(text: &[u8], form: &[u8]) -> bool {
    text.len() >= form.len()
        && form.iter().zip(text).all(|(want, byte)| match want {
            b'9' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            b'a' => byte.is_ascii_alphabetic(),
            b'T' => matches!(byte, b'T' | b't' | b' '),
            _ => want == byte,
        })
}

/// True if a text begins with a day that there is: what is not one could not be one in SQL.
fn is_day(text: &[u8]) -> bool {
    let number =
        |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..10]));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

/// True if a text of the form `99:99` is an hour and a minute.
fn is_hour_and_minute(text: &[u8]) -> bool {
    matches!(text[..2], [b'0' | b'1', _] | [b'2', b'0'..=b'3']) && matches!(text[3], b'0'..=b'5')
}

/// True if what follows the minutes is seconds, their fraction and a zone, each if it is there.
fn is_rest_of_time(mut rest: &[u8]) -> bool {
    if has_form(rest, b":99") && matches!(rest[1], b'0'..=b'5') {
        rest = &rest[3..];
        if let [b'.' | b',', b'0'..=b'9', ..] = rest {
            let digits = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            // SQL would cut what is finer than a microsecond.
            if rest[1..=digits].iter().skip(6).any(|digit| *digit != b'0') {
                return false;
            }
            rest = &rest[1 + digits..];
        }
    }
    let zone = rest.strip_prefix(b" ").unwrap_or(rest);
    if zone.is_empty() {
        return rest.is_empty();
    }
    if zone.eq_ignore_ascii_case(b"z") || zone.eq_ignore_ascii_case(b"utc") {
        return true;
    }
    let Some(offset) = zone.strip_prefix(b"+").or_else(|| zone.strip_prefix(b"-")) else {
        return false;
    };
    match offset.len() {
        2 => has_form(offset, b"99"),
        4 => has_form(offset, b"9999"),
        5 => has_form(offset, b"99:99"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_by_their_form() {
        for (text, kind) in [
            ("2024-02-29", Kind::Date),
            ("2024-13-01", Kind::String),
            ("2023-02-29", Kind::String),
            ("1900-02-29", Kind::String),
            ("2024-04-31", Kind::String),
            ("0000-01-01", Kind::String),
            ("2024-02-29T24:00", Kind::String),
            ("2024-02-29T10:60", Kind::String),
            ("2024-02-29T10:00:60Z", Kind::String),
            ("2024-02-29T10:00", Kind::Timestamp),
            ("2024-02-29 10:00:00.123456+02:00", Kind::Timestamp),
            ("2024-02-29T10:00:00Z", Kind::Timestamp),
            ("2024-02-29T10:00:00.123456000Z", Kind::Timestamp),
            ("2024-02-29T10:00:00.123456789Z", Kind::String),
            ("2024-02-29 10:00:00 UTC", Kind::Timestamp),
            ("2024-02-29T10:00 and then", Kind::String),
            ("2024-02-29T10:00 ", Kind::String),
            ("123e4567-e89b-12d3-a456-426614174000", Kind::Uuid),
            ("https://example.com/a", Kind::Url),
            ("https://example.com/a b", Kind::String),
            ("12", Kind::String),
        ] {
            assert_eq!(of_text(text.as_bytes()), kind, "{text}");
        }
    }

    #[test]
    fn cells_are_told_by_what_they_look_like() {
        for (text, kind) in [
            ("12", Kind::Integer),
            ("-0.5", Kind::Float),
            ("1e3", Kind::Float),
            ("00501", Kind::String),
            ("0", Kind::Integer),
            ("-", Kind::String),
            ("1.2.3", Kind::String),
            ("+49", Kind::String),
            ("TRUE", Kind::Boolean),
            ("2024-02-29", Kind::Date),
            ("inf", Kind::String),
            ("12345678901234567890", Kind::String),
        ] {
            assert_eq!(of_cell(text.as_bytes()), kind, "{text}");
        }
    }
}
