//! Whether values that are written differently may be the same, as 1.1 and 1.10 are.

use super::range::TimeStyle;

/// The number of digits past which lengths are not told apart.
const MOST: usize = 63;

/// How many digits values have behind the point, and how many would do for the same values.
///
/// Two of them can only be the same if one is written with as many digits as would do for the other. So `0.5, 1.0, 2.0`
/// are three values, as are `0.50, 1.00, 2.00`, and `1, 1.0` may be one.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spellings {
    /// A bit for each number of digits that has been seen.
    seen: u64,
    /// A bit for each smaller number of digits that would have done.
    enough: u64,
}

impl Spellings {
    pub(super) fn see_time(&mut self, time: &[u8]) {
        let written = &time[..TimeStyle::of(time).bytes];
        // The seconds may be left out, too.
        let Some((seconds, fraction)) =
            written.get(17..).filter(|rest| !rest.is_empty()).map(|rest| {
                rest.split_at(
                    rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len()),
                )
            })
        else {
            return self.see(0, 0);
        };
        let fraction = fraction.get(1..).unwrap_or_default();
        let needed = match needed(fraction) {
            0 if seconds == b"00" => 0,
            digits => 1 + digits,
        };
        self.see(1 + fraction.len(), needed);
    }

    /// Takes note of a number that is written as usual, with `-`, digits and a point alone; `false` if it is not.
    pub(super) fn see_number(&mut self, number: &[u8]) -> bool {
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        let point = digits.iter().position(|byte| *byte == b'.');
        let (whole, decimals) = match point {
            Some(point) => (&digits[..point], &digits[point + 1..]),
            None => (digits, &[][..]),
        };
        let has_needless_zero = whole.len() > 1 && whole[0] == b'0';
        let is_negative_zero = digits.len() < number.len() && needed(digits) == 0;
        let is_usual = !whole.is_empty()
            && (point.is_none() || !decimals.is_empty())
            && whole.iter().chain(decimals).all(u8::is_ascii_digit)
            && !has_needless_zero
            && !is_negative_zero;
        if is_usual {
            self.see(decimals.len(), needed(decimals));
        }
        is_usual
    }

    fn see(&mut self, written: usize, needed: usize) {
        if written >= MOST {
            self.enough |= 1 << MOST;
        }
        let (written, needed) = (written.min(MOST), needed.min(MOST));
        self.seen |= 1 << written;
        self.enough |= (1 << written) - (1 << needed);
    }

    pub(super) fn merge(&mut self, later: Self) {
        self.seen |= later.seen;
        self.enough |= later.enough;
    }

    /// True if a value may have been seen in two ways.
    pub(super) fn may_repeat(self) -> bool {
        self.seen & self.enough != 0
    }
}

/// How many of the digits are not needless zeros at the end. A point counts as a zero.
fn needed(digits: &[u8]) -> usize {
    digits.iter().rposition(|byte| !matches!(byte, b'0' | b'.')).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_the_same_where_another_length_would_do() {
        let may_repeat = |numbers: &[&str]| {
            let mut spellings = Spellings::default();
            assert!(
                numbers.iter().all(|number| spellings.see_number(number.as_bytes())),
                "{numbers:?}"
            );
            spellings.may_repeat()
        };
        for same in
            [&["1", "1.0"][..], &["0.5", "0.50"], &["3.000", "3.00"], &["-7.0", "10.25", "12"]]
        {
            assert!(may_repeat(same), "{same:?}");
        }
        for apart in [
            &["0.5", "1.0", "20.0"][..],
            &["0.50", "1.00"],
            &["1", "2", "30"],
            &["1.25", "3", "0.5"],
        ] {
            assert!(!may_repeat(apart), "{apart:?}");
        }
        let longest = format!("0.{}", "0".repeat(70));
        assert!(may_repeat(&[&longest, &longest[..69]]));
    }

    #[test]
    fn unusual_numbers_are_not_judged() {
        for number in
            ["1e3", "+1", "01", "-0", "-0.0", "1.", ".5", "", "-", "0x1", " 1", "1_000", "NaN"]
        {
            assert!(!Spellings::default().see_number(number.as_bytes()), "{number}");
        }
    }

    #[test]
    fn times_may_be_the_same_where_another_length_would_do() {
        let may_repeat = |times: &[&str]| {
            let mut spellings = Spellings::default();
            for time in times {
                spellings.see_time(time.as_bytes());
            }
            spellings.may_repeat()
        };
        for same in [
            &["2026-01-01T10:00Z", "2026-01-01T10:00:00Z"][..],
            &["2026-01-01 10:00:07", "2026-01-01 10:00:07.000"],
            &["2026-01-01 10:00:07.5", "2026-01-01 10:00:07.50"],
        ] {
            assert!(may_repeat(same), "{same:?}");
        }
        for apart in [
            &["2026-01-01T10:00:07.120Z", "2026-01-01T10:00:00.000Z"][..],
            &["2026-01-01T10:00:07Z", "2026-01-01T10:00:07.125Z"],
            &["2026-01-01T10:00Z", "2026-01-01T10:00:07Z"],
        ] {
            assert!(!may_repeat(apart), "{apart:?}");
        }
    }
}
