//! What a call for a page is answered with: the records, and where they stand among all.

use serde_json::{Value, json};

use super::{
    asked::Asked,
    book::{Again, Book},
    fetch::{Bound, Progress, Trouble},
    fields::{Fields, Looked},
};
use crate::{ToolError, arguments::counted, error::refuse, json, pages::Part, reply::Reply};

/// What an answer tells besides the records.
pub(crate) struct Standing<'s> {
    pub(crate) asked: &'s Asked,
    pub(crate) book: &'s Book,
    pub(crate) progress: &'s Progress,
    /// The text of the records that are kept.
    pub(crate) kept: &'s [u8],
    /// The dataset that has what was fetched.
    pub(crate) dataset: Option<String>,
    /// The dataset that keeps what was fetched before, if this one does not have all of it.
    pub(crate) before: Option<String>,
}

/// The answer: the records as they are written, and where they stand.
pub(crate) fn page(
    records: &[&[u8]],
    fields: &Fields,
    standing: &Standing<'_>,
) -> Result<Reply, ToolError> {
    let Part { offset, .. } = standing.asked.part;
    if records.is_empty() && offset > 0 {
        return standing.past_the_end();
    }
    // What no record of the page has may be in others.
    let all = records.iter().copied().chain(standing.book.all(standing.kept));
    fields.check(all, standing.looked())?;
    let records: Vec<Vec<u8>> = records.iter().map(|record| fields.of(record)).collect();
    let results = String::from_utf8_lossy(&records.join(&b","[..])).into_owned();
    let pagination = standing.pagination(records.len() as u64);
    Ok(Reply::text(format!("{{\"results\":[{results}],\"pagination\":{pagination}}}")))
}

/// The answer if a page could not be fetched: what failed, and what is known nevertheless.
pub(crate) fn trouble(trouble: &Trouble, book: &Book, dataset: Option<&str>) -> Reply {
    let text = match trouble {
        Trouble::Page { which, why } => {
            let why = why.trim().trim_end_matches('.');
            format!("The {which} failed: {why}. {}", so_far(book, dataset))
        }
        Trouble::NoList => "The tool's result holds no list, so it has no pages. Call it without \
             page, limit, offset, fields, refresh and fetch_all. If a list is in it, a setting says \
             where: records in [tools.NAME.paging]."
            .to_owned(),
        Trouble::Cancelled => "Nobody waits for the answer.".to_owned(),
    };
    Reply::error(&text)
}

/// What has been fetched.
fn so_far(book: &Book, dataset: Option<&str>) -> String {
    let records = book.records();
    if records == 0 {
        return "Nothing has been fetched.".to_owned();
    }
    let of = book.known().total.map(|total| format!(" of {total}")).unwrap_or_default();
    let place = dataset.map(|id| format!(" They are in {id}.")).unwrap_or_default();
    format!(
        "{}{of} {} been fetched and need not be again: pages within them can be had.{place}",
        counted(records, "record"),
        if records == 1 { "has" } else { "have" }
    )
}

impl Bound {
    fn told(&self, book: &Book) -> String {
        match self {
            Self::Pages(most) => {
                format!("after {} in one call (paging max_pages)", counted(most, "page"))
            }
            // Pages are kept whole.
            Self::Records(most) => {
                format!("at {} (paging max_records is {most})", counted(book.records(), "record"))
            }
            Self::Bytes(most) => {
                format!("at {} (paging max_bytes is {most})", counted(book.bytes(), "byte"))
            }
            Self::Seconds(most) => {
                format!("after {} (paging max_seconds)", counted(most, "second"))
            }
        }
    }

    /// Whether the same call gets further when it is made again.
    fn lets_go_on(&self) -> bool {
        match self {
            Self::Pages(_) | Self::Seconds(_) => true,
            Self::Records(_) | Self::Bytes(_) => false,
        }
    }
}

