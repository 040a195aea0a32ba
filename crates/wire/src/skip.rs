//! Finds the end of a JSON object or array without reading what is in it.
//!
//! A result of many megabytes is one value to a proxy, so this is the loop that decides how fast a
//! large message passes. It works on 64 bytes at a time: a bit mask of the quotes tells which bytes
//! stand inside strings, and outside them only brackets count. Blocks that cannot hold the end are
//! summed up without looking at a single byte. Valid JSON is assumed; anything else merely yields
//! a wrong end, never a panic.

use wide::u8x16;

/// The state between two chunks while a container is being skipped.
#[derive(Debug, Clone)]
pub(crate) struct Skipper {
    depth: u64,
    in_string: bool,
    /// The next byte is escaped by a backslash before it.
    escaped: bool,
}

/// One bit per byte of a 64-byte block, the first byte in the lowest bit.
struct Masks {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

impl Skipper {
    /// Starts just after the bracket that opens the container.
    pub(crate) fn after_opening() -> Self {
        Self { depth: 1, in_string: false, escaped: false }
    }

    /// Returns how many bytes of `chunk` belong to the container if it ends there, or `None` if
    /// all of them do and more is to come.
    pub(crate) fn skip(&mut self, chunk: &[u8]) -> Option<usize> {
        let (blocks, rest) = chunk.as_chunks::<64>();
        for (index, block) in blocks.iter().enumerate() {
            if !self.pass_over(block) {
                let start = index * 64;
                // The end may be in this block; if the brackets only looked like it, go on.
                if let Some(used) = self.skip_bytewise(block) {
                    return Some(start + used);
                }
            }
        }
        self.skip_bytewise(rest).map(|used| blocks.len() * 64 + used)
    }

    /// Takes a whole block into account, or returns `false`, unchanged, if the end may be in it.
    fn pass_over(&mut self, block: &[u8; 64]) -> bool {
        let masks = Masks::of(block);
        let (escaped, escape_goes_on) = self.escaped_bytes(masks.backslashes);
        let inside_at_start = if self.in_string { u64::MAX } else { 0 };
        let inside = prefix_xor(masks.quotes & !escaped) ^ inside_at_start;
        // Outside strings a backslash is no JSON; there too it must mean the same at every split.
        let counts = !inside & !escaped;
        let closes = u64::from((masks.closes & counts).count_ones());
        if closes >= self.depth {
            return false;
        }
        self.depth = self.depth + u64::from((masks.opens & counts).count_ones()) - closes;
        self.in_string = inside >> 63 == 1;
        self.escaped = escape_goes_on;
        true
    }

    /// Which bytes follow an unescaped backslash, and whether the next block's first one does.
    fn escaped_bytes(&self, backslashes: u64) -> (u64, bool) {
        const ODD_BITS: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let first_is_escaped = u64::from(self.escaped);
        if backslashes == 0 {
            return (first_is_escaped, false);
        }
        // In a run of backslashes every second one is itself escaped. Subtracting the run's start
        // from the odd bits carries through the run and leaves the alternation behind.
        let starts = backslashes & !first_is_escaped;
        let alternation = ((starts << 1) | ODD_BITS).wrapping_sub(starts) ^ ODD_BITS;
        let escaped = alternation ^ (backslashes | first_is_escaped);
        (escaped, (alternation & backslashes) >> 63 == 1)
    }

    fn skip_bytewise(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
                continue;
            }
            match byte {
                b'\\' => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl Masks {
    fn of(block: &[u8; 64]) -> Self {
        let mut masks = Self { quotes: 0, backslashes: 0, opens: 0, closes: 0 };
        let (quarters, _) = block.as_chunks::<16>();
        for (index, quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(*quarter);
            // `{` and `[`, `}` and `]` differ in one bit alone.
            let folded = bytes | u8x16::splat(0x20);
            let equal = |lanes: u8x16, byte: u8| {
                u64::from(lanes.simd_eq(u8x16::splat(byte)).to_bitmask()) << (index * 16)
            };
            masks.quotes |= equal(bytes, b'"');
            masks.backslashes |= equal(bytes, b'\\');
            masks.opens |= equal(folded, b'{');
            masks.closes |= equal(folded, b'}');
        }
        masks
    }
}

/// Sets each bit to the parity of the bits up to and including it: the bytes from an opening quote
/// up to its closing one.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn end_of(text: &[u8], chunk_bytes: usize) -> Option<usize> {
        let mut skipper = Skipper::after_opening();
        let mut seen = 0;
        for chunk in text.chunks(chunk_bytes) {
            if let Some(used) = skipper.skip(chunk) {
                return Some(seen + used);
            }
            seen += chunk.len();
        }
        None
    }

    #[test]
    fn an_unfinished_container_has_no_end() {
        assert_eq!(end_of(b"1,2,[3]", 64), None);
        assert_eq!(end_of(b"\"]]]", 64), None);
    }

    proptest! {
        #[test]
        fn blocks_and_single_bytes_agree(text in r#"[\[\]{}"\\a,]{0,400}"#, chunk in 1_usize..200) {
            let bytewise = Skipper::after_opening().skip_bytewise(text.as_bytes());
            prop_assert_eq!(end_of(text.as_bytes(), chunk), bytewise);
            prop_assert_eq!(end_of(text.as_bytes(), 64), bytewise);
        }
    }
}
