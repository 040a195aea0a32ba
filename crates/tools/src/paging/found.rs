//! What a result of an upstream says: its records, how many there are in all, and what comes next.
//!
//! Records keep the bytes that they have. Where they are is told by the policy, or found: structured
//! content goes before texts, the top of a document before what lies in it, and names that lists are
//! often called before others.

use std::ops::Range;

use forebay_wire::{scan, syntax, walk};
use serde_json::Value;

use super::{next_url, raw::normal, settings::PagingSettings};
use crate::json;

/// A page, as an upstream gave it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The text that the records stand in.
    pub(crate) text: Vec<u8>,
    /// Where they stand.
    pub(crate) records: Vec<Range<usize>>,
    pub(crate) told: Told,
    pub(crate) layout: Layout,
}

/// How a tool writes the records of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As a list in a document, as far as is known.
    #[default]
    Document,
    /// Each as a text block of its own. A single block is a page of one record, whatever lists are in it.
    Blocks,
}

/// What a result says of the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// How many records there are in all.
    pub(crate) total: Option<u64>,
    /// What leads to the next page.
    pub(crate) next: Option<Next>,
    /// Whether there is a next page.
    pub(crate) has_more: Option<bool>,
    /// Which number this page has, if that is 0 or 1.
    pub(crate) number: Option<u64>,
}

/// What leads to the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// A URL.
    Url(String),
    /// Anything else: a text or a number.
    Token(Value),
}

/// Why a result is no page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoPage {
    /// It is an error, which says this.
    Failed(String),
    /// It is not final: the upstream asks for something, or goes on as a task.
    Unfinished,
    /// It holds no list, or none where the policy says, but this.
    NoList(String),
}

/// Names that lists of records have.
const LISTS: [&str; 23] = [
    "items",
    "results",
    "records",
    "data",
    "rows",
    "entries",
    "entry",
    "values",
    "hits",
    "documents",
    "docs",
    "features",
    "objects",
    "elements",
    "nodes",
    "edges",
    "list",
    "result",
    "value",
    "content",
    "resources",
    "entities",
    "matches",
];
/// Lists of what is no record.
const NO_RECORDS: [&str; 7] =
    ["errors", "warnings", "links", "link", "facets", "messages", "columns"];
const TOTALS: [&str; 10] = [
    "totalcount",
    "total",
    "totalresults",
    "totalrecords",
    "totalitems",
    "totalhits",
    "numfound",
    "totalelements",
    "totalsize",
    "odatacount",
];
/// Objects that say something of all records, and not of the cost or the sum of something.
const ABOUT_ALL: [&str; 14] = [
    "meta",
    "metadata",
    "pagination",
    "paging",
    "paginationinfo",
    "paginator",
    "resultset",
    "page",
    "pageinfo",
    "pages",
    "resultinfo",
    "searchinfo",
    "responsemetadata",
    "info",
];
const NEXTS: [&str; 15] = [
    "nextcursor",
    "nextpagetoken",
    "nexttoken",
    "nextpagecursor",
    "endcursor",
    "continuationtoken",
    "nextmarker",
    "nextoffset",
    "scrollid",
    "nexturl",
    "nextlink",
    "nextpageurl",
    "odatanextlink",
    "nextpage",
    "next",
];
const MORE: [&str; 6] =
    ["hasmore", "hasnext", "hasnextpage", "more", "istruncated", "hasmoreresults"];
const NUMBERS: [&str; 6] = ["page", "currentpage", "pagenumber", "number", "pageindex", "pageno"];
/// Lists of links, or a header with them.
const LINKS: [&str; 2] = ["links", "link"];
/// Links of what is one page of several.
const AMONG_PAGES: [&str; 4] = ["first", "prev", "previous", "last"];
const LAST: [&str; 3] = ["islast", "islastpage", "lastpagereached"];

/// The parameter for a cursor that a page was asked for with: results may give the next one under its name.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent<'s> {
    pub(crate) parameter: Option<&'s str>,
    /// What it was set to, as JSON.
    pub(crate) cursor: Option<&'s [u8]>,
}

impl Sent<'_> {
    /// What stands under the parameter's own name; `None` if that is what was sent, or no cursor.
    fn next(&self, json: &[u8]) -> Option<Leads> {
        let sent = self.cursor.and_then(Next::read);
        match Next::read(json) {
            // The first page of those that are numbered, told as what it is.
            Some(Next::Token(value)) if matches!(plain(&value).as_str(), "0" | "1") => None,
            Some(next) if sent.as_ref().is_some_and(|sent| sent.reads_like(&next)) => None,
            Some(next) => Some(Leads::To(next)),
            None if is_end(json) => Some(Leads::Nowhere),
            None => None,
        }
    }
}

