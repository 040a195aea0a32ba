//! The store as a whole: opening it, and what can be done with it.

use std::{
    fs::{DirBuilder, File},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::{Timestamp, ToSpan, civil::Date};

use crate::{
    Capture, Collected, Counts, Dataset, DatasetId, Entry, Filter, Retention, StoreError, Usage,
    Viewer,
    catalog::{Catalog, usage},
    compression,
    error::Doing,
    events,
    layout::{self, Folder, Layout},
    reconcile, retention,
};

/// The datasets of a machine, or of whoever has a home of their own.
#[derive(Debug)]
pub struct Store {
    pub(crate) layout: Layout,
    pub(crate) durability: Durability,
    patience: Duration,
    catalog: Mutex<Catalog>,
    /// Whether the catalog may lack a dataset that was captured lately.
    is_behind: AtomicBool,
}

/// How long a command waits for another process that writes to the catalog.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where somebody waits for an answer; a capture asks a few times.
pub(crate) const HURRY: Duration = Duration::from_millis(100);

/// The same for opening it, which comes once. Whoever closes it last may be in the way, and may be a
/// process that gives way to everything else; and without a catalog nothing can be kept.
const OPENING: Duration = Duration::from_secs(2);

/// When a dataset is safe against a loss of power. Against our own end it always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A moment after the capture has returned.
    #[default]
    RightAfter,
    /// Before the capture returns.
    BeforeCommitReturns,
}

impl Store {
    /// Opens the store at `home`, or makes one; cleans up what interrupted captures have left, and
    /// makes the catalog anew if it is missing or damaged.
    pub fn open(home: &Path, durability: Durability) -> Result<Self, StoreError> {
        Self::open_with(home, durability, PATIENCE)
    }

