//! JSON objects one after the other: one on each line, or on however many.

use forebay_wire::{syntax, walk};
use memchr::{memchr, memchr_iter};

use super::json::record;
use crate::table::Records;

/// True if nearly every line looked at is an object, and there are several.
pub(super) fn are_lines(text: &[u8]) -> bool {
    const LOOKED_AT: usize = 20;
    /// A first line may be this long.
    const LOOKED_AT_BYTES: usize = 1024 * 1024;
    let is_object = |line: &[u8]| {
        line.starts_with(b"{")
            && walk::value(line).is_some_and(|(_, rest)| rest.trim_ascii_start().is_empty())
    };
    // A document on one line has no second one, however far one looks.
    let head = &text[..text.len().min(LOOKED_AT_BYTES)];
    let has_lines = memchr(b'\n', head).is_some();
    let (mut all, mut objects) = (0, 0);
    for line in lines(if has_lines { text } else { b"" }).take(LOOKED_AT) {
        all += 1;
        objects += usize::from(is_object(line));
    }
    objects > 1 && objects * 10 >= all * 9
}

/// The lines of a text of JSON lines.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr_iter(b'\n', text)
        .chain([text.len()])
        .map(move |end| {
            let line = text.get(start..end).unwrap_or_default().trim_ascii();
            start = end + 1;
            line
        })
        .filter(|line| !line.is_empty())
}

/// Hands the objects on the lines of `text` to `table`; `None` if many lines turn out to be none.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> Option<R> {
    for line in lines(text) {
        if syntax::check(line).is_ok() {
            record(&mut table, line);
        } else {
            table.skip();
        }
    }
    (!table.is_mostly_skipped()).then_some(table)
}

/// True if a text begins with two objects, one after the other, on however many lines, and ends
/// like one.
pub(super) fn is_sequence(text: &[u8]) -> bool {
    if !text.trim_ascii_end().ends_with(b"}") {
        return false;
    }
    let mut objects = 0;
    let mut rest = text.trim_ascii_start();
    while objects < 2 && rest.starts_with(b"{") {
        let Some((_, after)) = walk::value(rest) else { return false };
        objects += 1;
        rest = after.trim_ascii_start();
    }
    objects == 2
}

/// Hands objects that follow one another to `table`; `None` if anything else is among them.
pub(super) fn sequence<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> Option<R> {
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let (value, after) = walk::value(rest)?;
        (value.starts_with(b"{") && syntax::check(value).is_ok()).then_some(())?;
        record(&mut table, value);
        rest = after.trim_ascii_start();
    }
    Some(table)
}
