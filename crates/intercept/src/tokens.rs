//! Counts tokens as today's models do (o200k).

use bpe_openai::o200k_base;

/// No token is longer than this, so a text of more bytes has more tokens than one for each of them.
pub(crate) const MAX_TOKEN_BYTES: u64 = 128;
/// A text up to this long is counted; a longer one is estimated from samples.
const COUNTED_BYTES: usize = 256 * 1024;
const SAMPLES: usize = 32;
const SAMPLE_BYTES: usize = 8 * 1024;

/// How many tokens `text` has, if they are no more than `limit`.
pub(crate) fn up_to(limit: u64, text: &str) -> Option<u64> {
    let tokenizer = o200k_base();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    tokenizer.count_till_limit(&tokenizer.normalize(text), limit).map(|count| count as u64)
}

/// How many tokens `text` has: exactly if it is short, otherwise within a few per cent.
pub(crate) fn about(bytes: &[u8]) -> u64 {
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
