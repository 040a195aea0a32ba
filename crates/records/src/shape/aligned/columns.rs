//! Tables whose columns have blanks between them, under a header and perhaps a rule.
//!
//! Between two columns there is a gutter: where the header and every row that is looked at have a
//! blank. A rule of dashes says where the columns are; without one it takes a header that is sure to
//! be one, since any two lines may have blanks under each other.

use std::{borrow::Cow, ops::Range};

use super::{
    Found, Layout,
    header::{Kind, Word, are_values, gutter, words},
    line::{self, Line, Metric, is_wide, lines, without_end},
    programs::{self, Split},
    signs::is_row_count,
};
use crate::table::Records;

/// How many rows, and how much of them, are looked at.
const LOOKED_AT: usize = 200;
const LOOKED_AT_BYTES: usize = 32 * 1024;
/// So many lines at the end may be no rows.
const MAX_TAIL_LINES: usize = 5;
/// A header may stand this many lines into a paragraph.
const MAX_LINES_BEFORE: usize = 3;

/// Where the columns of a table are.
pub(super) struct Columns {
    names: Vec<Vec<u8>>,
    gutters: Vec<Range<usize>>,
    split: Split,
    metric: Metric,
    /// A row has shown that it is this metric and not the other.
    is_proven: bool,
    /// Blank lines stand between the rows, each of which may have several.
    is_spaced: bool,
    /// How wide the rule is, if there is one.
    width: Option<usize>,
}

/// The table that begins at the front of a text, `line` lines into a paragraph.
pub(super) fn at(text: &[u8], line: usize) -> Option<Found<'_>> {
    let length = line::length(text);
    let header = without_end(&text[..length]);
    if header.len() > LOOKED_AT_BYTES || memchr::memchr(b'\t', header).is_some() {
        return None;
    }
    let second = &text[length..length + line::length(&text[length..])];
    if let Some(rule) = rule(without_end(second)) {
        return under_rule(text, header, &rule, length + second.len());
    }
    if line >= MAX_LINES_BEFORE {
        return None;
    }
    [Metric::Display, Metric::Characters].into_iter().find_map(|metric| {
        let columns = Columns::under(header, &text[length..], metric)?;
        let body = &text[length..length + end_of_rows(&text[length..])];
        let body = &body[..body.len() - columns.tail_length(body)];
        let end = length + body.len();
        Some(Found { layout: Layout::Columns(columns), body, end, note: None })
    })
}

/// Where the dashes of a rule are, of which there are at least two runs.
fn rule(line: &[u8]) -> Option<Vec<Range<usize>>> {
    let is_of_packages = line.starts_with(b"+++-=");
    let sign = *line.iter().find(|byte| **byte != b' ')?;
    (is_of_packages || matches!(sign, b'-' | b'=')).then_some(())?;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (column, byte) in line.trim_ascii_end().iter().enumerate() {
        let is_dash = if is_of_packages { matches!(byte, b'+' | b'=') } else { *byte == sign };
        match runs.last_mut() {
            Some(run) if is_dash && run.end == column => run.end += 1,
            _ if is_dash => runs.push(column..column + 1),
            _ if *byte == b' ' || is_of_packages && *byte == b'-' => {}
            _ => return None,
        }
    }
    (runs.len() > 1).then_some(runs)
}

