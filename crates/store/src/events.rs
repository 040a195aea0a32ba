//! What is worth telling about the store, one function an event.

use std::path::Path;

use crate::{Collected, DatasetId, StoreError};

pub(crate) fn catalog_rebuilt(datasets: usize) {
    tracing::info!(datasets, "there was no catalog: it is made anew from the files");
}

pub(crate) fn catalog_growing(datasets: usize) {
    tracing::info!(datasets, "the catalog is being made anew");
}

pub(crate) fn catalog_replaced(datasets: usize, aside: &Path) {
    let aside = aside.display();
    tracing::info!(datasets, %aside, "the catalog was damaged or of another version: it is made anew from the files");
}

pub(crate) fn rows_damaged(path: &Path) {
    tracing::warn!(path = %path.display(), "rows are not as they were made, and are made again");
}

pub(crate) fn set_aside(id: &DatasetId, folder: &Path) {
    tracing::warn!(%id, folder = %folder.display(), "a damaged dataset is set aside");
}

pub(crate) fn metadata_skipped(path: &Path, error: &StoreError) {
    tracing::warn!(path = %path.display(), %error, "a damaged metadata file is passed over");
}

pub(crate) fn catalog_behind(error: &StoreError) {
    tracing::warn!(%error, "the catalog may be behind the files until it can be written");
}

pub(crate) fn left_over_removed(id: &DatasetId) {
    tracing::info!(%id, "removed what an interrupted capture had left");
}

pub(crate) fn sync_failed(id: &DatasetId, error: &StoreError) {
    tracing::error!(%id, %error, "cannot make sure that a dataset survives a power loss");
}

pub(crate) fn tidied(collected: &Collected) {
    let Collected { removed, compressed, in_use } = collected;
    tracing::debug!(removed, compressed, in_use, "tidied up");
}

pub(crate) fn not_compressed(error: &StoreError) {
    tracing::warn!(%error, "a payload stays as it is");
}

pub(crate) fn tidying_failed(error: &StoreError) {
    tracing::warn!(%error, "cannot remove or compress what is old");
}
