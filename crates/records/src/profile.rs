//! Looks through payloads once and says what is in them.
//!
//! What a payload is, is told by looking ([`crate::shape`]); the facts of its records are collected on
//! the way ([`crate::table`]). What holds no records gets an outline of its lines ([`outline`]).

mod outline;
mod table_names;

use std::io;

use forebay_store::{Facts, Mapped, facts};

pub use self::outline::Outline;
use crate::{
    shape::{self, Contents, Counts, Format},
    table::{Rules, Table, inner},
};

/// How much is looked at to describe the fields of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inference {
    /// Facts come from this many of the first records; 0 means from all.
    pub sample_size: u64,
    /// Whether strings are looked into: timestamps, dates, URLs and the like.
    pub type_detection: bool,
}

impl Default for Inference {
    fn default() -> Self {
        Self { sample_size: 0, type_detection: true }
    }
}

/// What is in a result.
#[derive(Debug)]
pub struct Profile {
    /// The payload that this is about.
    pub payload: usize,
    /// Its form.
    pub format: Format,
    /// Tables, the largest first.
    pub tables: Vec<Table>,
    /// Values beside them: where they are, and as they are written.
    pub envelope: Vec<(String, String)>,
    /// How many there are of each, in all.
    pub counts: Counts,
    /// If there are no tables.
    pub outline: Option<Outline>,
}

/// Looks through the payloads and describes the one that holds the most.
pub fn profile(payloads: &[Mapped], inference: Inference) -> io::Result<Profile> {
    let mut best: Option<Profile> = None;
    for (payload, bytes) in payloads.iter().enumerate() {
        let profile = of_payload(payload, bytes, inference);
        let weight = |profile: &Profile| {
            // The same text as structured content is one long line of escapes.
            let has_lines = profile.outline.as_ref().is_some_and(|outline| outline.lines > 1);
            let has_records = profile.main().is_some_and(|table| table.records > 1);
            (has_records, has_lines, payloads[profile.payload].len())
        };
        if best.as_ref().is_none_or(|best| weight(&profile) > weight(best)) {
            best = Some(profile);
        }
    }
    best.ok_or_else(|| io::Error::other("there is nothing to describe"))
}

/// Looks through one payload.
pub(crate) fn of_payload(payload: usize, bytes: &Mapped, inference: Inference) -> Profile {
    let rules = Rules {
        sample_size: inference.sample_size,
        detects_types: inference.type_detection,
        has_cells: false,
    };
    // What only looks like something is something else, and text in the end.
    let views = [shape::of, shape::not_json, shape::text];
    let found = views.iter().find_map(|view| {
        let view = view(bytes);
        Some((view.format, view.contents(rules)?))
    });
    let (format, Contents { mut tables, envelope, mut counts }) =
        found.unwrap_or((Format::Text, Contents::default()));
    let (inner, left_out) = inner::of(&tables);
    counts.tables += inner.len() + left_out;
    tables.extend(inner);
    let outline = tables.is_empty().then(|| outline::of(bytes));
    Profile { payload, format, tables, envelope, counts, outline }
}

impl Profile {
    /// The table that the result is about.
    pub fn main(&self) -> Option<&Table> {
        self.tables.first()
    }

    /// What the tables are called, behind the dataset's own name: the main one nothing.
    pub fn table_names(&self) -> Vec<String> {
        let others = self.tables.iter().skip(1).map(|table| table.path.as_str());
        [String::new()].into_iter().chain(table_names::of(others)).collect()
    }

    /// How many records that table has.
    pub fn records(&self) -> Option<u64> {
        self.main().map(|table| table.records)
    }

    /// How many values do not count, since their object has the name already.
    pub fn repeated(&self) -> u64 {
        self.tables.iter().map(|table| table.repeated).sum()
    }

    /// The fields' names and types.
    pub fn schema(&self) -> facts::Schema {
        let fields = self.main().map(Table::schema).unwrap_or_default();
        facts::Schema { fields, ..facts::Schema::default() }
    }

    /// The facts in short, for the metadata.
    pub fn summary(&self) -> Option<facts::Summary> {
        match (self.main(), &self.outline) {
            (Some(table), _) => Some(facts::Summary::Records(facts::Records {
                total_records: table.records,
                sample_records: Some(table.samples.len()),
                distinct_values: Some(table.distinct_values()),
                ..facts::Records::default()
            })),
            (None, Some(outline)) => Some(facts::Summary::Text(outline.facts())),
            (None, None) => None,
        }
    }

    /// Everything else that is known, for the metadata.
    pub fn facts(&self) -> Facts {
        let format = Some(self.format.name().to_owned());
        let tables = self.tables.iter().zip(self.table_names());
        let tables = tables.map(|(table, name)| facts::Table {
            name: Some(name),
            format: format.clone(),
            ..table.facts()
        });
        let envelope = self.envelope.iter().map(|(path, value)| {
            let shown = serde_json::from_str(value).unwrap_or_else(|_| value.clone().into());
            (path.clone(), shown)
        });
        let left_out = self.counts.tables.saturating_sub(self.tables.len());
        Facts {
            payload: Some(self.payload),
            tables: Some(tables.collect()),
            other_tables: (left_out > 0).then_some(left_out),
            envelope: Some(envelope.collect()),
            samples: Some(self.main().map(|table| table.samples.clone()).unwrap_or_default()),
            format,
            ..Facts::default()
        }
    }
}