/// The table under a header and a rule; its rows begin at `start`.
fn under_rule<'a>(
    text: &'a [u8],
    header: &'a [u8],
    runs: &[Range<usize>],
    start: usize,
) -> Option<Found<'a>> {
    let mut columns = Columns {
        names: Vec::new(),
        gutters: runs.windows(2).map(|pair| pair[0].end..pair[1].start).collect(),
        split: Split::Gutters,
        metric: Metric::Display,
        is_proven: false,
        is_spaced: false,
        width: runs.last().map(|run| run.end),
    };
    let cells = columns.cells(header, Metric::Display)?;
    // What `dpkg` has there stands for the letters of the status.
    let name = |cell: &&'a [u8]| if cell.trim_ascii() == b"||/" { b"status" } else { *cell };
    columns.names = super::super::column_names(cells.iter().map(name));
    let rows = &text[start..];
    let mut end = end_of_rows(rows);
    columns.prove(&rows[..end]);
    if end < rows.len() && columns.is_padded(without_end(&rows[..line::length(rows)])) {
        columns.prove(rows);
        end = columns.end_of_spaced(rows, end);
    }
    let body = &rows[..end];
    let body = &body[..body.len() - columns.tail_length(body)];
    let (_, first) = lines(body).next()?;
    columns.row(first)?;
    Some(Found { layout: Layout::Columns(columns), body, end: start + body.len(), note: None })
}

/// Where rows end: before a blank line, or one that begins something else.
fn end_of_rows(rows: &[u8]) -> usize {
    let is_end = |line: &[u8]| {
        line.trim_ascii().is_empty() || programs::begins_section(line) || rule(line).is_some()
    };
    lines(rows).find(|(_, line)| is_end(line)).map_or(rows.len(), |(start, _)| start)
}

impl Columns {
    /// The columns under a header that is sure to be one, over rows that all fit.
    fn under(header: &[u8], rows: &[u8], metric: Metric) -> Option<Self> {
        let header = Line::new(header, metric);
        let words = words(&header);
        let bare: Vec<&[u8]> = words.iter().map(|(_, word)| &**word).collect();
        let known = programs::split_under(&bare);
        let kind = Kind::of(&words, known)?;
        let sample = &rows[..rows.len().min(LOOKED_AT_BYTES)];
        let is_cut = sample.len() < rows.len();
        let mut sample: Vec<&[u8]> =
            lines(&sample[..end_of_rows(sample)]).take(LOOKED_AT).map(|(_, line)| line).collect();
        if is_cut && sample.len() > 1 && sample.len() < LOOKED_AT {
            sample.pop();
        }
        let mut columns = Self {
            names: bare.iter().map(|word| word.to_vec()).collect(),
            gutters: Vec::new(),
            split: known.unwrap_or(Split::Gutters),
            metric,
            is_proven: false,
            is_spaced: false,
            width: None,
        };
        match columns.split {
            Split::Gutters => {
                while sample.last().is_some_and(|line| is_row_count(line)) {
                    sample.pop();
                }
                columns.find_gutters(&words, &sample, kind)?;
            }
            Split::Sockets => columns.names = programs::names_of_sockets(&bare),
            Split::Words => {}
        }
        // What follows at once, or a row that is cut off.
        for _ in 0..MAX_TAIL_LINES {
            if sample.len() > 1 && sample.last().is_some_and(|line| columns.row(line).is_none()) {
                sample.pop();
            }
        }
        let min_rows = if kind == Kind::Capitalised { 3 } else { 2 };
        let min_rows = if known.is_some() { 1 } else { min_rows };
        let rows: Option<Vec<_>> = sample.iter().map(|line| columns.row(line)).collect();
        let rows = rows?;
        let is_table = rows.len() >= min_rows && (known.is_some() || are_values(&rows));
        columns.prove(&rows_text(&sample));
        is_table.then_some(columns)
    }

