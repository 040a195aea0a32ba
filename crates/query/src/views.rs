//! What a name in a query stands for, as SQL over the files of rows.
//!
//! A table that lies in the records of another has no file: it is a view over the other's column. The
//! results of a tool, one under the other, have one type for each column, so that the same query is
//! right for all of them.

use std::path::PathBuf;

use forebay_store::{Dataset, Entry};
use serde_json::Value;

use crate::{
    NUMBER, PLACE, QueryError,
    columns::{self, Made, Type, literal, quoted},
    tables::{Meaning, Table, facts, is_result},
};

/// A name, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(crate) select: String,
}

/// What a row of the parent and an element of its list are called within a view.
const PARENT: &str = "__parent";
const ITEM: &str = "__item";
const ROW: &str = "__row";

/// Makes the file of a table's rows, if it is not there.
pub(crate) type RowsOf<'a> = dyn FnMut(&Table) -> Result<PathBuf, QueryError> + 'a;

/// The query that a name stands for.
pub(crate) fn select(
    meaning: &Meaning,
    rows: &mut RowsOf<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    match meaning {
        Meaning::One(table) | Meaning::Latest(table) => one(table, rows, with_places),
        Meaning::History(results) => history(results, rows),
    }
}

fn one(table: &Table, rows: &mut RowsOf<'_>, with_places: bool) -> Result<String, QueryError> {
    match facts(&table.dataset).get(table.index) {
        Some(facts) if facts.get("parent").is_some() => inner(table, facts, rows, with_places),
        facts => stored(table, facts, rows, with_places),
    }
}

/// A table that has a file.
fn stored(
    table: &Table,
    facts: Option<&Value>,
    rows: &mut RowsOf<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    let file = literal(&rows(table)?.to_string_lossy());
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
    facts: &Value,
    rows: &mut RowsOf<'_>,
    with_places: bool,
) -> Result<String, QueryError> {
    let index = facts["parent"].as_u64().and_then(|index| usize::try_from(index).ok());
    let index = index
        .filter(|index| *index < table.index)
        .ok_or_else(|| QueryError::Failed("its metadata do not say what it lies in".to_owned()))?;
    let parent = one(&Table { dataset: table.dataset.clone(), index }, rows, false)?;
    let names = |value: &Value| -> Vec<String> {
        let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let path = |names: Vec<String>| {
        names.iter().fold(PARENT.to_owned(), |path, name| format!("{path}.{}", quoted(name)))
    };
    let mut carried = Vec::new();
    if facts["hasNumber"] == true {
        carried.push(("_parent".to_owned(), format!("{PARENT}.{ROW}")));
    }
    let from = facts["carriedFrom"].as_array().into_iter().flatten();
    carried.extend(names(&facts["carried"]).into_iter().zip(from.map(|from| path(names(from)))));
    let mut inside: Vec<String> =
        carried.iter().map(|(name, from)| format!("{from} AS {}", quoted(name))).collect();
    let column = path(names(&facts["column"]));
    let mut outside: Vec<String> = carried.iter().map(|(name, _)| quoted(name)).collect();
    if facts["of"] == "map" {
        inside.push(format!("unnest(map_entries({column})) AS {ITEM}"));
        outside.extend(entries(facts));
    } else {
        inside.push(format!("unnest({column}) AS {ITEM}"));
        outside.push(format!("unnest({ITEM})"));
    }
    if with_places {
        outside.push(format!("row_number() OVER () - 1 AS {NUMBER}"));
    }
    let row = if facts["hasNumber"] == true {
        format!(", row_number() OVER () AS {ROW}")
    } else {
        String::new()
    };
    Ok(format!(
        "SELECT {} FROM (SELECT {} FROM (SELECT *{row} FROM ({parent})) {PARENT})",
        outside.join(", "),
        inside.join(", ")
    ))
}

/// The columns of a map's entries: the key, and the members of the value or the value itself.
fn entries(facts: &Value) -> [String; 2] {
    let made = columns::of(facts);
    let key = made.first().map_or("key", |column| column.name.as_str());
    let value = if facts["valueIsPlain"] == true {
        format!("{ITEM}.value AS value")
    } else {
        format!("unnest({ITEM}.value)")
    };
    [format!("{ITEM}.key AS {}", quoted(key)), value]
}

/// All results of a tool, one under the other.
fn history(results: &[(Entry, Table)], rows: &mut RowsOf<'_>) -> Result<String, QueryError> {
    let made: Vec<Vec<Made>> = results.iter().map(|(_, table)| columns_of(table)).collect();
    let united = made.iter().fold(Vec::new(), |united, made| columns::united(united, made.clone()));
    // Where a column cannot be read as what covers all, it is JSON everywhere.
    let united: Vec<Made> = united
        .into_iter()
        .map(|column| {
            let own = made.iter().filter_map(|columns| named(columns, &column.name));
            let fits = own.into_iter().all(|own| own.kind.can_be_cast_to(&column.kind));
            if fits { column } else { Made { kind: Type::Json, ..column } }
        })
        .collect();
    let mut parts = Vec::new();
    for ((entry, table), made) in results.iter().zip(&made) {
        let select = one(table, rows, false)?;
        let changed: Vec<String> = made
            .iter()
            .filter_map(|own| {
                let column = named(&united, &own.name)?;
                let cast = own.kind.cast(&quoted(&own.name), &column.kind)?;
                Some(format!("{cast} AS {}", quoted(&own.name)))
            })
            .collect();
        let columns = match changed.as_slice() {
            [] => "*".to_owned(),
            changed => format!("* REPLACE ({})", changed.join(", ")),
        };
        parts.push(format!(
            "SELECT {} AS _dataset, TIMESTAMP {} AS _captured_at, {}::JSON AS _arguments, {columns} \
             FROM ({select})",
            literal(entry.id.as_str()),
            literal(&entry.timestamp.strftime("%Y-%m-%d %H:%M:%S%.f").to_string()),
            arguments(&table.dataset),
        ));
    }
    Ok(parts.join(" UNION ALL BY NAME "))
}

/// What the call was given that a dataset is the result of, in SQL.
fn arguments(dataset: &Dataset) -> String {
    let arguments = dataset.metadata().description.more.get("arguments");
    arguments.map_or_else(|| "NULL".to_owned(), |arguments| literal(&arguments.to_string()))
}

fn named<'c>(columns: &'c [Made], name: &str) -> Option<&'c Made> {
    columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

/// The columns of a table, as far as its metadata tell them.
fn columns_of(table: &Table) -> Vec<Made> {
    match facts(&table.dataset).get(table.index) {
        Some(facts) => columns::of(facts),
        None if is_result(&table.dataset) => Vec::new(),
        None => columns::of_lines(),
    }
}
