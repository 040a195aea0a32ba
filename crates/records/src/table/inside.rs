//! What lies in the objects and lists that are the values of a field.
//!
//! Objects that are alike have members, each a field of its own. Objects whose keys are data rather
//! than names are maps: their keys are one field, their values another. So are the elements of lists.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::{
    collector::Collector,
    distinct::hash,
    field::{Entries, Items, Nested},
    fields::{Fields, Of, Read, Separator, member},
    kind::Kind,
    kinds::Kinds,
    reading::Reading,
};
use crate::strings::text_of;

/// Objects with fewer different keys have members, however few of them have each.
const MIN_MAP_KEYS: usize = 16;
/// A single object with fewer keys has members, if its values are not objects.
const MIN_DICTIONARY_KEYS: usize = 40;

/// What lies in the values of a field.
#[derive(Debug, Default)]
pub(super) struct Inside {
    objects: Option<Box<Objects>>,
    lists: Option<Box<Lists>>,
    /// Something was too deep to be looked into.
    is_too_deep: bool,
}

#[derive(Debug)]
enum Objects {
    Alike(Fields),
    Maps(Box<Maps>),
}

/// Objects whose keys are data.
#[derive(Debug)]
struct Maps {
    objects: u64,
    keys: Collector,
    values: Collector,
    entries: u64,
    /// The keys of the object that is being read, by their hashes.
    seen: HashSet<u64, RandomState>,
}

#[derive(Debug)]
struct Lists {
    count: u64,
    shortest: u64,
    longest: u64,
    elements: u64,
    element: Collector,
}

impl Inside {
    /// Takes the object at the front of `json` into account, and returns what follows it.
    pub(super) fn object<'j>(&mut self, json: &'j [u8], reading: &mut Reading) -> Option<&'j [u8]> {
        if !reading.enter() {
            self.is_too_deep = true;
            return reading.skip(json).map(|(_, rest)| rest);
        }
        let objects =
            self.objects.get_or_insert_with(|| Box::new(Objects::Alike(Fields::new(Of::Members))));
        let rest = objects.object(json, reading);
        reading.leave();
        rest
    }

    /// Takes the list at the front of `json` into account, and returns what follows it.
    pub(super) fn list<'j>(&mut self, json: &'j [u8], reading: &mut Reading) -> Option<&'j [u8]> {
        if !reading.enter() {
            self.is_too_deep = true;
            return reading.skip(json).map(|(_, rest)| rest);
        }
        let rest = self.lists.get_or_insert_with(|| Box::new(Lists::new())).list(json, reading);
        reading.leave();
        rest
    }

    /// True if there are lists, and nothing is in any of them.
    pub(super) fn only_empty_lists(&self) -> bool {
        self.lists.as_ref().is_some_and(|lists| lists.longest == 0)
    }

    /// True if there are objects, and something is in one of them.
    pub(super) fn has_members(&self) -> bool {
        match self.objects.as_deref() {
            Some(Objects::Alike(fields)) => !fields.list.is_empty(),
            Some(Objects::Maps(_)) => true,
            None => false,
        }
    }

    /// True if there are lists, and something is in one of them.
    pub(super) fn has_items(&self) -> bool {
        self.lists.as_ref().is_some_and(|lists| lists.longest > 0)
    }

    pub(super) fn forget_lists(&mut self) {
        self.lists = None;
    }

    /// Takes objects that are all empty for as many empty lists.
    pub(super) fn objects_are_lists(&mut self, count: u64) {
        self.objects = None;
        if let Some(lists) = &mut self.lists {
            lists.count += count;
            lists.shortest = 0;
        }
    }

    pub(super) fn merge(&mut self, later: Self, reading: &mut Reading) {
        self.is_too_deep |= later.is_too_deep;
        match (&mut self.objects, later.objects) {
            (Some(ours), Some(theirs)) => ours.merge(*theirs, reading),
            (None, theirs) => self.objects = theirs,
            (Some(_), None) => {}
        }
        match (&mut self.lists, later.lists) {
            (Some(ours), Some(theirs)) => ours.merge(*theirs, reading),
            (None, theirs) => self.lists = theirs,
            (Some(_), None) => {}
        }
    }

    /// The facts, where there are `records` that could have the field, and values of these `kinds`.
    pub(super) fn finish(self, kinds: Kinds, records: u64, reading: &mut Reading) -> Nested {
        let mut nested = Nested { is_whole: !self.is_too_deep, ..Nested::default() };
        let objects = self.objects.map(|objects| match *objects {
            Objects::Alike(fields) if are_maps(&fields) => {
                Objects::Maps(Box::new(Maps::of(fields, reading)))
            }
            other => other,
        });
        match objects {
            Some(Objects::Alike(fields)) => nested.members = fields.finish(records, reading),
            Some(Objects::Maps(maps)) => {
                nested.entries = Some(Box::new(Entries {
                    objects: kinds.structs,
                    key: maps.keys.finish(maps.entries, reading),
                    value: maps.values.finish(maps.entries, reading),
                }));
            }
            None => {}
        }
        nested.items = self.lists.map(|lists| {
            Box::new(Items {
                lists: kinds.lists,
                shortest: lists.shortest,
                longest: lists.longest,
                elements: lists.elements,
                item: lists.element.finish(lists.elements, reading),
            })
        });
        nested
    }
}

