//! `analyze-with-duckdb`: SQL over what was kept.

use forebay_query::{ALL_ROWS, Conduct, Query, QueryError, Selected};

use crate::{
    Desk, ToolError,
    arguments::{Arguments, counted},
    budget::Budget,
    render::{self, Format, Rendered},
    reply::Reply,
};

/// What a short note may take of the budget.
const HINT_TOKENS: u64 = 20;
/// What a note about the rest may take of the budget.
const NOTE_TOKENS: u64 = 120;

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
    conduct: &dyn Conduct,
) -> Result<Reply, ToolError> {
    let sql = arguments.text("query", "SELECT * FROM dataset_k3v9x2ma LIMIT 10")?;
    let dataset = arguments.dataset("dataset_id")?.map(|(id, _)| id);
    if let Some(id) = &dataset {
        desk.dataset(id)?;
    }
    let format = arguments.word("format", &Format::NAMED)?;
    let limit = arguments.number("limit", 1, ALL_ROWS)?;
    let query = Query { sql, dataset, with_places: false };
    // A row has two tokens at least: what it says, and its end.
    let most = budget.tokens / 2 + 1;
    let max_rows = limit.unwrap_or(u64::MAX).min(most);
    let found = desk.service().select(&query, max_rows, budget.max_bytes(), conduct)?;
    let format = format.unwrap_or_else(|| Format::shortest(&found.columns));
    let all = render::within(budget.without(HINT_TOKENS), format, &found);
    let is_all = all.rows == found.rows.len() && !all.is_cut;
    if is_all && !found.has_more {
        let columns = counted(found.columns.len(), "column");
        let note = found.rows.is_empty().then(|| format!("No rows of {columns}."));
        return Ok(Reply::text(all.text).and_note(note));
    }
    if is_all && limit == Some(found.rows.len() as u64) {
        let note = "There are more rows: leave limit out to have all of them saved.".to_owned();
        return Ok(Reply::text(all.text).and_note(Some(note)));
    }
    let budget = budget.without(NOTE_TOKENS);
    let query = match limit {
        Some(limit) if !is_plan(&query) => first(query, limit),
        _ => query,
    };
    match desk.keep(&query, conduct) {
        Ok(kept) => {
            let id = kept.dataset.id();
            // Without an order, the same query may give other rows first.
            let again = Query { sql: format!("FROM {id}"), ..Query::default() };
            let shown = desk.service().select(&again, most, budget.max_bytes(), conduct)?;
            let shown = render::within(budget, format, &shown);
            let rows = counted(kept.rows, "row");
            let rest =
                if kept.has_more { " The result has more rows, which were left out." } else { "" };
            let saved = format!(
                "{} The whole result, {rows}, is saved as {id}: query that, or read it by pages.{rest}",
                so_many(&shown, found.columns.len())
            );
            Ok(Reply::text(shown.text).and_text(saved))
        }
        // A plan cannot be kept.
        Err(ToolError::Query(QueryError::NotKept)) => {
            let shown = render::within(budget, format, &found);
            let note = format!("{} The rest is left out.", so_many(&shown, found.columns.len()));
            Ok(Reply::text(shown.text).and_text(note))
        }
        Err(error) => Err(error),
    }
}

/// What is shown, of rows with so many columns.
fn so_many(shown: &Rendered, columns: usize) -> String {
    match (shown.rows, shown.is_cut) {
        (_, true) => "The first row, with long cells cut, is shown.".to_owned(),
        (0, false) => {
            format!("No row fits in this reply: it has {columns} columns; select fewer of them.")
        }
        (1, false) => "The first row is shown.".to_owned(),
        (rows, false) => format!("The first {rows} rows are shown."),
    }
}

/// True if a query asks for its plan, which is no table.
fn is_plan(query: &Query) -> bool {
    let first = query.sql.split_whitespace().next();
    first.is_some_and(|word| word.eq_ignore_ascii_case("EXPLAIN"))
}

/// The first rows of a query.
fn first(query: Query, limit: u64) -> Query {
    let sql = forebay_query::bare(&query.sql);
    // The line break ends a comment that the query may end with.
    Query { sql: format!("SELECT * FROM (\n{sql}\n) LIMIT {limit}"), ..query }
}

/// The rows that a person sees.
pub fn select(
    desk: &Desk,
    query: &Query,
    max_rows: u64,
    conduct: &dyn Conduct,
) -> Result<Selected, ToolError> {
    Ok(desk.service().select(query, max_rows, u64::MAX, conduct)?)
}
