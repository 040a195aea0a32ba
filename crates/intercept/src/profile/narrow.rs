//! A table must not have more columns than a database can hold: each takes memory, however few
//! values it has. Where members of structs are too many, the widest structs stay JSON.

use super::{Field, Kind, field::Nested};

/// As many columns, those of members included.
const MAX_COLUMNS: usize = 1_000;

/// Makes fields JSON until all columns together are few enough.
pub(super) fn to_fit(fields: &mut [Field]) {
    let most = MAX_COLUMNS.max(fields.len());
    let mut widths: Vec<usize> = fields.iter().map(width).collect();
    let mut all: usize = widths.iter().sum();
    while all > most {
        let Some((index, widest)) = widths.iter().copied().enumerate().max_by_key(|(_, it)| *it)
        else {
            return;
        };
        make_json(&mut fields[index]);
        widths[index] = 1;
        all -= widest - 1;
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
