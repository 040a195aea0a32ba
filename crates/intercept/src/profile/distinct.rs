//! Counts how many different values there are: exactly while they are few, then by estimate.

use std::{collections::HashSet, hash::BuildHasher};

use foldhash::fast::FixedState;

/// Values are remembered up to this many.
const EXACT: usize = 20_000;
const REGISTER_BITS: u32 = 12;

/// The values seen so far.
#[derive(Debug)]
pub(super) struct Distinct {
    exact: Option<HashSet<u64, FixedState>>,
    /// For each group of hashes, the longest run of leading zeros plus one (`HyperLogLog`).
    registers: Vec<u8>,
}

/// How many different values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Exactly(u64),
    About(u64),
}

/// The hash under which a value is counted.
pub(super) fn hash(value: &[u8]) -> u64 {
    // The same in every run: a summary is a function of the bytes.
    FixedState::with_seed(0x00F0_4EBA).hash_one(value)
}

impl Default for Distinct {
    fn default() -> Self {
        Self { exact: Some(HashSet::default()), registers: Vec::new() }
    }
}

impl Distinct {
    pub(super) fn add(&mut self, hash: u64) {
        match &mut self.exact {
            Some(exact) if exact.len() < EXACT || exact.contains(&hash) => {
                exact.insert(hash);
            }
            Some(exact) => {
                let seen = std::mem::take(exact);
                self.exact = None;
                self.registers = vec![0; 1 << REGISTER_BITS];
                for seen in seen {
                    self.estimate(seen);
                }
                self.estimate(hash);
            }
            None => self.estimate(hash),
        }
    }

    pub(super) fn count(&self) -> Count {
        match &self.exact {
            Some(exact) => Count::Exactly(exact.len() as u64),
            None => Count::About(self.estimated()),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a part of 12 bits, a run of at most 64")]
    fn estimate(&mut self, hash: u64) {
        let register = (hash >> (64 - REGISTER_BITS)) as usize;
        let run = ((hash << REGISTER_BITS) | 1).leading_zeros() as u8 + 1;
        self.registers[register] = self.registers[register].max(run);
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    fn estimated(&self) -> u64 {
        let count = self.registers.len() as f64;
        let sum: f64 = self.registers.iter().map(|run| f64::powi(2.0, -i32::from(*run))).sum();
        (0.7213 / (1.0 + 1.079 / count) * count * count / sum) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(different: u64) -> Count {
        let mut distinct = Distinct::default();
        for value in 0..different * 2 {
            distinct.add(hash(format!("value {}", value % different).as_bytes()));
        }
        distinct.count()
    }

    #[test]
    fn few_are_counted_and_many_estimated() {
        assert_eq!(counted(3), Count::Exactly(3));
        assert_eq!(counted(20_000), Count::Exactly(20_000));
        let Count::About(estimate) = counted(200_000) else { panic!("it says so") };
        assert!((190_000..210_000).contains(&estimate), "{estimate}");
    }
}
