//! Ranges such as `10-20`.

use serde_json::Value;

use crate::{ToolError, arguments::shown, error::refuse};

/// From one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: u64,
    /// The last; to the end if there is none.
    pub to: Option<u64>,
}

impl Range {
    /// Reads `10-20`, `10-` or `10`; nothing comes before `first`.
    pub fn parse(text: &str, first: u64) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (from, to) = match text.split_once(['-', ':']) {
            None => (number(text)?, Some(number(text)?)),
            Some((from, rest)) if rest.trim().is_empty() => (number(from)?, None),
            Some((from, to)) => (number(from)?, Some(number(to)?)),
        };
        (from >= first && to.is_none_or(|to| to >= from)).then_some(Self { from, to })
    }

    pub(crate) fn read(name: &str, given: &Value, first: u64) -> Result<Self, ToolError> {
        let text = match given {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            // Some models write a pair.
            Value::Array(pair) if pair.len() == 2 => format!("{}-{}", pair[0], pair[1]),
            _ => String::new(),
        };
        match Self::parse(&text, first) {
            Some(range) => Ok(range),
            None => refuse!(
                "{name} must be a range such as \"{first}-20\", counted from {first}, not {}.",
                shown(given)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_written() {
        let range = |text: &str| Range::parse(text, 1).map(|range| (range.from, range.to));
        assert_eq!(range("10-20"), Some((10, Some(20))));
        assert_eq!(range("10:20"), Some((10, Some(20))));
        assert_eq!(range(" 7 "), Some((7, Some(7))));
        assert_eq!(range("7-"), Some((7, None)));
        for bad in ["", "0-3", "20-10", "a-b", "-3", "1-2-3"] {
            assert_eq!(range(bad), None, "{bad}");
        }
        assert_eq!(Range::parse("0-3", 0).unwrap().from, 0);
    }
}
