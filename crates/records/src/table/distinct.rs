//! Counts how many different values there are: exactly while they are few, then by estimate.
//!
//! A value that has been seen before tells nothing new but its frequency, and most have been: so
//! this is asked first, with a hash, and everything else is done for new values alone.

use std::hash::{BuildHasher, Hasher};

// Of the faster hash not all bits are good enough to estimate with.
use foldhash::quality::{FixedState, FoldHasher};

/// Up to this many values are remembered as they are, with how often each occurs.
pub(super) const MAX_LISTED: usize = 64;
/// A longer value is counted, not remembered.
pub(super) const MAX_LISTED_BYTES: usize = 64;
/// Up to this many are counted exactly, by their hashes.
const MAX_EXACT: usize = 170_000;
/// How many hashes are looked for before one is noted again.
const RECENT: usize = 2_048;
/// Fewer notes than this are not worth being sorted before the end.
const MIN_SORTED: usize = 64 * 1024;
const REGISTER_BITS: u32 = 12;

/// The values seen so far.
#[derive(Debug)]
pub(super) enum Distinct {
    Few(Box<Few>),
    Many(Notes),
    Countless(Registers),
}

/// Hashes that may still be noted, over all fields.
#[derive(Debug)]
pub(super) struct Allowance(usize);

/// How many different values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exactly(u64),
    /// About so many.
    About(u64),
}

/// The values themselves, and how often each occurs.
#[derive(Debug)]
pub(super) struct Few {
    entries: Vec<Entry>,
    /// For each low part of a hash, one more than the entry to look at first.
    first: [u8; 256],
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    count: u64,
    value: Vec<u8>,
    is_whole: bool,
}

/// Hashes in the order in which they came, some of them more than once. To note one is quicker than to
/// look for it in a set that is too large for the processor's caches; they are sorted now and then, and
/// at the end.
#[derive(Debug)]
pub(super) struct Notes {
    hashes: Vec<u64>,
    /// How many different ones there were when they were last sorted.
    sorted: usize,
    /// At the place of its lowest bits, the last hash that came there.
    recent: Box<[u64; RECENT]>,
}

/// For each group of hashes, the longest run of leading zeros plus one (`HyperLogLog`).
#[derive(Debug)]
pub(super) struct Registers(Vec<u8>);

/// How much of a text is hashed at a time, however it comes.
pub(super) const PIECE: usize = 64 * 1024;

// The same in every run: a summary is a function of the bytes. The text "1" is not the number.
const TEXTS: FixedState = FixedState::with_seed(0x00F0_4EBA);
const OTHERS: FixedState = FixedState::with_seed(0x00F0_4EBB);

/// The hash under which a value is counted: never 0.
pub(super) fn hash(value: &[u8], is_text: bool) -> u64 {
    if is_text && value.len() > PIECE {
        let mut hasher = TextHasher::default();
        value.chunks(PIECE).for_each(|piece| hasher.piece(piece));
        return hasher.finish();
    }
    let mut hasher = if is_text { TEXTS } else { OTHERS }.build_hasher();
    hasher.write(value);
    hasher.finish().max(1)
}

/// [`hash`] of a text that comes in pieces: each of [`PIECE`] bytes, but for the last.
pub(super) struct TextHasher(FoldHasher<'static>);

impl Default for TextHasher {
    fn default() -> Self {
        Self(TEXTS.build_hasher())
    }
}

impl TextHasher {
    pub(super) fn piece(&mut self, piece: &[u8]) {
        if !piece.is_empty() {
            self.0.write(piece);
        }
    }

    pub(super) fn finish(&self) -> u64 {
        self.0.finish().max(1)
    }
}

impl Default for Allowance {
    fn default() -> Self {
        // 16 MiB of hashes.
        Self(2 * 1024 * 1024)
    }
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Few(Box::new(Few { entries: Vec::new(), first: [0; 256] }))
    }
}

impl Distinct {
    /// Takes a value into account; `false` if it is sure to have been seen before.
    pub(super) fn add(&mut self, hash: u64, value: &[u8], allowance: &mut Allowance) -> bool {
        match self {
            Self::Few(few) => {
                if few.count(hash) {
                    return false;
                }
                if few.entries.len() < MAX_LISTED {
                    few.insert(hash, value);
                } else {
                    let seen = few.entries.iter().map(|entry| entry.hash);
                    *self = Self::Many(Notes::of(seen.chain([hash])));
                }
                true
            }
            Self::Many(notes) => {
                if notes.is_recent(hash) {
                    return false;
                }
                if !notes.add(&[hash], allowance) {
                    *self = Self::Countless(notes.give_up([hash], allowance));
                }
                true
            }
            Self::Countless(registers) => {
                registers.insert(hash);
                true
            }
        }
    }

