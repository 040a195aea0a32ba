//! Records of a dataset, by pages.
//!
//! A database finds them. What is given are the records as they stand in the payload, if they stand
//! there as JSON objects: nothing is lost between the two, not even how a number is written.

use std::fmt::Write as _;

use forebay_query::{
    Column, NUMBER, Observer, PLACE, Query, Selected, is_result, quoted, table_name, table_names,
};
use forebay_store::{Dataset, facts::Field};
use forebay_wire::walk;

use super::{Page, Reading, conditions::column, text};
use crate::{Desk, ToolError, budget::Budget, error::refuse, json, render};

/// What stands around the records.
const FRAME_TOKENS: u64 = 150;

/// Who reads, and how much of it is of use.
pub(super) struct Reader<'a> {
    pub(super) desk: &'a Desk,
    pub(super) budget: Budget,
    pub(super) observer: &'a dyn Observer,
}

impl Reader<'_> {
    /// The first rows of a query: as many as `max_bytes` allow.
    pub(super) fn ask(&self, sql: &str, rows: u64, max_bytes: u64) -> Result<Selected, ToolError> {
        let query = Query { sql: sql.to_owned(), dataset: None, with_places: true };
        Ok(self.desk.service().select(&query, rows, max_bytes, self.observer)?)
    }
}

pub(super) fn page(
    reader: &Reader<'_>,
    dataset: &Dataset,
    table: &str,
    page: &Page,
) -> Result<Reading, ToolError> {
    let budget = reader.budget;
    let table = Table::find(reader, dataset, table)?;
    let fields = table.columns_of(page)?;
    let selection = Selection::of(&table, page)?;
    let total = table.total(reader, &selection)?;
    page.part.check(total, "record")?;
    let records = table.records(reader, &selection, page, &fields)?;
    let wanted = page.part.limit.min(total.saturating_sub(page.part.offset));
    let fitting = budget.without(FRAME_TOKENS).fitting(records.iter().map(String::as_str));
    let is_cut = fitting == 0 && !records.is_empty();
    let shown = if is_cut { vec![cut(&records[0], budget)] } else { records[..fitting].to_vec() };
    let pagination = page.part.pagination(total, shown.len() as u64);
    let json = format!("{{\"results\":[{}],\"pagination\":{pagination}}}", shown.join(","));
    let next = page.part.offset + shown.len() as u64;
    let note = if is_cut {
        Some(format!(
            "The record is too long for this reply and has been cut: name fields, or query parts of \
             it. Go on with offset {next}."
        ))
    } else {
        let is_part = (fitting as u64) < wanted;
        is_part.then(|| {
            format!(
                "{fitting} of {wanted} fit in this reply: go on with offset {next}, or name fields."
            )
        })
    };
    Ok(Reading { json, note })
}

/// All records of a part, for whoever does not read them by pages.
pub(crate) struct Records<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) dataset: &'a Dataset,
    /// Which table, as in [`super::Request`].
    pub(crate) table: &'a str,
    pub(crate) observer: &'a dyn Observer,
}

impl Records<'_> {
    /// Each of them as JSON; `None` if they have more than `max_bytes` together.
    pub(crate) fn all(
        &self,
        page: &Page,
        max_bytes: u64,
    ) -> Result<Option<Vec<String>>, ToolError> {
        let reader = self.reader(max_bytes);
        let table = Table::find(&reader, self.dataset, self.table)?;
        let fields = table.columns_of(page)?;
        page.part.check(table.records, "record")?;
        let records = table.records(&reader, &Selection::of(&table, page)?, page, &fields)?;
        let wanted = page.part.limit.min(table.records.saturating_sub(page.part.offset));
        let bytes: u64 = records.iter().map(|record| record.len() as u64 + 1).sum();
        Ok((records.len() as u64 >= wanted && bytes <= max_bytes).then_some(records))
    }

    /// The query that gives them.
    pub(crate) fn sql(&self, page: &Page) -> Result<String, ToolError> {
        let table = Table::find(&self.reader(u64::MAX), self.dataset, self.table)?;
        let fields = table.columns_of(page)?;
        page.part.check(table.records, "record")?;
        let columns = if fields.is_empty() { table.columns.iter().collect() } else { fields };
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let (limit, offset) = (page.part.limit, page.part.offset);
        Ok(format!("SELECT {} FROM {} LIMIT {limit} OFFSET {offset}", names.join(", "), table.name))
    }

    fn reader(&self, max_bytes: u64) -> Reader<'_> {
        let budget = Budget { tokens: u64::MAX, bytes: Some(max_bytes) };
        Reader { desk: self.desk, budget, observer: self.observer }
    }
}

