//! The rows of a table, sorted, filtered and by pages, with the values that fields have most often.

use askama::Template;
use bytes::Bytes;
use forebay_query::{Column, quoted, table_name};
use forebay_store::{
    Dataset,
    facts::{Field, Kind, Type},
};
use forebay_text::{counted, grouped};
use forebay_tools::{Condition, Extent, Order, Page, Part, Sheet, facets, sheet};
use http::{Response, StatusCode};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    Head, Table,
    cell::{Cell, cells, heading_class},
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
/// How many columns do.
const MAX_COLUMNS: usize = 100;
/// How much of a table stands on a page at most.
const MAX_BYTES: u64 = 4_000_000;
/// How many fields have facets, and how many values each shows.
const MAX_FACETS: usize = 4;
const MAX_VALUES: u64 = 8;
/// A field with more values is none by which rows are told apart.
const MAX_DISTINCT: u64 = 200;
/// What fields can be held against, with how it is told.
const OPERATORS: [(&str, &str); 10] = [
    ("eq", "is"),
    ("ne", "is not"),
    ("contains", "contains"),
    ("starts_with", "begins with"),
    ("matches", "matches (regex)"),
    ("gt", ">"),
    ("gte", "≥"),
    ("lt", "<"),
    ("lte", "≤"),
    ("is_null", "has no value"),
];

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
    facets: Vec<Facet>,
    /// The query that gives these rows.
    sql: String,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How many columns stand before those that are shown.
    first_column: usize,
    #[serde(rename = "column_count")]
    column_count: usize,
    #[serde(skip)]
    all_fields: Vec<String>,
    #[serde(skip)]
    fields: Vec<String>,
    #[serde(skip)]
    has_places: bool,
    #[serde(skip)]
    given: Given,
}

/// What must hold for a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Filter {
    field: String,
    operator: String,
    value: String,
}

/// The values that a field has most often.
#[derive(Serialize)]
pub(crate) struct Facet {
    field: String,
    values: Vec<FacetValue>,
    /// How many values are not shown.
    more: u64,
    /// Where all of them are told.
    #[serde(skip)]
    all: String,
}

#[derive(Serialize)]
pub(crate) struct FacetValue {
    value: Option<String>,
    count: u64,
    #[serde(skip)]
    link: String,
    #[serde(skip)]
    is_chosen: bool,
}

/// A column, with the links that sort by it.
pub(crate) struct Heading {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) link: String,
    /// `ascending`, `descending` or `none`, as browsers tell it.
    pub(crate) sorted: &'static str,
    pub(crate) mark: &'static str,
}

impl Heading {
    fn class(&self) -> &'static str {
        heading_class(&self.kind)
    }
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
    if let Some(field) = given.get("field") {
        let filter = Filter {
            field: field.to_owned(),
            operator: given.get("op").unwrap_or("eq").to_owned(),
            value: given.get("value").unwrap_or_default().to_owned(),
        };
        let kept = given.only(&["table", "where", "sort", "limit", "columns"]);
        let dataset = pages.dataset(id)?;
        let path = format!("/dataset/{}/rows", dataset.id());
        return Ok(moved(&kept.and("where", &filter.written()).at(&path), None));
    }
    let rows = Rows::of(pages, id, given, asker)?;
    let status = if rows.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(written(status, &rows, twin)?)
}

