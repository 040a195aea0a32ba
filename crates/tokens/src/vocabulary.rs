//! The tokens of o200k: finds the rank of one by its bytes.
//!
//! The tables are parts of the program's file, so they are mapped when it starts, read when they are
//! needed, and shared by all its processes.

use crate::layout::{MAX_TOKEN_BYTES, OFFSET_BITS, OFFSET_SHIFT, RANK_SHIFT, hash, place, tag};

/// A token's entry is at its place, or after others that were in its way. The last one is empty.
static ENTRIES: &[[u8; 8]] = include_bytes!(concat!(env!("OUT_DIR"), "/entries")).as_chunks().0;
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes"));

/// The rank of a token: the lower, the sooner its parts are merged. `None` if `bytes` are not one.
pub(crate) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.is_empty() || bytes.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let hash = hash(bytes);
    let tag = tag(hash, bytes.len());
    let entries = ENTRIES[place(hash)..].iter().map(|entry| u64::from_le_bytes(*entry));
    entries.take_while(|entry| *entry != 0).find_map(|entry| {
        if entry & ((1 << OFFSET_SHIFT) - 1) != tag {
            return None;
        }
        let offset = (entry >> OFFSET_SHIFT & ((1 << OFFSET_BITS) - 1)) as usize;
        (BYTES[offset..offset + bytes.len()] == *bytes).then_some((entry >> RANK_SHIFT) as u32)
    })
}
