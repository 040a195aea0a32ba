//! A tool's result, taken apart: where its text blocks, its files and its structured content stand.
//!
//! Places only; nothing is copied, and a result in a file is not read into memory.

use std::{
    borrow::Cow,
    io::{self, Read},
    ops::Range,
};

use parking_lot::{Mutex, MutexGuard};

use forebay_proxy::body::Payload;
use forebay_records::Tokenizer;
use forebay_wire::scan::{self, Outline, Value};

use crate::{
    binary::{Binaries, Candidate, Look, Quotes},
    policy::{FilePolicy, Origin},
    unescape,
};

/// A result, and where its parts stand in it.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) whole: Payload,
    pub(crate) content: Option<Range<u64>>,
    pub(crate) blocks: Vec<Block>,
    /// Where `content` stands if it has too many blocks to tell them apart; it is then a payload.
    pub(crate) crowd: Option<Range<u64>>,
    pub(crate) structured: Option<Range<u64>>,
    /// What becomes of it if the result is kept.
    pub(crate) structured_fate: Fate,
    /// The strings that are files over their limits, once they have been looked for.
    pub(crate) binaries: Binaries,
    pub(crate) is_error: bool,
    /// Texts that have been decoded already, and where they stand.
    decoded: Mutex<Vec<(Range<u64>, String)>>,
}

/// An element of `content`.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) span: Range<u64>,
    /// Where the JSON string stands, quotes included, if this is a text or a resource that is one.
    pub(crate) text: Option<Range<u64>>,
    pub(crate) is_text: bool,
    /// It is a link.
    pub(crate) is_link: bool,
    /// Where a string stands that may be a file, and what is said about it.
    pub(crate) candidate: Option<Candidate>,
    pub(crate) annotations: Option<Range<u64>>,
    /// Its `_meta`, and that of the resource in it.
    pub(crate) meta: Vec<Range<u64>>,
    /// It says that it is an image, a sound or a blob, and is a text, for its data are no base64.
    pub(crate) is_damaged: bool,
    /// What becomes of it if the result is kept.
    pub(crate) fate: Fate,
}

/// What becomes of a block of a result that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays in the result.
    Stays,
    /// It is a payload of its own.
    Apart,
    /// It is one of many small ones that are a payload together.
    Gathered,
    /// It is one of many links that are a payload together.
    Listed,
    /// It is this one of the result's binary strings, and becomes a link.
    Linked { binary: usize },
}

/// A text shorter than this is no payload of its own.
const MIN_PAYLOAD_BYTES: u64 = 1_024;
/// Where a text is looked at to see whether it is JSON.
const JSON_HEAD_BYTES: u64 = 256;
/// What has no part in what a model would read, and so is not counted there.
const OUT_OF_SIGHT: [Origin; 3] = [Origin::Image, Origin::Audio, Origin::Blob];
/// Short texts that are longer than this together do not stay.
const MAX_STAYING_BYTES: u64 = 4_096;

impl ToolResult {
    pub(crate) fn read(whole: &Payload) -> io::Result<Self> {
        let keys = ["content", "structuredContent", "isError"];
        let Outline::Object(object) = whole.outline(keys)? else {
            return Err(io::Error::other("the result is not an object"));
        };
        let [content, structured, is_error] = object.members;
        let content = content.map(|value| value.span);
        let (blocks, crowd) = match &content {
            Some(span) => match blocks(whole, span)? {
                Some(blocks) => (blocks, None),
                None => (Vec::new(), content.clone()),
            },
            None => (Vec::new(), None),
        };
        Ok(Self {
            whole: whole.clone(),
            content,
            blocks,
            crowd,
            structured: structured.filter(|value| !is_null(value)).map(|value| value.span),
            structured_fate: Fate::Apart,
            binaries: Binaries::default(),
            is_error: is_error.is_some_and(|value| value.scalar.as_deref() == Some(b"true")),
            decoded: Mutex::default(),
        })
    }

