//! How a result is put together again from its payloads.

use serde::{Deserialize, Serialize};

/// What is left of a result when its payloads are taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Where payloads were cut out, in their order.
    pub holes: Vec<Hole>,
    /// The part that it is, if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The text itself, if it is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Where a payload was cut out of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// How the payload stood there.
    #[serde(rename = "as")]
    pub encoding: Encoding,
    /// Where it is in the template.
    pub at: u64,
    /// How many bytes of the payload, if not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// From which of its bytes on, if not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// Which payload.
    pub part: usize,
}

/// How a payload stood in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As a JSON string.
    Text,
    /// As it is.
    #[serde(alias = "part")]
    Json,
    /// As the inside of a JSON string, whose quotes stand in the template.
    Inside,
    /// As base64, in a string that stands in the template.
    Base64,
}
