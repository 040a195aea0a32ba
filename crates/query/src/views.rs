//! What the name of a table in a query stands for, as SQL over the files of rows.
//!
//! A table that lies in the records of another has no file: it is a view over the other's column. How
//! all results of a tool are one table, [`crate::history`] says.

use std::{collections::BTreeSet, path::PathBuf};

use forebay_store::facts::{self, Form, Within};

use crate::{
    NUMBER, PLACE, QueryError,
    columns::{self, literal, quoted},
    rows::{self, Workshop},
    tables::{Table, facts, is_result},
};

/// What a row of the parent and an element of its list are called within a view.
const PARENT: &str = "__parent";
const ITEM: &str = "__item";
const ROW: &str = "__row";

/// The files that views read, made if they are not there.
pub(crate) struct Files<'a> {
    pub(crate) workshop: Workshop<'a>,
    /// Those that have been asked for.
    pub(crate) paths: BTreeSet<PathBuf>,
}

impl Files<'_> {
    fn rows(&mut self, table: &Table) -> Result<PathBuf, QueryError> {
        let path = rows::file(self.workshop, table)?;
        self.paths.insert(path.clone());
        Ok(path)
    }
}

/// The query that a table stands for.
pub(crate) fn one(
    table: &Table,
    files: &mut Files<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    let facts = facts(&table.dataset).get(table.index);
    match facts.and_then(|facts| Some((facts, facts.within.as_ref()?))) {
        Some((facts, within)) => inner(table, facts, within, files, with_places),
        None => stored(table, facts, files, with_places),
    }
}

/// A table that has a file.
fn stored(
    table: &Table,
    facts: Option<&facts::Table>,
    files: &mut Files<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    let file = literal(&files.rows(table)?.to_string_lossy());
    // A result of a query has no places, and records without fields have nothing else.
    let has_fields = facts.is_none_or(|facts| !columns::of(facts).is_empty());
    let columns = if with_places || is_result(&table.dataset) || !has_fields {
        "*".to_owned()
    } else {
        format!("* EXCLUDE ({PLACE})")
    };
    let number = if with_places { ", file_row_number = true" } else { "" };
    Ok(format!("SELECT {columns} FROM read_parquet({file}{number})"))
}

/// A table that lies in the records of another.
fn inner(
    table: &Table,
    facts: &facts::Table,
    within: &Within,
    files: &mut Files<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    let index = within.parent;
    if index >= table.index {
        return Err(QueryError::Failed("its metadata do not say what it lies in".to_owned()));
    }
    let parent = one(&Table { dataset: table.dataset.clone(), index }, files, false)?;
    let path = |names: &Vec<String>| {
        names.iter().fold(PARENT.to_owned(), |path, name| format!("{path}.{}", quoted(name)))
    };
    let mut carried = Vec::new();
    if within.has_number {
        carried.push(("_parent".to_owned(), format!("{PARENT}.{ROW}")));
    }
    carried.extend(within.carried.iter().cloned().zip(within.carried_from.iter().map(path)));
    let mut inside: Vec<String> =
        carried.iter().map(|(name, from)| format!("{from} AS {}", quoted(name))).collect();
    let column = path(&within.column);
    let mut outside: Vec<String> = carried.iter().map(|(name, _)| quoted(name)).collect();
    match within.of {
        Form::Map => {
            inside.push(format!("unnest(map_entries({column})) AS {ITEM}"));
            outside.extend(entries(facts, within));
        }
        Form::List => {
            inside.push(format!("unnest({column}) AS {ITEM}"));
            outside.push(format!("unnest({ITEM})"));
        }
    }
    if with_places {
        outside.push(format!("row_number() OVER () - 1 AS {NUMBER}"));
    }
    let row =
        if within.has_number { format!(", row_number() OVER () AS {ROW}") } else { String::new() };
    Ok(format!(
        "SELECT {} FROM (SELECT {} FROM (SELECT *{row} FROM ({parent})) {PARENT})",
        outside.join(", "),
        inside.join(", ")
    ))
}

/// The columns of a map's entries: the key, and the members of the value or the value itself.
fn entries(facts: &facts::Table, within: &Within) -> [String; 2] {
    let made = columns::of(facts);
    let key = made.first().map_or("key", |column| column.name.as_str());
    let value = if within.value_is_plain == Some(true) {
        format!("{ITEM}.value AS value")
    } else {
        format!("unnest({ITEM}.value)")
    };
    [format!("{ITEM}.key AS {}", quoted(key)), value]
}
