//! The pages of one call that have been fetched, and what is known of the others.
//!
//! Pure: what is fetched when, [`super::fetch`] says, and where the records are kept, [`super::keep`].
//! Nothing is made up: what an upstream does not tell, and what its pages do not show, is not known.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    time::{Duration, Instant},
};

use super::{
    found::{Found, Layout, Next, Told},
    settings::PagingSettings,
    style::{Step, Style, Way},
};

/// Where a page's records are asked for first, if nothing is known of their number.
const USUAL_GRID: u64 = 100;

/// The pages of one call.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) style: Style,
    /// How the records of a page are written.
    pub(crate) layout: Layout,
    /// By their number, the number of their first record, or their place in the order of cursors.
    pages: BTreeMap<u64, Page>,
    /// What leads behind the last page, where pages go in order.
    behind: Option<Next>,
    /// How many records a page has that is not the last.
    size: Option<u64>,
    /// Whether all pages but the last have as many.
    is_regular: bool,
    /// There are no more records than this.
    at_most: Option<u64>,
    /// How many there are, as the upstream has said last.
    total: Option<u64>,
    /// How many it had said before, if that was something else.
    total_before: Option<u64>,
    /// Whether some have turned out to stand elsewhere than was presumed.
    has_moved: bool,
    /// What the upstream has given or named again.
    given_again: Again,
    /// What asking for a page 0, which nobody speaks of, has shown.
    tried: Tried,
}

/// What asking for a page 0 to see whether there is one has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// Nothing, or what settles it.
    Nothing,
    /// It has failed, so pages are presumed to count from 1.
    Failed,
    /// It has records, so pages are presumed to count from 0. Some upstreams reckon what it would be.
    Given,
}

/// What an upstream gives again, in place of new pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Nothing,
    /// The same page, whatever it is asked for.
    AnyPage,
    /// One that it gave before, as what follows its last.
    FormerPage,
}

/// A page that has been fetched.
#[derive(Debug)]
pub(crate) struct Page {
    step: Step,
    /// The text that its records stand in; `None` once they are kept with those of the others.
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) records: Vec<Range<usize>>,
    /// Whether the upstream has said that there are more behind it.
    says_more: Option<bool>,
    fetched_at: Instant,
    hash: u64,
    /// That of the first record alone.
    head: u64,
}

/// A page to fetch, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) key: u64,
    pub(crate) step: Step,
}

/// What is known of all records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// How many there are.
    pub(crate) total: Option<u64>,
    /// How many there are at least, if it is not known how many.
    pub(crate) at_least: u64,
    /// What the upstream had said before, if that was something else.
    pub(crate) total_before: Option<u64>,
    /// What the upstream says, if its pages show something else, or nothing but its pages could.
    pub(crate) doubted: Option<u64>,
}

impl Book {
    pub(crate) fn new(style: Style, settings: &PagingSettings) -> Self {
        let is_numbered = matches!(style.way, Way::Page { .. });
        Self {
            style,
            layout: Layout::default(),
            pages: BTreeMap::new(),
            behind: None,
            size: settings.page_size.filter(|_| is_numbered),
            is_regular: true,
            at_most: None,
            total: None,
            total_before: None,
            has_moved: false,
            given_again: Again::Nothing,
            tried: Tried::Nothing,
        }
    }

    /// How many records have been fetched.
    pub(crate) fn records(&self) -> u64 {
        self.pages.values().map(Page::len).sum()
    }

    /// How long they are together.
    pub(crate) fn bytes(&self) -> u64 {
        let spans = self.pages.values().flat_map(|page| &page.records);
        spans.map(|span| span.len() as u64).sum()
    }

    /// All pages, in the order of their records. Of one that reaches into the next, what does not.
    pub(crate) fn pages_mut(&mut self) -> Vec<&mut Page> {
        if let Way::Offset { .. } = self.style.way {
            let starts: Vec<u64> = self.pages.keys().copied().collect();
            for pair in starts.windows(2) {
                if let Some(page) = self.pages.get_mut(&pair[0]) {
                    page.records.truncate(usize::try_from(pair[1] - pair[0]).unwrap_or(usize::MAX));
                }
            }
        }
        self.pages.values_mut().collect()
    }

    /// True if some records are not kept yet.
    pub(crate) fn has_unkept(&self) -> bool {
        self.pages.values().any(|page| page.text.is_some())
    }

    /// Notes that all records are kept now, and where those of each page stand there.
    pub(crate) fn move_to(&mut self, spans: Vec<Vec<Range<usize>>>) {
        for (page, spans) in self.pages.values_mut().zip(spans) {
            (page.text, page.records) = (None, spans);
        }
    }

