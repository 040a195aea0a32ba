//! Stage 2 of 5: takes the payloads out of a result, and writes them to the store.
//!
//! Those of a result in memory are written while the next stage looks at them. Each text block
//! becomes a payload as it reads, many small ones become one together, structured content one as it
//! is written, and so does `content` itself if it has thousands of blocks. Structured content that
//! says the same as a text block is not kept twice. What is left of the result is its template: with
//! the payloads put back in, it is the result again ([`restore`]).

use std::{
    borrow::Cow,
    io::{self, Write},
    mem,
    ops::Range,
};

use forebay_proxy::session::Call;
use forebay_records::Profile;
use forebay_store::{
    Capture, Description, Facts, Finished, Mapped, Store, StoreError, Viewer,
    facts::{self, Encoding, Template},
};
use forebay_wire::{scan, syntax, walk};

use crate::{
    arguments,
    detect::Weight,
    result::{Fate, ToolResult},
    same,
    unescape::{self, Trouble},
};

/// A template up to this long is kept in the metadata: to make a file takes longer than to fill it.
const MAX_INLINE_BYTES: u64 = 1_024;
/// Structured content longer than this is not compared with a text block.
const MAX_COMPARED_BYTES: u64 = 32 * 1024 * 1024;

/// The payloads of a result, on their way to be a dataset.
pub(crate) struct Captured<'a> {
    pub(crate) payloads: Vec<Mapped>,
    pub(crate) files: Files<'a>,
}

/// The files that they become.
pub(crate) struct Files<'a> {
    capture: Capture<'a>,
    /// The payloads, as they stand in the result.
    cuts: Vec<Cut>,
    holes: Vec<Hole>,
    /// What is left of the result, if it is short.
    template: Option<String>,
    /// The payloads are in memory, and have yet to be written.
    are_in_memory: bool,
    /// What their files end with.
    unwritten: Vec<&'static str>,
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
    slice: Option<Range<usize>>,
}

