//! The facts of one field.

use std::borrow::Cow;

use forebay_wire::{
    scan,
    walk::{self, Number, Type},
};
use memchr::memchr;
use serde_json::{Value, json};

use super::{
    distinct::{Allowance, Count, Distinct, hash},
    kind::Kind,
    range,
};

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
    /// The length of the longest value: a text's own, anything else's as it is written.
    pub(crate) longest: usize,
}

/// A value as it is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    /// JSON as it is written.
    Json(&'a [u8]),
    /// A number in JSON.
    Number(Number<'a>),
    /// A text, such as the key of a member.
    Text(&'a [u8]),
    /// A text that stands for whatever it looks like, such as a cell of a CSV file.
    Cell(&'a [u8]),
}

/// Collects the facts of a field, value by value.
#[derive(Debug)]
pub(super) struct Observer {
    name: String,
    last_record: u64,
    present: u64,
    distinct: Distinct,
    kind: Option<Kind>,
    integers: Option<(i128, i128)>,
    /// The integers so far came in ascending order, so no two are the same.
    is_ascending: bool,
    floats: Option<(f64, f64)>,
    texts: Option<(Vec<u8>, Vec<u8>)>,
    /// The zone of the first time, and whether another has a different one.
    zone: Option<Vec<u8>>,
    has_zones: bool,
    longest: usize,
    /// Cells such as `NA`, and how often each occurs.
    markers: Vec<(Vec<u8>, u64)>,
    detects_types: bool,
}

impl Observer {
    pub(super) fn new(name: String, detects_types: bool) -> Self {
        Self {
            name,
            last_record: 0,
            present: 0,
            distinct: Distinct::default(),
            kind: None,
            integers: None,
            is_ascending: true,
            floats: None,
            texts: None,
            zone: None,
            has_zones: false,
            longest: 0,
            markers: Vec::new(),
            detects_types,
        }
    }

    pub(super) fn is_called(&self, name: &[u8]) -> bool {
        self.name.as_bytes() == name
    }

    pub(super) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes what was seen in later records into account. Not for cells.
    pub(super) fn merge(&mut self, later: Self, allowance: &mut Allowance) {
        self.present += later.present;
        self.longest = self.longest.max(later.longest);
        self.kind = match (self.kind, later.kind) {
            (Some(ours), Some(theirs)) => Some(ours.or(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.is_ascending &= later.is_ascending
            && match (self.integers, later.integers) {
                (Some((_, high)), Some((low, _))) => high < low,
                _ => true,
            };
        self.distinct.merge(later.distinct, allowance);
        self.has_zones |= later.has_zones
            || matches!((&self.zone, &later.zone), (Some(ours), Some(theirs)) if ours != theirs);
        self.zone = self.zone.take().or(later.zone);
        for integer in later.integers.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.integers.unwrap_or((integer, integer));
            self.integers = Some((low.min(integer), high.max(integer)));
        }
        for float in later.floats.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.floats.unwrap_or((float, float));
            self.floats = Some((low.min(float), high.max(float)));
        }
        for text in later.texts.into_iter().flat_map(|(low, high)| [low, high]) {
            self.extend_texts(&text);
        }
    }

    /// Takes the value of this field in a record into account. Of several, the first counts.
    #[inline]
    pub(super) fn see(&mut self, record: u64, raw: Raw<'_>, allowance: &mut Allowance) {
        if self.last_record == record {
            return;
        }
        self.last_record = record;
        match raw {
            Raw::Json(json) => match json.first() {
                Some(b'"') => match text_of(json) {
                    Cow::Borrowed(text) => self.text(text, allowance),
                    Cow::Owned(text) => self.text(&text, allowance),
                },
                Some(b'n') | None => {}
                Some(_) => self.json(json, allowance),
            },
            Raw::Text(text) => self.text(text, allowance),
            Raw::Number(number) => self.number(number, allowance),
            Raw::Cell([]) => {}
            Raw::Cell(text) if is_marker(text) => self.mark(text),
            Raw::Cell(text) => self.cell(text, allowance),
        }
    }

    #[inline]
    fn text(&mut self, text: &[u8], allowance: &mut Allowance) {
        if self.is_new(hash(text, true), text, allowance) {
            let kind = if self.detects_types { Kind::of_text(text) } else { Kind::String };
            self.learn(kind, text, Kind::or);
        }
    }

    fn cell(&mut self, cell: &[u8], allowance: &mut Allowance) {
        if self.is_new(hash(cell, true), cell, allowance) {
            let trimmed = cell.trim_ascii();
            let kind = if self.detects_types { Kind::of_cell(trimmed) } else { Kind::String };
            // White space belongs to a text, not to a number.
            let text = if kind.is_text() { cell } else { trimmed };
            // Unlike in JSON nothing says that a cell is more than text.
            self.learn(kind, text, Kind::or_text);
            if !kind.is_text() {
                self.extend_texts(text);
            }
        }
    }

    /// Takes note of a cell that says that there is no value, unless the others turn out to be texts.
    fn mark(&mut self, text: &[u8]) {
        match self.markers.iter_mut().find(|(marker, _)| marker == text) {
            Some((_, count)) => *count += 1,
            None => self.markers.push((text.to_vec(), 1)),
        }
    }

    fn json(&mut self, json: &[u8], allowance: &mut Allowance) {
        let kind = match walk::type_of(json) {
            Some(Type::Number) => {
                self.number(walk::number(json).0, allowance);
                return;
            }
            Some(Type::Boolean) => Kind::Boolean,
            Some(Type::Array) => Kind::List,
            _ => Kind::Struct,
        };
        if self.is_new(hash(json, false), json, allowance) {
            self.learn(kind, json, Kind::or);
        }
    }

    fn number(&mut self, number: Number<'_>, allowance: &mut Allowance) {
        let Number { json, is_integer, has_exponent } = number;
        let is_plain = if is_integer { json != b"-0" } else { json.last() != Some(&b'0') };
        let value = if is_plain && !has_exponent { Cow::Borrowed(json) } else { canonical(json) };
        let is_new = self.is_new(hash(&value, false), &value, allowance);
        if is_new {
            self.learn(if is_integer { Kind::Integer } else { Kind::Float }, &value, Kind::or);
        } else if !is_integer && self.kind == Some(Kind::Integer) {
            // 1.0 after 1: nothing new but that it is written as a float.
            self.kind = Some(Kind::Float);
        }
        self.longest = self.longest.max(json.len());
    }

    #[inline]
    fn is_new(&mut self, hash: u64, value: &[u8], allowance: &mut Allowance) -> bool {
        self.present += 1;
        let is_new = self.distinct.add(hash, value, allowance);
        self.is_ascending &= is_new;
        is_new
    }

    /// What a value tells that has not been seen before.
    fn learn(&mut self, kind: Kind, value: &[u8], cover: fn(Kind, Kind) -> Kind) {
        self.kind = Some(self.kind.map_or(kind, |known| cover(known, kind)));
        self.longest = self.longest.max(value.len());
        match kind {
            Kind::Integer => {
                match std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) {
                    Some(integer) => self.extend_integers(integer),
                    // Longer than 64 bits.
                    None => self.extend_floats(value),
                }
            }
            Kind::Float => self.extend_floats(value),
            kind if kind.is_text() => self.extend_texts(value),
            _ => {}
        }
        if kind == Kind::Timestamp && !self.has_zones {
            let zone = range::zone(value);
            match &self.zone {
                Some(known) => self.has_zones = known != zone,
                None => self.zone = Some(zone.to_vec()),
            }
        }
    }

    fn extend_integers(&mut self, integer: i128) {
        let (low, high) = self.integers.unwrap_or((integer, integer));
        self.is_ascending &= self.integers.is_none() || integer > high;
        self.integers = Some((low.min(integer), high.max(integer)));
    }

    fn extend_floats(&mut self, value: &[u8]) {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let float: f64 = text.parse().unwrap_or_default();
        let (low, high) = self.floats.unwrap_or((float, float));
        self.floats = Some((low.min(float), high.max(float)));
    }

    fn extend_texts(&mut self, value: &[u8]) {
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

    pub(super) fn finish(mut self, records: u64, allowance: &mut Allowance) -> Field {
        if self.kind.is_none_or(Kind::is_text) {
            // Among texts it is one of them.
            for (marker, count) in std::mem::take(&mut self.markers) {
                for _ in 0..count {
                    self.cell(&marker, allowance);
                }
            }
        }
        let kind = self.kind.unwrap_or(Kind::Null);
        let distinct = match self.distinct.count() {
            Count::About(_) if self.is_ascending && kind == Kind::Integer => {
                Count::Exactly(self.present)
            }
            // No more than there are values, or integers between the least and the greatest.
            Count::About(count) => {
                let between = match (kind, self.integers) {
                    (Kind::Integer, Some((low, high))) => {
                        high.checked_sub(low).and_then(|span| u64::try_from(span + 1).ok())
                    }
                    _ => None,
                };
                Count::About(count.min(self.present).min(between.unwrap_or(u64::MAX)))
            }
            Count::Exactly(count) => Count::Exactly(count),
        };
        let range = match kind {
            Kind::Integer | Kind::Float => range::of_numbers(self.integers, self.floats),
            // In different zones the order of the texts is not that of the times.
            Kind::Timestamp if self.has_zones => None,
            Kind::String | Kind::Timestamp | Kind::Date => {
                self.texts.as_ref().and_then(range::of_texts)
            }
            _ => None,
        };
        Field {
            kind,
            present: self.present,
            nulls: records - self.present,
            distinct,
            range,
            top: if matches!(kind, Kind::List | Kind::Struct) { Vec::new() } else { self.top() },
            longest: self.longest,
            name: self.name,
        }
    }

    fn top(&self) -> Vec<(String, u64)> {
        let Some(listed) = self.distinct.listed() else { return Vec::new() };
        let mut top: Vec<(String, u64)> =
            listed.into_iter().map(|(value, count)| (lossy(value), count)).collect();
        // The same order in every run.
        top.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        // If each occurs once, none is more frequent than another.
        let is_telling = top.first().is_some_and(|(_, count)| *count > 1);
        top.truncate(if is_telling { TOP } else { 0 });
        top
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
            "name": self.name, "type": self.kind.name(), "nulls": self.nulls,
            "distinct": count, "distinctIsExact": is_exact, "longest": self.longest,
        });
        if let Some((low, high)) = &self.range {
            facts["min"] = low.as_str().into();
            facts["max"] = high.as_str().into();
        }
        if !self.top.is_empty() {
            facts["top"] = json!(self.top);
        }
        facts
    }
}

/// True if a cell may say that there is no value.
pub(crate) fn is_marker(text: &[u8]) -> bool {
    matches!(text, b"NA" | b"N/A" | b"NULL" | b"null" | b"NaN" | b"nan" | b"None")
}

/// The text that a JSON string stands for.
pub(crate) fn text_of(json: &[u8]) -> Cow<'_, [u8]> {
    let written = &json[1..json.len().saturating_sub(1).max(1)];
    if memchr(b'\\', written).is_none() {
        return Cow::Borrowed(written);
    }
    match scan::string(json) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        // Half a surrogate pair: no text can hold it.
        None => Cow::Borrowed(written),
    }
}

/// A number such that equal ones read the same: 1.0 and 1e0 are 1.
fn canonical(json: &[u8]) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(json).unwrap_or_default();
    match text.parse::<f64>() {
        // `Display` writes no exponent and no needless zero.
        Ok(value) => Cow::Owned((if value == 0.0 { 0.0 } else { value }).to_string().into_bytes()),
        Err(_) => Cow::Borrowed(json),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
