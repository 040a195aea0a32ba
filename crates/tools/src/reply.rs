//! What a tool answers: blocks of content, the first of which is the data.

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
