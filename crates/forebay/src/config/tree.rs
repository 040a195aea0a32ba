//! What a file says, whichever notation it has: values, and where each stands.

use super::kind::Given;

/// A value, and where it begins, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) shape: Shape,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// What holds no others.
    Plain(Given),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Member>),
}

/// A value in a table.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) at: usize,
    pub(super) value: Node,
}

/// What is wrong, and where: the file and what follows from it are known to whoever reads it.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Node {
    /// The value without its place.
    pub(super) fn given(&self) -> Given {
        match &self.shape {
            Shape::Plain(given) => given.clone(),
            Shape::List(items) => Given::List(items.iter().map(Self::given).collect()),
            Shape::Table(members) => Given::Table(
                members.iter().map(|member| (member.key.clone(), member.value.given())).collect(),
            ),
        }
    }
}

impl Mistake {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// The line in which the byte at `at` is; the first is 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}
