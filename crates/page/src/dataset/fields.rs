//! The fields of a table: what is known of each, and how its values lie.

use askama::Template;
use forebay_query::{Query, quoted};
use forebay_store::{
    Dataset,
    facts::{self, Field, Kind, Type},
};
use forebay_text::{counted, grouped};
use forebay_tools::{Extent, Page, Part, sheet};
use serde::Serialize;

use super::{Head, Table, without_column};
use crate::{
    Pages,
    asker::Asker,
    frame::{Frame, Section},
    given::Given,
    percent::percent,
    problem::Problem,
    visible::named,
};

/// How many fields stand on a page.
const PER_PAGE: usize = 100;

/// Into how many ranges values are put.
const BINS: usize = 24;
/// How many fields have a chart of their ranges.
const MAX_CHARTS: usize = 8;
/// How many frequent values are shown.
const MAX_VALUES: usize = 6;

/// The fields of a table.
#[derive(Template, Serialize)]
#[template(path = "fields.html")]
pub(crate) struct Fields {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    table: String,
    records: u64,
    /// Of how many records, from the first on, the facts are.
    observed: u64,
    page: u64,
    /// How many fields there are, on all pages.
    total: usize,
    /// How many have no column.
    other_fields: usize,
    fields: Vec<Known>,
    /// Why there are no distributions.
    #[serde(skip_serializing_if = "Option::is_none")]
    unmeasured: Option<String>,
    /// Of how many fields of numbers and times the distribution is not shown, since there are too many.
    without_ranges: usize,
    #[serde(skip)]
    given: Given,
}

/// What is known of a field.
#[derive(Serialize)]
pub(crate) struct Known {
    name: String,
    column: String,
    #[serde(rename = "type")]
    kind: String,
    nulls: Option<u64>,
    distinct: Option<u64>,
    distinct_is_exact: bool,
    min: Option<String>,
    max: Option<String>,
    longest: Option<usize>,
    top: Vec<(String, u64)>,
    /// How many values lie in each of equal ranges from the least to the greatest.
    ranges: Vec<u64>,
    #[serde(skip)]
    observed: u64,
    #[serde(skip)]
    depth: usize,
}

/// A bar of a chart.
pub(crate) struct Bar {
    pub(crate) x: usize,
    pub(crate) y: u64,
    pub(crate) height: u64,
}

impl Fields {
    pub(crate) fn of(
        pages: &Pages,
        id: &str,
        given: &Given,
        asker: &Asker,
    ) -> Result<Self, Problem> {
        let given = given.only(&["table", "page"])?;
        let page = given.page()?;
        let dataset = pages.dataset(id)?;
        let table = given.get("table").unwrap_or_default().to_owned();
        let names = forebay_query::table_names(&dataset);
        let index = names.iter().position(|name| name.eq_ignore_ascii_case(&table));
        if index.is_none() || super::tables(&dataset).is_empty() {
            // Why there is no table is told by whoever would read it.
            let extent = Extent { columns: 0..1, max_bytes: 1 };
            let none = Page { part: Part::page(1, 1), ..Page::default() };
            sheet(&pages.desk, (dataset.id(), &table), &none, &extent, asker)?;
        }
        let index = index.unwrap_or_default();
        let facts = dataset.facts().tables().get(index);
        let records = facts.map(|facts| facts.records);
        let records = records.or(dataset.metadata().description.record_count).unwrap_or_default();
        let observed = facts.and_then(|facts| facts.observed).unwrap_or(records);
        let mut fields = Vec::new();
        match (facts, &dataset.metadata().description.schema) {
            (Some(facts), _) => add(&mut fields, &facts.fields, "", 0, observed),
            (None, Some(schema)) => add(&mut fields, &schema.fields, "", 0, observed),
            (None, None) => {}
        }
        let total = fields.len();
        let before = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(PER_PAGE);
        if before > 0 && before >= total {
            let pages = counted(total.div_ceil(PER_PAGE) as u64, "page");
            return Err(Problem::refused(format!(
                "There is no page {page}: the fields have {pages}."
            )));
        }
        let (mut unmeasured, mut without_ranges) = (None, 0);
        let mut fields: Vec<Known> = fields.into_iter().skip(before).take(PER_PAGE).collect();
        if let Some(facts) = facts {
            let name = forebay_query::table_name(dataset.id(), &names[index]);
            // What is known of fields is shown without their charts, too.
            match measure(pages, &dataset, &name, facts, &mut fields, asker) {
                Ok(left_out) => without_ranges = left_out,
                Err(problem) => unmeasured = Some(problem.what().to_owned()),
            }
        }
        let other_fields = facts.and_then(|facts| facts.other_fields).unwrap_or_default();
        let frame = Frame::new(Section::Shelf, format!("{} · fields", dataset.id()));
        let dataset = Head::of(&dataset, "Fields");
        Ok(Self {
            frame,
            dataset,
            table,
            records,
            observed,
            page,
            total,
            other_fields,
            fields,
            unmeasured,
            without_ranges,
            given,
        })
    }

