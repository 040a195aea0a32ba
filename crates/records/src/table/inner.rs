//! Tables inside: lists of objects, and maps, that lie in the records of another table.
//!
//! Each is a table of its own, over all records, and each of its rows comes with what tells the record
//! apart that it lies in. Nothing is read for them: their facts are those of the lists and maps.

use std::collections::VecDeque;

use super::{
    Carried, Field, InnerForm, Kind, Table, Within,
    names::{self, KEY},
};
use crate::strings::step;

/// More of them are not described.
const MAX_INNER: usize = 100;
/// A longer value does not tell records apart at a glance.
const MAX_KEY_BYTES: usize = 120;
/// Without a key, as many fields of a record come along.
const MAX_CARRIED: usize = 3;

/// The tables inside `tables`, and how many there are besides.
pub(crate) fn of(tables: &[Table]) -> (Vec<Table>, usize) {
    let mut found: Vec<Table> = Vec::new();
    let mut left_out = 0;
    let mut queue: VecDeque<usize> = (0..tables.len()).collect();
    while let Some(parent) = queue.pop_front() {
        let table = tables.get(parent).unwrap_or_else(|| &found[parent - tables.len()]);
        for inner in within(parent, table) {
            if found.len() == MAX_INNER {
                left_out += 1;
                continue;
            }
            queue.push_back(tables.len() + found.len());
            found.push(inner);
        }
    }
    (found, left_out)
}

/// A list or a map in records.
struct Found<'t> {
    path: String,
    column: Vec<String>,
    form: InnerForm,
    records: u64,
    fields: Vec<Field>,
    from: &'t Table,
}

/// The tables that lie in the records of `table`.
fn within(parent: usize, table: &Table) -> Vec<Table> {
    let is_map = table.kind == "map"
        || table.within.as_ref().is_some_and(|within| within.form != InnerForm::List);
    let base = match table.kind {
        "object" => table.path.clone(),
        _ if is_map => format!("{}.*", table.path),
        _ => format!("{}[]", table.path),
    };
    let mut found = Vec::new();
    look(&mut found, table, &table.fields, &base, &[]);
    let is_plain =
        table.within.as_ref().is_some_and(|it| it.form == InnerForm::Map { value_is_plain: true });
    for inner in &mut found {
        if is_plain && inner.column.len() == 1 {
            // What is called `value` is the member itself.
            inner.path.clone_from(&base);
        }
    }
    found.into_iter().map(|inner| inner.table(parent)).collect()
}

fn look<'t>(
    found: &mut Vec<Found<'t>>,
    from: &'t Table,
    fields: &[Field],
    path: &str,
    column: &[String],
) {
    for field in fields.iter().filter(|field| field.carried.is_none()) {
        let path = step(path, field.name.as_bytes());
        let column = [column, std::slice::from_ref(&field.column)].concat();
        match (field.kind, &field.inside.items, &field.inside.entries) {
            (Kind::Struct, ..) => look(found, from, &field.inside.members, &path, &column),
            (Kind::List, Some(items), _) if items.item.kind == Kind::Struct => found.push(Found {
                path,
                column,
                form: InnerForm::List,
                records: items.elements,
                fields: items.item.inside.members.clone(),
                from,
            }),
            (Kind::Map, _, Some(entries)) => {
                let mut key = entries.key.clone();
                key.name = String::from_utf8_lossy(KEY).into_owned();
                // Only members of objects have their local times beside them.
                key.has_offset = false;
                let mut fields = vec![key];
                let value_is_plain = entries.value.kind != Kind::Struct;
                if value_is_plain {
                    fields.push(Field { has_offset: false, ..entries.value.clone() });
                } else {
                    fields.extend(entries.value.inside.members.iter().cloned());
                }
                names::settle(&mut fields);
                let records = entries.key.present;
                found.push(Found {
                    path,
                    column,
                    form: InnerForm::Map { value_is_plain },
                    records,
                    fields,
                    from,
                });
            }
            _ => {}
        }
    }
}

impl Found<'_> {
    fn table(self, parent: usize) -> Table {
        let columns = self.fields.iter().map(|field| field.column.as_str());
        let locals = self.fields.iter().filter_map(|field| field.local.as_deref());
        let taken: Vec<&str> = columns.chain(locals).collect();
        let (carried, has_number) = carried(self.from, &taken);
        Table {
            path: self.path,
            kind: "inner",
            header: None,
            records: self.records,
            observed: self.records,
            fields: self.fields,
            other_fields: 0,
            skipped: 0,
            // Told of the table that it lies in.
            repeated: 0,
            samples: Vec::new(),
            without: None,
            within: Some(Within {
                parent,
                form: self.form,
                column: self.column,
                carried,
                has_number,
            }),
        }
    }
}

