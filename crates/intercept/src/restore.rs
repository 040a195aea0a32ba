//! Puts a result together again from what was kept of it.

use std::io::{self, Read, Write};

use forebay_store::Dataset;
use serde_json::Value;

use crate::CaptureError;

/// Writes the result that a dataset was made of, equal as JSON.
pub fn restore(dataset: &Dataset, sink: &mut dyn Write) -> Result<(), CaptureError> {
    let missing = || io::Error::other("its metadata do not say how to put it together");
    let template = dataset.metadata().description.more.get("template").ok_or_else(missing)?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let part = |value: &Value| usize::try_from(number(value)).unwrap_or_default();
    let mut rest: Box<dyn Read + '_> = match template["text"].as_str() {
        Some(text) => Box::new(text.as_bytes()),
        None => Box::new(dataset.open(part(&template["part"]))?),
    };
    let mut at = 0;
    let mut held: Option<(usize, Vec<u8>)> = None;
    for hole in template["holes"].as_array().into_iter().flatten() {
        let start = number(&hole["at"]);
        let before = start.checked_sub(at).ok_or_else(missing)?;
        io::copy(&mut rest.by_ref().take(before), sink)?;
        at = start;
        let index = part(&hole["part"]);
        if hole.get("from").is_none() && hole["as"] != "text" {
            io::copy(&mut dataset.open(index)?, sink)?;
            continue;
        }
        // Many small ones in a row are of the same payload.
        if held.as_ref().is_none_or(|(payload, _)| *payload != index) {
            let mut bytes = Vec::new();
            dataset.open(index)?.read_to_end(&mut bytes)?;
            held = Some((index, bytes));
        }
        let whole = held.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let from = part(&hole["from"]);
        let bytes = hole.get("bytes").map_or(whole.len(), part);
        let slice = whole.get(from..from.saturating_add(bytes));
        let slice = slice.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        if hole["as"] == "text" {
            let text = std::str::from_utf8(slice).map_err(io::Error::other)?;
            serde_json::to_writer(&mut *sink, text).map_err(io::Error::from)?;
        } else {
            sink.write_all(slice)?;
        }
    }
    io::copy(&mut rest, sink)?;
    Ok(())
}