    /// Looks for the files in it that are over their limits, and for more links than stay in a result that
    /// is too large.
    pub(crate) fn find_files(&mut self, policy: &FilePolicy) -> io::Result<()> {
        // A failure is for the model to read as it is.
        if self.is_error {
            return Ok(());
        }
        if policy.may_be_over(self.whole.bytes()) {
            self.take_files(|_| true, |origin| policy.limit(origin))?;
            for origin in OUT_OF_SIGHT {
                if self.bytes_left_of(origin) > policy.limit_of_all(origin) {
                    self.take_files(|it| it == origin, |_| 0)?;
                }
            }
            self.search_texts(policy)?;
            if let Some(span) = &self.structured {
                self.binaries.search(&self.whole, span, policy)?;
            }
        }
        let links = self.blocks.iter().filter(|block| block.is_link).count();
        if links > policy.gather_above {
            for block in self.blocks.iter_mut().filter(|block| block.is_link) {
                block.fate = Fate::Listed;
            }
        }
        Ok(())
    }

    /// Looks for files for a summary that has to stand for all of it: images, sounds and blobs of any length
    /// are files, all blocks that are neither files nor texts become a payload together, and so do short texts
    /// unless they are few beside what else is kept.
    pub(crate) fn find_all_files(&mut self, policy: &FilePolicy) -> io::Result<()> {
        self.find_files(policy)?;
        self.take_files(|origin| OUT_OF_SIGHT.contains(&origin), |_| 0)?;
        for block in &mut self.blocks {
            if block.fate == Fate::Stays && block.text.is_none() {
                block.fate = Fate::Listed;
            }
        }
        let is_nothing_kept = !self.has_payload() && !self.has_files();
        let binaries = &self.binaries;
        let small: Vec<&mut Block> = self
            .blocks
            .iter_mut()
            .filter(|block| block.fate == Fate::Stays)
            .filter(|block| binaries.within(&block.span).next().is_none())
            .collect();
        let bytes: u64 = small.iter().map(|block| block.span.end - block.span.start).sum();
        if is_nothing_kept || bytes > MIN_PAYLOAD_BYTES {
            for block in small {
                block.fate = Fate::Gathered;
            }
        }
        Ok(())
    }

    /// Takes the blocks of these origins that are files over a limit, and no files yet.
    fn take_files(
        &mut self,
        is_wanted: impl Fn(Origin) -> bool,
        limit: impl Fn(Origin) -> u64,
    ) -> io::Result<()> {
        for block in &mut self.blocks {
            let Some(candidate) = &block.candidate else { continue };
            let is_taken = matches!(block.fate, Fate::Linked { .. });
            if is_taken || !is_wanted(candidate.origin) {
                continue;
            }
            match self.binaries.consider(&self.whole, candidate, &limit)? {
                Look::File(binary) => block.fate = Fate::Linked { binary },
                Look::Short => {}
                Look::Other => block.take_as_text(&self.whole)?,
            }
        }
        Ok(())
    }

    /// About how many bytes the blocks of an origin have that are not taken.
    fn bytes_left_of(&self, origin: Origin) -> u64 {
        let left = self.blocks.iter().filter(|block| !matches!(block.fate, Fate::Linked { .. }));
        let left = left.filter_map(|block| block.candidate.as_ref());
        let left = left.filter(|candidate| candidate.origin == origin);
        left.map(|Candidate { string, .. }| (string.end - string.start) / 4 * 3).sum()
    }

    /// Looks for files in texts that are JSON, as in structured content.
    fn search_texts(&mut self, policy: &FilePolicy) -> io::Result<()> {
        for block in &mut self.blocks {
            let (Some(text), Fate::Apart) = (&block.text, block.fate) else { continue };
            let head = text.start..text.end.min(text.start + JSON_HEAD_BYTES);
            let mut json = Vec::new();
            self.whole.part(&head).reader().read_to_end(&mut json)?;
            if !unescape::head(&json).trim_start().starts_with(['{', '[']) {
                continue;
            }
            self.binaries.search(&self.whole, &inside(text), policy)?;
            let rest = self.binaries.around(text);
            if rest.iter().map(|piece| piece.end - piece.start).sum::<u64>() < MIN_PAYLOAD_BYTES {
                block.fate = Fate::Stays;
            }
        }
        Ok(())
    }

    /// True if there is something to keep whatever becomes of its texts.
    pub(crate) fn has_files(&self) -> bool {
        !self.binaries.all.is_empty()
    }

    /// Leaves its texts, its links and its structured content in it, which are short enough without the files.
    pub(crate) fn leave_texts(&mut self) {
        self.structured_fate = Fate::Stays;
        for block in &mut self.blocks {
            match block.fate {
                Fate::Apart | Fate::Gathered | Fate::Listed => block.fate = Fate::Stays,
                Fate::Stays | Fate::Linked { .. } => {}
            }
        }
    }

