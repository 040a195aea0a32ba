//! Lets a dataset grow under its name: the next edition of it takes the place of the one before.
//!
//! The payload of the next edition is written beside the one that is there, under a name that marks it as
//! unfinished. It gets its own name, and then the metadata file is put in its place by a rename: that is
//! the moment in which the dataset has grown. If we die before, it is as it was; if we die after, our
//! [`Claim`] tells the next process that the catalog is behind.
//!
//! A query may have begun with the edition before: its files stay until there is another edition, or
//! until the dataset is so old that it is compressed.

use std::{fs, path::Path};

use crate::{
    Change, Dataset, DatasetId, Description, Durability, Mapped, Metadata, Part, PartWriter, Store,
    StoreError, claim::Claim, entering, error::Doing, events, layout, retention,
};

/// The next edition of a dataset in the making. Dropped without [`Growth::commit`], it leaves the dataset
/// as it is.
#[derive(Debug)]
pub struct Growth<'a> {
    store: &'a Store,
    before: Dataset,
    edition: u64,
    extension: String,
    claim: Option<Claim>,
    part: Option<PartWriter>,
}

impl Store {
    /// Begins the next edition of a dataset that was captured as one that grows
    /// ([`Facts::edition`](crate::Facts::edition)); its one payload has this extension.
    pub fn grow(&self, id: &DatasetId, extension: &str) -> Result<Growth<'_>, StoreError> {
        let folder = self.dataset_folder(id)?;
        // Nobody else makes one before this one is there.
        let claim = Claim::on_growing(&self.layout, &folder, id)?
            .ok_or_else(|| StoreError::BeingChanged(id.clone()))?;
        let before = Dataset::load(&self.layout, &folder, id)?;
        let edition = match before.facts().edition {
            Some(edition) => edition + 1,
            None => return Err(StoreError::Complete(id.clone())),
        };
        let target = self.layout.folder(&folder).join(file_name(id, edition, extension));
        let part = PartWriter::create(layout::hidden_alone(&target))?;
        let (extension, claim, part) = (extension.to_owned(), Some(claim), Some(part));
        Ok(Growth { store: self, before, edition, extension, claim, part })
    }
}

impl Growth<'_> {
    /// The payload to write: all of it, what was there before included.
    pub fn part(&mut self) -> Result<&mut PartWriter, StoreError> {
        self.part.as_mut().ok_or_else(|| StoreError::Unknown(self.before.id().clone()))
    }

    /// What has been written.
    pub fn map(&mut self) -> Result<Mapped, StoreError> {
        let part = self.part()?;
        part.end()?;
        Mapped::open(part.path()).doing("map", part.path())
    }

    /// Makes the dataset be what was written, and enters it in the catalog.
    pub fn commit(mut self, mut description: Description) -> Result<Dataset, StoreError> {
        let (store, id) = (self.store, self.before.id().clone());
        let folder = self.before.folder().clone();
        let metadata_path = store.layout.metadata(&folder, &id);
        // It may have been removed meanwhile, and stays so.
        if !layout::is_there(&metadata_path) {
            return Err(StoreError::Unknown(id));
        }
        let Some(mut part) = self.part.take() else { return Err(StoreError::Unknown(id)) };
        part.end()?;
        let file = file_name(&id, self.edition, &self.extension);
        let path = store.layout.folder(&folder).join(&file);
        fs::rename(part.path(), &path).doing("rename", part.path())?;
        store.sound.note(&path);
        description.facts.edition = Some(self.edition);
        let (bytes, blake3) = part.written();
        let metadata = Metadata {
            id: id.clone(),
            timestamp: self.before.metadata().timestamp,
            parts: vec![Part { file, bytes, blake3 }],
            description,
        };
        let text = metadata
            .to_text()
            .map_err(|source| StoreError::Metadata { path: metadata_path.clone(), source })?;
        layout::write_by_rename(&metadata_path, &text)?;
        let dataset = Dataset::new(store.layout.clone(), folder, metadata);
        if store.durability == Durability::BeforeCommitReturns {
            dataset.sync()?;
        }
        // One before is what a query may be reading.
        remove_superseded(store, &dataset, self.edition - 1);
        store.follow_catalog();
        match store.ask_as_it_is(|catalog| catalog.settle(&dataset)) {
            Ok(()) => self.claim.take().map_or(Ok(()), Claim::end)?,
            // The claim stays for whoever looks next.
            Err(error) => events::catalog_behind(&error),
        }
        store.hearers.tell(Change::Grown(&id));
        if store.durability == Durability::RightAfter {
            entering::make_durable_soon(vec![dataset.clone()]);
        }
        Ok(dataset)
    }
}

impl Drop for Growth<'_> {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let _ = layout::remove(part.path());
            let _ = self.claim.take().map(Claim::end);
        }
    }
}

/// Removes the files of editions below this one that nobody is reading.
pub(crate) fn remove_superseded(store: &Store, dataset: &Dataset, below: u64) {
    for path in store.layout.files(dataset.folder(), dataset.id()) {
        let is_superseded = edition_of(&path, dataset.id()).is_some_and(|edition| edition < below);
        if is_superseded && !retention::is_in_use(&path) {
            // What cannot be removed now goes with the dataset.
            let _ = layout::remove(&path);
        }
    }
}

/// The edition of a dataset that a file belongs to; `None` if it belongs to all.
pub(crate) fn edition_of(path: &Path, id: &DatasetId) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_prefix(id.as_str())?;
    let number = |rest: &str| {
        let digits = rest.split(['.', '_']).next().unwrap_or_default();
        digits.parse().ok()
    };
    if let Some(rest) = name.strip_prefix("_data") {
        return rest.strip_prefix('_').map_or(Some(1), number);
    }
    let rows = name.strip_prefix("_rows")?;
    rows.strip_prefix("_edition_").map_or(Some(1), number)
}

/// The name of the file with an edition's payload.
fn file_name(id: &DatasetId, edition: u64, extension: &str) -> String {
    format!("{id}_data_{edition}.{extension}")
}

#[cfg(test)]
mod tests;
