//! Counts tokens as today's models do (o200k), or guesses them.

use bpe_openai::o200k_base;
use forebay_store::Mapped;

use crate::policy::Tokenizer;

/// No token is longer than this, so a text of more bytes has more tokens than one for each of them.
const MAX_TOKEN_BYTES: u64 = 128;
/// What a token has, when they are guessed.
const GUESSED_TOKEN_BYTES: u64 = 3;
/// A text up to this long is counted; a longer one is estimated from samples.
const COUNTED_BYTES: usize = 64 * 1024;
const SAMPLES: usize = 32;
const SAMPLE_BYTES: usize = 2 * 1024;

impl Tokenizer {
    /// How many tokens `text` has, if they are no more than `limit`.
    pub(crate) fn up_to(self, limit: u64, text: &str) -> Option<u64> {
        match self {
            Self::O200k => up_to(limit, text),
            Self::Estimate => Some(self.about(text.as_bytes())).filter(|count| *count <= limit),
        }
    }

    /// How many tokens texts have together, about.
    pub(crate) fn about_all(self, texts: &[Mapped]) -> u64 {
        texts.iter().map(|text| self.about(text)).sum()
    }

    /// How many tokens a text has, about.
    pub(crate) fn about(self, bytes: &[u8]) -> u64 {
        match self {
            Self::O200k => about(bytes),
            Self::Estimate => (bytes.len() as u64).div_ceil(GUESSED_TOKEN_BYTES),
        }
    }

    /// A text of more bytes than this for each token has more tokens.
    pub(crate) fn max_token_bytes(self) -> u64 {
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
    let tokenizer = o200k_base();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    tokenizer.count_till_limit(&tokenizer.normalize(text), limit).map(|count| count as u64)
}

/// How many tokens `text` has: exactly if it is short, otherwise within a few per cent.
fn about(bytes: &[u8]) -> u64 {
    let tokenizer = o200k_base();
    if bytes.len() <= COUNTED_BYTES {
        return tokenizer.count(&*String::from_utf8_lossy(bytes)) as u64;
    }
    let stride = bytes.len() / SAMPLES;
    let mut tokens = 0;
    let mut sampled = 0;
    for index in 0..SAMPLES {
        let start = index * stride;
        let sample = &bytes[start..start + SAMPLE_BYTES.min(stride)];
        tokens += tokenizer.count(&*String::from_utf8_lossy(sample)) as u64;
        sampled += sample.len() as u64;
    }
    let total = u128::from(tokens) * bytes.len() as u128 / u128::from(sampled.max(1));
    u64::try_from(total).unwrap_or(u64::MAX)
}
