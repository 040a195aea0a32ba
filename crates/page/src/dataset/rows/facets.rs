//! The values that fields have most often, among the rows that are shown.

use forebay_query::quoted;
use forebay_store::{
    Dataset,
    facts::{Field, Kind, Type},
};
use forebay_text::grouped;
use forebay_tools::{Condition, Sheet, facets};
use serde::Serialize;

use super::{facts, filter::Filter};
use crate::{Pages, asker::Asker, given::Given};

/// How many fields have facets, and how many values each shows: as many as were counted when it was kept.
const MAX_FACETS: usize = 4;
const MAX_VALUES: u64 = 5;
/// A field with more values is none by which rows are told apart.
const MAX_DISTINCT: u64 = 200;
/// The values that a field has most often.
#[derive(Serialize)]
pub(crate) struct Facet {
    pub(super) field: String,
    pub(super) values: Vec<FacetValue>,
    /// How many values are not shown.
    pub(super) more: u64,
    /// Where all of them are told.
    #[serde(skip)]
    pub(super) all: String,
}

/// One of them, among the rows for which all filters hold.
#[derive(Serialize)]
pub(crate) struct FacetValue {
    pub(super) value: Option<String>,
    count: u64,
    #[serde(skip)]
    pub(super) link: String,
    #[serde(skip)]
    pub(super) is_chosen: bool,
}

impl Facet {
    /// The facet of a field, which filters know by its key, among the rows that `sql` gives.
    fn of(
        (field, key): (&Field, &str),
        (values, distinct): Counts,
        sql: &str,
        given: &Given,
        path: &str,
    ) -> Self {
        let all = format!(
            "SELECT {0}, count(*) AS rows FROM ({sql}) GROUP BY 1 ORDER BY 2 DESC, 1",
            quoted(field.column())
        );
        let all = Given::default().and("sql", &all).at(&format!("{path}/sql"));
        let more = distinct.saturating_sub(values.len() as u64);
        let values = values.into_iter().map(|(value, count)| {
            let operator = if value.is_some() { "eq" } else { "is_null" };
            let held = value.as_deref().unwrap_or_default();
            let filter = Filter::of(key.to_owned(), operator, held).written();
            let is_chosen = given.all("where").any(|it| it == filter);
            let rest = given.without("page");
            let link = if is_chosen {
                rest.without_value("where", &filter)
            } else {
                rest.and("where", &filter)
            };
            FacetValue { value, count, link: link.at(&format!("{path}/rows")), is_chosen }
        });
        Self { values: values.collect(), field: field.name().to_owned(), more, all }
    }

    pub(super) fn more_told(&self) -> String {
        format!("and {} more", grouped(self.more))
    }
}

impl FacetValue {
    pub(super) fn count_told(&self) -> String {
        grouped(self.count)
    }
}

/// The values of a field, each with how often it is there, and how many there are.
type Counts = (Vec<(Option<String>, u64)>, u64);

/// The facets of the fields that tell rows apart best, among the rows of a sheet. Rows are shown without them if
/// they cannot be counted.
pub(super) fn found_facets(
    pages: &Pages,
    dataset: &Dataset,
    table: &str,
    conditions: &[Condition],
    sheet: &Sheet,
    given: &Given,
    asker: &Asker,
) -> Vec<Facet> {
    let Some(facts) = facts(dataset, table) else { return Vec::new() };
    // Where a table has more columns than fields, these are known by their columns alone.
    let known = sheet.all_fields.iter().map(String::as_str);
    let by_name = facts.fields.iter().map(Field::name).eq(known.take(facts.fields.len()));
    let path = format!("/dataset/{}", dataset.id());
    let key = |field: &Field| (if by_name { field.name() } else { field.column() }).to_owned();
    // What was counted when it was kept is not counted again.
    let kept = |field| kept_counts(field, facts.records).filter(|_| conditions.is_empty());
    let told_apart = facts.fields.iter().filter(|it| tells_apart(it)).take(MAX_FACETS);
    let told_apart: Vec<(&Field, Option<Counts>)> =
        told_apart.map(|field| (field, kept(field))).collect();
    let uncounted = told_apart.iter().filter(|(_, kept)| kept.is_none());
    let uncounted: Vec<String> = uncounted.map(|(field, _)| key(field)).collect();
    let of = (dataset.id(), table);
    let counted = facets(&pages.desk, of, conditions, &uncounted, MAX_VALUES, asker);
    let mut counted = counted
        .inspect_err(|error| tracing::warn!(%error, "frequent values cannot be counted"))
        .unwrap_or_default()
        .into_iter()
        .map(|it| (it.values, it.distinct));
    let facet = |(field, kept): (&Field, Option<Counts>)| {
        let counts = kept.or_else(|| counted.next())?;
        Some(Facet::of((field, &key(field)), counts, &sheet.sql, given, &path))
    };
    told_apart.into_iter().filter_map(facet).collect()
}

/// What was counted of a field among all records, as a query would count it, if all of it that is shown is known.
fn kept_counts(field: &Field, records: u64) -> Option<Counts> {
    let is_exact = field.distinct_is_exact == Some(true) && field.carried.is_none();
    let (distinct, nulls) = (field.distinct.filter(|_| is_exact)?, field.nulls?);
    let mut values: Vec<_> =
        field.top.iter().map(|(value, count)| (Some(value.clone()), *count)).collect();
    let is_whole = values.len() as u64 == distinct;
    let counted = values.iter().map(|(_, count)| count).sum::<u64>() + nulls;
    let fits = if is_whole { counted == records } else { counted < records };
    if !fits || !(is_whole || values.len() as u64 >= MAX_VALUES) {
        return None;
    }
    if nulls > 0 {
        let at = values.iter().take_while(|(_, count)| *count >= nulls).count();
        values.insert(at, (None, nulls));
    }
    values.truncate(usize::try_from(MAX_VALUES).unwrap_or(usize::MAX));
    Some((values, distinct + u64::from(nulls > 0)))
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
