//! Whether what was said of one result in words may be said of another.
//!
//! Words tell of more than numbers do, and a vector hardly tells `passed` from `failed`. Two results are alike if
//! they are the same, or if nothing but numbers differs: the same values beside the tables, the same records in
//! the same order, and a few more at one end that are like many of the others. Numbers may differ a little: a
//! sentence that has one is held against those of the second result. What is not known counts as different.

mod records;

use forebay_store::{
    Dataset, Facts, Mapped,
    facts::{Field, Kind, Table, Type},
};
use serde_json::{Map, Value};

use self::records::Records;
use super::words::day;

/// The forms of payloads that hold nothing but tables and what is told beside them.
const FORMS: [&str; 7] = ["json", "ndjson", "python", "csv", "tsv", "yaml", "xml"];
/// If there are so many values beside the tables, there may be more that are not told.
const MAX_BESIDE: usize = 40;
/// A longer value beside the tables is not told to its end.
const MAX_BESIDE_BYTES: usize = 500;

/// What a result is compared with others by.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Basis {
    /// The hash of all payloads.
    content: String,
    /// The hashes of the payloads that the facts are not about.
    other_payloads: Vec<String>,
    format: Option<String>,
    beside: Map<String, Value>,
    tables: Vec<Table>,
    has_other_tables: bool,
    /// What the records of each table say; `None` if that is too much to compare.
    records: Option<Vec<Records>>,
}

impl Basis {
    /// `payload` is the one that the facts are about.
    pub(super) fn of(dataset: &Dataset, payload: &Mapped) -> Self {
        let (metadata, facts) = (dataset.metadata(), dataset.facts());
        let parts = metadata.parts.iter().enumerate();
        let others = parts.filter(|(place, _)| facts.payload != Some(*place));
        let other_payloads = others.map(|(_, part)| part.blake3.clone()).collect();
        Self { other_payloads, ..Self::of_facts(metadata.content(), facts, payload) }
    }

    fn of_facts(content: String, facts: &Facts, payload: &Mapped) -> Self {
        let mut basis = Self {
            content,
            other_payloads: Vec::new(),
            format: facts.format.clone(),
            beside: facts.envelope.clone().unwrap_or_default(),
            tables: facts.tables().to_vec(),
            has_other_tables: facts.other_tables.is_some(),
            records: None,
        };
        if basis.is_told() {
            basis.records = basis.tables.iter().map(|table| Records::of(payload, table)).collect();
        }
        basis
    }

    /// True if both are of the same payloads.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.content == other.content
    }

    /// True if what is said of one in words is as true of the other.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        let (Some(one), Some(two)) = (&self.records, &other.records) else { return false };
        let mut tables = self.tables.iter().zip(&other.tables);
        let mut records = one.iter().zip(two);
        (&self.format, &self.beside) == (&other.format, &other.beside)
            && self.other_payloads == other.other_payloads
            && self.tables.len() == other.tables.len()
            && tables.all(|(one, two)| are_alike(one, two))
            && records.all(|(one, two)| one.are_like(two))
    }

    /// True if the facts tell of all that it holds.
    fn is_told(&self) -> bool {
        let is_whole = |value: &Value| value.as_str().is_none_or(|it| it.len() <= MAX_BESIDE_BYTES);
        let is_described = |table: &Table| {
            let is_observed = table.observed.is_none_or(|observed| observed >= table.records);
            is_observed && table.other_fields.is_none() && !table.fields.is_empty()
        };
        self.format.as_deref().is_some_and(|format| FORMS.contains(&format))
            && self.beside.len() < MAX_BESIDE
            && self.beside.values().all(is_whole)
            && !self.tables.is_empty()
            && !self.has_other_tables
            && self.tables.iter().all(is_described)
    }
}

fn are_alike(one: &Table, other: &Table) -> bool {
    let mut fields = one.fields.iter().zip(&other.fields);
    (&one.path, &one.kind, one.skipped) == (&other.path, &other.kind, other.skipped)
        && is_about_as_many(one.records, other.records)
        && one.fields.len() == other.fields.len()
        && fields.all(|(one, other)| have_like_values(one, other))
}

fn is_about_as_many(one: u64, other: u64) -> bool {
    one.max(other).saturating_mul(4) <= one.min(other).saturating_mul(5)
}

/// True if two fields have the same name, about the same numbers, and the same days; and if what they have most
/// often, they have in the same order: what is more and what is less, words may tell.
fn have_like_values(one: &Field, other: &Field) -> bool {
    let (of_one, of_other) = (inner(one), inner(other));
    let mut pairs = of_one.iter().zip(&of_other);
    let have_like_values_here = match &one.kind {
        Type::Known(Kind::Integer | Kind::Float) => have_about_same_range(one, other),
        Type::Known(Kind::Timestamp | Kind::Date) => {
            let days = |field: &Field| {
                let bounds =
                    field.min.as_deref().and_then(day).zip(field.max.as_deref().and_then(day));
                bounds.map(|(first, last)| (first.to_owned(), last.to_owned()))
            };
            days(one).is_some() && days(one) == days(other)
        }
        Type::Known(
            Kind::Boolean
            | Kind::String
            | Kind::Url
            | Kind::Uuid
            | Kind::List
            | Kind::Struct
            | Kind::Map
            | Kind::Null,
        ) => order_of(one) == order_of(other),
        // What numbers it holds is not told.
        Type::Known(Kind::Json) | Type::Other(_) => false,
    };
    (&one.name, &one.kind) == (&other.name, &other.kind)
        && have_like_values_here
        && of_one.len() == of_other.len()
        && pairs.all(|(one, other)| have_like_values(one, other))
}

/// What lies in a field.
fn inner(field: &Field) -> Vec<&Field> {
    let inside = [&field.items, &field.keys, &field.values].into_iter().flatten();
    field.fields.iter().chain(inside.map(|it| &**it)).collect()
}

/// The values that a field has most often, each with whether the next is as frequent. Those that are there once
/// have no order.
fn order_of(field: &Field) -> Vec<(&str, bool)> {
    let repeated: Vec<_> = field.top.iter().filter(|(_, count)| *count > 1).collect();
    let next = repeated.iter().skip(1).map(|(_, count)| Some(*count)).chain([None]);
    let ordered = repeated.iter().zip(next);
    ordered.map(|((value, count), next)| (value.as_str(), Some(*count) == next)).collect()
}

fn have_about_same_range(one: &Field, other: &Field) -> bool {
    let range = |field: &Field| -> Option<(f64, f64)> {
        Some((field.min.as_deref()?.parse().ok()?, field.max.as_deref()?.parse().ok()?))
    };
    let (Some((min, max)), Some((low, high))) = (range(one), range(other)) else {
        return false;
    };
    let (shared, whole) = (max.min(high) - min.max(low), max.max(high) - min.min(low));
    let have_same_signs = (min < 0.0) == (low < 0.0) && (max < 0.0) == (high < 0.0);
    have_same_signs && shared >= whole / 2.0
}

/// True if no two records have the same value, and each has one.
fn is_unique(field: &Field, records: u64) -> bool {
    let is_counted = field.distinct_is_exact == Some(true) && field.distinct == Some(records);
    is_counted && field.nulls.unwrap_or_default() == 0 && records > 1
}

#[cfg(test)]
mod tests;
