//! Puts a result together again from what was kept of it.

use std::io::{self, Read, Write};

use forebay_store::{Dataset, facts::Encoding};

use crate::CaptureError;

/// Writes the result that a dataset was made of, equal as JSON.
pub fn restore(dataset: &Dataset, sink: &mut dyn Write) -> Result<(), CaptureError> {
    let missing = || io::Error::other("its metadata do not say how to put it together");
    let template = dataset.facts().template.as_ref().ok_or_else(missing)?;
    let mut rest: Box<dyn Read + '_> = match (&template.text, template.part) {
        (Some(text), _) => Box::new(text.as_bytes()),
        (None, part) => Box::new(dataset.open(part.ok_or_else(missing)?)?),
    };
    let mut at = 0;
    let mut held: Option<(usize, Vec<u8>)> = None;
    for hole in &template.holes {
        let before = hole.at.checked_sub(at).ok_or_else(missing)?;
        io::copy(&mut rest.by_ref().take(before), sink)?;
        at = hole.at;
        if hole.from.is_none() && hole.encoding == Encoding::Json {
            io::copy(&mut dataset.open(hole.part)?, sink)?;
            continue;
        }
        // Many small ones in a row are of the same payload.
        if held.as_ref().is_none_or(|(payload, _)| *payload != hole.part) {
            let mut bytes = Vec::new();
            dataset.open(hole.part)?.read_to_end(&mut bytes)?;
            held = Some((hole.part, bytes));
        }
        let whole = held.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let from = hole.from.unwrap_or_default();
        let bytes = hole.bytes.unwrap_or(whole.len());
        let slice = whole.get(from..from.saturating_add(bytes));
        let slice = slice.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        match hole.encoding {
            Encoding::Text => {
                let text = std::str::from_utf8(slice).map_err(io::Error::other)?;
                serde_json::to_writer(&mut *sink, text).map_err(io::Error::from)?;
            }
            Encoding::Json => sink.write_all(slice)?,
        }
    }
    io::copy(&mut rest, sink)?;
    Ok(())
}
