//! Counts tokens as today's models do (o200k), or guesses them.

use forebay_store::Mapped;
use forebay_tokens::MAX_TOKEN_BYTES;

/// How tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// As today's models do.
    #[default]
    O200k,
    /// A token for every three bytes, whatever they are.
    Estimate,
}

/// What a token has, when they are guessed.
const GUESSED_TOKEN_BYTES: u64 = 3;
/// A text up to this long is counted; a longer one is estimated from samples.
const COUNTED_BYTES: usize = 16 * 1024;
/// How many samples: a quarter of a text that is not much longer, and no more than so many.
const MIN_SAMPLES: usize = 32;
const MAX_SAMPLES: usize = 128;
const SAMPLE_BYTES: usize = 512;
/// How far the ends of a sample are moved to where a token ends.
const MOVED_BYTES: usize = 128;

impl Tokenizer {
    /// How many tokens `text` has, if they are no more than `limit`.
    pub fn up_to(self, limit: u64, text: &str) -> Option<u64> {
        match self {
            Self::O200k => up_to(limit, text),
            Self::Estimate => Some(self.about(text.as_bytes())).filter(|count| *count <= limit),
        }
    }

    /// How many tokens texts have together, about.
    pub fn about_all(self, texts: &[Mapped]) -> u64 {
        texts.iter().map(|text| self.about(text)).sum()
    }

    /// How many tokens a text has, about.
    pub fn about(self, bytes: &[u8]) -> u64 {
        match self {
            Self::O200k => about(bytes),
            Self::Estimate => (bytes.len() as u64).div_ceil(GUESSED_TOKEN_BYTES),
        }
    }

    /// A text of more bytes than this for each token has more tokens.
    pub fn max_token_bytes(self) -> u64 {
        match self {
            Self::O200k => MAX_TOKEN_BYTES,
            Self::Estimate => GUESSED_TOKEN_BYTES,
        }
    }
}

/// How many tokens `text` has.
pub(crate) fn of(text: &str) -> u64 {
    up_to(u64::MAX, text).unwrap_or_default()
}

/// How many tokens `text` has, if they are no more than `limit`.
pub(crate) fn up_to(limit: u64, text: &str) -> Option<u64> {
    forebay_tokens::count_up_to(limit, text)
}

/// How many tokens `text` has: exactly if it is short, otherwise within a few per cent.
fn about(bytes: &[u8]) -> u64 {
    let counted = |bytes| forebay_tokens::count(&String::from_utf8_lossy(bytes));
    if bytes.len() <= COUNTED_BYTES {
        return counted(bytes);
    }
    let count = (bytes.len() / (4 * SAMPLE_BYTES)).clamp(MIN_SAMPLES, MAX_SAMPLES);
    let stride = bytes.len() / count;
    let mut tokens = 0;
    let mut sampled = 0;
    for index in 0..count {
        let start = index * stride + stride.saturating_sub(SAMPLE_BYTES) / 2;
        let sample = &bytes[boundary(bytes, start)..boundary(bytes, start + SAMPLE_BYTES)];
        tokens += counted(sample);
        sampled += sample.len() as u64;
    }
    let total = u128::from(tokens) * bytes.len() as u128 / u128::from(sampled.max(1));
    u64::try_from(total).unwrap_or(u64::MAX)
}

/// The next place from `start` on at which a token ends whatever stands around it: after a letter or a
/// digit and before what is neither, nor an apostrophe. Where there is none soon, the next character.
fn boundary(bytes: &[u8], start: usize) -> usize {
    let near = &bytes[start..bytes.len().min(start + MOVED_BYTES)];
    let ends = |pair: &[u8]| {
        pair[0].is_ascii_alphanumeric()
            && pair[1].is_ascii()
            && !pair[1].is_ascii_alphanumeric()
            && pair[1] != b'\''
    };
    let is_continued = |byte: &u8| (0x80..0xc0).contains(byte);
    match near.windows(2).position(ends) {
        Some(place) => start + place + 1,
        None => start + near.iter().take_while(|byte| is_continued(byte)).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far from the right number the estimate is, in parts of a thousand.
    fn error(text: &str) -> u64 {
        assert!(text.len() > COUNTED_BYTES, "it is estimated");
        let counted = forebay_tokens::count(text);
        about(text.as_bytes()).abs_diff(counted) * 1_000 / counted
    }

    #[test]
    fn a_short_text_is_counted_exactly() {
        let text = "It's 12,345 words — 中文\n".repeat(500);
        assert_eq!(about(text.as_bytes()), forebay_tokens::count(&text));
    }

    #[test]
    fn samples_begin_and_end_with_whole_tokens() {
        // Of words that are alike, each cut would be seen.
        for words in ["internationalization ", "don't \n", "id:12345,", "Wörter und Sätze "] {
            let error = error(&words.repeat(50_000));
            assert!(error < 5, "{words:?}: {error} ‰");
        }
    }

    #[test]
    fn where_nothing_says_that_a_token_ends_samples_hold_whole_characters() {
        for words in ["中文字。", "e\u{301}", "😀"] {
            let error = error(&words.repeat(50_000));
            assert!(error < 10, "{words:?}: {error} ‰");
        }
    }

    #[test]
    fn a_text_whose_parts_differ_is_estimated_well() {
        let parts = [
            "{\"name\": \"Ada\", \"age\": 36}\n",
            "The quick brown fox jumps. ",
            "9f86d081884c7d65 ",
        ];
        let text: String = parts.iter().map(|part| part.repeat(10_000)).collect();
        let error = error(&text);
        assert!(error < 20, "{error} ‰");
    }

    #[test]
    fn bytes_that_are_no_text_are_estimated() {
        assert!(about(&vec![0x80; 100_000]) > 0);
    }
}
