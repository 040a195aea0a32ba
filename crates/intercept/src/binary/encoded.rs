//! Base64 in a JSON string: whether it is, and what it says, without holding it.
//!
//! What is written as every encoder writes it (the standard alphabet, padded, nothing between) is
//! *canonical*: encoded again, it is the very string. What else can be decoded is *loose*: with line
//! breaks, in the alphabet for URLs, without padding, with escapes.

use std::{
    hash::{DefaultHasher, Hasher},
    io::{self, BufRead, BufReader, Read},
    ops::Range,
};

use base64::{
    DecodeError, Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use forebay_proxy::body::Payload;

use super::Candidate;
use crate::{file::is_recognised, policy::Origin};

/// Base64, and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    /// Where its letters stand in the result.
    pub(crate) letters: Range<u64>,
    pub(crate) form: Form,
    pub(crate) quotes: Quotes,
    /// How many bytes it says.
    pub(crate) bytes: u64,
}

/// How base64 is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it would be written again.
    Canonical,
    /// In some other way.
    Loose,
}

/// How the quotes around a string are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// As they are.
    Plain,
    /// Escaped: the string stands in JSON that is a string itself.
    Escaped,
}

impl Quotes {
    /// How many bytes each is.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Plain => 1,
            Self::Escaped => 2,
        }
    }

    /// What stands between them, if `string` has them.
    pub(super) fn inside(self, string: &Range<u64>) -> Range<u64> {
        string.start + self.bytes()..string.end - self.bytes()
    }
}

/// What may be base64: where its letters stand, and what a data URL says they are.
#[derive(Debug)]
pub(super) struct Letters {
    span: Range<u64>,
    quotes: Quotes,
    pub(super) declared: Option<String>,
    claim: Claim,
}

/// Why some letters may be base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Whoever wrote the result says so.
    Declared,
    /// They look like it, and as random as what is compressed.
    Random,
    /// They look like it, and like a list of names, too.
    Likely,
}

/// What was seen while base64 was checked.
#[derive(Debug)]
pub(super) struct Seen {
    /// How the file begins.
    pub(super) head: Vec<u8>,
}

impl Seen {
    /// Equal beginnings have equal ones.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.head);
        hasher.finish()
    }
}

/// How much of a file is looked at to tell what it is.
const HEAD_BYTES: usize = 8 * 1024;
/// How much of a string is looked at to tell whether it may be base64.
const LOOKED_AT: u64 = 4 * 1024;
/// What a data URL says before its data is no longer than this.
const MAX_PREFIX_BYTES: usize = 256;
const CHUNK: usize = 64 * 1024;

/// Decodes the end of what can be read as base64 in any way.
const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

impl Letters {
    /// The letters in a JSON string; `None` if it is none, or sure to be no base64.
    pub(super) fn of(whole: &Payload, candidate: &Candidate) -> io::Result<Option<Self>> {
        let Candidate { string, quotes, origin, .. } = candidate;
        let inside = quotes.inside(string);
        let quote: &[u8] = match quotes {
            Quotes::Plain => b"\"",
            Quotes::Escaped => b"\\\"",
        };
        if whole.part(&(string.start..inside.start)).to_vec()? != quote {
            return Ok(None);
        }
        let inside = without_space(whole, inside, *quotes)?;
        let mut head = Vec::new();
        whole.part(&inside).reader().take(LOOKED_AT).read_to_end(&mut head)?;
        let text = head.as_slice();
        let (prefix, declared) = match data_url(text) {
            Some((prefix, declared)) => (prefix, Some(declared)),
            None => (0, None),
        };
        let is_said_to_be = match origin {
            Origin::Image | Origin::Audio | Origin::Blob => true,
            Origin::Text | Origin::Structured => prefix > 0,
        };
        let claim = match (is_said_to_be, is_mixed(text)) {
            (true, _) => Claim::Declared,
            (false, true) if is_random(text) => Claim::Random,
            (false, true) => Claim::Likely,
            (false, false) => return Ok(None),
        };
        let span = inside.start + prefix as u64..inside.end;
        Ok(Some(Self { span, quotes: *quotes, declared, claim }))
    }