/// Takes the payloads out of `result`. They have to be written ([`Files::write`]).
pub(crate) fn take<'a>(
    result: &ToolResult,
    store: &'a Store,
) -> Result<Captured<'a>, CaptureError> {
    let files = Files {
        capture: store.capture()?,
        cuts: Vec::new(),
        holes: Vec::new(),
        template: None,
        are_in_memory: result.whole.in_memory().is_some(),
        unwritten: Vec::new(),
    };
    let mut captured = Captured { payloads: Vec::new(), files };
    for block in result.blocks.iter().filter(|block| block.fate == Fate::Apart) {
        if let Some(span) = &block.text {
            let encoding = captured.take_text(result, span)?;
            let payload = captured.payloads.len() - 1;
            captured.cut(Cut { span: span.clone(), payload, encoding, slice: None });
        }
    }
    captured.take_gathered(result)?;
    if let Some(span) = &result.crowd {
        let payload = captured.take_json(result, span)?;
        captured.cut(Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None });
    }
    if let Some(span) = &result.structured {
        captured.take_structured(result, span)?;
    }
    Ok(captured)
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

    /// Describes what was written. It is no dataset yet.
    pub(crate) fn finish(
        mut self,
        call: &Call,
        profile: &Profile,
        weight: Weight,
        tokens: u64,
        viewer: &Viewer,
    ) -> Result<Finished<'a>, CaptureError> {
        let kept = call.arguments().map(arguments::kept);
        let (arguments, arguments_hash) = kept.map(|kept| (kept.value, kept.hash)).unzip();
        let text = self.files.template.take();
        let part = text.is_none().then(|| self.files.capture.part_count() - 1);
        let holes = self.files.holes.iter().map(Hole::facts).collect();
        let facts = Facts {
            tokens: Some(tokens),
            arguments,
            arguments_hash,
            template: Some(Template { holes, part, text }),
            ..profile.facts()
        };
        self.files.capture.set_extension(profile.payload, profile.format.extension())?;
        let mut description = Description {
            tool: call.tool().unwrap_or_default().to_owned(),
            server: call.upstream.to_string(),
            original_size: weight.bytes,
            record_count: profile.records(),
            schema: Some(profile.schema()),
            summary: profile.summary(),
            facts,
        };
        description.set_origin(viewer);
        Ok(self.files.capture.finish(description)?)
    }

    fn cut(&mut self, cut: Cut) {
        self.files.cuts.push(cut);
    }

    /// Takes a text block; if it is no text, the JSON string itself.
    fn take_text(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Encoding, CaptureError> {
        if let Some(text) = result.take_decoded(span) {
            let text = text.into_bytes();
            let extension = likely_extension(&text);
            return self.add(text, extension).map(|_| Encoding::Text);
        }
        let text = result.whole.part(span);
        let taken = if let Some(json) = text.in_memory() {
            unescape::whole(json).map(|text| {
                let extension = likely_extension(&text);
                self.add(text, extension)
            })
        } else {
            let part = self.files.capture.start_part("txt")?;
            unescape::copy(&mut *text.reader(), part).map(|()| self.add_written())
        };
        match taken {
            Ok(added) => added.map(|_| Encoding::Text),
            Err(Trouble::Io(error)) => Err(error.into()),
            Err(Trouble::NotText) => {
                self.files.capture.discard_part()?;
                self.take_json(result, span)?;
                Ok(Encoding::Json)
            }
        }
    }

    /// Takes the small texts that are a payload together: a list if they are JSON, else lines.
    fn take_gathered(&mut self, result: &ToolResult) -> Result<(), CaptureError> {
        let gathered = result.blocks.iter().filter(|block| block.fate == Fate::Gathered);
        let mut texts = Vec::new();
        for span in gathered.filter_map(|block| block.text.as_ref()) {
            let json = result.json_at(span)?;
            let text = scan::string(&json).map(Cow::into_owned);
            let is_text = text.is_some();
            texts.push((span, text.map_or(json, String::into_bytes), is_text));
        }
        if texts.is_empty() {
            return Ok(());
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
        let payload = self.payloads.len();
        let mut together = Vec::new();
        for (span, text, is_text) in &texts {
            together.extend_from_slice(if together.is_empty() { open } else { separator });
            let from = together.len();
            together.extend_from_slice(text);
            let encoding = if *is_text { Encoding::Text } else { Encoding::Json };
            let slice = Some(from..together.len());
            self.cut(Cut { span: (*span).clone(), payload, encoding, slice });
        }
        together.extend_from_slice(close);
        self.add(together, extension).map(drop)
    }

    fn take_json(&mut self, result: &ToolResult, span: &Range<u64>) -> Result<usize, CaptureError> {
        let json = result.whole.part(span);
        if let Some(json) = json.in_memory() {
            return self.add(json.to_vec(), "json");
        }
        let part = self.files.capture.start_part("json")?;
        io::copy(&mut json.reader(), part)?;
        self.add_written()
    }

    /// Adds a payload; of a result that is not in memory it is written at once, like the others.
    fn add(&mut self, bytes: Vec<u8>, extension: &'static str) -> Result<usize, CaptureError> {
        if !self.files.are_in_memory {
            self.files.capture.start_part(extension)?.write_all(&bytes)?;
            return self.add_written();
        }
        self.files.unwritten.push(extension);
        self.payloads.push(bytes.into());
        Ok(self.payloads.len() - 1)
    }

    /// Adds the payload that has just been written.
    fn add_written(&mut self) -> Result<usize, CaptureError> {
        self.payloads.push(self.files.capture.map_last_part()?);
        Ok(self.payloads.len() - 1)
    }

    /// Takes structured content, unless it says what a text block says: the same JSON, or an object
    /// with that text in it.
    fn take_structured(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<(), CaptureError> {
        let cut = if let Some(cut) = self.said_already(result, span)? {
            cut
        } else {
            let payload = self.take_json(result, span)?;
            Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None }
        };
        self.cut(cut);
        Ok(())
    }

    /// Where structured content stands that another payload says.
    fn said_already(
        &self,
        result: &ToolResult,
        span: &Range<u64>,
    ) -> Result<Option<Cut>, CaptureError> {
        if span.end - span.start > MAX_COMPARED_BYTES {
            return Ok(None);
        }
        let json = result.json_at(span)?;
        let is_equal = |payload: &Mapped| {
            payload.len() as u64 <= 2 * MAX_COMPARED_BYTES && same::is_same_json(payload, &json)
        };
        if let Some(payload) = self.payloads.iter().position(is_equal) {
            let encoding = Encoding::Json;
            return Ok(Some(Cut { span: span.clone(), payload, encoding, slice: None }));
        }
        for (_, value) in walk::members(&json).into_iter().flatten() {
            let Some(text) = scan::string(value) else { continue };
            let is_text = |payload: &Mapped| text.len() > 1 && **payload == *text.as_bytes();
            if let Some(payload) = self.payloads.iter().position(is_text) {
                let start = span.start + (value.as_ptr().addr() - json.as_ptr().addr()) as u64;
                let span = start..start + value.len() as u64;
                return Ok(Some(Cut { span, payload, encoding: Encoding::Text, slice: None }));
            }
        }
        Ok(None)
    }
}

impl Files<'_> {
    /// Writes the payloads that are in memory, and what is left of the result.
    pub(crate) fn write(
        &mut self,
        result: &ToolResult,
        payloads: &[Mapped],
    ) -> Result<(), CaptureError> {
        for (payload, extension) in payloads.iter().zip(mem::take(&mut self.unwritten)) {
            self.capture.start_part(extension)?.write_all(payload)?;
            self.capture.end_part()?;
        }
        self.cuts.sort_by_key(|cut| cut.span.start);
        let mut cut_out = 0;
        for cut in self.cuts.drain(..) {
            let at = cut.span.start - cut_out;
            cut_out += cut.span.end - cut.span.start;
            self.holes.push(Hole { at, cut });
        }
        if result.whole.bytes() - cut_out <= MAX_INLINE_BYTES {
            let mut text = Vec::new();
            write_template(result, &self.holes, &mut text)?;
            self.template = String::from_utf8(text).ok();
        }
        if self.template.is_none() {
            write_template(result, &self.holes, self.capture.start_part("template")?)?;
        }
        Ok(())
    }
}

/// What a text's file ends with, most likely: it is renamed if that turns out to be wrong.
fn likely_extension(text: &[u8]) -> &'static str {
    match text.trim_ascii_start().first() {
        Some(b'{' | b'[') => "json",
        _ => "txt",
    }
}

/// Writes what is left of a result without what was cut out.
fn write_template(result: &ToolResult, holes: &[Hole], sink: &mut dyn Write) -> io::Result<()> {
    let mut read_to = 0;
    for Hole { cut, .. } in holes {
        io::copy(&mut result.whole.part(&(read_to..cut.span.start)).reader(), sink)?;
        read_to = cut.span.end;
    }
    io::copy(&mut result.whole.part(&(read_to..result.whole.bytes())).reader(), sink)?;
    Ok(())
}

impl Hole {
    fn facts(&self) -> facts::Hole {
        let slice = self.cut.slice.as_ref();
        facts::Hole {
            at: self.at,
            part: self.cut.payload,
            encoding: self.cut.encoding,
            from: slice.map(|slice| slice.start),
            bytes: slice.map(|slice| slice.end - slice.start),
        }
    }
}
