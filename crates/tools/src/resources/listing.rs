//! Pages of what was kept, the newest first, and how one is joined to a page of the upstream's.

use std::fmt;

use forebay_store::{Address, Artifact, Dataset, Filter};
use forebay_wire::{scan, walk};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{Desk, ToolError, arguments::counted};

/// How many resources a page has.
const PAGE: usize = 100;
/// How our cursors begin.
const CURSOR: &str = "forebay:";
/// What stands before one of the upstream's that could be taken for ours: it may be a Forebay, too.
const WRAPPED: &str = "forebay:upstream:";

/// Where a list goes on: among what was there when it began, behind so many datasets, at this payload of the
/// next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    began: i64,
    passed: u64,
    within: usize,
}

impl Place {
    /// Reads a cursor; `None` if it is none of ours.
    pub(super) fn parse(cursor: &str) -> Option<Self> {
        let mut parts = cursor.strip_prefix(CURSOR)?.split(':');
        let (began, passed) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let within = parts.next().map_or(Some(0), |within| within.parse().ok())?;
        parts.next().is_none().then_some(Self { began, passed, within })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{CURSOR}{}:{}", self.began, self.passed)?;
        match self.within {
            0 => Ok(()),
            within => write!(formatter, ":{within}"),
        }
    }
}

/// The upstream's own cursor, if it had to be told from ours.
pub(super) fn unwrapped(cursor: &str) -> Option<&str> {
    cursor.strip_prefix(WRAPPED)
}

/// A part of a list.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) items: Vec<Value>,
    pub(super) next: Option<Place>,
}

/// A page of what was kept: the first, or that at a place.
pub(super) fn page(desk: &Desk, place: Option<Place>) -> Result<Page, ToolError> {
    // What is kept within this millisecond is there, too.
    let began = || Timestamp::now().as_millisecond() + 1;
    let first = || Place { began: began(), passed: 0, within: 0 };
    let Place { began, mut passed, mut within } = place.unwrap_or_else(first);
    let store = desk.store()?;
    let entries = store.list(&Filter {
        viewer: desk.viewer().clone(),
        until: Timestamp::from_millisecond(began).ok(),
        offset: passed,
        limit: Some(PAGE as u64 + 1),
        ..Filter::default()
    })?;
    let mut items = Vec::new();
    for entry in &entries {
        // One that has been removed meanwhile is not there.
        if let Ok(dataset) = store.dataset(&entry.id) {
            let left =
                (within..dataset.payload_count()).filter_map(|block| dataset.artifact(block));
            for artifact in left {
                if items.len() == PAGE {
                    let within = artifact.block;
                    return Ok(Page { items, next: Some(Place { began, passed, within }) });
                }
                items.push(resource(&dataset, artifact));
            }
        }
        (passed, within) = (passed + 1, 0);
    }
    let has_more = entries.len() > PAGE;
    Ok(Page { items, next: has_more.then_some(Place { began, passed, within }) })
}

/// How everything is read that was kept.
pub(super) fn templates() -> Page {
    let template = json!({
        "uriTemplate": "forebay://dataset/{id}{?block,bytes}",
        "name": "dataset",
        "title": "A result that was kept",
        "description": "The payload of a dataset: block counts from 0, bytes is a range such as 0-65535",
    });
    Page { items: vec![template], next: None }
}

/// A payload of a dataset as a resource.
fn resource(dataset: &Dataset, artifact: Artifact) -> Value {
    let metadata = dataset.metadata();
    let of = &metadata.description;
    let time = metadata.timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut title = format!("{} of {}", of.tool, of.server);
    if let Some(records) = of.record_count.filter(|_| artifact.block == dataset.main_part()) {
        title = format!("{title}, {}", counted(records, "record"));
    }
    let mut resource = json!({
        "uri": Address::of(dataset.id(), artifact.block).to_string(),
        "name": artifact.name,
        "title": title,
        "mimeType": artifact.media_type,
        "size": artifact.bytes,
        "annotations": {"lastModified": time},
    });
    if let Some(description) = artifact.description {
        resource["description"] = description.into();
    }
    resource
}

