//! SQL over what was kept, with the query in the address; what it gives as a table, a chart and a file.

use askama::Template;
use forebay_query::{Column, Query, Selected};
use forebay_text::counted;
use forebay_tools::{ChartKind, ToolError};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Head,
    cell::{Cell, cells, heading_class},
    chart,
};
use crate::{
    Pages,
    asker::Asker,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
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
    milliseconds: u64,
    /// What the names of tools in it stood for.
    sources: Vec<String>,
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

impl Asked {
    pub(crate) fn of(
        pages: &Pages,
        id: &str,
        given: &Given,
        asker: &Asker,
    ) -> Result<Self, Problem> {
        let dataset = pages.dataset(id)?;
        let given = given.only(&["sql", "chart", "x", "y", "series"]);
        let frame = Frame::new(Section::Shelf, format!("{} · SQL", dataset.id()));
        let head = Head::of(&dataset, "SQL and charts");
        let Some(sql) = given.get("sql").map(str::to_owned) else {
            let sql = format!("SELECT *\nFROM {}\nLIMIT 100", dataset.id());
            let (result, error, chart) = (None, None, None);
            return Ok(Self { frame, dataset: head, sql, result, error, chart, given });
        };
        let of = Some(dataset.id().clone());
        let query = Query { sql: sql.clone(), dataset: of, with_places: false };
        let selected = pages.desk.service().select(&query, MAX_ROWS, MAX_BYTES, asker);
        let milliseconds = u64::try_from(asker.took().as_millis()).unwrap_or(u64::MAX);
        let (result, error) = match selected {
            Ok(selected) => (Some(Found::of(selected, milliseconds)?), None),
            Err(error) => (None, Some(Problem::from(ToolError::from(error)).what().to_owned())),
        };
        let chart = match (&result, given.get("chart"), given.get("x")) {
            (Some(_), Some(kind), Some(_)) => Some(Chart::of(pages, id, kind, &given, asker)),
            _ => None,
        };
        Ok(Self { frame, dataset: head, sql, result, error, chart, given })
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

    /// True if a column has this role in the chart.
    fn is_chosen(&self, role: &str, column: &str) -> bool {
        self.given.get(role) == Some(column)
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
    fn of(selected: Selected, milliseconds: u64) -> Result<Self, Problem> {
        let Selected { columns, rows, has_more, sources } = selected;
        let rows = rows.into_iter().map(RawValue::from_string).collect::<Result<_, _>>()?;
        let sources = sources.iter().map(ToString::to_string).collect();
        Ok(Self { columns, rows, has_more, milliseconds, sources })
    }

    /// The columns, each with its type and how it stands.
    fn headings(&self) -> Vec<(&str, String, &'static str)> {
        let columns = self.columns.iter();
        columns
            .map(|it| (it.name.as_str(), it.kind.to_lowercase(), heading_class(&it.kind)))
            .collect()
    }

    fn shown_rows(&self) -> Vec<Vec<Cell>> {
        self.rows.iter().map(|row| cells(row.get())).collect()
    }

    fn told(&self) -> String {
        let rows = counted(self.rows.len() as u64, "row");
        let more = if self.has_more { "the first " } else { "" };
        format!("{more}{rows}, {} ms", self.milliseconds)
    }
}

impl Chart {
    fn of(pages: &Pages, id: &str, kind: &str, given: &Given, asker: &Asker) -> Self {
        let address = given.at(&format!("/dataset/{id}/chart.svg"));
        let (notes, is_drawn) = match chart::drawing(pages, id, given, asker) {
            Ok((_, notes)) => (notes, true),
            Err(problem) => (vec![problem.what().to_owned()], false),
        };
        Self { kind: kind.to_owned(), address, notes, is_drawn }
    }
}
