//! What is told of a field, and of what lies in it.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    MAX_NAME_CHARS, MAX_VALUE_CHARS,
    harmless::{harmless, quoted},
    names,
    tree::{Node, Tree},
};
use crate::profile::{Count, Field, Items, Kind};

/// How much is told: fields by their rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// As many are told of,
    pub(super) told: usize,
    /// and as many of these in full.
    pub(super) full: usize,
}

/// Tells of fields, given what the tables are called.
pub(super) struct Teller<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) table_names: &'a [String],
    pub(super) extent: Extent,
}

impl<'a> Teller<'a> {
    /// The fields of a table in words, and how many are left out.
    pub(super) fn table(&self, table: usize) -> (Vec<String>, usize) {
        self.all(self.tree.fields(table), None)
    }

    /// The same as JSON.
    pub(super) fn table_in_json(&self, table: usize) -> (Vec<Value>, usize) {
        self.all_in_json(self.tree.fields(table), None)
    }

    fn all<'n>(
        &self,
        nodes: impl Iterator<Item = &'n Node<'a>>,
        json: Option<&str>,
    ) -> (Vec<String>, usize)
    where
        'a: 'n,
    {
        let (mut told, mut left_out) = (Vec::new(), 0);
        for node in nodes {
            if node.rank < self.extent.told {
                told.push(self.in_words(node, json));
            } else {
                left_out += 1;
            }
        }
        (told, left_out)
    }

    fn all_in_json<'n>(
        &self,
        nodes: impl Iterator<Item = &'n Node<'a>>,
        json: Option<&str>,
    ) -> (Vec<Value>, usize)
    where
        'a: 'n,
    {
        let (mut told, mut left_out) = (Vec::new(), 0);
        for node in nodes {
            if node.rank < self.extent.told {
                told.push(self.in_json(node, json));
            } else {
                left_out += 1;
            }
        }
        (told, left_out)
    }

    /// `status (string: active 3000, inactive 1500)`, or `offer (struct: price (float 1..9))`. Within
    /// JSON, `json` is how to get there.
    fn in_words(&self, node: &Node<'a>, json: Option<&str>) -> String {
        let field = node.field;
        let name = match json {
            None => names::shown(&field.column, MAX_NAME_CHARS),
            Some(way) => member_of_json(way, &field.name),
        };
        let mut facts = self.kind(node);
        let is_full = node.rank < self.extent.full;
        if is_full {
            let _ = write!(facts, "{}", values(field));
            if let Some(items) = lists_of(field) {
                let _ = write!(facts, "{}", lengths(items));
            }
            if field.nulls > 0 {
                let _ = write!(facts, ", {} null", field.nulls);
            }
        }
        let way = (field.kind == Kind::Json).then(|| name.clone());
        let (members, left_out) = self.all(self.tree.members(node), way.as_deref());
        let more = match (members.is_empty(), left_out) {
            (_, 0) => String::new(),
            (true, count) => format!("{count} members"),
            (false, count) => format!(", and {count} more"),
        };
        if !members.is_empty() || left_out > 0 {
            let _ = write!(facts, ": {}{more}", members.join(", "));
        }
        let is_short = !is_full && members.is_empty() && left_out == 0;
        if is_short { format!("{name} {facts}") } else { format!("{name} ({facts})") }
    }

    fn kind(&self, node: &Node<'a>) -> String {
        let field = node.field;
        match (field.kind, &field.inside.items, &field.inside.entries) {
            (Kind::List, Some(items), _) if items.elements == 0 => "list, always empty".to_owned(),
            (Kind::List, Some(items), _) => format!("list of {}", plural(&items.item)),
            (Kind::Map, _, Some(entries)) => {
                let keys = count(entries.key.distinct);
                format!("map of {keys} keys to {}", plural(&entries.value))
            }
            (Kind::Json, ..) => {
                let kinds = field.kinds.iter();
                let kinds: Vec<String> =
                    kinds.map(|(kind, count)| format!("{} {count}", kind.name())).collect();
                if kinds.is_empty() {
                    "json".to_owned()
                } else {
                    format!("json: {}", kinds.join(", "))
                }
            }
            (kind, ..) => kind.name().to_owned(),
        }
    }

    /// The same as JSON.
    fn in_json(&self, node: &Node<'a>, json: Option<&str>) -> Value {
        let field = node.field;
        let name = match json {
            None => harmless(&field.column, MAX_NAME_CHARS),
            Some(way) => member_of_json(way, &field.name),
        };
        let mut facts = json!({"name": name});
        add_facts(&mut facts, field, node.rank < self.extent.full);
        if let Some(table) = node.table {
            facts["table"] = self.table_names[table].as_str().into();
        }
        let way = (field.kind == Kind::Json).then(|| match json {
            None => names::shown(&field.column, MAX_NAME_CHARS),
            Some(_) => name.clone(),
        });
        if let Some(way) = &way {
            facts["reach"] = format!("{way}->>'$'").into();
        }
        let (members, left_out) = self.all_in_json(self.tree.members(node), way.as_deref());
        if !members.is_empty() {
            facts["fields"] = members.into();
        }
        if left_out > 0 {
            facts["fields_left_out"] = left_out.into();
        }
        facts
    }
}

