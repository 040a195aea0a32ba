//! What the names in a query stand for.
//!
//! | Name | Stands for |
//! |---|---|
//! | `dataset_k3v9x2ma` | the records of a dataset |
//! | `dataset_k3v9x2ma_authors` | another table of it, by the last name of its path |
//! | `dataset`, `data`, `dataset_authors` | the same, of the dataset that comes with the query |
//! | `list_issues`, `github.list_issues` | the latest result of a tool |
//! | `list_issues_history` | all its results, with `_dataset`, `_captured_at` and `_arguments` |

use std::fmt::Write as _;

use forebay_store::{Dataset, DatasetId, Entry, Filter, Store, StoreError};
use serde_json::Value;

use crate::{QueryError, columns::quoted, guard::TableName, near};

/// A table of a dataset.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) dataset: Dataset,
    /// Which one of its tables.
    pub(crate) index: usize,
}

/// What a name means.
pub(crate) enum Meaning {
    One(Box<Table>),
    /// All results of a tool, newest first.
    History(Vec<(Entry, Table)>),
}

/// Finds what a name stands for; `None` if nothing has it.
pub(crate) fn find(
    store: &Store,
    current: Option<&DatasetId>,
    name: &TableName,
) -> Result<Option<Meaning>, QueryError> {
    if name.schema.is_none()
        && let Some((id, suffix)) = dataset_and_suffix(&name.name, current)
    {
        let dataset = match store.dataset(&id) {
            Err(StoreError::Unknown(_)) => {
                return Err(QueryError::Refused(unknown(store, current, &name.name)));
            }
            found => found?,
        };
        let names = table_names(&dataset);
        let Some(index) = names.iter().position(|known| known.eq_ignore_ascii_case(suffix)) else {
            let known: Vec<String> = names.iter().map(|name| table_name(&id, name)).collect();
            return Err(QueryError::Refused(format!(
                "There is no table {}; {id} has: {}.",
                name.name,
                known.join(", ")
            )));
        };
        return Ok(Some(Meaning::One(Box::new(Table { dataset, index }))));
    }
    let origins = store.origins()?;
    let of_server = |server: &str| {
        name.schema.as_ref().is_none_or(|schema| schema.eq_ignore_ascii_case(&word(server)))
    };
    // A tool's own name goes before one that only reads like it, and that before a history.
    let plain = without_history(&name.name);
    let ways: [&dyn Fn(&str) -> bool; 4] = [
        &|tool| tool == name.name,
        &|tool| word(tool).eq_ignore_ascii_case(&name.name),
        &|tool| plain == Some(tool),
        &|tool| plain.is_some_and(|plain| word(tool).eq_ignore_ascii_case(plain)),
    ];
    let found = ways.iter().enumerate().find_map(|(way, fits)| {
        let fitting = origins.iter().filter(|(server, tool)| of_server(server) && fits(tool));
        let mut fitting: Vec<(String, String)> = fitting.cloned().collect();
        fitting.dedup_by(|one, other| one.0 == other.0);
        (!fitting.is_empty()).then_some((way >= 2, fitting))
    });
    let Some((is_history, origins)) = found else { return Ok(None) };
    let (server, tool) = match origins.as_slice() {
        [origin] => origin.clone(),
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|(server, _)| format!("{}.{}", quoted(&word(server)), quoted(&name.name)))
                .collect();
            return Err(QueryError::Refused(format!(
                "Several servers have a tool {}: write {}.",
                name.name,
                names.join(" or ")
            )));
        }
    };
    let limit = if is_history { None } else { Some(1) };
    let filter = Filter { server: Some(server), tool: Some(tool), limit, ..Filter::default() };
    let mut results = Vec::new();
    for entry in store.list(&filter)? {
        // One that has just been removed is no longer part of the history.
        let Ok(dataset) = store.dataset(&entry.id) else { continue };
        results.push((entry, Table { dataset, index: 0 }));
    }
    match (is_history, results.len()) {
        (_, 0) => Ok(None),
        (true, _) => Ok(Some(Meaning::History(results))),
        (false, _) => Ok(results.pop().map(|(_, table)| Meaning::One(Box::new(table)))),
    }
}

