//! Stage 2 of 5: writes the payloads of a result to the store.
//!
//! Each text block becomes a payload as it reads, many small ones become one together, structured
//! content one as it is written, and so does `content` itself if it has thousands of blocks. Structured
//! content that says the same as a text block is not kept twice. What is left of the result is its
//! template: with the payloads put back in, it is the result again ([`restore`]).

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    ops::Range,
};

use forebay_proxy::session::Call;
use forebay_store::{Capture, Dataset, Description, Finished, Mapped, Store, StoreError, Viewer};
use forebay_wire::{scan, syntax, walk};
use serde_json::{Value, json};

use crate::{
    arguments,
    detect::Weight,
    policy::Tokenizer,
    profile::Profile,
    result::{Fate, ToolResult},
    same,
    unescape::{self, Trouble},
};

/// Structured content longer than this is not compared with a text block.
const MAX_COMPARED_BYTES: u64 = 32 * 1024 * 1024;

/// The payloads of a result, written but not yet a dataset.
pub(crate) struct Captured<'a> {
    capture: Capture<'a>,
    pub(crate) payloads: Vec<Mapped>,
    holes: Vec<Hole>,
}

/// Where a payload was cut out of the template.
struct Hole {
    /// Where it stands in the template.
    at: u64,
    cut: Cut,
}

/// A payload, or a part of one, and where it stands in the result.
struct Cut {
    span: Range<u64>,
    payload: usize,
    encoding: Encoding,
    /// Which part of the payload, if not all of it.
    slice: Option<Range<u64>>,
}

/// How a payload stood in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// As a JSON string.
    Text,
    /// As it is.
    Json,
}

/// Writes the payloads of `result` to `store`.
pub(crate) fn keep<'a>(
    result: &ToolResult,
    store: &'a Store,
) -> Result<Captured<'a>, CaptureError> {
    let mut captured =
        Captured { capture: store.capture()?, payloads: Vec::new(), holes: Vec::new() };
    let mut cuts = Vec::new();
    for block in result.blocks.iter().filter(|block| block.fate == Fate::Apart) {
        if let Some(span) = &block.text {
            let encoding = captured.write_text(result, span)?;
            let payload = captured.payloads.len() - 1;
            cuts.push(Cut { span: span.clone(), payload, encoding, slice: None });
        }
    }
    cuts.extend(captured.write_gathered(result)?);
    if let Some(span) = &result.crowd {
        let payload = captured.write_json(result, span)?;
        cuts.push(Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None });
    }
    if let Some(span) = &result.structured {
        cuts.push(captured.cut_structured(result, span)?);
    }
    cuts.sort_by_key(|cut| cut.span.start);
    captured.write_template(result, cuts)?;
    Ok(captured)
}

