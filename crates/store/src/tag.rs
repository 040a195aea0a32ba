//! A tag that somebody gives to a dataset, and how those begin that nobody has to give.

use std::fmt;

/// A tag is no longer than this.
pub(crate) const MAX_CHARS: usize = 64;

/// What stands before the name of a server in a tag.
pub(crate) const SERVER: &str = "server:";
/// What stands before the name of a tool in a tag.
pub(crate) const TOOL: &str = "tool:";
/// What stands before a kind of file in a tag.
pub(crate) const KIND: &str = "kind:";

/// A word that somebody has given to a dataset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    /// Reads a tag, or says why it can be none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fits = |letter: char| letter.is_alphanumeric() || "-_.:/".contains(letter);
        if text.is_empty() || text.chars().count() > MAX_CHARS || !text.chars().all(fits) {
            return Err(format!(
                "a tag is 1 to {MAX_CHARS} letters, digits, and - _ . : /, such as `invoices/2026`"
            ));
        }
        match [SERVER, TOOL, KIND].iter().find(|given| text.starts_with(**given)) {
            Some(given) => Err(format!("tags that begin with `{given}` are given by Forebay")),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}