/// What a result says under a name for what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Leads {
    To(Next),
    /// There is something, and it cannot be followed.
    Somewhere,
    Nowhere,
}

impl Leads {
    fn read(json: &[u8]) -> Self {
        match Next::read(json) {
            Some(next) => Self::To(next),
            None if is_end(json) || matches!(json, b"false" | b"{}" | b"[]") => Self::Nowhere,
            None => Self::Somewhere,
        }
    }

    /// What links say: those of a list, each with what it is for, or of a header.
    fn of_links(json: &[u8]) -> Option<Self> {
        let links: Vec<(String, String)> = match serde_json::from_slice(json).ok()? {
            Value::Array(links) => links.iter().filter_map(link).collect(),
            Value::String(header) => next_url::links(&header),
            _ => return None,
        };
        let next = links.iter().find(|(relation, _)| relation == "next");
        let is_a_page = || links.iter().any(|(it, _)| AMONG_PAGES.contains(&it.as_str()));
        match next {
            Some((_, url)) => Some(Self::To(Next::Url(url.clone()))),
            None => is_a_page().then_some(Self::Nowhere),
        }
    }
}

/// What a link is for, and its URL.
fn link(link: &Value) -> Option<(String, String)> {
    let relation = link.get("rel").or(link.get("relation"))?.as_str()?;
    let url = link.get("href").or(link.get("url"))?.as_str()?;
    Some((relation.to_owned(), url.to_owned()))
}

/// True if this stands where a cursor would be when there is none. Databases say so with -1.
fn is_end(json: &[u8]) -> bool {
    matches!(json, b"null" | b"\"\"" | b"-1" | b"\"-1\"")
}

/// A text or a number as it reads.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

impl Next {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Url(url) => url.as_str().into(),
            Self::Token(token) => token.clone(),
        }
    }

    /// True if the other is the same, perhaps a number where this is a text.
    fn reads_like(&self, other: &Self) -> bool {
        plain(&self.value()) == plain(&other.value())
    }

    fn read(json: &[u8]) -> Option<Self> {
        if is_end(json) {
            return None;
        }
        match serde_json::from_slice(json).ok()? {
            Value::String(text) if next_url::is_url(&text) => Some(Self::Url(text)),
            value @ (Value::String(_) | Value::Number(_)) => Some(Self::Token(value)),
            // `{"href": …}`, as links are written.
            Value::Object(link) => match link.get("href").or(link.get("url")) {
                Some(Value::String(url)) if !url.is_empty() => Some(Self::Url(url.clone())),
                _ => None,
            },
            Value::Null | Value::Bool(_) | Value::Array(_) => None,
        }
    }
}

/// Reads a result, whole as it came, of a tool that writes its records as `layout` says.
pub(crate) fn read(
    result: &[u8],
    settings: &PagingSettings,
    sent: Sent<'_>,
    layout: Layout,
) -> Result<Found, NoPage> {
    let [is_error, kind, structured, content, task] =
        scan::members(result, ["isError", "resultType", "structuredContent", "content", "task"]);
    let blocks: Option<Vec<&[u8]>> = content.and_then(walk::elements).map(Iterator::collect);
    let texts: Vec<String> = blocks
        .iter()
        .flatten()
        .filter_map(|block| {
            let [text] = scan::members(block, ["text"]);
            scan::string(text?).map(Into::into)
        })
        .collect();
    if is_error == Some(b"true") {
        return Err(NoPage::Failed(texts.join("\n")));
    }
    if task.is_some() || kind.is_some_and(|kind| kind != b"\"complete\"") {
        return Err(NoPage::Unfinished);
    }
    let is_json = |text: &String| {
        text.trim_start().starts_with(['{', '[']) && syntax::check(text.as_bytes()).is_ok()
    };
    let has_only_json = blocks.is_some_and(|blocks| blocks.len() == texts.len())
        && structured.is_none()
        && settings.records.is_none()
        && texts.iter().all(is_json);
    let are_records = match (layout, texts.len()) {
        // Of a page without records nothing is left.
        (Layout::Blocks, _) | (Layout::Document, 0) => true,
        (Layout::Document, 1) => false,
        (Layout::Document, _) => are_alike(&texts),
    };
    if has_only_json && are_records {
        let layout = if texts.len() > 1 { Layout::Blocks } else { layout };
        return Ok(of_blocks(&texts, layout));
    }
    let documents = texts.iter().filter(|text| is_json(text)).map(|text| text.clone().into_bytes());
    for document in structured.map(<[u8]>::to_vec).into_iter().chain(documents) {
        if let Some(found) = in_document(document, settings, sent) {
            return Ok(found);
        }
    }
    if has_only_json && texts.len() > 1 {
        return Ok(of_blocks(&texts, Layout::Blocks));
    }
    let structured = || structured.map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    Err(NoPage::NoList(if texts.is_empty() { structured() } else { texts.join("\n") }))
}

