//! Records and their fields, seen one record after the other.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use foldhash::fast::RandomState;
use forebay_store::Mapped;
use forebay_wire::{syntax, walk};
use serde_json::{Map, Value, json};

use super::{
    Records, Rules,
    distinct::Allowance,
    field::{Field, Observer, Raw, text_of},
    lead::Lead,
    samples::Samples,
};

/// Fields past this many are counted, not described.
const MAX_FIELDS: usize = 2_000;
/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;

/// The field that holds the keys of a map; it gets its name at the end, when all others are known.
pub(crate) const KEY: &[u8] = b"\0key";

/// Records and their fields.
#[derive(Debug)]
pub(crate) struct Table {
    /// Where they are, as a JSON path.
    pub(crate) path: String,
    /// How they are written.
    pub(crate) kind: &'static str,
    /// Where the names of the columns are, if not with the records.
    pub(crate) header: Option<String>,
    pub(crate) records: u64,
    /// How many of them the fields' facts are of.
    pub(crate) observed: u64,
    pub(crate) fields: Vec<Field>,
    /// How many fields were too many to describe.
    pub(crate) other_fields: usize,
    /// How much stands between the records that is none.
    pub(crate) skipped: u64,
    /// Some records as they are written: the first, a typical one, extreme ones.
    pub(crate) samples: Vec<String>,
}

/// A table in the making.
pub(crate) struct Builder<'a> {
    rules: Rules,
    fields: Fields,
    samples: Samples<'a>,
    records: u64,
    skipped: u64,
    /// The objects so far were JSON to the last byte.
    is_valid: bool,
    payload: &'a Mapped,
    /// How much of the payload's memory has been given back.
    released: usize,
}

/// The fields seen so far, in the order of their first appearance.
#[derive(Default)]
struct Fields {
    list: Vec<Observer>,
    by_name: HashMap<Vec<u8>, usize, RandomState>,
    /// For each place in a record, the field that was there last, and what stood before its value.
    places: Vec<Place>,
    allowance: Allowance,
    others: HashSet<Vec<u8>, RandomState>,
}

#[derive(Default)]
struct Place {
    lead: Lead,
    field: usize,
}

impl<'a> Builder<'a> {
    /// A table of which nothing has been seen. The memory of `payload` is given back as the records
    /// pass, if they are in it.
    pub(crate) fn new(rules: Rules, payload: &'a Mapped) -> Self {
        Self {
            rules,
            fields: Fields::default(),
            samples: Samples::default(),
            records: 0,
            skipped: 0,
            is_valid: true,
            payload,
            released: 0,
        }
    }

