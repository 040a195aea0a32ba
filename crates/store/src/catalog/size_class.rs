//! How long results are, in a few classes, so that what is done with short ones is not lost in what is done
//! with long ones.

/// A class of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

/// Each class ends before one of these, the last nowhere.
const BOUNDS: [u64; 5] = [2_000, 5_000, 20_000, 100_000, 1_000_000];

impl SizeClass {
    /// All of them, the shortest first.
    pub const ALL: [Self; 6] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// Of what was counted by a version that did not look at lengths. Not among all.
    pub(crate) const UNKNOWN: Self = Self(u8::MAX);

    /// The class of what is `bytes` long.
    pub fn of(bytes: u64) -> Self {
        let below = BOUNDS.iter().filter(|bound| bytes >= **bound).count();
        Self(u8::try_from(below).unwrap_or(u8::MAX))
    }

    /// From how many bytes on something is in it, and from how many on no longer.
    pub fn range(self) -> (u64, Option<u64>) {
        let at = usize::from(self.0);
        let from = at.checked_sub(1).and_then(|before| BOUNDS.get(before)).copied();
        (from.unwrap_or_default(), BOUNDS.get(at).copied())
    }

    /// As it is written down.
    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// What was written down so.
    pub(crate) fn numbered(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::UNKNOWN)
    }

    /// Its place among all.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_in_the_class_whose_range_has_it() {
        for bytes in [0, 1_999, 2_000, 4_999, 5_000, 99_999, 100_000, 1_000_000, u64::MAX] {
            let (from, until) = SizeClass::of(bytes).range();
            assert!(bytes >= from && until.is_none_or(|until| bytes < until), "{bytes}");
        }
        for (index, class) in SizeClass::ALL.into_iter().enumerate() {
            assert_eq!(SizeClass::of(class.range().0), class);
            assert_eq!(class.index(), index);
        }
    }
}
