//! The facts of one field.

use std::{borrow::Cow, collections::HashMap};

use foldhash::fast::FixedState;
use forebay_wire::{
    scan,
    walk::{self, Type},
};
use serde_json::{Value, json};

use super::distinct::{Count, Distinct, hash};

/// More different values than this are not listed one by one.
const MAX_LISTED: usize = 64;
/// A longer value is not listed at all.
const MAX_LISTED_BYTES: usize = 64;
const TOP: usize = 5;

/// A field of the records.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// In how many records it has a value.
    pub(crate) present: u64,
    /// In how many it is null or missing.
    pub(crate) nulls: u64,
    pub(crate) distinct: Count,
    pub(crate) range: Option<(String, String)>,
    /// The most frequent values, if there are few.
    pub(crate) top: Vec<(String, u64)>,
    /// The length of the longest value as written.
    pub(crate) longest: usize,
}

/// What a field's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Float,
    Boolean,
    String,
    Timestamp,
    Date,
    Uuid,
    Url,
    List,
    Struct,
    Mixed,
    Null,
}

/// A value as it is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Raw<'a> {
    Value(&'a [u8]),
    /// A member's key, without quotes.
    Key(&'a [u8]),
}

/// Collects the facts of a field, value by value.
#[derive(Debug)]
pub(super) struct Observer {
    name: Vec<u8>,
    last_record: u64,
    present: u64,
    kind: Option<Kind>,
    distinct: Distinct,
    integers: Option<(i64, i64)>,
    floats: Option<(f64, f64)>,
    texts: Option<(Vec<u8>, Vec<u8>)>,
    listed: Option<HashMap<Vec<u8>, u64, FixedState>>,
    longest: usize,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Timestamp => "timestamp",
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::Url => "url",
            Self::List => "list",
            Self::Struct => "struct",
            Self::Mixed => "mixed",
            Self::Null => "null",
        }
    }

    /// The kind that covers both.
    fn or(self, other: Self) -> Self {
        use Kind::{Date, Float, Integer, Mixed, String, Timestamp, Url, Uuid};
        let is_text = |kind| matches!(kind, String | Timestamp | Date | Uuid | Url);
        match (self, other) {
            (a, b) if a == b => a,
            (Integer, Float) | (Float, Integer) => Float,
            (a, b) if is_text(a) && is_text(b) => String,
            _ => Mixed,
        }
    }

    fn of_text(text: &[u8]) -> Self {
        let shape = |pattern: &[u8]| {
            text.len() >= pattern.len()
                && pattern.iter().zip(text).all(|(want, byte)| match want {
                    b'9' => byte.is_ascii_digit(),
                    b'x' => byte.is_ascii_hexdigit(),
                    b'T' => matches!(byte, b'T' | b't' | b' '),
                    _ => want == byte,
                })
        };
        if shape(b"9999-99-99") {
            return match text.len() {
                10 => Self::Date,
                16.. if shape(b"9999-99-99T99:99") => Self::Timestamp,
                _ => Self::String,
            };
        }
        if text.len() == 36 && shape(b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
            return Self::Uuid;
        }
        if text.starts_with(b"https://") || text.starts_with(b"http://") {
            return Self::Url;
        }
        Self::String
    }
}

