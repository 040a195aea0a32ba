//! What the names in a query stand for.
//!
//! | Name | Stands for |
//! |---|---|
//! | `dataset_k3v9x2ma` | the records of a dataset |
//! | `dataset_k3v9x2ma_authors` | another table of it, by the last name of its path |
//! | `dataset`, `data`, `dataset_authors` | the same, of the dataset that comes with the query |
//! | `list_issues`, `github.list_issues` | the latest result of a tool: in this session, or else in another that can be seen |
//! | `list_issues_history` | all its results that can be seen, with `_dataset`, `_captured_at` and `_arguments` |

use std::fmt::Write as _;

use forebay_store::{
    Dataset, DatasetId, Filter, Outline, Principal, Scope, Store, StoreError, Viewer, facts,
};
use forebay_text::identifier;

use crate::{
    QueryError, Source,
    columns::{self, Made, quoted},
    guard::TableName,
    near,
    plain::plain,
};

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
    /// The latest result of a tool.
    Latest(Box<Table>),
    /// All results of a tool.
    History(History),
}

/// All results of a tool that can be seen.
pub(crate) struct History {
    pub(crate) principal: Principal,
    pub(crate) server: String,
    pub(crate) tool: String,
    /// The newest first.
    pub(crate) results: Vec<Outline>,
}

/// What was kept, as far as whoever asks may see it.
pub(crate) struct Kept<'a> {
    pub(crate) store: &'a Store,
    pub(crate) viewer: &'a Viewer,
}

/// Which results of a tool are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Results {
    Latest,
    All,
}