    /// Begins and ends a record that is the JSON object at the front of `json`, and returns what
    /// follows it.
    pub(crate) fn object_record(&mut self, json: &'a [u8]) -> Option<&'a [u8]> {
        self.records += 1;
        let rest = self.object(0, json)?;
        let written = &json[..json.len() - rest.len()];
        self.samples.offer(self.records, written);
        self.release(written);
        Some(rest)
    }

    /// True if there have not been more fields than are described.
    pub(crate) fn describes_all_fields(&self) -> bool {
        self.fields.others.is_empty()
    }

    /// Takes the records that another has seen into account: objects that come after ours. Both must
    /// describe all their fields.
    pub(crate) fn merge(&mut self, later: Self) {
        self.records += later.records;
        self.is_valid &= later.is_valid;
        self.samples.merge(&later.samples);
        for field in later.fields.list {
            let named = self.fields.named(field.name().as_bytes(), self.rules.detects_types);
            if let Some(index) = named {
                self.fields.list[index].merge(field, &mut self.fields.allowance);
            }
        }
    }

    /// True if every value of the objects so far was JSON to the last byte.
    pub(crate) fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// True if the fields of the next record are to be told.
    pub(crate) fn observes_next(&self) -> bool {
        self.records < self.rules.observed_records()
    }

    /// The fields of the JSON object at the front of `json`, after `before` others. Returns what
    /// follows it, if it has an end.
    fn object<'j>(&mut self, before: usize, json: &'j [u8]) -> Option<&'j [u8]> {
        let mut rest = json.get(1..)?;
        let mut place = before;
        loop {
            // Records are mostly alike: the same name stands at the same place as in the last one.
            let (index, value) = match self.fields.expected(place, rest) {
                Some(found) => found,
                None => match self.next(place, rest, place > before) {
                    Some(found) => found,
                    None => return rest.trim_ascii_start().strip_prefix(b"}"),
                },
            };
            let (raw, after) = if value.starts_with(b"\"") {
                let (text, is_plain, after) = walk::text(value)?;
                let json = &value[..text.len() + 2];
                self.is_valid &= is_plain || is_valid(json);
                (if is_plain { Raw::Text(text) } else { Raw::Json(json) }, after)
            } else if let Some(b'0'..=b'9' | b'-') = value.first() {
                let (number, after) = walk::number(value);
                self.is_valid &= number.is_valid();
                (Raw::Number(number), after)
            } else {
                let (json, after) = walk::value(value)?;
                self.is_valid &= is_valid(json);
                (Raw::Json(json), after)
            };
            if let Some(index) = index {
                let field = &mut self.fields.list[index];
                match raw {
                    Raw::Text(text) if self.rules.has_cells => {
                        field.see(self.records, Raw::Cell(text), &mut self.fields.allowance);
                    }
                    Raw::Json(json @ [b'"', ..]) if self.rules.has_cells => {
                        let cell = text_of(json);
                        field.see(self.records, Raw::Cell(&cell), &mut self.fields.allowance);
                    }
                    raw => field.see(self.records, raw, &mut self.fields.allowance),
                }
            }
            rest = after;
            place += 1;
        }
    }

    /// The next member of an object: its field, if it is one that is described, and what begins
    /// with its value.
    fn next<'r>(
        &mut self,
        place: usize,
        rest: &'r [u8],
        has_comma: bool,
    ) -> Option<(Option<usize>, &'r [u8])> {
        let member = rest.trim_ascii_start();
        let member = if has_comma { member.strip_prefix(b",")?.trim_ascii_start() } else { member };
        let (key, after) = walk::value(member)?;
        if !key.starts_with(b"\"") {
            return None;
        }
        let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        self.is_valid &= is_valid(key);
        let index = self.fields.named(&text_of(key), self.rules.detects_types);
        let lead = &rest[..rest.len() - value.len()];
        if let (Some(field), Some(lead)) = (index, Lead::of(lead)) {
            let places = &mut self.fields.places;
            places.resize_with(places.len().max(place + 1), Place::default);
            places[place] = Place { lead, field };
        }
        Some((index, value))
    }

    /// A table whose columns come one after the other.
    pub(crate) fn columns<'c>(
        &mut self,
        columns: impl Iterator<Item = (Cow<'c, [u8]>, Option<walk::Elements<'c>>)>,
    ) {
        let limit = self.rules.observed_records();
        for (place, (name, values)) in columns.enumerate() {
            self.records = 0;
            for value in values.into_iter().flatten() {
                self.records += 1;
                if self.records <= limit {
                    self.field(place, &name, Raw::Json(value));
                }
            }
        }
    }

    pub(crate) fn finish(self, path: String, kind: &'static str, header: Option<String>) -> Table {
        let observed = self.records.min(self.rules.observed_records());
        Table {
            path,
            kind,
            header,
            records: self.records,
            observed,
            other_fields: self.fields.others.len(),
            fields: self.fields.finish(observed),
            skipped: self.skipped,
            samples: self.samples.chosen(),
        }
    }

    fn release(&mut self, record: &[u8]) {
        let offset = record.as_ptr().addr().wrapping_sub(self.payload.as_ptr().addr());
        if offset < self.payload.len() && offset > self.released + RELEASE_BYTES {
            self.payload.release_before(offset);
            self.released = offset;
        }
    }
}

