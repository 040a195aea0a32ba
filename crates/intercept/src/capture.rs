//! Stage 2 of 5: writes the payloads of a result to the store.
//!
//! Each text block becomes a payload as it reads, many small ones become one together, structured
//! content one as it is written; structured content that says the same as a text block is not kept
//! twice. What is left of the result is its
//! template: with the payloads put back in, it is the result again ([`restore`]).

use std::{
    io::{self, Read, Write},
    ops::Range,
};

use forebay_proxy::session::Call;
use forebay_store::{Capture, Dataset, Description, Mapped, Store, StoreError};
use serde_json::{Value, json};

use crate::{
    detect::Weight,
    events,
    policy::Tokenizer,
    profile::Profile,
    result::{Fate, ToolResult},
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
    payload: usize,
    encoding: Encoding,
}

/// How a payload stood in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// As a JSON string.
    Text,
    /// As it is.
    Json,
    /// As it is, this much of the payload.
    Part { from: u64, bytes: u64 },
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
            cuts.push((span.clone(), captured.payloads.len() - 1, encoding));
        }
    }
    cuts.extend(captured.write_gathered(result)?);
    if let Some(span) = &result.structured {
        let twin = captured.payload_equal_to(result, span)?;
        let payload = match twin {
            Some(payload) => payload,
            None => captured.write_json(result, span)?,
        };
        cuts.push((span.clone(), payload, Encoding::Json));
    }
    cuts.sort_by_key(|(span, ..)| span.start);
    captured.write_template(result, &cuts)?;
    Ok(captured)
}

/// Writes the result that a dataset was made of, equal as JSON.
pub fn restore(dataset: &Dataset, sink: &mut dyn Write) -> Result<(), CaptureError> {
    let template = &dataset.metadata().description.more["template"];
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let part = |value: &Value| usize::try_from(number(value)).unwrap_or_default();
    let mut rest = dataset.open(part(&template["part"]))?;
    let mut at = 0;
    let mut gathered: Option<(usize, Vec<u8>)> = None;
    for hole in template["holes"].as_array().into_iter().flatten() {
        let start = number(&hole["at"]);
        io::copy(&mut rest.by_ref().take(start - at), sink)?;
        at = start;
        let index = part(&hole["part"]);
        match hole["as"].as_str() {
            Some("text") => {
                let mut text = String::new();
                dataset.open(index)?.read_to_string(&mut text)?;
                serde_json::to_writer(&mut *sink, &text).map_err(io::Error::from)?;
            }
            Some("part") => {
                // Many small ones in a row are of the same payload.
                if gathered.as_ref().is_none_or(|(held, _)| *held != index) {
                    let mut bytes = Vec::new();
                    dataset.open(index)?.read_to_end(&mut bytes)?;
                    gathered = Some((index, bytes));
                }
                let from = part(&hole["from"]);
                let range = from..from.saturating_add(part(&hole["bytes"]));
                let held = gathered.as_ref().and_then(|(_, bytes)| bytes.get(range));
                sink.write_all(held.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?)?;
            }
            _ => drop(io::copy(&mut dataset.open(index)?, sink)?),
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

type Cut = (Range<u64>, usize, Encoding);

impl Captured<'_> {
    /// How long the payloads are.
    pub(crate) fn bytes(&self) -> usize {
        self.payloads.iter().map(|payload| payload.len()).sum()
    }

    /// How many tokens they have, about.
    pub(crate) fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        self.payloads.iter().map(|payload| tokenizer.about(payload)).sum()
    }

    /// Makes a dataset of what was written.
    pub(crate) fn commit(
        self,
        call: &Call,
        result: &ToolResult,
        profile: &Profile,
        weight: Weight,
        tokens: u64,
    ) -> Result<Dataset, CaptureError> {
        let holes: Vec<Value> = self.holes.iter().map(Hole::to_json).collect();
        let mut more = profile.details();
        more.insert("tokens".to_owned(), tokens.into());
        more.insert("argumentsHash".to_owned(), call.arguments_hash().into());
        more.insert(
            "template".to_owned(),
            json!({"part": self.capture.part_count() - 1, "holes": holes}),
        );
        let dataset = self.capture.commit(Description {
            tool: call.tool().unwrap_or_default().to_owned(),
            server: call.upstream.to_string(),
            original_size: weight.bytes,
            record_count: profile.records(),
            schema: profile.schema(),
            summary: profile.summary(),
            more,
        })?;
        events::result_kept(call, dataset.id(), result.whole.bytes(), tokens);
        Ok(dataset)
    }

    /// Writes a text block; if it is no text, the JSON string itself.
    fn write_text(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Encoding, CaptureError> {
        let mut head = [0; 64];
        let count = result.whole.part(span).reader().read(&mut head)?;
        let first = head[1..count].iter().find(|byte| !byte.is_ascii_whitespace());
        let extension = if matches!(first, Some(b'{' | b'[')) { "json" } else { "txt" };
        let part = self.capture.start_part(extension)?;
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

    /// Writes the small blocks that are a payload together: a list of them.
    fn write_gathered(&mut self, result: &ToolResult) -> Result<Vec<Cut>, CaptureError> {
        let gathered = || result.blocks.iter().filter(|block| block.fate == Fate::Gathered);
        if gathered().next().is_none() {
            return Ok(Vec::new());
        }
        let part = self.capture.start_part("json")?;
        let mut cuts = Vec::new();
        let mut written = 0;
        for block in gathered() {
            part.write_all(if written == 0 { b"[" } else { b"," })?;
            let bytes = io::copy(&mut result.whole.part(&block.span).reader(), part)?;
            let place = Encoding::Part { from: written + 1, bytes };
            cuts.push((block.span.clone(), self.payloads.len(), place));
            written += 1 + bytes;
        }
        part.write_all(b"]")?;
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

    /// The payload that is the same JSON as what stands at `span`.
    fn payload_equal_to(
        &self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Option<usize>, CaptureError> {
        if span.end - span.start > MAX_COMPARED_BYTES {
            return Ok(None);
        }
        let json = result.json_at(span)?;
        let Ok(structured) = serde_json::from_slice::<Value>(&json) else { return Ok(None) };
        let is_equal = |payload: &Mapped| {
            payload.len() as u64 <= 2 * MAX_COMPARED_BYTES
                && serde_json::from_slice::<Value>(payload).is_ok_and(|value| value == structured)
        };
        Ok(self.payloads.iter().position(is_equal))
    }

    fn write_template(&mut self, result: &ToolResult, cuts: &[Cut]) -> Result<(), CaptureError> {
        let part = self.capture.start_part("template")?;
        let (mut read_to, mut written) = (0, 0);
        for (span, payload, encoding) in cuts {
            written += io::copy(&mut result.whole.part(&(read_to..span.start)).reader(), part)?;
            self.holes.push(Hole { at: written, payload: *payload, encoding: *encoding });
            read_to = span.end;
        }
        let rest = read_to..result.whole.bytes();
        io::copy(&mut result.whole.part(&rest).reader(), part)?;
        Ok(())
    }
}

impl Hole {
    fn to_json(&self) -> Value {
        match self.encoding {
            Encoding::Text => json!({"at": self.at, "part": self.payload, "as": "text"}),
            Encoding::Json => json!({"at": self.at, "part": self.payload, "as": "json"}),
            Encoding::Part { from, bytes } => {
                json!({"at": self.at, "part": self.payload, "as": "part", "from": from, "bytes": bytes})
            }
        }
    }
}
