//! Logs: lines that begin with a time, mostly with a level behind it.
//!
//! A line without a time, such as one of a stack trace, belongs to the entry before it.

use crate::profile::{Raw, Records, has_form};

const LOOKED_AT: usize = 50;
const MIN_LINES: usize = 5;

/// What a line begins with.
struct Entry<'a> {
    timestamp: &'a [u8],
    level: Option<&'a [u8]>,
    message: &'a [u8],
}

/// True if most lines begin with a time.
pub(super) fn is_log(text: &[u8]) -> bool {
    // Lines of a stack trace belong to the entry before them.
    let begins = |line: &&[u8]| {
        !line[0].is_ascii_whitespace()
            && !line.starts_with(b"Caused by")
            && !line.starts_with(b"Traceback")
    };
    let lines = || super::filled_lines(text).filter(begins).take(LOOKED_AT);
    let (all, timed) = (lines().count(), lines().filter(|line| entry(line).is_some()).count());
    timed >= MIN_LINES && timed * 2 >= all
}

/// Hands the entries of `text` to `table`.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    let (mut begin, mut start) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if start > begin && entry(line).is_some() {
            tell(&mut table, &text[begin..start]);
            begin = start;
        }
        start += line.len();
    }
    tell(&mut table, &text[begin..]);
    table
}

fn tell<'a>(table: &mut impl Records<'a>, written: &'a [u8]) {
    let written = written.trim_ascii_end();
    if written.is_empty() || !table.record(written) {
        return;
    }
    let Some(entry) = entry(written) else {
        table.field(2, b"message", Raw::Text(written));
        return;
    };
    table.field(0, b"timestamp", Raw::Text(entry.timestamp));
    // The column is there even if the first entries have no level.
    table.field(1, b"level", entry.level.map_or(Raw::Json(b"null"), Raw::Text));
    table.field(2, b"message", Raw::Text(entry.message));
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    /// Between the time and the level there may be a process or a module.
    const MAX_WORDS: usize = 4;
    let (timestamp, rest) = leading_time(line).or_else(|| time_in_brackets(line))?;
    let rest = rest.trim_ascii_start();
    let mut after = rest;
    for index in 0..MAX_WORDS {
        let end = after.iter().position(u8::is_ascii_whitespace).unwrap_or(after.len());
        let (word, remaining) = after.split_at(end);
        if let Some(level) = level(word) {
            // What stands before the level would be lost without it.
            let message = if index == 0 { remaining.trim_ascii() } else { rest.trim_ascii() };
            let message = message.strip_prefix(b"- ").unwrap_or(message);
            return Some(Entry { timestamp, level: Some(level), message });
        }
        after = remaining.trim_ascii_start();
    }
    Some(Entry { timestamp, level: None, message: rest.trim_ascii() })
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

/// The time at the front of a line, perhaps in brackets, and what follows.
fn leading_time(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (inner, is_bracketed) = match line.strip_prefix(b"[") {
        Some(inner) => (inner, true),
        None => (line, false),
    };
    let length = [day_and_time(inner), month_and_time(inner), time(inner, false)]
        .into_iter()
        .flatten()
        .next()?;
    let (timestamp, rest) = inner.split_at(length);
    if is_bracketed {
        return Some((timestamp, rest.strip_prefix(b"]")?));
    }
    let is_apart =
        rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || b":|,".contains(byte));
    is_apart.then(|| (timestamp, rest.strip_prefix(b":").unwrap_or(rest)))
}

/// The time of a web server's line: `127.0.0.1 - - [15/Nov/2026:05:27:06 +0000] "GET / HTTP/1.1"`.
fn time_in_brackets(line: &[u8]) -> Option<(&[u8], &[u8])> {
    const WITHIN: usize = 120;
    let open = memchr::memchr(b'[', &line[..line.len().min(WITHIN)])?;
    let inner = &line[open + 1..];
    has_form(inner, b"99/aaa/9999:99:99:99").then_some(())?;
    let close = memchr::memchr(b']', &inner[..inner.len().min(40)])?;
    // The whole line is the message: the address before the time would be lost without it.
    Some((&inner[..close], line))
}

/// How long a day with a time is: `2026-11-15T05:27:06.123Z`.
fn day_and_time(text: &[u8]) -> Option<usize> {
    let has_day = has_form(text, b"9999-99-99") || has_form(text, b"9999/99/99");
    let separator = has_day.then(|| text.get(10)).flatten()?;
    if !matches!(separator, b'T' | b't' | b' ' | b'_') {
        return None;
    }
    Some(11 + time(text.get(11..)?, true)?)
}

/// How long a syslog time is: `Nov  5 05:27:06`.
fn month_and_time(text: &[u8]) -> Option<usize> {
    (has_form(text, b"aaa 99 99:99:99") || has_form(text, b"aaa  9 99:99:99")).then_some(15)
}

/// How long a time of day is, with its fraction and, if it follows a day, its zone.
fn time(text: &[u8], has_day: bool) -> Option<usize> {
    let mut length = if has_form(text, b"99:99:99") {
        8
    } else if has_day && has_form(text, b"99:99") {
        return Some(5);
    } else {
        return None;
    };
    if matches!(text.get(length), Some(b'.' | b',')) {
        let digits = text[length + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        length += if digits > 0 { digits + 1 } else { 0 };
    }
    if has_day {
        let zone = &text[length..];
        length += match zone {
            [b'Z' | b'z', ..] => 1,
            _ if has_form(zone, b"+99:99") || has_form(zone, b"-99:99") => 6,
            _ if has_form(zone, b"+9999") || has_form(zone, b"-9999") => 5,
            _ if has_form(zone, b" +9999") || has_form(zone, b" -9999") => 6,
            _ => 0,
        };
    }
    Some(length)
}
