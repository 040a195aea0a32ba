//! The rows of a table, sorted, filtered and by pages, with the values that fields have most often.

mod facets;
mod filter;
mod sort;

use askama::Template;
use bytes::Bytes;
use forebay_query::Column;
use forebay_text::{counted, grouped};
use forebay_tools::{Condition, Extent, Page, Part, Sheet, sheet};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;

use self::{
    facets::{Facet, found_facets},
    filter::{Filter, OPERATORS, without_value},
    sort::Sort,
};
use super::{
    Head, Table,
    cell::{Cell, ColumnType, cells},
    columns::{Columns, part},
    facts, without_column,
};
use crate::{
    Pages,
    asker::Asker,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
    reply::{Twin, moved, written},
};

/// How many rows stand on a page, and how many may be asked for.
const PER_PAGE: u64 = 50;
const MAX_PER_PAGE: u64 = 500;
/// How much of a table stands on a page at most, but for a row that is longer.
const MAX_BYTES: u64 = 4_000_000;
/// What the page understands.
const PARAMETERS: [&str; 6] = ["table", "where", "sort", "limit", "page", "columns"];
/// What the form that adds a filter sends besides.
const OF_FORM: [&str; 3] = ["field", "op", "value"];

/// A page of a table.
#[derive(Template, Serialize)]
#[template(path = "rows.html")]
pub(crate) struct Rows {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    table: String,
    filters: Vec<Filter>,
    sort: Option<String>,
    page: u64,
    per_page: u64,
    total: u64,
    columns: Vec<Column>,
    rows: Vec<Box<RawValue>>,
    /// How many rows of this page are too much for it.
    left_out: u64,
    /// The number of each row in the table, from 1 on.
    numbers: Vec<Option<u64>>,
    /// With which byte of the original each row begins, from 0 on, if that is known.
    places: Vec<Option<u64>>,
    facets: Vec<Facet>,
    /// The query that gives these rows.
    sql: String,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How many columns stand before those that are shown.
    first_column: usize,
    column_count: usize,
    /// How many fields have no column.
    other_fields: usize,
    /// The filter that was refused, to be written anew.
    #[serde(skip)]
    refused: Option<Filter>,
    #[serde(skip)]
    all_fields: Vec<String>,
    #[serde(skip)]
    fields: Vec<String>,
    #[serde(skip)]
    extent: Columns,
    #[serde(skip)]
    given: Given,
}

/// A column, with the links that sort by it.
pub(crate) struct Heading {
    pub(crate) name: String,
    pub(crate) kind: ColumnType,
    pub(crate) link: String,
    /// `ascending`, `descending` or `none`, as browsers tell it.
    pub(crate) sorted: &'static str,
    pub(crate) mark: &'static str,
}