    /// Remembers what the string at `span` says, for whoever needs it next.
    pub(crate) fn keep_decoded(&self, span: &Range<u64>, text: String) {
        self.decoded().push((span.clone(), text));
    }

    /// What the string at `span` says, if that has been remembered.
    pub(crate) fn take_decoded(&self, span: &Range<u64>) -> Option<String> {
        let mut decoded = self.decoded();
        let place = decoded.iter().position(|(place, _)| place == span)?;
        Some(decoded.swap_remove(place).1)
    }

    fn decoded(&self) -> MutexGuard<'_, Vec<(Range<u64>, String)>> {
        self.decoded.lock()
    }

    /// The text of a string or any other value at `span`, which must fit into memory.
    pub(crate) fn json_at(&self, span: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut json = Vec::new();
        self.whole.part(span).reader().read_to_end(&mut json)?;
        Ok(json)
    }

    /// True if there is something to keep: what is short everywhere would not get shorter.
    pub(crate) fn has_payload(&self) -> bool {
        self.crowd.is_some()
            || self
                .blocks
                .iter()
                .any(|block| matches!(block.fate, Fate::Apart | Fate::Gathered | Fate::Listed))
            || self.structured_pieces().map(|piece| piece.end - piece.start).sum::<u64>()
                >= MIN_PAYLOAD_BYTES
    }

    /// The places of everything that a model would read: text blocks, many links, and structured content.
    pub(crate) fn readable(&self) -> impl Iterator<Item = Range<u64>> {
        let is_read = |block: &&Block| !matches!(block.fate, Fate::Linked { .. });
        let texts = self.blocks.iter().filter(is_read).filter_map(|block| block.text.as_ref());
        let texts = texts.flat_map(|text| self.binaries.around(text));
        let links = self.blocks.iter().filter(|block| block.fate == Fate::Listed);
        let texts = texts.chain(links.map(|block| block.span.clone()));
        texts.chain(self.crowd.clone()).chain(self.structured_pieces())
    }

    /// How many bytes of JSON that is.
    pub(crate) fn readable_bytes(&self) -> u64 {
        self.readable().map(|span| span.end - span.start).sum()
    }

    /// About how many tokens the files have that stand in it as text. Clients count images and sounds in
    /// ways of their own, and show no blobs.
    pub(crate) fn tokens_of_files(&self, tokenizer: Tokenizer) -> io::Result<u64> {
        const LOOKED_AT: u64 = 16 * 1024;
        let all = &self.binaries.all;
        let is_text = |file: usize| {
            let mut places = all.iter().filter(|binary| binary.file == file);
            places.all(|binary| matches!(binary.origin, Origin::Text | Origin::Structured))
        };
        let mut tokens = 0;
        for (file, binary) in self.binaries.files.iter().enumerate() {
            if is_text(file) {
                let Range { start, end } = all[*binary].encoded.letters;
                let head = self.json_at(&(start..end.min(start + LOOKED_AT)))?;
                tokens += tokenizer.about(&head) * (end - start) / head.len().max(1) as u64;
            }
        }
        Ok(tokens)
    }

    /// Structured content, without the files in it.
    pub(crate) fn structured_pieces(&self) -> impl Iterator<Item = Range<u64>> {
        let pieces = self.structured.as_ref().map(|span| self.binaries.around(span));
        pieces.unwrap_or_default().into_iter()
    }
}

impl Block {
    /// Takes what should be base64 and is not as the text that it is, if it is long.
    fn take_as_text(&mut self, whole: &Payload) -> io::Result<()> {
        if let (Some(Candidate { string, .. }), None) = (&self.candidate, &self.text)
            && is_long(string)
            && is_string(whole, string)?
        {
            self.text = Some(string.clone());
            self.is_damaged = true;
            self.fate = Fate::Apart;
        }
        Ok(())
    }
}

/// What stands between the quotes of a string.
pub(crate) fn inside(string: &Range<u64>) -> Range<u64> {
    string.start + 1..string.end - 1
}

