//! Records that are mere wrappers around a long list: what is in the lists is the table.
//!
//! Fourteen responses with 300 records each are 4,200 records, each with the key of its response and
//! what else is said of it. The wrappers, without their lists, are a table beside that one.

use forebay_wire::walk::{self, Type};

use crate::table::{FOREIGN, KEY, Raw, Records};

/// How many wrappers are looked at.
const LOOKED_AT: usize = 50;
/// How deep in a wrapper its list may lie.
const MAX_DEPTH: usize = 3;
/// The lists have at least this many elements for each wrapper,
const MIN_ELEMENTS: usize = 5;
/// and this part of the bytes, in tenths.
const MIN_SHARE: usize = 8;
/// A longer value is not repeated for each element.
const MAX_CARRIED_BYTES: usize = 400;
const MAX_CARRIED: usize = 12;
/// Wrappers with more different members than this are strange ones.
const MAX_NAMES: usize = 200;
/// Elements are counted as far as that matters.
const MAX_COUNTED: usize = 1_000;

/// Where the list lies in each wrapper: the keys on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way<'a>(Vec<&'a [u8]>);

/// A wrapper: the key that it has, if it is a member of a map, and the object.
pub(super) type Wrapper<'a> = (Option<&'a [u8]>, &'a [u8]);

/// What wrappers are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    List,
    Map,
}

/// The way to the list in the objects of a list or a map, if these are mere wrappers around it.
pub(super) fn way(json: &[u8], outer: Outer) -> Option<Way<'_>> {
    let wrappers = wrappers(json, outer).map(|(_, object)| object).take(LOOKED_AT);
    let wrappers: Vec<&[u8]> = wrappers.collect();
    let first = wrappers.iter().find_map(|wrapper| longest_list(wrapper, MAX_DEPTH))?;
    let way = Way(first.1);
    let (mut count, mut bytes, mut elements, mut listed) = (0, 0, 0, 0);
    let mut is_recursive = false;
    for wrapper in wrappers {
        count += 1;
        bytes += wrapper.len();
        if let Some(list) = way.list(wrapper) {
            listed += list.len();
            is_recursive |= is_like(wrapper, list);
            elements += walk::elements(list)?.take(MAX_COUNTED).count();
        }
    }
    let is_long = elements >= MIN_ELEMENTS * count && listed * 10 >= bytes * MIN_SHARE;
    (count > 1 && is_long && !is_recursive).then_some(way)
}

/// True if what is in a list is of the same kind as what the list is in, such as folders in folders.
fn is_like(wrapper: &[u8], list: &[u8]) -> bool {
    let names = |object| -> Vec<&[u8]> {
        walk::members(object).into_iter().flatten().map(|(name, _)| name).collect()
    };
    let outer = names(wrapper);
    let first = walk::elements(list).and_then(|mut elements| elements.next()).unwrap_or_default();
    let shared = names(first).into_iter().filter(|name| outer.contains(name)).count();
    shared * 2 > outer.len()
}

/// The wrappers in a list or a map, one after the other.
pub(super) fn wrappers(json: &[u8], outer: Outer) -> Box<dyn Iterator<Item = Wrapper<'_>> + '_> {
    let is_object = |wrapper: &Wrapper<'_>| wrapper.1.starts_with(b"{");
    match outer {
        Outer::List => {
            let elements = walk::elements(json).into_iter().flatten();
            Box::new(elements.map(|element| (None, element)).filter(is_object))
        }
        Outer::Map => {
            let members = walk::members(json).into_iter().flatten();
            Box::new(members.map(|(key, value)| (Some(key), value)).filter(is_object))
        }
    }
}

/// The longest list of objects in an object, and the way to it.
fn longest_list(object: &[u8], depth: usize) -> Option<(usize, Vec<&[u8]>)> {
    let mut best: Option<(usize, Vec<&[u8]>)> = None;
    for (key, value) in walk::members(object)? {
        let found = match walk::type_of(value) {
            Some(Type::Array) => {
                let first = walk::elements(value).and_then(|mut elements| elements.next());
                first.is_some_and(|it| it.starts_with(b"{")).then(|| (value.len(), vec![key]))
            }
            Some(Type::Object) if depth > 1 => longest_list(value, depth - 1)
                .map(|(length, way)| (length, [vec![key], way].concat())),
            _ => None,
        };
        if let Some(found) = found
            && best.as_ref().is_none_or(|best| found.0 > best.0)
        {
            best = Some(found);
        }
    }
    best
}