/// A row as it is shown.
pub(crate) struct Row {
    pub(crate) number: String,
    /// Where the record stands in the original.
    pub(crate) place: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

pub(crate) fn answer(
    pages: &Pages,
    id: &str,
    given: &Given,
    twin: Twin,
    asker: &Asker,
) -> Result<Response<Bytes>, Problem> {
    // A filter that was put together in the form gets an address of its own.
    if let Some(field) = given.all("field").next() {
        let operator = given.get("op").unwrap_or("eq");
        // What stood there for another operator says nothing about having none.
        let value = given.get("value").filter(|_| operator != "is_null");
        // Browsers send the line breaks of a name as those of a form.
        let field = field.replace("\r\n", "\n");
        let filter = Filter::of(field, operator, value.unwrap_or_default());
        let [field, operator, value] = OF_FORM;
        let kept = given.without(field).without(operator).without(value).only(&PARAMETERS)?;
        let dataset = pages.dataset(id)?;
        let end = match twin {
            Twin::Html => "",
            Twin::Json => ".json",
        };
        let path = format!("/dataset/{}/rows{end}", dataset.id());
        let kept = kept.without("page").and("where", &filter.written());
        return Ok(moved(&kept.at(&path), None));
    }
    let rows = Rows::of(pages, id, given, asker)?;
    let status = if rows.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(written(status, &rows, twin)?)
}

impl Rows {
    fn of(pages: &Pages, id: &str, given: &Given, asker: &Asker) -> Result<Self, Problem> {
        let dataset = pages.dataset(id)?;
        let given = given.only(&PARAMETERS)?;
        let table = given.get("table").unwrap_or_default().to_owned();
        let filters: Vec<Filter> =
            given.all("where").map(Filter::read).collect::<Result<_, _>>()?;
        // Links take a filter away by what it is written as, however somebody else has written it.
        let given = filters
            .iter()
            .fold(given.without("where"), |given, filter| given.and("where", &filter.written()));
        let conditions: Vec<Condition> =
            filters.iter().map(Filter::condition).collect::<Result<_, _>>()?;
        let per_page = given.number("limit")?.unwrap_or(PER_PAGE);
        if !(1..=MAX_PER_PAGE).contains(&per_page) {
            return Err(Problem::refused(format!("limit is 1 to {MAX_PER_PAGE}.")));
        }
        let page = given.page()?;
        let sort = given.get("sort").map(Sort::read);
        let wanted = Page {
            part: Part::page(page, per_page),
            fields: Vec::new(),
            filter: conditions.clone(),
            sort: sort.iter().map(Sort::order).collect(),
        };
        let of = (dataset.id(), table.as_str());
        let wanted_columns = Columns::wanted(&given)?;
        let extent = Extent { columns: wanted_columns.clone(), max_bytes: MAX_BYTES };
        let found = sheet(&pages.desk, of, &wanted, &extent, asker);
        let found = found.map(|sheet| {
            let facets = found_facets(pages, &dataset, &table, &conditions, &sheet, &given, asker);
            (sheet, facets, None)
        });
        let mut refused = None;
        let (sheet, facets, error) = match found.map_err(Problem::from) {
            // Whoever has written a filter or an order finds it there to be changed.
            Err(problem) if problem.is_of_asker() && !(filters.is_empty() && sort.is_none()) => {
                let first = Page { part: Part::page(1, 1), ..wanted };
                let ask = |page: &Page| sheet(&pages.desk, of, page, &extent, asker);
                // Nothing may be wrong but that there is no such page.
                let other = ask(&first).or_else(|_| {
                    let is_refused = |condition: &&Condition| {
                        let filter = vec![(*condition).clone()];
                        ask(&Page { filter, sort: Vec::new(), ..first.clone() }).is_err()
                    };
                    let at = conditions.iter().position(|it| is_refused(&it));
                    refused = at.and_then(|at| filters.get(at).cloned());
                    let all = Page { filter: Vec::new(), sort: Vec::new(), ..first };
                    Ok::<_, Problem>(Sheet { total: 0, ..ask(&all)? })
                })?;
                let why = without_value(&filters, problem.what())
                    .unwrap_or_else(|| problem.what().to_owned());
                (Sheet { rows: Vec::new(), ..other }, Vec::new(), Some(why))
            }
            other => other?,
        };
        let Sheet { columns, fields, all_fields, rows, total, sql, has_places } = sheet;
        let extent = Columns::of(&wanted_columns, all_fields.len())?;
        let before = (page - 1).saturating_mul(per_page);
        let left_out = match error {
            None => total.saturating_sub(before).min(per_page).saturating_sub(rows.len() as u64),
            Some(_) => 0,
        };
        let other_fields = facts(&dataset, &table).and_then(|it| it.other_fields);
        let (mut numbers, mut places, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let row = Origin::of(row, has_places)?;
            numbers.push(row.number);
            places.push(row.place);
            cells.push(row.cells);
        }
        let frame = Frame::new(Section::Shelf, format!("{} · rows", dataset.id()));
        let head = Head::of(&dataset, "Rows");
        Ok(Self {
            frame,
            dataset: head,
            table,
            filters,
            sort: sort.as_ref().map(Sort::written),
            page,
            per_page,
            total,
            columns,
            rows: cells,
            left_out,
            numbers,
            places,
            facets,
            sql,
            error,
            first_column: extent.shown().start,
            column_count: extent.count(),
            other_fields: other_fields.unwrap_or_default(),
            refused,
            all_fields,
            fields,
            extent,
            given,
        })
    }

