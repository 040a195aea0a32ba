//! A single cell, given as JSON.

use std::fmt::Write as _;

use serde_json::Value;

/// A cell of a CSV: nothing for null, and quotes around what would otherwise be read as something
/// else.
pub(super) fn csv(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'n') => String::new(),
        Some(b'"') => match text_of(json) {
            text if looks_like_a_value(&text) => quoted(&text),
            text => csv_text(&text),
        },
        Some(b'[' | b'{') => quoted(json),
        _ => json.to_owned(),
    }
}

/// A text in a CSV.
pub(super) fn csv_text(text: &str) -> String {
    let needs_quotes = text.is_empty()
        || text.contains([',', '"', '\n', '\r'])
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace);
    if needs_quotes { quoted(text) } else { text.to_owned() }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

pub(super) fn markdown(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'n') => String::new(),
        Some(b'"') => markdown_text(&text_of(json)),
        _ => markdown_text(json),
    }
}

/// A text in a table of Markdown.
pub(super) fn markdown_text(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace("\r\n", "<br>")
        .replace(['\n', '\r'], "<br>")
}

/// A value in TOON, which is not nested.
pub(super) fn toon(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'"') => toon_text(&text_of(json)),
        _ => json.to_owned(),
    }
}

/// A text in TOON: in quotes where it could be read as something else.
pub(super) fn toon_text(text: &str) -> String {
    let needs_quotes = text.is_empty()
        || looks_like_a_value(text)
        || text == "null"
        || text.starts_with(['-', '#'])
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.contains([',', ':', '"', '\\', '[', ']', '{', '}'])
        || text.contains(char::is_control);
    if !needs_quotes {
        return text.to_owned();
    }
    let mut out = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// The name of a member in TOON.
pub(super) fn toon_name(name: &str) -> String {
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '.');
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// True if a text would be taken for a number or a truth value.
fn looks_like_a_value(text: &str) -> bool {
    text == "true"
        || text == "false"
        || (text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
            && text.parse::<f64>().is_ok())
}

fn text_of(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}
