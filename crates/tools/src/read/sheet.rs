//! Rows of a table for people: a page as it stands in SQL, and which values a field has how often.

use std::ops::Range;

use forebay_query::{Column, NUMBER, Observer, PLACE, QueryError, quoted};
use forebay_store::DatasetId;
use serde_json::Value;

use super::{
    Condition, Page,
    records::{Reader, Selection, Table},
};
use crate::{Budget, Desk, ToolError};

/// A page of a table.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Its columns, as they are called in SQL.
    pub columns: Vec<Column>,
    /// What the fields of the columns are called in the payload.
    pub fields: Vec<String>,
    /// The same of all columns that the table has.
    pub all_fields: Vec<String>,
    /// Each row as a JSON array: its number in the table, from 0 on, where it begins in the payload if that
    /// is known, and the cells.
    pub rows: Vec<String>,
    /// Whether it is known where rows begin.
    pub has_places: bool,
    /// The query that gives all rows that fit, in their order.
    pub sql: String,
    /// How many rows there are that fit the filter.
    pub total: u64,
}

/// The values that a field has most often.
#[derive(Debug, Clone)]
pub struct Facet {
    /// The field.
    pub field: String,
    /// Each with how often, the most frequent first; `None` stands for no value.
    pub values: Vec<(Option<String>, u64)>,
    /// How many values it has.
    pub distinct: u64,
}

/// How much of a table is wanted at once.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Which of its columns, from 0 on; it may have fewer.
    pub columns: Range<usize>,
    /// How many bytes at most.
    pub max_bytes: u64,
}

/// A page of one of a dataset's tables.
pub fn sheet(
    desk: &Desk,
    (dataset, table): (&DatasetId, &str),
    page: &Page,
    extent: &Extent,
    observer: &dyn Observer,
) -> Result<Sheet, ToolError> {
    let dataset = desk.dataset(dataset)?;
    let budget = Budget { tokens: u64::MAX, bytes: Some(extent.max_bytes) };
    let reader = Reader { desk, budget, observer };
    let table = Table::find(&reader, &dataset, table)?;
    let selection = Selection::of(&table, page)?;
    let total = table.total(&reader, &selection).map_err(|error| unfit(error, &table, page))?;
    page.part.check(total, "record")?;
    let wanted = table.columns_of(page)?;
    let columns: Vec<&Column> =
        if wanted.is_empty() { table.columns.iter().collect() } else { wanted };
    let field = |column: &&Column| table.field(column).to_owned();
    let all_fields = columns.iter().map(field).collect();
    let end = extent.columns.end.min(columns.len());
    let columns = &columns[extent.columns.start.min(end)..end];
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let names = names.join(", ");
    let has_places = table.is_written;
    let place = if has_places { format!("{PLACE}, ") } else { String::new() };
    let selected = format!("{NUMBER}, {place}{names}");
    let rows = if selection.order.is_empty() || page.part.offset < DEEP {
        table.rows(&reader, &selected, &selection, page)?
    } else {
        deep_rows(&reader, &table, &selected, &selection, page)?
    };
    // Queries of others know nothing of numbers.
    let order = selection.order.replace(&format!(", {NUMBER}"), "");
    let wanted = if page.fields.is_empty() { "*" } else { &names };
    let sql = format!("SELECT {wanted} FROM {}{}{order}", table.name, selection.filter);
    let fields = columns.iter().map(field).collect();
    let columns = columns.iter().copied().cloned().collect();
    Ok(Sheet { columns, fields, all_fields, rows, has_places, sql, total })
}

