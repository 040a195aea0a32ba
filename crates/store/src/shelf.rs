//! A store that is opened when it is first needed, and tidied in the background.
//!
//! Most sessions keep nothing: for them no catalog is opened, and no directory made. A store that
//! cannot be opened is tried again the next time.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{Durability, Retention, Store, StoreError, events, layout::Layout, store::HURRY};

/// How often is often enough.
const TIDIED_EVERY: Duration = Duration::from_secs(60 * 60);
/// Whatever makes tidying due goes first: a start, or a result on its way to the client.
const DELAY: Duration = Duration::from_secs(2);

/// Where a store is, and what is to be done with it.
#[derive(Debug)]
pub struct Shelf {
    home: PathBuf,
    durability: Durability,
    retention: Retention,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    store: Option<Arc<Store>>,
    tidied: Option<Instant>,
}

impl Shelf {
    /// The store at `home`; nothing is opened yet.
    pub fn new(home: &Path, durability: Durability, retention: Retention) -> Self {
        Self { home: home.to_owned(), durability, retention, state: Mutex::default() }
    }

    /// The store, opened if it is not.
    pub fn store(&self) -> Result<Arc<Store>, StoreError> {
        let mut state = self.state();
        if let Some(store) = &state.store {
            return Ok(store.clone());
        }
        let store = Arc::new(Store::open_with(&self.home, self.durability, HURRY)?);
        state.store = Some(store.clone());
        Ok(store)
    }

    /// Starts a thread that tidies up in a moment, unless one did within the hour.
    pub fn tidy_if_due(self: &Arc<Self>) {
        let mut state = self.state();
        if state.tidied.is_some_and(|last| last.elapsed() < TIDIED_EVERY) {
            return;
        }
        state.tidied = Some(Instant::now());
        let tidied = self.clone();
        // Without a thread it is left to the next process.
        let _ = thread::Builder::new().name("tidy".to_owned()).spawn(move || {
            thread::sleep(DELAY);
            give_way();
            tidied.tidy();
        });
    }

    /// Removes and compresses what is old. A store that is not open is closed again.
    fn tidy(&self) {
        if !Layout::new(&self.home).datasets().exists() {
            return;
        }
        let open = self.state().store.clone();
        let store = open.map_or_else(|| Store::open(&self.home, self.durability).map(Arc::new), Ok);
        match store.and_then(|store| store.collect_now(&self.retention)) {
            Ok(collected) => events::tidied(&collected),
            Err(error) => events::tidying_failed(&error),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets everything else on the machine go first.
fn give_way() {
    // On Linux this is for the calling thread alone; elsewhere it would be for all of them.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::{Description, Filter};

    fn keep_something(store: &Store) {
        let mut capture = store.capture().unwrap();
        capture.start_part("txt").unwrap().write_all(b"something").unwrap();
        capture.commit(Description::default()).unwrap();
    }

    fn everything_is_old() -> Retention {
        Retention { max_age: Some(Duration::ZERO), ..Retention::default() }
    }

    #[test]
    fn nothing_is_made_before_it_is_needed_nor_by_tidying() {
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("home");
        let shelf = Shelf::new(&home, Durability::default(), everything_is_old());
        shelf.tidy();
        assert!(!home.exists());
        shelf.store().unwrap();
        assert!(home.exists());
    }

    #[test]
    fn tidying_closes_what_it_has_opened_and_uses_what_is_open() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(home.path(), Durability::default(), everything_is_old());
        let other = Store::open(home.path(), Durability::default()).unwrap();
        keep_something(&other);
        shelf.tidy();
        assert!(other.list(&Filter::default()).unwrap().is_empty());
        assert!(shelf.state().store.is_none());

        let store = shelf.store().unwrap();
        keep_something(&store);
        shelf.tidy();
        assert!(store.list(&Filter::default()).unwrap().is_empty());
        assert!(Arc::ptr_eq(&store, &shelf.store().unwrap()));
    }

    #[test]
    fn once_an_hour_is_enough() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(home.path(), Durability::default(), everything_is_old()));
        shelf.tidy_if_due();
        let first = shelf.state().tidied.unwrap();
        shelf.tidy_if_due();
        assert_eq!(shelf.state().tidied, Some(first));
        let Some(long_ago) = first.checked_sub(TIDIED_EVERY) else { return };
        shelf.state().tidied = Some(long_ago);
        shelf.tidy_if_due();
        assert!(shelf.state().tidied.unwrap() >= first);
    }

    #[test]
    fn a_store_that_could_not_be_opened_is_tried_again() {
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("home");
        std::fs::write(&home, b"in the way").unwrap();
        let shelf = Shelf::new(&home, Durability::default(), Retention::default());
        assert!(shelf.store().is_err());
        std::fs::remove_file(&home).unwrap();
        shelf.store().unwrap();
    }
}
