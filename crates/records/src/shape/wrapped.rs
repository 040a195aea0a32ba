//! JSON that does not stand alone: in a fence, among sentences, inside a string.

use std::ops::Range;

use forebay_wire::{scan, syntax, walk};
use memchr::{memchr2, memrchr};

use super::{
    MAX_REWRITTEN_BYTES,
    around::{AFTER, Around, BEFORE, BETWEEN},
};
use crate::strings::step;

/// A longer text is not searched: it would be held in memory.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Words before, between and after the documents may be this long.
const MAX_PROSE_BYTES: usize = 4_096;
/// In a text with more documents than this between words, they are parts of the words.
const MAX_RUNS: usize = 64;

/// JSON in a text, and what stands around it.
pub(super) struct Found<J> {
    pub(super) json: J,
    /// It is objects one after the other.
    pub(super) is_sequence: bool,
    pub(super) around: Around,
}

/// Documents with nothing but white space between them.
struct Run {
    span: Range<usize>,
    documents: usize,
}

/// The JSON in a text that says little else: its longest document, or objects in a row.
pub(super) fn in_prose(text: &[u8]) -> Option<Found<&[u8]>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let runs = runs(text)?;
    let in_runs: usize = runs.iter().map(|run| run.span.len()).sum();
    // Of equally long ones the first.
    let main = (0..runs.len()).rev().max_by_key(|index| runs[*index].span.len())?;
    if in_runs * 2 <= text.len() {
        return None;
    }
    let mut around = Around::default();
    let mut end = 0;
    for (index, run) in runs.iter().enumerate() {
        let words = before_fence(&text[end..run.span.start]);
        if index == 0 {
            around.text(BEFORE, words);
        } else {
            around.text(BETWEEN, behind_fence(words));
        }
        if index != main {
            let json = &text[run.span.clone()];
            around.json(&other_document(json, run.documents), json);
            around.left_out(run.documents - 1);
        }
        end = run.span.end;
    }
    around.text(AFTER, behind_fence(&text[end..]));
    let Run { span, documents } = &runs[main];
    Some(Found { json: &text[span.clone()], is_sequence: *documents > 1, around })
}

/// What documents are called that are not described.
fn other_document(json: &[u8], documents: usize) -> String {
    match (documents, walk::elements(json).map_or(0, Iterator::count)) {
        (1, 0 | 1) => "other document".to_owned(),
        (1, elements) => format!("other document, a list of {elements}"),
        (documents, _) => format!("{documents} other documents"),
    }
}

/// The JSON that a JSON string holds, itself perhaps a string that holds some.
pub(super) fn in_string(json: &[u8]) -> Option<Found<Vec<u8>>> {
    const MAX_LAYERS: usize = 3;
    if json.len() > MAX_REWRITTEN_BYTES {
        return None;
    }
    let mut text = json.to_vec();
    for _ in 0..MAX_LAYERS {
        text = scan::string(text.trim_ascii())?.into_owned().into_bytes();
        if document(&text).is_some_and(|(_, rest)| rest.trim_ascii().is_empty()) {
            return Some(Found { json: text, is_sequence: false, around: Around::default() });
        }
        let is_string = text.trim_ascii_start().starts_with(b"\"");
        if !is_string && let Some(Found { json, is_sequence, around }) = in_prose(&text) {
            return Some(Found { json: json.to_vec(), is_sequence, around });
        }
    }
    None
}

/// The JSON in a member of an object that holds little else: `{"result": "[…]"}`.
pub(super) fn in_member(object: &[u8]) -> Option<Found<Vec<u8>>> {
    let (key, value) = walk::members(object)?.max_by_key(|(_, value)| value.len())?;
    let is_most = value.len() * 10 > object.len() * 8;
    let mut found = (is_most && value.starts_with(b"\"")).then(|| in_string(value)).flatten()?;
    let others = walk::members(object)?.filter(|(other, _)| other.as_ptr() != key.as_ptr());
    for (name, value) in others {
        found.around.json(&step("$", name), value);
    }
    Some(found)
}

/// The documents in a text; `None` if there are too many words, or too many documents.
fn runs(text: &[u8]) -> Option<Vec<Run>> {
    /// What begins like a document and has no end is read to the end of the text.
    const MAX_FAILURES: usize = 4;
    let mut runs: Vec<Run> = Vec::new();
    let (mut end, mut from, mut failures) = (0, 0, 0);
    while failures < MAX_FAILURES {
        let window = &text[from..text.len().min(end + MAX_PROSE_BYTES).max(from)];
        let Some(offset) = memchr2(b'{', b'[', window) else { break };
        let start = from + offset;
        let Some((json, _)) = document(&text[start..]) else {
            failures += 1;
            from = start + 1;
            continue;
        };
        from = start + json.len();
        // Words may hold brackets, too.
        let is_most = json.len() * 2 > text.len();
        let is_document = is_most || is_apart(text, start, from) && syntax::check(json).is_ok();
        if !is_document {
            continue;
        }
        let goes_on = json.starts_with(b"{") && text[end..start].trim_ascii().is_empty();
        match runs.last_mut() {
            Some(run) if goes_on && text[run.span.start] == b'{' => {
                run.span.end = from;
                run.documents += 1;
            }
            _ => runs.push(Run { span: start..from, documents: 1 }),
        }
        end = from;
        if runs.len() > MAX_RUNS {
            return None;
        }
    }
    (text.len() - end <= MAX_PROSE_BYTES).then_some(runs)
}

/// True if nothing else stands on the lines of a document.
fn is_apart(text: &[u8], start: usize, end: usize) -> bool {
    let before = &text[memrchr(b'\n', &text[..start]).map_or(0, |newline| newline + 1)..start];
    let after = text[end..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    before.trim_ascii().is_empty() && after.trim_ascii().is_empty()
}

const FENCE: &[u8] = b"```";

/// A text without the fence that it ends with.
fn before_fence(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let start = memrchr(b'\n', text).map_or(0, |newline| newline + 1);
    if text[start..].trim_ascii_start().starts_with(FENCE) { &text[..start] } else { text }
}

/// A text without the fence that it begins with.
fn behind_fence(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    text.strip_prefix(FENCE).unwrap_or(text)
}

/// Splits a document that holds something from what follows it.
fn document(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let holds_something = match text.first()? {
        b'{' => walk::members(text)?.next().is_some(),
        b'[' => walk::elements(text)?.next().is_some(),
        _ => false,
    };
    holds_something.then(|| walk::value(text)).flatten()
}