/// What is told of the values, behind their type.
fn values(field: &Field) -> String {
    let mut facts = String::new();
    let plain = match (field.kind, &field.inside.items, &field.inside.entries) {
        (Kind::List, Some(items), _) => &items.item,
        (Kind::Map, _, Some(entries)) => &entries.key,
        _ => field,
    };
    let is_ranged = plain.kind.is_number_or_time();
    if let (Some((low, high)), true) = (&plain.range, is_ranged) {
        let (low, high) = (harmless(low, MAX_VALUE_CHARS), harmless(high, MAX_VALUE_CHARS));
        let _ = if low == high { write!(facts, " {low}") } else { write!(facts, " {low}..{high}") };
    }
    if plain.is_unique() {
        facts.push_str(if field.kind == Kind::Map { "" } else { ", unique" });
    } else if !plain.top.is_empty() && !is_ranged {
        let values: Vec<String> = plain
            .top
            .iter()
            .map(|(value, count)| format!("{} {count}", quoted(value, MAX_VALUE_CHARS)))
            .collect();
        let _ = write!(facts, ": {}", values.join(", "));
        if let Some(Count::Exactly(count)) = plain.distinct
            && count > plain.top.len() as u64
        {
            let _ = write!(facts, ", {} more", count - plain.top.len() as u64);
        }
    } else if field.kind != Kind::Map {
        match plain.distinct {
            Some(Count::Exactly(0 | 1)) | None => {}
            Some(distinct) => drop(write!(facts, ", {} distinct", count(Some(distinct)))),
        }
    }
    facts
}

fn add_facts(facts: &mut Value, field: &Field, is_full: bool) {
    facts["type"] = field.kind.name().into();
    if let (true, Some(items)) = (is_full, lists_of(field)) {
        facts["lengths"] = json!([items.shortest, items.longest]);
    }
    match (field.kind, &field.inside.items, &field.inside.entries) {
        (Kind::List, Some(items), _) => {
            facts["items"] = json!({});
            add_facts(&mut facts["items"], &items.item, is_full);
        }
        (Kind::Map, _, Some(entries)) => {
            if let Some(Count::Exactly(count) | Count::About(count)) = entries.key.distinct {
                facts["keys"] = count.into();
            }
            facts["values"] = json!({});
            add_facts(&mut facts["values"], &entries.value, is_full);
        }
        (Kind::Json, ..) => {
            let kinds =
                field.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count)));
            facts["kinds"] = kinds.collect::<Map<String, Value>>().into();
        }
        _ => {}
    }
    if !is_full {
        return;
    }
    if let (Some((low, high)), true) = (&field.range, field.kind.is_number_or_time()) {
        facts["min"] = harmless(low, MAX_VALUE_CHARS).into();
        facts["max"] = harmless(high, MAX_VALUE_CHARS).into();
    } else if !field.top.is_empty() {
        let top: Map<String, Value> = field
            .top
            .iter()
            .map(|(value, count)| (harmless(value, MAX_VALUE_CHARS), (*count).into()))
            .collect();
        facts["top"] = top.into();
    }
    match field.distinct {
        Some(Count::Exactly(count)) => facts["distinct"] = count.into(),
        Some(Count::About(count)) => facts["distinct_about"] = count.into(),
        None => {}
    }
    if field.nulls > 0 {
        facts["nulls"] = field.nulls.into();
    }
}

/// How to get to a member of a value that is JSON, as a text.
fn member_of_json(way: &str, name: &str) -> String {
    let way = way.strip_suffix(')').and_then(|way| way.strip_prefix('(')).unwrap_or(way);
    let way = way.replace("->>", "->");
    format!("({way}->>{})", names::literal(&harmless(name, MAX_NAME_CHARS)))
}

/// What is told of the lists of a field, if it has no other values.
fn lists_of(field: &Field) -> Option<&Items> {
    field.inside.items.as_deref().filter(|items| field.kind == Kind::List && items.elements > 0)
}

fn lengths(items: &Items) -> String {
    let Items { shortest, longest, elements, .. } = items;
    if shortest == longest {
        format!(", {longest} each")
    } else {
        format!(", {shortest}..{longest} each, {elements} in all")
    }
}

/// What many values are called.
fn plural(field: &Field) -> String {
    match (field.kind, &field.inside.items) {
        (Kind::List, Some(items)) => format!("lists of {}", plural(&items.item)),
        (Kind::Json, _) => "json".to_owned(),
        (Kind::Null, _) => "nulls".to_owned(),
        (kind, _) => format!("{}s", kind.name()),
    }
}

fn count(distinct: Option<Count>) -> String {
    match distinct {
        Some(Count::Exactly(count)) => count.to_string(),
        Some(Count::About(count)) => format!("about {count}"),
        None => "no".to_owned(),
    }
}
