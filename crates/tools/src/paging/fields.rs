//! The members of records that are wanted, by name; dots lead to nested ones.
//!
//! What is left out is cut out of the text: what stays keeps its bytes, its order and its place.

use std::collections::{BTreeMap, BTreeSet};

use forebay_wire::walk;

use crate::{ToolError, error::refuse, json};

/// Which members stay; none named is all.
#[derive(Debug)]
pub(crate) struct Fields {
    names: Vec<String>,
    tree: Tree,
}

#[derive(Debug, Default)]
struct Tree {
    /// All of it stays.
    is_whole: bool,
    inner: BTreeMap<String, Tree>,
}

impl Fields {
    pub(crate) fn new(names: Vec<String>) -> Self {
        let mut tree = Tree { is_whole: names.is_empty(), ..Tree::default() };
        for name in &names {
            let mut at = &mut tree;
            for step in name.split('.') {
                at = at.inner.entry(step.to_owned()).or_default();
            }
            at.is_whole = true;
            // A name may have dots of its own.
            tree.inner.entry(name.clone()).or_default().is_whole = true;
        }
        Self { names, tree }
    }

    /// Refuses names that none of these records has, with those that they have. Records need not all have
    /// the same members: as many are looked at as it takes.
    pub(crate) fn check<'r>(
        &self,
        records: impl Iterator<Item = &'r [u8]>,
    ) -> Result<(), ToolError> {
        /// So many are told.
        const MOST: usize = 40;
        let mut known = BTreeSet::new();
        let mut order = Vec::new();
        let (mut is_any, mut has_objects) = (false, false);
        let mut unknown = self.names.first();
        for record in records {
            is_any = true;
            has_objects |= record.starts_with(b"{");
            add_names(record, "", &mut |name| {
                if known.insert(name.clone()) {
                    order.push(name);
                }
            });
            unknown = self.names.iter().find(|name| !known.contains(*name));
            if unknown.is_none() {
                break;
            }
        }
        if let (Some(name), true, false) = (unknown, is_any, has_objects) {
            return refuse!(
                "There is no field {name}: the records are no objects and have no fields. Leave \
                 fields out."
            );
        }
        let Some(unknown) = unknown.filter(|_| !known.is_empty()) else { return Ok(()) };
        let meant = forebay_query::nearest(unknown, order.iter().map(String::as_str));
        let meant = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
        let more = order.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        order.truncate(MOST);
        refuse!("There is no field {unknown}.{meant} There are: {}{more}.", order.join(", "))
    }

    /// A record with what is wanted of it.
    pub(crate) fn of(&self, record: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        select(record, &self.tree, &mut out);
        out
    }
}

fn select(json: &[u8], tree: &Tree, out: &mut Vec<u8>) {
    match json.first() {
        Some(b'{') if !tree.is_whole => {
            let members = walk::members(json).into_iter().flatten();
            let wanted = members.filter_map(|(key, value)| {
                tree.inner.get(&json::name(key)).map(|inner| (key, value, inner))
            });
            out.push(b'{');
            for (place, (key, value, inner)) in wanted.enumerate() {
                out.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
                out.extend_from_slice(key);
                out.extend_from_slice(b"\":");
                select(value, inner, out);
            }
            out.push(b'}');
        }
        Some(b'[') if !tree.is_whole => {
            out.push(b'[');
            for (place, element) in walk::elements(json).into_iter().flatten().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                select(element, tree, out);
            }
            out.push(b']');
        }
        _ => out.extend_from_slice(json),
    }
}

/// Tells the names of a value's members, those of what lies in it included.
fn add_names(json: &[u8], prefix: &str, tell: &mut dyn FnMut(String)) {
    match json.first() {
        Some(b'{') => {
            for (key, value) in walk::members(json).into_iter().flatten() {
                let name = format!("{prefix}{}", json::name(key));
                let within = format!("{name}.");
                tell(name);
                // Whoever nests deeper than names are written is not followed.
                if within.matches('.').count() < 8 {
                    add_names(value, &within, tell);
                }
            }
        }
        Some(b'[') if !prefix.is_empty() => {
            for element in walk::elements(json).into_iter().flatten() {
                add_names(element, prefix, tell);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], record: &str) -> String {
        let fields = Fields::new(names.iter().map(|name| (*name).to_owned()).collect());
        String::from_utf8(fields.of(record.as_bytes())).unwrap()
    }

    const RECORD: &str = r#"{"id": 12345678901234567890123, "owner": {"login": "x", "id": 1.0}, "lines": [{"sku": "a", "n": 1}, {"sku": "b"}], "a.b": true}"#;

    #[test]
    fn what_is_wanted_keeps_its_bytes_and_its_place() {
        assert_eq!(of(&[], RECORD), RECORD);
        assert_eq!(
            of(&["owner.id", "id"], RECORD),
            r#"{"id":12345678901234567890123,"owner":{"id":1.0}}"#
        );
        assert_eq!(of(&["lines.sku"], RECORD), r#"{"lines":[{"sku":"a"},{"sku":"b"}]}"#);
        assert_eq!(of(&["owner"], RECORD), r#"{"owner":{"login": "x", "id": 1.0}}"#);
        assert_eq!(of(&["a.b"], RECORD), r#"{"a.b":true}"#);
        assert_eq!(of(&["none"], RECORD), "{}");
        assert_eq!(of(&["id"], "7"), "7");
    }

    #[test]
    fn records_that_are_no_objects_have_no_fields() {
        let check = |names: &[&str], records: &[&str]| {
            let fields = Fields::new(names.iter().map(|name| (*name).to_owned()).collect());
            fields.check(records.iter().map(|it| it.as_bytes())).map_err(|it| it.told())
        };
        for records in [["7", "\"x\""], ["null", "[{\"id\":1}]"]] {
            let error = check(&["id"], &records).unwrap_err();
            assert!(error.contains("the records are no objects"), "{error}");
            assert_eq!(check(&[], &records), Ok(()));
        }
        assert_eq!(check(&["id"], &["7", "{\"id\":1}"]), Ok(()), "some are");
        assert_eq!(check(&["id"], &[]), Ok(()), "there are none");
    }

    #[test]
    fn an_unknown_field_is_told_with_those_that_there_are() {
        let check = |name: &str| {
            let fields = Fields::new(vec![name.to_owned()]);
            fields.check([b"{}", RECORD.as_bytes()].into_iter()).map_err(|it| it.told())
        };
        for name in ["id", "owner.login", "lines", "lines.sku", "a.b"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        assert_eq!(
            check("ownr").unwrap_err(),
            "There is no field ownr. Did you mean owner? There are: id, owner, owner.login, \
             owner.id, lines, lines.sku, lines.n, a.b."
        );
    }
}
