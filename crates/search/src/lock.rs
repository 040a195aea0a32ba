//! Lets one process at a time index.

use std::{
    fs::File,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::SearchError;

/// So long it is held before others, who may be waiting, get a turn.
pub(crate) const TURN: Duration = Duration::from_secs(2);
/// What another needs to take it.
const MOMENT: Duration = Duration::from_millis(20);

/// Held while something is indexed; let go when it is dropped.
pub(crate) struct Lock {
    file: File,
    since: Instant,
}

impl Lock {
    /// Takes it, or waits for whoever has it, for so long at most.
    pub(crate) fn take(home: &Path, patience: Duration) -> Result<Self, SearchError> {
        let path: PathBuf = home.join("search.lock");
        let file = forebay_store::lock_file(&path).map_err(|source| SearchError::File {
            doing: "open",
            path,
            source,
        })?;
        let started = Instant::now();
        while file.try_lock().is_err() {
            if started.elapsed() >= patience {
                return Err(SearchError::BeingIndexed);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Self { file, since: Instant::now() })
    }

    /// Gives others a turn, if it has been held for long. An error if another has taken it.
    pub(crate) fn share(&mut self) -> Result<(), SearchError> {
        if self.since.elapsed() < TURN {
            return Ok(());
        }
        // It is taken again below, or not held any more.
        let _ = self.file.unlock();
        thread::sleep(MOMENT);
        self.file.try_lock().map_err(|_| SearchError::BeingIndexed)?;
        self.since = Instant::now();
        Ok(())
    }
}
