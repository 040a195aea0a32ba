//! Brings the catalog in line with the files, which are the truth.
//!
//! A dataset may be missing from the catalog: whoever captured it could not wait for another process
//! that was writing, or had a catalog open that is no longer in place, or died.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::Path,
    time::Duration,
};

use crate::{
    Dataset, DatasetId, Store, StoreError,
    catalog::Catalog,
    error::Doing,
    events,
    layout::{self, Folder, Layout},
};

/// Enters the datasets of these folders that the catalog lacks, and removes what captures have left
/// that were interrupted.
pub(crate) fn catch_up(store: &Store, folders: &[Folder]) -> Result<(), StoreError> {
    let layout = &store.layout;
    for folder in folders {
        for id in datasets_in(layout, folder) {
            if is_claimed(layout, folder, &id) {
                continue;
            }
            // Looked for after the claim: a capture that ends in between has made it before.
            if layout.metadata(folder, &id).exists() {
                layout::remove(&layout.claim(folder, &id))?;
                enter(store, folder, &id)?;
                continue;
            }
            for path in layout.files(folder, &id) {
                layout::remove(&path)?;
            }
            events::left_over_removed(&id);
        }
    }
    Ok(())
}

/// The folder of a dataset, found by its metadata file.
pub(crate) fn find(layout: &Layout, id: &DatasetId) -> Option<Folder> {
    layout.folders().into_iter().rev().find(|folder| Dataset::load(layout, folder, id).is_ok())
}

/// Makes the catalog anew from the metadata files, unless there is a sound one. One process at a
/// time; the others wait for it.
pub(crate) fn rebuild(layout: &Layout, patience: Duration) -> Result<Catalog, StoreError> {
    let lock_path = layout.housekeeping_lock();
    let lock = File::create(&lock_path).doing("create", &lock_path)?;
    lock.lock().doing("lock", &lock_path)?;
    rebuild_locked(layout, patience)
}

/// Opens the catalog that is in place now, made anew if need be. `None` if another process, or
/// thread, is at it.
pub(crate) fn reopen(layout: &Layout, patience: Duration) -> Result<Option<Catalog>, StoreError> {
    if let Some(catalog) = Catalog::open(&layout.catalog(), patience)? {
        return Ok(Some(catalog));
    }
    let lock_path = layout.housekeeping_lock();
    let lock = File::create(&lock_path).doing("create", &lock_path)?;
    if lock.try_lock().is_err() {
        return Ok(None);
    }
    rebuild_locked(layout, patience).map(Some)
}

fn rebuild_locked(layout: &Layout, patience: Duration) -> Result<Catalog, StoreError> {
    let path = layout.catalog();
    if let Some(catalog) = Catalog::open(&path, patience)? {
        return Ok(catalog);
    }
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
        for id in datasets_in(layout, &folder) {
            match Dataset::load(layout, &folder, &id) {
                Ok(dataset) => {
                    settle(&catalog, &dataset)?;
                    if counts.is_none() {
                        catalog.recount(dataset.metadata())?;
                    }
                    count += 1;
                }
                Err(StoreError::Unknown(_)) => {}
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
    Catalog::open(&path, patience)?.ok_or(StoreError::CatalogGone)
}

/// Enters a dataset that the catalog lacks.
pub(crate) fn enter(store: &Store, folder: &Folder, id: &DatasetId) -> Result<(), StoreError> {
    if store.catalog().folder(id)?.is_some() {
        return Ok(());
    }
    match Dataset::load(&store.layout, folder, id) {
        Ok(dataset) => {
            settle(&store.catalog(), &dataset)?;
            // It may have been removed just now.
            if !store.layout.metadata(folder, id).exists() {
                store.catalog().forget(id)?;
            }
        }
        Err(StoreError::Unknown(_)) => {}
        Err(error) => events::metadata_skipped(&store.layout.metadata(folder, id), &error),
    }
    Ok(())
}

fn settle(catalog: &Catalog, dataset: &Dataset) -> Result<(), StoreError> {
    catalog.settle(dataset.metadata(), dataset.folder(), dataset.stored_bytes())?;
    if dataset.is_pinned() {
        catalog.set_pinned(dataset.id(), true)?;
    }
    Ok(())
}

/// True while a living process captures the dataset.
fn is_claimed(layout: &Layout, folder: &Folder, id: &DatasetId) -> bool {
    File::open(layout.claim(folder, id)).is_ok_and(|claim| claim.try_lock().is_err())
}

/// The names that files of a folder have.
fn datasets_in(layout: &Layout, folder: &Folder) -> BTreeSet<DatasetId> {
    let entries = fs::read_dir(layout.folder(folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let id = |name: String| {
        let end = name.char_indices().filter(|(_, c)| *c == '_').nth(1)?.0;
        DatasetId::parse(&name[..end])
    };
    names.filter_map(id).collect()
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
