//! Shelf: what was kept, by server, tool, day and size; found by words and meaning; pinned, tagged, removed.

mod facets;

use std::{collections::HashSet, sync::Arc};

use askama::Template;
use bytes::Bytes;
use forebay_store::{DatasetId, Entry, Filter, Sorting, Store, Tag};
use forebay_text::{counted, grouped, size};
use forebay_tools::{
    MAX_FOUND, Match, Matched, NO_VECTORS, Sought, VECTORS_TO_COME, brief, semantic_search,
};
use http::{Response, StatusCode};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::Serialize;
use serde_json::Value;

use self::facets::Facet;
use crate::{
    Pages,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
    reply::{Twin, written},
};

/// How many datasets stand on a page.
const PER_PAGE: u64 = 50;
/// How much of a call's arguments is shown.
const ARGUMENTS_CHARS: usize = 160;

/// A page of the shelf.
#[derive(Template, Serialize)]
#[template(path = "shelf.html")]
pub(crate) struct Shelf {
    #[serde(skip)]
    frame: Frame,
    /// How many datasets there are in all.
    total: u64,
    /// How many fit, and were found if something is sought.
    fitting: u64,
    /// Among how many it was sought: those that fit without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    among: Option<u64>,
    page: u64,
    pages: u64,
    /// What comes first.
    order: Order,
    datasets: Vec<Line>,
    facets: Vec<Facet>,
    /// What is to be said of a search.
    notes: Vec<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    min_bytes: Option<u64>,
    #[serde(skip)]
    given: Given,
}

/// In which order datasets stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    Newest,
    Largest,
    /// Nearest to what is sought; every dataset that fits is compared with it.
    Nearest,
    /// Those that hold the words that are sought, the best first.
    Words,
}

/// A dataset on the shelf.
#[derive(Serialize)]
pub(crate) struct Line {
    id: String,
    timestamp: Timestamp,
    server: String,
    tool: String,
    records: Option<u64>,
    bytes: u64,
    is_pinned: bool,
    tags: Vec<String>,
    arguments: Option<Value>,
    /// Why it was found, if it was sought.
    passage: Option<String>,
}

/// What a search has found.
struct Found {
    lines: Vec<Line>,
    order: Order,
    notes: Vec<String>,
}

pub(crate) fn answer(pages: &Pages, given: &Given, twin: Twin) -> Result<Response<Bytes>, Problem> {
    const PARAMETERS: [&str; 9] =
        ["q", "server", "tool", "tag", "day", "min", "sort", "page", "all"];
    let mut shelf = Shelf::of(pages, given.only(&PARAMETERS)?)?;
    let mut status = StatusCode::OK;
    if shelf.is_behind_the_last() {
        status = StatusCode::BAD_REQUEST;
        shelf.error = Some(shelf.pages_told());
    }
    Ok(written(status, &shelf, twin)?)
}

impl Shelf {
    fn of(pages: &Pages, given: Given) -> Result<Self, Problem> {
        let store = pages.desk.store()?;
        let (filter, page) = filter(&given)?;
        let total = store.totals(&filter.viewer)?.iter().map(|total| total.datasets).sum();
        let frame = Frame::new(Section::Shelf, "Shelf");
        let min_bytes = filter.min_bytes;
        if let Some(query) = given.get("q") {
            if page > 1 {
                let first = given.without("page").at("/shelf");
                let why = format!(
                    "What is found stands on one page: the best {MAX_FOUND} of all that fits."
                );
                return Err(Problem::refused(why).asked_on(first));
            }
            let Found { lines, order, notes } = found(pages, &store, query, &filter)?;
            let fitting = lines.len() as u64;
            let facets = facets::of_lines(&lines, &given);
            return Ok(Self {
                frame,
                total,
                fitting,
                among: Some(store.count(&filter)?),
                page: 1,
                pages: 1,
                order,
                datasets: lines,
                facets,
                notes,
                error: None,
                min_bytes,
                given,
            });
        }
        let facets = facets::of_filter(&store, &given, &filter)?;
        let fitting = store.count(&filter)?;
        let listed = store.list(&filter)?;
        let datasets = listed.into_iter().map(|entry| Line::of(&store, entry)).collect();
        let pages = fitting.div_ceil(PER_PAGE).max(1);
        let order = match filter.sorting {
            Sorting::Newest => Order::Newest,
            Sorting::Largest => Order::Largest,
        };
        let notes = Vec::new();
        Ok(Self {
            frame,
            total,
            fitting,
            among: None,
            page,
            pages,
            order,
            datasets,
            facets,
            notes,
            error: None,
            min_bytes,
            given,
        })
    }