    /// Finds where the columns are, and joins the words that are one name.
    fn find_gutters(&mut self, words: &[Word<'_>], sample: &[&[u8]], kind: Kind) -> Option<()> {
        let width = words.last()?.0.end;
        let mut is_filled = vec![false; width];
        for line in sample {
            let line = Line::new(line, self.metric);
            for column in (0..width.min(line.width())).filter(|column| !line.is_blank(*column)) {
                is_filled[column] = true;
            }
        }
        let has_values = |columns: Range<usize>| is_filled[columns].contains(&true);
        let mut names: Vec<Vec<u8>> = vec![words[0].1.to_vec()];
        // What stands before the first name, such as a mark.
        let before = words[0].0.start;
        if before > 1 && has_values(0..before - 1) && !is_filled[before - 1] {
            let start = is_filled[..before].iter().rposition(|filled| *filled)? + 1;
            self.gutters.push(start..before);
            names.insert(0, b"mark".to_vec());
        }
        for pair in words.windows(2) {
            let [(left, first), (right, second)] = pair else { continue };
            let gap = left.end..right.start;
            let is_close = gap.len() == 1;
            let gutter = gutter(&is_filled, gap);
            // Nothing stands under one of two words: they are one name.
            let next = words.iter().map(|(word, _)| word.start).find(|start| *start > right.start);
            let is_phrase = programs::are_phrase(first, second)
                || !has_values(right.start..next.unwrap_or(width));
            match gutter {
                Some(gutter) if !(is_close && is_phrase) => {
                    if kind == Kind::Capitalised && gutter.len() < 2 {
                        return None;
                    }
                    self.gutters.push(gutter);
                    names.push(second.to_vec());
                }
                _ if is_close => {
                    let name = names.last_mut()?;
                    name.push(b' ');
                    name.extend(&**second);
                }
                _ => return None,
            }
        }
        self.names = super::super::column_names(names.iter().map(Vec::as_slice));
        (self.names.len() > 1).then_some(())
    }

    /// How long the lines at the end of a body are that are no rows.
    fn tail_length(&self, body: &[u8]) -> usize {
        let mut end = body.len();
        for _ in 0..MAX_TAIL_LINES {
            let trimmed = body[..end].trim_ascii_end();
            let start = memchr::memrchr(b'\n', trimmed).map_or(0, |newline| newline + 1);
            let line = without_end(&body[start..end]);
            if line.is_empty() || !is_row_count(line) && self.row(line).is_some() {
                break;
            }
            end = start;
        }
        body.len() - end
    }

    /// Sees whether some row fits one metric and not the other, and which.
    fn prove(&mut self, body: &[u8]) {
        let head = &body[..body.len().min(LOOKED_AT_BYTES)];
        for (_, line) in lines(head).take(LOOKED_AT).filter(|(_, line)| is_wide(line)) {
            let fits = |metric| {
                let width = Line::new(line, metric).width();
                self.cells(line, metric).is_some() && self.width.is_none_or(|rule| width <= rule)
            };
            let metric = match (fits(self.metric), fits(self.metric.other())) {
                (true, false) => self.metric,
                (false, true) => self.metric.other(),
                _ => continue,
            };
            self.metric = metric;
            self.is_proven = true;
            return;
        }
    }

    /// True if a line is filled up with blanks to the end of the rule, as `sqlite3` does.
    fn is_padded(&self, line: &[u8]) -> bool {
        [Metric::Display, Metric::Characters]
            .into_iter()
            .any(|metric| Some(Line::new(line, metric).width()) == self.width)
    }

    /// Where rows with blank lines between them end; the first one does at `end`.
    fn end_of_spaced(&mut self, rows: &[u8], end: usize) -> usize {
        let mut last = end;
        for (start, line) in lines(&rows[end..]) {
            if line.is_empty() {
                continue;
            }
            if !self.is_padded(line) || self.row(line).is_none() {
                break;
            }
            self.is_spaced = true;
            last = end + start + line::length(&rows[end + start..]);
        }
        last
    }

    pub(super) fn records<'a>(&self, body: &'a [u8], sink: &mut impl Records<'a>) {
        let mut lines = lines(body).peekable();
        while let Some((start, line)) = lines.next() {
            if line.is_empty() {
                continue;
            }
            let mut end = start + line.len();
            let mut row: Option<Vec<Cow<'a, [u8]>>> = self.row(line);
            let mut goes_on = self.goes_on(line);
            while let Some((at, next)) =
                lines.next_if(|(_, next)| goes_on || self.is_spaced && !next.is_empty())
            {
                goes_on = self.goes_on(next);
                end = at + next.len();
                row = row.zip(self.row(next)).map(|(row, more)| joined(row, &more));
            }
            match row {
                Some(row) => super::tell(sink, &body[start..end], &self.names, &row),
                None => sink.skip(),
            }
        }
    }

