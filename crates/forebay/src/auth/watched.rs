//! What a file says, remembered while the file stays the same.
//!
//! Pure: whoever asks says what time it is, how the file is looked at and how it is read.

use std::time::{Duration, Instant};

use anyhow::Result;

/// A file is looked at no more often than this, however often somebody asks.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a file said when it was last read.
#[derive(Debug)]
pub(crate) struct Watched<T, S>(Option<Seen<T, S>>);

#[derive(Debug)]
struct Seen<T, S> {
    value: T,
    /// What tells this state of the file from every other.
    stamp: S,
    looked: Instant,
}

impl<T, S> Default for Watched<T, S> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Clone, S: PartialEq> Watched<T, S> {
    /// What the file says. It is looked at if that was some time ago, and read only if it has changed.
    pub(crate) fn get(
        &mut self,
        now: Instant,
        look: impl FnOnce() -> S,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(seen) = &self.0
            && now < seen.looked + LOOK_AGAIN
        {
            return Ok(seen.value.clone());
        }
        // Before it is read: a change in between is seen the next time.
        let stamp = look();
        if let Some(seen) = &mut self.0
            && seen.stamp == stamp
        {
            seen.looked = now;
            return Ok(seen.value.clone());
        }
        // What cannot be read is tried again by the next who asks.
        self.0 = None;
        let value = read()?;
        self.0 = Some(Seen { value: value.clone(), stamp, looked: now });
        Ok(value)
    }

    /// Has the file read when somebody asks again.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::bail;

    use super::*;

    /// A file, and how often it was looked at and read.
    #[derive(Default)]
    struct File {
        says: Cell<u32>,
        looks: Cell<u32>,
        reads: Cell<u32>,
    }

    impl File {
        fn ask(&self, watched: &mut Watched<u32, u32>, now: Instant) -> Result<u32> {
            let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
            let look = || {
                count(&self.looks);
                self.says.get()
            };
            watched.get(now, look, || {
                count(&self.reads);
                if self.says.get() == 13 {
                    bail!("damaged");
                }
                Ok(self.says.get())
            })
        }

        fn counts(&self) -> [u32; 2] {
            [self.looks.get(), self.reads.get()]
        }
    }

    #[test]
    fn a_thousand_calls_look_once_and_a_file_that_stays_the_same_is_read_once() {
        let (file, mut watched, start) = (File::default(), Watched::default(), Instant::now());
        for _ in 0..1_000 {
            assert_eq!(file.ask(&mut watched, start).unwrap(), 0);
        }
        assert_eq!(file.counts(), [1, 1]);
        file.ask(&mut watched, start + LOOK_AGAIN).unwrap();
        assert_eq!(file.counts(), [2, 1]);
        file.says.set(7);
        assert_eq!(file.ask(&mut watched, start + 2 * LOOK_AGAIN).unwrap(), 7);
        assert_eq!(file.counts(), [3, 2]);
        watched.forget();
        file.says.set(8);
        assert_eq!(file.ask(&mut watched, start + 2 * LOOK_AGAIN).unwrap(), 8);
        assert_eq!(file.counts(), [4, 3]);
    }

    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        let (file, mut watched, start) = (File::default(), Watched::default(), Instant::now());
        file.says.set(13);
        file.ask(&mut watched, start).unwrap_err();
        file.says.set(1);
        assert_eq!(file.ask(&mut watched, start).unwrap(), 1);
    }
}
