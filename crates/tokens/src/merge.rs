//! Counts the tokens of a piece that is not one: from its single bytes on, the two neighbours are
//! merged that make the token of the lowest rank, until none make one.

use std::cmp::Ordering;

use crate::vocabulary;

/// A longer piece is merged in windows of this length, because each merge looks at all of a window.
const WINDOW_BYTES: usize = 128;

/// What two neighbours have that make no token.
const NO_RANK: u32 = u32::MAX;

/// What is needed to merge, kept from piece to piece.
#[derive(Default)]
pub(crate) struct Merger {
    /// Where tokens begin, and the end of the last one.
    bounds: Vec<usize>,
    /// Of each token but the last, the rank of the token that it makes with the next one.
    ranks: Vec<u32>,
}

impl Merger {
    /// How many tokens `piece` has.
    pub(crate) fn count(&mut self, piece: &[u8]) -> usize {
        if vocabulary::rank(piece).is_some() {
            return 1;
        }
        let mut window = WINDOW_BYTES;
        loop {
            match self.count_in_windows(piece, window) {
                Some(count) => return count,
                None => window *= 2,
            }
        }
    }

    /// Merges `piece` window by window, each beginning with one of the last tokens of the one before.
    ///
    /// Tokens in a row are those of their bytes if every two neighbours are those of theirs. So where
    /// two windows have a token in common, the tokens up to it from the one and after it from the other
    /// are those of all bytes of both. `None` if two windows have none in common: they are too short.
    pub(crate) fn count_in_windows(&mut self, piece: &[u8], window: usize) -> Option<usize> {
        let mut start = 0;
        let mut count = 0;
        // Of the window before, the bounds from this window's beginning on.
        let mut before = Vec::new();
        loop {
            let end = piece.len().min(start + window);
            self.merge(&piece[start..end]);
            let mut counted = 0;
            if start > 0 {
                let (up_to_common, with_common) = common_token(&before, &self.bounds)?;
                count += up_to_common;
                counted = with_common;
            }
            if end == piece.len() {
                return Some(count + self.bounds.len() - 1 - counted);
            }
            let late = self.bounds.partition_point(|bound| *bound <= window / 4 * 3) - 1;
            if late == 0 {
                return None;
            }
            // The next window may have the common token, but none before it.
            let next = late.max(counted.saturating_sub(1));
            count = count + next - counted;
            let offset = self.bounds[next];
            before.clear();
            before.extend(self.bounds[next..].iter().map(|bound| bound - offset));
            start += offset;
        }
    }

    /// Makes tokens of single bytes.
    fn merge(&mut self, bytes: &[u8]) {
        self.bounds.clear();
        self.bounds.extend(0..=bytes.len());
        self.ranks.clear();
        self.ranks.extend(bytes.windows(2).map(rank));
        while let Some(place) = lowest(&self.ranks) {
            self.bounds.remove(place + 1);
            self.ranks.remove(place);
            for pair in place.saturating_sub(1)..self.ranks.len().min(place + 1) {
                self.ranks[pair] = rank(&bytes[self.bounds[pair]..self.bounds[pair + 2]]);
            }
        }
    }
}

/// The rank of the token that two neighbours of these bytes make.
fn rank(bytes: &[u8]) -> u32 {
    vocabulary::rank(bytes).unwrap_or(NO_RANK)
}

/// The first place of the lowest rank.
fn lowest(ranks: &[u32]) -> Option<usize> {
    let lowest = ranks.iter().copied().min().filter(|rank| *rank != NO_RANK)?;
    ranks.iter().position(|rank| *rank == lowest)
}

/// How many tokens there are in the one and in the other up to the first that is in both, with it.
fn common_token(one: &[usize], other: &[usize]) -> Option<(usize, usize)> {
    let (mut left, mut right) = (1, 1);
    while left < one.len() && right < other.len() {
        match one[left].cmp(&other[right]) {
            Ordering::Less => left += 1,
            Ordering::Greater => right += 1,
            Ordering::Equal if one[left - 1] == other[right - 1] => return Some((left, right)),
            Ordering::Equal => {
                left += 1;
                right += 1;
            }
        }
    }
    None
}