impl Standing<'_> {
    /// Which records names of fields are looked for in.
    fn looked(&self) -> Looked {
        if self.book.is_complete() || !self.asked.offers("fetch_all") {
            return Looked::AtAll;
        }
        Looked::AtFetched(self.book.records())
    }

    /// Says that nothing is there, and what is.
    fn past_the_end(&self) -> Result<Reply, ToolError> {
        let Part { offset, limit } = self.asked.part;
        let known = self.book.known();
        if let Some(bound) = &self.progress.bound {
            let next = if bound.lets_go_on() { " Ask again to go on from there." } else { "" };
            return refuse!(
                "Record {offset} was not reached: fetching ended {}. {}{next}",
                bound.told(self.book),
                so_far(self.book, self.dataset.as_deref())
            );
        }
        let end = known.total.filter(|total| *total <= offset);
        match (end, self.book.has_more(offset)) {
            (Some(total), _) => {
                self.asked.part.check(total, "record")?;
            }
            (None, Some(false)) => {
                return refuse!(
                    "That is past the end: there are no more than {offset} records, and at least \
                     {}.",
                    known.at_least
                );
            }
            (None, Some(true) | None) => {}
        }
        let why = self.dead_end().map_or_else(String::new, |why| format!(" {why}"));
        refuse!(
            "The upstream gives no way to record {offset}: {} can be had, which is {} of \
             {limit}.{why}",
            counted(known.at_least, "record"),
            counted(known.at_least.div_ceil(limit), "page")
        )
    }

    fn pagination(&self, returned: u64) -> String {
        let Part { offset, limit } = self.asked.part;
        let known = self.book.known();
        let end = offset + returned;
        let has_more = self.book.has_more(end);
        let page = offset / limit + 1;
        let is_there = end < known.at_least;
        let may_go_on = is_there || (has_more != Some(false) && self.book.leads_on());
        let is_whole = returned == limit && offset % limit == 0;
        // A page of the tool's own is another one.
        let has_next_page = is_whole && self.asked.offers("page");
        let mut members: Vec<(&str, Value)> = vec![
            ("total_count", known.total.into()),
            ("current_page", page.into()),
            ("page_size", limit.into()),
            ("total_pages", known.total.map(|total| total.div_ceil(limit)).into()),
            ("has_more", has_more.into()),
            ("next_page", (may_go_on && has_next_page).then_some(page + 1).into()),
        ];
        if may_go_on && !has_next_page && self.asked.offers("offset") {
            members.push(("next_offset", end.into()));
        }
        if known.total.is_none() {
            members.push(("at_least", known.at_least.into()));
        }
        if let Some(dataset) = &self.dataset {
            members.push(("dataset", dataset.as_str().into()));
            members.push(("dataset_records", self.book.records().into()));
        }
        if let Some(guess) = self.book.style.guess() {
            members.push(("upstream", guess.into()));
        }
        let notes = self.notes(has_more);
        if !notes.is_empty() {
            members.push(("notes", json!(notes)));
        }
        json::object(members)
    }

    /// What else is to be known.
    fn notes(&self, has_more: Option<bool>) -> Vec<String> {
        let known = self.book.known();
        let mut notes = Vec::new();
        if let (Some(before), Some(total)) = (known.total_before, known.total) {
            notes.push(format!(
                "The upstream's total has changed from {before} to {total} while pages were \
                 fetched: records may have shifted."
            ));
        }
        match (known.total, known.doubted) {
            (None, None) => notes.push(
                "The upstream tells no total; it is known once its last page was fetched."
                    .to_owned(),
            ),
            (_, Some(told)) => notes.push(format!(
                "The upstream tells a total of {told}, which is not believed: it is the length of \
                 a page, or less than its pages show."
            )),
            (Some(_), None) => {}
        }
        if let Some(total) = self.book.promised() {
            notes.push(format!(
                "The upstream tells a total of {total} and gives no more than {}.",
                counted(known.at_least, "record")
            ));
        }
        match has_more {
            None if self.book.leads_on() => {
                notes.push("Whether there is more is not known before it is asked for.".to_owned());
            }
            None => notes.push(
                "Whether there is more is not known: the upstream's result does not tell it, and \
                 names nothing that leads on. If it does, a setting says where: next in \
                 [tools.NAME.paging]."
                    .to_owned(),
            ),
            Some(_) => {}
        }
        if self.book.has_moved() {
            notes.push(
                "Records stand at other places than was presumed when pages behind them were \
                 given: pages differ in length, or do not count from 1."
                    .to_owned(),
            );
        }
        if let Some(bound) = &self.progress.bound {
            let next = if bound.lets_go_on() { "; ask again to go on" } else { "" };
            notes.push(format!("Fetching ended {}{next}.", bound.told(self.book)));
        }
        if let Some((which, why)) = &self.progress.failure {
            let why = why.trim().trim_end_matches('.');
            let what = if self.asked.wants_all {
                "Not all records could be fetched"
            } else {
                "What is behind these records could not be fetched"
            };
            notes.push(format!("{what}: the {which} failed: {why}."));
        }
        if let Some(why) = self.dead_end() {
            notes.push(why.to_owned());
        } else if self.book.has_more(known.at_least) == Some(true) && !self.book.leads_on() {
            notes.push("The upstream has more, and gives no way to it.".to_owned());
        }
        notes.extend(self.presumption());
        if self.dataset.is_some() && !self.book.is_without_gaps() {
            let next = if self.asked.wants_all { "" } else { "; fetch_all fetches all" };
            notes.push(format!(
                "The dataset has the pages that were fetched, not those between them{next}."
            ));
        }
        if let (Some(before), Some(dataset)) = (&self.before, &self.dataset) {
            notes.push(format!(
                "{dataset} is new and has only what was fetched again; what was fetched before is \
                 in {before} as it was."
            ));
        }
        notes
    }

    /// What is presumed of the number of the first page.
    fn presumption(&self) -> Option<String> {
        let first = self.book.presumed_first()?;
        let why = match first {
            0 => ", since page 0 was tried and has records",
            _ => "",
        };
        Some(format!(
            "That the upstream counts its pages from {first} is presumed{why}; first_page in \
             [tools.NAME.paging] says it."
        ))
    }

    /// Why there is no way to more, if pages came again.
    fn dead_end(&self) -> Option<&'static str> {
        match self.book.given_again() {
            Again::Nothing => None,
            Again::AnyPage => Some("The upstream gives the same page whatever it is asked for."),
            Again::FormerPage => Some(
                "What the upstream gives or names as the next page is one that it gave before: it ends \
                 there.",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
