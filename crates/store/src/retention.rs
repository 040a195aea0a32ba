//! What is removed, and what is compressed, when time passes and space runs out.
//!
//! One process at a time; never a payload that someone is reading.

use std::{
    collections::{
        HashMap,
        hash_map::Entry::{Occupied, Vacant},
    },
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use forebay_system::disk;
use jiff::{SignedDuration, Timestamp};

use crate::{
    Change, DatasetId, Entry, Store, StoreError,
    catalog::{Catalog, Place},
    claim, compression,
    error::Doing,
    events, growth,
    layout::{self, Folder},
    reconcile, united,
};

/// How long things are kept, and how much.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retention {
    /// Older datasets go, unless they are pinned.
    pub max_age: Option<Duration>,
    /// If all payloads take more than this, the oldest go that are not pinned; the newest
    /// stays.
    pub max_stored_bytes: Option<u64>,
    /// Payloads older than this are compressed.
    pub compress_after: Option<Duration>,
}

impl Retention {
    /// How much may be kept if nobody has said: this much, or a tenth of the disk if that is less.
    pub fn usual_bytes(home: &Path) -> u64 {
        const MOST: u64 = 20_000_000_000;
        const SHARE: u64 = 10;
        disk::space_at(home).map_or(MOST, |space| (space.total_bytes / SHARE).min(MOST))
    }
}

/// What a collection did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// How many datasets were removed.
    pub removed: usize,
    /// How many were compressed.
    pub compressed: usize,
    /// How many should have been removed or compressed, but were being read.
    pub in_use: usize,
}

/// Told how many datasets have been looked at, of about how many; `false` ends it.
pub type HowFar<'a> = dyn FnMut(u64, u64) -> bool + 'a;

/// Removes and compresses, a few datasets at a time.
pub(crate) fn collect(
    store: &Store,
    retention: &Retention,
    now: Timestamp,
    how_far: &mut HowFar<'_>,
) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    // Where nothing was ever kept, nothing is made either.
    if !store.layout.datasets().exists() {
        return Ok(collected);
    }
    let _lock = lock(store)?;
    if !store.ask(Catalog::is_sound)? {
        store.replace_catalog()?;
    }
    sweep(store, how_far)?;
    if let Some(max_age) = retention.max_age {
        each(store, false, |entry| {
            let is_old = is_older(entry.timestamp, max_age, now);
            if is_old && !entry.is_pinned {
                collected.note_removal(remove(store, &entry.id, &entry.folder)?);
            }
            Ok(is_old)
        })?;
    }
    if let Some(age) = retention.compress_after {
        compress(store, |time| is_older(time, age, now), &mut collected)?;
    }
    if let Some(limit) = retention.max_stored_bytes {
        keep_within(store, limit, &mut collected)?;
    }
    // Whoever comes next sees when it was done, or does it again.
    let _ = layout::write_by_rename(&store.layout.tidied(), b"");
    Ok(collected)
}

/// Goes through the datasets, the oldest first, until `look` says that it has seen enough: through those
/// that are not compressed, or all.
pub(crate) fn each(
    store: &Store,
    only_unpacked: bool,
    mut look: impl FnMut(&Entry) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    const AT_ONCE: u32 = 1_000;
    let mut behind = None;
    loop {
        let entries = store.ask(|catalog| catalog.walk(behind.as_ref(), only_unpacked, AT_ONCE))?;
        for entry in &entries {
            if !look(entry)? {
                return Ok(());
            }
        }
        match entries.last() {
            Some(last) => behind = Some(Place::of(last)),
            None => return Ok(()),
        }
    }
}

/// What [`collect`] would remove if nothing were compressed before, and nobody were reading.
pub(crate) fn would_remove(
    store: &Store,
    retention: &Retention,
    now: Timestamp,
) -> Result<Vec<Entry>, StoreError> {
    let mut going = Vec::new();
    // How many of those that share their files are staying.
    let mut staying: HashMap<(String, u64), u64> = HashMap::new();
    let is_old = |entry: &Entry| {
        let is_older = |age| is_older(entry.timestamp, age, now);
        !entry.is_pinned && retention.max_age.is_some_and(is_older)
    };
    let mut quota = match retention.max_stored_bytes {
        Some(limit) => Some(Quota::of(store, limit)?),
        None => None,
    };
    // What goes by its age leaves its place to the others.
    for by_age in [true, false] {
        each(store, false, |entry| {
            let goes = match &quota {
                _ if by_age => is_old(entry),
                Some(quota) => !is_old(entry) && quota.wants(entry),
                None => return Ok(false),
            };
            if goes {
                going.push(entry.clone());
                let staying = match staying.entry((entry.content.clone(), entry.stored_bytes)) {
                    Occupied(known) => known.into_mut(),
                    Vacant(unknown) => {
                        unknown.insert(store.ask(|catalog| catalog.sharing(entry, u32::MAX))?)
                    }
                };
                *staying = staying.saturating_sub(1);
                if let Some(quota) = &mut quota {
                    quota.lose(entry, *staying);
                }
            }
            Ok(true)
        })?;
    }
    Ok(going)
}