/// The blocks of `content`; `None` if there are too many to tell them apart.
fn blocks(whole: &Payload, content: &Range<u64>) -> io::Result<Option<Vec<Block>>> {
    let keys = ["type", "text", "resource", "data", "mimeType", "annotations", "_meta"];
    let objects = match whole.part(content).outline(keys)? {
        Outline::Array(objects) => objects,
        Outline::Crowd => return Ok(None),
        Outline::Blank | Outline::Object(_) | Outline::Other => return Ok(Some(Vec::new())),
    };
    let absolute = |span: Range<u64>| content.start + span.start..content.start + span.end;
    let blocks = objects.into_iter().map(|object| {
        let [kind, text, resource, data, media_type, annotations, meta] = object.members;
        let mut meta: Vec<Range<u64>> =
            meta.map(|value| absolute(value.span)).into_iter().collect();
        let kind = kind.and_then(|kind| scan::string(&kind.scalar?).map(Cow::into_owned));
        let data = |origin| {
            let string = absolute(data.as_ref()?.span.clone());
            let declared = media_type.as_ref().and_then(string_of);
            Some(Candidate { string, quotes: Quotes::Plain, origin, declared, called: None })
        };
        let (text, candidate) = match kind.as_deref() {
            Some("text") => (text.map(|value| absolute(value.span)), None),
            Some("image") => (None, data(Origin::Image)),
            Some("audio") => (None, data(Origin::Audio)),
            Some("resource") => match resource {
                Some(value) => {
                    let Resource { text, candidate, meta: own } =
                        Resource::at(whole, &absolute(value.span))?;
                    meta.extend(own);
                    (text, candidate)
                }
                None => (None, None),
            },
            _ => (None, None),
        };
        let text = match text {
            Some(span) if is_string(whole, &span)? => Some(span),
            _ => None,
        };
        let is_long = text.as_ref().is_some_and(is_long);
        let is_text = kind.as_deref() == Some("text");
        // A text may be base64, whatever else it could be.
        let candidate = candidate.or_else(|| {
            let (origin, declared, called) = (Origin::Text, None, None);
            let string = text.clone().filter(|_| is_text)?;
            Some(Candidate { string, quotes: Quotes::Plain, origin, declared, called })
        });
        Ok(Block {
            span: absolute(object.span),
            text,
            is_text,
            is_link: kind.as_deref() == Some("resource_link"),
            candidate,
            annotations: annotations.map(|value| absolute(value.span)),
            meta,
            is_damaged: false,
            fate: if is_long { Fate::Apart } else { Fate::Stays },
        })
    });
    blocks.collect::<io::Result<Vec<Block>>>().map(gather).map(Some)
}

/// An embedded resource.
#[derive(Default)]
struct Resource {
    /// Where its text stands.
    text: Option<Range<u64>>,
    /// What of it may be a file.
    candidate: Option<Candidate>,
    meta: Option<Range<u64>>,
}

impl Resource {
    fn at(whole: &Payload, resource: &Range<u64>) -> io::Result<Self> {
        let keys = ["text", "blob", "mimeType", "uri", "_meta"];
        let Outline::Object(object) = whole.part(resource).outline(keys)? else {
            return Ok(Self::default());
        };
        let [text, blob, media_type, uri, meta] = object.members;
        let absolute =
            |value: Value| resource.start + value.span.start..resource.start + value.span.end;
        let candidate = blob.map(|blob| Candidate {
            string: absolute(blob),
            quotes: Quotes::Plain,
            origin: Origin::Blob,
            declared: media_type.as_ref().and_then(string_of),
            called: uri.as_ref().and_then(string_of),
        });
        Ok(Self { text: text.map(absolute), candidate, meta: meta.map(absolute) })
    }
}

/// What a short string says.
fn string_of(value: &Value) -> Option<String> {
    scan::string(value.scalar.as_deref()?).map(Cow::into_owned)
}

/// Many small texts may be as much as a large one.
fn gather(mut blocks: Vec<Block>) -> Vec<Block> {
    let is_small = |block: &Block| block.text.is_some() && block.fate == Fate::Stays;
    let small = blocks.iter().filter(|block| is_small(block));
    let bytes: u64 = small.map(|block| block.span.end - block.span.start).sum();
    if bytes > MAX_STAYING_BYTES {
        for block in blocks.iter_mut().filter(|block| is_small(block)) {
            block.fate = Fate::Gathered;
        }
    }
    blocks
}

fn is_long(span: &Range<u64>) -> bool {
    span.end - span.start >= MIN_PAYLOAD_BYTES
}

fn is_string(whole: &Payload, span: &Range<u64>) -> io::Result<bool> {
    let mut first = [0];
    whole.part(span).reader().read_exact(&mut first)?;
    Ok(first == *b"\"")
}

fn is_null(value: &Value) -> bool {
    value.scalar.as_deref() == Some(b"null")
}
