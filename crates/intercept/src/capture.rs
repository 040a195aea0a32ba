//! Stage 2 of 5: takes the payloads out of a result, and writes them to the store.
//!
//! Those of a result in memory are written while the next stage looks at them. Each text block
//! becomes a payload as it reads, many small ones become one together, structured content one as it
//! is written, and so does `content` itself if it has thousands of blocks. Structured content that
//! says the same as a text block is not kept twice. The files of a result, decoded, come after its texts;
//! structured content that is kept has their addresses in their place. What is left of the result is its
//! template: with the payloads put back in, it is the result again ([`restore`]).

use std::{
    borrow::Cow,
    io::{self, Write},
    mem,
    ops::Range,
};

use forebay_proxy::{arguments::Arguments, session::Call};
use forebay_records::Profile;
use forebay_store::{
    Address, Capture, Description, Facts, Finished, Mapped, Store, StoreError, Viewer,
    facts::{self, Encoding, Template},
};
use forebay_wire::{scan, syntax, walk};

use crate::{
    MadeFrom, arguments,
    binary::{Binary, Form},
    detect::Weight,
    file,
    places::{self, Place},
    result::{Fate, ToolResult, inside},
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
    /// What is known of the result's own files, once they are written.
    told: Vec<facts::File>,
    /// Where they stood.
    places: Vec<Place>,
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

/// Whose result it is.
pub(crate) struct Of<'c> {
    pub(crate) tool: &'c str,
    pub(crate) server: &'c str,
    pub(crate) arguments: Option<&'c Arguments>,
    /// The datasets that the arguments were made from.
    pub(crate) made_from: Vec<String>,
}

