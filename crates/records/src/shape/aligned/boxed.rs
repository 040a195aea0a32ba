//! Tables with bars between their columns, as `psql`, `mysql`, `sqlite3` and DuckDB draw them.
//!
//! Where the columns are is what the rule under the header says. A cell may hold a bar itself; it may
//! go on in the next line, which a sign at its right edge says, or which the rules between the rows
//! say, or nothing but that the frame is not closed.

use std::{borrow::Cow, ops::Range};

use super::{
    Found, Layout,
    line::{self, Line, Metric, lines, without_end},
    signs::{Rule, bar, bar_at, contains_bar, is_row_count, rule},
};
use crate::table::Records;

/// A header has no more lines than this.
const MAX_HEADER_LINES: usize = 8;

/// Where the bars of a table are.
pub(super) struct Boxed {
    names: Vec<Vec<u8>>,
    columns: Vec<Range<usize>>,
    /// Where bars stand.
    bars: Vec<usize>,
    bar: Vec<u8>,
    /// Bars stand at both ends, too.
    is_framed: bool,
    /// What stands between the rows, if anything does.
    separator: Option<Vec<u8>>,
    width: usize,
}

/// A row in the making: what its cells say so far, and which of them go on.
struct Row<'a> {
    cells: Vec<Cow<'a, [u8]>>,
    marks: Vec<Mark>,
}

/// What stands at the right edge of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// The cell goes on in a new line of its text.
    Newline,
    /// The cell goes on in the same line.
    Wrap,
}

/// The table that begins at the front of a text.
pub(super) fn at(text: &[u8]) -> Option<Found<'_>> {
    let first = without_end(&text[..line::length(text)]);
    match rule(first) {
        Some(top) if top.is_framed() => framed(text, &top, first),
        Some(_) => None,
        None => under_header(text).or_else(|| one_column(text)),
    }
}

/// A table in a frame: a rule, the header, a rule, the rows, a rule.
fn framed<'a>(text: &'a [u8], top: &Rule, first: &'a [u8]) -> Option<Found<'a>> {
    let start = line::length(text);
    let bar = bar(&text[start..])?;
    let mut header: Vec<&[u8]> = Vec::new();
    for (at, line) in lines(&text[start..]).take(MAX_HEADER_LINES + 1) {
        if let Some(rule) = rule(line) {
            let after = start + at + line::length(&text[start + at..]);
            let is_header = text[after..].starts_with(bar);
            // The names of columns may be left out.
            let (body, separator) = if is_header { (after, line) } else { (start, first) };
            let names = if is_header { header.as_slice() } else { &[] };
            (rule.junctions == top.junctions || !is_header).then_some(())?;
            let mut boxed = Boxed::new(top, bar, true);
            boxed.name(names)?;
            return boxed.found(text, body, separator, names);
        }
        header.push(line);
    }
    // Rows without a header, more than a header may have lines.
    let mut boxed = Boxed::new(top, bar, true);
    boxed.name(&[])?;
    header.iter().all(|line| boxed.split(line).is_some()).then_some(())?;
    boxed.found(text, start, first, &[])
}

/// A table without a frame: the header, a rule, the rows.
fn under_header(text: &[u8]) -> Option<Found<'_>> {
    let mut header: Vec<&[u8]> = Vec::new();
    for (start, line) in lines(text).take(MAX_HEADER_LINES) {
        if let Some(rule) = rule(line) {
            (*rule.junctions.first()? > 0).then_some(())?;
            let body = start + line::length(&text[start..]);
            let bar = bar_at(header.first()?, rule.junctions[0])?;
            let mut boxed = Boxed::new(&rule, bar, false);
            boxed.name(&header)?;
            return boxed.found(text, body, line, &header);
        }
        if !contains_bar(line) {
            return None;
        }
        header.push(line);
    }
    None
}

/// What `psql` prints of one column, which has no bars: it is told by the count of the rows below.
fn one_column(text: &[u8]) -> Option<Found<'_>> {
    let header = without_end(&text[..line::length(text)]);
    let start = line::length(text);
    let rule_line = without_end(&text[start..start + line::length(&text[start..])]);
    let is_rule = rule_line.len() > 2
        && header.starts_with(b" ")
        && rule(rule_line).is_some_and(|rule| {
            rule.junctions.is_empty() && rule.width == Line::new(header, Metric::Display).width()
        });
    is_rule.then_some(())?;
    let body = start + line::length(&text[start..]);
    let end = lines(&text[body..])
        .take_while(|(_, line)| line.is_empty() || line[0] == b' ' || is_row_count(line))
        .find(|(_, line)| is_row_count(line))?
        .0;
    let whole = Rule { junctions: Vec::new(), width: rule_line.len() };
    let mut boxed = Boxed::new(&whole, b"|", false);
    boxed.names = super::super::column_names([header].into_iter());
    let layout = Layout::Boxed(boxed);
    Some(Found { layout, body: &text[body..body + end], end: body + end, note: None })
}

