//! The times of a field: how they are written, and the first and the last.

use super::{
    range::{self, TimeStyle},
    spellings::Spellings,
};

/// The times that have been seen.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// What stands between day and time, and behind the time, in the first.
    style: Option<(u8, Vec<u8>)>,
    /// Another has something else there.
    has_styles: bool,
    spellings: Spellings,
    /// One says how far its clock is from UTC.
    pub(super) has_offset: bool,
    /// The first and the last, without what stands behind the time.
    bounds: Option<(Vec<u8>, Vec<u8>)>,
}

impl Times {
    pub(super) fn see(&mut self, time: &[u8]) {
        let TimeStyle { separator, zone, bytes } = TimeStyle::of(time);
        match &self.style {
            Some((known, its_zone)) => {
                self.has_styles |= *known != separator || its_zone != zone;
            }
            None => self.style = Some((separator, zone.to_vec())),
        }
        self.spellings.see_time(time);
        self.has_offset = self.has_offset || range::is_offset(zone);
        range::extend(&mut self.bounds, &time[..bytes]);
    }

    pub(super) fn merge(&mut self, later: Self) {
        let differ = |ours: &Option<(u8, Vec<u8>)>| {
            ours.as_ref().zip(later.style.as_ref()).is_some_and(|(ours, theirs)| ours != theirs)
        };
        self.has_styles |= later.has_styles || differ(&self.style);
        self.spellings.merge(later.spellings);
        self.style = self.style.take().or(later.style);
        self.has_offset |= later.has_offset;
        for bound in later.bounds.into_iter().flat_map(|(low, high)| [low, high]) {
            range::extend(&mut self.bounds, &bound);
        }
    }

    /// True if two that are written differently may be the same time.
    pub(super) fn may_repeat(&self) -> bool {
        self.has_styles || self.spellings.may_repeat()
    }

    /// The first and the last. Written differently, the order of the texts is not that of the times.
    pub(super) fn range(&self) -> Option<(String, String)> {
        let ((_, zone), (low, high)) = self.style.as_ref().zip(self.bounds.as_ref())?;
        let whole = |time: &[u8]| [time, zone].concat();
        if self.has_styles { None } else { range::of_texts(&(whole(low), whole(high))) }
    }
}
