//! Which fields are told of, and which of them with their facts: the most telling first.
//!
//! The fields of all tables, and what lies in them, are one list. A field is told of where the one is
//! told of that it lies in, so none weighs more than that, or comes before it.

use forebay_records::{Count, Field, Kind, Profile};

/// The fields of all tables that are not themselves inside others.
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    /// The fields of each table, by their places among all.
    tables: Vec<Vec<usize>>,
}

/// A field, and what lies in it.
pub(super) struct Node<'a> {
    pub(super) field: &'a Field,
    /// How many are told of before it: what is further out comes first.
    pub(super) told: usize,
    /// How many are told of with their facts before it: what is more telling comes first.
    pub(super) full: usize,
    weight: u64,
    depth: usize,
    /// How many lie in the same field; of a table's own fields this does not count.
    siblings: usize,
    members: Vec<usize>,
}

/// Where a field lies.
#[derive(Clone, Copy)]
struct Within {
    depth: usize,
    siblings: usize,
    /// In a value that is JSON.
    is_json: bool,
}

impl<'a> Tree<'a> {
    pub(super) fn of(profile: &'a Profile) -> Self {
        let mut tree = Self { nodes: Vec::new(), tables: Vec::new() };
        for (index, table) in profile.tables.iter().enumerate() {
            // The main table is what a result is about; those inside are told of with their lists.
            let most = if index == 0 { 100 } else { 60 };
            let fields = if table.within.is_none() { table.fields.as_slice() } else { &[] };
            let fields = fields
                .iter()
                .map(|field| {
                    tree.add(field, most, Within { depth: 0, siblings: 0, is_json: false })
                })
                .collect();
            tree.tables.push(fields);
        }
        let mut order: Vec<usize> = (0..tree.nodes.len()).collect();
        // Stable: of equally telling ones the first comes first.
        order.sort_by_key(|index| std::cmp::Reverse(tree.nodes[*index].weight));
        for (rank, index) in order.iter().enumerate() {
            tree.nodes[*index].full = rank;
        }
        // The few members of a small object are all told of before some of a large one are.
        order.sort_by_key(|index| (tree.nodes[*index].depth, tree.nodes[*index].siblings));
        for (rank, index) in order.into_iter().enumerate() {
            tree.nodes[index].told = rank;
        }
        tree
    }

    /// How many fields there are in all.
    pub(super) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The fields of a table.
    pub(super) fn fields(&self, table: usize) -> Vec<&Node<'a>> {
        let fields = self.tables.get(table).into_iter().flatten();
        fields.map(|index| &self.nodes[*index]).collect()
    }

    /// What lies in a field and has a name: the members of its objects, or of those in its lists or
    /// maps.
    pub(super) fn members(&self, node: &Node<'a>) -> Vec<&Node<'a>> {
        node.members.iter().map(|index| &self.nodes[*index]).collect()
    }

    fn add(&mut self, field: &'a Field, most: u64, within: Within) -> usize {
        let weight = weight(field).min(most);
        let index = self.nodes.len();
        let Within { depth, siblings, .. } = within;
        let members = Vec::new();
        self.nodes.push(Node { field, told: 0, full: 0, weight, depth, siblings, members });
        // From JSON, only what is in objects can be had by name.
        let is_reached = !within.is_json || matches!(field.kind, Kind::Struct | Kind::Json);
        let members = if is_reached { members_of(field) } else { &[] };
        let is_json = within.is_json || field.kind == Kind::Json;
        let further = Within { depth: depth + 1, siblings: members.len(), is_json };
        // What is further in tells a little less.
        let inside = weight * 9 / 10;
        self.nodes[index].members =
            members.iter().map(|field| self.add(field, inside, further)).collect();
        index
    }
}

/// The members of a field's objects, or of those in its lists or maps.
fn members_of(field: &Field) -> &[Field] {
    let innermost = innermost(field);
    match (field.kind, innermost.kind) {
        (Kind::Struct | Kind::Json, _) | (Kind::List | Kind::Map, Kind::Struct) => {
            &innermost.inside.members
        }
        _ => &[],
    }
}

/// The values of a field: what is in its lists and maps, however many lie in each other.
pub(super) fn innermost(field: &Field) -> &Field {
    match (field.kind, &field.inside.items, &field.inside.entries) {
        (Kind::List, Some(items), _) => innermost(&items.item),
        (Kind::Map, _, Some(entries)) => innermost(&entries.value),
        _ => field,
    }
}

/// How much a field tells, up to 100.
fn weight(field: &Field) -> u64 {
    let filled = 10 * field.present / (field.present + field.nulls).max(1);
    let telling = match field.kind {
        _ if field.present == 0 => 0,
        // What kind of records there are.
        _ if field.carried.is_some() => 10,
        // As much as what is in it.
        Kind::Struct => return field.inside.members.iter().map(weight).max().unwrap_or(0),
        Kind::List | Kind::Map => 8,
        Kind::Json => 6,
        // One value in all records tells little.
        _ if field.distinct == Some(Count::Exactly(1)) => 2,
        _ if !field.top.is_empty() => 9,
        _ if field.is_unique() => 8,
        kind if kind.is_number_or_time() => 7,
        _ if field.longest <= 80 => 5,
        _ => 3,
    };
    // What few records have is of use to whom it concerns.
    telling * filled.max(2)
}