    /// Takes all that another has seen into account.
    pub(super) fn merge(&mut self, other: Self, allowance: &mut Allowance) {
        match other {
            Self::Few(few) => {
                for entry in few.entries {
                    let is_absorbed = match self {
                        Self::Few(ours) => ours.absorb(&entry),
                        Self::Many(_) | Self::Countless(_) => false,
                    };
                    if !is_absorbed {
                        self.add(entry.hash, &entry.value, allowance);
                    }
                }
            }
            Self::Many(theirs) => {
                if let Self::Few(few) = self {
                    *self = Self::Many(Notes::of(few.entries.iter().map(|entry| entry.hash)));
                }
                match self {
                    Self::Many(notes) => {
                        if !notes.add(&theirs.hashes, allowance) {
                            *self = Self::Countless(notes.give_up(theirs.hashes, allowance));
                        }
                    }
                    Self::Countless(registers) => {
                        theirs.hashes.iter().for_each(|hash| registers.insert(*hash));
                    }
                    Self::Few(_) => {}
                }
            }
            Self::Countless(theirs) => {
                let mut registers = match self {
                    Self::Few(few) => Registers::of(few.entries.iter().map(|entry| entry.hash)),
                    Self::Many(notes) => Registers::of(notes.hashes.iter().copied()),
                    Self::Countless(registers) => Registers(std::mem::take(&mut registers.0)),
                };
                for (ours, theirs) in registers.0.iter_mut().zip(theirs.0) {
                    *ours = (*ours).max(theirs);
                }
                *self = Self::Countless(registers);
            }
        }
    }

    pub(super) fn count(&mut self) -> Count {
        match self {
            Self::Few(few) => Count::Exactly(few.entries.len() as u64),
            Self::Many(notes) => match notes.sort() {
                count if count <= MAX_EXACT => Count::Exactly(count as u64),
                _ => Count::About(Registers::of(notes.hashes.iter().copied()).estimate()),
            },
            Self::Countless(registers) => Count::About(registers.estimate()),
        }
    }

    /// The values and how often each occurs, if they are few and short.
    pub(super) fn listed(&self) -> Option<Vec<(&[u8], u64)>> {
        match self {
            Self::Few(few) if few.entries.iter().all(|entry| entry.is_whole) => Some(
                few.entries.iter().map(|entry| (entry.value.as_slice(), entry.count)).collect(),
            ),
            _ => None,
        }
    }
}

impl Few {
    /// Adds an entry of another list; `false` if there is no room.
    fn absorb(&mut self, entry: &Entry) -> bool {
        if let Some(ours) = self.entries.iter_mut().find(|ours| ours.hash == entry.hash) {
            ours.count += entry.count;
            return true;
        }
        if self.entries.len() == MAX_LISTED {
            return false;
        }
        self.insert(entry.hash, &entry.value);
        if let Some(ours) = self.entries.last_mut() {
            ours.count = entry.count;
            ours.is_whole = entry.is_whole;
        }
        true
    }

    fn count(&mut self, hash: u64) -> bool {
        let likely = usize::from(self.first[low_byte(hash)]).checked_sub(1);
        let known = match likely {
            None => return false,
            Some(index) if self.entries[index].hash == hash => Some(index),
            Some(_) => self.entries.iter().position(|entry| entry.hash == hash),
        };
        if let Some(index) = known {
            self.entries[index].count += 1;
        }
        known.is_some()
    }

    fn insert(&mut self, hash: u64, value: &[u8]) {
        let is_whole = value.len() <= MAX_LISTED_BYTES;
        let value = if is_whole { value.to_vec() } else { Vec::new() };
        self.entries.push(Entry { hash, count: 1, value, is_whole });
        let first = &mut self.first[low_byte(hash)];
        if *first == 0 {
            *first = u8::try_from(self.entries.len()).unwrap_or(0);
        }
    }
}

