//! `list-saved-datasets`: what has been kept, newest first.

use forebay_store::{Dataset, Entry, Facts, Filter, Scope, Store, Viewer};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::Value;

use crate::{
    Desk, ToolError,
    arguments::{Arguments, shown},
    brief::brief,
    budget::Budget,
    error::refuse,
    json,
    pages::Part,
    paging::SO_FAR,
    reply::Reply,
};

/// What stands around the results.
const FRAME_TOKENS: u64 = 120;
/// How many tools are named where nothing fits.
const SHOWN_ORIGINS: usize = 20;
/// How many files of a dataset are named.
const SHOWN_FILES: usize = 5;
/// How much of a query is told.
const QUERY_CHARS: usize = 200;
/// How much is told of the arguments of a call: the most with which all datasets fit, or the least.
const ARGUMENTS_CHARS: [usize; 4] = [400, 200, 100, 50];

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
) -> Result<Reply, ToolError> {
    let part = Part::of(arguments)?;
    let filter = Filter { viewer: desk.viewer().clone(), ..filter(arguments)? };
    let store = desk.store()?;
    let total = store.count(&filter)?;
    part.check(total, "dataset")?;
    let wanted = Filter { offset: part.offset, limit: Some(part.limit), ..filter };
    let mut listed = Vec::new();
    for entry in store.list(&wanted)? {
        // One that has just been removed is told as far as the catalog knows it.
        listed.push((store.dataset(&entry.id).ok(), entry));
    }
    let (mut entries, mut fitting) = (Vec::new(), 0);
    for room in ARGUMENTS_CHARS {
        let described =
            listed.iter().map(|(dataset, entry)| described(entry, dataset.as_ref(), room));
        entries = described.collect::<Vec<String>>();
        fitting = budget.without(FRAME_TOKENS).fitting(entries.iter().map(String::as_str));
        if fitting == entries.len() {
            break;
        }
    }
    let shown = &entries[..fitting];
    let pagination = part.pagination(total, shown.len() as u64);
    let reply = format!("{{\"results\":[{}],\"pagination\":{pagination}}}", shown.join(","));
    let note = match (total, fitting < entries.len()) {
        (0, _) => Some(nothing(&store, desk.viewer())?),
        (_, true) => Some(format!("{fitting} of {} fit in this reply.", entries.len())),
        (_, false) => None,
    };
    Ok(Reply::text(reply).and_note(note))
}

fn described(entry: &Entry, dataset: Option<&Dataset>, arguments_chars: usize) -> String {
    let facts = dataset.map(Dataset::facts);
    let members = [
        ("dataset_id", entry.id.as_str().into()),
        ("tool", entry.tool.as_str().into()),
        ("server", entry.server.as_str().into()),
        ("captured_at", moment_of(entry.timestamp).into()),
        ("bytes", entry.bytes.into()),
    ];
    let records = entry.records.map(|records| ("records", records.into()));
    let arguments = facts.and_then(|facts| facts.arguments.as_ref());
    let arguments = arguments.map(|it| ("arguments", brief(it, arguments_chars)));
    let query = facts.and_then(|facts| facts.query.as_ref());
    let query = query.map(|it| ("query", it.chars().take(QUERY_CHARS).collect::<String>().into()));
    let files = facts.filter(|facts| !facts.files.is_empty());
    let files = files.map(|facts| ("files", names_of(facts)));
    let made_from = facts.filter(|facts| !facts.made_from.is_empty());
    let made_from = made_from.map(|facts| ("made_from", facts.made_from.clone().into()));
    let members = members.into_iter().chain(records).chain(arguments);
    let is_growing = facts.is_some_and(|facts| facts.edition.is_some());
    let holds = is_growing.then(|| ("holds", SO_FAR.into()));
    json::object(members.chain(holds).chain(files).chain(made_from).chain(query))
}

/// The names of the files of a dataset, as far as there is room.
fn names_of(facts: &Facts) -> Value {
    let names = facts.files.iter().take(SHOWN_FILES).map(|file| file.name.clone());
    let more = facts.files.len().saturating_sub(SHOWN_FILES);
    let more = (more > 0).then(|| format!("{more} more"));
    names.chain(more).collect()
}