    fn head(&self) -> &Head {
        &self.dataset
    }

    fn tables(&self) -> Vec<(&Table, String, bool)> {
        if self.dataset.tables.len() < 2 {
            return Vec::new();
        }
        let path = format!("{}/fields", self.dataset.path());
        let link = |table: &Table| {
            let given = Given::default();
            let given =
                if table.suffix.is_empty() { given } else { given.and("table", &table.suffix) };
            given.at(&path)
        };
        let tables = self.dataset.tables.iter();
        tables.map(|table| (table, link(table), table.suffix == self.table)).collect()
    }

    fn told(&self) -> String {
        let fields = counted(self.total as u64, "field");
        let records = counted(self.records, "record");
        let records = if self.observed < self.records {
            format!(
                "{records}; all figures but the distributions are of the first {}",
                grouped(self.observed)
            )
        } else {
            records
        };
        if self.fields.len() == self.total {
            return format!("{fields}, {records}");
        }
        let from = (self.page - 1) * PER_PAGE as u64;
        let to = from + self.fields.len() as u64;
        format!("Fields {}–{} of {fields}, {records}", grouped(from + 1), grouped(to))
    }

    /// What is not here.
    fn lacks(&self) -> Vec<String> {
        let fields = (self.other_fields > 0).then(|| without_column(self.other_fields));
        let why = self.unmeasured.as_ref().map(|why| format!("There are no distributions: {why}"));
        let more = (self.without_ranges > 0).then(|| {
            let fields = counted(self.without_ranges as u64, "more field");
            format!("The distribution of {fields} is not drawn: {MAX_CHARTS} on a page are.")
        });
        fields.into_iter().chain(why).chain(more).collect()
    }

    fn before(&self) -> Option<String> {
        (self.page > 1).then(|| self.at_page(self.page - 1))
    }

    fn next(&self) -> Option<String> {
        let shown = usize::try_from(self.page).unwrap_or(usize::MAX).saturating_mul(PER_PAGE);
        (shown < self.total).then(|| self.at_page(self.page + 1))
    }

    fn at_page(&self, page: u64) -> String {
        let given = Given::default();
        let given = if self.table.is_empty() { given } else { given.and("table", &self.table) };
        given.and("page", &page.to_string()).at(&format!("{}/fields", self.dataset.path()))
    }

    fn twin(&self) -> String {
        self.given.at(&format!("{}/fields.json", self.dataset.path()))
    }
}

impl Known {
    fn nulls_told(&self) -> String {
        match self.nulls {
            None | Some(0) => String::new(),
            Some(nulls) => {
                format!("{} ({})", grouped(nulls), percent(nulls, self.observed))
            }
        }
    }

    /// True if no two records are known to have the same value.
    fn is_unique(&self) -> bool {
        self.distinct_is_exact && self.distinct == Some(self.observed) && self.observed > 1
    }

    fn distinct_told(&self) -> String {
        let about = if self.distinct_is_exact { "" } else { "~" };
        match self.distinct {
            Some(_) if self.is_unique() => "unique".to_owned(),
            Some(distinct) => format!("{about}{}", grouped(distinct)),
            None => String::new(),
        }
    }

