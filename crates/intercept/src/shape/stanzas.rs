//! Paragraphs of `Name: value` lines, as package lists and commit logs have them.
//!
//! A line that begins with white space goes on with the value before it.

use crate::profile::{Builder, Raw};

const LOOKED_AT: usize = 20;
const MIN_STANZAS: usize = 3;
const MAX_NAME_BYTES: usize = 40;

/// True if the paragraphs are alike: each begins with the same name.
pub(super) fn are_stanzas(text: &[u8]) -> bool {
    let stanzas = || paragraphs(text).take(LOOKED_AT);
    let first_names = || stanzas().map(|stanza| fields(stanza).next().map(|(name, _)| name));
    // A heading may stand before the first.
    let Some(name) = first_names().flatten().next() else { return false };
    let (all, alike) =
        (stanzas().count(), first_names().filter(|first| *first == Some(name)).count());
    let have_several = stanzas().filter(|stanza| fields(stanza).count() > 1).count();
    alike >= MIN_STANZAS && alike * 10 >= all * 9 && have_several * 10 >= all * 8
}

/// Hands the paragraphs of `text` to `table`.
pub(super) fn records<'a>(text: &'a [u8], mut table: Builder<'a>) -> Builder<'a> {
    for stanza in paragraphs(text).filter(|stanza| fields(stanza).next().is_some()) {
        if table.record(stanza) {
            for (place, (name, value)) in fields(stanza).enumerate() {
                table.field(place, name, Raw::Cell(value));
            }
        }
    }
    table
}

/// The parts of a text between blank lines.
fn paragraphs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            if line.trim_ascii().is_empty() {
                break;
            }
            end += line.len();
        }
        let (paragraph, after) = rest.split_at(end);
        rest = after;
        Some(paragraph.trim_ascii_end())
    })
}

/// The names and values of a paragraph, if it is nothing else but for a heading.
fn fields(stanza: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut start = 0;
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut is_other = false;
    for line in stanza.split_inclusive(|byte| *byte == b'\n') {
        match name_length(line) {
            Some(length) => starts.push((start, length)),
            None if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) => {}
            None if starts.is_empty() && line.trim_ascii_end().ends_with(b":") => {}
            None => is_other = true,
        }
        start += line.len();
    }
    if is_other {
        starts.clear();
    }
    let ends: Vec<usize> =
        starts.iter().skip(1).map(|(next, _)| *next).chain([stanza.len()]).collect();
    starts.into_iter().zip(ends).map(move |((begin, length), end)| {
        (&stanza[begin..begin + length], stanza[begin + length + 1..end].trim_ascii())
    })
}

/// How long the name at the front of a line is, if there is one and a value behind it.
fn name_length(line: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', &line[..line.len().min(MAX_NAME_BYTES)])?;
    let name = &line[..colon];
    let is_name = name.first()?.is_ascii_alphabetic()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_ ".contains(byte));
    let has_space = line.get(colon + 1).is_none_or(u8::is_ascii_whitespace);
    let is_heading = line[colon + 1..].trim_ascii().is_empty() && name.contains(&b' ');
    (is_name && has_space && !is_heading).then_some(colon)
}
