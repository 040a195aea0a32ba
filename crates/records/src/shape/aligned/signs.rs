//! The signs that tables are drawn with: rules, bars, and the count of the rows below.

use super::line::{Line, Metric};

/// A rule: where lines meet, and how wide it is.
pub(super) struct Rule {
    pub(super) junctions: Vec<usize>,
    pub(super) width: usize,
}

impl Rule {
    /// True if lines meet at both of its ends.
    pub(super) fn is_framed(&self) -> bool {
        self.junctions.len() > 1
            && self.junctions[0] == 0
            && self.junctions.last() == Some(&(self.width - 1))
    }
}

/// The rule that a line is: dashes, and signs where they meet bars.
pub(super) fn rule(line: &[u8]) -> Option<Rule> {
    if !matches!(line.first()?, b'+' | b'-' | 0xE2) {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let mut junctions = Vec::new();
    let mut width = 0;
    for character in text.chars() {
        match character {
            '-' | '=' | '─' | '━' | '═' => {}
            '+' | '┌'..='╋' | '╒'..='╬' | '╭'..='╰' => junctions.push(width),
            _ => return None,
        }
        width += 1;
    }
    (width > junctions.len() && width > 1).then_some(Rule { junctions, width })
}

/// True if a line is `(90 rows)`.
pub(super) fn is_row_count(line: &[u8]) -> bool {
    let Some(inner) = line.trim_ascii().strip_prefix(b"(") else { return false };
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && matches!(&inner[digits..], b" row)" | b" rows)")
}

/// The bar that a line begins with.
pub(super) fn bar(line: &[u8]) -> Option<&[u8]> {
    [b"|".as_slice(), "│".as_bytes(), "┃".as_bytes(), "║".as_bytes()]
        .into_iter()
        .find(|bar| line.starts_with(bar))
}

/// The bar that stands in a column.
pub(super) fn bar_at(line: &[u8], column: usize) -> Option<&[u8]> {
    [Metric::Display, Metric::Characters]
        .into_iter()
        .find_map(|metric| bar(Line::new(line, metric).at(column)))
}

/// True if a line may contain a bar.
pub(super) fn contains_bar(line: &[u8]) -> bool {
    memchr::memchr2(b'|', 0xE2, line).is_some()
}