/// True if texts are objects that begin with the same member, as records do that one program has written. Lists
/// that are in them are then their own.
fn are_alike(texts: &[String]) -> bool {
    let first = |text: &String| {
        let (key, _) = walk::members(text.trim().as_bytes())?.next()?;
        Some(json::name(key))
    };
    let Some(name) = texts.first().and_then(first) else { return false };
    texts.iter().all(|text| first(text).as_ref() == Some(&name))
}

/// The page that has each of these texts for a record.
fn of_blocks(texts: &[String], layout: Layout) -> Found {
    let (mut text, mut records) = (Vec::new(), Vec::new());
    for record in texts {
        let start = text.len();
        text.extend_from_slice(record.trim().as_bytes());
        records.push(start..text.len());
    }
    Found { text, records, told: Told::default(), layout }
}

/// What a document holds, if it holds a list.
fn in_document(document: Vec<u8>, settings: &PagingSettings, sent: Sent<'_>) -> Option<Found> {
    let list = match &settings.records {
        Some(pointer) => at(&document, pointer),
        None => list_in(document.trim_ascii()),
    }?;
    let start = document.as_ptr().addr();
    let records: Vec<Range<usize>> = walk::elements(list)?
        .map(|record| {
            let from = record.as_ptr().addr() - start;
            from..from + record.len()
        })
        .collect();
    let around = Around { members: members_around(document.trim_ascii()), list };
    let told = Told {
        total: around.total(&document, records.len() as u64, settings),
        number: around.number(),
        ..around.next(&document, settings, sent)
    };
    Some(Found { text: document, records, told, layout: Layout::Document })
}

/// The list that a document is about.
fn list_in(document: &[u8]) -> Option<&[u8]> {
    const DEPTH: usize = 3;
    if document.starts_with(b"[") {
        return Some(document);
    }
    let mut level = vec![document];
    for _ in 0..DEPTH {
        let members: Vec<(String, &[u8])> = level
            .iter()
            .filter_map(|object| walk::members(object))
            .flatten()
            .map(|(key, value)| (normal(&json::name(key)), value))
            .collect();
        let lists = members.iter().filter(|(name, value)| {
            value.starts_with(b"[") && !NO_RECORDS.contains(&name.as_str())
        });
        // One that has a usual name, else the longest.
        let place = |name: &str| LISTS.iter().position(|known| *known == name);
        let best = lists.min_by_key(|(name, value)| {
            (place(name).unwrap_or(LISTS.len()), usize::MAX - value.len())
        });
        if let Some((_, list)) = best {
            return Some(list);
        }
        level = members
            .into_iter()
            .filter(|(_, value)| value.starts_with(b"{"))
            .map(|(_, value)| value)
            .collect();
    }
    None
}

/// What stands around the records.
struct Around<'d> {
    members: Vec<Member<'d>>,
    list: &'d [u8],
}

/// A member of a document, or of an object in it.
#[derive(Clone)]
struct Member<'d> {
    name: String,
    value: &'d [u8],
    /// What the object is called that it is a member of, and that object.
    within: (String, &'d [u8]),
}

