//! What is remembered of a tool call's arguments until its result comes.
//!
//! Only if an interceptor wants them: everything else about a call is read where it stands, and
//! nothing of it is copied. Long arguments are shortened on the way, so that what a call holds does
//! not grow with what it was given.

mod shorten;

use std::ops::Range;

use self::shorten::Shortener;
use crate::body::Source;

/// Arguments up to this long are remembered as they came.
const MAX_BYTES: u64 = 16 * 1024;

/// The arguments of a tool call.
#[derive(Debug, Clone)]
pub struct Arguments {
    json: Box<[u8]>,
    /// Of what has been shortened; the rest is hashed if somebody asks, which few do.
    hash: Option<blake3::Hash>,
}

impl Arguments {
    /// Reads the arguments that stand there.
    pub fn read(source: Source<'_>, span: &Range<u64>) -> Option<Self> {
        if span.end - span.start <= MAX_BYTES {
            let mut json = Vec::new();
            source.each_chunk_of(span, |chunk| json.extend_from_slice(chunk)).ok()?;
            return Some(Self { hash: None, json: json.into() });
        }
        let mut hasher = blake3::Hasher::new();
        let mut shortener = Shortener::default();
        let read = source.each_chunk_of(span, |chunk| {
            hasher.update(chunk);
            shortener.push(chunk);
        });
        read.ok()?;
        Some(Self { hash: Some(hasher.finalize()), json: shortener.finish().into() })
    }

    /// JSON: as it came, or shortened and saying so where something is missing.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// The BLAKE3 hash of all of it, as it was written, in hexadecimal.
    pub fn hash(&self) -> String {
        self.hash.unwrap_or_else(|| blake3::hash(&self.json)).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Arguments {
        Arguments::read(Source::Line(json.as_bytes()), &(0..json.len() as u64)).unwrap()
    }

    #[test]
    fn arguments_are_remembered_as_they_came() {
        let arguments = read(r#"{ "page" : 1.0 }"#);
        assert_eq!(arguments.json(), br#"{ "page" : 1.0 }"#);
        assert_eq!(arguments.hash(), blake3::hash(arguments.json()).to_hex().as_str());
    }

    #[test]
    fn long_arguments_are_shortened_and_hashed_whole() {
        let json = format!(r#"{{"content":"{}","path":"a.txt"}}"#, "x".repeat(100_000));
        let arguments = read(&json);
        assert_eq!(arguments.hash(), blake3::hash(json.as_bytes()).to_hex().as_str());
        let kept = std::str::from_utf8(arguments.json()).unwrap();
        assert!(kept.len() < 2_000, "{kept}");
        assert!(kept.ends_with(r#"… (100002 bytes)","path":"a.txt"}"#), "{kept}");
    }
}
