//! What is known of a field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kind::Kind;

/// A field of records, or what lies in one: the items of lists, the keys and values of maps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Field {
    /// What it is called in what the records lie in, if it comes from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried: Option<String>,
    /// What SQL calls it, if that is not its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// How many different values there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// They are counted, not estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_is_exact: Option<bool>,
    /// How many elements there are in all lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// The members of its objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// What lies in its lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Field>>,
    /// The keys of its maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Box<Field>>,
    /// How many values there are of each type, where they differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, u64>,
    /// How many lists there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lists: Option<u64>,
    /// What SQL calls its times as they are written, without the offset from UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_column: Option<String>,
    /// How long the longest value is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<usize>,
    /// How long the longest list is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_list: Option<u64>,
    /// The greatest value, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// The least value, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// What the data call it; the items of lists have no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In how many records it is null or missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// How many maps there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<u64>,
    /// How long the shortest list is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest_list: Option<u64>,
    /// The most frequent values and how often they stand there, if there are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<(String, u64)>,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: Type,
    /// The values of its maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Box<Field>>,
    /// What this version does not know.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// What the values of a field are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Type {
    /// One that a result was found to have.
    Known(Kind),
    /// A type of SQL, of the result of a query, or one that this version does not know.
    Other(String),
}

impl Field {
    /// A field of which no more is known than its name and type.
    pub fn new(name: String, kind: impl Into<Type>) -> Self {
        Self { name: Some(name), kind: kind.into(), ..Self::default() }
    }

    /// What the data call it.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// What SQL calls it.
    pub fn column(&self) -> &str {
        self.column.as_deref().unwrap_or_else(|| self.name())
    }
}

impl Type {
    /// The type of this name.
    pub fn named(name: &str) -> Self {
        Kind::named(name).map_or_else(|| Self::Other(name.to_owned()), Self::Known)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(kind) => kind.name(),
            Self::Other(name) => name,
        }
    }
}

impl From<Kind> for Type {
    fn from(kind: Kind) -> Self {
        Self::Known(kind)
    }
}

impl Default for Type {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl From<String> for Type {
    fn from(name: String) -> Self {
        Self::named(&name)
    }
}

impl From<Type> for String {
    fn from(kind: Type) -> Self {
        kind.name().to_owned()
    }
}
