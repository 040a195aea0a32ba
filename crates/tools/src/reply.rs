//! What a tool answers: blocks of content, the first of which is the data.

use forebay_query::Source;
use forebay_store::DatasetId;
use serde_json::{Value, json};

/// An answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reply {
    blocks: Vec<Value>,
    is_error: bool,
    /// The datasets that were read for it, as far as the arguments do not name them; each once.
    datasets: Vec<DatasetId>,
}

impl Reply {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    pub(crate) fn is_error(&self) -> bool {
        self.is_error
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
        let datasets = sources.iter().map(|source| source.dataset.clone());
        self.and_note(told(sources)).made_from(datasets)
    }

    /// The same, for which these datasets were read.
    pub(crate) fn made_from(mut self, datasets: impl IntoIterator<Item = DatasetId>) -> Self {
        for dataset in datasets {
            if !self.datasets.contains(&dataset) {
                self.datasets.push(dataset);
            }
        }
        self
    }

    /// The datasets that were read for it, as far as the arguments do not name them.
    pub(crate) fn datasets(&self) -> &[DatasetId] {
        &self.datasets
    }

    pub(crate) fn and(mut self, block: Value) -> Self {
        self.blocks.push(block);
        self
    }

    pub(crate) fn and_all(mut self, blocks: impl IntoIterator<Item = Value>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// What its blocks say, each on lines of its own.
    pub(crate) fn texts(&self) -> String {
        let texts: Vec<&str> =
            self.blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// The same for a client that knows no links: each is told as a text.
    pub(crate) fn without_links(mut self) -> Self {
        for block in self.blocks.iter_mut().filter(|block| block["type"] == "resource_link") {
            let text = |key: &str| block[key].as_str().unwrap_or_default();
            let (name, kind, uri) = (text("name"), text("mimeType"), text("uri"));
            let about = match text("description") {
                "" => String::new(),
                description => format!(", {description}"),
            };
            let told = format!("File: {name} ({kind}, {} bytes{about}): {uri}", block["size"]);
            *block = json!({"type": "text", "text": told});
        }
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