/// True if what is kept is sure to be within the quota: equal payloads are counted each time.
pub(crate) fn is_within(store: &Store, limit: u64) -> bool {
    store.ask(Catalog::stored_bytes).is_ok_and(|bytes| bytes <= limit)
}

/// Removes what is above the quota, and looks at nothing else.
pub(crate) fn shrink(store: &Store, limit: u64) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    let _lock = lock(store)?;
    keep_within(store, limit, &mut collected)?;
    Ok(collected)
}

/// Lets one process, and one thread, at a time through, until the file is dropped.
fn lock(store: &Store) -> Result<File, StoreError> {
    /// A process that is just being started has our files until it is, and their locks with them.
    const MOMENT: Duration = Duration::from_millis(200);
    let path = store.layout.housekeeping_lock();
    let lock = layout::lock_file(&path).doing("open", &path)?;
    let started = Instant::now();
    while lock.try_lock().is_err() {
        if started.elapsed() > MOMENT {
            return Err(StoreError::BeingTidied);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(lock)
}

/// Removes a dataset, its metadata first: from then on it does not exist. `false` if someone is
/// reading it.
pub(crate) fn remove(store: &Store, id: &DatasetId, folder: &Folder) -> Result<bool, StoreError> {
    let files = store.layout.files(folder, id);
    if files.iter().any(|path| is_in_use(path)) {
        return Ok(false);
    }
    // None of its own, if the folder is not one of the store's.
    let metadata = store.layout.metadata(folder, id);
    if files.contains(&metadata) {
        layout::remove(&metadata)?;
    }
    for path in files {
        layout::remove(&path)?;
    }
    // It exists no more, whatever else goes wrong.
    store.hearers.tell(Change::Removed(id));
    united::forget(store, id)?;
    store.ask(|catalog| catalog.forget(id))?;
    Ok(true)
}

impl Collected {
    fn note_removal(&mut self, was_removed: bool) {
        if was_removed {
            self.removed += 1;
        } else {
            self.in_use += 1;
        }
    }
}

/// Brings the catalog in line with the files, and removes those that belong to no dataset and to no
/// capture that is under way.
fn sweep(store: &Store, how_far: &mut HowFar<'_>) -> Result<(), StoreError> {
    let total = store.ask(Catalog::datasets)?;
    let mut looked_at = 0;
    let mut go_on = |looked_at: u64| {
        // Each is looked at twice: its files, and its line.
        if how_far(looked_at / 2, total) { Ok(()) } else { Err(StoreError::Interrupted) }
    };
    for folder in store.layout.folders() {
        looked_at += reconcile::catch_up(store, &folder)?;
        go_on(looked_at)?;
        for path in hidden_files(&store.layout.folder(&folder)) {
            layout::remove(&path)?;
        }
    }
    for path in claim::empty(&store.layout) {
        layout::remove(&path)?;
    }
    each(store, false, |entry| {
        let metadata = store.layout.metadata(&entry.folder, &entry.id);
        if !store.layout.has(&entry.folder) || !layout::is_there(&metadata) {
            store.ask(|catalog| catalog.forget(&entry.id))?;
        }
        looked_at += 1;
        go_on(looked_at)?;
        Ok(true)
    })?;
    united::sweep(store)
}

/// Files that never got their name. A young one may be about to.
fn hidden_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hidden =
        |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".dataset_");
    let hidden = entries.filter(is_hidden).map(|entry| entry.path());
    hidden.filter(|path| layout::is_abandoned(path)).collect()
}

/// A clock that has been set back makes nothing old.
fn is_older(time: Timestamp, age: Duration, now: Timestamp) -> bool {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    now.duration_since(time) > age
}

/// Removes the oldest that are not pinned until the rest is within the quota.
fn keep_within(store: &Store, limit: u64, collected: &mut Collected) -> Result<(), StoreError> {
    // If they are few enough counted each time, they are.
    if store.ask(Catalog::stored_bytes)? <= limit {
        return Ok(());
    }
    let mut quota = Quota::of(store, limit)?;
    each(store, false, |entry| {
        if quota.wants(entry) {
            let was_removed = remove(store, &entry.id, &entry.folder)?;
            collected.note_removal(was_removed);
            if was_removed {
                quota.lose(entry, store.ask(|catalog| catalog.sharing(entry, 1))?);
            }
        }
        Ok(quota.is_exceeded())
    })
}

