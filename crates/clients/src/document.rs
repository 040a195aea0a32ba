//! A client's file as text, with the place of everything in it, and the one way to change it: a stretch of
//! the text is put in the place of another, and everything else stays as it is.
//!
//! How JSON, TOML and YAML are written is in [`crate::json`], [`crate::toml`] and [`crate::yaml`], and [`crate::form`]
//! chooses.

use std::ops::Range;

use crate::value::Value;

const BOM: &str = "\u{feff}";

/// Where something is: the names that lead to it.
pub(crate) type Place = Vec<String>;

/// Something in a file, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

/// What it is.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Text(String),
    Plain(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// A name and what it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// From the name to the end of the value.
    pub(crate) span: Range<usize>,
    pub(crate) value: Node,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) at: usize,
    pub(crate) what: String,
}

/// What becomes of a member of an entry.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    /// It has another value.
    Value(Value),
    /// Others stand in its place; with none, it goes.
    Members(Vec<(String, Value)>),
}

/// Text that takes the place of a stretch of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Unreadable {
    /// What is wrong with a text, by its line.
    pub(crate) fn told(&self, text: &str) -> String {
        let line = text[..self.at.min(text.len())].matches('\n').count() + 1;
        format!("it cannot be understood, and is left as it is; line {line}: {}", self.what)
    }
}

impl Node {
    /// What is at `place`. Of two of the same name the last counts, as it does for the clients.
    pub(crate) fn at(&self, place: &[String]) -> Option<&Node> {
        let Some((key, rest)) = place.split_first() else { return Some(self) };
        self.member(key)?.value.at(rest)
    }

    pub(crate) fn members(&self) -> &[Member] {
        match &self.shape {
            Shape::Table(members) => members,
            Shape::Text(_) | Shape::Plain(_) | Shape::List(_) => &[],
        }
    }

    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// True if this name stands twice in this table.
    pub(crate) fn has_twice(&self, key: &str) -> bool {
        self.members().iter().filter(|member| member.key == key).count() > 1
    }

    /// A name that stands twice in this table.
    pub(crate) fn doubled(&self) -> Option<&str> {
        let keys = self.members().iter().map(|member| member.key.as_str());
        keys.into_iter().find(|key| self.has_twice(key))
    }

    /// What it says.
    pub(crate) fn value(&self) -> Value {
        match &self.shape {
            Shape::Text(text) => Value::Text(text.clone()),
            Shape::Plain(text) => Value::Plain(text.clone()),
            Shape::List(items) => Value::List(items.iter().map(Node::value).collect()),
            Shape::Table(members) => {
                let mut table: Vec<(String, Value)> = Vec::new();
                for member in members {
                    table.retain(|(key, _)| *key != member.key);
                    table.push((member.key.clone(), member.value.value()));
                }
                Value::Table(table)
            }
        }
    }
}

impl Splice {
    /// The text with this in it.
    pub(crate) fn into_text(self, text: &str) -> String {
        [&text[..self.range.start], &self.text, &text[self.range.end..]].concat()
    }

    /// Several splices of a text, none of which overlap, as one that covers `stretch`.
    pub(crate) fn together(text: &str, stretch: Range<usize>, mut all: Vec<Splice>) -> Splice {
        all.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let start = all.first().map_or(stretch.start, |it| it.range.start.min(stretch.start));
        let end = all.last().map_or(stretch.end, |it| it.range.end.max(stretch.end));
        let (mut made, mut at) = (String::new(), start);
        for splice in all {
            made.push_str(&text[at..splice.range.start.max(at)]);
            made.push_str(&splice.text);
            at = splice.range.end.max(at);
        }
        made.push_str(&text[at..end]);
        Splice { range: start..end, text: made }
    }
}

/// A file's text, with the mark in front of it that some editors write.
pub(crate) fn text_of(bytes: &[u8]) -> Result<(&str, &str), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest)))
}

/// The line ends of a text.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Where the line with `at` begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The spaces and tabs before `at`, if its line has nothing else there.
pub(crate) fn indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(before)
}
