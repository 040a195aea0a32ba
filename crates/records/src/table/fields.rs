//! The members of objects that are alike: records, or what lies in them.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use forebay_wire::walk;

use super::{
    collector::Collector,
    field::{Field, Raw},
    lead::Lead,
    names, narrow,
    reading::Reading,
};
use crate::strings::text_of;

/// Fields of records past this many are counted, not described.
const MAX_FIELDS: usize = 2_000;
/// Objects within records that have more different keys than this are maps.
const MAX_KEYS: usize = 200;

/// The fields seen so far, in the order of their first appearance.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) list: Vec<Collector>,
    by_name: HashMap<Vec<u8>, usize, RandomState>,
    /// For each place in an object, the field that was there last, and what stood before its value.
    places: Vec<Place>,
    others: HashSet<Vec<u8>, RandomState>,
    of: Of,
    /// How many objects there have been.
    pub(super) objects: u64,
}

/// Whose fields they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Records,
    Members,
}

#[derive(Debug, Default)]
struct Place {
    lead: Lead,
    field: usize,
}

/// How far an object has been read.
pub(super) enum Read<'j> {
    /// To its end: what follows it.
    Whole(&'j [u8]),
    /// To a member for which there is no place: what follows the member before it.
    Full(&'j [u8], Separator),
}

/// What stands before a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Nothing,
    Comma,
}

impl Fields {
    pub(super) fn new(of: Of) -> Self {
        Self {
            list: Vec::new(),
            by_name: HashMap::default(),
            places: Vec::new(),
            others: HashSet::default(),
            of,
            objects: 0,
        }
    }

    /// How many fields were too many to describe.
    pub(super) fn left_out(&self) -> usize {
        self.others.len()
    }

    /// The names that the last object has, as far as it has been read.
    pub(super) fn last_names(&self) -> impl Iterator<Item = &[u8]> {
        let is_last = |index: &usize| self.list[*index].is_in(self.objects);
        self.by_name.iter().filter(move |(_, index)| is_last(index)).map(|(name, _)| &name[..])
    }

    /// Takes the members of the object at the front of `json` into account, after `before` others.
    /// `None` if it has no end.
    pub(super) fn object<'j>(
        &mut self,
        before: usize,
        json: &'j [u8],
        reading: &mut Reading,
    ) -> Option<Read<'j>> {
        let mut rest = json.get(1..)?;
        let mut place = before;
        loop {
            // Objects are mostly alike: the same name stands at the same place as in the last one.
            let (found, value) = match self.expected(place, rest) {
                Some(found) => found,
                None => match self.next(place, rest, place > before, reading) {
                    Some(found) => found,
                    None => return rest.trim_ascii_start().strip_prefix(b"}").map(Read::Whole),
                },
            };
            rest = match found {
                Named::Field(index) => self.list[index].value(self.objects, value, reading)?,
                Named::Other => reading.skip(value)?.1,
                Named::NoRoom => {
                    let separator =
                        if place > before { Separator::Comma } else { Separator::Nothing };
                    return Some(Read::Full(rest, separator));
                }
            };
            place += 1;
        }
    }

    /// Takes a field of the object into account, which is probably the one at `place`.
    pub(super) fn field(&mut self, place: usize, name: &[u8], raw: Raw<'_>, reading: &mut Reading) {
        let index = match self.list.get(place) {
            Some(field) if field.is_called(name) => Some(place),
            _ => match self.named(name, reading) {
                Named::Field(index) => Some(index),
                Named::Other | Named::NoRoom => None,
            },
        };
        if let Some(index) = index {
            self.list[index].see(self.objects, raw, reading);
        }
    }

    /// Takes later objects into account. Both must describe all their fields.
    pub(super) fn merge(&mut self, later: Self, reading: &mut Reading) {
        self.objects += later.objects;
        for field in later.list {
            let index = match self.by_name.get(field.name().as_bytes()) {
                Some(index) => *index,
                // It has its memory already, whatever there is room for.
                None => self.add(field.name().as_bytes()),
            };
            self.list[index].merge(field, reading);
        }
    }

    /// True if the fields of both have room together.
    pub(super) fn has_room_for(&self, later: &Self) -> bool {
        let is_new = |field: &&Collector| !self.by_name.contains_key(field.name().as_bytes());
        self.list.len() + later.list.iter().filter(is_new).count() <= MAX_KEYS
    }

    /// The facts, where there are `records` that could have these fields.
    pub(super) fn finish(self, records: u64, reading: &mut Reading) -> Vec<Field> {
        let fields = self.list.into_iter();
        let mut fields: Vec<Field> = fields.map(|field| field.finish(records, reading)).collect();
        if self.of == Of::Records {
            narrow::to_fit(&mut fields);
        }
        names::settle(&mut fields);
        fields
    }

    /// The field and the text of its value, if what stands at `place` is what stood there before.
    #[inline]
    fn expected<'r>(&self, place: usize, rest: &'r [u8]) -> Option<(Named, &'r [u8])> {
        let Place { lead, field } = self.places.get(place)?;
        lead.stands_before(rest).then(|| (Named::Field(*field), &rest[lead.length()..]))
    }

    /// The next member of an object: its field, and what begins with its value.
    fn next<'r>(
        &mut self,
        place: usize,
        rest: &'r [u8],
        has_comma: bool,
        reading: &mut Reading,
    ) -> Option<(Named, &'r [u8])> {
        let separator = if has_comma { Separator::Comma } else { Separator::Nothing };
        let (key, value) = member(rest, separator)?;
        reading.check_unless(false, key);
        let named = self.named(&text_of(key), reading);
        let lead = &rest[..rest.len() - value.len()];
        if let (Named::Field(field), Some(lead)) = (named, Lead::of(lead)) {
            let places = &mut self.places;
            places.resize_with(places.len().max(place + 1), Place::default);
            places[place] = Place { lead, field };
        }
        Some((named, value))
    }

    fn named(&mut self, name: &[u8], reading: &mut Reading) -> Named {
        if let Some(index) = self.by_name.get(name) {
            return Named::Field(*index);
        }
        match self.of {
            Of::Members if self.list.len() == MAX_KEYS || !reading.take_member() => {
                return Named::NoRoom;
            }
            Of::Records if self.list.len() == MAX_FIELDS => {
                // Counted as far as that is any use.
                if self.others.len() < 100 * MAX_FIELDS {
                    self.others.insert(name.to_vec());
                }
                return Named::Other;
            }
            Of::Members | Of::Records => {}
        }
        Named::Field(self.add(name))
    }

    fn add(&mut self, name: &[u8]) -> usize {
        let shown = String::from_utf8_lossy(name).into_owned();
        self.by_name.insert(name.to_vec(), self.list.len());
        self.list.push(Collector::new(shown));
        self.list.len() - 1
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
enum Named {
    Field(usize),
    /// A field that is counted, not described.
    Other,
    NoRoom,
}

/// The key of the member at the front of `rest`, and what begins with its value.
pub(super) fn member(rest: &[u8], separator: Separator) -> Option<(&[u8], &[u8])> {
    let member = rest.trim_ascii_start();
    let member = match separator {
        Separator::Comma => member.strip_prefix(b",")?.trim_ascii_start(),
        Separator::Nothing => member,
    };
    let (key, after) = walk::value(member)?;
    key.starts_with(b"\"").then_some(())?;
    let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    Some((key, value))
}