impl Kept<'_> {
    /// Finds what a name stands for; `None` if nothing has it.
    pub(crate) fn find(
        &self,
        current: Option<&DatasetId>,
        name: &TableName,
    ) -> Result<Option<Meaning>, QueryError> {
        if name.schema.is_none()
            && let Some((id, suffix)) = dataset_and_suffix(&name.name, current)
        {
            let table = self.table(current, &id, suffix, &name.name)?;
            return Ok(Some(Meaning::One(Box::new(table))));
        }
        if let Some(latest) = self.results(name, &name.name, Results::Latest)? {
            return Ok(Some(latest));
        }
        match without_history(&name.name) {
            Some(tool) => self.results(name, tool, Results::All),
            None => Ok(None),
        }
    }

    /// The dataset that a tool's name stood for.
    pub(crate) fn source(&self, name: &TableName, dataset: &Dataset) -> Source {
        let metadata = dataset.metadata();
        let own = self.viewer.session.as_deref();
        Source {
            name: name.to_string(),
            dataset: dataset.id().clone(),
            kept: metadata.timestamp,
            is_of_another_session: own.is_some_and(|own| metadata.session() != Some(own)),
        }
    }

    fn table(
        &self,
        current: Option<&DatasetId>,
        id: &DatasetId,
        suffix: &str,
        name: &str,
    ) -> Result<Table, QueryError> {
        let dataset = match self.store.dataset(id) {
            Ok(dataset) if self.viewer.sees(dataset.metadata()) => dataset,
            Ok(_) | Err(StoreError::Unknown(_)) => {
                return Err(QueryError::Refused(self.unknown(current, name)));
            }
            Err(error) => return Err(error.into()),
        };
        let names = table_names(&dataset);
        let Some(index) = names.iter().position(|known| known.eq_ignore_ascii_case(suffix)) else {
            let known: Vec<String> =
                names.iter().map(|name| plain(&table_name(id, name))).collect();
            return Err(QueryError::Refused(format!(
                "There is no table {}; {id} has: {}.",
                plain(name),
                known.join(", ")
            )));
        };
        Ok(Table { dataset, index })
    }

    /// The results of a tool: of this session, or else the others that can be seen.
    fn results(
        &self,
        name: &TableName,
        tool: &str,
        which: Results,
    ) -> Result<Option<Meaning>, QueryError> {
        let in_session = self.viewer.in_session();
        let own = if self.viewer.session.is_some() { Some(&in_session) } else { None };
        for viewer in own.into_iter().chain([self.viewer]) {
            let Some((server, tool)) = self.origin(viewer, name, tool)? else { continue };
            let filter = |viewer: &Viewer, limit| Filter {
                server: Some(server.clone()),
                tool: Some(tool.clone()),
                viewer: viewer.clone(),
                limit,
                ..Filter::default()
            };
            return match which {
                // One that has just been removed is no longer a result.
                Results::Latest => Ok(self
                    .store
                    .list(&filter(viewer, Some(1)))?
                    .first()
                    .and_then(|entry| self.store.dataset(&entry.id).ok())
                    .map(|dataset| Meaning::Latest(Box::new(Table { dataset, index: 0 })))),
                // Which tool it is, a session knows best; its history is longer than the session.
                Results::All => {
                    let results = self.store.outlines(&filter(self.viewer, None))?;
                    let principal = self.viewer.principal.clone();
                    let history = History { principal, server, tool, results };
                    Ok((!history.results.is_empty()).then_some(Meaning::History(history)))
                }
            };
        }
        Ok(None)
    }

    /// The server and the tool that are meant, of those whose results a viewer sees.
    fn origin(
        &self,
        viewer: &Viewer,
        name: &TableName,
        tool: &str,
    ) -> Result<Option<(String, String)>, QueryError> {
        let origins = self.store.origins(viewer)?;
        let of_server = |server: &str| {
            name.schema.as_ref().is_none_or(|schema| schema.eq_ignore_ascii_case(&word(server)))
        };
        // A tool's own name goes before one that only reads like it.
        let ways: [&dyn Fn(&str) -> bool; 2] =
            [&|known| known == tool, &|known| word(known).eq_ignore_ascii_case(tool)];
        let found = ways.iter().find_map(|fits| {
            let fitting = origins.iter().filter(|(server, known)| of_server(server) && fits(known));
            let mut fitting: Vec<(String, String)> = fitting.cloned().collect();
            fitting.dedup_by(|one, other| one.0 == other.0);
            (!fitting.is_empty()).then_some(fitting)
        });
        match found.unwrap_or_default().as_slice() {
            [] => Ok(None),
            [origin] => Ok(Some(origin.clone())),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|(server, _)| {
                        format!("{}.{}", quoted(&word(server)), quoted(&plain(&name.name)))
                    })
                    .collect();
                Err(QueryError::Refused(format!(
                    "Several servers have a tool {}: write {}.",
                    plain(&name.name),
                    names.join(" or ")
                )))
            }
        }
    }

    /// What to say of a name that nothing has.
    pub(crate) fn unknown(&self, current: Option<&DatasetId>, name: &str) -> String {
        let Self { store, viewer } = self;
        let filter = Filter { limit: Some(5), viewer: (*viewer).clone(), ..Filter::default() };
        let latest = store.list(&filter).unwrap_or_default();
        let mut known: Vec<String> = latest.iter().map(|entry| entry.id.to_string()).collect();
        let origins = store.origins(viewer).unwrap_or_default();
        known.extend(origins.iter().map(|(server, tool)| match dataset_and_suffix(tool, None) {
            // What looks like a dataset's name is none of a tool, unless its server stands before it.
            Some(_) => format!("{}.{}", identifier(&word(server)), identifier(&word(tool))),
            None => word(tool),
        }));
        let mut said = format!("There is no table {}{}.", plain(name), among(viewer.scope));
        if current.is_none() && (name == "dataset" || name == "data") {
            said.push_str(" Pass dataset_id, so that it stands for that dataset.");
        } else if let Some(nearest) = near::nearest(name, known.iter().map(String::as_str)) {
            let _ = write!(said, " Did you mean {}?", plain(nearest));
        }
        match latest.first() {
            Some(entry) => {
                let _ = write!(
                    said,
                    " Datasets go by their names, such as FROM {}; a tool's name stands for its \
                     latest result. list-saved-datasets shows them all.",
                    entry.id
                );
            }
            None => said.push_str(" Nothing has been kept yet."),
        }
        said
    }
}

