//! What is removed, and what is compressed, when time passes and space runs out.
//!
//! One process at a time; never a payload that someone is reading.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    DatasetId, Entry, Filter, Store, StoreError,
    error::Doing,
    layout::{self, Folder},
    reconcile,
};

const COMPRESSION_LEVEL: i32 = 3;

/// How long things are kept, and how much.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retention {
    /// Older datasets go, unless they are pinned.
    pub max_age: Option<Duration>,
    /// If all payloads take more than this, the oldest go that are not pinned.
    pub max_stored_bytes: Option<u64>,
    /// Payloads older than this are compressed.
    pub compress_after: Option<Duration>,
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
    let lock_path = store.layout.housekeeping_lock();
    let lock = File::create(&lock_path).doing("create", &lock_path)?;
    if lock.try_lock().is_err() {
        return Ok(Collected::default());
    }
    let mut collected = Collected::default();
    sweep(store)?;
    let mut entries = store.list(&Filter::default())?;
    entries.reverse();
    if let Some(max_age) = retention.max_age {
        let (old, young) = entries
            .into_iter()
            .partition::<Vec<_>, _>(|entry| !entry.is_pinned && is_older(entry, max_age, now));
        entries = young;
        for entry in old {
            collected.note_removal(remove(store, &entry.id, &entry.folder)?);
        }
    }
    if let Some(age) = retention.compress_after {
        for entry in entries.iter_mut().filter(|entry| is_older(entry, age, now)) {
            compress(store, entry, &mut collected)?;
        }
    }
    if let Some(limit) = retention.max_stored_bytes {
        keep_within(store, entries, limit, &mut collected)?;
    }
    Ok(collected)
}

/// Removes a dataset, its metadata first: from then on it does not exist. `false` if someone is
/// reading it.
pub(crate) fn remove(store: &Store, id: &DatasetId, folder: &Folder) -> Result<bool, StoreError> {
    let files = store.layout.files(folder, id);
    if files.iter().any(|path| is_in_use(path)) {
        return Ok(false);
    }
    layout::remove(&store.layout.metadata(folder, id))?;
    for path in files {
        layout::remove(&path)?;
    }
    store.catalog().forget(id)?;
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
        if !store.layout.metadata(&entry.folder, &entry.id).exists() {
            store.catalog().forget(&entry.id)?;
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
fn is_older(entry: &Entry, age: Duration, now: Timestamp) -> bool {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    now.duration_since(entry.timestamp) > age
}

fn keep_within(
    store: &Store,
    entries: Vec<Entry>,
    limit: u64,
    collected: &mut Collected,
) -> Result<(), StoreError> {
    // Equal payloads share their files: they are counted once, and gone with the last of them.
    let mut sharing: HashMap<String, usize> = HashMap::new();
    let mut total = 0;
    for entry in &entries {
        let count = sharing.entry(entry.content.clone()).or_default();
        *count += 1;
        if *count == 1 {
            total += entry.stored_bytes;
        }
    }
    for entry in entries.into_iter().filter(|entry| !entry.is_pinned) {
        if total <= limit {
            break;
        }
        let was_removed = remove(store, &entry.id, &entry.folder)?;
        collected.note_removal(was_removed);
        if let Some(count) = sharing.get_mut(&entry.content).filter(|_| was_removed) {
            *count -= 1;
            if *count == 0 {
                total -= entry.stored_bytes;
            }
        }
    }
    Ok(())
}

fn compress(store: &Store, entry: &mut Entry, collected: &mut Collected) -> Result<(), StoreError> {
    let Ok(dataset) = store.dataset(&entry.id) else { return Ok(()) };
    let mut has_changed = false;
    for part in 0..dataset.metadata().parts.len() {
        let path = dataset.plain_path(part);
        if !path.exists() {
            continue;
        }
        if is_in_use(&path) {
            collected.in_use += 1;
            return Ok(());
        }
        has_changed |= compress_file(&path)?;
    }
    if has_changed {
        collected.compressed += 1;
        entry.stored_bytes = dataset.stored_bytes();
        store.catalog().set_stored_bytes(&entry.id, entry.stored_bytes)?;
    }
    Ok(())
}

/// Puts a compressed file in the place of a plain one, unless it would be longer.
fn compress_file(path: &Path) -> Result<bool, StoreError> {
    let target = layout::compressed(path);
    let partial = layout::hidden(&target);
    layout::remove(&partial)?;
    let written = (|| -> io::Result<u64> {
        let mut source = File::open(path)?;
        let mut encoder = zstd::Encoder::new(layout::create(&partial)?, COMPRESSION_LEVEL)?;
        io::copy(&mut source, &mut encoder)?;
        let file = encoder.finish()?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    })();
    let saves = match &written {
        Ok(bytes) => fs::metadata(path).is_ok_and(|plain| *bytes < plain.len()),
        Err(_) => false,
    };
    if !saves {
        layout::remove(&partial)?;
        return written.doing("compress", path).map(|_| false);
    }
    fs::rename(&partial, &target).doing("rename", &partial)?;
    layout::remove(path)?;
    Ok(true)
}

/// True while someone reads the file.
fn is_in_use(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}
