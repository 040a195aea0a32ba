//! A store that is opened when it is first needed, and tidied in the background.
//!
//! Most sessions keep nothing: for them no catalog is opened, and no directory made. A store that
//! cannot be opened is tried again the next time.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use forebay_system::priority;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Change, Collected, Durability, Retention, Store, StoreError, events, hearers::Hearers,
    layout::Layout, retention, store::HURRY,
};

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
    tidying: Mutex<()>,
    hearers: Hearers,
}

#[derive(Debug, Default)]
struct State {
    store: Option<Arc<Store>>,
    tidied: Option<Instant>,
    will_shrink: bool,
}

impl Shelf {
    /// The store at `home`; nothing is opened yet.
    pub fn new(home: &Path, durability: Durability, retention: Retention) -> Self {
        let (home, state, tidying) = (home.to_owned(), Mutex::default(), Mutex::default());
        Self { home, durability, retention, state, tidying, hearers: Hearers::default() }
    }

    /// Has `hearer` told of everything that is kept from now on by way of this shelf. It must be quick.
    pub fn when_kept(&self, hearer: impl Fn() + Send + Sync + 'static) {
        self.hearers.add(move |change| match change {
            Change::Kept(_) => hearer(),
            Change::Grown(_) | Change::Read(_) | Change::Removed(_) => {}
        });
    }

    /// Has `hearer` told of everything that is kept, grows, is read by a model or removed from now on by way of this shelf.
    /// It must be quick.
    pub fn when_changed(&self, hearer: impl Fn(Change<'_>) + Send + Sync + 'static) {
        self.hearers.add(hearer);
    }

    /// Where the store is.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What is removed and compressed, and when.
    pub fn retention(&self) -> &Retention {
        &self.retention
    }

    /// The store, opened if it is not.
    pub fn store(&self) -> Result<Arc<Store>, StoreError> {
        let mut state = self.state();
        let can_write = Store::can_write(&self.home);
        if let Some(store) = state.store.as_ref().filter(|store| store.is_writable() == can_write) {
            return Ok(store.clone());
        }
        let store = if can_write {
            Store::open_with(&self.home, self.durability, HURRY)?
        } else {
            Store::open_to_read(&self.home, self.durability)?
        };
        let store = Arc::new(store.heard_by(self.hearers.clone()));
        state.store = Some(store.clone());
        Ok(store)
    }

    /// Starts a thread that tidies up in a moment, unless one did within the hour; then it looks
    /// only whether there is too much by now. To be called after each capture.
    pub fn tidy_if_due(self: &Arc<Self>) {
        let mut state = self.state();
        if state.tidied.is_none_or(|last| last.elapsed() >= TIDIED_EVERY) {
            state.tidied = Some(Instant::now());
            self.in_background(|shelf| {
                thread::sleep(DELAY);
                shelf.tidy();
            });
        } else if let (Some(limit), Some(store), false) =
            (self.retention.max_stored_bytes, state.store.clone(), state.will_shrink)
        {
            // Most of the time there is nothing to do.
            if retention::is_within(&store, limit) {
                return;
            }
            state.will_shrink = true;
            self.in_background(move |shelf| shelf.shrink(limit));
        }
    }

    fn in_background(self: &Arc<Self>, work: impl FnOnce(&Self) + Send + 'static) {
        let tidied = self.clone();
        // Without a thread it is left to the next process.
        let _ = thread::Builder::new().name("tidy".to_owned()).spawn(move || {
            priority::thread_gives_way();
            work(&tidied);
        });
    }

    /// Removes and compresses what is old. A store that is not open is closed again.
    fn tidy(&self) {
        let layout = Layout::new(&self.home);
        if !layout.datasets().exists() || !Store::can_write(&self.home) || was_tidied(&layout) {
            return;
        }
        let _alone = self.alone();
        let open = self.state().store.clone();
        let opened = || {
            let store = Store::open(&self.home, self.durability)?;
            Ok(Arc::new(store.heard_by(self.hearers.clone())))
        };
        let store = open.map_or_else(opened, Ok);
        tell(store.and_then(|store| store.collect_now(&self.retention, &mut |_, _| true)));
    }

    /// Removes what is above the quota.
    fn shrink(&self, limit: u64) {
        let _alone = self.alone();
        let mut state = self.state();
        // From here on, what is captured needs another look.
        state.will_shrink = false;
        let open = state.store.clone();
        drop(state);
        if let Some(store) = open {
            tell(retention::shrink(&store, limit));
        }
    }

    /// Makes our own threads wait for each other. Other processes are not waited for: they do the
    /// same work.
    fn alone(&self) -> MutexGuard<'_, ()> {
        self.tidying.lock()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// True if another process has tidied up lately.
fn was_tidied(layout: &Layout) -> bool {
    let last = std::fs::symlink_metadata(layout.tidied()).and_then(|file| file.modified());
    last.is_ok_and(|last| last.elapsed().is_ok_and(|since| since < TIDIED_EVERY))
}

fn tell(outcome: Result<Collected, StoreError>) {
    match outcome {
        Ok(collected) => events::tidied(&collected),
        Err(StoreError::BeingTidied) => {}
        Err(error) => events::tidying_failed(&error),
    }
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
        assert_eq!(store.list(&Filter::default()).unwrap().len(), 1, "once an hour is enough");
        std::fs::remove_file(home.path().join("tidied")).unwrap();
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
    fn what_is_above_the_quota_goes_after_each_capture_but_for_the_newest() {
        let home = tempfile::tempdir().unwrap();
        let retention = Retention { max_stored_bytes: Some(1), ..Retention::default() };
        let shelf = Arc::new(Shelf::new(home.path(), Durability::default(), retention));
        shelf.state().tidied = Some(Instant::now());
        let store = shelf.store().unwrap();
        for payload in ["one", "two", "three"] {
            // Captures within the same millisecond are all the newest.
            thread::sleep(Duration::from_millis(2));
            let mut capture = store.capture().unwrap();
            capture.start_part("txt").unwrap().write_all(payload.as_bytes()).unwrap();
            let newest = capture.commit(Description::default()).unwrap();
            shelf.tidy_if_due();
            let ids = || -> Vec<_> {
                store.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.id).collect()
            };
            for _ in 0..500 {
                if ids() == [newest.id().clone()] {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(ids(), [newest.id().clone()]);
        }
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