/// What of a table's records comes with what lies in them, and whether their numbers must.
fn carried(table: &Table, taken: &[&str]) -> (Vec<Carried>, bool) {
    let mut chosen: Vec<Vec<String>> = Vec::new();
    if let Some(within) = &table.within {
        // What tells the other's own parents apart.
        chosen.extend(within.carried.iter().map(|one| vec![one.name.clone()]));
    }
    let of_parents = table.fields.iter().filter(|field| field.carried.is_some());
    chosen.extend(of_parents.map(|field| vec![field.column.clone()]));
    let further_out = chosen.len();
    let mut has_number = false;
    if table.records > 1 {
        let keys = keys(table);
        has_number = keys.is_empty();
        let others = if has_number { labels(table) } else { keys };
        for one in others {
            if !chosen.contains(&one) {
                chosen.push(one);
            }
        }
    }
    // What is nearer is named first: `parent_id` is the parent's, `parent_parent_id` that of its own.
    let mut names: Vec<String> = vec![String::new(); chosen.len()];
    for index in (further_out..chosen.len()).chain(0..further_out) {
        let mut name = chosen[index].last().cloned().unwrap_or_default();
        let is_taken = |name: &str| {
            taken.iter().any(|known| known.eq_ignore_ascii_case(name))
                || names.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        while is_taken(&name) {
            name = format!("parent_{name}");
        }
        names[index] = name;
    }
    let carried = names.into_iter().zip(chosen).map(|(name, from)| Carried { name, from });
    (carried.collect(), has_number)
}

/// The fields that tell records apart: the best name and the best number, as far as there are any.
fn keys(table: &Table) -> Vec<Vec<String>> {
    let mut unique: Vec<(u8, Vec<String>)> = Vec::new();
    let mut visit = |field: &Field, path: Vec<String>| {
        if field.is_unique() && is_short(field) && field.kind != Kind::Float {
            unique.push((rank(field), path));
        }
    };
    for field in &table.fields {
        visit(field, vec![field.column.clone()]);
        if field.kind == Kind::Struct {
            for member in &field.inside.members {
                visit(member, vec![field.column.clone(), member.column.clone()]);
            }
        }
    }
    // Stable: of equally good ones the first comes first.
    unique.sort_by_key(|(rank, _)| *rank);
    let mut chosen: Vec<Vec<String>> = Vec::new();
    let mut ranks: Vec<u8> = Vec::new();
    for (rank, path) in unique {
        let adds = match rank {
            IDENTIFIER | NAME => !ranks.contains(&rank),
            _ => chosen.is_empty(),
        };
        if adds {
            ranks.push(rank);
            chosen.push(path);
        }
    }
    chosen
}

const IDENTIFIER: u8 = 0;
const NAME: u8 = 1;

/// How well a field tells records apart, going by its name, the best first. A time does so by chance.
fn rank(field: &Field) -> u8 {
    const IDENTIFIERS: [&str; 7] = ["id", "key", "code", "number", "arn", "guid", "sku"];
    const NAMES: [&str; 7] = ["name", "title", "path", "slug", "login", "label", "version"];
    let name = field.name.to_lowercase();
    if matches!(field.kind, Kind::Timestamp | Kind::Date) {
        3
    } else if IDENTIFIERS.iter().any(|end| name.ends_with(end)) {
        IDENTIFIER
    } else if NAMES.iter().any(|end| name.ends_with(end)) {
        NAME
    } else {
        2
    }
}

/// Short values that say what a record is about, where none tells it apart.
fn labels(table: &Table) -> Vec<Vec<String>> {
    let are_labels = |field: &Field| {
        field.kind == Kind::Struct
            && field.inside.members.iter().all(|member| is_plain(member) && is_short(member))
    };
    let plain = table.fields.iter().filter(|field| is_plain(field) && is_short(field));
    let labels = table.fields.iter().filter(|field| are_labels(field)).take(2);
    let chosen = labels.chain(plain).filter(|field| field.present > 0).take(MAX_CARRIED);
    chosen.map(|field| vec![field.column.clone()]).collect()
}

fn is_plain(field: &Field) -> bool {
    !matches!(field.kind, Kind::Struct | Kind::Map | Kind::List | Kind::Json)
}

fn is_short(field: &Field) -> bool {
    is_plain(field) && field.longest <= MAX_KEY_BYTES
}
