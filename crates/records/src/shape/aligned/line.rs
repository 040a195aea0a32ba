//! A line as a terminal shows it: what stands in which of its columns.

use std::{borrow::Cow, ops::Range};

use unicode_width::UnicodeWidthChar;

/// How wide a program takes characters to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    /// As a terminal shows them: 李 has two columns.
    Display,
    /// Each of them has one.
    Characters,
}

/// A line and its columns.
pub(super) struct Line<'a> {
    bytes: &'a [u8],
    /// Where the character of each column begins; none if each byte has a column.
    starts: Option<Vec<usize>>,
}

impl Metric {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Display => Self::Characters,
            Self::Characters => Self::Display,
        }
    }
}

impl<'a> Line<'a> {
    pub(super) fn new(bytes: &'a [u8], metric: Metric) -> Self {
        let is_simple = bytes.is_ascii() && memchr::memchr(0x1B, bytes).is_none();
        Self { bytes, starts: (!is_simple).then(|| starts(bytes, metric)) }
    }

    pub(super) fn width(&self) -> usize {
        self.starts.as_ref().map_or(self.bytes.len(), Vec::len)
    }

    /// What stands in some columns, as far as the line goes.
    pub(super) fn slice(&self, columns: Range<usize>) -> &'a [u8] {
        let (start, end) = (self.offset(columns.start), self.offset(columns.end));
        &self.bytes[start..end.max(start)]
    }

    /// The character in a column and what is shown with it.
    pub(super) fn at(&self, column: usize) -> &'a [u8] {
        self.slice(column..column + 1)
    }

    /// True if a column holds a blank, or lies behind the end.
    pub(super) fn is_blank(&self, column: usize) -> bool {
        column >= self.width() || self.bytes[self.offset(column)] == b' '
    }

    fn offset(&self, column: usize) -> usize {
        match &self.starts {
            Some(starts) => starts.get(column).copied().unwrap_or(self.bytes.len()),
            None => column.min(self.bytes.len()),
        }
    }
}

fn starts(bytes: &[u8], metric: Metric) -> Vec<usize> {
    let mut starts = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        let mut text = chunk.valid();
        while let Some(character) = text.chars().next() {
            let escape = if character == '\x1B' { escape_length(text.as_bytes()) } else { 0 };
            let length = if escape > 0 { escape } else { character.len_utf8() };
            let width = match metric {
                _ if escape > 0 => 0,
                Metric::Display => character.width().unwrap_or(1),
                Metric::Characters => 1,
            };
            starts.extend(std::iter::repeat_n(offset, width));
            offset += length;
            text = &text[length..];
        }
        for _ in chunk.invalid() {
            starts.push(offset);
            offset += 1;
        }
    }
    starts
}

/// How long the sequence is that sets a colour, if there is one at the front.
fn escape_length(text: &[u8]) -> usize {
    let Some(inner) = text.strip_prefix(b"\x1B[") else { return 0 };
    let end = inner.iter().position(|byte| (0x40..=0x7E).contains(byte));
    end.map_or(0, |end| 2 + end + 1)
}

/// True if it matters for a line how wide its characters are taken to be.
pub(super) fn is_wide(bytes: &[u8]) -> bool {
    !bytes.is_ascii()
        && String::from_utf8_lossy(bytes).chars().any(|character| character.width() != Some(1))
}

/// What a cell says, without the blanks and colours around it.
pub(super) fn cell(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(0x1B, bytes).is_none() {
        return Cow::Borrowed(bytes.trim_ascii());
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        match escape_length(rest) {
            0 => {
                plain.push(*first);
                rest = &rest[1..];
            }
            length => rest = &rest[length..],
        }
    }
    Cow::Owned(plain.trim_ascii().to_vec())
}

/// How long the first line of a text is, with what ends it.
pub(super) fn length(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |newline| newline + 1)
}

/// The lines of a text, each with where it begins.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let begin = start;
        start += length(rest);
        Some((begin, without_end(&text[begin..start])))
    })
}

/// A line without what ends it.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
