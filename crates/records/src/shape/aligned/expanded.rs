//! Records one below the other, a line for each column: what `psql` prints with `\x`, and `mysql`
//! with `\G`.

use std::borrow::Cow;

use super::{
    Found, Layout,
    line::{self, Line, Metric, lines, without_end},
};
use crate::table::{Raw, Records};

/// How the records are drawn.
pub(super) struct Expanded {
    style: Style,
    /// The column of what stands between a name and its value.
    separator: usize,
    /// Bars stand at both ends of a line.
    is_framed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `-[ RECORD 1 ]----`, `name | value`.
    Psql,
    /// `**** 1. row ****`, `name: value`.
    Mysql,
}

/// The records that begin at the front of a text.
pub(super) fn at(text: &[u8]) -> Option<Found<'_>> {
    let length = line::length(text);
    let style = heading(without_end(&text[..length]))?;
    let first = without_end(&text[length..length + line::length(&text[length..])]);
    let is_framed = style == Style::Psql && bar(first).is_some();
    let line = Line::new(first, Metric::Display);
    let separator = (1..line.width()).find(|column| match style {
        Style::Psql => bar(line.at(*column)).is_some(),
        Style::Mysql => line.at(*column) == b":",
    })?;
    let expanded = Expanded { style, separator, is_framed };
    expanded.field(first)?;
    let end = expanded.end(text);
    Some(Found { layout: Layout::Expanded(expanded), body: &text[..end.0], end: end.1, note: None })
}

/// How a record is drawn that begins with this line.
fn heading(line: &[u8]) -> Option<Style> {
    let stars = line.strip_prefix(b"***************************");
    if let Some(inner) = stars.and_then(|rest| rest.strip_suffix(b"***************************")) {
        let number = inner.trim_ascii().strip_suffix(b". row")?;
        return number.iter().all(u8::is_ascii_digit).then_some(Style::Mysql);
    }
    let text = std::str::from_utf8(line.get(..line.len().min(60))?).ok();
    let text = text.or_else(|| std::str::from_utf8(line).ok())?;
    let inner = text.trim_start_matches(['+', '┌', '├', '╔', '╠']);
    let inner = inner.strip_prefix(['-', '─', '═'])?.strip_prefix("[ RECORD ")?;
    let number = inner.split(' ').next()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(Style::Psql)
}

fn bar(text: &[u8]) -> Option<()> {
    let is_bar = text.starts_with(b"|")
        || text.starts_with("│".as_bytes())
        || text.starts_with("║".as_bytes());
    is_bar.then_some(())
}

impl Expanded {
    /// Where the last record ends, and where what is drawn below it does.
    fn end(&self, text: &[u8]) -> (usize, usize) {
        let mut end = 0;
        let mut is_after_value = false;
        for (start, line) in lines(text) {
            let is_part = heading(line).is_some() || self.field(line).is_some();
            if is_part {
                is_after_value = true;
            } else {
                let is_bottom = self.is_framed
                    && std::str::from_utf8(line)
                        .is_ok_and(|line| line.starts_with(['+', '└', '╚']) && !line.contains('['));
                if is_bottom {
                    return (start, start + line::length(&text[start..]));
                }
                // The values of `mysql` go on as they are, up to what counts the rows.
                let goes_on = self.style == Style::Mysql && is_after_value && !is_count(line);
                if !goes_on {
                    return (start, start);
                }
            }
            end = start + line::length(&text[start..]);
        }
        (end, end)
    }

    /// The name and the value on a line; the name is blank where a value goes on.
    fn field<'a>(&self, line: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let text = line;
        let line = Line::new(text, Metric::Display);
        let is_separator = |line: &Line<'_>| match self.style {
            Style::Psql => bar(line.at(self.separator)).is_some(),
            Style::Mysql => line.at(self.separator) == b":",
        };
        let line = if is_separator(&line) { line } else { Line::new(text, Metric::Characters) };
        is_separator(&line).then_some(())?;
        let start = usize::from(self.is_framed);
        let name = line.slice(start..self.separator).trim_ascii();
        let mut value = line.slice(self.separator + 1..line.width());
        if self.is_framed {
            let trimmed = value.trim_ascii_end();
            value = ["|", "│", "║"].iter().find_map(|bar| trimmed.strip_suffix(bar.as_bytes()))?;
        }
        Some((name, value))
    }

    pub(super) fn records<'a>(&self, body: &'a [u8], sink: &mut impl Records<'a>) {
        let mut lines = lines(body).peekable();
        while let Some((start, _)) = lines.next() {
            let mut end = start;
            let mut first = None;
            while let Some((at, line)) = lines.next_if(|(_, line)| heading(line).is_none()) {
                first = first.or(Some(at));
                end = at + line.len();
            }
            match first {
                Some(first) => self.tell(&body[first..end], sink),
                // Cut off behind its heading.
                None => sink.skip(),
            }
        }
    }

    fn tell<'a>(&self, written: &'a [u8], sink: &mut impl Records<'a>) {
        if !sink.record(written) {
            return;
        }
        let mut fields: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
        for (_, line) in lines(written) {
            let (name, value) = self.field(line).unwrap_or((b"", line));
            match fields.last_mut() {
                Some((_, known)) if name.is_empty() => {
                    let before = self.unmarked(known).len();
                    let known = known.to_mut();
                    known.truncate(before);
                    known.push(b'\n');
                    known.extend(value.trim_ascii_end().strip_prefix(b" ").unwrap_or(value));
                }
                _ => fields.push((name, Cow::Borrowed(value))),
            }
        }
        for (place, (name, value)) in fields.iter().enumerate() {
            sink.field(place, name, Raw::Cell(&line::cell(value)));
        }
    }

    /// A value that goes on, without the sign that says so.
    fn unmarked<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        let value = value.trim_ascii_end();
        match self.style {
            Style::Psql => {
                let sign = [b"+".as_slice(), "↵".as_bytes()];
                let marked = sign.iter().find_map(|sign| value.strip_suffix(*sign));
                marked.unwrap_or(value).trim_ascii_end()
            }
            Style::Mysql => value,
        }
    }
}

/// True if a line is `90 rows in set`.
fn is_count(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &line[digits..];
    digits > 0 && (rest.starts_with(b" rows in set") || rest.starts_with(b" row in set"))
}
