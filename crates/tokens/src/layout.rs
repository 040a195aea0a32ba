//! How the tables are laid out: what `build.rs`, which writes them, and the crate, which reads them,
//! must agree on.

/// No token is longer.
pub(crate) const MAX_TOKEN_BYTES: usize = 128;

/// How many places the table of entries has for tokens to begin at: so many that few tokens are in the
/// way of others.
pub(crate) const PLACES: u64 = 1 << 18 | 1 << 16;

/// How many characters a page of classes holds. The first page holds all of ASCII.
pub(crate) const PAGE_CHARACTERS: usize = 256;

/// The sets of characters that o200k's pattern speaks of, as bits; a character is in several.
pub(crate) mod set {
    /// Letters that may be at the beginning of a word: upper and title case, those without case, marks.
    pub(crate) const UPPER: u8 = 1;
    /// Letters that may be in the rest of a word: lower case, those without case, marks.
    pub(crate) const LOWER: u8 = 1 << 1;
    /// What may stand once before a word and belongs to it.
    pub(crate) const LEAD: u8 = 1 << 2;
    pub(crate) const NUMBER: u8 = 1 << 3;
    /// Neither white space nor letter nor number; marks are here too.
    pub(crate) const SYMBOL: u8 = 1 << 4;
    pub(crate) const SPACE: u8 = 1 << 5;
    pub(crate) const BREAK: u8 = 1 << 6;
    pub(crate) const BREAK_OR_SLASH: u8 = 1 << 7;
}

/// An entry for a token is a number: its [`tag`] in the lowest bits, from here on where its bytes are.
/// Where there is no token, it is zero.
pub(crate) const OFFSET_SHIFT: u32 = 16;
pub(crate) const OFFSET_BITS: u32 = 24;
/// The rest of an entry is the token's rank.
pub(crate) const RANK_SHIFT: u32 = OFFSET_SHIFT + OFFSET_BITS;

const LENGTH_BITS: u32 = 8;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes all of `bytes`, which are at least one, into a number.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let mut state = length as u64;
    let last = if let Some(last) = bytes.last_chunk::<8>() {
        // The last eight come below; before them, as many as are needed to leave no gap.
        for chunk in bytes[..length - 1].as_chunks::<8>().0 {
            state = mix(state ^ u64::from_le_bytes(*chunk));
        }
        u64::from_le_bytes(*last)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
    } else {
        let three = [bytes[0], bytes[length / 2], bytes[length - 1], 0];
        u64::from(u32::from_le_bytes(three))
    };
    mix(mix(state) ^ last)
}

#[expect(clippy::cast_possible_truncation, reason = "both halves of the product are taken")]
fn mix(number: u64) -> u64 {
    let product = u128::from(number ^ FACTOR) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}

/// Where the search for a token with this hash begins.
pub(crate) fn place(hash: u64) -> usize {
    (((hash >> 32) * PLACES) >> 32) as usize
}

/// Tells most tokens apart: a part of the hash, and the length. Not zero.
pub(crate) fn tag(hash: u64, length: usize) -> u64 {
    (hash << LENGTH_BITS | length as u64) & ((1 << OFFSET_SHIFT) - 1)
}
