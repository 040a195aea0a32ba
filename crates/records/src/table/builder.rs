//! Records and their fields, seen one record after the other.

use std::{borrow::Cow, collections::BTreeMap};

use forebay_store::{Mapped, facts};
use forebay_wire::walk;

use super::{
    Records, Rules,
    field::{Field, Raw},
    fields::{Fields, Of, Read},
    reading::Reading,
    samples::Samples,
    within::Within,
};

/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;

/// Records and their fields.
#[derive(Debug)]
pub struct Table {
    /// Where they are, as a JSON path.
    pub path: String,
    /// How they are written.
    pub kind: &'static str,
    /// Where the names of the columns are, if not with the records.
    pub header: Option<String>,
    /// How many records there are.
    pub records: u64,
    /// How many of them the fields' facts are of.
    pub observed: u64,
    /// Their fields.
    pub fields: Vec<Field>,
    /// How many fields were too many to describe.
    pub other_fields: usize,
    /// How much stands between the records that is none.
    pub skipped: u64,
    /// How many values do not count, since their object has the name already.
    pub repeated: u64,
    /// Some records as they are written: the first, a typical one, extreme ones.
    pub samples: Vec<String>,
    /// Where it lies, if that is in the records of another table.
    pub within: Option<Within>,
    /// The path of what its records hold and is a table of its own instead.
    pub without: Option<String>,
}

/// A table in the making.
pub(crate) struct Builder<'a> {
    fields: Fields,
    reading: Reading,
    samples: Samples<'a>,
    skipped: u64,
    payload: &'a Mapped,
    /// How much of the payload's memory has been given back.
    released: usize,
}

impl<'a> Builder<'a> {
    /// A table of which nothing has been seen. The memory of `payload` is given back as the records
    /// pass, if they are in it.
    pub(crate) fn new(rules: Rules, payload: &'a Mapped) -> Self {
        Self {
            fields: Fields::new(Of::Records),
            reading: Reading::new(rules),
            samples: Samples::default(),
            skipped: 0,
            payload,
            released: 0,
        }
    }

    /// Begins and ends a record that is the JSON object at the front of `json`, and returns what
    /// follows it.
    pub(crate) fn object_record(&mut self, json: &'a [u8]) -> Option<&'a [u8]> {
        self.fields.objects += 1;
        let rest = self.object(0, json)?;
        let written = &json[..json.len() - rest.len()];
        self.samples.offer(self.fields.objects, written);
        self.release(written);
        Some(rest)
    }

    /// True if there have not been more fields than are described.
    pub(crate) fn describes_all_fields(&self) -> bool {
        self.fields.left_out() == 0
    }

    /// Takes the records that another has seen into account: objects that come after ours. Both must
    /// describe all their fields.
    pub(crate) fn merge(&mut self, later: Self) {
        self.reading.is_valid &= later.reading.is_valid;
        self.reading.repeated += later.reading.repeated;
        self.samples.merge(&later.samples);
        self.fields.merge(later.fields, &mut self.reading);
    }

    /// True if every value of the objects so far was JSON to the last byte.
    pub(crate) fn is_valid(&self) -> bool {
        self.reading.is_valid
    }

    /// True if the fields of the next record are to be told.
    pub(crate) fn observes_next(&self) -> bool {
        self.fields.objects < self.reading.rules.observed_records()
    }

    /// The fields of the JSON object at the front of `json`, after `before` others. Returns what
    /// follows it, if it has an end.
    fn object<'j>(&mut self, before: usize, json: &'j [u8]) -> Option<&'j [u8]> {
        match self.fields.object(before, json, &mut self.reading)? {
            Read::Whole(rest) => Some(rest),
            // Records count the fields that have no place.
            Read::Full(..) => None,
        }
    }

    /// A table whose columns come one after the other.
    pub(crate) fn columns<'c>(
        &mut self,
        columns: impl Iterator<Item = (Cow<'c, [u8]>, Option<walk::Elements<'c>>)>,
    ) {
        let limit = self.reading.rules.observed_records();
        for (place, (name, values)) in columns.enumerate() {
            self.fields.objects = 0;
            for value in values.into_iter().flatten() {
                self.fields.objects += 1;
                if self.fields.objects <= limit {
                    self.field(place, &name, Raw::Json(value));
                }
            }
        }
    }

    pub(crate) fn finish(
        mut self,
        path: String,
        kind: &'static str,
        header: Option<String>,
    ) -> Table {
        let records = self.fields.objects;
        let observed = records.min(self.reading.rules.observed_records());
        Table {
            path,
            kind,
            header,
            records,
            observed,
            other_fields: self.fields.left_out(),
            fields: self.fields.finish(observed, &mut self.reading),
            skipped: self.skipped,
            repeated: self.reading.repeated,
            samples: self.samples.chosen(),
            within: None,
            without: None,
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
        self.fields.objects += 1;
        self.samples.offer(self.fields.objects, written);
        self.release(written);
        self.fields.objects <= self.reading.rules.observed_records()
    }

    fn field(&mut self, place: usize, name: &[u8], value: Raw<'_>) {
        self.fields.field(place, name, value, &mut self.reading);
    }

    fn members(&mut self, before: usize, json: &[u8]) {
        self.object(before, json);
    }

    fn skip(&mut self) {
        self.skipped += 1;
    }

    fn is_mostly_skipped(&self) -> bool {
        self.skipped * 10 > self.fields.objects
    }
}

impl Table {
    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> facts::Table {
        facts::Table {
            path: self.path.clone(),
            kind: self.kind.to_owned(),
            records: self.records,
            fields: self.fields.iter().map(Field::facts).collect(),
            other_fields: (self.other_fields > 0).then_some(self.other_fields),
            observed: (self.observed < self.records).then_some(self.observed),
            skipped: (self.skipped > 0).then_some(self.skipped),
            repeated: (self.repeated > 0).then_some(self.repeated),
            header: self.header.clone(),
            without: self.without.clone(),
            within: self.within.as_ref().map(Within::facts),
            ..facts::Table::default()
        }
    }

    /// The fields' names and types.
    pub(crate) fn schema(&self) -> Vec<facts::Field> {
        self.fields.iter().map(Field::brief_facts).collect()
    }

    /// The frequent values of the fields that have few.
    pub(crate) fn distinct_values(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let listed = self.fields.iter().filter(|field| !field.top.is_empty());
        listed.map(|field| (field.name.clone(), field.top.iter().cloned().collect())).collect()
    }
}
