//! What is told of a field, and of what lies in it: its name before all else, since a query can be
//! written from a name without facts, and never from facts without the name.

use std::fmt::Write as _;

use forebay_records::{Count, Field, Items, Kind};
use serde_json::{Map, Value, json};

use super::{
    MAX_NAME_CHARS, MAX_VALUE_CHARS,
    harmless::{harmless, harmless_name, quoted},
    names,
    tree::{self, Node, Tree},
};

/// Members that are alike are told of together from this many on.
const MIN_ALIKE: usize = 4;
/// Frequent values are told of up to this length together.
const MAX_VALUES_CHARS: usize = 60;

/// How much is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Fields up to this rank are told of,
    pub(super) told: usize,
    /// up to this one with their facts,
    pub(super) full: usize,
    /// with as many frequent values.
    pub(super) values: usize,
}

/// Tells of fields.
pub(super) struct Teller<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) extent: Extent,
}

impl<'a> Teller<'a> {
    /// The fields of a table in words, and how many are left out.
    pub(super) fn table(&self, table: usize) -> (Vec<String>, usize) {
        self.all(&self.tree.fields(table), &Way::Column(String::new()))
    }

    /// The same as JSON.
    pub(super) fn table_in_json(&self, table: usize) -> (Vec<Value>, usize) {
        self.all_in_json(&self.tree.fields(table), &Way::Column(String::new()))
    }

