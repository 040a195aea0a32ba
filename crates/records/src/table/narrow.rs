//! A table must not have more columns than a database can hold: each takes memory, however few
//! values it has. Where members of structs are too many, the structs that fewest records have stay JSON.

use super::{Field, Kind, field::Nested};

/// As many columns, those of members included.
const MAX_COLUMNS: usize = 1_000;

/// Makes fields JSON until all columns together are few enough.
pub(super) fn to_fit(fields: &mut [Field]) {
    // However many fields there are, there is room for what most records have.
    let most = MAX_COLUMNS.max(fields.len() + MAX_COLUMNS / 2);
    let mut all: usize = fields.iter().map(width).sum();
    let mut order: Vec<usize> = (0..fields.len()).collect();
    // Of equally rare ones the widest.
    order.sort_by_cached_key(|index| {
        (fields[*index].present, std::cmp::Reverse(width(&fields[*index])))
    });
    for index in order {
        let width = width(&fields[index]);
        if all <= most {
            return;
        }
        if width > 1 {
            make_json(&mut fields[index]);
            all -= width - 1;
        }
    }
}

/// How many columns a field takes.
fn width(field: &Field) -> usize {
    let inside = &field.inside;
    match (field.kind, &inside.items, &inside.entries) {
        (Kind::Struct, ..) => inside.members.iter().map(width).sum(),
        (Kind::List, Some(items), _) => width(&items.item),
        (Kind::Map, _, Some(entries)) => 1 + width(&entries.value),
        _ => 1,
    }
}

fn make_json(field: &mut Field) {
    let kind = if field.kind == Kind::List { Kind::List } else { Kind::Struct };
    field.kinds = vec![(kind, field.present)];
    field.kind = Kind::Json;
    field.inside = Nested::default();
}
