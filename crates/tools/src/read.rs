//! `read-saved-dataset`: records by pages, texts by lines, bytes or matches, or what is known of it.

mod conditions;
mod file;
mod matches;
mod ranges;
mod records;
mod sheet;
mod summary;
mod text;

use forebay_query::{Observer, is_result};
use forebay_store::{Dataset, DatasetId};

pub use self::{
    conditions::{Condition, Order},
    ranges::Range,
    sheet::{Extent, Facet, Sheet, facets, sheet},
};
pub(crate) use self::{records::Records, text::part_of};
use crate::{
    Desk, ToolError, arguments::Arguments, budget::Budget, error::refuse, pages::Part, reply::Reply,
};

/// What is to be read.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dataset.
    pub dataset: DatasetId,
    /// One of its tables, by the name that stands behind the dataset's own; the main one has none.
    pub table: String,
    /// Which payload; the main one if none is given.
    pub block: Option<usize>,
    /// What of it.
    pub what: What,
}

/// What of a dataset is to be read.
#[derive(Debug, Clone)]
pub enum What {
    /// What is known of it.
    Summary,
    /// Records, or the lines of a text.
    Page(Page),
    /// Lines, counted from 1.
    Lines(Range),
    /// Bytes, counted from 0.
    Bytes(Range),
    /// The places where a pattern matches.
    Matches {
        /// A regular expression.
        pattern: String,
        /// How many lines around each.
        context: usize,
        /// Which of them.
        part: Part,
    },
}

/// A page of records.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Which part of them.
    pub part: Part,
    /// Only these fields, if any are given.
    pub fields: Vec<String>,
    /// Only records for which all of these hold.
    pub filter: Vec<Condition>,
    /// In this order.
    pub sort: Vec<Order>,
}

/// What was read: a JSON text, and what is to be said besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Compact JSON.
    pub json: String,
    /// How to go on.
    pub note: Option<String>,
}

/// Reads.
pub fn read(
    desk: &Desk,
    request: &Request,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Reading, ToolError> {
    let dataset = desk.dataset(&request.dataset)?;
    if let Some(file) = file::of(&dataset, request.block) {
        return match &request.what {
            What::Summary => Ok(summary::of(&dataset, budget)),
            What::Page(_) | What::Lines(_) | What::Matches { .. } => {
                Ok(file::described(desk, &dataset, &file))
            }
            What::Bytes(range) => {
                file::bytes(&text::open(desk, &dataset, request.block)?, *range, budget)
            }
        };
    }
    match &request.what {
        What::Summary => Ok(summary::of(&dataset, budget)),
        What::Page(page) if request.block.is_none() && has_records(&dataset) => {
            let reader = records::Reader { desk, budget, observer };
            records::page(&reader, &dataset, &request.table, page)
        }
        What::Page(page) => {
            if !page.fields.is_empty() || !page.filter.is_empty() || !page.sort.is_empty() {
                return refuse!(
                    "{} is a text without fields: read it with lines or grep, or query its columns \
                     line and text.",
                    dataset.id()
                );
            }
            text::page(&text::open(desk, &dataset, request.block)?, page.part, budget)
        }
        What::Lines(range) => {
            text::lines(&text::open(desk, &dataset, request.block)?, *range, budget)
        }
        What::Bytes(range) => {
            text::bytes(&text::open(desk, &dataset, request.block)?, *range, budget)
        }
        What::Matches { pattern, context, part } => {
            let text = text::open(desk, &dataset, request.block)?;
            let limit = desk.service().limits().time;
            matches::of(&text, pattern, *context, *part, budget, (limit, observer))
        }
    }
}

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Reply, ToolError> {
    let reading = read(desk, &request(arguments)?, budget, observer)?;
    Ok(Reply::text(reading.json).and_note(reading.note))
}

pub(crate) fn request(arguments: &Arguments) -> Result<Request, ToolError> {
    let Some((dataset, table)) = arguments.dataset("dataset_id")? else {
        return refuse!(
            "read-saved-dataset needs dataset_id, such as dataset_k3v9x2ma. list-saved-datasets \
             shows those that there are."
        );
    };
    let block = arguments.number("block", 0, u64::MAX)?;
    let block = block.map(|block| usize::try_from(block).unwrap_or(usize::MAX));
    let what = what(arguments)?;
    Ok(Request { dataset, table, block, what })
}

/// What is asked for. Each way to read has arguments of its own.
fn what(arguments: &Arguments) -> Result<What, ToolError> {
    let ways = ["lines", "bytes", "grep"];
    let given: Vec<&str> = ways.into_iter().filter(|way| arguments.get(way).is_some()).collect();
    if let [one, other, ..] = given.as_slice() {
        return refuse!("Give {one} or {other}, not both.");
    }
    let of_records = ["fields", "filter", "sort"];
    if let (Some(way), Some(other)) =
        (given.first(), of_records.iter().find(|name| arguments.get(name).is_some()))
    {
        return refuse!("{way} reads the text, which has no {other}: leave one of them out.");
    }
    let part = Part::of(arguments)?;
    if arguments.flag("summary_only")? {
        return Ok(What::Summary);
    }
    if let Some(lines) = arguments.get("lines") {
        return Ok(What::Lines(Range::read("lines", lines, 1)?));
    }
    if let Some(bytes) = arguments.get("bytes") {
        return Ok(What::Bytes(Range::read("bytes", bytes, 0)?));
    }
    if let Some(pattern) = arguments.optional_text("grep")? {
        const MAX_CONTEXT: u64 = 100;
        let context = arguments.number("context", 0, MAX_CONTEXT)?.unwrap_or_default();
        let context = usize::try_from(context).unwrap_or_default();
        return Ok(What::Matches { pattern, context, part });
    }
    let filter = conditions::read(&arguments.object("filter")?)?;
    let sort = arguments.texts("sort")?.iter().map(|text| Order::read(text)).collect();
    Ok(What::Page(Page { part, fields: arguments.texts("fields")?, filter, sort }))
}

/// What is known of a dataset, as JSON: as much as fits, and the least there is if that does not. What a model
/// has said of it is no part of that.
pub(crate) fn account(dataset: &Dataset, budget: Budget) -> String {
    summary::facts_of(dataset, budget)
}

/// True if a dataset has tables.
pub(crate) fn has_records(dataset: &Dataset) -> bool {
    !dataset.facts().tables().is_empty() || is_result(dataset)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::definitions::Tool;

    fn error(given: Value) -> String {
        let arguments = Arguments::new(Tool::Read, given).unwrap();
        request(&arguments).unwrap_err().told()
    }

    #[test]
    fn ways_to_read_exclude_each_other() {
        let id = "dataset_k3v9x2ma";
        let both = error(json!({"dataset_id": id, "lines": "1-2", "grep": "x"}));
        assert_eq!(both, "Give lines or grep, not both.");
        let fields = error(json!({"dataset_id": id, "grep": "x", "fields": ["a"]}));
        assert!(fields.contains("no fields"), "{fields}");
        let pages = error(json!({"dataset_id": id, "page": 1, "offset": 5}));
        assert!(pages.contains("page or offset, not both"), "{pages}");
        assert!(error(json!({})).contains("needs dataset_id"));
    }
}
