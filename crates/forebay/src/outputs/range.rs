//! Which bytes of a file are asked for.

use std::ops::Range;

/// What `Range` asks for of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it: nothing else is asked for, or it is asked for in a way that may be passed over.
    Whole,
    /// These bytes.
    Part(Range<usize>),
    /// Bytes that are not there.
    Nothing,
}

/// Reads `Range`, of a file of so many bytes. Several ranges, other units and what is no range at all may
/// be passed over: the client gets the whole file.
pub(super) fn wanted(header: &str, length: usize) -> Wanted {
    parse(header, length).unwrap_or(Wanted::Whole)
}

fn parse(header: &str, length: usize) -> Option<Wanted> {
    let (unit, range) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    let range = match (number(first)?, number(last)?) {
        (None, None) => return None,
        (None, Some(count)) => length.saturating_sub(count)..length,
        (Some(first), None) => first..length,
        (Some(first), Some(last)) if last < first => return None,
        (Some(first), Some(last)) => first..last.saturating_add(1).min(length),
    };
    Some(if range.is_empty() { Wanted::Nothing } else { Wanted::Part(range) })
}

/// A number, if there is one; `None` if there is something else.
#[expect(clippy::option_option, reason = "what is missing is not what is wrong")]
fn number(text: &str) -> Option<Option<usize>> {
    match text {
        "" => Some(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            // No file is longer than what does not fit.
            Some(Some(digits.parse().unwrap_or(usize::MAX)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let cases = [
            ("bytes=0-0", Wanted::Part(0..1)),
            ("bytes=2-4", Wanted::Part(2..5)),
            ("Bytes= 2-", Wanted::Part(2..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=8-99999999999999999999999", Wanted::Part(8..10)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=10-20", Wanted::Nothing),
            ("bytes=99999999999999999999999-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
        ];
        for (header, expected) in cases {
            assert_eq!(wanted(header, 10), expected, "{header}");
        }
        let passed_over = [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=4-2",
            "lines=1-2",
            "bytes=0-1,3-4",
            "bytes=a-b",
            "bytes=+1-2",
        ];
        for header in passed_over {
            assert_eq!(wanted(header, 10), Wanted::Whole, "{header}");
        }
        assert_eq!(wanted("bytes=0-", 0), Wanted::Nothing);
    }
}
