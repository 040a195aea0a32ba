//! What is known of a result for sure, to hold against what is said of it.

use std::collections::BTreeMap;

use forebay_store::{
    Dataset, Mapped,
    facts::{self, Kind, Summary, Type},
};
use serde_json::Value;

use super::{
    alike::Basis,
    words::{Number, day},
};

/// What is known of a result.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Known {
    /// How many records the main table has, if there is one.
    pub(super) records: Option<u64>,
    /// How many lines it has, if it is a text.
    pub(super) lines: Option<u64>,
    /// All that is told of how many there are of something: tables, lists, values beside them.
    pub(super) totals: Vec<f64>,
    /// How many fields each table has.
    pub(super) widths: Vec<f64>,
    /// What its records are called: `orders`, if the tool is `list_orders`.
    pub(super) nouns: Vec<String>,
    pub(super) fields: Vec<Field>,
    /// What it is compared with others by.
    pub(super) basis: Basis,
}

/// What is known of a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Field {
    /// In words, in small letters: `created_at` is `created` and `at`.
    pub(super) name: Vec<String>,
    pub(super) records: u64,
    pub(super) nulls: u64,
    /// How many different values, if they were counted.
    pub(super) distinct: Option<u64>,
    /// The least and the greatest, of numbers.
    pub(super) range: Option<(f64, f64)>,
    /// The same of days, as `2026-11-18`.
    pub(super) days: Option<(String, String)>,
    /// Values, in small letters, and how often each stands there.
    pub(super) values: BTreeMap<String, u64>,
    /// There are no other values.
    pub(super) are_all: bool,
}

impl Known {
    /// What is known of a dataset; `payload` is the one that its facts are about.
    pub(crate) fn of(dataset: &Dataset, payload: &Mapped) -> Self {
        let facts = dataset.facts();
        let mut known = Self { basis: Basis::of(dataset, payload), ..Self::default() };
        known.take_nouns(&dataset.metadata().description.tool);
        for table in facts.tables() {
            known.take_nouns(&table.path);
            known.take_table(table);
        }
        for value in facts.envelope.iter().flat_map(|envelope| envelope.values()) {
            known.totals.extend(value.as_f64().or_else(|| value.as_str()?.parse().ok()));
        }
        match &dataset.metadata().description.summary {
            Some(Summary::Text(text)) => {
                known.lines = Some(text.lines);
                known.totals.push(as_float(text.lines));
                known.totals.push(as_float(text.heading_count));
            }
            Some(Summary::Records(_) | Summary::Other(_)) | None => {}
        }
        known
    }

    /// True if what is said of one in words is as true of the other.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.basis.is_alike(&other.basis)
    }

    /// True if both are of the same payloads.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.basis.is_same(&other.basis)
    }

    /// True if `number` is known to be one of the result's, or so small that it may be a rank.
    pub(super) fn has(&self, number: Number) -> bool {
        const RANKS: f64 = 10.0;
        let is = |truth: f64| (number.value - truth).abs() <= number.slack.max(truth.abs() * 1e-9);
        if number.is_percent {
            let shares = self.fields.iter().flat_map(|field| {
                let whole = as_float(field.records.max(1));
                field.values.values().map(move |count| as_float(*count) * 100.0 / whole)
            });
            return shares.into_iter().any(|share| (number.value - share).abs() <= 1.0);
        }
        let is_rank = !number.has_unit && number.value <= RANKS && number.value.fract() == 0.0;
        let bounds = self.fields.iter().filter_map(|field| field.range);
        is_rank || self.figures().any(is) || bounds.into_iter().any(|(min, max)| is(min) || is(max))
    }

    /// True if `word` is the name of a field, or a value that is told.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let name = super::words::of_name(word);
        self.fields.iter().any(|field| field.name == name || field.values.contains_key(word))
    }

    /// How many there are of whatever there is the most of.
    pub(super) fn most(&self) -> f64 {
        self.totals.iter().copied().fold(0.0, f64::max)
    }

    /// Everything that is counted: what a number in a sentence may be.
    pub(super) fn figures(&self) -> impl Iterator<Item = f64> {
        let of_fields = self.fields.iter().flat_map(|field| {
            let present = field.records.saturating_sub(field.nulls);
            let counted = field.distinct.into_iter().chain([field.nulls, present]);
            counted.chain(field.values.values().copied()).map(as_float)
        });
        self.totals.iter().chain(&self.widths).copied().chain(of_fields)
    }

    /// Takes the words of a name that are of many.
    fn take_nouns(&mut self, name: &str) {
        let is_of_many =
            |word: &String| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        self.nouns.extend(super::words::of_name(name).into_iter().filter(is_of_many));
    }

    fn take_table(&mut self, table: &facts::Table) {
        self.records = self.records.or(Some(table.records));
        self.totals.push(as_float(table.records));
        self.totals.extend(table.skipped.map(as_float));
        self.widths.push(as_float(table.fields.len() as u64));
        // What is known of some records is no fact about all.
        let is_whole = table.observed.is_none_or(|observed| observed >= table.records);
        for field in &table.fields {
            self.take_field(field, table.records, is_whole);
        }
    }

    fn take_field(&mut self, field: &facts::Field, records: u64, is_whole: bool) {
        self.totals.extend(field.elements.map(as_float));
        self.totals.extend(field.lists.map(as_float));
        self.totals.extend(field.objects.map(as_float));
        self.totals.extend(field.longest_list.map(as_float));
        let inside = [&field.items, &field.keys, &field.values];
        for inner in field.fields.iter().chain(inside.into_iter().flatten().map(|it| &**it)) {
            self.take_field(inner, records, is_whole);
        }
        let (Some(name), true) = (&field.name, is_whole) else { return };
        let kind = match field.kind {
            Type::Known(kind) => kind,
            Type::Other(_) => return,
        };
        let bounds = field.min.as_deref().zip(field.max.as_deref());
        let range = match kind {
            Kind::Integer | Kind::Float => {
                bounds.and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)))
            }
            _ => None,
        };
        let days = match kind {
            Kind::Date | Kind::Timestamp => {
                bounds.and_then(|(min, max)| Some((day(min)?.to_owned(), day(max)?.to_owned())))
            }
            _ => None,
        };
        let distinct = field.distinct.filter(|_| field.distinct_is_exact == Some(true));
        let values: BTreeMap<String, u64> =
            field.top.iter().map(|(value, count)| (plain(value), *count)).collect();
        self.fields.push(Field {
            name: super::words::of_name(name),
            records,
            nulls: field.nulls.unwrap_or_default(),
            are_all: distinct.is_some_and(|it| it == values.len() as u64 && it > 0),
            distinct,
            range,
            days,
            values,
        });
    }
}

/// A value as a sentence would name it.
fn plain(value: &str) -> String {
    let text =
        serde_json::from_str::<Value>(value).ok().and_then(|it| it.as_str().map(str::to_owned));
    text.as_deref().unwrap_or(value).trim().to_lowercase()
}

#[expect(clippy::cast_precision_loss, reason = "it is compared with what a sentence says")]
pub(super) fn as_float(count: u64) -> f64 {
    count as f64
}