    /// True if no page is missing between those that are there.
    pub(crate) fn is_without_gaps(&self) -> bool {
        let mut end = 0;
        for (start, page) in self.located() {
            if start > end && page.len() > 0 {
                return false;
            }
            end = start + page.len();
        }
        self.located().len() == self.pages.len()
    }

    /// Forgets the pages whose records were kept and are gone.
    pub(crate) fn forget_kept(&mut self) {
        let are_kept = self.pages.values().any(|page| page.text.is_none());
        if are_kept && self.style.goes_in_order() {
            self.pages.clear();
            self.behind = None;
        }
        self.pages.retain(|_, page| page.text.is_some());
    }

    /// The first page that is needed for these records and has not been fetched within `lifetime`.
    pub(crate) fn missing(
        &self,
        wanted: &Range<u64>,
        now: Instant,
        lifetime: Duration,
    ) -> Option<Missing> {
        let located = self.located();
        let mut place = wanted.start;
        while place < wanted.end {
            let there =
                located.iter().find(|(start, page)| (*start..start + page.len()).contains(&place));
            match there {
                Some((_, page)) if now.duration_since(page.fetched_at) >= lifetime => {
                    let key = self.pages.iter().find(|(_, known)| std::ptr::eq(*known, *page));
                    return key.map(|(key, _)| Missing { key: *key, step: page.step.clone() });
                }
                Some((start, page)) => place = start + page.len(),
                None if self.end().is_some_and(|end| place >= end) => return None,
                None => return self.leading_to(place),
            }
        }
        None
    }

    /// Takes a page in.
    pub(crate) fn insert(&mut self, missing: &Missing, found: Found, now: Instant) {
        let Missing { key, step } = missing;
        let Found { text, records, told, layout } = found;
        if layout == Layout::Blocks {
            self.layout = layout;
        }
        let head = hash(&text, &records[..records.len().min(1)]);
        let hash = hash(&text, &records);
        let count = records.len() as u64;
        if *step == Step::Numbered1 {
            let is_first = count > 0 && self.pages.get(&0).is_some_and(|first| first.head == head);
            self.learn_numbers(is_first);
            let key = u64::from(!is_first);
            let missing = Missing { key, step: Step::Page(key) };
            return self.insert(&missing, Found { text, records, told, layout }, now);
        }
        if *key == 0 && count == 0 && self.style.tries_0() {
            // There is no page 0.
            self.style = self.style.clone().counting_from(1);
            return;
        }
        if let Way::Unknown = self.style.way {
            self.style = self.style.clone().after_first(&told);
        }
        if *key == 0 && self.style.tries_0() {
            self.tried = Tried::Given;
        }
        if *key == 0 && self.style.presumes_first() {
            self.style = self.style.clone().after_unnumbered(&told);
        }
        let first = self.pages.get(&0).filter(|_| *key > 0 && count > 0);
        if first.is_some_and(|first| first.hash == hash && first.len() == count) {
            let is_other =
                |(known, page): (&u64, &Page)| ![0, *key].contains(known) && page.len() > 0;
            if self.pages.iter().any(is_other) {
                // Behind its last page it begins anew.
                self.given_again = Again::FormerPage;
                let told = Told { total: told.total, ..Told::default() };
                return self.insert(missing, Found { told, ..Found::default() }, now);
            }
            self.given_again = Again::AnyPage;
            self.style.way = Way::Whole;
            self.pages.retain(|key, _| *key == 0);
            self.at_most = None;
            return;
        }
        if self.is_the_page_before(*key, hash, count) && told.has_more != Some(true) {
            // Some give their last page again for all that come after it.
            self.at_most = Some(self.at_least());
            return;
        }
        if let Some(total) = told.total {
            let before = self.believed().filter(|before| *before != total);
            self.total_before = before.or(self.total_before).filter(|before| *before != total);
            self.total = Some(total);
        }
        if let (Way::Page { .. }, 0, 1..) = (&self.style.way, *key, count) {
            self.size = Some(count);
        }
        let is_last = self.pages.keys().next_back().is_none_or(|last| last <= key);
        if is_last && self.style.goes_in_order() {
            // A cursor that leads to a page that is there leads nowhere.
            let leads_back = told.next.clone().map(Step::Behind).is_some_and(|next| {
                *step == next || self.pages.values().any(|page| page.step == next)
            });
            if leads_back {
                self.given_again = Again::FormerPage;
            }
            self.behind = told.next.clone().filter(|_| !leads_back);
        }
        let says_more = told.has_more;
        let page = Page {
            step: step.clone(),
            text: Some(text),
            records,
            says_more,
            fetched_at: now,
            hash,
            head,
        };
        self.pages.insert(*key, page);
        self.note_lengths(*key);
        self.note_end(*key);
        // Those behind it may have their place only now.
        let end = self.located().len();
        let last = self.pages.keys().nth(end.saturating_sub(1)).copied();
        if let Some(last) = last.filter(|last| last > key) {
            self.note_end(last);
        }
    }

