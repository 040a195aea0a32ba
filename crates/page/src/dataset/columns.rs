//! Which columns of a wide table stand on a page.

use std::ops::Range;

use forebay_text::{counted, grouped};
use serde_json::value::RawValue;

use crate::{given::Given, problem::Problem};

/// How many columns stand on a page.
const PER_PAGE: usize = 100;

/// The columns that are shown, of all that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    shown: Range<usize>,
    count: usize,
}

impl Columns {
    /// Those that are asked for, of a table that may have fewer.
    pub(super) fn wanted(given: &Given) -> Result<Range<usize>, Problem> {
        let first = match given.number("columns")? {
            None => 1,
            Some(0) => return Err(Problem::refused("Columns are counted from 1.")),
            Some(first) => usize::try_from(first).unwrap_or(usize::MAX),
        };
        Ok(first - 1..(first - 1).saturating_add(PER_PAGE))
    }

    /// Those of them that are there.
    pub(super) fn of(wanted: &Range<usize>, count: usize) -> Result<Self, Problem> {
        if wanted.start > 0 && wanted.start >= count {
            let columns = counted(count as u64, "column");
            return Err(Problem::refused(format!("That is past the end: there are {columns}.")));
        }
        Ok(Self { shown: wanted.start..wanted.end.min(count), count })
    }

    pub(super) fn shown(&self) -> Range<usize> {
        self.shown.clone()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Which are shown, if there are more.
    pub(super) fn told(&self) -> Option<String> {
        let (from, to) = (self.shown.start as u64 + 1, self.shown.end as u64);
        let all = counted(self.count as u64, "column");
        (self.shown.len() < self.count)
            .then(|| format!("Columns {}–{} of {all}", grouped(from), grouped(to)))
    }

    /// What asks for those before these.
    pub(super) fn before(&self, given: &Given) -> Option<Given> {
        let first = self.shown.start.saturating_sub(PER_PAGE) + 1;
        (self.shown.start > 0).then(|| given.with("columns", &first.to_string()))
    }

    /// What asks for those behind these.
    pub(super) fn next(&self, given: &Given) -> Option<Given> {
        let next = self.shown.end + 1;
        (self.shown.end < self.count).then(|| given.with("columns", &next.to_string()))
    }
}

/// Some of the values of a row, which is a JSON array.
pub(super) fn part(row: &str, columns: Range<usize>) -> Result<Box<RawValue>, serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_str(row)?;
    let values: Vec<&str> =
        values.into_iter().skip(columns.start).take(columns.len()).map(RawValue::get).collect();
    RawValue::from_string(format!("[{}]", values.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_shown_a_hundred_columns_at_a_time() {
        let of = |text: &str, count| {
            Columns::wanted(&Given::of(text)).and_then(|wanted| Columns::of(&wanted, count))
        };
        let given = Given::default();
        let first = of("", 250).unwrap();
        assert_eq!(first.told().unwrap(), "Columns 1–100 of 250 columns");
        assert_eq!((first.before(&given), first.shown()), (None, 0..100));
        let last =
            of(&first.next(&given).unwrap().with("columns", "201").to_string(), 250).unwrap();
        assert_eq!((last.shown(), last.next(&given)), (200..250, None));
        assert_eq!(last.before(&given).unwrap().to_string(), "columns=101");
        assert_eq!((of("", 3).unwrap().told(), of("", 0).unwrap().shown()), (None, 0..0));
        for refused in ["columns=251", "columns=0", "columns=x"] {
            assert!(of(refused, 250).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_part_of_a_row_is_a_row() {
        let row = r#"[7,1024,1.50,"a,b",{"x":[1]},null]"#;
        assert_eq!(part(row, 2..5).unwrap().get(), r#"[1.50,"a,b",{"x":[1]}]"#);
        assert_eq!(part(row, 9..12).unwrap().get(), "[]");
        assert!(part("7", 0..1).is_err());
    }
}
