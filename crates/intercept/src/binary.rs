//! The binary strings of a result: what is base64 in it, and long.
//!
//! Images, sounds and blobs say so; a text block may be base64 or a data URL, and structured content may
//! hold either anywhere. Places only: what they say is decoded when it is written ([`crate::capture`]).

mod encoded;
mod within;

use std::{
    collections::HashMap,
    io::{self, Read},
    ops::Range,
};

use forebay_proxy::body::Payload;

use self::encoded::Letters;
pub(crate) use self::encoded::{Encoded, Form, Quotes};
use crate::{
    file::Media,
    policy::{FilePolicy, Origin},
};

/// A string of a result that is a file.
#[derive(Debug)]
pub(crate) struct Binary {
    /// Where it stands, without the quotes.
    pub(crate) inside: Range<u64>,
    pub(crate) origin: Origin,
    pub(crate) encoded: Encoded,
    /// Which of the result's files it is: equal ones are one.
    pub(crate) file: usize,
    /// What it is, by how it begins and what it is said to be.
    pub(crate) media: Media,
    /// What it is called, if anything says so: the last part of an address.
    pub(crate) called: Option<String>,
}

/// Where a string stands that may be a file, and what is said about it.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The JSON string, quotes included.
    pub(crate) string: Range<u64>,
    pub(crate) quotes: Quotes,
    pub(crate) origin: Origin,
    pub(crate) declared: Option<String>,
    pub(crate) called: Option<String>,
}

/// What a string turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A file over its limit: this one of the binary strings.
    File(usize),
    /// Not long enough.
    Short,
    /// No base64.
    Other,
}

/// The binary strings of a result, and the files that they are.
#[derive(Debug, Default)]
pub(crate) struct Binaries {
    pub(crate) all: Vec<Binary>,
    /// Which of them each file is written from.
    pub(crate) files: Vec<usize>,
    /// The latest file of each length and beginning, by the hash of that.
    known: HashMap<(u64, u64), usize>,
}

impl Binaries {
    /// Looks at a string, and takes it if it is a file over its limit.
    pub(crate) fn consider(
        &mut self,
        whole: &Payload,
        candidate: &Candidate,
        limit: impl Fn(Origin) -> u64,
    ) -> io::Result<Look> {
        let least = limit(candidate.origin);
        let length = candidate.string.end - candidate.string.start;
        if length <= letters_of(least) {
            return Ok(Look::Short);
        }
        let Some(letters) = Letters::of(whole, candidate)? else {
            return Ok(Look::Other);
        };
        let Some((encoded, seen)) = letters.check(whole)? else { return Ok(Look::Other) };
        let declared = candidate.declared.as_deref().or(letters.declared.as_deref());
        let media = Media::of(&seen.head, declared);
        let most = match candidate.origin {
            Origin::Structured => limit(media.origin()),
            Origin::Image | Origin::Audio | Origin::Blob | Origin::Text => least,
        };
        if encoded.bytes <= most {
            return Ok(Look::Short);
        }
        let key = (encoded.bytes, seen.hash());
        let file = match self.known.get(&key) {
            Some(file) if self.is_same(whole, *file, &encoded)? => *file,
            Some(_) | None => {
                self.known.insert(key, self.files.len());
                self.files.push(self.all.len());
                self.files.len() - 1
            }
        };
        let (inside, origin) = (candidate.quotes.inside(&candidate.string), candidate.origin);
        let called = candidate.called.clone();
        self.all.push(Binary { inside, origin, encoded, file, media, called });
        Ok(Look::File(self.all.len() - 1))
    }

    /// Looks through structured content for them, or through a text that is JSON.
    pub(crate) fn search(
        &mut self,
        whole: &Payload,
        json: &Range<u64>,
        policy: &FilePolicy,
    ) -> io::Result<()> {
        let least = letters_of(policy.limit(Origin::Structured));
        for (string, quotes) in within::long_strings(whole, json, least)? {
            let (origin, declared, called) = (Origin::Structured, None, None);
            let candidate = Candidate { string, quotes, origin, declared, called };
            self.consider(whole, &candidate, |origin| policy.limit(origin))?;
        }
        Ok(())
    }

    /// Those whose strings stand in `span`, in their order.
    pub(crate) fn within(&self, span: &Range<u64>) -> impl Iterator<Item = &Binary> {
        let is_within =
            |binary: &&Binary| span.start <= binary.inside.start && binary.inside.end <= span.end;
        self.all.iter().filter(is_within)
    }

    /// What of `span` is left without them.
    pub(crate) fn around(&self, span: &Range<u64>) -> Vec<Range<u64>> {
        let mut pieces = Vec::new();
        let mut from = span.start;
        for Binary { inside, .. } in self.within(span) {
            pieces.push(from..inside.start);
            from = inside.end;
        }
        pieces.push(from..span.end);
        pieces
    }

    /// True if `encoded` says what a file has that is known.
    fn is_same(&self, whole: &Payload, file: usize, encoded: &Encoded) -> io::Result<bool> {
        let known = &self.all[self.files[file]].encoded;
        is_equal(&mut known.open(whole), &mut encoded.open(whole))
    }
}

/// How long base64 is, at the least, of more than so many bytes.
fn letters_of(bytes: u64) -> u64 {
    bytes / 3 * 4
}

fn is_equal(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    const CHUNK: u64 = 64 * 1024;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(CHUNK).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
