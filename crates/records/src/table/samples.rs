//! Chooses records to show, so that they tell of the variety: the first, a typical one, the extremes.

use forebay_wire::walk;

use super::shorten;

const MAX_SAMPLES: usize = 4;

/// The candidates so far.
#[derive(Default)]
pub(super) struct Samples<'a> {
    first: Option<&'a [u8]>,
    /// Of those in the middle, one of the usual length.
    typical: Option<&'a [u8]>,
    longest: Option<&'a [u8]>,
    shortest: Option<&'a [u8]>,
    total_bytes: u64,
}

impl<'a> Samples<'a> {
    pub(super) fn offer(&mut self, number: u64, record: &'a [u8]) {
        self.first.get_or_insert(record);
        self.total_bytes += record.len() as u64;
        // Looked for anew at every doubling: in the end it lies in the middle, more or less.
        if number.is_power_of_two() {
            self.typical = None;
        }
        if self.typical.is_none() && self.is_usual(number, record) {
            self.typical = Some(record);
        }
        if self.longest.is_none_or(|longest| record.len() > longest.len()) {
            self.longest = Some(record);
        }
        if self.shortest.is_none_or(|shortest| record.len() < shortest.len()) {
            self.shortest = Some(record);
        }
    }

    /// Takes later candidates into account.
    pub(super) fn merge(&mut self, later: &Self) {
        self.first = self.first.or(later.first);
        self.typical = later.typical.or(self.typical);
        self.total_bytes += later.total_bytes;
        let both =
            |ours: Option<&'a [u8]>, theirs: Option<&'a [u8]>| ours.into_iter().chain(theirs);
        // Of equally long ones the first.
        self.longest = both(later.longest, self.longest).max_by_key(|record| record.len());
        self.shortest = both(self.shortest, later.shortest).min_by_key(|record| record.len());
    }

    pub(super) fn chosen(&self) -> Vec<String> {
        let mut chosen: Vec<&[u8]> = Vec::new();
        for record in [self.first, self.typical, self.longest, self.shortest].into_iter().flatten()
        {
            if !chosen.contains(&record) && chosen.len() < MAX_SAMPLES {
                chosen.push(record);
            }
        }
        chosen.into_iter().map(shown).collect()
    }

    /// True if a record is within a tenth of the mean length.
    fn is_usual(&self, number: u64, record: &[u8]) -> bool {
        let mean = self.total_bytes / number;
        mean.abs_diff(record.len() as u64) * 10 <= mean
    }
}

/// As much of a record as anyone may want to show.
fn shown(record: &[u8]) -> String {
    const MAX: usize = 4_096;
    let is_member = || {
        let behind_key = walk::value(record).map(|(_, rest)| rest.trim_ascii_start());
        record.starts_with(b"\"") && behind_key.is_some_and(|rest| rest.starts_with(b":"))
    };
    let shortened = if is_member() {
        // A member of a map: its key, and the record.
        shorten::to_fit(&[b"{", record, b"}"].concat(), MAX)
    } else {
        shorten::to_fit(record, MAX)
    };
    shortened
        .unwrap_or_else(|| String::from_utf8_lossy(&record[..record.len().min(MAX)]).into_owned())
}
