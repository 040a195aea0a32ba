//! What a tool answers: blocks of content, the first of which is the data.

use forebay_query::Source;
use serde_json::{Value, json};

/// An answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reply {
    blocks: Vec<Value>,
    is_error: bool,
}

impl Reply {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// An error, which the model reads.
    pub(crate) fn error(text: &str) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    pub(crate) fn and_text(self, text: impl Into<String>) -> Self {
        self.and(json!({"type": "text", "text": text.into()}))
    }

    /// A note, if there is something to note.
    pub(crate) fn and_note(self, note: Option<String>) -> Self {
        match note {
            Some(note) => self.and_text(note),
            None => self,
        }
    }

    /// What the names of tools in a query stood for, if there were any.
    pub(crate) fn and_sources(self, sources: &[Source]) -> Self {
        self.and_note(told(sources))
    }

    pub(crate) fn and(mut self, block: Value) -> Self {
        self.blocks.push(block);
        self
    }

    /// The result of the call, as JSON.
    pub(crate) fn into_json(self) -> Vec<u8> {
        let mut result = json!({"content": self.blocks});
        if self.is_error {
            result["isError"] = true.into();
        }
        result.to_string().into_bytes()
    }
}

/// What the names of tools in a query stood for, in words.
pub(crate) fn told(sources: &[Source]) -> Option<String> {
    let told: Vec<String> = sources.iter().map(ToString::to_string).collect();
    (!told.is_empty()).then(|| format!("{}.", told.join("; ")))
}