impl Notes {
    fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let mut notes = Self { hashes: hashes.collect(), sorted: 0, recent: Box::new([0; RECENT]) };
        notes.sorted = notes.hashes.len();
        notes
    }

    /// True if `hash` has come lately. It has now.
    fn is_recent(&mut self, hash: u64) -> bool {
        std::mem::replace(&mut self.recent[low_bits(hash)], hash) == hash
    }

    /// Notes hashes; `false` if there is no room for them, or there are too many.
    fn add(&mut self, hashes: &[u64], allowance: &mut Allowance) -> bool {
        let is_full = |notes: &Self| hashes.len() > notes.hashes.capacity() - notes.hashes.len();
        let is_due = |notes: &Self| notes.hashes.len() >= MIN_SORTED.max(2 * notes.sorted);
        if is_full(self) && is_due(self) && self.sort() > MAX_EXACT {
            return false;
        }
        if is_full(self) {
            let more = hashes.len().max(self.hashes.len());
            let Some(left) = allowance.0.checked_sub(more) else { return false };
            allowance.0 = left;
            self.hashes.reserve_exact(more);
        }
        self.hashes.extend_from_slice(hashes);
        true
    }

    /// Sorts the hashes, each once; returns how many there are.
    fn sort(&mut self) -> usize {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.sorted = self.hashes.len();
        self.sorted
    }

    /// What can be told of these hashes and some more, without noting them.
    fn give_up(
        &mut self,
        more: impl IntoIterator<Item = u64>,
        allowance: &mut Allowance,
    ) -> Registers {
        allowance.0 += self.hashes.capacity();
        Registers::of(self.hashes.drain(..).chain(more))
    }
}

impl Registers {
    fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let mut registers = Self(vec![0; 1 << REGISTER_BITS]);
        hashes.for_each(|hash| registers.insert(hash));
        registers
    }

    #[expect(clippy::cast_possible_truncation, reason = "a part of 12 bits, a run of at most 64")]
    fn insert(&mut self, hash: u64) {
        let register = (hash >> (64 - REGISTER_BITS)) as usize;
        let run = ((hash << REGISTER_BITS) | 1).leading_zeros() as u8 + 1;
        self.0[register] = self.0[register].max(run);
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    fn estimate(&self) -> u64 {
        let count = self.0.len() as f64;
        let empty = memchr::memchr_iter(0, &self.0).count() as f64;
        // While many registers are empty, how many are tells more than what is in the others.
        if empty > count / 20.0 {
            return (count * (count / empty).ln()) as u64;
        }
        let sum: f64 = self.0.iter().map(|run| f64::powi(2.0, -i32::from(*run))).sum();
        (0.7213 / (1.0 + 1.079 / count) * count * count / sum) as u64
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a few bits of it")]
fn low_bits(hash: u64) -> usize {
    hash as usize % RECENT
}

fn low_byte(hash: u64) -> usize {
    usize::from(hash.to_le_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(different: u64) -> (Count, Option<u64>) {
        let (mut distinct, mut allowance) = (Distinct::default(), Allowance::default());
        for value in 0..different * 2 {
            let text = format!("value {}", value % different);
            let is_new = distinct.add(hash(text.as_bytes(), true), text.as_bytes(), &mut allowance);
            assert!(is_new || value >= different, "{value}");
        }
        let listed = distinct.listed().map(|listed| listed.iter().map(|(_, count)| count).sum());
        (distinct.count(), listed)
    }

    #[test]
    fn few_are_listed_more_are_counted_and_many_estimated() {
        assert_eq!(counted(3), (Count::Exactly(3), Some(6)));
        assert_eq!(counted(64), (Count::Exactly(64), Some(128)));
        assert_eq!(counted(65), (Count::Exactly(65), None));
        assert_eq!(counted(70_000), (Count::Exactly(70_000), None));
        let (Count::About(estimate), None) = counted(200_000) else { panic!("it says so") };
        assert!((190_000..210_000).contains(&estimate), "{estimate}");
    }

    #[test]
    fn without_an_allowance_the_count_is_an_estimate_and_says_so() {
        let (mut distinct, mut allowance) = (Distinct::default(), Allowance(300));
        for value in 0..1_000_u64 {
            distinct.add(hash(&value.to_le_bytes(), false), b"", &mut allowance);
        }
        assert!(matches!(distinct.count(), Count::About(900..1_100)), "{:?}", distinct.count());
    }
}
