//! Collects the facts of a field, value by value.

use std::{borrow::Cow, collections::BTreeMap, mem};

use forebay_wire::walk::{self, Number};

use super::{
    distinct::{Allowance, Count, Distinct, hash},
    field::{Field, Raw, is_marker},
    inside::Inside,
    kind::{self, Kind},
    kinds::Kinds,
    long_text, range,
    reading::Reading,
    spellings::Spellings,
    times::Times,
};
use crate::strings::text_of;

const TOP: usize = 5;
/// Integers up to here, and down to its negative, are exact as floats.
const MAX_EXACT: i128 = 1 << 53;
/// Decimals this short, of fifteen digits, are different numbers if they are written differently.
const MAX_EXACT_BYTES: usize = 16;
/// A longer integer is a float in SQL.
const MAX_INTEGER_BYTES: usize = 38;

/// A field in the making.
#[derive(Debug)]
pub(super) struct Collector {
    name: String,
    last_record: u64,
    /// How often it occurs, null or not.
    pub(super) occurrences: u64,
    kinds: Kinds,
    distinct: Distinct,
    /// What covers all values that are neither objects nor lists.
    plain: Option<Kind>,
    integers: Option<(i128, i128)>,
    /// The integers so far came in ascending order, so no two are the same.
    is_ascending: bool,
    floats: Option<(f64, f64)>,
    texts: Option<(Vec<u8>, Vec<u8>)>,
    times: Times,
    /// How the numbers of cells are written.
    spellings: Spellings,
    /// A cell may be the same as another in SQL, however that one is written, such as 1e3, 007 or TRUE.
    has_oddities: bool,
    longest: usize,
    /// Cells such as `NA`, and how often each occurs.
    markers: Vec<(Vec<u8>, u64)>,
    inside: Inside,
}

impl Collector {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            last_record: 0,
            occurrences: 0,
            kinds: Kinds::default(),
            distinct: Distinct::default(),
            plain: None,
            integers: None,
            is_ascending: true,
            floats: None,
            texts: None,
            times: Times::default(),
            spellings: Spellings::default(),
            has_oddities: false,
            longest: 0,
            markers: Vec::new(),
            inside: Inside::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What its values are, roughly; `None` if there are none.
    pub(super) fn broad_kind(&self) -> Option<Kind> {
        let kind = self.kind(Some(Kind::Struct));
        (kind != Kind::Null).then_some(kind)
    }

    pub(super) fn is_called(&self, name: &[u8]) -> bool {
        self.name.as_bytes() == name
    }

    /// True if a record is the last in which it occurs.
    pub(super) fn is_in(&self, record: u64) -> bool {
        self.last_record == record
    }

