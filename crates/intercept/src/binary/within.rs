//! Finds the long strings of some JSON that may be base64, without reading it all.
//!
//! A string that is long enough covers a place that is looked at, since those are less than half its
//! length apart. Where such a place has letters of base64 all around, the string is followed to both its
//! ends. So a document of many short strings costs a look at a few places.

use std::{
    io::{self, Read},
    ops::Range,
};

use forebay_proxy::body::Payload;

use super::Quotes;

/// How many letters there must be at a place for a closer look.
const LETTERS: usize = 64;
/// How much white space there may be behind them.
const MOST_SPACE: u64 = 64;
/// How much is read at once to find an end.
const CHUNK: u64 = 64 * 1024;

/// The strings of `json`, a part of `whole`, of more than `least` bytes that may be base64: where they
/// stand, quotes included, in their order. Quotes may be escaped, where JSON is in a string.
pub(super) fn long_strings(
    whole: &Payload,
    json: &Range<u64>,
    least: u64,
) -> io::Result<Vec<(Range<u64>, Quotes)>> {
    let mut found = Vec::new();
    let letters = LETTERS as u64;
    let stride = (least / 2).saturating_sub(letters).max(letters);
    let mut at = json.start + stride;
    while at + letters < json.end {
        let mut next = at + stride;
        if has_letters(whole, at)? {
            let end = letters_end(whole, at, json.end)?;
            next = next.max(end.at);
            if let Some(quotes) = end.quotes
                && let Some(start) = start(whole, at, json.start, quotes)?
                && end.at - start > least
                && is_value(whole, &(start..end.at), json)?
            {
                found.push((start..end.at, quotes));
            }
        }
        at = next;
    }
    Ok(found)
}

/// True if there is nothing but letters of base64 at a place, or what may stand between them.
fn has_letters(whole: &Payload, at: u64) -> io::Result<bool> {
    let mut letters = [0; LETTERS];
    whole.part(&(at..at + LETTERS as u64)).reader().read_exact(&mut letters)?;
    Ok(letters.iter().all(|byte| is_letter(*byte)))
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\\')
}

/// White space, as it may be written in a string, or what begins the quote behind it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\\' | b'n' | b'r' | b't')
}

/// Where letters of base64 end.
struct End {
    /// Right behind what ends them.
    at: u64,
    /// How that is written, if it is a quote.
    quotes: Option<Quotes>,
}

fn letters_end(whole: &Payload, mut at: u64, last: u64) -> io::Result<End> {
    while at < last {
        let chunk = read(whole, at..last.min(at + CHUNK))?;
        if let Some(place) = chunk.iter().position(|byte| !is_letter(*byte)) {
            let space = at + place as u64;
            let behind = read(whole, space..last.min(space + MOST_SPACE))?;
            let count = behind.iter().take_while(|byte| is_space(**byte)).count();
            let is_quote = behind.get(count) == Some(&b'"');
            let quote = space + count as u64;
            let quotes = if is_quote { Some(quotes(whole, quote)?) } else { None };
            return Ok(End { at: quote + 1, quotes });
        }
        at += chunk.len() as u64;
    }
    Ok(End { at, quotes: None })
}

/// How the quote at a place is written.
fn quotes(whole: &Payload, at: u64) -> io::Result<Quotes> {
    let before = read(whole, at.saturating_sub(1)..at)?;
    Ok(if before == b"\\" { Quotes::Escaped } else { Quotes::Plain })
}

/// Where the string begins that has got to `at`: at the quote before, which may stand before the
/// beginning of a data URL.
fn start(whole: &Payload, mut at: u64, first: u64, as_written: Quotes) -> io::Result<Option<u64>> {
    while at > first {
        let from = first.max(at.saturating_sub(CHUNK));
        let chunk = read(whole, from..at)?;
        if let Some(place) = memchr::memrchr(b'"', &chunk) {
            let quote = from + place as u64;
            let is_alike = quotes(whole, quote)? == as_written;
            let start = quote + 1 - as_written.bytes();
            return Ok(Some(start).filter(|start| is_alike && first <= *start));
        }
        at = from;
    }
    Ok(None)
}

/// True if the string is a value, not a key, and its first quote begins a string.
fn is_value(whole: &Payload, string: &Range<u64>, json: &Range<u64>) -> io::Result<bool> {
    const AROUND: u64 = 64;
    let before = json.start.max(string.start.saturating_sub(AROUND))..string.start;
    let after = string.end..json.end.min(string.end + AROUND);
    let (before, after) = (without_breaks(whole, before)?, without_breaks(whole, after)?);
    let opens = before.is_empty() || before.ends_with([':', ',', '[']);
    let closes = after.is_empty() || after.starts_with([',', ']', '}']);
    Ok(opens && closes)
}

/// What stands at `span`, without the white space around it, escaped or not.
fn without_breaks(whole: &Payload, span: Range<u64>) -> io::Result<String> {
    let text = String::from_utf8_lossy(&read(whole, span)?).into_owned();
    let text = ["\\n", "\\r", "\\t"].iter().fold(text, |text, escape| text.replace(escape, " "));
    Ok(text.trim().to_owned())
}

fn read(whole: &Payload, span: Range<u64>) -> io::Result<Vec<u8>> {
    whole.part(&span).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str, least: u64) -> Vec<String> {
        let whole = Payload::from(json.as_bytes().to_vec());
        let spans = long_strings(&whole, &(0..json.len() as u64), least).unwrap();
        let text = |span: Range<u64>| whole.part(&span).to_vec().unwrap();
        spans.into_iter().map(|(span, _)| String::from_utf8(text(span)).unwrap()).collect()
    }

    #[test]
    fn a_long_string_is_found_wherever_it_stands() {
        let (long, url) = ("Ab1/".repeat(400), format!("data:x/y;base64,{}", "Zz9+".repeat(500)));
        for before in 0..200 {
            let words = "short words ".repeat(before);
            let json = format!(
                r#"{{"a":["{words}", {{"b" : "{long}" }}],"{}":1,"c":"{url}","n":{}}}"#,
                "Ky3z".repeat(500),
                "1".repeat(3_000),
            );
            let expected = [format!("\"{long}\""), format!("\"{url}\"")];
            assert_eq!(found(&json, 1_500), expected, "{before}");
        }
    }

    #[test]
    fn a_string_of_json_in_a_string_is_found_with_its_escaped_quotes() {
        let long = "Ab1/".repeat(400);
        for json in [
            format!(r#"{{\"a\": \"x y\", \"b\":\n  \"{long}\"\n}}"#),
            format!(r#"{{"result":"[\"{long}\",1]"}}"#),
        ] {
            assert_eq!(found(&json, 1_500), [format!("\\\"{long}\\\"")], "{json}");
        }
        let key = format!(r#"{{\"{long}\": 1}}"#);
        assert!(found(&key, 1_500).is_empty());
    }

    #[test]
    fn what_is_not_wholly_base64_is_none() {
        let long = "Ab1/".repeat(1_000);
        for json in [
            format!(r#"{{"a":"{long} and more"}}"#),
            format!(r#"{{"a":"{long}é"}}"#),
            format!(r#"{{"{long}":1}}"#),
            format!(r#"{{"a":"{long}"#),
        ] {
            assert!(found(&json, 1_500).is_empty(), "{}", &json[..40]);
        }
        assert_eq!(found(&format!("\"{long}\""), 1_500).len(), 1);
        assert!(found("", 1_500).is_empty());
    }
}