impl Observer {
    pub(super) fn new(name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            last_record: 0,
            present: 0,
            kind: None,
            distinct: Distinct::default(),
            integers: None,
            floats: None,
            texts: None,
            listed: Some(HashMap::default()),
            longest: 0,
        }
    }

    pub(super) fn is_called(&self, name: &[u8]) -> bool {
        self.name == name
    }

    /// Takes the value of this field in a record into account. Of several, the first counts.
    pub(super) fn see(&mut self, record: u64, raw: Raw<'_>) {
        if self.last_record == record {
            return;
        }
        self.last_record = record;
        let (kind, value) = match raw {
            Raw::Key(key) => (Kind::of_text(key), key),
            Raw::Value(json) => match walk::type_of(json) {
                Some(Type::Null) | None => return,
                Some(Type::String) => {
                    let text = &json[1..json.len() - 1];
                    (Kind::of_text(text), text)
                }
                Some(Type::Number) => (self.number(json), json),
                Some(Type::Boolean) => (Kind::Boolean, json),
                Some(Type::Array) => (Kind::List, json),
                Some(Type::Object) => (Kind::Struct, json),
            },
        };
        self.present += 1;
        self.kind = Some(self.kind.map_or(kind, |known| known.or(kind)));
        self.longest = self.longest.max(value.len());
        self.distinct.add(hash(value));
        if matches!(kind, Kind::String | Kind::Timestamp | Kind::Date | Kind::Uuid | Kind::Url) {
            self.text(value);
        }
        self.list(value);
    }

    fn number(&mut self, json: &[u8]) -> Kind {
        let text = std::str::from_utf8(json).unwrap_or_default();
        if let Ok(integer) = text.parse::<i64>() {
            let (low, high) = self.integers.unwrap_or((integer, integer));
            self.integers = Some((low.min(integer), high.max(integer)));
            return Kind::Integer;
        }
        let float: f64 = text.parse().unwrap_or_default();
        let (low, high) = self.floats.unwrap_or((float, float));
        self.floats = Some((low.min(float), high.max(float)));
        Kind::Float
    }

    fn text(&mut self, value: &[u8]) {
        match &mut self.texts {
            None => self.texts = Some((value.to_vec(), value.to_vec())),
            Some((low, high)) => {
                if value < low.as_slice() {
                    value.clone_into(low);
                } else if value > high.as_slice() {
                    value.clone_into(high);
                }
            }
        }
    }

    fn list(&mut self, value: &[u8]) {
        let Some(listed) = &mut self.listed else { return };
        if let Some(count) = listed.get_mut(value) {
            *count += 1;
        } else if listed.len() < MAX_LISTED && value.len() <= MAX_LISTED_BYTES {
            listed.insert(value.to_vec(), 1);
        } else {
            self.listed = None;
        }
    }

    pub(super) fn finish(self, records: u64) -> Field {
        let kind = self.kind.unwrap_or(Kind::Null);
        let mut top: Vec<(String, u64)> = match self.listed {
            Some(listed) if !matches!(kind, Kind::List | Kind::Struct) => {
                listed.into_iter().map(|(value, count)| (plain(&value), count)).collect()
            }
            _ => Vec::new(),
        };
        // The same order in every run.
        top.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        let is_telling =
            top.first().is_some_and(|(_, count)| *count > 1) && top.len() <= MAX_LISTED;
        top.truncate(if is_telling { TOP } else { 0 });
        let range = match kind {
            Kind::Integer => self.integers.map(|(low, high)| (low.to_string(), high.to_string())),
            Kind::Float => range_of_numbers(self.integers, self.floats),
            Kind::Timestamp | Kind::Date => {
                self.texts.map(|(low, high)| (plain(&low), plain(&high)))
            }
            Kind::Boolean
            | Kind::String
            | Kind::Uuid
            | Kind::Url
            | Kind::List
            | Kind::Struct
            | Kind::Mixed
            | Kind::Null => None,
        };
        Field {
            name: plain(&self.name),
            kind,
            present: self.present,
            nulls: records - self.present,
            distinct: self.distinct.count(),
            range,
            top,
            longest: self.longest,
        }
    }
}

impl Field {
    /// True if no two records have the same value, and each has one.
    pub(crate) fn is_unique(&self) -> bool {
        self.nulls == 0 && self.present > 1 && self.distinct == Count::Exactly(self.present)
    }

    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> Value {
        let (count, is_exact) = match self.distinct {
            Count::Exactly(count) => (count, true),
            Count::About(count) => (count, false),
        };
        let mut facts = json!({
            "type": self.kind.name(), "nulls": self.nulls,
            "distinct": count, "distinctIsExact": is_exact, "longest": self.longest,
        });
        if let Some((low, high)) = &self.range {
            facts["min"] = low.as_str().into();
            facts["max"] = high.as_str().into();
        }
        facts
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is shown beside floats")]
fn range_of_numbers(
    integers: Option<(i64, i64)>,
    floats: Option<(f64, f64)>,
) -> Option<(String, String)> {
    let (mut low, mut high) = floats?;
    if let Some((least, most)) = integers {
        low = low.min(least as f64);
        high = high.max(most as f64);
    }
    Some((low.to_string(), high.to_string()))
}

/// The text of a string as it is written in JSON, without its quotes.
fn plain(written: &[u8]) -> String {
    let quoted = [b"\"", written, b"\""].concat();
    let decoded = scan::string(&quoted).map(Cow::into_owned);
    decoded.unwrap_or_else(|| String::from_utf8_lossy(written).into_owned())
}