    fn query(&self) -> &str {
        self.given.get("q").unwrap_or_default()
    }

    /// What is chosen besides what is sought, for the form that seeks.
    fn chosen(&self) -> Vec<(String, String)> {
        self.given.without("q").without("page").without("sort").into_pairs()
    }

    /// Which filters hold, each with the link that takes it away.
    fn filters(&self) -> Vec<(String, String)> {
        let names = ["server", "tool", "tag", "day"];
        let plain = names.into_iter().flat_map(|name| {
            self.given.all(name).filter(|value| !value.is_empty()).map(move |value| {
                let link = self.given.without_value(name, value).without("page").at("/shelf");
                (format!("{name}: {value}"), link)
            })
        });
        let least = self.min_bytes.map(|bytes| {
            let link = self.given.without("min").without("page").at("/shelf");
            (format!("size: {} and more", size(bytes)), link)
        });
        plain.chain(least).collect()
    }

    fn told(&self) -> String {
        let all = counted(self.total, "dataset");
        let found = counted(self.fitting, "dataset");
        let among = match self.among.filter(|among| *among < self.total) {
            Some(among) => format!("the {} that fit, of {all}", grouped(among)),
            None => all.clone(),
        };
        match self.order {
            Order::Nearest | Order::Words if self.fitting == 0 => {
                format!("Nothing found in {among}")
            }
            Order::Nearest if self.fitting < self.among.unwrap_or_default() => {
                format!("The {} nearest of {among}", grouped(self.fitting))
            }
            Order::Nearest => format!("{found}, nearest first: all that fit are compared"),
            Order::Words if self.fitting >= MAX_FOUND => {
                format!("The best {} of {among}, found by words", grouped(self.fitting))
            }
            Order::Words => format!("{found} found by words, best first, of {among}"),
            Order::Newest | Order::Largest if self.fitting == self.total => all,
            Order::Newest | Order::Largest => format!("{} of {all}", grouped(self.fitting)),
        }
    }

    /// What the datasets can be sorted by, each with its link; a search has its own order.
    fn orders(&self) -> Vec<(&'static str, String, bool)> {
        let rest = self.given.without("page").without("sort");
        match self.order {
            Order::Newest | Order::Largest => vec![
                ("time", rest.at("/shelf"), self.order == Order::Newest),
                ("size", rest.with("sort", "size").at("/shelf"), self.order == Order::Largest),
            ],
            Order::Nearest => vec![("nearness", String::new(), true)],
            Order::Words => vec![("how well the words fit", String::new(), true)],
        }
    }

    fn before(&self) -> Option<String> {
        (self.page > 1).then(|| self.at_page((self.page - 1).min(self.pages)))
    }

    fn next(&self) -> Option<String> {
        (self.page < self.pages).then(|| self.at_page(self.page + 1))
    }

    /// What the pages before and behind this one hold.
    fn ways(&self) -> (&'static str, &'static str) {
        match self.order {
            Order::Newest => ("Newer", "Older"),
            Order::Largest => ("Larger", "Smaller"),
            Order::Nearest | Order::Words => ("Nearer", "Farther"),
        }
    }

    fn at_page(&self, page: u64) -> String {
        self.given.with("page", &page.to_string()).at("/shelf")
    }

    fn is_behind_the_last(&self) -> bool {
        self.page > self.pages
    }

    fn last_page(&self) -> String {
        self.at_page(self.pages)
    }

    fn pages_told(&self) -> String {
        let them = counted(self.fitting, "dataset");
        format!("There is no page {}: {them} on {}.", self.page, counted(self.pages, "page"))
    }

    /// Where the page itself is, to come back to.
    fn here(&self) -> String {
        self.given.at("/shelf")
    }

    fn twin(&self) -> String {
        self.given.at("/shelf.json")
    }

    fn place(&self) -> String {
        format!("Page {} of {}", grouped(self.page), grouped(self.pages))
    }
}

