//! Syslog: a time, the host, the program and perhaps its process, then the message.
//!
//! That is what RFC 3164 and RFC 5424 have in common with the files that syslog daemons write and
//! with what `journalctl` prints. An indented line goes on with the message before it.

use std::borrow::Cow;

use super::times::{self, Time};
use crate::table::{Raw, Records};

const LOOKED_AT: usize = 50;
const MIN_LINES: usize = 3;

/// What a line begins with.
struct Entry<'a> {
    priority: Option<&'a [u8]>,
    timestamp: Cow<'a, [u8]>,
    host: &'a [u8],
    app: Option<&'a [u8]>,
    pid: Option<&'a [u8]>,
    /// RFC 5424 has these two.
    message_id: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
    message: &'a [u8],
}

/// True if most lines name a host and a program behind their time.
pub(super) fn is_syslog(text: &[u8]) -> bool {
    let lines = || {
        let lines = super::filled_lines(text).filter(|line| !line[0].is_ascii_whitespace());
        lines.take(LOOKED_AT)
    };
    let names_program = |line: &&[u8]| entry(line).is_some_and(|entry| entry.app.is_some());
    let (all, named) = (lines().count(), lines().filter(names_program).count());
    named >= MIN_LINES && named * 10 >= all * 8
}

/// True if a line begins an entry.
pub(super) fn begins(line: &[u8]) -> bool {
    entry(line).is_some()
}

/// Hands the entries of `text`, which begins with one, to `table`.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    for written in super::log::split(text, begins) {
        let Some(entry) = entry(written) else { continue };
        if !table.record(written) {
            continue;
        }
        let or_null = |text: Option<&'a [u8]>| text.map_or(Raw::Json(b"null"), Raw::Text);
        let message = unindented(entry.message);
        table.field(0, b"timestamp", Raw::Text(&entry.timestamp));
        table.field(1, b"host", Raw::Text(entry.host));
        table.field(2, b"app", or_null(entry.app));
        table.field(3, b"pid", entry.pid.map_or(Raw::Json(b"null"), Raw::Cell));
        table.field(4, b"message", Raw::Text(&message));
        let mut place = 5;
        if let Some(priority) = entry.priority {
            table.field(place, b"priority", Raw::Cell(priority));
            place += 1;
        }
        let more = [(b"msgid".as_slice(), entry.message_id), (b"structured_data", entry.data)];
        for (name, text) in more.into_iter().filter(|(_, text)| text.is_some()) {
            table.field(place, name, or_null(text));
            place += 1;
        }
    }
    table
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let (priority, rest) = match line.strip_prefix(b"<") {
        Some(inner) => {
            let end = memchr::memchr(b'>', &inner[..inner.len().min(4)])?;
            let is_number = end > 0 && inner[..end].iter().all(u8::is_ascii_digit);
            is_number.then(|| (Some(&inner[..end]), &inner[end + 1..]))?
        }
        None => (None, line),
    };
    if let (Some(_), Some(rest)) = (priority, rest.strip_prefix(b"1 ")) {
        return structured(priority, rest);
    }
    let Time { text: timestamp, length } = times::without_year(rest)
        .or_else(|| times::numeric(rest))
        .or_else(|| times::with_weekday(rest))?;
    let (host, rest) = word(rest[length..].strip_prefix(b" ")?);
    // A host has letters, digits and few signs; a level in brackets is none.
    let is_host = host.first()?.is_ascii_alphanumeric()
        && host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(byte))
        && !host.ends_with(b":");
    is_host.then_some(())?;
    let rest = rest.strip_prefix(b" ")?;
    let (app, pid, message) = match tag(rest) {
        Some((app, pid, message)) => (Some(app), pid, message),
        None => (None, None, rest),
    };
    let (message_id, data) = (None, None);
    let message = message.trim_ascii();
    Some(Entry { priority, timestamp, host, app, pid, message_id, data, message })
}

/// The program, its process, and what follows.
type Tag<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);

/// The front of `sshd[12]: Accepted …`.
fn tag(text: &[u8]) -> Option<Tag<'_>> {
    const MAX_BYTES: usize = 100;
    let head = &text[..text.len().min(MAX_BYTES)];
    let end =
        head.iter().position(|byte| matches!(byte, b':' | b'[') || byte.is_ascii_whitespace());
    let (app, rest) = text.split_at(end?);
    if app.is_empty() {
        return None;
    }
    if let Some(message) = rest.strip_prefix(b":") {
        let is_apart = message.first().is_none_or(u8::is_ascii_whitespace);
        return is_apart.then_some((app, None, message));
    }
    let inner = rest.strip_prefix(b"[")?;
    let close = memchr::memchr(b']', &inner[..inner.len().min(20)])?;
    Some((app, Some(&inner[..close]), inner[close + 1..].strip_prefix(b":")?))
}

/// The rest of a line of RFC 5424: `TIME HOST APP PROCESS ID DATA MESSAGE`, each perhaps `-`.
fn structured<'a>(priority: Option<&'a [u8]>, text: &'a [u8]) -> Option<Entry<'a>> {
    let Time { text: timestamp, length } = times::numeric(text)?;
    let mut rest = &text[length..];
    let mut next = || {
        let (word, after) = word(rest.strip_prefix(b" ")?);
        rest = after;
        Some(word)
    };
    let (host, app, pid, message_id) = (next()?, next()?, next()?, next()?);
    let rest = rest.strip_prefix(b" ")?;
    let (data, message) = if let Some(message) = rest.strip_prefix(b"-") {
        (None, message)
    } else {
        let end = data_length(rest)?;
        (Some(&rest[..end]), &rest[end..])
    };
    let some = |word: &'a [u8]| (word != b"-").then_some(word);
    let message = message.trim_ascii();
    let message = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
    Some(Entry {
        priority,
        timestamp,
        host,
        app: some(app),
        pid: some(pid),
        message_id: some(message_id),
        data,
        message,
    })
}

/// How long structured data is: `[id name="value"][id]`, where `]` may be escaped in a value.
fn data_length(text: &[u8]) -> Option<usize> {
    let mut end = 0;
    while text.get(end) == Some(&b'[') {
        let mut is_escaped = false;
        let close = text[end..].iter().position(|byte| {
            let is_end = *byte == b']' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            is_end
        })?;
        end += close + 1;
    }
    (end > 0).then_some(end)
}

fn word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()))
}

/// A message without what its further lines are indented by.
fn unindented(message: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', message).is_none() {
        return Cow::Borrowed(message);
    }
    let lines: Vec<&[u8]> = message.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    Cow::Owned(lines.join(&b'\n'))
}
