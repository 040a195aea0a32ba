//! `analyze-with-duckdb`: SQL over what was kept.

use forebay_query::{ALL_ROWS, Observer, Query, QueryError};

use crate::{
    Desk, ToolError,
    arguments::{Arguments, counted},
    budget::Budget,
    render::{self, Format, Rendered},
    reply::Reply,
};

/// What a short note may take of the budget.
const HINT_TOKENS: u64 = 20;
/// What a note about a tool's name may take of the budget.
const SOURCE_TOKENS: u64 = 40;
/// What a note about the rest may take of the budget.
const NOTE_TOKENS: u64 = 120;

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
    observer: &dyn Observer,
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
    let found = desk.service().select(&query, max_rows, budget.max_bytes(), observer)?;
    let budget = budget.without(SOURCE_TOKENS * found.sources.len() as u64);
    let format = format.unwrap_or_else(|| Format::shortest(&found.columns));
    let all = render::within(budget.without(HINT_TOKENS), format, &found);
    let is_all = all.rows == found.rows.len() && !all.is_cut;
    if is_all && !found.has_more {
        let columns = counted(found.columns.len(), "column");
        let note = found.rows.is_empty().then(|| format!("No rows of {columns}."));
        return Ok(Reply::text(all.text).and_note(note).and_sources(&found.sources));
    }
    if is_all && limit == Some(found.rows.len() as u64) {
        let note = "There are more rows: leave limit out to have all of them saved.".to_owned();
        return Ok(Reply::text(all.text).and_note(Some(note)).and_sources(&found.sources));
    }
    let budget = budget.without(NOTE_TOKENS);
    match desk.keep(&query, limit, observer) {
        Ok(kept) => {
            let id = kept.dataset.id();
            // Without an order, the same query may give other rows first.
            let again = Query { sql: format!("FROM {id}"), ..Query::default() };
            let shown = desk.service().select(&again, most, budget.max_bytes(), observer)?;
            let shown = render::within(budget, format, &shown);
            let rows = counted(kept.rows, "row");
            let whole = if kept.has_more { "What was asked for" } else { "The whole result" };
            let rest =
                if kept.has_more { " There are more rows, which were left out." } else { "" };
            let saved = format!(
                "{} {whole}, {rows}, is saved as {id}: query that, or read it by pages.{rest}",
                so_many(&shown, found.columns.len())
            );
            Ok(Reply::text(shown.text).and_text(saved).and_sources(&found.sources))
        }
        // A plan cannot be kept.
        Err(ToolError::Query(QueryError::NotKept)) => {
            let shown = render::within(budget, format, &found);
            let note = format!("{} The rest is left out.", so_many(&shown, found.columns.len()));
            Ok(Reply::text(shown.text).and_text(note).and_sources(&found.sources))
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