impl<'d> Around<'d> {
    fn called(&self, names: &[&str]) -> Option<&'d [u8]> {
        let member = |name: &&str| self.members.iter().find(|member| member.name == **name);
        names.iter().find_map(member).map(|member| member.value)
    }

    /// How many records there are in all.
    fn total(&self, document: &[u8], records: u64, settings: &PagingSettings) -> Option<u64> {
        if let Some(pointer) = &settings.total {
            return at(document, pointer).and_then(count);
        }
        let named = |name: &&str| {
            let mut called = self.members.iter().filter(|it| it.name == **name);
            called
                .find_map(|it| count(it.value).filter(|_| **name != *"total" || self.is_of_all(it)))
        };
        // A count of more than are here is one of all.
        let counted = || self.called(&["count"]).and_then(count).filter(|count| *count > records);
        TOTALS.iter().find_map(named).or_else(counted)
    }

    /// Which number the page has, if it is the first one.
    fn number(&self) -> Option<u64> {
        let mut named = self
            .members
            .iter()
            .filter(|member| NUMBERS.contains(&member.name.as_str()) && self.is_of_all(member));
        named.find_map(|member| count(member.value)).filter(|number| *number <= 1)
    }

    /// True if a member that is just called a total can be one of records: it stands beside them or around
    /// them, or where something is said of all.
    fn is_of_all(&self, member: &Member<'_>) -> bool {
        let (name, object) = &member.within;
        let holds = object.as_ptr_range();
        holds.contains(&self.list.as_ptr()) || ABOUT_ALL.contains(&name.as_str())
    }

    /// What leads to the next page, and whether there is one.
    fn next(&self, document: &[u8], settings: &PagingSettings, sent: Sent<'_>) -> Told {
        let leads = match &settings.next {
            Some(pointer) => Some(at(document, pointer).map_or(Leads::Nowhere, Leads::read)),
            None => self.leads(sent),
        };
        let flag = |json: &[u8]| match json {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        };
        let has_more = self
            .called(&MORE)
            .and_then(flag)
            .or_else(|| self.called(&LAST).and_then(flag).map(|is_last| !is_last))
            .or_else(|| leads.as_ref().map(|leads| *leads != Leads::Nowhere));
        let next = match leads {
            // `end_cursor` is there on the last page, too.
            Some(Leads::To(next)) if has_more != Some(false) => Some(next),
            Some(Leads::To(_) | Leads::Somewhere | Leads::Nowhere) | None => None,
        };
        Told { next, has_more, ..Told::default() }
    }

    /// What is found under the names that there are for what comes next. What can be followed goes before all
    /// else, and the name that the tool's own parameter has after those that say that it is the next.
    fn leads(&self, sent: Sent<'_>) -> Option<Leads> {
        let own = sent.parameter.map(normal).unwrap_or_default();
        let nexts = self.members.iter().filter(|member| {
            NEXTS.contains(&member.name.as_str())
                || member.name.strip_prefix("next").is_some_and(|name| name == own)
        });
        let links = self.members.iter().filter(|member| LINKS.contains(&member.name.as_str()));
        let named: Vec<Leads> = nexts
            .map(|member| Leads::read(member.value))
            .chain(links.filter_map(|member| Leads::of_links(member.value)))
            .collect();
        let followed = named.iter().find(|leads| matches!(leads, Leads::To(_)));
        let is_end = || named.contains(&Leads::Nowhere).then_some(Leads::Nowhere);
        let mut owns = self.members.iter().filter(|member| !own.is_empty() && member.name == own);
        followed
            .cloned()
            .or_else(is_end)
            .or_else(|| owns.find_map(|member| sent.next(member.value)))
            .or_else(|| named.into_iter().next())
    }
}

/// The members of a document, and of the objects in it.
fn members_around(document: &[u8]) -> Vec<Member<'_>> {
    const DEPTH: usize = 3;
    let mut found = Vec::new();
    let mut level = vec![(String::new(), document)];
    for _ in 0..DEPTH {
        let members: Vec<Member<'_>> = level
            .iter()
            .flat_map(|(called, object)| {
                walk::members(object).into_iter().flatten().map(move |(key, value)| Member {
                    name: normal(&json::name(key)),
                    value,
                    within: (called.clone(), *object),
                })
            })
            .collect();
        let objects = members.iter().filter(|member| member.value.starts_with(b"{"));
        level = objects.map(|member| (member.name.clone(), member.value)).collect();
        found.extend(members);
    }
    found
}

/// A number of records, however it is written.
fn count(json: &[u8]) -> Option<u64> {
    match serde_json::from_slice(json).ok()? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        Value::Object(object) => object.get("value").and_then(Value::as_u64),
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// What a JSON pointer leads to.
fn at<'d>(document: &'d [u8], pointer: &str) -> Option<&'d [u8]> {
    let mut json = document.trim_ascii();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        json = match json.first()? {
            b'{' => walk::members(json)?.find(|(key, _)| json::name(key) == step)?.1,
            b'[' => walk::elements(json)?.nth(step.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(json)
}

#[cfg(test)]
mod tests;