/// The latest result of the tool that `name`, such as `list_issues` or `github.list_issues`, stands
/// for in a query.
pub fn latest(store: &Store, name: &str) -> Result<Option<DatasetId>, QueryError> {
    let whole = TableName { schema: None, name: name.to_owned() };
    let found = match (find(store, None, &whole)?, name.split_once('.')) {
        (None, Some((server, tool))) => {
            let name = TableName { schema: Some(server.to_owned()), name: tool.to_owned() };
            find(store, None, &name)?
        }
        (found, _) => found,
    };
    Ok(match found {
        Some(Meaning::One(table)) => Some(table.dataset.id().clone()),
        Some(Meaning::History(_)) | None => None,
    })
}

/// The name of the tool whose history is meant, if it is one.
fn without_history(name: &str) -> Option<&str> {
    const HISTORY: &str = "_history";
    let start = name.len().checked_sub(HISTORY.len())?;
    let end = name.get(start..)?;
    end.eq_ignore_ascii_case(HISTORY).then(|| &name[..start])
}

/// True if a dataset is the result of a query, whose payload is a file of rows.
pub fn is_result(dataset: &Dataset) -> bool {
    dataset.metadata().description.more.get("format").is_some_and(|format| format == "parquet")
}

/// The facts of a dataset's tables.
pub(crate) fn facts(dataset: &Dataset) -> &[Value] {
    let tables = dataset.metadata().description.more.get("tables").and_then(Value::as_array);
    tables.map(Vec::as_slice).unwrap_or_default()
}

/// The table whose rows are in a file, of which a table is or in whose records it lies.
pub(crate) fn stored(dataset: &Dataset, index: usize) -> usize {
    let parent = facts(dataset).get(index).and_then(|facts| facts["parent"].as_u64());
    match parent.and_then(|parent| usize::try_from(parent).ok()) {
        Some(parent) if parent < index => stored(dataset, parent),
        _ => index,
    }
}

/// The names of a dataset's tables, each to be put behind the dataset's own; the first has none.
pub fn table_names(dataset: &Dataset) -> Vec<String> {
    let mut names = vec![String::new()];
    for (index, table) in facts(dataset).iter().enumerate().skip(1) {
        names.push(table["name"].as_str().map_or_else(|| (index + 1).to_string(), str::to_owned));
    }
    names
}

/// The whole name of a table.
pub fn table_name(id: &DatasetId, suffix: &str) -> String {
    if suffix.is_empty() { id.to_string() } else { format!("{id}_{suffix}") }
}

/// Splits a name into that of a dataset and that of one of its tables.
fn dataset_and_suffix<'n>(
    name: &'n str,
    current: Option<&DatasetId>,
) -> Option<(DatasetId, &'n str)> {
    let lower = name.to_ascii_lowercase();
    if let Some(id) = lower.get(..DatasetId::LENGTH).and_then(DatasetId::parse) {
        let rest = &name[DatasetId::LENGTH..];
        return match rest.strip_prefix('_') {
            Some(suffix) => Some((id, suffix)),
            None if rest.is_empty() => Some((id, "")),
            None => None,
        };
    }
    let current = current?;
    for word in ["dataset", "data"] {
        if lower == word {
            return Some((current.clone(), ""));
        }
        if lower.starts_with(word) && lower.as_bytes().get(word.len()) == Some(&b'_') {
            return Some((current.clone(), &name[word.len() + 1..]));
        }
    }
    None
}

/// A name that can stand in SQL without quotes.
pub fn word(name: &str) -> String {
    let of = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    name.chars().map(of).collect()
}

/// What to say of a name that nothing has.
pub(crate) fn unknown(store: &Store, current: Option<&DatasetId>, name: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    let latest = store.list(&Filter { limit: Some(5), ..Filter::default() }).unwrap_or_default();
    known.extend(latest.iter().map(|entry| entry.id.to_string()));
    known.extend(store.origins().unwrap_or_default().iter().map(|(_, tool)| word(tool)));
    let mut said = format!("There is no table {name}.");
    if current.is_none() && (name == "dataset" || name == "data") {
        said.push_str(" Pass dataset_id, so that it stands for that dataset.");
    } else if let Some(nearest) = near::nearest(name, known.iter().map(String::as_str)) {
        let _ = write!(said, " Did you mean {nearest}?");
    }
    match latest.first() {
        Some(entry) => {
            let _ = write!(
                said,
                " Datasets go by their names, such as FROM {}; a tool's name stands for its latest \
                 result. list-saved-datasets shows them all.",
                entry.id
            );
        }
        None => said.push_str(" Nothing has been kept yet."),
    }
    said
}