    fn range(&self) -> String {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) if !min.is_empty() || !max.is_empty() => {
                format!("{} … {}", named(min), named(max))
            }
            _ => self
                .longest
                .map(|it| format!("up to {} characters", grouped(it as u64)))
                .unwrap_or_default(),
        }
    }

    /// The frequent values, each with its count and its share in percent.
    fn frequent(&self) -> Vec<(&str, String, u64)> {
        if self.is_unique() {
            return Vec::new();
        }
        let share =
            |count: u64| (count * 100).checked_div(self.observed).unwrap_or_default().min(100);
        let shown = self.top.iter().take(MAX_VALUES);
        shown.map(|(value, count)| (value.as_str(), grouped(*count), share(*count))).collect()
    }

    /// How many values are not among the frequent ones, if that is known.
    fn more(&self) -> Option<String> {
        let shown = self.frequent().len() as u64;
        let more = self.distinct?.saturating_sub(shown);
        let about = if self.distinct_is_exact { "" } else { "about " };
        (shown > 0 && more > 0).then(|| format!("and {about}{} more", grouped(more)))
    }

    /// What SQL calls it, if that is not its name.
    fn sql_name(&self) -> Option<&str> {
        (self.depth == 0 && self.column != self.name).then_some(self.column.as_str())
    }

    fn bars(&self) -> Vec<Bar> {
        const HEIGHT: u64 = 32;
        let most = self.ranges.iter().copied().max().unwrap_or_default().max(1);
        let bar = |(index, count): (usize, &u64)| {
            // What is there can be seen.
            let height = (count * HEIGHT).div_ceil(most);
            Bar { x: index * 5, y: HEIGHT - height, height }
        };
        self.ranges.iter().enumerate().map(bar).collect()
    }

    fn chart_told(&self) -> String {
        format!("Distribution of the values of {} from {}", self.name, self.range())
    }

    fn indent(&self) -> String {
        format!("depth{}", self.depth.min(4))
    }
}

/// Adds fields and, by their paths, the members of structs.
fn add(known: &mut Vec<Known>, fields: &[Field], within: &str, depth: usize, observed: u64) {
    for field in fields {
        let name = format!("{within}{}", field.name());
        known.push(Known {
            column: field.column().to_owned(),
            kind: kind(field),
            nulls: field.nulls,
            distinct: field.distinct,
            distinct_is_exact: field.distinct_is_exact != Some(false),
            min: field.min.clone(),
            max: field.max.clone(),
            longest: field.longest.filter(|_| has_length(field)),
            top: field.top.clone(),
            ranges: Vec::new(),
            observed,
            depth,
            name: name.clone(),
        });
        if field.kind == Type::Known(Kind::Struct) {
            add(known, &field.fields, &format!("{name}."), depth + 1, observed);
        }
    }
}

/// A field's type, with that of what is in it.
fn kind(field: &Field) -> String {
    let inside = |field: &Option<Box<Field>>| field.as_deref().map(kind).unwrap_or_default();
    match &field.kind {
        Type::Known(Kind::List) => format!("list of {}", inside(&field.items)),
        Type::Known(Kind::Map) => format!("map to {}", inside(&field.values)),
        other => other.name().to_owned(),
    }
}

/// True if it says something how long the values of a field are.
fn has_length(field: &Field) -> bool {
    matches!(field.kind, Type::Known(Kind::String | Kind::Url | Kind::Json) | Type::Other(_))
}

