//! Logs: lines that begin with a time, mostly with a level behind it.
//!
//! A line without a time, such as one of a stack trace, belongs to the entry before it.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::{
    around::{Around, BEFORE},
    times::{self, Time},
};
use crate::table::{Raw, Records};

const LOOKED_AT: usize = 50;
const MIN_LINES: usize = 5;

/// What a line begins with.
struct Entry<'a> {
    timestamp: Cow<'a, [u8]>,
    level: Option<&'a [u8]>,
    message: &'a [u8],
}

/// True if most lines begin with a time.
pub(super) fn is_log(text: &[u8]) -> bool {
    // Lines of a stack trace belong to the entry before them.
    let may_begin = |line: &&[u8]| {
        !line[0].is_ascii_whitespace()
            && !line.starts_with(b"Caused by")
            && !line.starts_with(b"Traceback")
    };
    let lines = || super::filled_lines(text).filter(may_begin).take(LOOKED_AT);
    let (all, timed) = (lines().count(), lines().filter(|line| begins(line)).count());
    timed >= MIN_LINES && timed * 2 >= all
}

/// True if a line begins an entry.
pub(super) fn begins(line: &[u8]) -> bool {
    time(line).is_some()
}

/// A text from its first entry on, and what stands before it.
pub(super) fn from_first(text: &[u8], begins: fn(&[u8]) -> bool) -> (&[u8], Around) {
    let first = super::filled_lines(text).find(|line| begins(line));
    let start = first.map_or(0, |line| line.as_ptr().addr() - text.as_ptr().addr());
    let mut around = Around::default();
    around.text(BEFORE, &text[..start]);
    (&text[start..], around)
}

/// Hands the entries of `text`, which begins with one, to `table`.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    for written in split(text, begins) {
        let Some(entry) = entry(written) else { continue };
        if table.record(written) {
            table.field(0, b"timestamp", Raw::Text(&entry.timestamp));
            // The column is there even if the first entries have no level.
            table.field(1, b"level", entry.level.map_or(Raw::Json(b"null"), Raw::Text));
            table.field(2, b"message", Raw::Text(entry.message));
        }
    }
    table
}

/// The entries of a text, each with the lines that follow it and begin none.
pub(super) fn split(text: &[u8], begins: fn(&[u8]) -> bool) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr_iter(b'\n', text).chain([text.len()]).filter_map(move |end| {
        let next = text.len().min(end + 1);
        let line = &text[next..];
        let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
        if next < text.len() && !begins(line) {
            return None;
        }
        let written = text[begin..next].trim_ascii_end();
        begin = next;
        (!written.is_empty()).then_some(written)
    })
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    /// Between the time and the level there may be a process or a module.
    const MAX_WORDS: usize = 4;
    let (timestamp, rest) = time(line)?;
    let rest = rest.trim_ascii();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for (index, word) in words.take(MAX_WORDS).enumerate() {
        let alone = level(word);
        let Some(level) = alone.or_else(|| level_of_module(word)) else { continue };
        // What stands before the level would be lost without it.
        let is_first = index == 0 && alone.is_some();
        let message = if is_first { rest[word.len()..].trim_ascii() } else { rest };
        let message = message.strip_prefix(b"- ").unwrap_or(message);
        return Some(Entry { timestamp, level: Some(level), message });
    }
    Some(Entry { timestamp, level: None, message: rest })
}

fn time(line: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    leading_time(line).or_else(|| time_in_brackets(line))
}

/// The level in a word such as `[INFO]` or `warn:`.
fn level(word: &[u8]) -> Option<&[u8]> {
    const LEVELS: [&[u8]; 18] = [
        b"trace",
        b"debug",
        b"info",
        b"notice",
        b"warn",
        b"warning",
        b"error",
        b"err",
        b"critical",
        b"crit",
        b"fatal",
        b"alert",
        b"emerg",
        b"severe",
        b"verbose",
        b"silly",
        b"panic",
        b"information",
    ];
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let start = word.iter().position(is_letter)?;
    let end = word.iter().rposition(is_letter)? + 1;
    let bare = &word[start..end];
    let is_framed = word.len() - bare.len() <= 3;
    (is_framed && LEVELS.iter().any(|level| bare.eq_ignore_ascii_case(level))).then_some(bare)
}

/// The level in a word such as `[core:error]`.
fn level_of_module(word: &[u8]) -> Option<&[u8]> {
    let inner = word.strip_prefix(b"[")?.strip_suffix(b"]")?;
    level(&inner[memchr::memchr(b':', inner)? + 1..])
}

/// The time at the front of a line, perhaps in brackets, and what follows.
fn leading_time(line: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let (inner, is_bracketed) = match line.strip_prefix(b"[") {
        Some(inner) => (inner, true),
        None => (line, false),
    };
    let Time { text, length } = times::leading(inner)?;
    let rest = &inner[length..];
    if is_bracketed {
        return Some((text, rest.strip_prefix(b"]")?));
    }
    let is_apart =
        rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || b":|,".contains(byte));
    is_apart.then(|| (text, rest.strip_prefix(b":").unwrap_or(rest)))
}

/// The time of a web server's line: `127.0.0.1 - - [15/Nov/2026:05:27:06 +0000] "GET / HTTP/1.1"`.
fn time_in_brackets(line: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    const WITHIN: usize = 120;
    let open = memchr::memchr(b'[', &line[..line.len().min(WITHIN)])?;
    let Time { text, length } = times::of_web_server(&line[open + 1..])?;
    // The whole line is the message: the address before the time would be lost without it.
    (line.get(open + 1 + length) == Some(&b']')).then_some((text, line))
}
