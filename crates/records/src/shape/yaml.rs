//! YAML, written anew as JSON. Several documents become a list.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::to_writer;

use super::around::{Around, BEFORE};

const LOOKED_AT: usize = 40;
const MIN_LINES: usize = 5;
const MAX_DEPTH: usize = 100;

/// A container that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Sequence,
    /// A mapping whose next scalar is a key.
    Key,
    /// A mapping whose next node is a value.
    Value,
}

/// The documents as JSON, if `text` is YAML and more than words with a colon.
pub(super) fn to_json(text: &str) -> Option<Vec<u8>> {
    if !looks_like_yaml(text) {
        return None;
    }
    let mut json = vec![b'['];
    let mut open: Vec<Open> = Vec::new();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        match event.ok()?.0 {
            Event::DocumentStart(_) => documents += 1,
            Event::MappingStart(..) | Event::SequenceStart(..)
                if open.len() == MAX_DEPTH || open.last() == Some(&Open::Key) =>
            {
                return None;
            }
            Event::MappingStart(..) => {
                json.push(b'{');
                open.push(Open::Key);
            }
            Event::SequenceStart(..) => {
                json.push(b'[');
                open.push(Open::Sequence);
            }
            Event::MappingEnd => {
                end(&mut json, b'}');
                open.pop();
                next(&mut json, &mut open);
            }
            Event::SequenceEnd => {
                end(&mut json, b']');
                open.pop();
                next(&mut json, &mut open);
            }
            Event::Scalar(value, style, _, tag) => {
                // A document that is one scalar is text.
                let place = open.last().copied()?;
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                if place != Open::Key && is_plain {
                    plain(&value, &mut json);
                } else {
                    let _ = to_writer(&mut json, &*value);
                }
                next(&mut json, &mut open);
            }
            // Giving an anchor's value again could make a small text a huge one.
            Event::Alias(_) => return None,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            #[expect(unreachable_patterns, reason = "comments come only if they are asked for")]
            _ => {}
        }
    }
    end(&mut json, b']');
    if documents == 1 {
        json.pop();
        json.remove(0);
    }
    Some(json)
}

/// The comments at the head of a text.
pub(super) fn around(text: &[u8]) -> Around {
    let is_comment = |line: &&[u8]| line.is_empty() || line.trim_ascii().starts_with(b"#");
    let lines = text.split_inclusive(|byte| *byte == b'\n').take_while(is_comment);
    let mut around = Around::default();
    around.text(BEFORE, &text[..lines.map(<[u8]>::len).sum()]);
    around
}

/// Ends a container, whose last value has a comma behind it.
fn end(json: &mut Vec<u8>, bracket: u8) {
    if json.last() == Some(&b',') {
        json.pop();
    }
    json.push(bracket);
}

/// Writes what follows a node.
fn next(json: &mut Vec<u8>, open: &mut [Open]) {
    match open.last_mut() {
        Some(place @ Open::Key) => {
            json.push(b':');
            *place = Open::Value;
        }
        Some(place @ Open::Value) => {
            json.push(b',');
            *place = Open::Key;
        }
        Some(Open::Sequence) | None => json.push(b','),
    }
}

/// A scalar without quotes: what it looks like.
fn plain(value: &str, json: &mut Vec<u8>) {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => json.extend(b"null"),
        "true" | "True" | "TRUE" => json.extend(b"true"),
        "false" | "False" | "FALSE" => json.extend(b"false"),
        _ if serde_json::from_str::<serde_json::Number>(value).is_ok() => {
            json.extend(value.as_bytes());
        }
        _ => drop(to_writer(json, value)),
    }
}

/// True if a text before a colon is a key rather than a place in a file or the start of a sentence.
fn is_name(text: &str) -> bool {
    text.starts_with('"') || !text.contains([' ', ':', '/'])
}

fn looks_like_yaml(text: &str) -> bool {
    let lines = || {
        let filled = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        filled.filter(|line| !line.trim_start().starts_with('#')).take(LOOKED_AT)
    };
    let is_yaml = |line: &&str| {
        let line = line.trim_start();
        let line = line.strip_prefix("- ").unwrap_or(line);
        let name = line.split_once(": ").map(|(name, _)| name).or_else(|| line.strip_suffix(':'));
        let is_flow = line.starts_with('{') || line.starts_with('[');
        is_flow || line == "---" || line == "-" || name.is_some_and(is_name)
    };
    let starts_as_yaml =
        lines().next().is_some_and(|first| is_yaml(&first) || first.starts_with("- "));
    let (all, yaml) = (lines().count(), lines().filter(is_yaml).count());
    starts_as_yaml && all >= MIN_LINES && yaml * 10 >= all * 6
}
