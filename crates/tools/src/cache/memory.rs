//! What is remembered, within limits. Has no clock: the time is told.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_store::DatasetId;

/// A longer result is not remembered.
pub(super) const MAX_ENTRY_BYTES: u64 = 1024 * 1024;
const MAX_BYTES: usize = 64 * 1024 * 1024;
const MAX_ENTRIES: usize = 4_096;

/// What tells calls apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; blake3::OUT_LEN]);

impl Key {
    /// The key of a call that is told apart by these.
    pub(super) fn of<'p>(parts: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // With its length before it, no part can be taken for the end of another.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Self(hasher.finalize().into())
    }
}

/// A result that may be given again.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// As the client got it.
    pub(super) json: Arc<[u8]>,
    /// The dataset that it is a summary of, if it is none itself.
    pub(super) kept_as: Option<DatasetId>,
    pub(super) since: Instant,
}

/// The results; the oldest go first when there are too many.
#[derive(Default)]
pub(super) struct Memory {
    /// Each with its number.
    entries: HashMap<Key, (u64, Entry)>,
    /// In the order in which they came. One that was replaced or forgotten may still stand there.
    order: VecDeque<(Key, u64)>,
    last_number: u64,
    bytes: usize,
}

impl Memory {
    /// A result that is no older than `age`. One that is older is forgotten.
    pub(super) fn get(&mut self, key: &Key, now: Instant, age: Duration) -> Option<Entry> {
        let (_, entry) = self.entries.get(key)?;
        if now.saturating_duration_since(entry.since) <= age {
            return Some(entry.clone());
        }
        self.forget(key);
        None
    }

    pub(super) fn put(&mut self, key: Key, entry: Entry) {
        self.forget(&key);
        self.bytes += entry.json.len();
        self.last_number += 1;
        self.order.push_back((key.clone(), self.last_number));
        self.entries.insert(key, (self.last_number, entry));
        while self.bytes > MAX_BYTES || self.order.len() > MAX_ENTRIES {
            let Some((oldest, number)) = self.order.pop_front() else { return };
            if self.entries.get(&oldest).is_some_and(|(current, _)| *current == number) {
                self.forget(&oldest);
            }
        }
    }

    fn forget(&mut self, key: &Key) {
        if let Some((_, entry)) = self.entries.remove(key) {
            self.bytes -= entry.json.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key::of([&number.to_le_bytes()[..]].into_iter())
    }

    fn entry(length: usize, since: Instant) -> Entry {
        Entry { json: vec![b'x'; length].into(), kept_as: None, since }
    }

    #[test]
    fn a_result_is_given_until_it_is_too_old() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        memory.put(key(1), entry(7, start));
        assert_eq!(memory.get(&key(1), start + minute, minute).unwrap().json.len(), 7);
        assert!(memory.get(&key(2), start, minute).is_none());
        assert!(memory.get(&key(1), start + minute + second, minute).is_none());
        assert!(memory.get(&key(1), start, minute).is_none(), "it is forgotten");
        assert_eq!(memory.bytes, 0);
        memory.put(key(1), entry(7, start));
        memory.put(key(1), entry(9, start + second));
        assert_eq!(memory.get(&key(1), start + second, minute).unwrap().json.len(), 9);
        assert_eq!(memory.bytes, 9);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_newest_stays() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        let length = 1024 * 1024;
        for number in 0..200 {
            memory.put(key(number), entry(length, start));
        }
        assert!(memory.bytes <= MAX_BYTES && memory.bytes > MAX_BYTES / 2, "{}", memory.bytes);
        let is_there = |memory: &mut Memory, number| {
            memory.get(&key(number), start, Duration::from_secs(1)).is_some()
        };
        assert!(is_there(&mut memory, 199) && !is_there(&mut memory, 0));
        for number in 0..10_000 {
            memory.put(key(number), entry(1, start));
        }
        assert!(memory.entries.len() <= MAX_ENTRIES && memory.order.len() <= MAX_ENTRIES);
        for _ in 0..10_000 {
            memory.put(key(7), entry(1, start));
        }
        assert!(memory.order.len() <= MAX_ENTRIES && is_there(&mut memory, 7));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let key = |parts: &[&str]| Key::of(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(key(&["a", "bc"]), key(&["ab", "c"]));
        assert_eq!(key(&["a", "bc"]), key(&["a", "bc"]));
    }
}
