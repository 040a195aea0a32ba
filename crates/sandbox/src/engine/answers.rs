//! Makes values of JSON: of the host's answers, and of the texts that a program parses itself.
//!
//! A number of the language holds whole numbers up to 2^53 exactly. One beyond that, such as an id, is
//! given as a `BigInt`, which JSON is made of again without a digit changed.

use rquickjs::{Ctx, Error, Exception, Function, Object, String as Text, Value};

/// From this many digits on a whole number may be too large.
const MANY_DIGITS: usize = 16;

/// The largest whole number such that it and all below are held exactly.
const MAX_EXACT: u128 = 1 << 53;

/// The value of a JSON text.
pub(super) fn parse<'js>(
    ctx: &Ctx<'js>,
    prelude: &Object<'js>,
    json: Vec<u8>,
) -> rquickjs::Result<Value<'js>> {
    let text = String::from_utf8(json).map_err(|error| Error::Utf8(error.utf8_error()))?;
    match with_marks(&text) {
        None => ctx.json_parse(text),
        Some((text, mark)) => prelude.get::<_, Function>("exact")?.call((text, mark)),
    }
}

/// Why an answer could not be parsed. To have no memory for it is the program's failure.
pub(super) fn why(ctx: &Ctx<'_>, error: &Error) -> rquickjs::Result<String> {
    if !error.is_exception() {
        return Ok(format!("the answer is not JSON: {error}"));
    }
    let thrown = ctx.catch();
    match thrown.as_exception().and_then(Exception::message) {
        Some(message) if message != "out of memory" => {
            Ok(format!("the answer is not JSON that can be read: {message}"))
        }
        _ => Err(ctx.throw(thrown)),
    }
}

/// [`with_marks`] for the prelude: the text and the key, or nothing.
pub(super) fn marked(text: &Text<'_>) -> rquickjs::Result<Option<Vec<String>>> {
    match text.to_string() {
        Ok(text) => Ok(with_marks(&text).map(|(text, mark)| vec![text, mark])),
        // Half of a surrogate pair, which has no place in a text of ours.
        Err(Error::Utf8(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The text with each whole number that is too large as an object with one key; `None` if there is none.
fn with_marks(text: &str) -> Option<(String, String)> {
    let large = large_numbers(text);
    if large.is_empty() {
        return None;
    }
    // A key that occurs nowhere in the text is nobody else's.
    let mark =
        (0..=text.len()).map(|n| format!("exact{n}")).find(|mark| !text.contains(mark.as_str()))?;
    let mut marked = String::with_capacity(text.len() + large.len() * 24);
    let mut last = 0;
    for (start, end) in large {
        marked += &text[last..start];
        marked.extend(["{\"", &mark, "\":\"", &text[start..end], "\"}"]);
        last = end;
    }
    marked += &text[last..];
    Some((marked, mark))
}

/// Where the whole numbers are that are too large.
fn large_numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let start = at;
                at += 1;
                let is_part =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                at += bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                if is_large(&text[start..at]) {
                    found.push((start, at));
                }
            }
            _ => at += 1,
        }
    }
    found
}

fn is_large(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() >= MANY_DIGITS
        // Which is no number of JSON.
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u128>().map_or(true, |number| number > MAX_EXACT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_a_number_cannot_hold_are_found() {
        let cases = [
            ("9007199254740992", false),
            ("9007199254740993", true),
            ("-9007199254740993", true),
            ("1234567890123456789012345678901234567890123", true),
            ("12345678901234567.5", false),
            ("1e99", false),
            ("09007199254740993", false),
            ("\"9007199254740993\"", false),
            ("\"\\\"9007199254740993\"", false),
            ("{\"a\\\\\":9007199254740993}", true),
        ];
        for (text, is_found) in cases {
            assert_eq!(with_marks(text).is_some(), is_found, "{text}");
        }
    }

    #[test]
    fn a_mark_is_a_key_that_is_not_there() {
        let (text, mark) = with_marks("[\"exact0\",9007199254740993]").unwrap();
        assert_eq!(mark, "exact1");
        assert_eq!(text, "[\"exact0\",{\"exact1\":\"9007199254740993\"}]");
    }
}
