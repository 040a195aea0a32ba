//! SQL over what was kept, with the query in the address; what it gives as a table, a chart and a file.

use std::ops::Range;

use askama::Template;
use bytes::Bytes;
use forebay_query::{Column, Query, Selected};
use forebay_text::counted;
use forebay_tools::{ChartKind, ToolError};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Head,
    cell::{Cell, ColumnType, cells},
    chart,
    columns::{Columns, part},
};
use crate::{
    Pages,
    asker::Asker,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
    reply::{Twin, written},
};

/// How many rows are shown.
const MAX_ROWS: u64 = 200;
/// How much of a result is shown.
const MAX_BYTES: u64 = 4_000_000;

/// A query, and what it gives.
#[derive(Template, Serialize)]
#[template(path = "sql.html")]
pub(crate) struct Asked {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    sql: String,
    result: Option<Found>,
    /// Why there is none.
    error: Option<String>,
    #[serde(skip)]
    status: StatusCode,
    chart: Option<Chart>,
    #[serde(skip)]
    given: Given,
}

/// What a query gave.
#[derive(Serialize)]
pub(crate) struct Found {
    columns: Vec<Column>,
    rows: Vec<Box<RawValue>>,
    has_more: bool,
    /// How many columns stand before those that are shown.
    first_column: usize,
    column_count: usize,
    milliseconds: u64,
    /// What the names of tools in it stood for.
    sources: Vec<String>,
    #[serde(skip)]
    all_columns: Vec<String>,
    /// Those of numbers, by their names.
    #[serde(skip)]
    numbers: Vec<String>,
    #[serde(skip)]
    extent: Columns,
}

/// A chart of what a query gave.
#[derive(Serialize)]
pub(crate) struct Chart {
    kind: String,
    address: String,
    /// Why it is not drawn, or what it does not show.
    notes: Vec<String>,
    is_drawn: bool,
}

pub(crate) fn answer(
    pages: &Pages,
    id: &str,
    given: &Given,
    twin: Twin,
    asker: &Asker,
) -> Result<Response<Bytes>, Problem> {
    let page = Asked::of(pages, id, given, asker)?;
    Ok(written(page.status, &page, twin)?)
}

impl Asked {
    fn of(pages: &Pages, id: &str, given: &Given, asker: &Asker) -> Result<Self, Problem> {
        let given = given.only(&["sql", "columns", "chart", "x", "y", "series"])?;
        // Browsers send the lines of a text with two characters at the end of each.
        let given = match given.get("sql") {
            Some(sql) => given.with("sql", &sql.replace("\r\n", "\n")),
            None => given,
        };
        let dataset = pages.dataset(id)?;
        let mut page = Self {
            frame: Frame::new(Section::Shelf, format!("{} · SQL", dataset.id())),
            dataset: Head::of(&dataset, "SQL and charts"),
            sql: format!("SELECT *\nFROM {}\nLIMIT 100", dataset.id()),
            result: None,
            error: None,
            status: StatusCode::OK,
            chart: None,
            given,
        };
        let Some(sql) = page.given.get("sql").map(str::to_owned) else { return Ok(page) };
        page.sql.clone_from(&sql);
        let wanted = Columns::wanted(&page.given)?;
        let query = Query { sql, dataset: Some(dataset.id().clone()), with_places: false };
        let selected = pages.desk.service().select(&query, MAX_ROWS, MAX_BYTES, asker);
        let milliseconds = u64::try_from(asker.took().as_millis()).unwrap_or(u64::MAX);
        match selected.map_err(|error| Problem::from(ToolError::from(error))) {
            Ok(selected) => page.result = Some(Found::of(selected, &wanted, milliseconds)?),
            // Whoever has written the query finds it there to be changed.
            Err(problem) if problem.is_of_asker() => {
                page.status = problem.status();
                page.error = Some(problem.what().to_owned());
            }
            Err(problem) => return Err(problem),
        }
        if let (Some(_), Some(kind)) = (&page.result, page.given.get("chart")) {
            let (chart, status) = Chart::of(pages, id, kind, &page.given.without("columns"), asker);
            (page.chart, page.status) = (Some(chart), status);
        }
        Ok(page)
    }

