//! How many values of a field are of which kind.

use super::kind::Kind;

/// How many values there are of each kind that JSON tells apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kinds {
    pub(super) integers: u64,
    pub(super) floats: u64,
    pub(super) booleans: u64,
    pub(super) texts: u64,
    pub(super) structs: u64,
    pub(super) lists: u64,
}

impl Kinds {
    pub(super) fn plain(&self) -> u64 {
        self.integers + self.floats + self.booleans + self.texts
    }

    pub(super) fn all(&self) -> u64 {
        self.plain() + self.structs + self.lists
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.integers += other.integers;
        self.floats += other.floats;
        self.booleans += other.booleans;
        self.texts += other.texts;
        self.structs += other.structs;
        self.lists += other.lists;
    }

    /// Those that there are, by how many.
    pub(super) fn listed(&self) -> Vec<(Kind, u64)> {
        let mut listed = vec![
            (Kind::Struct, self.structs),
            (Kind::List, self.lists),
            (Kind::String, self.texts),
            (Kind::Integer, self.integers),
            (Kind::Float, self.floats),
            (Kind::Boolean, self.booleans),
        ];
        listed.retain(|(_, count)| *count > 0);
        listed.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        listed
    }
}