/// How much there is, and may be. Equal payloads share their files: they are counted once, and gone with
/// the last of them. A compressed one and a plain one are two.
struct Quota {
    limit: u64,
    total: u64,
    newest: Option<Timestamp>,
}

impl Quota {
    fn of(store: &Store, limit: u64) -> Result<Self, StoreError> {
        let total = store.ask(Catalog::stored_bytes_of_files)?;
        Ok(Self { limit, total, newest: store.ask(Catalog::newest)? })
    }

    fn is_exceeded(&self) -> bool {
        self.total > self.limit
    }

    /// True if a dataset has to go. The newest has just been given to somebody, and so has what is captured
    /// while we look.
    fn wants(&self, entry: &Entry) -> bool {
        let is_older = self.newest.is_some_and(|newest| entry.timestamp < newest);
        self.is_exceeded() && !entry.is_pinned && is_older
    }

    /// Takes a dataset off that is gone, whose files so many others still have.
    fn lose(&mut self, entry: &Entry, sharing: u64) {
        if sharing == 0 {
            self.total = self.total.saturating_sub(entry.stored_bytes);
        }
    }
}

/// Compresses what is old and has not been unpacked since. Equal payloads stay one file.
fn compress(
    store: &Store,
    is_old: impl Fn(Timestamp) -> bool,
    collected: &mut Collected,
) -> Result<(), StoreError> {
    each(store, true, |entry| {
        if !is_old(entry.timestamp) {
            return Ok(false);
        }
        let Ok(dataset) = store.dataset(&entry.id) else { return Ok(true) };
        if let Some(edition) = dataset.facts().edition {
            growth::remove_superseded(store, &dataset, edition);
        }
        let (mut has_changed, mut is_done) = (false, true);
        for part in 0..dataset.metadata().parts.len() {
            let path = dataset.plain_path(part);
            match modified(&path) {
                None => continue,
                Some(time) if is_old(time) => {}
                // It has been unpacked.
                Some(_) => {
                    is_done = false;
                    continue;
                }
            }
            if is_in_use(&path) {
                collected.in_use += 1;
                is_done = false;
                break;
            }
            let twin = store.ask(|catalog| catalog.packed_twin(entry))?;
            let twin = twin.and_then(|twin| store.dataset(&twin).ok());
            let theirs = twin.and_then(|twin| {
                let theirs = layout::compressed(&twin.plain_path(part));
                // Ours may be the only one that is sound.
                store.sound.check(&theirs, || twin.verify(part)).ok().map(|()| theirs)
            });
            let changed = match theirs {
                Some(theirs) if compression::share_compressed(&theirs, &path)? => Ok(true),
                _ => compression::compress(&path),
            };
            // One that cannot be read is no reason to leave the others as they are.
            has_changed |= changed.unwrap_or_else(|error| {
                events::not_compressed(&error);
                false
            });
        }
        collected.compressed += usize::from(has_changed);
        store.ask(|catalog| catalog.set_stored(&dataset, is_done))?;
        Ok(true)
    })
}

/// When a file was written; `None` if there is none.
fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::symlink_metadata(path).and_then(|file| file.modified()).ok()?;
    Timestamp::try_from(modified).ok()
}

/// True while someone reads the file.
pub(crate) fn is_in_use(path: &Path) -> bool {
    layout::open(path).is_ok_and(|file| file.try_lock().is_err())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use jiff::SignedDuration;

    use super::*;
    use crate::{Capture, Description, Durability, Filter};

    #[test]
    fn what_is_captured_while_the_store_shrinks_stays() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::RightAfter).unwrap();
        let keep = |age: i64| {
            let timestamp = Timestamp::now() - SignedDuration::from_secs(age);
            let mut capture = Capture::begin(&store, timestamp).unwrap();
            write!(capture.start_part("txt").unwrap(), "{age}").unwrap();
            capture.commit(Description::default()).unwrap().id().clone()
        };
        let (oldest, newest) = (keep(30), keep(20));
        let quota = Quota::of(&store, 1).unwrap();
        let late = keep(10);
        let entries = store.list(&Filter::default()).unwrap();
        let wanted: Vec<_> = entries.iter().filter(|entry| quota.wants(entry)).collect();
        assert_eq!(
            entries.iter().map(|entry| &entry.id).collect::<Vec<_>>(),
            [&late, &newest, &oldest]
        );
        assert_eq!(wanted.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&oldest]);
    }
}