impl Boxed {
    fn new(rule: &Rule, bar: &[u8], is_framed: bool) -> Self {
        let bars = rule.junctions.clone();
        let edges = [-1, isize::try_from(rule.width).unwrap_or(isize::MAX)];
        let bars_at = bars.iter().map(|bar| isize::try_from(*bar).unwrap_or(isize::MAX));
        let mut walls: Vec<isize> = bars_at.collect();
        if !is_framed {
            walls.insert(0, edges[0]);
            walls.push(edges[1]);
        }
        let column =
            |pair: &[isize]| pair[0].saturating_add(1).unsigned_abs()..pair[1].unsigned_abs();
        let columns = walls.windows(2).map(column).collect();
        let (bar, width) = (bar.to_vec(), rule.width);
        Self { names: Vec::new(), columns, bars, bar, is_framed, separator: None, width }
    }

    /// Takes the names of the columns from the lines of the header; `None` if these do not fit.
    fn name(&mut self, header: &[&[u8]]) -> Option<()> {
        let mut lines = header.iter();
        let mut row = match lines.next() {
            Some(first) => self.split(first)?,
            None => Row { cells: vec![Cow::Borrowed(&[]); self.columns.len()], marks: Vec::new() },
        };
        for line in lines {
            let next = self.split(line)?;
            if row.goes_on() {
                row = row.with(next);
            }
        }
        let joined = row.cells.iter().map(|cell| {
            cell.split(|byte| *byte == b'\n')
                .map(<[u8]>::trim_ascii)
                .collect::<Vec<_>>()
                .join(&b' ')
        });
        let joined: Vec<Vec<u8>> = joined.map(|name| line::cell(&name).into_owned()).collect();
        self.names = super::super::column_names(joined.iter().map(Vec::as_slice));
        Some(())
    }