    fn all(&self, nodes: &[&Node<'a>], way: &Way) -> (Vec<String>, usize) {
        let told = nodes.iter().filter(|node| self.is_told(node));
        let told: Vec<String> = told.map(|node| self.in_words(node, way)).collect();
        let left_out = nodes.len() - told.len();
        (told, left_out)
    }

    fn all_in_json(&self, nodes: &[&Node<'a>], way: &Way) -> (Vec<Value>, usize) {
        let told = nodes.iter().filter(|node| self.is_told(node));
        let told: Vec<Value> = told.map(|node| self.in_json(node, way)).collect();
        let left_out = nodes.len() - told.len();
        (told, left_out)
    }

    fn is_told(&self, node: &Node<'a>) -> bool {
        node.told < self.extent.told
    }

    fn is_full(&self, node: &Node<'a>) -> bool {
        node.full < self.extent.full && self.is_told(node)
    }

    /// `status (string: active 3000, inactive 1500)`, or `offer (struct: price (float 1..9))`; without
    /// facts `status` and `offer {price float}`.
    fn in_words(&self, node: &Node<'a>, way: &Way) -> String {
        let field = node.field;
        let path = way.path(field);
        let members = self.members(node, &way.inside(field, &path));
        if !self.is_full(node) {
            let name = match way {
                Way::Column(_) => names::shown(&field.column, MAX_NAME_CHARS),
                Way::Json(_) => {
                    format!("->>{}", names::json_key(&field.name, MAX_NAME_CHARS))
                }
            };
            let local = way.local(field).map(|local| format!(" (UTC; {local})"));
            return format!("{name}{}{}", brief(field, &members), local.unwrap_or_default());
        }
        let name = match way {
            Way::Column(_) => names::shown(&field.column, MAX_NAME_CHARS),
            Way::Json(_) => path,
        };
        let mut facts = kind(field) + &values(field, self.extent.values);
        if let Some(local) = way.local(field) {
            let _ = write!(facts, ", UTC in SQL, as written in {local}");
        } else if matches!(way, Way::Column(_)) && tree::innermost(field).has_offset {
            facts.push_str(", UTC in SQL");
        }
        if let Some(items) = lists_of(field) {
            facts.push_str(&lengths(items));
        }
        if field.nulls > 0 {
            let _ = write!(facts, ", {} null", field.nulls);
        }
        if !members.is_empty() {
            let _ = write!(facts, ": {members}");
        }
        format!("{name} ({facts})")
    }

    /// What lies in a field, one after the other; those that are alike once for all.
    fn members(&self, node: &Node<'a>, way: &Way) -> String {
        let members = self.tree.members(node);
        let is_any_told = members.iter().any(|member| self.is_told(member));
        if let (Some(first), Way::Column(_), true) = (alike(&members), way, is_any_told) {
            let names: Vec<String> = members
                .iter()
                .filter(|member| self.is_told(member))
                .map(|member| names::shown(&member.field.column, MAX_NAME_CHARS))
                .collect();
            let left_out = members.len() - names.len();
            let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
            // The facts of one would be false of the others.
            let brief = Self { tree: self.tree, extent: Extent { full: 0, ..self.extent } };
            let (mut inside, left_out) = brief.all(&self.tree.members(first), way);
            if left_out > 0 {
                let more = if inside.is_empty() { "members" } else { "more" };
                inside.push(format!("{left_out} {more}"));
            }
            return format!("{}{more}, each with {}", names.join(", "), inside.join(", "));
        }
        let (told, left_out) = self.all(&members, way);
        match (told.is_empty(), left_out) {
            (_, 0) => told.join(", "),
            // As long as their names take no more room than their number.
            (true, 1 | 2) if matches!(way, Way::Column(_)) => {
                let names = members.iter().map(|member| {
                    let name = names::shown(&member.field.column, MAX_NAME_CHARS);
                    format!("{name}{}", kind_alone(member.field))
                });
                names.collect::<Vec<_>>().join(", ")
            }
            (true, count) => format!("{count} members"),
            (false, count) => format!("{}, {count} more", told.join(", ")),
        }
    }

    /// The same as JSON.
    fn in_json(&self, node: &Node<'a>, way: &Way) -> Value {
        let field = node.field;
        let path = way.path(field);
        let name = match way {
            Way::Column(_) => harmless_name(&field.column, MAX_NAME_CHARS),
            Way::Json(_) => path.clone(),
        };
        let mut facts = json!({"name": name});
        self.add_facts(&mut facts, field, self.is_full(node));
        if let Some(local) = way.local(field) {
            facts["local_time_in"] = local.into();
        }
        if field.kind == Kind::Json {
            facts["reach"] = match way {
                Way::Column(_) => format!("({path}->>'$')").into(),
                Way::Json(_) => path.as_str().into(),
            };
        }
        let within = way.inside(field, &path);
        let (members, mut left_out) = self.all_in_json(&self.tree.members(node), &within);
        if self.tree.members(node).is_empty() {
            // What is in lists in JSON, or in JSON in lists, has no name there.
            left_out = tree::innermost(field).inside.members.len();
        }
        let inside = innermost(&mut facts);
        if !members.is_empty() {
            inside["fields"] = members.into();
        }
        if left_out > 0 {
            inside["fields_left_out"] = left_out.into();
        }
        facts
    }

    fn add_facts(&self, facts: &mut Value, field: &Field, is_full: bool) {
        facts["type"] = field.kind.name().into();
        if let (true, Some(items)) = (is_full, lists_of(field)) {
            facts["lengths"] = json!([items.shortest, items.longest]);
        }
        match (field.kind, &field.inside.items, &field.inside.entries) {
            (Kind::List, Some(items), _) => {
                facts["items"] = json!({});
                self.add_facts(&mut facts["items"], &items.item, is_full);
            }
            (Kind::Map, _, Some(entries)) => {
                if let Some(Count::Exactly(count) | Count::About(count)) = entries.key.distinct {
                    facts["keys"] = count.into();
                }
                facts["values"] = json!({});
                self.add_facts(&mut facts["values"], &entries.value, is_full);
            }
            (Kind::Json, ..) => {
                let kinds = field.kinds.iter();
                let kinds = kinds.map(|(kind, count)| (kind.name().to_owned(), json!(count)));
                facts["kinds"] = kinds.collect::<Map<String, Value>>().into();
            }
            _ => {}
        }
        if is_full {
            add_values(facts, field, self.extent.values);
        }
    }
}

fn add_values(facts: &mut Value, field: &Field, count: usize) {
    if let (Some((low, high)), true) = (&field.range, field.kind.is_number_or_time()) {
        facts["min"] = harmless(low, MAX_VALUE_CHARS).into();
        facts["max"] = harmless(high, MAX_VALUE_CHARS).into();
    } else if !field.top.is_empty() {
        let top = field.top.iter().take(count);
        let top = top.map(|(value, count)| (harmless(value, MAX_VALUE_CHARS), json!(count)));
        facts["top"] = top.collect::<Map<String, Value>>().into();
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

/// Where the members of a field stand in its facts: with the items of lists and the values of maps.
fn innermost(facts: &mut Value) -> &mut Value {
    let key = match facts["type"].as_str() {
        Some("list") => "items",
        Some("map") => "values",
        _ => return facts,
    };
    innermost(&mut facts[key])
}

/// A field without its facts, behind its name. What is not told to be anything else is a string.
fn brief(field: &Field, members: &str) -> String {
    let items = field.inside.items.as_deref().map(|items| &items.item);
    let value = field.inside.entries.as_deref().map(|entries| &entries.value);
    match (field.kind, items, value) {
        (Kind::String, ..) => String::new(),
        (Kind::Struct, ..) => format!(" {{{members}}}"),
        (Kind::List, Some(item), _) if !members.is_empty() => {
            format!(" [{}]", brief(item, members).trim_start())
        }
        (Kind::List, Some(item), _) => format!(" [{}]", item.kind.name()),
        (Kind::Map, _, Some(_)) if !members.is_empty() => format!(" {{*: {{{members}}}}}"),
        (Kind::Map, _, Some(value)) => format!(" {{*: {}}}", value.kind.name()),
        (Kind::Json, ..) if !members.is_empty() => format!(" json {{{members}}}"),
        (kind, ..) => format!(" {}", kind.name()),
    }
}

/// A field's type in a word or two, unless it is a string.
fn kind_alone(field: &Field) -> String {
    match (field.kind, &field.inside.items) {
        (Kind::String, _) => String::new(),
        (Kind::List, Some(items)) => format!(" [{}]", items.item.kind.name()),
        (kind, _) => format!(" {}", kind.name()),
    }
}

fn kind(field: &Field) -> String {
    match (field.kind, &field.inside.items, &field.inside.entries) {
        (Kind::List, Some(items), _) if items.elements == 0 => "list, always empty".to_owned(),
        (Kind::List, Some(items), _) => format!("list of {}", plural(&items.item)),
        (Kind::Map, _, Some(entries)) => {
            let keys = count(entries.key.distinct);
            format!("map of {keys} keys to {}", plural(&entries.value))
        }
        (Kind::Json, ..) => json_of(field),
        (kind, ..) => kind.name().to_owned(),
    }
}

/// JSON, and how often it is what.
fn json_of(field: &Field) -> String {
    let kinds = field.kinds.iter();
    let kinds: Vec<String> =
        kinds.map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    if kinds.is_empty() { "json".to_owned() } else { format!("json: {}", kinds.join(", ")) }
}

/// What is told of the values, behind their type.
fn values(field: &Field, most: usize) -> String {
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
        let mut values: Vec<String> = Vec::new();
        let mut chars = 0;
        for (value, times) in plain.top.iter().take(most) {
            // Long texts are poor facts at a high price.
            chars += value.chars().count();
            if !values.is_empty() && chars > MAX_VALUES_CHARS {
                break;
            }
            values.push(format!("{} {times}", quoted(value, MAX_VALUE_CHARS)));
        }
        let _ = write!(facts, ": {}", values.join(", "));
        if let Some(Count::Exactly(count)) = plain.distinct
            && count > values.len() as u64
        {
            let _ = write!(facts, ", {} more", count - values.len() as u64);
        }
    } else if field.kind != Kind::Map {
        match plain.distinct {
            Some(Count::Exactly(0 | 1)) | None => {}
            Some(distinct) => drop(write!(facts, ", {} distinct", count(Some(distinct)))),
        }
    }
    facts
}

/// The first of several members that are structs with the same members; `None` if they differ.
fn alike<'n, 'a>(members: &[&'n Node<'a>]) -> Option<&'n Node<'a>> {
    let (first, others) = members.split_first()?;
    let shape = |node: &Node<'a>| -> Vec<(&'a str, Kind)> {
        let members = node.field.inside.members.iter();
        members.map(|member| (member.column.as_str(), member.kind)).collect()
    };
    let is_struct = |node: &Node<'a>| node.field.kind == Kind::Struct;
    let of_first = shape(first);
    let are_alike = others.iter().all(|node| is_struct(node) && shape(node) == of_first);
    (members.len() >= MIN_ALIKE && is_struct(first) && are_alike).then_some(*first)
}

/// How to get to what lies in something.
enum Way {
    /// By a column and the structs in it, which stand before the name.
    Column(String),
    /// By an expression in brackets that is JSON, or a part of it as a text.
    Json(String),
}

impl Way {
    /// A field, as a query names it.
    fn path(&self, field: &Field) -> String {
        match self {
            Self::Column(before) => {
                format!("{before}{}", names::shown(&field.column, MAX_NAME_CHARS))
            }
            Self::Json(outer) => {
                let outer =
                    outer.trim_start_matches('(').trim_end_matches(')').replace("->>", "->");
                format!("({outer}->>{})", names::json_key(&field.name, MAX_NAME_CHARS))
            }
        }
    }

    /// Where a field's times are as they are written, if that is not where they are in UTC.
    fn local(&self, field: &Field) -> Option<String> {
        match self {
            Self::Column(_) => Some(names::shown(field.local.as_deref()?, MAX_NAME_CHARS)),
            // JSON is as it is written.
            Self::Json(_) => None,
        }
    }

    /// The way to what lies in a field, which is at `path`.
    fn inside(&self, field: &Field, path: &str) -> Self {
        match (self, field.kind) {
            (Self::Json(_), _) | (Self::Column(_), Kind::Json) => Self::Json(path.to_owned()),
            (Self::Column(_), Kind::Struct) => Self::Column(format!("{path}.")),
            // What is in lists and maps is asked for in a table of its own.
            (Self::Column(_), _) => Self::Column(String::new()),
        }
    }
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
        (Kind::Json, _) => json_of(field),
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
