//! Says quickly whether a text is one JSON value.
//!
//! Nothing is built and nothing is said about what is wrong; whoever wants to know asks
//! [`crate::syntax::check`], which asks this first. That it judges as a parser does is shown by
//! property tests. A level of nesting costs a bit.

use crate::walk::Passed;

/// How much is looked at before whoever asked is told.
const STEP: usize = 16 * 1024 * 1024;

/// True if `text` is one JSON value, apart from its UTF-8.
pub(crate) fn is_valid(text: &[u8], passed: Passed<'_>) -> bool {
    let mut check = Check { text, at: 0, levels: Levels::default(), tell_at: STEP, passed };
    check.document().is_some()
}

struct Check<'a> {
    text: &'a [u8],
    at: usize,
    levels: Levels,
    tell_at: usize,
    passed: Passed<'a>,
}

/// The containers that are open: a bit each, set for an object.
#[derive(Default)]
struct Levels {
    bits: Vec<u64>,
    count: usize,
}

impl Levels {
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.count / 64, self.count % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.count += 1;
    }

    fn pop(&mut self) {
        self.count -= 1;
    }

    fn is_in_object(&self) -> Option<bool> {
        let last = self.count.checked_sub(1)?;
        Some(self.bits[last / 64] >> (last % 64) & 1 == 1)
    }
}

impl Check<'_> {
    /// `None` at the first thing that is wrong.
    fn document(&mut self) -> Option<()> {
        let mut byte = self.next()?;
        loop {
            // Here a value begins.
            let is_object = byte == b'{';
            if is_object || byte == b'[' {
                let first = self.next()?;
                let closing = if is_object { b'}' } else { b']' };
                if first != closing {
                    self.levels.push(is_object);
                    byte = if is_object { self.key(first)? } else { first };
                    continue;
                }
            } else {
                self.scalar(byte)?;
            }
            // Here one has ended.
            loop {
                let Some(is_object) = self.levels.is_in_object() else {
                    return self.next().is_none().then_some(());
                };
                match (self.next()?, is_object) {
                    (b',', true) => {
                        let first = self.next()?;
                        byte = self.key(first)?;
                        break;
                    }
                    (b',', false) => {
                        byte = self.next()?;
                        break;
                    }
                    (b'}', true) | (b']', false) => self.levels.pop(),
                    _ => return None,
                }
            }
            self.tell();
        }
    }

    /// Takes the next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
        }
    }

    /// Goes past a key whose first byte has been taken, and its colon; takes what begins the value.
    fn key(&mut self, first: u8) -> Option<u8> {
        if first != b'"' {
            return None;
        }
        self.string()?;
        if self.next()? != b':' {
            return None;
        }
        self.next()
    }

    fn scalar(&mut self, first: u8) -> Option<()> {
        match first {
            b'"' => self.string(),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            b'-' => {
                let first = *self.text.get(self.at)?;
                self.at += 1;
                self.number(first)
            }
            _ => self.number(first),
        }
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        let is_there = self.text[self.at..].starts_with(rest);
        self.at += rest.len();
        is_there.then_some(())
    }

    fn number(&mut self, first: u8) -> Option<()> {
        match first {
            b'0' => {}
            b'1'..=b'9' => drop(self.digits()),
            _ => return None,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Goes past digits; `None` if there are none.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Goes past a string whose opening quote has been taken.
    fn string(&mut self) -> Option<()> {
        loop {
            while let Some(word) = self.text[self.at..].first_chunk::<8>() {
                let plain = plain_bytes(*word);
                self.at += plain;
                if plain < 8 {
                    break;
                }
            }
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                0..=0x1F => return None,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let kind = *self.text.get(self.at)?;
        self.at += 1;
        match kind {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }

    fn tell(&mut self) {
        if self.at >= self.tell_at {
            self.tell_at = self.at + STEP;
            if let Some(passed) = self.passed {
                passed(&self.text[self.at..]);
            }
        }
    }
}

/// How many bytes of a word come before the first that is a quote, a backslash or a control.
pub(crate) fn plain_bytes(word: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // The lowest high bit that is set marks the first byte that is less than `limit`.
    let less = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH_BITS;
    let word = u64::from_le_bytes(word);
    let found = less(word ^ (ONES * 0x22), 1) | less(word ^ (ONES * 0x5C), 1) | less(word, 0x20);
    found.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn agrees(text: &[u8]) -> bool {
        let judged = serde_json::from_slice::<IgnoredAny>(text).is_ok();
        std::str::from_utf8(text).is_err() || is_valid(text, None) == judged
    }

    #[test]
    fn it_judges_as_a_parser_does() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "nulll",
            "true",
            "tru",
            "-",
            "-0",
            "00",
            "01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "1E-3",
            "0.0e0",
            "-1.25e+10",
            "[]",
            "[",
            "]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{}",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "[1}",
            "{\"a\":1]",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"a\tb\"",
            "1 2",
            " [ 1 , { \"a\" : [ ] } ] ",
            "[[[[]]]]",
            "[{}]",
            "{\"a\":{}}",
            "\u{b}1",
            "1\u{c}",
        ] {
            assert!(agrees(text.as_bytes()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_judges_any_text_as_a_parser_does(
            text in r#"[\[\]{}",:0-2.eE+\- \\aun/t\n]{0,60}"#
        ) {
            prop_assert!(agrees(text.as_bytes()), "{text:?}");
        }

        #[test]
        fn it_judges_a_document_with_a_flaw_as_a_parser_does(
            words in prop::collection::vec("(\\PC|[\"\\\\\n\u{1}]){0,20}", 0..20),
            flaw in prop::option::of(any::<(u8, prop::sample::Index)>()),
        ) {
            let mut text = serde_json::json!([{"words": words, "n": [1, -2.5e3, null, {}]}, true])
                .to_string()
                .into_bytes();
            if let Some((byte, index)) = flaw {
                let at = index.index(text.len());
                text[at] = byte;
            }
            prop_assert!(agrees(&text), "{}", String::from_utf8_lossy(&text));
        }
    }
}