/// Writes the result that a dataset was made of, equal as JSON.
pub fn restore(dataset: &Dataset, sink: &mut dyn Write) -> Result<(), CaptureError> {
    let missing = || io::Error::other("its metadata do not say how to put it together");
    let template = dataset.metadata().description.more.get("template").ok_or_else(missing)?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let part = |value: &Value| usize::try_from(number(value)).unwrap_or_default();
    let mut rest = dataset.open(part(&template["part"]))?;
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

/// What can go wrong in this stage.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The store failed.
    #[error("cannot keep the result")]
    Store(#[from] StoreError),
    /// Reading the result, or writing a payload, failed.
    #[error("cannot read or write the result")]
    Io(#[from] io::Error),
}

impl<'a> Captured<'a> {
    /// How long the payloads are.
    pub(crate) fn bytes(&self) -> usize {
        self.payloads.iter().map(|payload| payload.len()).sum()
    }

    /// How many tokens they have, about.
    pub(crate) fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        self.payloads.iter().map(|payload| tokenizer.about(payload)).sum()
    }

    /// Describes what was written. It is no dataset yet.
    pub(crate) fn finish(
        mut self,
        call: &Call,
        profile: &Profile,
        weight: Weight,
        tokens: u64,
        viewer: &Viewer,
    ) -> Result<Finished<'a>, CaptureError> {
        let holes: Vec<Value> = self.holes.iter().map(Hole::to_json).collect();
        let mut more = profile.details();
        more.insert("tokens".to_owned(), tokens.into());
        if let Some(arguments) = call.arguments().map(arguments::kept) {
            more.insert("arguments".to_owned(), arguments.value);
            more.insert("argumentsHash".to_owned(), arguments.hash.into());
        }
        more.insert(
            "template".to_owned(),
            json!({"part": self.capture.part_count() - 1, "holes": holes}),
        );
        self.capture.set_extension(profile.payload, profile.format.extension())?;
        let mut description = Description {
            tool: call.tool().unwrap_or_default().to_owned(),
            server: call.upstream.to_string(),
            original_size: weight.bytes,
            record_count: profile.records(),
            schema: profile.schema(),
            summary: profile.summary(),
            more,
        };
        description.set_origin(viewer);
        Ok(self.capture.finish(description)?)
    }

    /// Writes a text block; if it is no text, the JSON string itself.
    fn write_text(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Encoding, CaptureError> {
        let part = self.capture.start_part("txt")?;
        let text = result.whole.part(span);
        let copied = match text.in_memory() {
            Some(json) => unescape::copy_slice(json, part),
            None => unescape::copy(&mut *text.reader(), part),
        };
        match copied {
            Ok(()) => {}
            Err(Trouble::Io(error)) => return Err(error.into()),
            Err(Trouble::NotText) => {
                self.capture.discard_part()?;
                self.write_json(result, span)?;
                return Ok(Encoding::Json);
            }
        }
        self.payloads.push(self.capture.map_last_part()?);
        Ok(Encoding::Text)
    }

    /// Writes the small texts that are a payload together: a list if they are JSON, else lines.
    fn write_gathered(&mut self, result: &ToolResult) -> Result<Vec<Cut>, CaptureError> {
        let gathered = result.blocks.iter().filter(|block| block.fate == Fate::Gathered);
        let mut texts = Vec::new();
        for span in gathered.filter_map(|block| block.text.as_ref()) {
            let json = result.json_at(span)?;
            let text = scan::string(&json).map(Cow::into_owned);
            let is_text = text.is_some();
            texts.push((span, text.map_or(json, String::into_bytes), is_text));
        }
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let is_document = |text: &[u8]| {
            matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
                && syntax::check(text).is_ok()
        };
        let are_json = texts.iter().all(|(_, text, _)| is_document(text));
        let (extension, [open, separator, close]) = if are_json {
            ("json", [b"[".as_slice(), b",\n", b"]"])
        } else {
            ("txt", [b"".as_slice(), b"\n", b"\n"])
        };
        let part = self.capture.start_part(extension)?;
        let mut cuts = Vec::new();
        let mut written = 0;
        for (span, text, is_text) in &texts {
            let before = if written == 0 { open } else { separator };
            part.write_all(before)?;
            part.write_all(text)?;
            let (from, bytes) = (written + before.len() as u64, text.len() as u64);
            let encoding = if *is_text { Encoding::Text } else { Encoding::Json };
            let slice = Some(from..from + bytes);
            cuts.push(Cut { span: (*span).clone(), payload: self.payloads.len(), encoding, slice });
            written = from + bytes;
        }
        part.write_all(close)?;
        self.payloads.push(self.capture.map_last_part()?);
        Ok(cuts)
    }

    fn write_json(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<usize, CaptureError> {
        let part = self.capture.start_part("json")?;
        io::copy(&mut result.whole.part(span).reader(), part)?;
        self.payloads.push(self.capture.map_last_part()?);
        Ok(self.payloads.len() - 1)
    }

    /// Keeps structured content, unless it says what a text block says: the same JSON, or an object
    /// with that text in it.
    fn cut_structured(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Cut, CaptureError> {
        let whole =
            |payload| Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None };
        if span.end - span.start > MAX_COMPARED_BYTES {
            return Ok(whole(self.write_json(result, span)?));
        }
        let json = result.json_at(span)?;
        let is_equal = |payload: &Mapped| {
            payload.len() as u64 <= 2 * MAX_COMPARED_BYTES && same::is_same_json(payload, &json)
        };
        if let Some(payload) = self.payloads.iter().position(is_equal) {
            return Ok(whole(payload));
        }
        for (_, value) in walk::members(&json).into_iter().flatten() {
            let Some(text) = scan::string(value) else { continue };
            let is_text = |payload: &Mapped| text.len() > 1 && **payload == *text.as_bytes();
            if let Some(payload) = self.payloads.iter().position(is_text) {
                let start = span.start + (value.as_ptr().addr() - json.as_ptr().addr()) as u64;
                let span = start..start + value.len() as u64;
                return Ok(Cut { span, payload, encoding: Encoding::Text, slice: None });
            }
        }
        Ok(whole(self.write_json(result, span)?))
    }

    fn write_template(&mut self, result: &ToolResult, cuts: Vec<Cut>) -> Result<(), CaptureError> {
        let part = self.capture.start_part("template")?;
        let (mut read_to, mut written) = (0, 0);
        for cut in cuts {
            written += io::copy(&mut result.whole.part(&(read_to..cut.span.start)).reader(), part)?;
            read_to = cut.span.end;
            self.holes.push(Hole { at: written, cut });
        }
        let rest = read_to..result.whole.bytes();
        io::copy(&mut result.whole.part(&rest).reader(), part)?;
        Ok(())
    }
}

impl Hole {
    fn to_json(&self) -> Value {
        let encoding = match self.cut.encoding {
            Encoding::Text => "text",
            Encoding::Json => "json",
        };
        let mut hole = json!({"at": self.at, "part": self.cut.payload, "as": encoding});
        if let Some(slice) = &self.cut.slice {
            hole["from"] = slice.start.into();
            hole["bytes"] = (slice.end - slice.start).into();
        }
        hole
    }
}