    /// True if the page that the upstream calls 1 would show which number the first one has.
    fn can_try_number_1(&self) -> bool {
        self.style.presumes_first() && self.pages.get(&0).is_some_and(|first| first.len() > 0)
    }

    /// Notes what the page that the upstream calls 1 has shown: whether it is the first one. If it is the
    /// second, those that were fetched as the second and so on are each one further on.
    fn learn_numbers(&mut self, is_first: bool) {
        self.style = self.style.clone().counting_from(u64::from(is_first));
        let pages = std::mem::take(&mut self.pages);
        if is_first {
            (self.pages, self.tried) = (pages, Tried::Nothing);
            return;
        }
        (self.at_most, self.is_regular) = (None, true);
        self.has_moved |= pages.iter().any(|(key, page)| *key > 0 && page.len() > 0);
        let moved = pages.into_iter().map(|(key, page)| match key {
            0 => (0, page),
            _ => (key + 1, Page { step: Step::Page(key + 1), ..page }),
        });
        self.pages = moved.collect();
    }

    /// Notes whether pages have as many records as the first one, all but the last.
    fn note_lengths(&mut self, key: u64) {
        let (Way::Page { .. }, Some(size), true) = (&self.style.way, self.size, self.is_regular)
        else {
            return;
        };
        let filled = || self.pages.iter().filter(|(_, page)| page.len() > 0);
        let Some((last, _)) = filled().next_back() else { return };
        let differs =
            |(key, page): (&u64, &Page)| page.len() > size || (page.len() < size && key < last);
        if !filled().any(differs) {
            return;
        }
        self.is_regular = false;
        // It was reckoned from places that do not hold.
        self.at_most = None;
        let located = self.located();
        let stays = |(key, (start, _)): &(u64, &(u64, &Page))| *start == key * size;
        let staying = (0..).zip(&located).take_while(stays).count() as u64;
        let mut others = self.pages.iter().filter(|(other, page)| **other != key && page.len() > 0);
        self.has_moved |= others.any(|(other, _)| *other >= staying);
    }

    /// True if these are the records of the page before, although there is no reason to expect more of them.
    fn is_the_page_before(&self, key: u64, hash: u64, count: u64) -> bool {
        let before = self.pages.range(..key).next_back().map(|(_, page)| page);
        let promises = self.believed().is_some_and(|total| self.at_least() < total);
        count > 0
            && !promises
            && before.is_some_and(|page| page.hash == hash && page.len() == count)
    }

    /// What is known of all records.
    pub(crate) fn known(&self) -> Known {
        let at_least = self.at_least();
        let counted = self.at_most.filter(|most| *most == at_least);
        let believed = self.believed();
        let total = believed.or(counted);
        let total_before = self.total_before.filter(|_| believed.is_some());
        let doubted = self.total.filter(|told| total != Some(*told));
        Known { total, at_least, total_before, doubted }
    }

    /// The upstream's total, as far as its pages do not show something else: what it gives, and what it
    /// promises behind a page, is there.
    fn believed(&self) -> Option<u64> {
        let total = self.total?;
        let located = self.located();
        let mut filled = located.iter().filter(|(_, page)| page.len() > 0);
        let is_exceeded = filled.clone().any(|(start, page)| {
            let end = start + page.len();
            end > total || (end == total && page.says_more == Some(true))
        });
        // Some call the length of a page its total. A page that may be full proves nothing.
        let size = self.style.asked_size();
        let is_its_own = filled.next().is_some_and(|(start, page)| {
            let may_be_full =
                size.map_or_else(|| self.style.has_places(), |size| page.len() >= size);
            let is_one_of_several = self.style.has_places() || self.style.goes_in_order();
            let is_last = page.says_more == Some(false);
            *start == 0 && page.len() == total && may_be_full && is_one_of_several && !is_last
        });
        let is_proven = || self.at_most == Some(total);
        Some(total).filter(|_| !is_exceeded && (!is_its_own || is_proven()))
    }