    /// True if a cell goes on in the next line: `psql` says so in a gutter one column wide.
    fn goes_on(&self, line: &[u8]) -> bool {
        let Some(width) = self.width else { return false };
        if self.gutters.iter().any(|gutter| gutter.len() > 1) || !line.contains(&b'+') {
            return false;
        }
        let line = Line::new(line, self.metric);
        let starts = self.gutters.iter().map(|gutter| gutter.start);
        starts.chain([width]).any(|column| line.at(column) == b"+")
    }

    /// The cells of a line; `None` if it does not fit for certain.
    fn row<'a>(&self, line: &'a [u8]) -> Option<Vec<Cow<'a, [u8]>>> {
        let borrowed = |cells: Vec<&'a [u8]>| cells.into_iter().map(Cow::Borrowed).collect();
        match self.split {
            Split::Words => self.words(line).map(borrowed),
            Split::Sockets => {
                let cells = programs::cells_of_socket(line, self.names[0] == b"Netid")?;
                Some(cells.into_iter().map(Cow::Owned).collect())
            }
            Split::Gutters => {
                let cells = self.cells(line, self.metric);
                if !is_wide(line) || self.is_proven {
                    return cells.map(borrowed);
                }
                match (cells, self.cells(line, self.metric.other())) {
                    (Some(cells), Some(others)) if cells != others => None,
                    (cells, others) => cells.or(others).map(borrowed),
                }
            }
        }
    }

    fn words<'a>(&self, line: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        let mut rest = line.trim_ascii();
        let mut cells = Vec::new();
        for _ in 1..self.names.len() {
            let end = memchr::memchr(b' ', rest)?;
            cells.push(&rest[..end]);
            rest = rest[end..].trim_ascii_start();
        }
        cells.push(rest);
        Some(cells)
    }

    /// The cells between the gutters, if each of these has blanks in one place.
    fn cells<'a>(&self, line: &'a [u8], metric: Metric) -> Option<Vec<&'a [u8]>> {
        let line = Line::new(line, metric);
        let is_sign = |column: usize| {
            self.width.is_some()
                && self.gutters.iter().all(|gutter| gutter.len() == 1)
                && line.at(column) == b"+"
        };
        let mut cells = Vec::with_capacity(self.gutters.len() + 1);
        let mut start = 0;
        for gutter in &self.gutters {
            let is_free = |column: &usize| line.is_blank(*column) || is_sign(*column);
            let begin = gutter.clone().find(is_free)?;
            let end = (begin..gutter.end).find(|column| !is_free(column)).unwrap_or(gutter.end);
            if (end..gutter.end).any(|column| is_free(&column)) {
                return None;
            }
            cells.push(line.slice(start..begin));
            start = end;
        }
        let width = line.width();
        let end = self.width.filter(|width| is_sign(*width)).unwrap_or(width);
        cells.push(line.slice(start..end.max(start)));
        Some(cells)
    }
}

fn rows_text(lines: &[&[u8]]) -> Vec<u8> {
    lines.join(&b'\n')
}

/// A row with its next line: cells that have something there go on with it.
fn joined<'a>(row: Vec<Cow<'a, [u8]>>, more: &[Cow<'a, [u8]>]) -> Vec<Cow<'a, [u8]>> {
    let join = |(cell, added): (Cow<'a, [u8]>, &Cow<'a, [u8]>)| {
        let added = added.trim_ascii();
        if added.is_empty() {
            return cell;
        }
        Cow::Owned([cell.trim_ascii(), b"\n", added].concat())
    };
    row.into_iter().zip(more).map(join).collect()
}
