//! The metadata file: what a dataset is, in fields whose names are a contract.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{DatasetId, Viewer};

/// What the store is told about a dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The tool that gave the result.
    pub tool: String,
    /// The upstream it belongs to.
    pub server: String,
    /// How long the result was, in bytes.
    pub original_size: u64,
    /// How many records it holds; `None` if it is no table.
    pub record_count: Option<u64>,
    /// The fields of the records.
    pub schema: Value,
    /// The facts that the summary is made of.
    pub summary: Value,
    /// Whatever else is known.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The content of a metadata file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The dataset's name.
    pub id: DatasetId,
    /// When it was captured.
    pub timestamp: Timestamp,
    /// Its payloads, in their order.
    pub parts: Vec<Part>,
    /// What it is.
    #[serde(flatten)]
    pub description: Description,
}

/// A payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its file's name, without what compression adds.
    pub file: String,
    /// How long it is, uncompressed.
    pub bytes: u64,
    /// The BLAKE3 hash of its bytes, uncompressed, in hexadecimal.
    pub blake3: String,
}

impl Description {
    /// Notes in which session it was kept, and for which project.
    pub fn set_origin(&mut self, viewer: &Viewer) {
        let origin = [(SESSION, &viewer.session), (PROJECT, &viewer.project)];
        for (name, value) in origin {
            if let Some(value) = value {
                self.more.insert(name.to_owned(), value.as_str().into());
            }
        }
    }
}

const SESSION: &str = "session";
const PROJECT: &str = "project";

impl Metadata {
    /// The session in which it was kept.
    pub fn session(&self) -> Option<&str> {
        self.description.more.get(SESSION).and_then(Value::as_str)
    }

    /// The project for which it was kept.
    pub fn project(&self) -> Option<&str> {
        self.description.more.get(PROJECT).and_then(Value::as_str)
    }

    /// The hash that two datasets share if their payloads are equal.
    pub(crate) fn content(&self) -> String {
        let hashes: Vec<&str> = self.parts.iter().map(|part| part.blake3.as_str()).collect();
        hashes.join("+")
    }

    /// How long all payloads are together, uncompressed.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}