    /// Whether there are records from `place` on; `None` if that is not known.
    pub(crate) fn has_more(&self, place: u64) -> Option<bool> {
        if place < self.at_least() {
            return Some(true);
        }
        if self.at_most.is_some_and(|most| most <= place) {
            return Some(false);
        }
        let located = self.located().into_iter();
        let before = located.filter(|(start, page)| start + page.len() == place);
        let says_more = before.filter_map(|(_, page)| page.says_more).next_back();
        if says_more == Some(true) {
            return says_more;
        }
        self.believed().map(|total| place < total).or(says_more)
    }

    /// Whether pages that were given before may stand elsewhere than it was told.
    pub(crate) fn has_moved(&self) -> bool {
        self.has_moved
    }

    /// The number of the first page, if the place of pages rests on it and nothing has shown it.
    pub(crate) fn presumed_first(&self) -> Option<u64> {
        // A page that only seemed to be there would be one too many.
        let is_confirmed = || self.total == Some(self.records()) && self.is_without_gaps();
        match self.tried {
            Tried::Given => (!is_confirmed()).then_some(0),
            Tried::Failed => Some(1),
            Tried::Nothing => {
                let is_placed = self.pages.keys().any(|key| *key > 0);
                (self.style.presumes_first() && is_placed).then_some(1)
            }
        }
    }

    /// Notes that the first page was found under the number 1 only because 0 has failed.
    pub(crate) fn presume_1(&mut self) {
        self.tried = Tried::Failed;
    }

