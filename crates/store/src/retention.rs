//! What is removed, and what is compressed, when time passes and space runs out.
//!
//! One process at a time; never a payload that someone is reading.

use std::{
    collections::HashMap,
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    Dataset, DatasetId, Entry, Filter, Store, StoreError,
    catalog::Catalog,
    compression,
    error::Doing,
    events,
    layout::{self, Folder},
    reconcile,
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
        // It may not be there yet.
        let disk = home.ancestors().find_map(|path| rustix::fs::statvfs(path).ok());
        disk.map_or(MOST, |disk| (disk.f_blocks.saturating_mul(disk.f_frsize) / SHARE).min(MOST))
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

pub(crate) fn collect(
    store: &Store,
    retention: &Retention,
    now: Timestamp,
) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    // Where nothing was ever kept, nothing is made either.
    if !store.layout.datasets().exists() {
        return Ok(collected);
    }
    let _lock = lock(store)?;
    sweep(store)?;
    let mut entries = store.list(&Filter::default())?;
    entries.reverse();
    if let Some(max_age) = retention.max_age {
        let (old, young) = entries.into_iter().partition::<Vec<_>, _>(|entry| {
            !entry.is_pinned && is_older(entry.timestamp, max_age, now)
        });
        entries = young;
        for entry in old {
            collected.note_removal(remove(store, &entry.id, &entry.folder)?);
        }
    }
    if let Some(age) = retention.compress_after {
        compress(store, &mut entries, |time| is_older(time, age, now), &mut collected)?;
    }
    if let Some(limit) = retention.max_stored_bytes {
        keep_within(entries, limit, |entry| {
            let was_removed = remove(store, &entry.id, &entry.folder)?;
            collected.note_removal(was_removed);
            Ok(was_removed)
        })?;
    }
    Ok(collected)
}

/// What [`collect`] would remove if nothing were compressed before, and nobody were reading.
pub(crate) fn would_remove(
    store: &Store,
    retention: &Retention,
    now: Timestamp,
) -> Result<Vec<Entry>, StoreError> {
    let mut entries = store.list(&Filter::default())?;
    entries.reverse();
    let is_old = |entry: &Entry| {
        let is_older = |age| is_older(entry.timestamp, age, now);
        !entry.is_pinned && retention.max_age.is_some_and(is_older)
    };
    let (mut going, staying) = entries.into_iter().partition::<Vec<_>, _>(is_old);
    if let Some(limit) = retention.max_stored_bytes {
        keep_within(staying, limit, |entry| {
            going.push(entry.clone());
            Ok(true)
        })?;
    }
    Ok(going)
}

/// Removes what is above the quota, and looks at nothing else.
pub(crate) fn shrink(store: &Store, limit: u64) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    // After every capture: most of the time there is nothing to do.
    if store.ask(Catalog::stored_bytes)? <= limit {
        return Ok(collected);
    }
    let _lock = lock(store)?;
    let mut entries = store.list(&Filter::default())?;
    entries.reverse();
    keep_within(entries, limit, |entry| {
        let was_removed = remove(store, &entry.id, &entry.folder)?;
        collected.note_removal(was_removed);
        Ok(was_removed)
    })?;
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
fn sweep(store: &Store) -> Result<(), StoreError> {
    let folders = store.layout.folders();
    reconcile::catch_up(store, &folders)?;
    for folder in folders {
        for path in hidden_files(&store.layout.folder(&folder)) {
            layout::remove(&path)?;
        }
    }
    for entry in store.list(&Filter::default())? {
        let metadata = store.layout.metadata(&entry.folder, &entry.id);
        if !store.layout.has(&entry.folder) || !layout::is_there(&metadata) {
            store.ask(|catalog| catalog.forget(&entry.id))?;
        }
    }
    Ok(())
}

/// Files that never got their name. A young one may be about to.
fn hidden_files(folder: &Path) -> Vec<PathBuf> {
    const OLD: Duration = Duration::from_secs(60 * 60);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_left = |entry: &fs::DirEntry| {
        let modified = entry.metadata().and_then(|file| file.modified());
        let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
        is_old && entry.file_name().as_encoded_bytes().starts_with(b".dataset_")
    };
    entries.filter(is_left).map(|entry| entry.path()).collect()
}

/// A clock that has been set back makes nothing old.
fn is_older(time: Timestamp, age: Duration, now: Timestamp) -> bool {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    now.duration_since(time) > age
}

/// Has as many of the oldest removed as it takes; `remove` says whether one is gone.
fn keep_within(
    entries: Vec<Entry>,
    limit: u64,
    mut remove: impl FnMut(&Entry) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    // Equal payloads share their files: they are counted once, and gone with the last of them.
    // A compressed one and a plain one are two.
    let file_of = |entry: &Entry| (entry.content.clone(), entry.stored_bytes);
    let mut sharing: HashMap<(String, u64), usize> = HashMap::new();
    let mut total = 0;
    for entry in &entries {
        let count = sharing.entry(file_of(entry)).or_default();
        *count += 1;
        if *count == 1 {
            total += entry.stored_bytes;
        }
    }
    // The newest has just been given to somebody.
    let newest = entries.last().map(|entry| entry.timestamp);
    let may_go = |entry: &Entry| !entry.is_pinned && Some(entry.timestamp) != newest;
    for entry in entries.into_iter().filter(may_go) {
        if total <= limit {
            break;
        }
        let was_removed = remove(&entry)?;
        if let Some(count) = sharing.get_mut(&file_of(&entry)).filter(|_| was_removed) {
            *count -= 1;
            if *count == 0 {
                total -= entry.stored_bytes;
            }
        }
    }
    Ok(())
}

/// Compresses what is old and has not been unpacked since. Equal payloads stay one file.
fn compress(
    store: &Store,
    entries: &mut [Entry],
    is_old: impl Fn(Timestamp) -> bool,
    collected: &mut Collected,
) -> Result<(), StoreError> {
    let mut twins: HashMap<String, Dataset> = HashMap::new();
    for entry in entries.iter_mut().filter(|entry| is_old(entry.timestamp)) {
        let Ok(dataset) = store.dataset(&entry.id) else { continue };
        let twin = twins.get(&entry.content);
        let mut has_changed = false;
        for part in 0..dataset.metadata().parts.len() {
            let path = dataset.plain_path(part);
            if !modified(&path).is_some_and(&is_old) {
                continue;
            }
            if is_in_use(&path) {
                collected.in_use += 1;
                break;
            }
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
        if has_changed {
            collected.compressed += 1;
            entry.stored_bytes = dataset.stored_bytes();
            store.ask(|catalog| catalog.set_stored_bytes(&entry.id, entry.stored_bytes))?;
        }
        twins.insert(entry.content.clone(), dataset);
    }
    Ok(())
}

/// When a file was written; `None` if there is none.
fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::symlink_metadata(path).and_then(|file| file.modified()).ok()?;
    Timestamp::try_from(modified).ok()
}

/// True while someone reads the file.
fn is_in_use(path: &Path) -> bool {
    layout::open(path).is_ok_and(|file| file.try_lock().is_err())
}
