//! What a file in TOML says, as a tree.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    kind::Given,
    tree::{Member, Node, Shape},
};

/// What a table holds, in the order of the file, which the table does not keep.
pub(super) fn members(table: &DeTable<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(key, value)| Member {
            key: key.get_ref().to_string(),
            at: key.span().start,
            value: node(value),
        })
        .collect();
    members.sort_by_key(|member| member.at);
    members
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    let shape = match value.get_ref() {
        DeValue::Array(items) => Shape::List(items.iter().map(node).collect()),
        DeValue::Table(table) => Shape::Table(members(table)),
        DeValue::String(text) => Shape::Plain(Given::Text(text.to_string())),
        DeValue::Integer(number) => Shape::Plain(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Given::Other("a number so large"), Given::Number),
        ),
        DeValue::Boolean(on) => Shape::Plain(Given::Switch(*on)),
        DeValue::Float(_) => Shape::Plain(Given::Other("a number with a fraction")),
        DeValue::Datetime(_) => Shape::Plain(Given::Other("a date")),
    };
    Node { at: value.span().start, shape }
}