impl Objects {
    fn object<'j>(&mut self, json: &'j [u8], reading: &mut Reading) -> Option<&'j [u8]> {
        match self {
            Self::Alike(fields) => {
                fields.objects += 1;
                match fields.object(0, json, reading)? {
                    Read::Whole(rest) => Some(rest),
                    Read::Full(rest, separator) => {
                        let seen = fields.last_names().map(|name| hash(name, true)).collect();
                        let maps = self.as_maps(reading);
                        maps.seen = seen;
                        maps.entries(rest, separator, reading)
                    }
                }
            }
            Self::Maps(maps) => maps.object(json, reading),
        }
    }

    fn merge(&mut self, later: Self, reading: &mut Reading) {
        match (&mut *self, later) {
            (Self::Alike(ours), Self::Alike(theirs)) if ours.has_room_for(&theirs) => {
                ours.merge(theirs, reading);
            }
            (_, Self::Alike(theirs)) => {
                let theirs = Maps::of(theirs, reading);
                self.as_maps(reading).merge(theirs, reading);
            }
            (_, Self::Maps(theirs)) => self.as_maps(reading).merge(*theirs, reading),
        }
    }

    /// Looks at the objects so far as maps.
    fn as_maps(&mut self, reading: &mut Reading) -> &mut Maps {
        if let Self::Alike(fields) = self {
            let fields = std::mem::replace(fields, Fields::new(Of::Members));
            *self = Self::Maps(Box::new(Maps::of(fields, reading)));
        }
        match self {
            Self::Maps(maps) => maps,
            Self::Alike(_) => unreachable!("they have just become maps"),
        }
    }
}

impl Maps {
    /// Objects with members, looked at as maps.
    fn of(fields: Fields, reading: &mut Reading) -> Self {
        let mut maps = Self {
            objects: fields.objects,
            keys: Collector::new("key".to_owned()),
            values: Collector::new("value".to_owned()),
            entries: 0,
            seen: HashSet::default(),
        };
        for field in fields.list {
            for _ in 0..field.occurrences {
                maps.entries += 1;
                maps.keys.text(field.name().as_bytes(), reading);
            }
            maps.values.merge(field, reading);
        }
        maps
    }

    fn object<'j>(&mut self, json: &'j [u8], reading: &mut Reading) -> Option<&'j [u8]> {
        self.objects += 1;
        self.seen.clear();
        self.entries(json.get(1..)?, Separator::Nothing, reading)
    }

    /// Takes the entries of an object into account that are still to come.
    fn entries<'j>(
        &mut self,
        mut rest: &'j [u8],
        mut separator: Separator,
        reading: &mut Reading,
    ) -> Option<&'j [u8]> {
        while let Some((key, value)) = member(rest, separator) {
            separator = Separator::Comma;
            reading.check_unless(false, key);
            let key = text_of(key);
            // Of several with the same key, the first counts.
            if !self.seen.insert(hash(&key, true)) {
                reading.repeated += 1;
                rest = reading.skip(value)?.1;
                continue;
            }
            self.entries += 1;
            self.keys.text(&key, reading);
            rest = self.values.value(self.entries, value, reading)?;
        }
        rest.trim_ascii_start().strip_prefix(b"}")
    }

    fn merge(&mut self, later: Self, reading: &mut Reading) {
        self.objects += later.objects;
        self.entries += later.entries;
        self.keys.merge(later.keys, reading);
        self.values.merge(later.values, reading);
    }
}

impl Lists {
    fn new() -> Self {
        Self {
            count: 0,
            shortest: u64::MAX,
            longest: 0,
            elements: 0,
            element: Collector::new(String::new()),
        }
    }

    fn list<'j>(&mut self, json: &'j [u8], reading: &mut Reading) -> Option<&'j [u8]> {
        let before = self.elements;
        let mut rest = json.get(1..)?.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"]") {
            rest = after;
        } else {
            loop {
                self.elements += 1;
                rest = self.element.value(self.elements, rest.trim_ascii_start(), reading)?;
                rest = rest.trim_ascii_start();
                match rest.split_first()? {
                    (b',', after) => rest = after,
                    (b']', after) => {
                        rest = after;
                        break;
                    }
                    _ => return None,
                }
            }
        }
        let length = self.elements - before;
        self.count += 1;
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        Some(rest)
    }

    fn merge(&mut self, later: Self, reading: &mut Reading) {
        self.count += later.count;
        self.elements += later.elements;
        self.shortest = self.shortest.min(later.shortest);
        self.longest = self.longest.max(later.longest);
        self.element.merge(later.element, reading);
    }
}

/// True if the keys of objects are data: many, each in few of them, with values of one kind.
fn are_maps(fields: &Fields) -> bool {
    let keys = fields.list.len();
    if keys < MIN_MAP_KEYS {
        return false;
    }
    let mut kinds = fields.list.iter().filter_map(Collector::broad_kind);
    let Some(first) = kinds.next() else { return false };
    let is_of_one_kind = kinds.all(|kind| first.or(kind) != Kind::Json) && first != Kind::Json;
    let occurrences: u64 = fields.list.iter().map(|field| field.occurrences).sum();
    let is_sparse = occurrences * 10 < fields.objects * keys as u64 * 3;
    let is_dictionary =
        fields.objects == 1 && (first == Kind::Struct || keys >= MIN_DICTIONARY_KEYS);
    is_of_one_kind && (is_sparse || is_dictionary)
}
