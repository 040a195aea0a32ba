//! Fetches the pages that are needed, and no more; each is asked for once.

use std::{ops::Range, time::Instant};

use super::{
    book::{Book, Missing},
    found::{self, NoPage, Sent},
    raw::RawArguments,
    settings::PagingSettings,
};

/// How much is shown of a result that is no page.
const MAX_EXCERPT: usize = 300;

/// A tool of an upstream, called in the session of a client.
pub(crate) trait Upstream {
    /// Calls it; gives the whole result, as JSON, or says what went wrong.
    fn call(&self, arguments: &[u8]) -> Result<Vec<u8>, String>;

    /// Tells the client that `done` records, of `total`, are there.
    fn progress(&self, done: u64, total: Option<u64>);

    /// True once nobody waits for the answer.
    fn is_cancelled(&self) -> bool;
}

/// What keeps a call from fetching more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bound {
    Pages(u64),
    Records(u64),
    Bytes(u64),
    Seconds(u64),
}

/// Why a page could not be fetched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The upstream failed: with which page, and what it said.
    Page { which: String, why: String },
    /// What it gives is no list.
    NoList,
    /// Nobody waits for the answer.
    Cancelled,
}

/// How far a call got.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How many pages it has fetched.
    pub(crate) fetched: u64,
    /// What has ended it before all was there.
    pub(crate) bound: Option<Bound>,
    /// The page that could not be fetched behind those that are there, and why.
    pub(crate) failure: Option<(String, String)>,
}

/// What is fetched, and with what.
pub(crate) struct Fetching<'f> {
    pub(crate) upstream: &'f dyn Upstream,
    /// The call's own arguments.
    pub(crate) arguments: &'f RawArguments,
    pub(crate) settings: &'f PagingSettings,
    pub(crate) started: Instant,
}

impl Fetching<'_> {
    /// Fetches what is missing of these records. What was fetched stays in the book, whatever happens.
    pub(crate) fn cover(&self, book: &mut Book, wanted: &Range<u64>) -> Result<Progress, Trouble> {
        let mut progress = Progress::default();
        loop {
            let now = Instant::now();
            let Some(missing) = book.missing(wanted, now, self.settings.lifetime) else {
                return Ok(progress);
            };
            progress.bound = self.bound(book, progress.fetched, now);
            if progress.bound.is_some() {
                return Ok(progress);
            }
            if self.upstream.is_cancelled() {
                return Err(Trouble::Cancelled);
            }
            self.fetch(book, &missing)?;
            progress.fetched += 1;
            self.upstream.progress(book.records(), book.known().total);
        }
    }

    /// Fetches a page. An upstream that refuses the first may count from 1, or not like the size that we have
    /// chosen.
    fn fetch(&self, book: &mut Book, missing: &Missing) -> Result<(), Trouble> {
        let mut outcome = self.ask(book, missing);
        if outcome.is_err() && book.style.tries_0() && book.records() == 0 {
            let untried = book.style.clone();
            book.style = untried.clone().counting_from(1);
            outcome = self.ask(book, missing);
            match &outcome {
                Ok(()) => book.presume_1(),
                Err(_) => book.style = untried,
            }
        }
        let is_refused = matches!(outcome, Err(Trouble::Page { .. })) && book.records() == 0;
        if is_refused && self.settings.page_size.is_none() && book.style.asks_no_size() {
            return self.fetch(book, missing);
        }
        outcome
    }

    fn ask(&self, book: &mut Book, missing: &Missing) -> Result<(), Trouble> {
        let which = || missing.step.told(&book.style, book.place_of(missing.key));
        let arguments = book.style.arguments(self.arguments, &missing.step);
        let failed = |why| Trouble::Page { which: which(), why };
        let result = self.upstream.call(&arguments.to_json()).map_err(failed)?;
        let parameter = book.style.cursor_parameter();
        let cursor = parameter.and_then(|parameter| arguments.get(parameter));
        let sent = Sent { parameter, cursor };
        let found = found::read(&result, self.settings, sent, book.layout);
        let found = found.map_err(|no_page| match no_page {
            NoPage::Failed(why) => failed(why),
            NoPage::Unfinished => failed("it asks for more before it answers".to_owned()),
            NoPage::NoList(said) if book.records() > 0 => {
                let said: String = said.chars().take(MAX_EXCERPT).collect();
                failed(format!("its result holds no list: {said}"))
            }
            NoPage::NoList(_) => Trouble::NoList,
        })?;
        book.insert(missing, found, Instant::now());
        Ok(())
    }

    fn bound(&self, book: &Book, fetched: u64, now: Instant) -> Option<Bound> {
        let PagingSettings { max_pages, max_records, max_bytes, max_time, .. } = *self.settings;
        if fetched >= max_pages {
            return Some(Bound::Pages(max_pages));
        }
        if book.records() >= max_records {
            return Some(Bound::Records(max_records));
        }
        if book.bytes() >= max_bytes {
            return Some(Bound::Bytes(max_bytes));
        }
        let is_late = now.duration_since(self.started) >= max_time;
        is_late.then_some(Bound::Seconds(max_time.as_secs()))
    }
}

#[cfg(test)]
mod tests;