/// A table, and what it is made of.
pub(super) struct Table<'d> {
    dataset: &'d Dataset,
    /// As it is written in SQL.
    pub(super) name: String,
    records: u64,
    pub(super) columns: Vec<Column>,
    /// What the fields of the columns are called in the payload.
    fields: Vec<String>,
    /// How many of these there are; behind them come those that SQL has besides.
    own: usize,
    /// Records stand in the payload as JSON.
    pub(super) is_written: bool,
    /// The columns that stand elsewhere: keys, and what is said of the records' parents.
    foreign: Vec<usize>,
}

/// Which records, as SQL.
pub(super) struct Selection {
    pub(super) filter: String,
    pub(super) order: String,
}

impl Selection {
    pub(super) fn of(table: &Table<'_>, page: &Page) -> Result<Self, ToolError> {
        let mut parts = Vec::new();
        for condition in &page.filter {
            parts.push(condition.sql(table.column(&condition.field)?));
        }
        let filter = match parts.as_slice() {
            [] => String::new(),
            parts => format!(" WHERE {}", parts.join(" AND ")),
        };
        let mut orders = Vec::new();
        for order in &page.sort {
            orders.push(order.sql(table.column(&order.field)?));
        }
        let order = match orders.as_slice() {
            [] => String::new(),
            // Records that are alike stay in the order in which they came.
            orders => format!(" ORDER BY {}, {NUMBER}", orders.join(", ")),
        };
        Ok(Self { filter, order })
    }
}

impl<'d> Table<'d> {
    pub(super) fn find(
        reader: &Reader<'_>,
        dataset: &'d Dataset,
        suffix: &str,
    ) -> Result<Self, ToolError> {
        let names = table_names(dataset);
        let Some(index) = names.iter().position(|name| name.eq_ignore_ascii_case(suffix)) else {
            let known: Vec<String> =
                names.iter().map(|name| table_name(dataset.id(), name)).collect();
            return refuse!(
                "{} has no table {suffix}. There are {}.",
                dataset.id(),
                known.join(", ")
            );
        };
        let description = &dataset.metadata().description;
        let facts = description.facts.tables().get(index);
        let count = if is_result(dataset) {
            description.record_count
        } else {
            facts.map(|facts| facts.records)
        };
        let format = description.facts.format.as_deref();
        let own = facts.map(|facts| facts.fields.as_slice()).unwrap_or_default();
        let names_of_own = own.iter().map(|field| field.name().to_owned());
        let local_columns = own.iter().filter_map(|field| field.local_column.clone());
        let mut table = Self {
            dataset,
            name: quoted(&table_name(dataset.id(), &names[index])),
            records: count.unwrap_or_default(),
            columns: Vec::new(),
            fields: names_of_own.chain(local_columns).collect(),
            own: own.len(),
            is_written: matches!(format, Some("json" | "ndjson"))
                && facts.is_some_and(|facts| {
                    matches!(facts.kind.as_str(), "list" | "map" | "grouped")
                        && facts.without.is_none()
                }),
            foreign: foreign(own),
        };
        let sql = format!("FROM {} LIMIT 0", table.name);
        let mut columns = reader.ask(&sql, 1, u64::MAX)?.columns;
        // A result of a query may have a column of that name itself.
        columns
            .retain(|column| column.name != NUMBER && (column.name != PLACE || is_result(dataset)));
        if table.fields.len() != columns.len() {
            table.fields = columns.iter().map(|column| column.name.clone()).collect();
        }
        table.columns = columns;
        if count.is_none() {
            // Nobody has counted the lines of a text.
            table.records = table.counted(reader, "")?;
        }
        Ok(table)
    }

    /// How many records are selected.
    pub(super) fn total(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
    ) -> Result<u64, ToolError> {
        if selection.filter.is_empty() {
            return Ok(self.records);
        }
        self.counted(reader, &selection.filter)
    }

    fn counted(&self, reader: &Reader<'_>, filter: &str) -> Result<u64, ToolError> {
        let sql = format!("SELECT count(*) FROM {}{filter}", self.name);
        let count = reader.ask(&sql, 1, u64::MAX)?.rows;
        let count = count.first().and_then(|row| row.trim_matches(['[', ']']).parse().ok());
        Ok(count.unwrap_or(0))
    }

    /// The records of a page, each as JSON.
    fn records(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        page: &Page,
        fields: &[&Column],
    ) -> Result<Vec<String>, ToolError> {
        if self.is_written
            && let Some(records) = self.written(reader, selection, page, fields)?
        {
            return Ok(records);
        }
        let columns: Vec<&Column> =
            if fields.is_empty() { self.columns.iter().collect() } else { fields.to_vec() };
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let rows = self.rows(reader, &names.join(", "), selection, page)?;
        let object = |row: &String| {
            let cells = walk::elements(row.as_bytes()).into_iter().flatten();
            let members: Vec<String> = columns
                .iter()
                .zip(cells)
                .map(|(column, cell)| member(self.field(column), cell))
                .collect();
            format!("{{{}}}", members.join(","))
        };
        Ok(rows.iter().map(object).collect())
    }