    fn head(&self) -> &Head {
        &self.dataset
    }

    fn path(&self) -> String {
        format!("{}/rows", self.dataset.path())
    }

    fn at(&self, given: &Given) -> String {
        given.at(&self.path())
    }

    fn headings(&self) -> Vec<Heading> {
        let sort = self.sort.as_deref().map(Sort::read);
        let heading = |(column, field): (&Column, &String)| {
            let [up, down] =
                [false, true].map(|is_down| sort.as_ref() == Some(&Sort::by(field, is_down)));
            let next = Sort::by(field, up).written();
            let rest = self.given.without("page");
            let link = if down { rest.without("sort") } else { rest.with("sort", &next) };
            let (sorted, mark) = match (up, down) {
                (true, _) => ("ascending", "↑"),
                (_, true) => ("descending", "↓"),
                (false, false) => ("none", ""),
            };
            let (name, kind) = (field.clone(), ColumnType::of(&column.kind));
            Heading { name, kind, link: self.at(&link), sorted, mark }
        };
        self.columns.iter().zip(&self.fields).map(heading).collect()
    }

    fn shown_rows(&self) -> Vec<Row> {
        let path = format!("{}/original", self.dataset.path());
        let row = |row: &RawValue, number: Option<u64>, place: Option<u64>| Row {
            number: number.map(grouped).unwrap_or_default(),
            place: place.map(|place| Given::default().and("from", &place.to_string()).at(&path)),
            cells: cells(row.get()),
        };
        let placed = self.rows.iter().zip(&self.numbers).zip(&self.places);
        placed.map(|((cells, number), place)| row(cells, *number, *place)).collect()
    }

    /// The other tables, each with its link.
    fn tables(&self) -> Vec<(&Table, String, bool)> {
        if self.dataset.tables.len() < 2 {
            return Vec::new();
        }
        let link = |table: &Table| {
            let given = Given::default();
            let given =
                if table.suffix.is_empty() { given } else { given.and("table", &table.suffix) };
            self.at(&given)
        };
        let tables = self.dataset.tables.iter();
        tables.map(|table| (table, link(table), table.suffix == self.table)).collect()
    }

    /// The filters that hold, each with the link that takes it away.
    fn held(&self) -> Vec<(String, String)> {
        let link = |filter: &Filter| {
            self.at(&self.given.without("page").without_value("where", &filter.written()))
        };
        self.filters.iter().map(|filter| (filter.told(), link(filter))).collect()
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn operators(&self) -> &'static [(&'static str, &'static str)] {
        &OPERATORS
    }

    /// What the form that adds a filter leaves as it is.
    fn kept(&self) -> Vec<(String, String)> {
        let given = self.given.without("page");
        match &self.refused {
            Some(filter) => given.without_value("where", &filter.written()).into_pairs(),
            None => given.into_pairs(),
        }
    }

    fn before(&self) -> Option<String> {
        let last = self.total.div_ceil(self.per_page).max(1);
        let before = (self.page - 1).min(last);
        (self.page > 1).then(|| self.at(&self.given.with("page", &before.to_string())))
    }

    fn next(&self) -> Option<String> {
        let (page, per_page) = self.fitting();
        let given = if per_page == self.per_page {
            self.given.clone()
        } else {
            self.given.with("limit", &per_page.to_string())
        };
        let is_last = page.saturating_mul(per_page) >= self.total;
        (!is_last).then(|| self.at(&given.with("page", &(page + 1).to_string())))
    }