    /// The table whose rows begin at `start`.
    fn found<'a>(
        mut self,
        text: &'a [u8],
        start: usize,
        separator: &[u8],
        header: &[&'a [u8]],
    ) -> Option<Found<'a>> {
        let (body_end, end) = if self.is_framed {
            self.end_of_frame(text, start, separator)
        } else {
            self.end(text, start)
        };
        let body = &text[start..body_end];
        // A first row that does not fit says that this is no table.
        if let Some((_, first)) = lines(body).next() {
            let fits = self.split(first).is_some() || self.is_framed && !self.is_closed(first);
            fits.then_some(())?;
        }
        // Lines of a header that are no names, such as types.
        let note =
            header.get(1).filter(|_| !self.split(header[0]).is_some_and(|row| row.goes_on()));
        let note = note.copied();
        Some(Found { layout: Layout::Boxed(self), body, end, note })
    }

    /// Where the rows in a frame end, and where the frame does.
    fn end_of_frame(&mut self, text: &[u8], start: usize, separator: &[u8]) -> (usize, usize) {
        let mut is_open = false;
        for (at, line) in lines(&text[start..]) {
            let at = start + at;
            let next = at + line::length(&text[at..]);
            if rule(line).is_some() {
                if line == separator && text[next..].starts_with(&self.bar) {
                    self.separator = Some(line.to_vec());
                    is_open = false;
                    continue;
                }
                return (at, next);
            }
            if !line.starts_with(&self.bar) && !is_open {
                return (at, at);
            }
            is_open = !self.is_closed(line);
        }
        (text.len(), text.len())
    }

    /// Where rows without a frame end: before the first line that has no bar.
    fn end(&self, text: &[u8], start: usize) -> (usize, usize) {
        let is_row = |line: &[u8]| {
            let has_bar = memchr::memmem::find(line, &self.bar).is_some();
            (has_bar && !is_row_count(line)) || self.continues(line).is_some()
        };
        let end = lines(&text[start..]).find(|(_, line)| !is_row(line));
        let end = end.map_or(text.len(), |(at, _)| start + at);
        (end, end)
    }

    /// True if a line in a frame ends with its bar.
    fn is_closed(&self, line: &[u8]) -> bool {
        line.trim_ascii_end().ends_with(&self.bar)
    }

    pub(super) fn records<'a>(&self, body: &'a [u8], sink: &mut impl Records<'a>) {
        let mut lines = lines(body).peekable();
        while let Some((start, line)) = lines.next() {
            let mut row = self.split(line);
            let mut end = start + line.len();
            if row.is_none() && self.separator.is_none() && self.is_framed && !self.is_closed(line)
            {
                end = self.end_of_row(body, start);
                while lines.next_if(|(at, _)| *at < end).is_some() {}
                row = self.at_bars(&body[start..end]);
            }
            while lines.peek().is_some_and(|(_, next)| self.goes_on(row.as_ref(), next)) {
                let Some((at, next)) = lines.next() else { break };
                end = at + next.len();
                let more = self.continues(next).or_else(|| self.split(next));
                row = row.zip(more).map(|(row, more)| row.with(more));
            }
            if self.separator.is_some() {
                lines.next();
            }
            match row {
                Some(row) => super::tell(sink, &body[start..end], &self.names, &row.cells),
                None => sink.skip(),
            }
        }
    }

    /// True if a line belongs to the row before it.
    fn goes_on(&self, row: Option<&Row<'_>>, next: &[u8]) -> bool {
        match &self.separator {
            Some(separator) => next != separator,
            None => row.is_some_and(|row| row.goes_on() || self.continues(next).is_some()),
        }
    }

    /// Where a row ends whose frame is not closed on its first line: a cell has several.
    fn end_of_row(&self, body: &[u8], start: usize) -> usize {
        let closed = lines(&body[start..]).find(|(_, line)| self.is_closed(line));
        closed.map_or(body.len(), |(at, line)| start + at + line.len())
    }

    /// The cells of a line; `None` if it does not fit.
    fn split<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        self.by_columns(line, Metric::Display)
            .or_else(|| {
                line::is_wide(line).then(|| self.by_columns(line, Metric::Characters)).flatten()
            })
            .or_else(|| self.at_bars(line))
    }

    fn by_columns<'a>(&self, line: &'a [u8], metric: Metric) -> Option<Row<'a>> {
        let line = Line::new(line, metric);
        self.bars.iter().all(|bar| line.at(*bar).starts_with(&self.bar)).then_some(())?;
        if self.is_framed && !line.slice(self.width..line.width()).trim_ascii().is_empty() {
            return None;
        }
        Some(self.row(&line))
    }

    fn row<'a>(&self, line: &Line<'a>) -> Row<'a> {
        let last = self.columns.len() - 1;
        let mut row = Row { cells: Vec::new(), marks: Vec::new() };
        for (index, column) in self.columns.iter().enumerate() {
            let mark = match line.at(column.end - 1) {
                _ if column.end > line.width() => Mark::None,
                b"+" => Mark::Newline,
                b"." => Mark::Wrap,
                sign if sign == "↵".as_bytes() => Mark::Newline,
                sign if sign == "…".as_bytes() => Mark::Wrap,
                _ => Mark::None,
            };
            let is_open = index == last && !self.is_framed && mark == Mark::None;
            let end = if is_open { line.width() } else { column.end };
            let end = if mark == Mark::None { end } else { end - 1 };
            row.cells.push(Cow::Borrowed(line.slice(column.start..end.max(column.start))));
            row.marks.push(mark);
        }
        row
    }

    /// The cells of a line that has as many bars as it should, wherever they are.
    fn at_bars<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        let mut cells: Vec<Cow<'a, [u8]>> = Vec::new();
        let mut start = 0;
        for at in memchr::memmem::find_iter(line, &self.bar) {
            cells.push(Cow::Borrowed(&line[start..at]));
            start = at + self.bar.len();
        }
        cells.push(Cow::Borrowed(&line[start..]));
        if self.is_framed {
            let is_outside =
                |cell: Option<Cow<'_, [u8]>>| cell.is_some_and(|cell| cell.trim_ascii().is_empty());
            (is_outside(cells.pop()) && cells.len() > 1).then_some(())?;
            cells.remove(0).is_empty().then_some(())?;
        }
        let marks = vec![Mark::None; cells.len()];
        (cells.len() == self.columns.len() && cells.len() > 1).then_some(Row { cells, marks })
    }

    /// What an older `psql` continues a row with: colons in place of the bars of the cells that go on.
    fn continues<'a>(&self, line: &'a [u8]) -> Option<Row<'a>> {
        if self.is_framed || memchr::memchr2(b':', b';', line).is_none() {
            return None;
        }
        let line = Line::new(line, Metric::Display);
        let is_sign = |bar: &&usize| matches!(line.at(**bar), b":" | b";");
        let fits = self.bars.iter().all(|bar| line.is_blank(*bar) || is_sign(&bar));
        (fits && self.bars.iter().any(|bar| is_sign(&bar))).then(|| self.row(&line))
    }
}

impl Row<'_> {
    fn goes_on(&self) -> bool {
        self.marks.iter().any(|mark| *mark != Mark::None)
    }

    /// The row with its next line.
    fn with(mut self, next: Self) -> Self {
        let marks = std::mem::replace(&mut self.marks, next.marks);
        for ((cell, more), mark) in self.cells.iter_mut().zip(next.cells).zip(marks) {
            let added = more.trim_ascii();
            match mark {
                // The sign that the line before had stands in front of the rest, too.
                Mark::Wrap => {
                    let rest =
                        more.strip_prefix(b".").or_else(|| more.strip_prefix("…".as_bytes()));
                    let rest = rest.unwrap_or(&more).trim_ascii_end();
                    cell.to_mut().extend(rest);
                }
                Mark::None if added.is_empty() => {}
                Mark::None | Mark::Newline => {
                    let kept = cell.trim_ascii_end().len();
                    let text = cell.to_mut();
                    text.truncate(kept);
                    text.push(b'\n');
                    text.extend(added);
                }
            }
        }
        self
    }
}
