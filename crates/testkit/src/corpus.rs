//! Reads what `forebay wrap --record` has written.

use std::path::Path;

use serde_json::Value;

/// A line of a recorded session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// `client` or `upstream`.
    pub from: String,
    /// Its bytes, terminator included.
    pub line: Vec<u8>,
}

/// The recorded lines of a file, headings left out.
pub fn read(path: &Path) -> Vec<Recorded> {
    let text = std::fs::read_to_string(path).expect("the recording can be read");
    text.lines().filter_map(|line| recorded(&serde_json::from_str(line).unwrap())).collect()
}

fn recorded(entry: &Value) -> Option<Recorded> {
    let from = entry["from"].as_str()?.to_owned();
    let line = match (entry["line"].as_str(), entry["line_hex"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, hex) => from_hex(hex.expect("a line, as text or in hexadecimal")),
    };
    Some(Recorded { from, line })
}

fn from_hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(byte).collect()
}