    /// Decodes them to see whether that can be done; `None` if not.
    pub(super) fn check(&self, whole: &Payload) -> io::Result<Option<(Encoded, Seen)>> {
        let breaks = match self.claim {
            Claim::Declared => Breaks::Any,
            Claim::Random | Claim::Likely => Breaks::Even,
        };
        for form in [Form::Canonical, Form::Loose] {
            let (letters, quotes) = (self.span.clone(), self.quotes);
            let encoded = Encoded { letters, form, quotes, bytes: 0 };
            match look_through(&mut *encoded.open_with(whole, breaks)) {
                Ok((bytes, seen)) if self.is_believed(form, &seen) => {
                    return Ok(Some((Encoded { bytes, ..encoded }, seen)));
                }
                Ok(_) => {}
                Err(error) if is_no_base64(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// True if it is sure enough that they are base64, and no list of names that can be decoded by chance.
    /// In doubt a text is a text.
    fn is_believed(&self, form: Form, seen: &Seen) -> bool {
        match (self.claim, form) {
            (Claim::Declared, _) | (Claim::Random, Form::Canonical) => true,
            (Claim::Random, Form::Loose) | (Claim::Likely, _) => is_recognised(&seen.head),
        }
    }
}

impl Encoded {
    /// Reads what it says.
    pub(crate) fn open(&self, whole: &Payload) -> Box<dyn Read + Send> {
        self.open_with(whole, Breaks::Any)
    }

    fn open_with(&self, whole: &Payload, breaks: Breaks) -> Box<dyn Read + Send> {
        let letters = PartReader { part: whole.part(&self.letters), at: 0 };
        match self.form {
            Form::Canonical => Box::new(Decoder::new(letters, &BASE64_STANDARD)),
            Form::Loose => {
                let letters = BufReader::with_capacity(CHUNK, letters);
                let (lines, quotes) = (Lines::new(breaks), self.quotes);
                let letters = Plain { letters, quotes, lines, is_over: false };
                Box::new(Decoder::new(letters, &TOLERANT))
            }
        }
    }
}

/// Decodes letters as they are read, many at a time.
struct Decoder<R> {
    letters: R,
    /// How the last of them are decoded, padding included.
    last: &'static GeneralPurpose,
    /// Letters that are not decoded yet.
    held: Vec<u8>,
    decoded: Vec<u8>,
    /// How many of those bytes have been given.
    given: usize,
    is_over: bool,
}

impl<R: Read> Decoder<R> {
    fn new(letters: R, last: &'static GeneralPurpose) -> Self {
        let (held, decoded) = (Vec::with_capacity(CHUNK), Vec::new());
        Self { letters, last, held, decoded, given: 0, is_over: false }
    }

    /// Decodes the next letters. The last group is left until it is known to be that.
    fn decode(&mut self) -> io::Result<()> {
        const GROUP: usize = 4;
        let room = (CHUNK - self.held.len()) as u64;
        let read = self.letters.by_ref().take(room).read_to_end(&mut self.held)?;
        self.is_over = (read as u64) < room;
        self.decoded.clear();
        self.given = 0;
        let decoded = if self.is_over {
            let decoded = self.last.decode_vec(&self.held, &mut self.decoded);
            self.held.clear();
            decoded
        } else {
            let whole = self.held.len() / GROUP * GROUP - GROUP;
            let decoded = BASE64_STANDARD_NO_PAD.decode_vec(&self.held[..whole], &mut self.decoded);
            self.held.drain(..whole);
            decoded
        };
        decoded.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() && !self.is_over {
            self.decode()?;
        }
        let rest = &self.decoded[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

/// Reads a part of a result that it holds.
struct PartReader {
    part: Payload,
    at: u64,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.part.part(&(self.at..self.part.bytes()));
        let count = rest.reader().read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Reads the letters of loose base64 as those of the standard alphabet, without padding and line breaks.
struct Plain<R> {
    letters: R,
    quotes: Quotes,
    lines: Lines,
    /// Padding has come: nothing may follow but more of it.
    is_over: bool,
}

impl<R: BufRead> Plain<R> {
    fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.letters.fill_buf()?.first().copied();
        self.letters.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    fn required(&mut self) -> io::Result<u8> {
        self.next()?.ok_or_else(no_base64)
    }

    /// What the escape after a backslash stands for.
    fn escape(&mut self) -> io::Result<u8> {
        match (self.required()?, self.quotes) {
            // A backslash, which begins an escape of the JSON inside.
            (b'\\', Quotes::Escaped) => self.plain_escape(),
            (byte, Quotes::Plain | Quotes::Escaped) => self.escaped(byte),
        }
    }

    fn plain_escape(&mut self) -> io::Result<u8> {
        let byte = self.required()?;
        self.escaped(byte)
    }

    fn escaped(&mut self, byte: u8) -> io::Result<u8> {
        match byte {
            b'n' => Ok(b'\n'),
            b'r' => Ok(b'\r'),
            b't' => Ok(b'\t'),
            b'/' => Ok(b'/'),
            b'u' => {
                let digits =
                    [self.required()?, self.required()?, self.required()?, self.required()?];
                let digits = std::str::from_utf8(&digits).map_err(|_| no_base64())?;
                u8::from_str_radix(digits, 16).map_err(|_| no_base64())
            }
            _ => Err(no_base64()),
        }
    }
}

impl<R: BufRead> Read for Plain<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < buffer.len() {
            let Some(byte) = self.next()? else { break };
            let byte = if byte == b'\\' { self.escape()? } else { byte };
            if matches!(byte, b'\n' | b'\r' | b'\t') {
                self.lines.end(byte)?;
                continue;
            }
            self.lines.go_on()?;
            let letter = match byte {
                b'=' => {
                    self.is_over = true;
                    continue;
                }
                b'-' => b'+',
                b'_' => b'/',
                other => other,
            };
            if self.is_over {
                return Err(no_base64());
            }
            buffer[count] = letter;
            count += 1;
        }
        Ok(count)
    }
}

/// Where lines may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Any,
    /// As programs break base64: every line but the last is 64 letters long, or every one 76.
    Even,
}

/// Follows the lines of base64.
struct Lines {
    breaks: Breaks,
    /// How long every line is but the last, once one has ended.
    length: Option<usize>,
    /// How long the present one is.
    at: usize,
    /// A line was shorter: it must be the last.
    is_last: bool,
}

impl Lines {
    fn new(breaks: Breaks) -> Self {
        Self { breaks, length: None, at: 0, is_last: false }
    }

    /// Takes note of a letter.
    fn go_on(&mut self) -> io::Result<()> {
        self.at += 1;
        if self.breaks == Breaks::Even && self.is_last { Err(no_base64()) } else { Ok(()) }
    }

    /// Takes note of what stands between letters.
    fn end(&mut self, byte: u8) -> io::Result<()> {
        if self.breaks == Breaks::Any || byte == b'\r' {
            return Ok(());
        }
        match (byte, self.length, self.at) {
            (b'\n', None, 64 | 76) => self.length = Some(self.at),
            (b'\n', Some(length), at) if at == length => {}
            (b'\n', Some(length), at) if at < length => self.is_last = true,
            _ => return Err(no_base64()),
        }
        self.at = 0;
        Ok(())
    }
}

/// What of a string is left without the white space that it may begin or end with.
fn without_space(whole: &Payload, inside: Range<u64>, quotes: Quotes) -> io::Result<Range<u64>> {
    const MOST: u64 = 64;
    let spaces: [&[u8]; 4] = match quotes {
        Quotes::Plain => [b" ", b"\\n", b"\\r", b"\\t"],
        Quotes::Escaped => [b" ", b"\\\\n", b"\\\\r", b"\\\\t"],
    };
    let head = whole.part(&(inside.start..inside.end.min(inside.start + MOST))).to_vec()?;
    let mut rest = head.as_slice();
    while let Some(less) = spaces.iter().find_map(|space| rest.strip_prefix(*space)) {
        rest = less;
    }
    let start = inside.start + (head.len() - rest.len()) as u64;
    let tail = whole.part(&(start.max(inside.end.saturating_sub(MOST))..inside.end)).to_vec()?;
    let mut rest = tail.as_slice();
    while let Some(less) = spaces.iter().find_map(|space| rest.strip_suffix(*space)) {
        rest = less;
    }
    Ok(start..inside.end - (tail.len() - rest.len()) as u64)
}

/// Reads all, and keeps how it begins.
fn look_through(bytes: &mut dyn Read) -> io::Result<(u64, Seen)> {
    let mut seen = Seen { head: Vec::new() };
    let mut buffer = vec![0; CHUNK];
    let mut length = 0;
    loop {
        let count = bytes.read(&mut buffer)?;
        if count == 0 {
            return Ok((length, seen));
        }
        let room = HEAD_BYTES - seen.head.len();
        seen.head.extend_from_slice(&buffer[..count.min(room)]);
        length += count as u64;
    }
}

/// How long the beginning of a data URL is, up to its base64, and the type that it names.
fn data_url(text: &[u8]) -> Option<(usize, String)> {
    let comma = memchr::memchr(b',', &text[..text.len().min(MAX_PREFIX_BYTES)])?;
    let prefix = std::str::from_utf8(&text[..comma]).ok()?.to_ascii_lowercase().replace("\\/", "/");
    let media_type = prefix.strip_prefix("data:")?.strip_suffix(";base64")?;
    Some((comma + 1, media_type.to_owned()))
}

/// True if a text that nothing says is base64 has letters of every kind, and nothing else: no words, no
/// digits in hexadecimal, no filler.
fn is_mixed(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && text.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\\')
        })
}

/// True if all letters of base64 are there, about as often as each other, as in what is compressed or
/// encrypted. Names and paths have no `+`, or some letters much more often.
fn is_random(text: &[u8]) -> bool {
    const MOST: usize = 16;
    let mut counts = [0; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let is_usual = |letter: &u8| (1..=text.len() / MOST).contains(&counts[usize::from(*letter)]);
    alphabet::STANDARD.as_str().as_bytes().iter().all(is_usual)
}

/// What a reader fails with that finds something else.
fn no_base64() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, DecodeError::InvalidLength(0))
}

fn is_no_base64(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(cause) if cause.is::<DecodeError>())
}
