//! The workspace: every payload that was kept, and every file that was made of one, by a path.
//!
//! A path is the name of a dataset and the name of a file in it: `dataset_k3v9x2ma/orders.csv`. It is no path
//! on the disk: it is compared with those that there are, so that it leads nowhere else.

mod characters;
pub(crate) mod file;
pub(crate) mod search;

use forebay_store::{Address, Artifact, Dataset, DatasetId};
use serde_json::Value;

use crate::{Desk, ToolError, arguments::shown, definitions::Tool, error::refuse};

/// How many files of a dataset are named to whoever asked for one that it has not.
const SHOWN_FILES: usize = 10;

/// A file in the workspace.
#[derive(Debug)]
struct Item {
    dataset: Dataset,
    artifact: Artifact,
    path: String,
}

/// The files of a dataset, with their paths.
fn files(dataset: &Dataset) -> Vec<Item> {
    let artifacts: Vec<Artifact> = dataset.artifacts().collect();
    let names: Vec<String> = artifacts.iter().map(|it| plain_name(dataset.id(), it)).collect();
    let is_twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let item = |(artifact, name): (Artifact, &String)| {
        let block = artifact.block;
        let within = if is_twice(name) { format!("{block}/{name}") } else { name.clone() };
        let path = format!("{}/{within}", dataset.id());
        Item { dataset: dataset.clone(), artifact, path }
    };
    artifacts.into_iter().zip(&names).map(item).collect()
}

/// What a file is called within its dataset.
fn plain_name(id: &DatasetId, artifact: &Artifact) -> String {
    let name = artifact.name.strip_prefix(id.as_str()).and_then(|rest| rest.strip_prefix('_'));
    name.unwrap_or(&artifact.name).replace('/', "_")
}

/// The file that a path leads to: one of those that the viewer may see.
fn find(desk: &Desk, path: &str) -> Result<Item, ToolError> {
    let path = path.trim();
    if let Some((Address { dataset, block }, _)) = Address::parse(path) {
        let dataset = desk.dataset(&dataset)?;
        let block = block.unwrap_or_else(|| dataset.main_part());
        return among(&dataset, |item| item.artifact.block == block);
    }
    let (name, within) = match path.split_once('/') {
        Some((name, within)) => (name, Some(within)),
        None => (path, None),
    };
    let Some(id) = DatasetId::parse(name) else { return Err(no_path(desk, path)) };
    let dataset = desk.dataset(&id)?;
    match within {
        Some(within) => {
            let whole = format!("{id}/{within}");
            among(&dataset, |item| item.path == whole)
        }
        None => among(&dataset, |item| item.artifact.block == dataset.main_part()),
    }
}

fn among(dataset: &Dataset, is_meant: impl Fn(&Item) -> bool) -> Result<Item, ToolError> {
    let items = files(dataset);
    let mut names: Vec<String> = items.iter().map(|item| item.path.clone()).collect();
    if let Some(item) = items.into_iter().find(is_meant) {
        return Ok(item);
    }
    let more = names.len().saturating_sub(SHOWN_FILES);
    names.truncate(SHOWN_FILES);
    names.extend((more > 0).then(|| format!("{more} more")));
    Err(ToolError::NotFound(format!(
        "{} has no such file. It has {}.",
        dataset.id(),
        names.join(", ")
    )))
}

/// Why something leads to no file, with the path that may be meant.
fn no_path(desk: &Desk, path: &str) -> ToolError {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let id = last.get(..DatasetId::LENGTH).and_then(DatasetId::parse);
    let meant = id.and_then(|id| desk.dataset(&id).ok()).and_then(|dataset| {
        let own = |item: &Item| dataset.metadata().parts.get(item.artifact.block).cloned();
        let is_it = |item: &Item| own(item).is_some_and(|part| last.starts_with(&part.file));
        files(&dataset).into_iter().find(is_it)
    });
    let meant = meant.map(|item| format!(" Did you mean {}?", item.path)).unwrap_or_default();
    ToolError::Refused(format!(
        "{} is no path in the workspace.{meant} {} lists them, such as dataset_k3v9x2ma/data.json; nothing \
         else can be read.",
        shown(&Value::from(path)),
        Tool::SearchWorkspace.name()
    ))
}

/// Refuses what no path can be, so that nobody takes it for a name that is merely not there.
fn check(path: &str) -> Result<(), ToolError> {
    let climbs = path.split(['/', '\\']).any(|part| part == ".." || part == ".");
    if path.contains('\0') || path.contains('\\') || climbs {
        return refuse!(
            "{} is no path in the workspace: a path has no \"..\", \".\" or \"\\\" in it. {} lists them; \
             nothing else can be read.",
            shown(&Value::from(path)),
            Tool::SearchWorkspace.name()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
