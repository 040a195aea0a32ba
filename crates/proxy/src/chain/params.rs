//! What a call says, as far as it can be told at a glance.

use std::ops::Range;

use memchr::memmem;

use crate::body::{Payload, Source};

/// The `params` of a call, where they stand.
#[derive(Debug, Clone)]
pub struct Params<'a> {
    source: Source<'a>,
    span: Range<u64>,
}

impl<'a> Params<'a> {
    pub(crate) fn new(source: Source<'a>, span: Range<u64>) -> Self {
        Self { source, span }
    }

    /// True if these bytes stand somewhere in them. What cannot be read has none.
    pub fn contains(&self, wanted: &[u8]) -> bool {
        if let Some(bytes) = self.source.in_memory(&self.span) {
            return memmem::find(bytes, wanted).is_some();
        }
        let finder = memmem::Finder::new(wanted);
        let mut is_found = false;
        // The end of what came before, in which they may have begun.
        let mut window: Vec<u8> = Vec::new();
        let read = self.source.each_chunk_of(&self.span, |chunk| {
            window.extend_from_slice(chunk);
            is_found |= finder.find(&window).is_some();
            window.drain(..window.len().saturating_sub(wanted.len().saturating_sub(1)));
        });
        read.is_ok() && is_found
    }
}

impl<'a> From<&'a Payload> for Params<'a> {
    fn from(payload: &'a Payload) -> Self {
        let (body, span) = payload.place();
        Self::new(Source::Held(body), span.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Spool;

    #[test]
    fn what_stands_in_params_is_found_wherever_they_are_kept() {
        let line = [&b"ab forebay"[..], &vec![b'x'; 200_000], b"://here"].concat();
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::new(1, 1 << 30, directory.path().to_owned());
        let mut hold = crate::body::Hold::new(&spool);
        for chunk in line.chunks(7) {
            hold.push(chunk).unwrap();
        }
        let spooled = hold.finish();
        for source in [Source::Line(&line), Source::Held(&spooled)] {
            let params = |span| Params::new(source, span);
            let all = 0..line.len() as u64;
            assert!(params(all.clone()).contains(b"forebayx"));
            assert!(params(all.clone()).contains(b"xxx://here"));
            assert!(!params(all.clone()).contains(b"forebay:"));
            assert!(!params(0..6).contains(b"forebay") && !params(all).contains(b"ab  "));
        }
    }
}