/// Among what something was looked for, where that is not everything: there may be more, which only
/// the setting keeps out of sight.
pub fn among(scope: Scope) -> &'static str {
    match scope {
        Scope::All => "",
        Scope::Project => " among those of this project (setting `scope`)",
        Scope::Session => " among those of this session (setting `scope`)",
    }
}

/// The latest result of the tool that `name`, such as `list_issues` or `github.list_issues`, stands
/// for in a query of `viewer`.
pub fn latest(store: &Store, viewer: &Viewer, name: &str) -> Result<Option<DatasetId>, QueryError> {
    let kept = Kept { store, viewer };
    let whole = TableName { schema: None, name: name.to_owned() };
    let found = match (kept.find(None, &whole)?, name.split_once('.')) {
        (None, Some((server, tool))) => {
            let name = TableName { schema: Some(server.to_owned()), name: tool.to_owned() };
            kept.find(None, &name)?
        }
        (found, _) => found,
    };
    Ok(match found {
        Some(Meaning::One(table) | Meaning::Latest(table)) => Some(table.dataset.id().clone()),
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
    dataset.facts().are_of_rows()
}

/// The facts of a dataset's tables.
pub(crate) fn facts(dataset: &Dataset) -> &[facts::Table] {
    dataset.facts().tables()
}

/// What the call was given that a dataset is the result of, as JSON.
pub(crate) fn arguments(dataset: &Dataset) -> Option<String> {
    dataset.facts().arguments.as_ref().map(ToString::to_string)
}

/// The columns of a table, as far as its metadata tell them.
pub(crate) fn columns_of(table: &Table) -> Vec<Made> {
    match facts(&table.dataset).get(table.index) {
        Some(facts) => columns::of(facts),
        None if is_result(&table.dataset) => Vec::new(),
        None => columns::of_lines(),
    }
}

/// The table whose rows are in a file, of which a table is or in whose records it lies.
pub(crate) fn stored(dataset: &Dataset, index: usize) -> usize {
    let within = facts(dataset).get(index).and_then(|facts| facts.within.as_ref());
    match within {
        Some(within) if within.parent < index => stored(dataset, within.parent),
        _ => index,
    }
}

/// The names of a dataset's tables, each to be put behind the dataset's own; the first has none.
pub fn table_names(dataset: &Dataset) -> Vec<String> {
    let mut names = vec![String::new()];
    for (index, table) in facts(dataset).iter().enumerate().skip(1) {
        names.push(table.name.clone().unwrap_or_else(|| (index + 1).to_string()));
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use forebay_store::{Description, Durability};

    use super::*;

    #[test]
    fn a_tool_that_is_called_like_a_dataset_is_told_with_its_server() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::default()).unwrap();
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(b"[1]").unwrap();
        let (server, tool) = ("my-shop".to_owned(), "dataset_abcdefgh".to_owned());
        let description = Description { server, tool, ..Description::default() };
        let kept_as = capture.commit(description).unwrap().id().clone();
        let viewer = Viewer::default();
        let kept = Kept { store: &store, viewer: &viewer };
        let name = |schema: Option<&str>| TableName {
            schema: schema.map(str::to_owned),
            name: "dataset_abcdefgh".to_owned(),
        };
        let Err(QueryError::Refused(said)) = kept.find(None, &name(None)) else { panic!() };
        assert!(said.contains("Did you mean my_shop.dataset_abcdefgh?"), "{said}");
        let found = kept.find(None, &name(Some("my_shop"))).unwrap();
        assert!(matches!(found, Some(Meaning::Latest(table)) if *table.dataset.id() == kept_as));
    }
}
