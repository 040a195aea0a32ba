//! The members of records that are wanted, by name; dots lead to nested ones.
//!
//! What is left out is cut out of the text: what stays keeps its bytes, its order and its place.

use std::collections::BTreeSet;

use forebay_wire::walk;

use crate::{ToolError, arguments::counted, error::refuse, json};

/// Which members stay; none named is all.
#[derive(Debug)]
pub(crate) struct Fields {
    names: Vec<String>,
}

/// How many records names are looked for in, and what would find more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    /// In all that there are.
    AtAll,
    /// In those that have been fetched, which are so many.
    AtFetched(u64),
}

impl Fields {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names }
    }

    /// Refuses names that none of these records has, with those that they have. Records need not all have
    /// the same members: as many are looked at as it takes.
    pub(crate) fn check<'r>(
        &self,
        records: impl Iterator<Item = &'r [u8]>,
        looked: Looked,
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
        let (among, next) = match looked {
            Looked::AtAll => (String::new(), ""),
            Looked::AtFetched(count) => (
                format!(" in the {} fetched so far", counted(count, "record")),
                " fetch_all: true looks at all records.",
            ),
        };
        let known = order.join(", ");
        refuse!("There is no field {unknown}{among}.{meant} There are: {known}{more}.{next}")
    }

    /// A record with what is wanted of it.
    pub(crate) fn of(&self, record: &[u8]) -> Vec<u8> {
        if self.names.is_empty() {
            return record.to_vec();
        }
        let wanted: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let mut out = Vec::new();
        select(record, &wanted, &mut out);
        out
    }
}

/// Writes what has one of these names. Keys may have dots of their own, so each key is looked for at the
/// beginning of a name.
fn select(json: &[u8], wanted: &[&str], out: &mut Vec<u8>) {
    match json.first() {
        Some(b'{') => {
            out.push(b'{');
            let mut is_first = true;
            for (key, value) in walk::members(json).into_iter().flatten() {
                let name = json::name(key);
                let within: Vec<&str> = wanted
                    .iter()
                    .filter_map(|path| path.strip_prefix(name.as_str())?.strip_prefix('.'))
                    .collect();
                let is_whole = wanted.contains(&name.as_str());
                if !is_whole && within.is_empty() {
                    continue;
                }
                out.extend_from_slice(if is_first { b"\"" } else { b",\"" });
                out.extend_from_slice(key);
                out.extend_from_slice(b"\":");
                if is_whole {
                    out.extend_from_slice(value);
                } else {
                    select(value, &within, out);
                }
                is_first = false;
            }
            out.push(b'}');
        }
        Some(b'[') => {
            out.push(b'[');
            for (place, element) in walk::elements(json).into_iter().flatten().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                select(element, wanted, out);
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
    fn a_key_with_a_dot_is_found_at_every_depth() {
        let record = r#"{"nested":{"a":0,"b.c":"x","b":{"c":1,"d":2}},"l":[{"x.y":{"z":3}}]}"#;
        assert_eq!(of(&["nested.b.c"], record), r#"{"nested":{"b.c":"x","b":{"c":1}}}"#);
        assert_eq!(of(&["l.x.y.z"], record), r#"{"l":[{"x.y":{"z":3}}]}"#);
        assert_eq!(of(&["nested.b.c.d"], record), r#"{"nested":{"b.c":"x","b":{"c":1}}}"#);
    }

    #[test]
    fn an_unknown_field_is_told_with_how_many_records_were_looked_at() {
        let fields = Fields::new(vec!["late".to_owned()]);
        let told = |looked| fields.check([b"{\"id\":1}".as_slice()].into_iter(), looked);
        assert_eq!(
            told(Looked::AtFetched(20)).unwrap_err().told(),
            "There is no field late in the 20 records fetched so far. There are: id. \
             fetch_all: true looks at all records."
        );
        assert_eq!(
            told(Looked::AtAll).unwrap_err().told(),
            "There is no field late. There are: id."
        );
    }

    #[test]
    fn records_that_are_no_objects_have_no_fields() {
        let check = |names: &[&str], records: &[&str]| {
            let fields = Fields::new(names.iter().map(|name| (*name).to_owned()).collect());
            fields
                .check(records.iter().map(|it| it.as_bytes()), Looked::AtAll)
                .map_err(|it| it.told())
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
            fields
                .check([b"{}", RECORD.as_bytes()].into_iter(), Looked::AtAll)
                .map_err(|it| it.told())
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
