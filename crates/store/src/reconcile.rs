//! Brings the catalog in line with the files, which are the truth.
//!
//! A dataset may be missing from the catalog: whoever captured it could not wait for another process
//! that was writing, or had a catalog open that is no longer in place, or died.

use std::{collections::BTreeSet, fs, fs::File, path::Path, time::Duration};

use crate::{
    Dataset, DatasetId, Store, StoreError, Usage,
    catalog::{self, Catalog},
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
            let metadata = layout.metadata(folder, &id);
            if layout::is_there(&metadata) {
                layout::remove(&layout.claim(folder, &id))?;
                match enter(store, folder, &id) {
                    Err(error @ StoreError::Catalog(_)) => return Err(error),
                    Err(error) => events::metadata_skipped(&metadata, &error),
                    Ok(()) => {}
                }
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
    layout.folders().into_iter().rev().find(|folder| layout::is_there(&layout.metadata(folder, id)))
}

/// Makes the catalog anew from the metadata files, unless there is a sound one. One process at a
/// time; the others wait for it.
pub(crate) fn rebuild(layout: &Layout, patience: Duration) -> Result<Catalog, StoreError> {
    let _lock = wait_for_lock(layout)?;
    rebuild_locked(layout, patience)
}

/// Makes the catalog anew in place of one that was open and turned out to be damaged, unless another
/// process has done so.
pub(crate) fn replace(
    layout: &Layout,
    damaged: &Catalog,
    patience: Duration,
) -> Result<Catalog, StoreError> {
    let _lock = wait_for_lock(layout)?;
    if damaged.is_at(&layout.catalog()) {
        return make_anew(layout, patience);
    }
    rebuild_locked(layout, patience)
}

fn wait_for_lock(layout: &Layout) -> Result<File, StoreError> {
    let path = layout.housekeeping_lock();
    let lock = layout::lock_file(&path).doing("open", &path)?;
    lock.lock().doing("lock", &path)?;
    Ok(lock)
}

/// Opens the catalog that is in place now, made anew if need be. `None` if another process, or
/// thread, is at it.
pub(crate) fn reopen(layout: &Layout, patience: Duration) -> Result<Option<Catalog>, StoreError> {
    if let Some(catalog) = Catalog::open(&layout.catalog(), patience)? {
        return Ok(Some(catalog));
    }
    let lock_path = layout.housekeeping_lock();
    let lock = layout::lock_file(&lock_path).doing("open", &lock_path)?;
    if lock.try_lock().is_err() {
        return Ok(None);
    }
    rebuild_locked(layout, patience).map(Some)
}

fn rebuild_locked(layout: &Layout, patience: Duration) -> Result<Catalog, StoreError> {
    match Catalog::open(&layout.catalog(), patience)? {
        Some(catalog) => Ok(catalog),
        None => make_anew(layout, patience),
    }
}

fn make_anew(layout: &Layout, patience: Duration) -> Result<Catalog, StoreError> {
    let path = layout.catalog();
    // Under another name until it is whole: nobody else finds it half made.
    let new = layout::hidden(&path);
    remove_catalog(&new)?;
    // SQLite gives the files beside it the same permissions.
    layout::create(&new).doing("create", &new)?;
    let catalog = Catalog::create(&new)?;
    let counts = Catalog::salvage_usage(&path);
    let count = fill(&catalog, layout, counts.as_deref())?;
    drop(catalog);
    set_aside(&path, count)?;
    fs::rename(&new, &path).doing("rename", &new)?;
    Catalog::open(&path, patience)?.ok_or(StoreError::CatalogGone)
}

/// A catalog of all that is there, where nothing can be written.
pub(crate) fn in_memory(layout: &Layout) -> Result<Catalog, StoreError> {
    let catalog = Catalog::in_memory()?;
    let counts = Catalog::usage_as_written(&layout.catalog());
    fill(&catalog, layout, counts.as_deref())?;
    Ok(catalog)
}

/// Takes away the catalog that is in place. It can be looked at until there is another one to set aside.
fn set_aside(path: &Path, datasets: usize) -> Result<(), StoreError> {
    let aside = path.with_extension("db.damaged");
    if layout::is_there(path) {
        fs::rename(path, &aside).doing("rename", path)?;
        events::catalog_replaced(datasets, &aside);
    } else if datasets > 0 {
        events::catalog_rebuilt(datasets);
    }
    remove_catalog(path)
}

/// Enters all datasets, and what has been counted, in an empty catalog.
fn fill(catalog: &Catalog, layout: &Layout, counts: Option<&[Usage]>) -> Result<usize, StoreError> {
    for counted in counts.into_iter().flatten() {
        catalog.add_usage(counted)?;
    }
    let mut count = 0;
    for folder in layout.folders() {
        for id in datasets_in(layout, &folder) {
            match Dataset::load(layout, &folder, &id) {
                Ok(dataset) => {
                    settle(catalog, &dataset)?;
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
    Ok(count)
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
            if !layout::is_there(&store.layout.metadata(folder, id)) {
                store.catalog().forget(id)?;
            }
        }
        Err(StoreError::Unknown(_)) => {}
        Err(error) => return Err(error),
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
    layout::open(&layout.claim(folder, id)).is_ok_and(|claim| claim.try_lock().is_err())
}

/// The names that files of a folder have.
pub(crate) fn datasets_in(layout: &Layout, folder: &Folder) -> BTreeSet<DatasetId> {
    let entries = fs::read_dir(layout.folder(folder)).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let id = |name: String| {
        let end = name.char_indices().filter(|(_, c)| *c == '_').nth(1)?.0;
        DatasetId::parse(&name[..end])
    };
    names.filter_map(id).collect()
}

/// Removes a catalog and what SQLite keeps beside it.
fn remove_catalog(path: &Path) -> Result<(), StoreError> {
    catalog::files(path).iter().try_for_each(|file| layout::remove(file))
}