    /// The records as they stand in the payload; `None` if one is not an object there.
    fn written(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        page: &Page,
        fields: &[&Column],
    ) -> Result<Option<Vec<String>>, ToolError> {
        let is_asked_for = |column: &Column| fields.iter().any(|field| field.name == column.name);
        let columns = self.columns.iter().enumerate();
        let foreign: Vec<&Column> = columns
            .filter(|(index, column)| {
                self.foreign.contains(index) || (*index >= self.own && is_asked_for(column))
            })
            .map(|(_, column)| column)
            .collect();
        let mut columns = PLACE.to_owned();
        for column in &foreign {
            let _ = write!(columns, ", {}", quoted(&column.name));
        }
        let rows = self.rows(reader, &columns, selection, page)?;
        let payload = text::open(reader.desk, self.dataset, None)?;
        let wanted: Vec<&str> = fields.iter().map(|column| self.field(column)).collect();
        let mut records = Vec::new();
        let mut bytes = 0;
        for row in &rows {
            // Nothing beyond this can fit.
            if bytes > reader.budget.max_bytes() {
                break;
            }
            let mut cells = walk::elements(row.as_bytes()).into_iter().flatten();
            let place = cells.next().and_then(|cell| str::from_utf8(cell).ok()?.parse().ok());
            let Some(members) = place.and_then(|place| object_at(payload.bytes(), place)) else {
                return Ok(None);
            };
            let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
            let elsewhere = foreign.iter().map(|column| self.field(column)).zip(cells);
            let mut parts: Vec<String> = elsewhere
                .filter(|(name, _)| is_wanted(name))
                .map(|(name, cell)| member(name, cell))
                .collect();
            for (name, value) in members {
                let name: String = json::name(name);
                if is_wanted(&name) {
                    parts.push(member(&name, value));
                }
            }
            let record = format!("{{{}}}", parts.join(","));
            bytes += record.len() as u64;
            records.push(record);
        }
        Ok(Some(records))
    }

    pub(super) fn rows(
        &self,
        reader: &Reader<'_>,
        columns: &str,
        selection: &Selection,
        page: &Page,
    ) -> Result<Vec<String>, ToolError> {
        let Selection { filter, order } = selection;
        let (limit, offset) = (page.part.limit, page.part.offset);
        let sql = format!(
            "SELECT {columns} FROM {}{filter}{order} LIMIT {limit} OFFSET {offset}",
            self.name
        );
        Ok(reader.ask(&sql, limit, reader.budget.max_bytes())?.rows)
    }

    /// The columns of the fields that a page names.
    pub(super) fn columns_of(&self, page: &Page) -> Result<Vec<&Column>, ToolError> {
        page.fields.iter().map(|field| self.column(field)).collect()
    }

    /// The column of a field, by what that is called in the payload or in SQL.
    pub(super) fn column(&self, field: &str) -> Result<&Column, ToolError> {
        match self.fields.iter().position(|known| known == field) {
            Some(index) => Ok(&self.columns[index]),
            None => column(&self.columns, field),
        }
    }

    /// What the field of a column is called in the payload.
    pub(super) fn field<'a>(&'a self, column: &'a Column) -> &'a str {
        let index = self.columns.iter().position(|it| it.name == column.name);
        index.and_then(|index| self.fields.get(index)).map_or(&column.name, String::as_str)
    }
}

/// The object at a place of a payload, or behind the key that is there.
fn object_at(payload: &[u8], place: usize) -> Option<walk::Members<'_>> {
    let (mut object, rest) = walk::value(payload.get(place..)?)?;
    if object.starts_with(b"\"") {
        let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        (object, _) = walk::value(value)?;
    }
    walk::members(object)
}

/// A record with its values cut to what fits.
fn cut(record: &str, budget: Budget) -> String {
    let mut longest = usize::try_from(budget.max_bytes()).unwrap_or(usize::MAX).min(1 << 16);
    loop {
        longest /= 2;
        let members = walk::members(record.as_bytes()).into_iter().flatten();
        let parts: Vec<String> = members
            .map(|(name, value)| {
                json::member(&json::name(name), &render::shortened_value(value, longest))
            })
            .collect();
        let record = format!("{{{}}}", parts.join(","));
        let fits = budget.without(FRAME_TOKENS).fitting(std::iter::once(record.as_str())) == 1;
        if fits || longest == 0 {
            return if fits { record } else { "{}".to_owned() };
        }
    }
}

/// The places of the fields that do not stand in the records.
fn foreign(fields: &[Field]) -> Vec<usize> {
    let fields = fields.iter().enumerate();
    fields.filter(|(_, field)| field.carried.is_some()).map(|(index, _)| index).collect()
}

fn member(name: &str, value: &[u8]) -> String {
    json::member(name, &String::from_utf8_lossy(&json::compact(value)))
}
