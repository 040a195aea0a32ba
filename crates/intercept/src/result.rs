//! A tool's result, taken apart: where its text blocks and its structured content stand.
//!
//! Places only; nothing is copied, and a result in a file is not read into memory.

use std::{
    borrow::Cow,
    io::{self, Read},
    ops::Range,
};

use parking_lot::{Mutex, MutexGuard};

use forebay_proxy::body::Payload;
use forebay_wire::scan::{self, Outline, Value};

/// A result, and where its parts stand in it.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) whole: Payload,
    pub(crate) content: Option<Range<u64>>,
    pub(crate) blocks: Vec<Block>,
    /// Where `content` stands if it has too many blocks to tell them apart; it is then a payload.
    pub(crate) crowd: Option<Range<u64>>,
    pub(crate) structured: Option<Range<u64>>,
    pub(crate) is_error: bool,
    /// Texts that have been decoded already, and where they begin.
    decoded: Mutex<Vec<(u64, String)>>,
}

/// An element of `content`.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) span: Range<u64>,
    /// Where the JSON string stands, quotes included, if this is a text or a resource that is one.
    pub(crate) text: Option<Range<u64>>,
    pub(crate) is_text: bool,
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
}

/// A text shorter than this is no payload of its own.
const MIN_PAYLOAD_BYTES: u64 = 1_024;
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
            is_error: is_error.is_some_and(|value| value.scalar.as_deref() == Some(b"true")),
            decoded: Mutex::default(),
        })
    }

    /// Remembers what the string at `span` says, for whoever needs it next.
    pub(crate) fn keep_decoded(&self, span: &Range<u64>, text: String) {
        self.decoded().push((span.start, text));
    }

    /// What the string at `span` says, if that has been remembered.
    pub(crate) fn take_decoded(&self, span: &Range<u64>) -> Option<String> {
        let mut decoded = self.decoded();
        let place = decoded.iter().position(|(start, _)| *start == span.start)?;
        Some(decoded.swap_remove(place).1)
    }

    fn decoded(&self) -> MutexGuard<'_, Vec<(u64, String)>> {
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
            || self.blocks.iter().any(|block| block.fate != Fate::Stays)
            || self.structured.as_ref().is_some_and(is_long)
    }

    /// The places of everything that a model would read: text blocks and structured content.
    pub(crate) fn readable(&self) -> impl Iterator<Item = &Range<u64>> {
        let texts = self.blocks.iter().filter_map(|block| block.text.as_ref());
        texts.chain(&self.crowd).chain(&self.structured)
    }
}

/// The blocks of `content`; `None` if there are too many to tell them apart.
fn blocks(whole: &Payload, content: &Range<u64>) -> io::Result<Option<Vec<Block>>> {
    let keys = ["type", "text", "resource"];
    let objects = match whole.part(content).outline(keys)? {
        Outline::Array(objects) => objects,
        Outline::Crowd => return Ok(None),
        Outline::Blank | Outline::Object(_) | Outline::Other => return Ok(Some(Vec::new())),
    };
    let absolute = |span: Range<u64>| content.start + span.start..content.start + span.end;
    let blocks = objects.into_iter().map(|object| {
        let [kind, text, resource] = object.members;
        let kind = kind.and_then(|kind| scan::string(&kind.scalar?).map(Cow::into_owned));
        let text = match kind.as_deref() {
            Some("text") => text.map(|value| absolute(value.span)),
            Some("resource") => match resource {
                Some(value) => text_of_resource(whole, absolute(value.span))?,
                None => None,
            },
            _ => None,
        };
        let text = match text {
            Some(span) if is_string(whole, &span)? => Some(span),
            _ => None,
        };
        let is_long = text.as_ref().is_some_and(is_long);
        Ok(Block {
            span: absolute(object.span),
            text,
            is_text: kind.as_deref() == Some("text"),
            fate: if is_long { Fate::Apart } else { Fate::Stays },
        })
    });
    blocks.collect::<io::Result<Vec<Block>>>().map(gather).map(Some)
}

/// Where the text of an embedded resource stands.
fn text_of_resource(whole: &Payload, resource: Range<u64>) -> io::Result<Option<Range<u64>>> {
    let Outline::Object(object) = whole.part(&resource).outline(["text"])? else {
        return Ok(None);
    };
    let [text] = object.members;
    Ok(text.map(|value| resource.start + value.span.start..resource.start + value.span.end))
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