impl Rows {
    fn of(pages: &Pages, id: &str, given: &Given, asker: &Asker) -> Result<Self, Problem> {
        let dataset = pages.dataset(id)?;
        let given = given.only(&["table", "where", "sort", "limit", "page", "columns"]);
        let table = given.get("table").unwrap_or_default().to_owned();
        let filters: Vec<Filter> =
            given.all("where").map(Filter::read).collect::<Result<_, _>>()?;
        let conditions: Vec<Condition> =
            filters.iter().map(Filter::condition).collect::<Result<_, _>>()?;
        let per_page = given.number("limit")?.unwrap_or(PER_PAGE).clamp(1, MAX_PER_PAGE);
        let page = given.page()?;
        let sort = given.get("sort").map(str::to_owned);
        let wanted = Page {
            part: Part::page(page, per_page),
            fields: Vec::new(),
            filter: conditions.clone(),
            sort: sort.iter().map(|sort| Order::read(sort)).collect(),
        };
        let of = (dataset.id(), table.as_str());
        let first_column = given.number("columns")?.and_then(|it| usize::try_from(it).ok());
        let first_column = first_column.unwrap_or(1).saturating_sub(1);
        let columns = first_column..first_column.saturating_add(MAX_COLUMNS);
        let extent = Extent { columns, max_bytes: MAX_BYTES };
        let found = sheet(&pages.desk, of, &wanted, &extent, asker);
        let found = found.map_err(Problem::from).and_then(|sheet| {
            let facets = found_facets(pages, &dataset, &table, &conditions, &given, asker)?;
            Ok((sheet, facets, None))
        });
        let (sheet, facets, error) = match found {
            // Whoever has written a filter or an order finds it there to be changed.
            Err(problem) if problem.is_of_asker() && !(filters.is_empty() && sort.is_none()) => {
                let none = Page { part: Part::page(1, 1), ..Page::default() };
                let plain = sheet(&pages.desk, of, &none, &extent, asker)?;
                let nothing = Sheet { rows: Vec::new(), total: 0, ..plain };
                (nothing, Vec::new(), Some(problem.what().to_owned()))
            }
            other => other?,
        };
        let Sheet { columns, fields, all_fields, rows, total, sql, has_places } = sheet;
        let column_count = all_fields.len();
        let rows = rows.into_iter().map(RawValue::from_string).collect::<Result<_, _>>()?;
        let frame = Frame::new(Section::Shelf, format!("{} · rows", dataset.id()));
        let head = Head::of(&dataset, "Rows");
        Ok(Self {
            frame,
            dataset: head,
            table,
            filters,
            sort,
            page,
            per_page,
            total,
            columns,
            rows,
            facets,
            sql,
            error,
            first_column,
            column_count,
            all_fields,
            fields,
            has_places,
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
        let heading = |(column, field): (&Column, &String)| {
            let is = |sort: &str| self.sort.as_deref() == Some(sort);
            let (up, down) = (is(field), is(&format!("-{field}")));
            let next = if up { format!("-{field}") } else { field.clone() };
            let rest = self.given.without("page");
            let link = if down { rest.without("sort") } else { rest.with("sort", &next) };
            let (sorted, mark) = match (up, down) {
                (true, _) => ("ascending", "↑"),
                (_, true) => ("descending", "↓"),
                (false, false) => ("none", ""),
            };
            let (name, kind) = (field.clone(), column.kind.to_lowercase());
            Heading { name, kind, link: self.at(&link), sorted, mark }
        };
        self.columns.iter().zip(&self.fields).map(heading).collect()
    }

    fn shown_rows(&self) -> Vec<Row> {
        let row = |row: &RawValue| {
            let mut cells = cells(row.get()).into_iter();
            let number = cells.next().and_then(|cell| cell.text.parse::<u64>().ok());
            let place = if self.has_places { cells.next() } else { None };
            let place = place
                .filter(|place| !place.text.is_empty())
                .map(|place| format!("{}/original?from={}", self.dataset.path(), place.text));
            let number = number.map(|number| grouped(number + 1)).unwrap_or_default();
            Row { number, place, cells: cells.collect() }
        };
        self.rows.iter().map(|it| row(it)).collect()
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
        match &self.error {
            Some(_) => given.without_value("where", &self.typed().written()).into_pairs(),
            None => given.into_pairs(),
        }
    }

    fn before(&self) -> Option<String> {
        let link = |page: u64| self.at(&self.given.with("page", &page.to_string()));
        (self.page > 1).then(|| link(self.page - 1))
    }

    fn next(&self) -> Option<String> {
        let link = |page: u64| self.at(&self.given.with("page", &page.to_string()));
        (self.page * self.per_page < self.total).then(|| link(self.page + 1))
    }

    fn told(&self) -> String {
        let from = (self.page - 1) * self.per_page;
        let all = counted(self.total, "row");
        if self.rows.is_empty() {
            return all;
        }
        let to = from + self.rows.len() as u64;
        format!("{}–{} of {all}", grouped(from + 1), grouped(to))
    }

    /// Which columns are shown, if there are more.
    fn columns_told(&self) -> Option<String> {
        let (from, to) = (self.first_column, self.first_column + self.columns.len());
        let all = counted(self.column_count as u64, "column");
        (self.columns.len() < self.column_count)
            .then(|| format!("Columns {}–{} of {all}", from + 1, to))
    }

    fn columns_before(&self) -> Option<String> {
        let first = self.first_column.saturating_sub(MAX_COLUMNS) + 1;
        let link = self.at(&self.given.with("columns", &first.to_string()));
        (self.first_column > 0).then_some(link)
    }

    fn columns_next(&self) -> Option<String> {
        let next = self.first_column + self.columns.len();
        let link = self.at(&self.given.with("columns", &(next + 1).to_string()));
        (next < self.column_count).then_some(link)
    }

    /// Whether the form that adds a filter holds a field, or an operator.
    fn is_typed(&self, role: &str, name: impl AsRef<str>) -> bool {
        let Filter { field, operator, .. } = self.typed();
        let typed = if role == "field" { field } else { operator };
        self.error.is_some() && typed == name.as_ref()
    }

    /// What the form that adds a filter holds: what was refused, to be written anew.
    fn typed(&self) -> Filter {
        let refused = self.filters.last().filter(|_| self.error.is_some());
        refused.cloned().unwrap_or_default()
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

impl Filter {
    /// Reads `gte:stars=10`, or `is_null:stars`.
    fn read(text: &str) -> Result<Self, Problem> {
        let refused = || {
            Problem::refused(format!(
                "A filter is written as eq:status=open, gte:stars=10 or is_null:note; {text} is none."
            ))
        };
        let (operator, rest) = text.split_once(':').ok_or_else(refused)?;
        let (field, value) = match rest.split_once('=') {
            Some(pair) => pair,
            None if operator == "is_null" => (rest, "true"),
            None => return Err(refused()),
        };
        let field = percent_decode_str(field).decode_utf8_lossy().into_owned();
        Ok(Self { field, operator: operator.to_owned(), value: value.to_owned() })
    }

    fn written(&self) -> String {
        const FIELD: &AsciiSet = &CONTROLS.add(b'%').add(b'=');
        let field = utf8_percent_encode(&self.field, FIELD);
        format!("{}:{field}={}", self.operator, self.value)
    }

    fn condition(&self) -> Result<Condition, Problem> {
        let is_compared = ["gt", "gte", "lt", "lte"].contains(&self.operator.as_str());
        let number = self.value.parse::<serde_json::Number>().ok().filter(|_| is_compared);
        let value = match (self.operator.as_str(), number) {
            ("is_null", _) => Value::Bool(self.has_none()?),
            (_, Some(number)) => Value::Number(number),
            (_, None) => Value::String(self.value.clone()),
        };
        Ok(Condition::read(&self.field, &self.operator, value)?)
    }

    /// Whether the field is to have no value, or one; a form sends nothing, which is the former.
    fn has_none(&self) -> Result<bool, Problem> {
        match self.value.as_str() {
            "" | "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Problem::refused(format!("is_null is true or false, not {other}."))),
        }
    }

    fn told(&self) -> String {
        let known = OPERATORS.iter().find(|(name, _)| *name == self.operator);
        let told = known.map_or(self.operator.as_str(), |(_, told)| told);
        if self.operator == "is_null" && self.value == "false" {
            return format!("{} has a value", self.field);
        }
        if self.operator == "is_null" {
            return format!("{} {told}", self.field);
        }
        format!("{} {told} {}", self.field, self.value)
    }
}

/// The facets of the fields that tell rows apart best.
fn found_facets(
    pages: &Pages,
    dataset: &Dataset,
    table: &str,
    conditions: &[Condition],
    given: &Given,
    asker: &Asker,
) -> Result<Vec<Facet>, Problem> {
    let names = forebay_query::table_names(dataset);
    let index = names.iter().position(|name| name.eq_ignore_ascii_case(table));
    let facts = index.and_then(|index| dataset.facts().tables().get(index));
    let fields = facts.map(|facts| facts.fields.as_slice()).unwrap_or_default();
    let fields: Vec<&Field> = fields.iter().filter(|it| tells_apart(it)).take(MAX_FACETS).collect();
    let path = format!("/dataset/{}/rows", dataset.id());
    let name = quoted(&table_name(dataset.id(), table));
    let facet = |field: &str, column: &str, values: Vec<(Option<String>, u64)>, distinct: u64| {
        let sql = format!(
            "SELECT {0}, count(*) AS rows FROM {name} GROUP BY 1 ORDER BY 2 DESC, 1",
            quoted(column)
        );
        let all = Given::default().and("sql", &sql).at(&format!("/dataset/{}/sql", dataset.id()));
        let more = distinct.saturating_sub(values.len() as u64);
        let values = values.into_iter().map(|(value, count)| {
            let filter = match &value {
                Some(value) => ("eq", value.clone()),
                None => ("is_null", "true".to_owned()),
            };
            let (operator, held) = (filter.0.to_owned(), filter.1);
            let filter = Filter { field: field.to_owned(), operator, value: held }.written();
            let is_chosen = given.all("where").any(|it| it == filter);
            let rest = given.without("page");
            let link = if is_chosen {
                rest.without_value("where", &filter)
            } else {
                rest.and("where", &filter)
            };
            FacetValue { value, count, link: link.at(&path), is_chosen }
        });
        Facet { field: field.to_owned(), values: values.collect(), more, all }
    };
    if conditions.is_empty() {
        // They were counted when it was kept.
        let counted = |field: &&Field| {
            let top = field.top.iter().take(usize::try_from(MAX_VALUES).unwrap_or_default());
            let top = top.map(|(value, count)| (Some(value.clone()), *count)).collect();
            facet(field.name(), field.column(), top, field.distinct.unwrap_or_default())
        };
        return Ok(fields.iter().map(counted).collect());
    }
    let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
    let of = (dataset.id(), table);
    let found = facets(&pages.desk, of, conditions, &names, MAX_VALUES, asker)?;
    let found = found.into_iter().zip(&fields);
    Ok(found.map(|(it, field)| facet(&it.field, field.column(), it.values, it.distinct)).collect())
}

/// True if rows can be told apart by a field: it has a few values, each of them often.
fn tells_apart(field: &Field) -> bool {
    let is_plain = match &field.kind {
        Type::Known(Kind::String | Kind::Boolean | Kind::Integer) => true,
        Type::Known(
            Kind::Float
            | Kind::Timestamp
            | Kind::Date
            | Kind::Uuid
            | Kind::Url
            | Kind::List
            | Kind::Struct
            | Kind::Map
            | Kind::Json
            | Kind::Null,
        )
        | Type::Other(_) => false,
    };
    let is_few = field.distinct.is_some_and(|distinct| (2..=MAX_DISTINCT).contains(&distinct));
    is_plain && is_few && field.top.first().is_some_and(|(_, count)| *count > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_as_it_is_written() {
        for (field, value) in [("stars", "10"), ("a=b%3D:c", "x=y:z & ü"), ("", "")] {
            let [field, value] = [field, value].map(str::to_owned);
            let filter = Filter { field, operator: "gte".to_owned(), value };
            assert_eq!(Filter::read(&filter.written()).unwrap(), filter);
        }
        assert!(Filter::read("nonsense").is_err() && Filter::read("eq:a").is_err());
        let nothing = Filter::read("is_null:note").unwrap();
        assert_eq!(
            (nothing.told().as_str(), nothing.has_none().unwrap()),
            ("note has no value", true)
        );
    }
}