    /// This page and how many rows it has; where some are left out, the page that begins as this one does and has
    /// all of its rows.
    fn fitting(&self) -> (u64, u64) {
        if self.left_out == 0 {
            return (self.page, self.per_page);
        }
        let (before, shown) = (self.offset(), self.rows.len().max(1) as u64);
        let per_page = (1..=shown).rev().find(|it| before.is_multiple_of(*it)).unwrap_or(1);
        (before / per_page + 1, per_page)
    }

    /// How many rows come before this page.
    fn offset(&self) -> u64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    fn told(&self) -> String {
        let all = counted(self.total, "row");
        if self.rows.is_empty() {
            return all;
        }
        let from = self.offset();
        let to = from + self.rows.len() as u64;
        format!("{}–{} of {all}", grouped(from + 1), grouped(to))
    }

    /// What the page does not show of what it is asked for, or of what there is.
    fn lacks(&self) -> Vec<String> {
        let rows = (self.left_out > 0).then(|| {
            format!(
                "{} of this page are left out: a page shows {} MB at most. Next leads to pages of {}, which begin with \
                 these.",
                counted(self.left_out, "row"),
                MAX_BYTES / 1_000_000,
                grouped(self.fitting().1),
            )
        });
        let fields = (self.other_fields > 0).then(|| without_column(self.other_fields));
        rows.into_iter().chain(fields).collect()
    }

    /// Which columns are shown, if there are more.
    fn columns_told(&self) -> Option<String> {
        self.extent.told()
    }

    fn columns_before(&self) -> Option<String> {
        self.extent.before(&self.given).map(|given| self.at(&given))
    }

    fn columns_next(&self) -> Option<String> {
        self.extent.next(&self.given).map(|given| self.at(&given))
    }

    /// Whether the form that adds a filter holds a field, or an operator.
    fn is_typed(&self, role: &str, name: impl AsRef<str>) -> bool {
        let typed =
            |it: &Filter| if role == "field" { it.field.clone() } else { it.operator.clone() };
        self.refused.as_ref().is_some_and(|it| typed(it) == name.as_ref())
    }

    fn typed_value(&self) -> &str {
        let typed = self.refused.as_ref().filter(|it| it.operator != "is_null");
        typed.map_or("", |it| &it.value)
    }

    fn sql_link(&self) -> String {
        Given::default().and("sql", &self.sql).at(&format!("{}/sql", self.dataset.path()))
    }

    fn export_link(&self, form: &str) -> String {
        let given = Given::default().and("form", form);
        let given = if self.filters.is_empty() && self.sort.is_none() {
            given.and("table", &self.table)
        } else {
            given.and("sql", &self.sql)
        };
        given.at(&format!("{}/export", self.dataset.path()))
    }

    fn twin(&self) -> String {
        self.given.at(&format!("{}.json", self.path()))
    }
}

/// A row as the table gives it, with where it comes from.
struct Origin {
    number: Option<u64>,
    place: Option<u64>,
    cells: Box<RawValue>,
}

impl Origin {
    /// Before the cells stand the row's number, from 0 on, and, if it is known, its place.
    fn of(row: &str, has_place: bool) -> Result<Self, serde_json::Error> {
        let before = 1 + usize::from(has_place);
        let known: Vec<Option<u64>> = serde_json::from_str(part(row, 0..before)?.get())?;
        let at = |index: usize| known.get(index).copied().flatten();
        let cells = part(row, before..usize::MAX)?;
        Ok(Self { number: at(0).map(|number| number + 1), place: at(1), cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_its_cells_and_its_number_stands_beside() {
        let with = Origin::of(r#"[0,17,"a",null]"#, true).unwrap();
        assert_eq!(
            (with.number, with.place, with.cells.get()),
            (Some(1), Some(17), r#"["a",null]"#)
        );
        let without = Origin::of("[4,5]", false).unwrap();
        assert_eq!((without.number, without.place, without.cells.get()), (Some(5), None, "[5]"));
    }
}