impl<'a> Records<'a> for Builder<'a> {
    fn record(&mut self, written: &'a [u8]) -> bool {
        self.records += 1;
        self.samples.offer(self.records, written);
        self.release(written);
        self.records <= self.rules.observed_records()
    }

    fn field(&mut self, place: usize, name: &[u8], value: Raw<'_>) {
        if let Some(index) = self.fields.at(place, name, self.rules.detects_types) {
            self.fields.list[index].see(self.records, value, &mut self.fields.allowance);
        }
    }

    fn members(&mut self, before: usize, json: &[u8]) {
        self.object(before, json);
    }

    fn skip(&mut self) {
        self.skipped += 1;
    }

    fn is_mostly_skipped(&self) -> bool {
        self.skipped * 10 > self.records
    }
}

impl Fields {
    /// The field and the text of its value, if what stands at `place` is what stood there before.
    fn expected<'r>(&self, place: usize, rest: &'r [u8]) -> Option<(Option<usize>, &'r [u8])> {
        let Place { lead, field } = self.places.get(place)?;
        lead.stands_before(rest).then(|| (Some(*field), &rest[lead.length()..]))
    }

    /// The field called `name`, which is probably the one at `place`.
    fn at(&mut self, place: usize, name: &[u8], detects_types: bool) -> Option<usize> {
        match self.list.get(place) {
            Some(field) if field.is_called(name) => Some(place),
            _ => self.named(name, detects_types),
        }
    }

    fn finish(mut self, records: u64) -> Vec<Field> {
        if let Some(index) = self.by_name.get(KEY) {
            let key = b"key".as_slice();
            let is_taken = self.by_name.contains_key(key) || self.others.contains(key);
            self.list[*index].rename(if is_taken { "_key" } else { "key" });
        }
        let fields = self.list.into_iter();
        fields.map(|field| field.finish(records, &mut self.allowance)).collect()
    }

    fn named(&mut self, name: &[u8], detects_types: bool) -> Option<usize> {
        if let Some(index) = self.by_name.get(name) {
            return Some(*index);
        }
        if self.list.len() == MAX_FIELDS {
            // Counted as far as that is any use.
            if self.others.len() < 100 * MAX_FIELDS {
                self.others.insert(name.to_vec());
            }
            return None;
        }
        let shown = String::from_utf8_lossy(name).into_owned();
        self.by_name.insert(name.to_vec(), self.list.len());
        self.list.push(Observer::new(shown, detects_types));
        Some(self.list.len() - 1)
    }
}

fn is_valid(json: &[u8]) -> bool {
    syntax::is_valid_telling(json, None)
}

impl Table {
    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> Value {
        let fields: Vec<Value> = self.fields.iter().map(Field::facts).collect();
        let mut facts = json!({
            "path": self.path, "kind": self.kind, "records": self.records, "fields": fields,
        });
        if self.other_fields > 0 {
            facts["otherFields"] = self.other_fields.into();
        }
        if self.observed < self.records {
            facts["observed"] = self.observed.into();
        }
        if self.skipped > 0 {
            facts["skipped"] = self.skipped.into();
        }
        if let Some(header) = &self.header {
            facts["header"] = header.as_str().into();
        }
        facts
    }

    /// The fields' names and types.
    pub(crate) fn schema(&self) -> Vec<Value> {
        let described = |field: &Field| json!({"name": field.name, "type": field.kind.name()});
        self.fields.iter().map(described).collect()
    }

    /// The frequent values of the fields that have few.
    pub(crate) fn distinct_values(&self) -> Map<String, Value> {
        let listed = self.fields.iter().filter(|field| !field.top.is_empty());
        listed
            .map(|field| {
                let counts: Map<String, Value> =
                    field.top.iter().map(|(value, n)| (value.clone(), (*n).into())).collect();
                (field.name.clone(), counts.into())
            })
            .collect()
    }
}