    /// True if all records have been fetched, as far as can be known.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_without_gaps() && self.has_more(self.at_least()) == Some(false)
    }

    /// What the upstream has given or named again.
    pub(crate) fn given_again(&self) -> Again {
        self.given_again
    }

    /// True if nothing that `old` has is missing here.
    pub(crate) fn replaces(&self, old: &Self) -> bool {
        let mut filled = old.pages.iter().filter(|(_, page)| page.len() > 0);
        self.is_complete() || filled.all(|(key, _)| self.pages.contains_key(key))
    }

    /// How many the upstream says that there are, if it ends before them.
    pub(crate) fn promised(&self) -> Option<u64> {
        let end = self.at_most.filter(|most| *most == self.at_least())?;
        self.believed().filter(|total| *total > end)
    }

    /// Whether there is a way to what is not there yet.
    pub(crate) fn leads_on(&self) -> bool {
        self.leading_to(self.at_least()).is_some()
    }

    /// The records of a part, as they are written; `kept` is the text of those that are kept.
    pub(crate) fn slice<'b>(&'b self, part: &Range<u64>, kept: &'b [u8]) -> Vec<&'b [u8]> {
        let mut records = Vec::new();
        for (start, page) in self.located() {
            let text = page.text.as_deref().unwrap_or(kept);
            for (span, place) in page.records.iter().zip(start..) {
                if part.contains(&place) && place == part.start + records.len() as u64 {
                    records.extend(text.get(span.clone()));
                }
            }
        }
        records
    }

    /// All records, as they are written; `kept` is the text of those that are kept.
    pub(crate) fn all<'b>(&'b self, kept: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
        self.pages.values().flat_map(move |page| {
            let text = page.text.as_deref().unwrap_or(kept);
            page.records.iter().filter_map(move |span| text.get(span.clone()))
        })
    }

    /// The number of a page in the order of fetching, for whoever is told of it.
    pub(crate) fn place_of(&self, key: u64) -> u64 {
        if self.style.goes_in_order() { key } else { self.pages.len() as u64 }
    }

    /// How far the records reach that are there.
    fn at_least(&self) -> u64 {
        let located = self.located().into_iter().filter(|(_, page)| page.len() > 0);
        located.map(|(start, page)| start + page.len()).max().unwrap_or(0)
    }

    /// Behind which record there is none.
    fn end(&self) -> Option<u64> {
        let counted = self.at_most.filter(|most| *most == self.at_least());
        counted.or_else(|| [self.at_most, self.believed()].into_iter().flatten().min())
    }

    /// The pages whose first record's number is known, with that number.
    fn located(&self) -> Vec<(u64, &Page)> {
        let pages = self.pages.iter();
        match (&self.style.way, self.size) {
            (Way::Offset { .. }, _) => pages.map(|(key, page)| (*key, page)).collect(),
            (Way::Page { .. }, Some(size)) if self.is_regular => {
                pages.map(|(key, page)| (key * size, page)).collect()
            }
            _ => {
                let mut start = 0;
                let in_order =
                    pages.enumerate().take_while(|(place, (key, _))| *place as u64 == **key);
                let located = in_order.map(|(_, (_, page))| {
                    let at = start;
                    start += page.len();
                    (at, page)
                });
                located.collect()
            }
        }
    }

    /// The page to fetch next for the record at `place`, which is not there.
    fn leading_to(&self, place: u64) -> Option<Missing> {
        let keys = self.pages.keys().copied().zip(0..);
        let next = keys.take_while(|(key, place)| key == place).count() as u64;
        // Where there is a total, the end shows whether the numbers are right.
        let is_to_tell = self.style.doubts_first() || self.believed().is_none();
        if self.can_try_number_1() && is_to_tell {
            return Some(Missing { key: 1, step: Step::Numbered1 });
        }
        if self.style.tries_0() && self.pages.is_empty() {
            return Some(Missing { key: 0, step: Step::Page(0) });
        }
        match (&self.style.way, self.size) {
            (Way::Page { .. }, Some(size)) if self.is_regular => {
                // A short page need not be the last one.
                let key = place / size.max(1);
                let key = if self.pages.contains_key(&key) { key + 1 } else { key };
                let is_new = !self.pages.contains_key(&key);
                is_new.then_some(Missing { key, step: Step::Page(key) })
            }
            (Way::Page { .. }, _) => Some(Missing { key: next, step: Step::Page(next) }),
            (Way::Offset { .. }, _) => {
                let longest = self.pages.values().map(Page::len).max().filter(|len| *len > 0);
                let aligned = place - place % longest.unwrap_or(USUAL_GRID);
                let is_there = self.located().iter().any(|(start, page)| {
                    *start == aligned || (*start..start + page.len()).contains(&aligned)
                });
                let key = if is_there { place } else { aligned };
                // Nothing is there, although it was promised.
                let known = self.pages.get(&key);
                let is_in_vain = known.is_some_and(|page| page.says_more == Some(true));
                (!is_in_vain).then_some(Missing { key, step: Step::Offset(key) })
            }
            (Way::Cursor { .. } | Way::Url { .. }, _) if self.pages.is_empty() => {
                Some(Missing { key: 0, step: Step::First })
            }
            (Way::Cursor { .. } | Way::Url { .. }, _) => {
                let behind = self.behind.clone()?;
                Some(Missing { key: next, step: Step::Behind(behind) })
            }
            (Way::Unknown | Way::Whole, _) => {
                self.pages.is_empty().then_some(Missing { key: 0, step: Step::First })
            }
        }
    }

    /// Notes what a page that was just taken in says about where the records end.
    fn note_end(&mut self, key: u64) {
        let Some(page) = self.pages.get(&key) else { return };
        let located = self.located().into_iter().find(|(_, one)| std::ptr::eq(*one, page));
        let Some((start, _)) = located else { return };
        let (count, says_more) = (page.len(), page.says_more);
        // An empty page right behind another says where that one ends.
        let before = key.checked_sub(1).and_then(|before| self.pages.get(&before));
        let before = before.filter(|_| count == 0 && self.style.is_numbered());
        let end = match before {
            Some(before) => self.at_least().max(before.len()),
            None => start + count,
        };
        // What is there is there, whatever was said before.
        if count > 0 && self.at_most.is_some_and(|most| most < end) {
            self.at_most = None;
        }
        let total = self.believed();
        let is_reached = total.is_some_and(|total| end >= total);
        let promises = says_more == Some(true) || total.is_some_and(|total| end < total);
        if self.can_try_number_1() && key > 0 && total.is_some() {
            // Counted from 0, the last page would have a number less.
            if count > 0 && is_reached {
                self.style = self.style.clone().counting_from(1);
            } else if count == 0 && !is_reached {
                self.style = self.style.clone().doubting();
                return;
            }
        }
        let is_end = match &self.style.way {
            _ if count == 0 && says_more != Some(true) => true,
            _ if says_more == Some(false) => true,
            // The first page says nothing of the next if there is none, or if nobody knows its name for it.
            Way::Cursor { .. } | Way::Url { .. } => {
                self.behind.is_none() && says_more.is_none() && (key > 0 || is_reached)
            }
            Way::Page { .. } => {
                let is_short = key > 0 && self.size.is_some_and(|size| count < size);
                if is_short && promises {
                    self.is_regular = false;
                }
                is_reached && !promises
            }
            Way::Offset { .. } => is_reached && !promises,
            Way::Whole | Way::Unknown => !promises,
        };
        if is_end {
            self.at_most = Some(self.at_most.map_or(end, |most| most.min(end)));
        }
    }
}

impl Page {
    fn len(&self) -> u64 {
        self.records.len() as u64
    }
}

fn hash(text: &[u8], records: &[Range<usize>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for record in records {
        text.get(record.clone()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