/// A time, to the second.
pub(crate) fn moment_of(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn nothing(store: &Store, viewer: &Viewer) -> Result<String, ToolError> {
    let origins = store.origins(viewer)?;
    if origins.is_empty() {
        return Ok(nothing_yet(viewer.scope));
    }
    let mut names: Vec<String> = origins
        .iter()
        .take(SHOWN_ORIGINS)
        .map(|(server, tool)| format!("{tool} ({server})"))
        .collect();
    if origins.len() > SHOWN_ORIGINS {
        names.push("others".to_owned());
    }
    Ok(format!("Nothing fits the filter. There are results of {}.", names.join(", ")))
}

/// That nothing has been kept that can be seen.
pub(crate) fn nothing_yet(scope: Scope) -> String {
    let place = match scope {
        Scope::All => "",
        Scope::Project => " in this project (setting `scope`)",
        Scope::Session => " in this session (setting `scope`)",
    };
    format!("Nothing has been saved yet{place}.")
}

fn filter(arguments: &Arguments) -> Result<Filter, ToolError> {
    let mut filter = Filter::default();
    for (name, value) in arguments.object("filter")? {
        let Value::String(text) = &value else {
            if value.is_null() {
                continue;
            }
            return refuse!("{name} of filter must be a text, not {}.", shown(&value));
        };
        match name.as_str() {
            "tool" => filter.tool = Some(text.clone()),
            "server" => filter.server = Some(text.clone()),
            "date_from" => filter.from = Some(moment(&name, text, Edge::Start)?),
            "date_to" => filter.until = Some(moment(&name, text, Edge::End)?),
            _ => {
                let known = ["tool", "server", "date_from", "date_to"];
                let meant = forebay_query::nearest(&name, known.into_iter());
                let meant = meant.map(|it| format!(" Did you mean {it}?")).unwrap_or_default();
                return refuse!(
                    "There is no filter {name}.{meant} There are {}.",
                    known.join(", ")
                );
            }
        }
    }
    Ok(filter)
}

/// Which end of a day a date stands for.
#[derive(Clone, Copy)]
pub(crate) enum Edge {
    Start,
    End,
}

/// A time, or an edge of a day in UTC. What a time stands for is the moment right behind it, at the
/// end.
pub(crate) fn moment(name: &str, text: &str, edge: Edge) -> Result<Timestamp, ToolError> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        let after = time + jiff::SignedDuration::from_millis(1);
        return Ok(match edge {
            Edge::Start => time,
            Edge::End => after,
        });
    }
    let day = text.parse::<Date>().ok().and_then(|date| match edge {
        Edge::Start => Some(date),
        Edge::End => date.tomorrow().ok(),
    });
    match day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
        Some(start) => Ok(start.timestamp()),
        None => refuse!("{name} must be a date such as 2026-11-14, or 2026-11-14T10:30:00Z."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::definitions::Tool;

    fn read(given: &Value) -> Result<Filter, ToolError> {
        filter(&Arguments::new(Tool::List, json!({"filter": given})).unwrap())
    }

    #[test]
    fn the_last_day_belongs_to_the_range() {
        let filter = read(&json!({"date_from": "2026-11-14", "date_to": "2026-11-14"})).unwrap();
        assert_eq!(filter.from.unwrap().to_string(), "2026-11-14T00:00:00Z");
        assert_eq!(filter.until.unwrap().to_string(), "2026-11-15T00:00:00Z");
        let error = read(&json!({"date_from": "yesterday"})).unwrap_err().told();
        assert!(error.contains("2026-11-14"), "{error}");
    }

    #[test]
    fn an_unknown_filter_is_told_with_those_that_there_are() {
        let error = read(&json!({"tols": "x"})).unwrap_err().told();
        assert!(error.contains("Did you mean tool?"), "{error}");
        assert!(read(&json!({"tool": 1})).is_err());
        assert_eq!(read(&json!({"tool": "x", "server": null})).unwrap().tool.unwrap(), "x");
    }
}