impl<'c> Of<'c> {
    pub(crate) fn call(call: &'c Call) -> Self {
        let tool = call.tool().unwrap_or_default();
        let made_from = call.noted::<MadeFrom>().map(|it| it.0.clone()).unwrap_or_default();
        Self { tool, server: call.upstream.as_str(), arguments: call.arguments(), made_from }
    }
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
        told: Vec::new(),
        places: Vec::new(),
    };
    let mut captured = Captured { payloads: Vec::new(), files };
    let apart = result.blocks.iter().filter(|block| block.fate == Fate::Apart);
    let (with_files, others): (Vec<&Range<u64>>, Vec<_>) = apart
        .filter_map(|block| block.text.as_ref())
        .partition(|text| result.binaries.within(text).next().is_some());
    for span in others {
        let encoding = captured.take_text(result, span)?;
        let payload = captured.payloads.len() - 1;
        captured.cut(Cut { span: span.clone(), payload, encoding, slice: None });
    }
    captured.take_gathered(result)?;
    captured.take_listed(result)?;
    if let Some(span) = &result.crowd {
        let payload = captured.take_json(result, span)?;
        captured.cut(Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None });
    }
    match (&result.structured, result.structured_fate) {
        (Some(span), Fate::Apart) => {
            captured.take_structured(result, span, with_files.len())?;
        }
        (Some(_), Fate::Stays | Fate::Gathered | Fate::Listed | Fate::Linked { .. })
        | (None, _) => {}
    }
    // Last, so that it is known which payloads the files will be.
    for (index, span) in with_files.iter().enumerate() {
        captured.take_text_around_files(result, span, with_files.len() - index - 1)?;
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

    /// Describes what was written. It is no dataset yet. Without texts there is no profile; without
    /// tokens it does not count as a result.
    pub(crate) fn finish(
        mut self,
        of: &Of<'_>,
        profile: Option<&Profile>,
        weight: Weight,
        tokens: Option<u64>,
        viewer: &Viewer,
    ) -> Result<Finished<'a>, CaptureError> {
        let kept = of.arguments.map(arguments::kept);
        let (arguments, arguments_hash) = kept.map(|kept| (kept.value, kept.hash)).unzip();
        let text = self.files.template.take();
        let part = text.is_none().then(|| self.files.capture.part_count() - 1);
        let holes = self.files.holes.iter().map(Hole::facts).collect();
        let facts = Facts {
            tokens,
            arguments,
            arguments_hash,
            made_from: of.made_from.clone(),
            template: Some(Template { holes, part, text }),
            files: mem::take(&mut self.files.told),
            ..profile.map_or_else(no_tables, Profile::facts)
        };
        if let Some(profile) = profile {
            self.files.capture.set_extension(profile.payload, profile.format.extension())?;
        }
        let mut description = Description {
            tool: of.tool.to_owned(),
            server: of.server.to_owned(),
            original_size: weight.bytes,
            record_count: profile.and_then(Profile::records),
            schema: profile.map(Profile::schema),
            summary: profile.and_then(Profile::summary),
            facts,
        };
        description.set_origin(viewer);
        Ok(self.files.capture.finish(description)?)
    }

    /// Where the files stand that were written.
    pub(crate) fn take_places(&mut self) -> Vec<Place> {
        mem::take(&mut self.files.places)
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

    /// Takes many links, or other blocks, as a list of them.
    fn take_listed(&mut self, result: &ToolResult) -> Result<(), CaptureError> {
        const BEFORE: [&[u8]; 2] = [b"[", b",\n"];
        let payload = self.payloads.len();
        let listed = result.blocks.iter().filter(|block| block.fate == Fate::Listed);
        let listed: Vec<&Range<u64>> = listed.map(|block| &block.span).collect();
        if listed.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        for (index, span) in listed.iter().enumerate() {
            let from = at + BEFORE[index.min(1)].len();
            at = from + usize::try_from(span.end - span.start).map_err(io::Error::other)?;
            let (span, slice) = ((*span).clone(), Some(from..at));
            self.cut(Cut { span, payload, encoding: Encoding::Json, slice });
        }
        let write = |out: &mut dyn Write| {
            for (index, span) in listed.iter().enumerate() {
                out.write_all(BEFORE[index.min(1)])?;
                io::copy(&mut result.whole.part(span).reader(), out)?;
            }
            out.write_all(b"]")
        };
        if self.files.are_in_memory {
            let mut list = Vec::new();
            write(&mut list)?;
            return self.add(list, "json").map(drop);
        }
        write(self.files.capture.start_part("json")?)?;
        self.add_written().map(drop)
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
    /// with that text in it. So many more texts follow.
    fn take_structured(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
        following: usize,
    ) -> Result<(), CaptureError> {
        let cut = if let Some(cut) = self.said_already(result, span)? {
            cut
        } else if result.binaries.within(span).next().is_some() {
            return self.take_around_files(result, span, following);
        } else {
            let payload = self.take_json(result, span)?;
            Cut { span: span.clone(), payload, encoding: Encoding::Json, slice: None }
        };
        self.cut(cut);
        Ok(())
    }

    /// Takes structured content with the addresses of the files in it in their place.
    fn take_around_files(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
        following: usize,
    ) -> Result<(), CaptureError> {
        let payload = self.payloads.len();
        let mut addresses = self.addresses(result, span, following).into_iter();
        let mut json = Vec::new();
        let part = if self.files.are_in_memory {
            None
        } else {
            Some(self.files.capture.start_part("json")?)
        };
        let mut sink: Box<dyn Write> = match part {
            Some(part) => Box::new(part),
            None => Box::new(&mut json),
        };
        let (mut at, mut cuts) = (0, Vec::new());
        for piece in result.structured_pieces() {
            let length = io::copy(&mut result.whole.part(&piece).reader(), &mut sink)?;
            let length = usize::try_from(length).map_err(io::Error::other)?;
            let slice = Some(at..at + length);
            cuts.push(Cut { span: piece, payload, encoding: Encoding::Json, slice });
            at += length;
            if let Some(address) = addresses.next() {
                sink.write_all(address.as_bytes())?;
                at += address.len();
            }
        }
        drop(sink);
        self.files.cuts.extend(cuts);
        if self.files.are_in_memory {
            self.add(json, "json").map(drop)
        } else {
            self.add_written().map(drop)
        }
    }

    /// Takes a text that is JSON with the addresses of the files in it in their place.
    fn take_text_around_files(
        &mut self,
        result: &ToolResult,
        span: &Range<u64>,
        following: usize,
    ) -> Result<(), CaptureError> {
        let payload = self.payloads.len();
        let mut addresses = self.addresses(result, span, following).into_iter();
        let mut text = Vec::new();
        let sink: &mut (dyn Write + Send) = if self.files.are_in_memory {
            &mut text
        } else {
            self.files.capture.start_part("json")?
        };
        let (mut at, mut cuts) = (0, Vec::new());
        for piece in result.binaries.around(&inside(span)) {
            // What stands around a piece takes the place of its quotes.
            let json = result.whole.part(&(piece.start - 1..piece.end + 1));
            let length = match unescape::part(&json, sink) {
                Ok(length) => length,
                Err(Trouble::Io(error)) => return Err(error.into()),
                Err(Trouble::NotText) => {
                    self.files.capture.discard_part()?;
                    let payload = self.take_json(result, span)?;
                    let (span, encoding) = (span.clone(), Encoding::Json);
                    self.cut(Cut { span, payload, encoding, slice: None });
                    return Ok(());
                }
            };
            let slice = Some(at..at + length);
            cuts.push(Cut { span: piece, payload, encoding: Encoding::Inside, slice });
            at += length;
            if let Some(address) = addresses.next() {
                sink.write_all(address.as_bytes())?;
                at += address.len();
            }
        }
        self.files.cuts.extend(cuts);
        if self.files.are_in_memory {
            self.add(text, "json").map(drop)
        } else {
            self.add_written().map(drop)
        }
    }

    /// The addresses of the files in the payload that comes next, before so many others.
    fn addresses(&self, result: &ToolResult, span: &Range<u64>, following: usize) -> Vec<String> {
        let first_file = self.payloads.len() + 1 + following;
        let id = self.files.capture.id();
        let files = result.binaries.within(span).map(|binary| binary.file);
        files.map(|file| Address::of(id, first_file + file).to_string()).collect()
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
    /// Writes the payloads that are in memory, the result's files, and what is left of the result.
    pub(crate) fn write(
        &mut self,
        result: &ToolResult,
        payloads: &[Mapped],
    ) -> Result<(), CaptureError> {
        for (payload, extension) in payloads.iter().zip(mem::take(&mut self.unwritten)) {
            self.capture.start_part(extension)?.write_all(payload)?;
            self.capture.end_part()?;
        }
        self.write_files(result, payloads.len())?;
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

impl Files<'_> {
    /// Writes the files of the result, decoded, behind its texts.
    fn write_files(&mut self, result: &ToolResult, texts: usize) -> Result<(), CaptureError> {
        self.places = places::of(result);
        let mut by_file: Vec<&mut Place> = self.places.iter_mut().collect();
        by_file.sort_by_key(|place| place.file);
        for places in by_file.chunk_by_mut(|one, other| one.file == other.file) {
            let Place { binary, file, name, media, .. } = &*places[0];
            let encoded = &result.binaries.all[*binary].encoded;
            let part = self.capture.start_part(file::extension(name, media))?;
            io::copy(&mut encoded.open(&result.whole), part)?;
            let written = self.capture.map_last_part()?;
            let (block, details) = (texts + file, file::details(media, &written));
            for place in &mut *places {
                place.describe(details.as_deref());
            }
            self.told.push(places[0].facts(block));
        }
        let is_cut = |inside: &Range<u64>| {
            self.cuts.iter().any(|cut| cut.span.start <= inside.start && inside.end <= cut.span.end)
        };
        let cuts: Vec<Cut> = result
            .binaries
            .all
            .iter()
            // What is written otherwise than we would stays in the template.
            .filter(|binary| binary.encoded.form == Form::Canonical && !is_cut(&binary.inside))
            .map(|Binary { encoded, file, .. }| Cut {
                span: encoded.letters.clone(),
                payload: texts + file,
                encoding: Encoding::Base64,
                slice: None,
            })
            .collect();
        self.cuts.extend(cuts);
        Ok(())
    }
}

/// What is known of a result that is nothing but files.
fn no_tables() -> Facts {
    Facts { payload: Some(0), tables: Some(Vec::new()), ..Facts::default() }
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
