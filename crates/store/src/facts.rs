//! What is known of a dataset, as its metadata file tells it.
//!
//! Whoever captures a result says it in these types, and whoever looks at what was kept reads it from
//! them: nobody else knows what the keys are called. Keys that an older version has not written are
//! absent, and those that a later one has added are kept as they stand (`others`). Members are in the
//! order of the alphabet, which is how the first versions wrote them.

mod field;
mod kind;
mod template;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::Principal;

pub use self::{
    field::{Field, Type},
    kind::Kind,
    template::{Encoding, Hole, Template},
};

/// What [`Facts::format`] says of a dataset whose payload is a file of rows.
const PARQUET: &str = "parquet";

/// What is known of a dataset, besides what every dataset has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// What the tool was called with, as far as it is kept.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "even_null")]
    pub arguments: Option<Value>,
    /// The hash of the whole arguments.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "even_null")]
    pub arguments_hash: Option<Hash>,
    /// Which edition of it this is, if it is one that grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<u64>,
    /// Values beside the tables, by where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<Map<String, Value>>,
    /// The payloads that are files of a kind of their own, and no text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// The form of the payload that is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The datasets that the arguments of its call were made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_from: Vec<String>,
    /// How many tables are there that are not described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_tables: Option<usize>,
    /// Which payload is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<usize>,
    /// For whom it was kept.
    #[serde(skip_serializing_if = "Principal::is_local")]
    pub principal: Principal,
    /// The project for which it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The query that it is the result of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The dataset that the query calls `dataset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_dataset: Option<String>,
    /// Some records of the first table, as they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<String>>,
    /// The session in which it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What stood in its place: the text that the model got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_text: Option<String>,
    /// How many tokens its summary has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_tokens: Option<u64>,
    /// Its tables, the one that it is about first; absent if nobody has looked for tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<Table>>,
    /// What is left of the result without its payloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// How many tokens the payloads have, about; absent if it is no result that has passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// A payload that is a file of a kind of its own: an image, a sound, a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Which payload, from 0.
    pub block: usize,
    /// What can be said of it in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    pub media_type: String,
    /// A name for it, which says what it is by how it ends.
    pub name: String,
}

/// The hash of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Hash {
    /// In hexadecimal.
    Told(String),
    /// Something in the arguments is masked: with the hash a guess could be checked.
    Withheld,
}

/// The names and types of the fields of the first table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The fields; of each no more than its name and type is told.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The facts in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Summary {
    /// Of records.
    Records(Records),
    /// Of a text without records.
    Text(Text),
    /// What this version does not know.
    Other(Value),
}

/// The facts of records in short.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Records {
    /// How often the frequent values stand in the fields that have few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_values: Option<BTreeMap<String, BTreeMap<String, u64>>>,
    /// How many samples there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_records: Option<usize>,
    /// How many records there are.
    pub total_records: u64,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The outline of a text without records.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// How it begins.
    #[serde(default)]
    pub first_lines: Vec<String>,
    /// How many headings there are in all.
    #[serde(default)]
    pub heading_count: u64,
    /// The first headings.
    #[serde(default)]
    pub headings: Vec<Heading>,
    /// How it ends.
    #[serde(default)]
    pub last_lines: Vec<String>,
    /// How many lines it has.
    pub lines: u64,
    /// How long the longest line is.
    #[serde(default)]
    pub longest_line: usize,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// A heading of a text, or a declaration in source code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// The number of its line.
    pub line: u64,
    /// What it says.
    pub text: String,
}

/// A table in a payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Table {
    /// Its fields.
    pub fields: Vec<Field>,
    /// The form of the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Where the names of the columns are, if not with the records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// How the records are written: in a list, in a map …
    pub kind: String,
    /// What it is called in SQL, behind the dataset's own name; the first one is called nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many records the fields' facts are of, if not of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<u64>,
    /// How many fields are not described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_fields: Option<usize>,
    /// Where the records are, as a JSON path.
    pub path: String,
    /// How many records it has.
    pub records: u64,
    /// How many values do not count, since their object has the name already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    /// How much stands between the records that is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// The path of what the records hold and is a table of its own instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// Where it lies, if that is in the records of another table.
    #[serde(flatten)]
    pub within: Option<Within>,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Where a table lies in the records of another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Within {
    /// What the columns of the other that come along are called here.
    #[serde(default)]
    pub carried: Vec<String>,
    /// Where each of these is in the other: a column, and the members on the way.
    #[serde(default)]
    pub carried_from: Vec<Vec<String>>,
    /// Its column in the other, and the members on the way.
    #[serde(default)]
    pub column: Vec<String>,
    /// The number of the other's record comes along, because nothing else tells it apart.
    #[serde(default)]
    pub has_number: bool,
    /// What it is made of.
    #[serde(default)]
    pub of: Form,
    /// The other's place among the tables.
    pub parent: usize,
    /// Of maps: their values are no objects with members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_is_plain: Option<bool>,
}

/// What a table in the records of another is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The elements of lists.
    #[default]
    List,
    /// The entries of maps.
    Map,
}

impl Facts {
    /// What is known of the result of a query, whose payload is a file of rows.
    pub fn of_query(sql: String, dataset: Option<String>) -> Self {
        let format = Some(PARQUET.to_owned());
        Self { format, query: Some(sql), query_dataset: dataset, ..Self::default() }
    }

    /// True if the payload is a file of rows.
    pub fn are_of_rows(&self) -> bool {
        self.format.as_deref() == Some(PARQUET)
    }

    /// The tables, if there are any.
    pub fn tables(&self) -> &[Table] {
        self.tables.as_deref().unwrap_or_default()
    }
}

/// Reads a value that may be null, which is not the same as none.
fn even_null<'de, T, D>(value: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(value).map(Some)
}

#[cfg(test)]
mod tests;
