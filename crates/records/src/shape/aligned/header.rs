//! What a header without a rule is told by, and where it says that columns are.

use std::{borrow::Cow, ops::Range};

use super::{
    line::{self, Line},
    programs::Split,
};

/// What a header looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program is known to print it.
    Known,
    /// All its letters are capitals.
    Capitals,
    /// Its names begin with a capital, and have two blanks or more between them.
    Capitalised,
}

impl Kind {
    /// What a header of these words looks like; `None` if it may be something else.
    pub(super) fn of(words: &[Word<'_>], known: Option<Split>) -> Option<Self> {
        let is_name = |word: &[u8]| {
            word.iter().any(u8::is_ascii_alphabetic)
                && !word.iter().any(|byte| b",;|{}\"'=<>`$".contains(byte))
                && !matches!(word.last(), Some(b'.' | b':'))
        };
        (words.len() > 1 && words.iter().all(|(_, word)| is_name(word))).then_some(())?;
        if known.is_some() {
            return Some(Self::Known);
        }
        let are_capitals = words.iter().all(|(_, word)| !word.iter().any(u8::is_ascii_lowercase));
        let gaps = || words.windows(2).map(|pair| pair[1].0.start - pair[0].0.end);
        let wide = gaps().filter(|gap| *gap > 1).count();
        if are_capitals && (wide + 1 >= 4 || wide > 0 && wide * 2 >= words.len() - 1) {
            return Some(Self::Capitals);
        }
        let starts_names =
            |index: usize| index == 0 || words[index].0.start - words[index - 1].0.end > 1;
        let is_capitalised = |(index, (_, word)): (usize, &Word<'_>)| {
            !starts_names(index) || word[0].is_ascii_uppercase()
        };
        let are_capitalised = words.iter().enumerate().all(is_capitalised);
        (are_capitalised && wide >= 2).then_some(Self::Capitalised)
    }
}

/// The gutter in a gap of the header: where no row has anything. If rows have something in the midst
/// of the gap, it belongs to the side that it is closer to.
pub(super) fn gutter(is_filled: &[bool], gap: Range<usize>) -> Option<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for column in gap.filter(|column| !is_filled[*column]) {
        match runs.last_mut() {
            Some(run) if run.end == column => run.end += 1,
            _ => runs.push(column..column + 1),
        }
    }
    let widest = runs.iter().map(Range::len).max()?;
    let mut widest_runs = runs.iter().filter(|run| run.len() == widest);
    let run = widest_runs.next()?.clone();
    let is_clear =
        runs.len() == 1 || widest > 1 && runs.iter().filter(|run| run.len() > 1).count() == 1;
    is_clear.then_some(run)
}

/// A word of a header, and where it is.
pub(super) type Word<'a> = (Range<usize>, Cow<'a, [u8]>);

/// The words of a line.
pub(super) fn words<'a>(line: &Line<'a>) -> Vec<Word<'a>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for column in (0..line.width()).filter(|column| !line.is_blank(*column)) {
        match words.last_mut() {
            Some(word) if word.end == column => word.end += 1,
            _ => words.push(column..column + 1),
        }
    }
    words.into_iter().map(|word| (word.clone(), line::cell(line.slice(word)))).collect()
}

/// True if cells look like values under names rather than like more names: most columns have small
/// letters or digits in them, and most rows more than one cell.
pub(super) fn are_values(rows: &[Vec<Cow<'_, [u8]>>]) -> bool {
    let is_value =
        |cell: &[u8]| cell.iter().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let columns = rows.first().map_or(0, Vec::len);
    let has_values = |column: &usize| rows.iter().any(|row| is_value(&row[*column]));
    let filled =
        |row: &Vec<Cow<'_, [u8]>>| row.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
    (0..columns).filter(has_values).count() * 2 > columns
        && rows.iter().filter(|row| filled(row) * 2 > columns).count() * 2 > rows.len()
        // The first column is what the rows are of.
        && rows.iter().filter(|row| row[..columns.min(2)].iter().any(|cell| !cell.trim_ascii().is_empty())).count() == rows.len()
}
