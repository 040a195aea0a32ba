//! The client's roots: where it works, as it tells an upstream that asks.
//!
//! We only listen. A question of our own would be one that a client can tell from its server's.

use std::{ops::Range, sync::Arc};

use forebay_wire::walk;

use super::methods::text;
use crate::body::Source;

/// The question for them.
pub(crate) const LIST: &str = "roots/list";

/// The first root in a client's answer: a path where it is a file, else as it is written.
pub(crate) fn first(source: Source<'_>, result: &Range<u64>) -> Option<Arc<str>> {
    let [roots] = source.members(result, ["roots"]);
    let first = walk::elements(source.in_memory(&roots?.span)?)?.next()?;
    let (_, uri) = walk::members(first)?.find(|(key, _)| *key == b"uri")?;
    let uri = text(Some(uri.to_vec()))?;
    let place = match uri.strip_prefix("file://") {
        Some(path) => decoded(path)?,
        None => uri,
    };
    let place = if place.len() > 1 { place.trim_end_matches('/') } else { &place };
    Some(place.into())
}

/// A path without its percent signs.
fn decoded(path: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|it| u8::from_str_radix(str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8(bytes).ok()
}