impl<'a> Way<'a> {
    /// The list in a wrapper.
    fn list<'w>(&self, wrapper: &'w [u8]) -> Option<&'w [u8]> {
        let mut value = wrapper;
        for key in &self.0 {
            value = walk::members(value)?.find(|(name, _)| name == key)?.1;
        }
        value.starts_with(b"[").then_some(value)
    }

    /// The path of the lists, from that of the wrappers.
    pub(super) fn path(&self, wrappers: &str) -> String {
        self.0.iter().fold(wrappers.to_owned(), |path, key| super::step(&path, key))
    }

    /// Hands the elements of all lists on, each with what is said of its wrapper.
    pub(super) fn elements(
        &self,
        wrappers: impl Fn() -> Box<dyn Iterator<Item = Wrapper<'a>> + 'a>,
        table: &mut impl Records<'a>,
    ) {
        let names = self.carried_names(wrappers());
        for (key, wrapper) in wrappers() {
            let Some(list) = self.list(wrapper) else { continue };
            let key = key.map(super::text_of_key);
            let carried = carried(wrapper, &names);
            let before = usize::from(key.is_some());
            for element in walk::elements(list).into_iter().flatten() {
                if !table.record(element) {
                    continue;
                }
                if let Some(key) = &key {
                    table.field(0, KEY, Raw::Text(key));
                }
                for (place, (name, value)) in carried.iter().enumerate() {
                    table.field(before + place, name, Raw::Json(value));
                }
                super::members(table, before + carried.len(), element);
            }
        }
    }

    /// Hands the wrappers on without their lists.
    pub(super) fn rest(
        &self,
        wrappers: impl Iterator<Item = Wrapper<'a>>,
        table: &mut impl Records<'a>,
    ) {
        for (key, wrapper) in wrappers {
            if !table.record(wrapper) {
                continue;
            }
            let key = key.map(super::text_of_key);
            if let Some(key) = &key {
                table.field(0, KEY, Raw::Text(key));
            }
            let rest = self.list(wrapper).and_then(|list| without(wrapper, list));
            table.members(usize::from(key.is_some()), rest.as_deref().unwrap_or(wrapper));
        }
    }

    /// The members that come with each element: those that are short wherever they are.
    fn carried_names(&self, wrappers: impl Iterator<Item = Wrapper<'a>>) -> Vec<&'a [u8]> {
        let (mut short, mut long): (Vec<&[u8]>, Vec<&[u8]>) = (Vec::new(), Vec::new());
        for (key, value) in wrappers.filter_map(|(_, wrapper)| walk::members(wrapper)).flatten() {
            let is_short = !value.starts_with(b"[") && value.len() <= MAX_CARRIED_BYTES;
            let names = if is_short { &mut short } else { &mut long };
            if !names.contains(&key) && names.len() < MAX_NAMES {
                names.push(key);
            }
        }
        short.retain(|key| !long.contains(key) && self.0.first() != Some(key));
        short.truncate(MAX_CARRIED);
        short
    }
}

/// The members of a wrapper with these names, under names that say whose they are.
fn carried<'w>(wrapper: &'w [u8], names: &[&[u8]]) -> Vec<(Vec<u8>, &'w [u8])> {
    let members = walk::members(wrapper).into_iter().flatten();
    let wanted = members.filter(|(key, _)| names.contains(key));
    let foreign = |(key, value)| {
        let mut name = vec![FOREIGN];
        name.extend_from_slice(&super::text_of_key(key));
        (name, value)
    };
    wanted.map(foreign).collect()
}

/// A wrapper as it is written, but for the member that `list` is the value of.
fn without(wrapper: &[u8], list: &[u8]) -> Option<Vec<u8>> {
    let start = list.as_ptr().addr() - wrapper.as_ptr().addr();
    let end = start + list.len();
    let before = wrapper[..start].trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    // Its key: a string that ends here, and so begins behind the last quote that is none in it.
    let key = before.strip_suffix(b"\"")?;
    let mut open = key.len();
    loop {
        open = memchr::memrchr(b'"', &key[..open])?;
        let escapes = key[..open].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            break;
        }
    }
    let before = before[..open].trim_ascii_end();
    let after = wrapper[end..].trim_ascii_start();
    // One comma less than there was.
    let (before, after) = match (before.strip_suffix(b","), after.strip_prefix(b",")) {
        (Some(before), _) => (before, after),
        (None, Some(after)) => (before, after),
        (None, None) => (before, after),
    };
    Some([before, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_is_told_without_its_list() {
        for (wrapper, rest) in [
            (r#"{"a":1,"l":[2],"b":3}"#, r#"{"a":1,"b":3}"#),
            (r#"{"l" : [2], "b":3}"#, r#"{"b":3}"#),
            (r#"{"a":1, "l\"x":[2]}"#, r#"{"a":1}"#),
            (r#"{"l":[2]}"#, "{}"),
            (r#"{"a":{"l":[2],"n":1}}"#, r#"{"a":{"n":1}}"#),
        ] {
            let list = &wrapper[wrapper.find("[2]").unwrap()..][..3];
            let found = without(wrapper.as_bytes(), list.as_bytes()).unwrap();
            let same = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
            assert_eq!(same(&found), same(rest.as_bytes()), "{wrapper}");
        }
    }
}
