//! JSON that does not stand alone: in a fence, behind a sentence, inside a string.

use forebay_wire::{scan, walk};
use memchr::{memchr, memchr2_iter, memmem};

use super::MAX_REWRITTEN_BYTES;

/// A longer text is not searched: it would be held in memory.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Words before and after the JSON may be this long.
const MAX_PROSE_BYTES: usize = 2_048;

/// The JSON document in a text that says little else.
pub(super) fn in_prose(text: &[u8]) -> Option<&[u8]> {
    /// The words before it may hold brackets themselves.
    const TRIES: usize = 4;
    if text.len() > MAX_BYTES {
        return None;
    }
    let head = &text[..text.len().min(MAX_PROSE_BYTES)];
    if let Some(fence) = memmem::find(head, b"```") {
        let start = fence + memchr(b'\n', &text[fence..])? + 1;
        let (json, rest) = document(&text[start..])?;
        let is_fenced = rest.trim_ascii_start().starts_with(b"```");
        return (is_fenced && rest.len() <= MAX_PROSE_BYTES).then_some(json);
    }
    memchr2_iter(b'{', b'[', head).take(TRIES).find_map(|start| {
        let (json, rest) = document(&text[start..])?;
        let is_most = json.len() * 2 > text.len() && rest.len() <= MAX_PROSE_BYTES;
        is_most.then_some(json)
    })
}

/// The JSON document that a JSON string holds, itself perhaps a string that holds one.
pub(super) fn in_string(json: &[u8]) -> Option<Vec<u8>> {
    const MAX_LAYERS: usize = 3;
    if json.len() > MAX_REWRITTEN_BYTES {
        return None;
    }
    let mut text = json.to_vec();
    for _ in 0..MAX_LAYERS {
        text = scan::string(text.trim_ascii())?.into_owned().into_bytes();
        if document(&text).is_some_and(|(_, rest)| rest.trim_ascii().is_empty()) {
            return Some(text);
        }
    }
    None
}

/// The JSON document in a member of an object that holds little else: `{"result": "[…]"}`.
pub(super) fn in_member(object: &[u8]) -> Option<Vec<u8>> {
    let (_, value) = walk::members(object)?.max_by_key(|(_, value)| value.len())?;
    let is_most = value.len() * 10 > object.len() * 8;
    (is_most && value.starts_with(b"\"")).then(|| in_string(value)).flatten()
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
