//! The references among the arguments of a call, and where each stands.

use std::{fmt, ops::Range};

use forebay_store::ADDRESS;
use forebay_wire::walk::{self, Type};
use serde_json::Value;

use super::form::{MEMBER, Reference};
use crate::{ToolError, json};

/// What lies deeper is not looked at. No tool has such a parameter, and the walk stays short.
const MAX_DEPTH: usize = 100;

/// A reference among the arguments.
#[derive(Debug)]
pub(super) struct Found {
    /// Where it is written.
    pub(super) span: Range<usize>,
    pub(super) path: Path,
    /// What it says, or why that cannot be understood.
    pub(super) reference: Result<Reference, ToolError>,
}

/// The way to a value among the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<Step>);

/// A step of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if place == 0 => formatter.write_str(&forebay_query::plain(key))?,
                Step::Key(key) => write!(formatter, ".{}", forebay_query::plain(key))?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The references in a call's `params`, in the order in which they stand.
pub(super) fn references(params: &[u8]) -> Vec<Found> {
    let mut search = Search { all: params, path: Path::default(), found: Vec::new() };
    for (key, value) in walk::members(params).into_iter().flatten() {
        if key == b"arguments" {
            search.look(value);
        }
    }
    search.found
}

struct Search<'a> {
    all: &'a [u8],
    path: Path,
    found: Vec<Found>,
}

impl Search<'_> {
    fn look(&mut self, value: &[u8]) {
        match walk::type_of(value) {
            Some(Type::String) => {
                // Most texts begin otherwise, and need not be read.
                let text = begins_like_one(value).then(|| serde_json::from_slice::<String>(value));
                if let Some(Ok(text)) = text
                    && let Some(reference) = Reference::of_text(&text)
                {
                    self.add(value, reference);
                }
            }
            Some(Type::Object) => self.look_into_object(value),
            Some(Type::Array) if self.path.0.len() < MAX_DEPTH => {
                for (index, element) in walk::elements(value).into_iter().flatten().enumerate() {
                    self.path.0.push(Step::Index(index));
                    self.look(element);
                    self.path.0.pop();
                }
            }
            Some(Type::Array | Type::Number | Type::Boolean | Type::Null) | None => {}
        }
    }

    fn look_into_object(&mut self, value: &[u8]) {
        let mut members = walk::members(value).into_iter().flatten();
        let is_one = !self.path.0.is_empty() && members.any(|(key, _)| key == MEMBER.as_bytes());
        if is_one
            && let Ok(Value::Object(object)) = serde_json::from_slice(value)
            && let Some(reference) = Reference::of_object(&object)
        {
            return self.add(value, reference);
        }
        if self.path.0.len() >= MAX_DEPTH {
            return;
        }
        for (key, member) in walk::members(value).into_iter().flatten() {
            self.path.0.push(Step::Key(json::name(key)));
            self.look(member);
            self.path.0.pop();
        }
    }

    fn add(&mut self, value: &[u8], reference: Result<Reference, ToolError>) {
        let start = value.as_ptr().addr() - self.all.as_ptr().addr();
        let span = start..start + value.len();
        self.found.push(Found { span, path: self.path.clone(), reference });
    }
}

/// True if a JSON string may be a reference, by how it begins. Blanks may stand before it, and
/// any character may be escaped.
fn begins_like_one(json: &[u8]) -> bool {
    let text = json.strip_prefix(b"\"").unwrap_or_default().trim_ascii_start();
    text.first() == Some(&b'\\') || text.starts_with(&ADDRESS.as_bytes()[..1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(arguments: &str) -> Vec<(String, String, bool)> {
        let params = format!(
            r#"{{"name":"x","arguments":{arguments},"_meta":{{"a":"forebay://dataset/b"}}}}"#
        );
        let found = references(params.as_bytes());
        let shown =
            |it: Found| (it.path.to_string(), params[it.span].to_owned(), it.reference.is_ok());
        found.into_iter().map(shown).collect()
    }

    #[test]
    fn references_are_found_wherever_they_stand_and_nothing_else() {
        let arguments = r#"{ "a" : "forebay://dataset/one", "b":"see forebay://dataset/one",
            "c":[1,{"d e":{"$dataset":"two"}},"forebay:\/\/dataset\/three"],
            "f":{"$dataset":1}, "g":"\u0066orebay://dataset/four", "h":{"dataset":"x"}, "i":"\"" }"#;
        let expected = [
            ("a", r#""forebay://dataset/one""#, true),
            ("c[1].d e", r#"{"$dataset":"two"}"#, true),
            ("c[2]", r#""forebay:\/\/dataset\/three""#, true),
            ("f", r#"{"$dataset":1}"#, false),
            ("g", r#""\u0066orebay://dataset/four""#, true),
        ];
        let expected = expected.map(|(path, span, ok)| (path.to_owned(), span.to_owned(), ok));
        assert_eq!(found(arguments), expected);
    }

    #[test]
    fn the_arguments_themselves_are_none_and_what_is_broken_is_passed_over() {
        assert_eq!(found(r#"{"$dataset":"one"}"#), []);
        assert!(references(b"").is_empty() && references(b"{\"arguments\":{\"a\":[").is_empty());
        let deep = format!("{}\"forebay://dataset/one\"{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(found(&format!("{{\"a\":{deep}}}")), []);
    }
}
