//! Puts a result together again from what was kept of it.

use std::io::{self, Read, Write};

use base64::{prelude::BASE64_STANDARD, write::EncoderWriter};
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
    let mut payloads = Payloads { dataset, open: None };
    for hole in &template.holes {
        let before = hole.at.checked_sub(at).ok_or_else(missing)?;
        io::copy(&mut rest.by_ref().take(before), sink)?;
        at = hole.at;
        let mut slice = payloads.slice(hole.part, hole.from, hole.bytes)?;
        let copied = match hole.encoding {
            Encoding::Json => io::copy(&mut slice, sink)?,
            Encoding::Base64 => {
                let mut encoder = EncoderWriter::new(&mut *sink, &BASE64_STANDARD);
                let copied = io::copy(&mut slice, &mut encoder)?;
                encoder.finish()?;
                copied
            }
            Encoding::Inside => {
                let mut text = String::new();
                let copied = slice.read_to_string(&mut text)?;
                let json = serde_json::to_string(&text).map_err(io::Error::from)?;
                sink.write_all(&json.as_bytes()[1..json.len() - 1])?;
                copied as u64
            }
            Encoding::Text => {
                let mut text = String::new();
                let copied = slice.read_to_string(&mut text)?;
                serde_json::to_writer(&mut *sink, &text).map_err(io::Error::from)?;
                copied as u64
            }
        };
        payloads.read(copied);
        if hole.bytes.is_some_and(|bytes| bytes as u64 != copied) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
    payloads.close()?;
    io::copy(&mut rest, sink)?;
    Ok(())
}

/// The payloads of a dataset, one of which is open: many small pieces in a row are of the same.
struct Payloads<'d> {
    dataset: &'d Dataset,
    open: Option<Open>,
}

struct Open {
    part: usize,
    reader: Box<dyn Read + Send>,
    /// How much of it has been read.
    at: u64,
}

impl Payloads<'_> {
    /// A part of a payload, or all of it.
    fn slice(
        &mut self,
        part: usize,
        from: Option<usize>,
        bytes: Option<usize>,
    ) -> Result<io::Take<&mut Box<dyn Read + Send>>, CaptureError> {
        let from = from.unwrap_or_default() as u64;
        if !self.open.as_ref().is_some_and(|open| open.part == part && open.at <= from) {
            self.close()?;
        }
        let open = match self.open.take() {
            Some(open) => open,
            None => Open { part, reader: self.dataset.open(part)?, at: 0 },
        };
        let open = self.open.insert(open);
        open.at += io::copy(&mut open.reader.by_ref().take(from - open.at), &mut io::sink())?;
        Ok(open.reader.by_ref().take(bytes.map_or(u64::MAX, |bytes| bytes as u64)))
    }

    /// Takes note that so much of the open one has been read.
    fn read(&mut self, bytes: u64) {
        if let Some(open) = &mut self.open {
            open.at += bytes;
        }
    }

    /// Reads the open one to its end, where it turns out whether it is what was kept.
    fn close(&mut self) -> io::Result<()> {
        match self.open.take() {
            Some(mut open) => io::copy(&mut open.reader, &mut io::sink()).map(drop),
            None => Ok(()),
        }
    }
}
