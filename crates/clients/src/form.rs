//! How a client's file is written: what can be asked of one and done to it, whatever its form.

use std::ops::Range;

use crate::{
    document::{Edit, Node, Splice, Unreadable},
    json, toml,
    value::Value,
    yaml,
};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, with comments and trailing commas where somebody wrote some.
    Json,
    Toml,
    Yaml,
}

impl Form {
    /// What is in a file; the root is a table.
    pub(crate) fn read(self, text: &str) -> Result<Node, Unreadable> {
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// The stretch that holds all of what is at `place`, with its name.
    pub(crate) fn stretch(self, text: &str, place: &[String]) -> Option<Range<usize>> {
        match self {
            Self::Json => json::stretch(text, place),
            Self::Toml => toml::stretch(text, place),
            Self::Yaml => yaml::stretch(text, place),
        }
    }

    /// Changes members of the table at `place`. The splice covers the whole stretch of that table. `None` if
    /// it is written in a way that this cannot be done in.
    pub(crate) fn edit(
        self,
        text: &str,
        place: &[String],
        edits: &[(&str, Edit)],
    ) -> Option<Splice> {
        match self {
            Self::Json => json::edit(text, place, edits),
            Self::Toml => toml::edit(text, place, edits),
            Self::Yaml => yaml::edit(text, place, edits),
        }
    }

    /// Adds a member at the end of the table at `place`, which is made if it is not there.
    pub(crate) fn add(
        self,
        text: &str,
        place: &[String],
        key: &str,
        value: &Value,
    ) -> Option<Splice> {
        match self {
            Self::Json => json::add(text, place, key, value),
            Self::Toml => toml::add(text, place, key, value),
            Self::Yaml => yaml::add(text, place, key, value),
        }
    }

    /// Takes out what is at `place`, with what is said of it.
    pub(crate) fn move_out(self, text: &str, place: &[String]) -> Option<Splice> {
        match self {
            Self::Json => json::move_out(text, place),
            Self::Toml => toml::remove(text, place),
            Self::Yaml => yaml::remove(text, place),
        }
    }

    /// Takes out what is at `place`.
    pub(crate) fn remove(self, text: &str, place: &[String]) -> Option<Splice> {
        match self {
            Self::Json => json::remove(text, place),
            Self::Toml => toml::remove(text, place),
            Self::Yaml => yaml::remove(text, place),
        }
    }
}
