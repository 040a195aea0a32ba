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
/// Room for these, two thirds full.
const MAX_SLOTS: usize = 262_144;
/// Placing all anew costs more than room that stays empty.
const GROWTH: usize = 4;
const REGISTER_BITS: u32 = 12;

/// The values seen so far.
#[derive(Debug)]
pub(super) enum Distinct {
    Few(Box<Few>),
    Many(Hashes),
    Countless(Registers),
}

/// Hashes that may still be remembered, over all fields.
#[derive(Debug)]
pub(super) struct Allowance(usize);

/// How many different values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Exactly(u64),
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

/// A set of hashes: open addressing, 0 for an empty slot, at most two thirds full.
#[derive(Debug)]
pub(super) struct Hashes {
    slots: Vec<u64>,
    count: usize,
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
                    *self = Self::Many(Hashes::of(seen.chain([hash])));
                }
                true
            }
            Self::Many(hashes) => match hashes.insert(hash, allowance) {
                Inserted::New => true,
                Inserted::Known => false,
                Inserted::NoRoom => {
                    let registers = Registers::of(hashes.slots.iter().copied().chain([hash]));
                    allowance.0 += hashes.slots.len();
                    *self = Self::Countless(registers);
                    true
                }
            },
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
            Self::Many(hashes) => {
                if let Self::Few(few) = self {
                    *self = Self::Many(Hashes::of(few.entries.iter().map(|entry| entry.hash)));
                }
                for hash in hashes.slots.into_iter().filter(|slot| *slot != 0) {
                    self.add(hash, b"", allowance);
                }
            }
            Self::Countless(theirs) => {
                let mut registers = match self {
                    Self::Few(few) => Registers::of(few.entries.iter().map(|entry| entry.hash)),
                    Self::Many(hashes) => Registers::of(hashes.slots.iter().copied()),
                    Self::Countless(registers) => Registers(std::mem::take(&mut registers.0)),
                };
                for (ours, theirs) in registers.0.iter_mut().zip(theirs.0) {
                    *ours = (*ours).max(theirs);
                }
                *self = Self::Countless(registers);
            }
        }
    }

    pub(super) fn count(&self) -> Count {
        match self {
            Self::Few(few) => Count::Exactly(few.entries.len() as u64),
            Self::Many(hashes) => Count::Exactly(hashes.count as u64),
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

enum Inserted {
    New,
    Known,
    NoRoom,
}

impl Hashes {
    fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let mut set = Self { slots: vec![0; 4 * MAX_LISTED], count: 0 };
        for hash in hashes {
            set.place(hash);
        }
        set
    }

    fn insert(&mut self, hash: u64, allowance: &mut Allowance) -> Inserted {
        if self.slots[self.slot(hash)] == hash {
            return Inserted::Known;
        }
        if self.count == MAX_EXACT {
            return Inserted::NoRoom;
        }
        if self.count * 3 >= self.slots.len() * 2 {
            let Some(left) = allowance.0.checked_sub(GROWTH * self.slots.len()) else {
                return Inserted::NoRoom;
            };
            allowance.0 = left;
            let larger = vec![0; (self.slots.len() * GROWTH).min(MAX_SLOTS)];
            let before = std::mem::replace(&mut self.slots, larger);
            self.count = 0;
            for hash in before.into_iter().filter(|slot| *slot != 0) {
                self.place(hash);
            }
        }
        self.place(hash);
        Inserted::New
    }

    fn place(&mut self, hash: u64) {
        let slot = self.slot(hash);
        self.count += usize::from(self.slots[slot] == 0);
        self.slots[slot] = hash;
    }

    /// Where `hash` is, or the empty slot where it would be.
    fn slot(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = usize::try_from(hash >> 20).unwrap_or(0) & mask;
        while self.slots[at] != 0 && self.slots[at] != hash {
            at = (at + 1) & mask;
        }
        at
    }
}

impl Registers {
    /// Of hashes, of which 0 is none.
    fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let mut registers = Self(vec![0; 1 << REGISTER_BITS]);
        for hash in hashes.filter(|hash| *hash != 0) {
            registers.insert(hash);
        }
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
