//! Which fields are told of, and which of them in full: the most telling first.
//!
//! The fields of all tables, and what lies in them, are one list by weight. A field is told of where
//! the one is told of that it lies in, so none weighs more than that.

use crate::profile::{Count, Field, Kind, Profile, Table};

/// The fields of all tables.
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    /// The fields of each table, by their places among all.
    tables: Vec<Vec<usize>>,
}

/// A field, and what lies in it.
pub(super) struct Node<'a> {
    pub(super) field: &'a Field,
    /// How many are told of before it.
    pub(super) rank: usize,
    /// The table that its lists or maps are.
    pub(super) table: Option<usize>,
    weight: u64,
    members: Vec<usize>,
}

/// Where fields lie.
struct Place<'a> {
    tables: &'a [Table],
    table: usize,
    column: Vec<String>,
    /// What the field weighs that they lie in.
    most: u64,
}

impl<'a> Tree<'a> {
    pub(super) fn of(profile: &'a Profile) -> Self {
        let mut tree = Self { nodes: Vec::new(), tables: Vec::new() };
        for (index, table) in profile.tables.iter().enumerate() {
            // The main table is what a result is about.
            let most = if index == 0 { 100 } else { 60 };
            let place = Place { tables: &profile.tables, table: index, column: Vec::new(), most };
            let fields = table.fields.iter().map(|field| tree.add(&place, field)).collect();
            tree.tables.push(fields);
        }
        let mut order: Vec<usize> = (0..tree.nodes.len()).collect();
        // Stable: of equally telling ones the first comes first.
        order.sort_by_key(|index| std::cmp::Reverse(tree.nodes[*index].weight));
        for (rank, index) in order.into_iter().enumerate() {
            tree.nodes[index].rank = rank;
        }
        tree
    }

    /// How many fields there are in all.
    pub(super) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The fields of a table.
    pub(super) fn fields(&self, table: usize) -> impl Iterator<Item = &Node<'a>> {
        self.tables.get(table).into_iter().flatten().map(|index| &self.nodes[*index])
    }

    /// What lies in a field and has a name.
    pub(super) fn members(&self, node: &Node<'a>) -> impl Iterator<Item = &Node<'a>> {
        node.members.iter().map(|index| &self.nodes[*index])
    }

    fn add(&mut self, place: &Place<'a>, field: &'a Field) -> usize {
        let column = [place.column.as_slice(), std::slice::from_ref(&field.column)].concat();
        let weight = weight(field).min(place.most);
        let index = self.nodes.len();
        let table = place.table_at(&column);
        self.nodes.push(Node { field, rank: 0, table, weight, members: Vec::new() });
        // What is in a table of its own is told of there.
        if table.is_none() && matches!(field.kind, Kind::Struct | Kind::Json) {
            let inside = Place { column, most: weight, ..*place };
            let members = field.inside.members.iter();
            self.nodes[index].members = members.map(|member| self.add(&inside, member)).collect();
        }
        index
    }
}

impl Place<'_> {
    /// The table that the lists or maps of a column are.
    fn table_at(&self, column: &[String]) -> Option<usize> {
        self.tables.iter().position(|table| {
            let within = table.within.as_ref();
            within.is_some_and(|within| within.parent == self.table && within.column == column)
        })
    }
}

/// How much a field tells, up to 100.
fn weight(field: &Field) -> u64 {
    let filled = 10 * field.present / (field.present + field.nulls).max(1);
    let telling = match field.kind {
        _ if field.present == 0 => 0,
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
