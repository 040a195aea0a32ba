//! How long a reply may be.

/// How long a reply may be: for the model, and for a client that cuts what is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// In tokens.
    pub tokens: u64,
    /// In bytes, if the client has such a limit.
    pub bytes: Option<u64>,
}

impl Budget {
    /// Whatever there is.
    pub const NONE: Self = Self { tokens: u64::MAX, bytes: None };

    /// True if a text is no longer.
    pub(crate) fn holds(self, text: &str) -> bool {
        self.bytes.is_none_or(|bytes| text.len() as u64 <= bytes)
            && (text.len() as u64 <= self.tokens
                || forebay_records::tokens_up_to(self.tokens, text).is_some())
    }

    /// The beginning of a text, if not all of it fits.
    pub(crate) fn cut(self, text: &str) -> String {
        if self.holds(text) {
            return text.to_owned();
        }
        let most = usize::try_from(self.max_bytes()).unwrap_or(usize::MAX);
        let mut length = most.min(text.len());
        loop {
            length = length * 3 / 4;
            let end = (0..=length).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            let beginning = format!("{}…", &text[..end]);
            if length == 0 || self.holds(&beginning) {
                return beginning;
            }
        }
    }

    /// What remains when something of this many tokens is to follow.
    pub(crate) fn without(self, tokens: u64) -> Self {
        /// More than a token of plain text has.
        const TOKEN_BYTES: u64 = 5;
        Self {
            tokens: self.tokens.saturating_sub(tokens),
            bytes: self.bytes.map(|bytes| bytes.saturating_sub(tokens * TOKEN_BYTES)),
        }
    }

    /// How many of `parts`, from the first on, fit together. Each is counted with what stands
    /// between it and the next.
    pub(crate) fn fitting<'a>(self, parts: impl Iterator<Item = &'a str> + Clone) -> usize {
        let most = parts.clone().map(|part| part.len() as u64 + 1).sum::<u64>();
        // No text has more tokens than bytes: most replies need no counting, nor the tokenizer.
        if most <= self.tokens.min(self.bytes.unwrap_or(u64::MAX)) {
            return parts.count();
        }
        let (mut tokens, mut bytes, mut count) = (0, 0, 0);
        for part in parts {
            let left = self.tokens.saturating_sub(tokens);
            bytes += part.len() as u64 + 1;
            let counted = if self.tokens == u64::MAX {
                Some(0)
            } else {
                forebay_records::tokens_up_to(left, part)
            };
            match counted {
                // What stands between two parts may be a token of its own.
                Some(more) if tokens + more < self.tokens => tokens += more + 1,
                _ => break,
            }
            if self.bytes.is_some_and(|limit| bytes > limit) {
                break;
            }
            count += 1;
        }
        count
    }

    /// How many bytes can be within it at most, about.
    pub(crate) fn max_bytes(self) -> u64 {
        /// Few texts have more to a token.
        const TOKEN_BYTES: u64 = 32;
        self.bytes.unwrap_or(u64::MAX).min(self.tokens.saturating_mul(TOKEN_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_parts_as_fit_are_counted() {
        let budget = |tokens| Budget { tokens, bytes: None };
        let parts = ["one", "two", "three"];
        assert_eq!(budget(100).fitting(parts.into_iter()), 3);
        assert_eq!(budget(4).fitting(parts.into_iter()), 2);
        assert_eq!(budget(1).fitting(parts.into_iter()), 0);
        assert_eq!(Budget { tokens: 100, bytes: Some(8) }.fitting(parts.into_iter()), 2);
        assert_eq!(Budget::NONE.fitting(parts.into_iter()), 3);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        let budget = Budget { tokens: 100, bytes: Some(1_000) };
        assert_eq!(budget.cut("short"), "short");
        let cut = budget.cut(&"wörd ".repeat(100_000));
        assert!(budget.holds(&cut) && cut.ends_with('…') && cut.len() > 100, "{cut}");
    }

    #[test]
    fn both_limits_hold() {
        let text = "one two three";
        assert!(Budget { tokens: 3, bytes: None }.holds(text));
        assert!(!Budget { tokens: 2, bytes: None }.holds(text));
        assert!(!Budget { tokens: 3, bytes: Some(12) }.holds(text));
    }
}
