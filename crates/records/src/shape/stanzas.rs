//! Paragraphs of `Name: value` lines, as package lists and commit logs have them.
//!
//! A line that begins with white space goes on with the value before it, and so does a paragraph
//! that does not begin with the same name as the others.

use super::around::{Around, BEFORE};
use crate::table::{Raw, Records};

const LOOKED_AT_BYTES: usize = 64 * 1024;
const LOOKED_AT: usize = 20;
const MIN_STANZAS: usize = 3;
const MAX_NAME_BYTES: usize = 40;

/// True if the text is made of alike paragraphs.
pub(super) fn are_stanzas(text: &[u8]) -> bool {
    let head = &text[..text.len().min(LOOKED_AT_BYTES)];
    let stanzas: Vec<&[u8]> = stanzas(head).take(LOOKED_AT).collect();
    let is_clean = |stanza: &&&[u8]| fields(stanza).count() > 1 && has_only_fields(stanza);
    let clean = stanzas.iter().filter(is_clean).count();
    let paragraphs = paragraphs(head).count();
    // In prose a few paragraphs may begin with the same word and a colon.
    stanzas.len() >= MIN_STANZAS
        && clean * 10 >= stanzas.len() * 9
        && (stanzas.len() == LOOKED_AT || stanzas.len() * 2 >= paragraphs)
}

/// Hands the stanzas of `text` to `table`.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    for stanza in stanzas(text) {
        if table.record(stanza) {
            for (place, (name, value)) in fields(stanza).enumerate() {
                table.field(place, name, Raw::Cell(value));
            }
        }
    }
    table
}

/// What stands before the first stanza.
pub(super) fn around(text: &[u8]) -> Around {
    let first = stanzas(text).next().unwrap_or(text);
    let mut around = Around::default();
    around.text(BEFORE, &text[..first.as_ptr().addr() - text.as_ptr().addr()]);
    around
}

/// The parts of a text that each begin with the name that the first one begins with.
fn stanzas(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut paragraphs =
        paragraphs(text).skip_while(|(_, paragraph)| first_name(paragraph).is_none());
    let first = paragraphs.next();
    let name = first.and_then(|(_, paragraph)| first_name(paragraph));
    // A heading may stand right before the first.
    let mut begin = first.map(|(start, paragraph)| start + heading_length(paragraph));
    let mut starts = paragraphs
        .filter(move |(_, paragraph)| first_name(paragraph) == name)
        .map(|(start, _)| start);
    std::iter::from_fn(move || {
        let start = begin?;
        begin = starts.next();
        Some(text[start..begin.unwrap_or(text.len())].trim_ascii_end())
    })
}

/// The parts of a text between blank lines, and where each begins.
fn paragraphs(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        at += rest.len() - rest.trim_ascii_start().len();
        let start = at;
        for line in text[start..].split_inclusive(|byte| *byte == b'\n') {
            if line.trim_ascii().is_empty() {
                break;
            }
            at += line.len();
        }
        (at > start).then(|| (start, text[start..at].trim_ascii_end()))
    })
}

fn first_name(paragraph: &[u8]) -> Option<&[u8]> {
    let lines = &paragraph[heading_length(paragraph)..];
    name_length(lines).map(|length| &lines[..length])
}

/// How long a first line is that only says what follows.
fn heading_length(paragraph: &[u8]) -> usize {
    let end = memchr::memchr(b'\n', paragraph).map_or(paragraph.len(), |newline| newline + 1);
    let line = &paragraph[..end];
    let is_heading = end < paragraph.len()
        && line.trim_ascii_end().ends_with(b":")
        && name_length(line).is_none();
    if is_heading { end } else { 0 }
}

/// The names and values of a stanza. After a blank line all belongs to the last value.
fn fields(stanza: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for line in stanza.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            break;
        }
        starts.extend(name_length(line).map(|length| (start, length)));
        start += line.len();
    }
    let ends: Vec<usize> =
        starts.iter().skip(1).map(|(next, _)| *next).chain([stanza.len()]).collect();
    starts.into_iter().zip(ends).map(move |((begin, length), end)| {
        (&stanza[begin..begin + length], stanza[begin + length + 1..end].trim_ascii())
    })
}

/// True if each line up to the first blank one is a field or goes on with one.
fn has_only_fields(stanza: &[u8]) -> bool {
    let mut lines =
        stanza.split(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    lines.all(|line| name_length(line).is_some() || matches!(line.first(), Some(b' ' | b'\t')))
}

/// How long the name at the front of a line is, if there is one and a value behind it.
fn name_length(line: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', &line[..line.len().min(MAX_NAME_BYTES)])?;
    let name = &line[..colon];
    let is_name = name.first()?.is_ascii_alphabetic()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_ ".contains(byte));
    let end = memchr::memchr(b'\n', line).unwrap_or(line.len()).max(colon + 1);
    let has_space = line.get(colon + 1).is_none_or(u8::is_ascii_whitespace);
    let is_heading = line[colon + 1..end].trim_ascii().is_empty() && name.contains(&b' ');
    (is_name && has_space && !is_heading).then_some(colon)
}
