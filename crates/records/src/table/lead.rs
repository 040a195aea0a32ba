//! What stands between two values of a record: `,"name":` and the like.

/// It is remembered up to this many words.
const LEAD_WORDS: usize = 6;

/// What stands before a value, to be compared a word at a time.
#[derive(Debug, Default)]
pub(super) struct Lead {
    length: usize,
    words: [u64; LEAD_WORDS],
    masks: [u64; LEAD_WORDS],
}

impl Lead {
    /// `None` if it is too long to be worth it.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut lead = Self { length: text.len(), ..Self::default() };
        if text.len() > 8 * LEAD_WORDS {
            return None;
        }
        for (index, part) in text.chunks(8).enumerate() {
            let (mut word, mut mask) = ([0; 8], [0; 8]);
            word[..part.len()].copy_from_slice(part);
            mask[..part.len()].fill(0xFF);
            lead.words[index] = u64::from_le_bytes(word);
            lead.masks[index] = u64::from_le_bytes(mask);
        }
        Some(lead)
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// True if `text` begins with this, and there is something to begin with.
    pub(super) fn stands_before(&self, text: &[u8]) -> bool {
        let words = self.length.div_ceil(8);
        // Of the last record of all, not enough may be left to compare whole words.
        let Some(head) = text.get(..words * 8) else { return false };
        let (chunks, _) = head.as_chunks::<8>();
        let expected = self.words.iter().zip(&self.masks);
        words > 0
            && chunks
                .iter()
                .zip(expected)
                .all(|(chunk, (word, mask))| (u64::from_le_bytes(*chunk) ^ word) & mask == 0)
    }
}