/// The upstream's page with ours behind it, if that is its last one. What it has written stays as it is.
pub(super) fn joined(theirs: Vec<u8>, key: &str, ours: &Page) -> Vec<u8> {
    let Some(ends) = end_of_last(&theirs, key) else { return with_cursor_told_from_ours(theirs) };
    let items: Vec<String> = ours.items.iter().map(Value::to_string).collect();
    let separator = if ends.is_empty || items.is_empty() { "" } else { "," };
    let items = format!("{separator}{}", items.join(","));
    let mut joined = theirs;
    if let Some(next) = ours.next {
        let member = format!(r#","nextCursor":{}"#, Value::from(next.to_string()));
        joined.splice(ends.object..ends.object, member.into_bytes());
    }
    joined.splice(ends.list..ends.list, items.into_bytes());
    joined
}

/// The upstream's page, with a cursor that is not taken for one of ours.
fn with_cursor_told_from_ours(page: Vec<u8>) -> Vec<u8> {
    let next = walk::members(&page).into_iter().flatten().find(|(key, _)| *key == b"nextCursor");
    let own = next.and_then(|(_, written)| Some((written, scan::string(written)?)));
    let Some((written, own)) = own.filter(|(_, own)| own.starts_with(CURSOR)) else { return page };
    let start = written.as_ptr().addr() - page.as_ptr().addr();
    let span = start..start + written.len();
    let wrapped = Value::from(format!("{WRAPPED}{own}")).to_string();
    let mut page = page;
    page.splice(span, wrapped.into_bytes());
    page
}

/// Where something can be added to a page.
struct Ends {
    /// The closing bracket of the list.
    list: usize,
    is_empty: bool,
    /// The closing brace of the whole.
    object: usize,
}

/// The ends of a page; `None` if another follows, or it is no list.
fn end_of_last(page: &[u8], key: &str) -> Option<Ends> {
    let has_next = |value: &[u8]| value != b"null" && value != b"\"\"";
    if walk::members(page)?.any(|(key, value)| key == b"nextCursor" && has_next(value)) {
        return None;
    }
    let (_, list) = walk::members(page)?.find(|(name, _)| *name == key.as_bytes())?;
    let is_empty = walk::elements(list)?.next().is_none();
    let end = list.as_ptr().addr() - page.as_ptr().addr() + list.len() - 1;
    let object = page.iter().rposition(|byte| *byte == b'}')?;
    Some(Ends { list: end, is_empty, object })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    fn ours(next: Option<Place>) -> Page {
        Page { items: vec![json!({"uri": "forebay:"})], next }
    }

    fn joined_text(theirs: &str, next: Option<Place>) -> String {
        String::from_utf8(joined(theirs.as_bytes().to_vec(), "resources", &ours(next))).unwrap()
    }

    #[test]
    fn ours_follow_the_last_page_of_the_upstream() {
        let next = Some(Place { began: 5, passed: 100, within: 0 });
        for (theirs, next, expected) in [
            (r#"{"resources":[]}"#, None, r#"{"resources":[{"uri":"forebay:"}]}"#),
            (
                r#"{"resources": [ {"uri":"a"} ], "x": 1.50}"#,
                None,
                r#"{"resources": [ {"uri":"a"} ,{"uri":"forebay:"}], "x": 1.50}"#,
            ),
            (
                r#"{"resources":[{"uri":"a"}]}"#,
                next,
                r#"{"resources":[{"uri":"a"},{"uri":"forebay:"}],"nextCursor":"forebay:5:100"}"#,
            ),
            (r#"{"resources":[],"nextCursor":"2"}"#, None, r#"{"resources":[],"nextCursor":"2"}"#),
            (r#"{"other":[]}"#, None, r#"{"other":[]}"#),
            (
                r#"{"nextCursor": "forebay:5:100", "resources":[]}"#,
                None,
                r#"{"nextCursor": "forebay:upstream:forebay:5:100", "resources":[]}"#,
            ),
        ] {
            assert_eq!(joined_text(theirs, next), expected, "{theirs}");
        }
    }

    #[test]
    fn a_page_is_short_however_many_files_a_dataset_has() {
        let stage = Stage::new();
        let text = |number: usize| format!("file {number}").into_bytes();
        let payloads: Vec<Vec<u8>> = (0..250).map(text).collect();
        let names: Vec<String> = (0..250).map(|number| format!("{number}.txt")).collect();
        let files: Vec<(&str, &str, &[u8])> = names
            .iter()
            .zip(&payloads)
            .map(|(name, payload)| (name.as_str(), "text/plain", payload.as_slice()))
            .collect();
        stage.keep("before", "txt", b"older");
        stage.keep_files("shoot", &files);
        stage.keep("after", "txt", b"newer");
        let (mut place, mut sizes, mut uris) = (None, Vec::new(), Vec::new());
        loop {
            let Page { items, next } = page(&stage.desk, place).unwrap();
            sizes.push(items.len());
            uris.extend(items.iter().map(|item| item["uri"].to_string()));
            let Some(next) = next else { break };
            place = Place::parse(&next.to_string());
            assert_eq!(place, Some(next));
        }
        assert_eq!(sizes, [100, 100, 52]);
        let each: std::collections::HashSet<&String> = uris.iter().collect();
        assert_eq!(each.len(), 252, "each once");
    }

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        for within in [0, 4_900] {
            let place = Place { began: 1_700_000_000_000, passed: 300, within };
            assert_eq!(Place::parse(&place.to_string()), Some(place));
        }
        let wrapped = "forebay:upstream:forebay:1:2";
        assert_eq!(unwrapped(wrapped), Some("forebay:1:2"));
        let others = ["", "2", "forebay:", "forebay:x:1", "forebay:1", "forebay:1:2:3:4", wrapped];
        for other in others {
            assert_eq!(Place::parse(other), None, "{other}");
        }
    }
}