    fn head(&self) -> &Head {
        &self.dataset
    }

    fn path(&self) -> String {
        format!("{}/sql", self.dataset.path())
    }

    fn kinds(&self) -> Vec<(&'static str, bool)> {
        let chosen = self.given.get("chart").unwrap_or("bar");
        ChartKind::ALL.map(|kind| (kind.name(), kind.name() == chosen)).into()
    }

    /// Which columns are shown, if there are more.
    fn columns_told(&self) -> Option<String> {
        self.result.as_ref()?.extent.told()
    }

    fn columns_before(&self) -> Option<String> {
        let given = self.result.as_ref()?.extent.before(&self.given)?;
        Some(given.at(&self.path()))
    }

    fn columns_next(&self) -> Option<String> {
        let given = self.result.as_ref()?.extent.next(&self.given)?;
        Some(given.at(&self.path()))
    }

    /// True if a column has this role in the chart. As long as nothing has been drawn, numbers are what is drawn.
    fn is_chosen(&self, role: &str, column: &str) -> bool {
        let is_asked = ["chart", "x", "y"].iter().any(|name| self.given.get(name).is_some());
        let preset = || self.result.as_ref()?.numbers_beside_the_first();
        let chosen = self.given.get(role);
        chosen.or_else(|| preset().filter(|_| role == "y" && !is_asked)) == Some(column)
    }

    fn export_link(&self, form: &str) -> String {
        let given = Given::default().and("form", form).and("sql", &self.sql);
        given.at(&format!("{}/export", self.dataset.path()))
    }

    fn twin(&self) -> String {
        self.given.at(&format!("{}.json", self.path()))
    }
}

impl Found {
    fn of(selected: Selected, wanted: &Range<usize>, milliseconds: u64) -> Result<Self, Problem> {
        let Selected { columns, rows, has_more, sources } = selected;
        let extent = Columns::of(wanted, columns.len())?;
        let rows = rows.iter().map(|row| part(row, extent.shown())).collect::<Result<_, _>>()?;
        let sources = sources.iter().map(ToString::to_string).collect();
        let numbers = columns.iter().filter(|it| ColumnType::of(&it.kind).is_number());
        let numbers = numbers.map(|it| it.name.clone()).collect();
        let all_columns = columns.iter().map(|column| column.name.clone()).collect();
        let shown = extent.shown();
        Ok(Self {
            columns: columns.into_iter().skip(shown.start).take(shown.len()).collect(),
            rows,
            has_more,
            first_column: shown.start,
            column_count: extent.count(),
            milliseconds,
            sources,
            all_columns,
            numbers,
            extent,
        })
    }

    /// The column of numbers that is drawn over the first one, if there is one.
    fn numbers_beside_the_first(&self) -> Option<&str> {
        let first = self.all_columns.first()?;
        self.numbers.iter().find(|name| *name != first).map(String::as_str)
    }

    /// The columns that are shown, each with its type.
    fn headings(&self) -> Vec<(&str, ColumnType)> {
        self.columns.iter().map(|it| (it.name.as_str(), ColumnType::of(&it.kind))).collect()
    }

    fn shown_rows(&self) -> Vec<Vec<Cell>> {
        self.rows.iter().map(|row| cells(row.get())).collect()
    }

    fn told(&self) -> String {
        let rows = counted(self.rows.len() as u64, "row");
        if self.has_more {
            format!("The first {rows}, {} ms; “Save as” has all of them", self.milliseconds)
        } else {
            format!("{rows}, {} ms", self.milliseconds)
        }
    }
}

impl Chart {
    fn of(pages: &Pages, id: &str, kind: &str, given: &Given, asker: &Asker) -> (Self, StatusCode) {
        let address = given.at(&format!("/dataset/{id}/chart.svg"));
        let (notes, status) = match chart::drawing(pages, id, given, asker) {
            Ok((_, notes)) => (notes, StatusCode::OK),
            Err(problem) => (vec![problem.what().to_owned()], problem.status()),
        };
        let is_drawn = status == StatusCode::OK;
        (Self { kind: kind.to_owned(), address, notes, is_drawn }, status)
    }
}