/// What is asked for, and which page of it.
fn filter(given: &Given) -> Result<(Filter, u64), Problem> {
    let page = given.page()?;
    let day = given.get("day").map(str::parse::<Date>).transpose();
    let day = day.map_err(|_| Problem::refused("A day is written as 2026-11-18."))?;
    let start = |day: Date| day.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp());
    let text = |name| given.get(name).map(str::to_owned);
    let sorting = match given.get("sort") {
        Some(_) if given.get("q").is_some() => {
            return Err(Problem::refused("A search has an order of its own: leave sort or q out."));
        }
        None | Some("time") => Sorting::Newest,
        Some("size") => Sorting::Largest,
        Some(other) => {
            return Err(Problem::refused(format!("Sort by time or size, not by {other}.")));
        }
    };
    let filter = Filter {
        tool: text("tool"),
        server: text("server"),
        tags: given.all("tag").filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        from: day.and_then(start),
        until: day.and_then(|day| start(day.tomorrow().ok()?)),
        min_bytes: given.number("min")?,
        sorting,
        offset: (page - 1).saturating_mul(PER_PAGE),
        limit: Some(PER_PAGE),
        ..Filter::default()
    };
    Ok((filter, page))
}

/// What fits a search, the best first. It is sought among what the filter lets through.
fn found(pages: &Pages, store: &Store, query: &str, filter: &Filter) -> Result<Found, Problem> {
    // The index knows all but tags itself.
    let within = (!filter.tags.is_empty()).then(|| store.outlines(filter)).transpose()?;
    let within: Option<HashSet<DatasetId>> =
        within.map(|all| all.into_iter().map(|it| it.id).collect());
    let sought = Sought {
        query: query.to_owned(),
        limit: Some(MAX_FOUND),
        server: filter.server.clone(),
        tool: filter.tool.clone(),
        since: filter.from,
        until: filter.until,
        min_bytes: filter.min_bytes,
        within: within.map(Arc::new),
    };
    let Matched { matches, waiting, without_vectors, refused, by_words_alone } =
        semantic_search(&pages.desk, &sought)?;
    let mut notes = Vec::new();
    if waiting > 0 {
        let waiting = counted(waiting, "dataset");
        notes.push(format!("{waiting} not indexed yet; `forebay index rebuild` does it now."));
    }
    for (count, how) in [(without_vectors, VECTORS_TO_COME), (refused, NO_VECTORS)] {
        if count > 0 {
            notes.push(format!("{} {how}.", counted(count, "dataset")));
        }
    }
    let order = if by_words_alone.is_some() { Order::Words } else { Order::Nearest };
    if let Some(why) = by_words_alone {
        notes.push(format!("Found by words alone, not by meaning: {why}."));
    }
    let lines = matches.into_iter().map(Line::found).collect();
    Ok(Found { lines, order, notes })
}

impl Line {
    fn of(store: &Store, entry: Entry) -> Self {
        let arguments = store.dataset(&entry.id).ok().and_then(|it| it.facts().arguments.clone());
        Self {
            id: entry.id.to_string(),
            timestamp: entry.timestamp,
            server: entry.server,
            tool: entry.tool,
            records: entry.records,
            bytes: entry.bytes,
            is_pinned: entry.is_pinned,
            tags: entry.tags.into_iter().filter(|tag| Tag::parse(tag).is_ok()).collect(),
            arguments: arguments.map(|it| brief(&it, ARGUMENTS_CHARS)),
            passage: None,
        }
    }

    fn found(found: Match) -> Self {
        let dataset = &found.dataset;
        let metadata = dataset.metadata();
        Self {
            id: dataset.id().to_string(),
            timestamp: metadata.timestamp,
            server: metadata.description.server.clone(),
            tool: metadata.description.tool.clone(),
            records: metadata.description.record_count,
            bytes: metadata.bytes(),
            is_pinned: dataset.is_pinned(),
            tags: dataset.own_tags().into_iter().map(String::from).collect(),
            arguments: dataset.facts().arguments.as_ref().map(|it| brief(it, ARGUMENTS_CHARS)),
            passage: Some(found.passage),
        }
    }

    fn day(&self) -> String {
        self.timestamp.strftime("%Y-%m-%d").to_string()
    }

    fn time(&self) -> String {
        self.timestamp.strftime("%H:%M:%S").to_string()
    }

    fn short_id(&self) -> &str {
        self.id.strip_prefix("dataset_").unwrap_or(&self.id)
    }

    fn size(&self) -> String {
        size(self.bytes)
    }

    fn count(&self) -> String {
        self.records.map(grouped).unwrap_or_default()
    }

    fn called_with(&self) -> String {
        match &self.arguments {
            Some(Value::Object(members)) if members.is_empty() => String::new(),
            Some(arguments) => arguments.to_string(),
            None => String::new(),
        }
    }
}
