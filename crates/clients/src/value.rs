//! What a client's file says, apart from how it is written.

use serde::{Deserialize, Serialize};

/// A value of JSON, TOML or YAML. What has members keeps their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Value {
    Text(String),
    /// A number, a truth value, a date or `null`, as it is written.
    Plain(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub(crate) fn texts<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Plain(_) | Self::List(_) | Self::Table(_) => None,
        }
    }

    /// The members, if it can have some.
    pub(crate) fn as_table(&self) -> Option<&[(String, Value)]> {
        match self {
            Self::Table(members) => Some(members),
            Self::Text(_) | Self::Plain(_) | Self::List(_) => None,
        }
    }

    /// All items as texts; `None` if it is no list, or one of them is something else.
    pub(crate) fn as_texts(&self) -> Option<Vec<&str>> {
        match self {
            Self::List(items) => items.iter().map(Self::as_text).collect(),
            Self::Text(_) | Self::Plain(_) | Self::Table(_) => None,
        }
    }

    /// The member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.as_table()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The table without what is at `place`, and without the tables that are empty then.
    pub(crate) fn without(&self, place: &[String]) -> Self {
        let (Self::Table(members), Some((first, rest))) = (self, place.split_first()) else {
            return self.clone();
        };
        let kept = |(key, value): &(String, Value)| {
            let value = match (key == first, rest) {
                (true, []) => return None,
                (true, rest) => value.without(rest),
                (false, _) => return Some((key.clone(), value.clone())),
            };
            (value != Self::Table(Vec::new())).then(|| (key.clone(), value))
        };
        Self::Table(members.iter().filter_map(kept).collect())
    }

    /// True for `null`, which is as good as nothing.
    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Plain("null".to_owned())
    }

    /// True if both say the same, in whatever order.
    pub(crate) fn says_the_same_as(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Table(ours), Self::Table(theirs)) => {
                let is_there = |(key, value): &(String, Value)| {
                    other.get(key).is_some_and(|it| it.says_the_same_as(value))
                };
                ours.len() == theirs.len() && ours.iter().all(is_there)
            }
            (Self::List(ours), Self::List(theirs)) => {
                let mut pairs = ours.iter().zip(theirs);
                ours.len() == theirs.len() && pairs.all(|(a, b)| a.says_the_same_as(b))
            }
            (Self::Text(_) | Self::Plain(_) | Self::Table(_) | Self::List(_), _) => self == other,
        }
    }
}

/// True if both say the same, or there is neither.
pub(crate) fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.says_the_same_as(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
