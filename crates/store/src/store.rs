//! The store as a whole: opening it, and what can be done with it.

use std::{
    fs::{self, DirBuilder, File},
    os::unix::fs::DirBuilderExt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{Timestamp, ToSpan, civil::Date};

use crate::{
    Capture, Collected, Counts, Dataset, DatasetId, Entry, Filter, Retention, StoreError, Usage,
    catalog::{Catalog, usage},
    error::Doing,
    events,
    layout::{self, Folder, Layout},
    retention,
};

/// The datasets of a machine, or of whoever has a home of their own.
#[derive(Debug)]
pub struct Store {
    pub(crate) layout: Layout,
    pub(crate) durability: Durability,
    catalog: Mutex<Catalog>,
}

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
        let layout = Layout::new(home);
        let datasets = layout.datasets();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&datasets)
            .doing("create", &datasets)?;
        let catalog = match Catalog::open(&layout.catalog())? {
            Some(catalog) => catalog,
            None => rebuild(&layout)?,
        };
        let store = Self { layout, durability, catalog: Mutex::new(catalog) };
        store.finish_interrupted_captures()?;
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

    /// The datasets that `filter` lets through, newest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        self.catalog().list(filter)
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

    /// Removes and compresses what `retention` says, as of `now`. Does nothing if another process
    /// is at it.
    pub fn collect(&self, retention: &Retention, now: Timestamp) -> Result<Collected, StoreError> {
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

    fn folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        self.catalog().folder(id)?.ok_or_else(|| StoreError::Unknown(id.clone()))
    }

    /// The folder of a dataset that exists.
    fn dataset_folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let folder = self.folder(id)?;
        if self.layout.metadata(&folder, id).exists() {
            return Ok(folder);
        }
        Err(StoreError::Unknown(id.clone()))
    }

    /// A process that died in a capture leaves a line in the catalog: either the dataset exists, and
    /// the line is completed, or it does not, and what there is of it is removed.
    fn finish_interrupted_captures(&self) -> Result<(), StoreError> {
        let unfinished = self.catalog().unfinished()?;
        for (id, folder) in unfinished {
            if is_claimed(&self.layout, &folder, &id) {
                continue;
            }
            if let Ok(dataset) = Dataset::load(&self.layout, &folder, &id) {
                layout::remove(&self.layout.claim(&folder, &id))?;
                let stored_bytes = dataset.stored_bytes();
                self.catalog().settle(dataset.metadata(), &folder, stored_bytes)?;
                continue;
            }
            for path in self.layout.files(&folder, &id) {
                layout::remove(&path)?;
            }
            self.catalog().forget(&id)?;
            events::left_over_removed(&id);
        }
        Ok(())
    }
}

/// True while a living process captures the dataset.
pub(crate) fn is_claimed(layout: &Layout, folder: &Folder, id: &DatasetId) -> bool {
    // A claim that is about to be made has a line in the catalog and no file yet: the line is
    // removed with a capture that fails, and made again by nobody else under that name.
    File::open(layout.claim(folder, id)).is_ok_and(|claim| claim.try_lock().is_err())
}

/// Makes the catalog anew from the metadata files. One process at a time; the others wait for it.
fn rebuild(layout: &Layout) -> Result<Catalog, StoreError> {
    let lock_path = layout.housekeeping_lock();
    let lock = File::create(&lock_path).doing("create", &lock_path)?;
    lock.lock().doing("lock", &lock_path)?;
    if let Some(catalog) = Catalog::open(&layout.catalog())? {
        return Ok(catalog);
    }
    let path = layout.catalog();
    let why = if path.exists() { "it was damaged" } else { "there was none" };
    let counts = Catalog::salvage_usage(&path);
    // Under another name until it is whole: nobody else finds it half made.
    let new = layout::hidden(&path);
    remove_catalog(&new)?;
    let catalog = Catalog::create(&new)?;
    for counted in counts.iter().flatten() {
        catalog.add_usage(counted)?;
    }
    let mut count = 0;
    for folder in layout.folders() {
        for (id, has_metadata) in retention::datasets_in(layout, &folder) {
            if !has_metadata {
                continue;
            }
            match Dataset::load(layout, &folder, &id) {
                Ok(dataset) => {
                    catalog.settle(dataset.metadata(), &folder, dataset.stored_bytes())?;
                    catalog.set_pinned(&id, layout.pin(&folder, &id).exists())?;
                    if counts.is_none() {
                        catalog.recount(dataset.metadata())?;
                    }
                    count += 1;
                }
                Err(error) => events::metadata_skipped(&layout.metadata(&folder, &id), &error),
            }
        }
    }
    if count > 0 {
        events::catalog_rebuilt(count, why);
    }
    drop(catalog);
    remove_catalog(&path)?;
    fs::rename(&new, &path).doing("rename", &new)?;
    Catalog::open(&path)?.ok_or(StoreError::CatalogGone)
}

/// Removes a catalog and what SQLite keeps beside it.
fn remove_catalog(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        layout::remove(Path::new(&file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