    /// Takes what was seen in later records into account. Not for cells.
    pub(super) fn merge(&mut self, later: Self, reading: &mut Reading) {
        self.occurrences += later.occurrences;
        self.kinds.merge(later.kinds);
        self.longest = self.longest.max(later.longest);
        self.plain = match (self.plain, later.plain) {
            (Some(ours), Some(theirs)) => Some(ours.or(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.is_ascending &= later.is_ascending
            && match (self.integers, later.integers) {
                (Some((_, high)), Some((low, _))) => high < low,
                _ => true,
            };
        self.distinct.merge(later.distinct, &mut reading.allowance);
        self.times.merge(later.times);
        self.spellings.merge(later.spellings);
        self.has_oddities |= later.has_oddities;
        for integer in later.integers.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.integers.unwrap_or((integer, integer));
            self.integers = Some((low.min(integer), high.max(integer)));
        }
        for float in later.floats.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.floats.unwrap_or((float, float));
            self.floats = Some((low.min(float), high.max(float)));
        }
        for text in later.texts.into_iter().flat_map(|(low, high)| [low, high]) {
            range::extend(&mut self.texts, &text);
        }
        self.inside.merge(later.inside, reading);
    }

    /// Takes the value of this field in a record into account.
    pub(super) fn see(&mut self, record: u64, raw: Raw<'_>, reading: &mut Reading) {
        match raw {
            Raw::Json(json) => drop(self.value(record, json, reading)),
            Raw::Text(text) if self.is_first(record, reading) => self.text(text, reading),
            Raw::Cell(cell) if self.is_first(record, reading) => self.cell(cell, reading),
            Raw::Text(_) | Raw::Cell(_) => {}
        }
    }

    /// Takes the JSON value at the front of `json` into account, and returns what follows it; `None`
    /// if it has no end.
    #[inline]
    pub(super) fn value<'j>(
        &mut self,
        record: u64,
        json: &'j [u8],
        reading: &mut Reading,
    ) -> Option<&'j [u8]> {
        let is_first = self.is_first(record, reading);
        match json.first()? {
            b'"' => {
                let (text, is_plain, after) = walk::text(json)?;
                let written = &json[..text.len() + 2];
                reading.check_unless(is_plain, written);
                if is_first && !self.take_long_text(text, is_plain, reading) {
                    let text = if is_plain { Cow::Borrowed(text) } else { text_of(written) };
                    if reading.rules.has_cells {
                        self.cell(&text, reading);
                    } else {
                        self.text(&text, reading);
                    }
                }
                Some(after)
            }
            b'0'..=b'9' | b'-' => {
                let (number, after) = walk::number(json);
                reading.is_valid &= number.is_valid();
                if is_first {
                    self.number(number, reading);
                }
                Some(after)
            }
            b'{' if is_first => self.container(Kind::Struct, json, reading),
            b'[' if is_first => self.container(Kind::List, json, reading),
            first => {
                let (value, after) = reading.skip(json)?;
                if is_first && matches!(first, b't' | b'f') {
                    self.boolean(value, reading);
                }
                Some(after)
            }
        }
    }

    /// True if a record has no value for this field yet. Of several the first counts.
    #[inline]
    fn is_first(&mut self, record: u64, reading: &mut Reading) -> bool {
        let is_first = mem::replace(&mut self.last_record, record) != record;
        self.occurrences += u64::from(is_first);
        reading.repeated += u64::from(!is_first);
        is_first
    }

    fn container<'j>(
        &mut self,
        kind: Kind,
        json: &'j [u8],
        reading: &mut Reading,
    ) -> Option<&'j [u8]> {
        let rest = if kind == Kind::Struct {
            self.kinds.structs += 1;
            self.inside.object(json, reading)
        } else {
            self.kinds.lists += 1;
            self.inside.list(json, reading)
        }?;
        self.longest = self.longest.max(json.len() - rest.len());
        Some(rest)
    }

    /// Takes a text into account that stands for itself.
    #[inline]
    pub(super) fn text(&mut self, text: &[u8], reading: &mut Reading) {
        self.kinds.texts += 1;
        if self.is_new(hash(text, true), text, &mut reading.allowance) {
            self.longest = self.longest.max(text.len());
            let detects = reading.rules.detects_types;
            self.learn(if detects { kind::of_text(text) } else { Kind::String }, text, Kind::or);
        }
    }

    /// Takes a text into account that is too long to be decoded whole; `false` if it is not.
    fn take_long_text(&mut self, written: &[u8], is_plain: bool, reading: &mut Reading) -> bool {
        if is_plain || written.len() < long_text::MIN_BYTES {
            return false;
        }
        let Some(text) = long_text::read(written) else { return false };
        self.kinds.texts += 1;
        if self.is_new(text.hash, written, &mut reading.allowance) {
            self.longest = self.longest.max(text.bytes);
            let cover = if reading.rules.has_cells { Kind::or_text } else { Kind::or };
            self.learn(Kind::String, &text.head, cover);
        }
        true
    }

    fn cell(&mut self, cell: &[u8], reading: &mut Reading) {
        if cell.is_empty() {
            return;
        }
        if is_marker(cell) {
            self.mark(cell);
            return;
        }
        self.filled_cell(cell, reading);
    }

    fn filled_cell(&mut self, cell: &[u8], reading: &mut Reading) {
        self.kinds.texts += 1;
        if self.is_new(hash(cell, true), cell, &mut reading.allowance) {
            let trimmed = cell.trim_ascii();
            let detects = reading.rules.detects_types;
            let kind = if detects { kind::of_cell(trimmed) } else { Kind::String };
            // White space belongs to a text, not to a number.
            let text = if kind.is_text() { cell } else { trimmed };
            self.longest = self.longest.max(text.len());
            // Unlike in JSON nothing says that a cell is more than text.
            self.learn(kind, text, Kind::or_text);
            if !kind.is_text() {
                // Only numbers this short are different if their digits are.
                let is_usual = cell.len() <= MAX_EXACT_BYTES && self.spellings.see_number(cell);
                self.has_oddities |= !is_usual && *stored(kind, cell) != *cell;
                range::extend(&mut self.texts, text);
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

    fn boolean(&mut self, json: &[u8], reading: &mut Reading) {
        self.kinds.booleans += 1;
        if self.is_new(hash(json, false), json, &mut reading.allowance) {
            self.longest = self.longest.max(json.len());
            self.learn(Kind::Boolean, json, Kind::or);
        }
    }

    fn number(&mut self, number: Number<'_>, reading: &mut Reading) {
        let Number { json, is_integer, has_exponent } = number;
        if is_integer {
            self.kinds.integers += 1;
        } else {
            self.kinds.floats += 1;
        }
        let is_plain = if is_integer {
            json != b"-0" && json.len() <= MAX_INTEGER_BYTES
        } else {
            json.last() != Some(&b'0') && json.len() <= MAX_EXACT_BYTES
        };
        let value = if is_plain && !has_exponent { Cow::Borrowed(json) } else { canonical(json) };
        let is_new = self.is_new(hash(&value, false), &value, &mut reading.allowance);
        if is_new {
            self.learn(if is_integer { Kind::Integer } else { Kind::Float }, &value, Kind::or);
        } else if !is_integer && self.plain == Some(Kind::Integer) {
            // 1.0 after 1: nothing new but that it is written as a float.
            self.plain = Some(Kind::Float);
        }
        self.longest = self.longest.max(json.len());
    }

    #[inline]
    fn is_new(&mut self, hash: u64, value: &[u8], allowance: &mut Allowance) -> bool {
        let is_new = self.distinct.add(hash, value, allowance);
        self.is_ascending &= is_new;
        is_new
    }

    /// What a value tells that has not been seen before.
    fn learn(&mut self, kind: Kind, value: &[u8], cover: fn(Kind, Kind) -> Kind) {
        let kind = if kind == Kind::Integer { self.integer(value) } else { kind };
        self.plain = Some(self.plain.map_or(kind, |known| cover(known, kind)));
        if kind == Kind::Float {
            self.extend_floats(value);
        } else if kind.is_text() {
            range::extend(&mut self.texts, value);
        }
        if kind == Kind::Timestamp {
            self.times.see(value);
        }
    }

    /// Takes an integer into account; it is a float if it is longer than any integer in SQL.
    fn integer(&mut self, value: &[u8]) -> Kind {
        const MAX: i128 = 10_i128.pow(38);
        let parsed = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        let Some(integer) = parsed.filter(|integer| (1 - MAX..MAX).contains(integer)) else {
            return Kind::Float;
        };
        let (low, high) = self.integers.unwrap_or((integer, integer));
        self.is_ascending &= self.integers.is_none() || integer > high;
        self.integers = Some((low.min(integer), high.max(integer)));
        Kind::Integer
    }

    fn extend_floats(&mut self, value: &[u8]) {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let float: f64 = text.parse().unwrap_or_default();
        let (low, high) = self.floats.unwrap_or((float, float));
        self.floats = Some((low.min(float), high.max(float)));
    }

    /// The facts, where there are `records` that could have this field.
    pub(super) fn finish(mut self, records: u64, reading: &mut Reading) -> Field {
        if self.plain.is_none_or(|kind| kind.is_text() && !kind.is_number_or_time()) {
            // Among texts it is one of them.
            for (marker, count) in mem::take(&mut self.markers) {
                for _ in 0..count {
                    self.filled_cell(&marker, reading);
                }
            }
        }
        if self.plain.is_none() {
            self.settle_empty_containers();
        }
        let inside = mem::take(&mut self.inside).finish(self.kinds, records, reading);
        let kind = if inside.is_whole { self.kind(inside.object_kind()) } else { Kind::Json };
        let (mut distinct, mut range, mut top) = (None, None, Vec::new());
        if !matches!(kind, Kind::Struct | Kind::Map | Kind::List | Kind::Json) {
            distinct = Some(self.count(kind));
            range = self.range(kind);
            top = self.top(kind);
        }
        Field {
            column: self.name.clone(),
            name: self.name,
            carried: None,
            kind,
            has_offset: kind == Kind::Timestamp && self.times.has_offset,
            local: None,
            present: self.kinds.all(),
            nulls: records - self.kinds.all(),
            distinct,
            range,
            top,
            longest: self.longest,
            kinds: if kind == Kind::Json { self.kinds.listed() } else { Vec::new() },
            inside,
        }
    }

    /// Some languages write an empty map as an empty list, and the other way round: it counts as what
    /// the others are.
    fn settle_empty_containers(&mut self) {
        let Kinds { structs, lists, .. } = self.kinds;
        if lists > 0 && self.inside.has_members() && self.inside.only_empty_lists() {
            self.kinds.structs += mem::take(&mut self.kinds.lists);
            self.inside.forget_lists();
        } else if structs > 0 && self.inside.has_items() && !self.inside.has_members() {
            self.kinds.lists += mem::take(&mut self.kinds.structs);
            self.inside.objects_are_lists(structs);
        }
    }

    /// What covers all values, given what its objects are.
    fn kind(&self, objects: Option<Kind>) -> Kind {
        let Kinds { structs, lists, .. } = self.kinds;
        match (structs > 0, lists > 0, self.plain) {
            (false, false, plain) => plain.unwrap_or(Kind::Null),
            (true, false, None) => objects.unwrap_or(Kind::Json),
            (false, true, None) => Kind::List,
            _ => Kind::Json,
        }
    }

    fn count(&mut self, kind: Kind) -> Count {
        match self.distinct.count() {
            Count::Exactly(count) if self.may_have_equals(kind) => match self.listed(kind) {
                Some(listed) => Count::Exactly(listed.len() as u64),
                None => Count::About(count),
            },
            Count::Exactly(count) => Count::Exactly(count),
            Count::About(_) if self.is_ascending && kind == Kind::Integer => {
                Count::Exactly(self.kinds.all())
            }
            // No more than there are values, or integers between the least and the greatest.
            Count::About(count) => {
                let between = match (kind, self.integers) {
                    (Kind::Integer, Some((low, high))) => {
                        high.checked_sub(low).and_then(|span| u64::try_from(span + 1).ok())
                    }
                    _ => None,
                };
                Count::About(count.min(self.kinds.all()).min(between.unwrap_or(u64::MAX)))
            }
        }
    }

    fn range(&self, kind: Kind) -> Option<(String, String)> {
        match kind {
            Kind::Integer | Kind::Float => range::of_numbers(self.integers, self.floats),
            Kind::Timestamp => self.times.range(),
            Kind::String | Kind::Date => self.texts.as_ref().and_then(range::of_texts),
            _ => None,
        }
    }

    /// True if values that were counted apart may be the same in SQL.
    fn may_have_equals(&self, kind: Kind) -> bool {
        match kind {
            Kind::Timestamp => self.times.may_repeat(),
            Kind::Float => {
                let are_rounded = |(low, high): (i128, i128)| low < -MAX_EXACT || high > MAX_EXACT;
                self.has_oddities
                    || self.spellings.may_repeat()
                    || self.integers.is_some_and(are_rounded)
            }
            Kind::Integer | Kind::Boolean => self.has_oddities,
            _ => false,
        }
    }

    /// The values and how often each occurs, if they are few and short; those that are the same in SQL together,
    /// as far as that is known.
    fn listed(&self, kind: Kind) -> Option<BTreeMap<Vec<u8>, u64>> {
        if kind == Kind::Timestamp && self.may_have_equals(kind) {
            return None;
        }
        let mut listed = BTreeMap::new();
        for (value, count) in self.distinct.listed()? {
            *listed.entry(stored(kind, value).into_owned()).or_default() += count;
        }
        Some(listed)
    }

    fn top(&self, kind: Kind) -> Vec<(String, u64)> {
        let listed = match self.listed(kind) {
            Some(listed) => listed,
            // As they are written.
            None => match self.distinct.listed() {
                Some(listed) => {
                    listed.into_iter().map(|(value, count)| (value.to_vec(), count)).collect()
                }
                None => return Vec::new(),
            },
        };
        let mut top: Vec<(String, u64)> =
            listed.into_iter().map(|(value, count)| (lossy(&value), count)).collect();
        // The same order in every run.
        top.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        // If each occurs once, none is more frequent than another.
        let is_telling = top.first().is_some_and(|(_, count)| *count > 1);
        top.truncate(if is_telling { TOP } else { 0 });
        top
    }
}

/// A value as it reads in SQL, if it is of that kind.
fn stored(kind: Kind, value: &[u8]) -> Cow<'_, [u8]> {
    let trimmed = value.trim_ascii();
    match kind {
        Kind::Integer if trimmed == b"-0" => Cow::Borrowed(b"0"),
        Kind::Integer => Cow::Borrowed(trimmed),
        Kind::Float => canonical(trimmed),
        Kind::Boolean => Cow::Owned(trimmed.to_ascii_lowercase()),
        _ => Cow::Borrowed(value),
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

#[cfg(test)]
mod tests {
    use super::{super::Rules, *};

    fn field(values: &[Raw<'_>]) -> Field {
        let rules = Rules { sample_size: 0, detects_types: true, has_cells: false };
        let (mut collector, mut reading) = (Collector::new("v".to_owned()), Reading::new(rules));
        for (record, value) in values.iter().enumerate() {
            collector.see(record as u64 + 1, *value, &mut reading);
        }
        collector.finish(values.len() as u64, &mut reading)
    }

    #[test]
    fn values_are_told_apart_as_sql_tells_them_apart() {
        use Count::{About, Exactly};
        let long = |digit: u8| format!("0.1000000000000000055511151231257827{digit}");
        let (a, b) = (long(1), long(3));
        let huge = |digit: u8| format!("1{}{digit}", "0".repeat(45));
        let (c, d) = (huge(1), huge(2));
        let cases: &[(&[&str], Kind, Count)] = &[
            (&["1.1", "1.10", "1.2", "1.20"], Kind::Float, Exactly(2)),
            (&["5", "5.0", "5.00"], Kind::Float, Exactly(1)),
            (&[" 5", "5", "5 "], Kind::Integer, Exactly(1)),
            (&["TRUE", "True", "true", "false"], Kind::Boolean, Exactly(2)),
            (&["2026-01-01T00:00Z", "2026-01-01T00:00:00Z"], Kind::Timestamp, About(2)),
            (&["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"], Kind::Timestamp, Exactly(2)),
        ];
        for (cells, kind, distinct) in cases {
            let cells: Vec<Raw<'_>> = cells.iter().map(|it| Raw::Cell(it.as_bytes())).collect();
            let field = field(&cells);
            assert_eq!((field.kind, field.distinct), (*kind, Some(*distinct)), "{cells:?}");
        }
        let cases: &[(&[&str], Kind, Count)] = &[
            (&[&a, &b, "0.1"], Kind::Float, Exactly(1)),
            (&[&c, &d], Kind::Float, Exactly(1)),
            (&["9007199254740993", "9007199254740992", "1.5"], Kind::Float, Exactly(2)),
            (&["9007199254740993", "9007199254740992"], Kind::Integer, Exactly(2)),
        ];
        for (numbers, kind, distinct) in cases {
            let numbers: Vec<Raw<'_>> = numbers.iter().map(|it| Raw::Json(it.as_bytes())).collect();
            let field = field(&numbers);
            assert_eq!((field.kind, field.distinct), (*kind, Some(*distinct)), "{numbers:?}");
        }
        let booleans = field(&["TRUE", "True", "false"].map(|it| Raw::Cell(it.as_bytes())));
        assert_eq!(booleans.top, [("true".to_owned(), 2), ("false".to_owned(), 1)]);
        // More than are listed cannot be compared, where they may be the same.
        let many = |more: &str| {
            let many: Vec<String> =
                (0..200).map(|n| format!("{n}.10")).chain([more.to_owned()]).collect();
            let many: Vec<Raw<'_>> = many.iter().map(|it| Raw::Cell(it.as_bytes())).collect();
            field(&many).distinct
        };
        assert_eq!(many("0.20"), Some(Exactly(201)));
        assert_eq!(many("0.1"), Some(About(201)));
    }

    #[test]
    fn the_first_and_the_last_time_are_found_however_fine_they_are() {
        let field = field(
            &["2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5Z", "2026-01-01T09:59:59.999Z"]
                .map(|it| Raw::Text(it.as_bytes())),
        );
        let range = ("2026-01-01T09:59:59.999Z".to_owned(), "2026-01-01T10:00:00.5Z".to_owned());
        assert_eq!(field.range, Some(range));
    }

    #[test]
    fn a_long_text_is_not_remembered_whole() {
        let rules = Rules { sample_size: 0, detects_types: true, has_cells: false };
        let (mut collector, mut reading) = (Collector::new("v".to_owned()), Reading::new(rules));
        let long = "line\\n".repeat(long_text::MIN_BYTES / 5);
        for (record, json) in [format!("\"{long}\""), format!("\"{long}\""), "\"m\"".to_owned()]
            .into_iter()
            .enumerate()
        {
            collector.see(record as u64 + 1, Raw::Json(json.as_bytes()), &mut reading);
        }
        let (low, high) = collector.texts.as_ref().unwrap();
        assert!(low.len() + high.len() < 1_000, "{} and {}", low.len(), high.len());
        let field = collector.finish(3, &mut reading);
        assert_eq!((field.kind, field.distinct), (Kind::String, Some(Count::Exactly(2))));
        assert_eq!(field.longest, long.len() / 6 * 5);
    }
}