/// An error that a filter has caused by a value that its field cannot have, told as such.
fn unfit(error: ToolError, table: &Table<'_>, page: &Page) -> ToolError {
    const SAID: [&str; 3] = ["Conversion Error", "invalid timestamp", "invalid date"];
    let ToolError::Query(QueryError::Refused(said)) = &error else { return error };
    if let Some(why) = said.strip_prefix("Invalid Input Error: ")
        && let Some(pattern) = page.filter.iter().find(|it| it.is_pattern())
    {
        let pattern = pattern.held_against();
        return ToolError::Refused(format!("{pattern} is not a regular expression: {why}"));
    }
    if !SAID.iter().any(|it| said.contains(it)) {
        return error;
    }
    let is_named = |value: &str| !value.is_empty() && said.contains(value);
    let Some(condition) = page.filter.iter().find(|it| is_named(&it.held_against())) else {
        return error;
    };
    let kind = table.column(&condition.field).map(|column| column.kind.as_str());
    let holds = match kind.unwrap_or_default() {
        "TIMESTAMP" | "TIMESTAMP WITH TIME ZONE" => "times, such as 2026-11-18 09:30:00",
        "DATE" => "days, such as 2026-11-18",
        "BOOLEAN" => "true or false",
        "UUID" => "UUIDs",
        kind if kind.ends_with("INT") || kind == "INTEGER" => "whole numbers",
        kind if kind.starts_with("DECIMAL") || kind == "DOUBLE" => "numbers",
        _ => return error,
    };
    let (field, value) = (&condition.field, condition.held_against());
    let is_whole = value.trim_start_matches('-').bytes().all(|it| it.is_ascii_digit());
    let why = if is_whole && holds.contains("number") {
        "has more digits than it can hold"
    } else {
        "is none of these"
    };
    ToolError::Refused(format!("The field {field} holds {holds}; {value} {why}."))
}

/// From so many rows before a page on, only what is sorted by is sorted, and the rest is looked up.
const DEEP: u64 = 10_000;

/// The rows of a page that lies deep in an order.
fn deep_rows(
    reader: &Reader<'_>,
    table: &Table<'_>,
    selected: &str,
    Selection { filter, order }: &Selection,
    page: &Page,
) -> Result<Vec<String>, ToolError> {
    let (name, limit, offset) = (&table.name, page.part.limit, page.part.offset);
    let sql = format!(
        "SELECT {selected} FROM {name} WHERE {NUMBER} IN (SELECT {NUMBER} FROM {name}{filter}{order} \
         LIMIT {limit} OFFSET {offset}){order}"
    );
    Ok(reader.ask(&sql, limit, reader.budget.max_bytes())?.rows)
}

/// The most frequent values of some fields, among the records for which all conditions hold.
pub fn facets(
    desk: &Desk,
    (dataset, table): (&DatasetId, &str),
    filter: &[Condition],
    fields: &[String],
    limit: u64,
    observer: &dyn Observer,
) -> Result<Vec<Facet>, ToolError> {
    const MAX_BYTES: u64 = 64_000;
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let dataset = desk.dataset(dataset)?;
    let budget = Budget { tokens: u64::MAX, bytes: Some(MAX_BYTES) };
    let reader = Reader { desk, budget, observer };
    let table = Table::find(&reader, &dataset, table)?;
    let page = Page { filter: filter.to_vec(), ..Page::default() };
    let Selection { filter, .. } = Selection::of(&table, &page)?;
    let mut facets = Vec::new();
    for field in fields {
        let name = quoted(&table.column(field)?.name);
        let sql = format!(
            "SELECT CAST({name} AS VARCHAR), count(*), count(*) OVER () FROM {}{filter} GROUP BY 1 \
             ORDER BY 2 DESC, 1 LIMIT {limit}",
            table.name
        );
        let rows = reader.ask(&sql, limit, MAX_BYTES)?.rows;
        let rows = rows.iter().filter_map(|row| {
            let (value, count, all): (Value, u64, u64) = serde_json::from_str(row).ok()?;
            Some(((value.as_str().map(str::to_owned), count), all))
        });
        let (values, all): (Vec<_>, Vec<u64>) = rows.unzip();
        let distinct = all.first().copied().unwrap_or_default();
        facets.push(Facet { field: field.clone(), values, distinct });
    }
    Ok(facets)
}
