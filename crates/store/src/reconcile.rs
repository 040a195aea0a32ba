//! Brings the catalog in line with the files, which are the truth.
//!
//! A dataset may be missing from the catalog: whoever captured it could not wait for another process
//! that was writing, or had a catalog open that is no longer in place, or died.

use std::{collections::BTreeSet, fs, fs::File, path::Path, time::Duration};

use crate::{
    Dataset, DatasetId, Passed, SizeClass, Store, StoreError, Usage,
    catalog::Catalog,
    claim::{self, Found},
    database,
    error::Doing,
    events,
    layout::{self, Folder, Layout},
};

/// Enters what is being captured and exists already, and what a process has left that died. What such a
/// process had not finished is removed.
pub(crate) fn take_in(store: &Store) -> Result<(), StoreError> {
    if !store.is_writable() {
        return Ok(());
    }
    for Found { id, folder, left_behind } in claim::all(&store.layout) {
        let exists = layout::is_there(&store.layout.metadata(&folder, &id));
        match left_behind {
            // Its process is about to enter it, and to count it.
            None if exists => skip_damaged(store, &folder, &id, enter(store, &folder, &id))?,
            None => {}
            Some(claim) => {
                let done = if exists {
                    enter_and_count(store, &folder, &id)
                } else {
                    remove_left_over(store, &folder, &id)
                };
                skip_damaged(store, &folder, &id, done)?;
                claim.end()?;
            }
        }
    }
    Ok(())
}

/// Enters the datasets of a folder that the catalog lacks, and removes files that belong to none. Returns
/// how many it has looked at.
pub(crate) fn catch_up(store: &Store, folder: &Folder) -> Result<u64, StoreError> {
    let ids = datasets_in(&store.layout, folder);
    for id in &ids {
        if claim::is_held(&store.layout, id) {
            continue;
        }
        // Looked for after the claim: a capture that ends in between has made it before.
        let done = if layout::is_there(&store.layout.metadata(folder, id)) {
            enter(store, folder, id)
        } else {
            remove_left_over(store, folder, id)
        };
        skip_damaged(store, folder, id, done)?;
    }
    Ok(ids.len() as u64)
}

/// One that cannot be read is no reason to leave the others.
fn skip_damaged(
    store: &Store,
    folder: &Folder,
    id: &DatasetId,
    done: Result<(), StoreError>,
) -> Result<(), StoreError> {
    match done {
        Err(error @ StoreError::Catalog(_)) => Err(error),
        Err(error) => {
            events::metadata_skipped(&store.layout.metadata(folder, id), &error);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn enter_and_count(store: &Store, folder: &Folder, id: &DatasetId) -> Result<(), StoreError> {
    enter(store, folder, id)?;
    let dataset = Dataset::load(&store.layout, folder, id)?;
    // It may have grown since it was entered.
    store.ask_as_it_is(|catalog| catalog.settle(&dataset))?;
    store.ask_as_it_is(|catalog| {
        catalog.at_once(|catalog| catalog.count_in(dataset.metadata(), false))
    })
}

fn remove_left_over(store: &Store, folder: &Folder, id: &DatasetId) -> Result<(), StoreError> {
    let files = store.layout.files(folder, id);
    for path in &files {
        layout::remove(path)?;
    }
    // Else the claim was a spare one.
    if !files.is_empty() {
        events::left_over_removed(id);
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
    catalog.take_over_tallies(&path);
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
fn fill(
    catalog: &Catalog,
    layout: &Layout,
    counts: Option<&[(SizeClass, Usage)]>,
) -> Result<usize, StoreError> {
    /// So many are written at once, and told of.
    const BATCH: usize = 10_000;
    for (size, usage) in counts.into_iter().flatten() {
        let Usage { server, tool, since, counts } = usage;
        catalog.add_usage(*since, Passed { server, tool, size: *size, counts: *counts })?;
    }
    let mut count = 0;
    for folder in layout.folders() {
        let ids: Vec<DatasetId> = datasets_in(layout, &folder).into_iter().collect();
        for batch in ids.chunks(BATCH) {
            count += catalog.at_once(|catalog| {
                let mut entered = 0;
                for id in batch {
                    match Dataset::load(layout, &folder, id) {
                        Ok(dataset) => {
                            catalog.settle(&dataset)?;
                            match counts {
                                Some(_) => catalog.mark_counted(id)?,
                                None => catalog.count_in(dataset.metadata(), false)?,
                            }
                            entered += 1;
                        }
                        Err(StoreError::Unknown(_)) => {}
                        Err(error) => {
                            events::metadata_skipped(&layout.metadata(&folder, id), &error);
                        }
                    }
                }
                Ok(entered)
            })?;
            if count >= BATCH {
                events::catalog_growing(count);
            }
        }
    }
    Ok(count)
}

/// Enters a dataset that the catalog lacks.
pub(crate) fn enter(store: &Store, folder: &Folder, id: &DatasetId) -> Result<(), StoreError> {
    if store.ask_as_it_is(|catalog| catalog.folder(id))?.is_some() {
        return Ok(());
    }
    match Dataset::load(&store.layout, folder, id) {
        Ok(dataset) => {
            store.ask_as_it_is(|catalog| catalog.settle(&dataset))?;
            // It may have been removed just now.
            if !layout::is_there(&store.layout.metadata(folder, id)) {
                store.ask_as_it_is(|catalog| catalog.forget(id))?;
            }
        }
        Err(StoreError::Unknown(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
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
    database::files(path).iter().try_for_each(|file| layout::remove(file))
}
