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

/// A block of bytes, to be compared 16 at a time.
pub(crate) struct Block([u8x16; 4]);

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
    fn pass_over(&mut self, bytes: &[u8; 64]) -> bool {
        let block = Block::of(bytes);
        let (escaped, escape_goes_on) = escaped_bytes(block.equal_to(b'\\'), self.escaped);
        let quotes = block.equal_to(b'"') & !escaped;
        // A long text is one string: nothing in it counts.
        if quotes == 0 && self.in_string {
            self.escaped = escape_goes_on;
            return true;
        }
        let inside_at_start = if self.in_string { u64::MAX } else { 0 };
        let inside = prefix_xor(quotes) ^ inside_at_start;
        // Outside strings a backslash is no JSON; there too it must mean the same at every split.
        let counts = !inside & !escaped;
        // `{` and `[`, `}` and `]` differ in one bit alone.
        let folded = block.with_bit(0x20);
        let closes = u64::from((folded.equal_to(b'}') & counts).count_ones());
        if closes >= self.depth {
            return false;
        }
        let opens = u64::from((folded.equal_to(b'{') & counts).count_ones());
        self.depth = self.depth + opens - closes;
        self.in_string = inside >> 63 == 1;
        self.escaped = escape_goes_on;
        true
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

/// Where the first object ends that begins in `list`, a list, and ends after `at`.
pub(crate) fn object_end_after(list: &[u8], at: usize) -> Option<usize> {
    let mut skipper = Skipper::after_opening();
    if skipper.skip(list.get(1..at)?).is_some() {
        return None;
    }
    for (index, byte) in list[at..].iter().enumerate() {
        if skipper.skip_bytewise(&[*byte]).is_some() {
            return None;
        }
        if *byte == b'}' && skipper.depth == 1 && !skipper.in_string {
            return Some(at + index + 1);
        }
    }
    None
}

/// Returns how many bytes of `chunk` belong to a string up to and including its closing quote, and
/// whether that was among them. `escaped` says that a backslash stands before the chunk.
pub(crate) fn string_part(chunk: &[u8], escaped: &mut bool) -> (usize, bool) {
    let (blocks, rest) = chunk.as_chunks::<64>();
    for (index, bytes) in blocks.iter().enumerate() {
        let block = Block::of(bytes);
        let (after_backslash, goes_on) = escaped_bytes(block.equal_to(b'\\'), *escaped);
        let quotes = block.equal_to(b'"') & !after_backslash;
        if quotes != 0 {
            *escaped = false;
            return (index * 64 + quotes.trailing_zeros() as usize + 1, true);
        }
        *escaped = goes_on;
    }
    for (index, byte) in rest.iter().enumerate() {
        if std::mem::take(escaped) {
            continue;
        }
        match byte {
            b'"' => return (blocks.len() * 64 + index + 1, true),
            b'\\' => *escaped = true,
            _ => {}
        }
    }
    (chunk.len(), false)
}

/// Which bytes follow an unescaped backslash, and whether the next block's first one does.
fn escaped_bytes(backslashes: u64, escaped: bool) -> (u64, bool) {
    const ODD_BITS: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let first_is_escaped = u64::from(escaped);
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

impl Block {
    pub(crate) fn of(bytes: &[u8; 64]) -> Self {
        let (quarters, _) = bytes.as_chunks::<16>();
        Self([0, 1, 2, 3].map(|index| u8x16::new(quarters[index])))
    }

    fn with_bit(&self, bit: u8) -> Self {
        Self(self.0.map(|quarter| quarter | u8x16::splat(bit)))
    }

    /// One bit per byte, the first byte in the lowest bit: set where it equals `byte`.
    pub(crate) fn equal_to(&self, byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        let bits = |index: usize| u64::from(self.0[index].simd_eq(wanted).to_bitmask());
        bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48
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

        #[test]
        fn a_string_ends_at_its_first_quote_that_is_not_escaped(
            text in r#"(\\\\|\\"|a|"|\\){0,300}"#, chunk in 1_usize..200
        ) {
            let (mut escaped, mut seen, mut end) = (false, 0, None);
            for chunk in text.as_bytes().chunks(chunk) {
                let (used, is_end) = string_part(chunk, &mut escaped);
                seen += used;
                if is_end {
                    end = Some(seen);
                    break;
                }
            }
            let mut is_escaped = false;
            let expected = text.bytes().position(|byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            prop_assert_eq!(end, expected.map(|index| index + 1));
        }
    }
}