/// Counts how the values of numbers and times lie, of all fields at once. Returns of how many it is not counted.
fn measure(
    pages: &Pages,
    dataset: &Dataset,
    table: &str,
    facts: &facts::Table,
    known: &mut [Known],
    asker: &Asker,
) -> Result<usize, Problem> {
    let is_shown =
        |field: &&Field| known.iter().any(|it| it.depth == 0 && it.column == field.column());
    let measured = facts.fields.iter().filter(is_shown);
    let mut measured: Vec<&Field> = measured.filter(|field| is_measured(field)).collect();
    let left_out = measured.len().saturating_sub(MAX_CHARTS);
    measured.truncate(MAX_CHARTS);
    if measured.is_empty() {
        return Ok(0);
    }
    let table = quoted(table);
    let select = |sql: String, most: usize| {
        let query = Query { sql, dataset: Some(dataset.id().clone()), with_places: true };
        let rows = pages.desk.service().select(&query, most as u64, u64::MAX, asker);
        Ok::<_, Problem>(rows.map_err(forebay_tools::ToolError::from)?.rows)
    };
    // What is least and greatest stands in the file of the rows: with that known, all values are read once.
    let bounds: Vec<String> = measured.iter().map(|field| bounds(field)).collect();
    let bounds = select(format!("SELECT {} FROM {table}", bounds.join(", ")), 1)?;
    let bounds: Vec<Option<String>> =
        bounds.first().and_then(|row| serde_json::from_str(row).ok()).unwrap_or_default();
    let counted = measured.iter().zip(bounds.chunks_exact(2)).enumerate();
    let counted = counted.filter_map(|(index, (field, bounds))| {
        let [Some(least), Some(greatest)] = bounds else { return None };
        Some(format!("SELECT {index}, {}", in_ranges(field, &table, least, greatest)?))
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        return Ok(left_out);
    }
    let rows = select(counted.join(" UNION ALL "), BINS * measured.len())?;
    let counts =
        rows.iter().filter_map(|row| serde_json::from_str::<(usize, usize, u64)>(row).ok());
    for (index, bin, count) in counts {
        let Some(field) = measured.get(index) else { continue };
        let Some(known) = known.iter_mut().find(|it| it.depth == 0 && it.column == field.column())
        else {
            continue;
        };
        known.ranges.resize(BINS, 0);
        if let Some(range) = known.ranges.get_mut(bin) {
            *range += count;
        }
    }
    Ok(left_out)
}

/// The least and the greatest of a field's numbers, as texts.
fn bounds(field: &Field) -> String {
    let column = quoted(field.column());
    let bound =
        |of: &str| format!("CAST({} AS VARCHAR)", number(field, &format!("{of}({column})")));
    format!("{}, {}", bound("min"), bound("max"))
}

/// How many of a field's numbers lie in each range; `None` if there are no ranges between these two.
fn in_ranges(field: &Field, table: &str, least: &str, greatest: &str) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "the least one is taken away exactly")]
    let span = if is_large(field) {
        greatest.parse::<i128>().ok()?.checked_sub(least.parse().ok()?)? as f64
    } else {
        greatest.parse::<f64>().ok()? - least.parse::<f64>().ok()?
    };
    if !(span > 0.0 && span.is_finite()) {
        return None;
    }
    let column = quoted(field.column());
    let (exact, value) = (exact(field), number(field, &column));
    Some(format!(
        "CAST(least({BINS} - 1, floor(CAST({value} - CAST('{least}' AS {exact}) AS DOUBLE) / CAST('{span}' AS \
         DOUBLE) * {BINS})) AS UTINYINT), count(*) FROM {table} WHERE {column} IS NOT NULL GROUP BY 2"
    ))
}

/// A value of a field as the number that its ranges are of.
fn number(field: &Field, value: &str) -> String {
    let exact = exact(field);
    match &field.kind {
        Type::Known(Kind::Timestamp | Kind::Date) => format!("CAST(epoch({value}) AS {exact})"),
        _ => format!("CAST({value} AS {exact})"),
    }
}

/// Large whole numbers lie too near to each other to be told apart as a DOUBLE.
fn exact(field: &Field) -> &'static str {
    if is_large(field) { "HUGEINT" } else { "DOUBLE" }
}

/// True for whole numbers some of which a DOUBLE does not have.
fn is_large(field: &Field) -> bool {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let is_beyond = |bound: &Option<String>| {
        let number = bound.as_ref().and_then(|it| it.parse::<f64>().ok());
        number.is_some_and(|it| it.abs() >= MOST)
    };
    field.kind == Type::Known(Kind::Integer) && (is_beyond(&field.min) || is_beyond(&field.max))
}

fn is_measured(field: &Field) -> bool {
    match &field.kind {
        Type::Known(Kind::Integer | Kind::Float | Kind::Timestamp | Kind::Date) => true,
        Type::Known(
            Kind::Boolean
            | Kind::String
            | Kind::Uuid
            | Kind::Url
            | Kind::List
            | Kind::Struct
            | Kind::Map
            | Kind::Json
            | Kind::Null,
        )
        | Type::Other(_) => false,
    }
}