    /// Opens a store that waits no longer than `patience` for another process to write.
    pub(crate) fn open_with(
        home: &Path,
        durability: Durability,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let layout = Layout::new(home);
        let datasets = layout.datasets();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&datasets)
            .doing("create", &datasets)?;
        let opening = patience.max(OPENING);
        let catalog = match Catalog::open(&layout.catalog(), opening)? {
            Some(catalog) => catalog,
            None => reconcile::rebuild(&layout, opening)?,
        };
        catalog.set_patience(patience)?;
        let catalog = Mutex::new(catalog);
        let store =
            Self { layout, durability, patience, catalog, is_behind: AtomicBool::new(false) };
        store.catch_up();
        Ok(store)
    }

    /// Begins a dataset.
    pub fn capture(&self) -> Result<Capture<'_>, StoreError> {
        Capture::begin(self, Timestamp::now())
    }

    /// A dataset by its name.
    pub fn dataset(&self, id: &DatasetId) -> Result<Dataset, StoreError> {
        let folder = self.folder(id)?;
        Dataset::load(&self.layout, &folder, id)
    }

    /// A payload's file for anything to read: one that was compressed is unpacked, and compressed
    /// again when it has been left alone for as long.
    pub fn plain_file(&self, dataset: &Dataset, part: usize) -> Result<PathBuf, StoreError> {
        if compression::unpack(dataset, part)? {
            let noted = self.catalog().set_stored_bytes(dataset.id(), dataset.stored_bytes());
            noted.unwrap_or_else(|error| events::catalog_behind(&error.into()));
        }
        Ok(dataset.path(part))
    }

    /// Puts a file of rows in its place, `None` if the dataset has been removed meanwhile.
    pub fn put_rows(
        &self,
        dataset: &Dataset,
        table: usize,
        file: &Path,
    ) -> Result<Option<PathBuf>, StoreError> {
        let path = dataset.rows_path(table);
        // What has its name is whole, whatever happens.
        File::open(file).and_then(|file| file.sync_all()).doing("sync", file)?;
        std::fs::rename(file, &path).doing("rename", file)?;
        if !self.layout.metadata(dataset.folder(), dataset.id()).exists() {
            layout::remove(&path)?;
            return Ok(None);
        }
        let noted = self.catalog().set_stored_bytes(dataset.id(), dataset.stored_bytes());
        noted.unwrap_or_else(|error| events::catalog_behind(&error.into()));
        Ok(Some(path))
    }

    /// The servers and tools that the datasets are of that `viewer` may see.
    pub fn origins(&self, viewer: &Viewer) -> Result<Vec<(String, String)>, StoreError> {
        self.follow_catalog();
        Ok(self.catalog().origins(viewer)?)
    }

    /// The datasets that `filter` lets through, newest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        self.follow_catalog();
        self.catalog().list(filter)
    }

    /// How many datasets `filter` lets through, without regard to its offset and limit.
    pub fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        self.follow_catalog();
        Ok(self.catalog().count(filter)?)
    }

    /// Keeps a dataset for good.
    pub fn pin(&self, id: &DatasetId) -> Result<(), StoreError> {
        let folder = self.dataset_folder(id)?;
        let path = self.layout.pin(&folder, id);
        match layout::create(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error).doing("create", &path);
            }
            _ => {}
        }
        Ok(self.catalog().set_pinned(id, true)?)
    }

    /// Lets age and quota take a dataset again.
    pub fn unpin(&self, id: &DatasetId) -> Result<(), StoreError> {
        let folder = self.dataset_folder(id)?;
        layout::remove(&self.layout.pin(&folder, id))?;
        Ok(self.catalog().set_pinned(id, false)?)
    }

    /// Removes a dataset. `false` if someone is reading it, and it stays.
    pub fn remove(&self, id: &DatasetId) -> Result<bool, StoreError> {
        let folder = self.dataset_folder(id)?;
        retention::remove(self, id, &folder)
    }

    /// Removes and compresses what `retention` says, as of `now`. An error if another process is at
    /// it.
    pub fn collect(&self, retention: &Retention, now: Timestamp) -> Result<Collected, StoreError> {
        self.follow_catalog();
        retention::collect(self, retention, now)
    }

    /// [`Self::collect`] as of now.
    pub fn collect_now(&self, retention: &Retention) -> Result<Collected, StoreError> {
        self.collect(retention, Timestamp::now())
    }

    /// Adds to what a tool has given today.
    pub fn add_usage(&self, server: &str, tool: &str, counts: Counts) -> Result<(), StoreError> {
        let since = usage::day(Timestamp::now());
        let (server, tool) = (server.to_owned(), tool.to_owned());
        self.follow_catalog();
        Ok(self.catalog().add_usage(&Usage { server, tool, since, counts })?)
    }

    /// What has passed, by server and tool: in the last `days`, today included, or ever.
    pub fn usage(&self, days: Option<u16>) -> Result<Vec<Usage>, StoreError> {
        self.usage_as_of(usage::day(Timestamp::now()), days)
    }

    fn usage_as_of(&self, today: Date, days: Option<u16>) -> Result<Vec<Usage>, StoreError> {
        let from = days.map(|days| today.saturating_sub((i64::from(days) - 1).days()));
        Ok(self.catalog().usage(from.unwrap_or(Date::MIN))?)
    }

    pub(crate) fn catalog(&self) -> MutexGuard<'_, Catalog> {
        // SQLite keeps its own state whole.
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns to the catalog that is in place, if the one that is open has been removed or replaced.
    pub(crate) fn follow_catalog(&self) {
        let mut catalog = self.catalog();
        if catalog.is_at(&self.layout.catalog()) {
            return;
        }
        match reconcile::reopen(&self.layout, self.patience) {
            Ok(Some(in_place)) => *catalog = in_place,
            // The files are found without it, and entered later.
            Ok(None) => return,
            Err(error) => return events::catalog_behind(&error),
        }
        drop(catalog);
        self.catch_up();
    }

    /// Enters a dataset that has just come to exist. If the catalog cannot be written, that is left
    /// to whoever looks next: the dataset exists without it.
    pub(crate) fn enter(&self, dataset: &Dataset) {
        let stored_bytes = dataset.stored_bytes();
        let entered = self.catalog().settle(dataset.metadata(), dataset.folder(), stored_bytes);
        match entered {
            Ok(()) if self.is_behind.load(Ordering::Relaxed) => self.catch_up(),
            Ok(()) => {}
            Err(error) => {
                self.is_behind.store(true, Ordering::Relaxed);
                events::catalog_behind(&error.into());
            }
        }
    }

    /// Brings the catalog in line with the files of the last days; the others are looked at when
    /// the store is tidied.
    fn catch_up(&self) {
        let folders = self.layout.folders();
        let last = &folders[folders.len().saturating_sub(2)..];
        let caught_up = reconcile::catch_up(self, last);
        self.is_behind.store(caught_up.is_err(), Ordering::Relaxed);
        if let Err(error) = caught_up {
            events::catalog_behind(&error);
        }
    }

    fn folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let known = self.catalog().folder(id);
        if let Ok(Some(folder)) = known {
            return Ok(folder);
        }
        let Some(folder) = reconcile::find(&self.layout, id) else {
            known?;
            return Err(StoreError::Unknown(id.clone()));
        };
        if let Err(error) = reconcile::enter(self, &folder, id) {
            events::catalog_behind(&error);
        }
        Ok(folder)
    }

    /// The folder of a dataset that exists.
    fn dataset_folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let folder = self.folder(id)?;
        if self.layout.metadata(&folder, id).exists() {
            return Ok(folder);
        }
        Err(StoreError::Unknown(id.clone()))
    }
}

#[cfg(test)]
mod tests;
