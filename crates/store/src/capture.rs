//! Takes a payload in while it arrives, and makes a dataset of it at the end.
//!
//! Until then there is a [`Claim`], and whatever has been written; if we die, the next process to look
//! cleans up. The metadata file, put in its place by a rename, is the moment in which the dataset
//! begins to exist.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use crate::{
    Change, Dataset, DatasetId, Description, Durability, Mapped, Metadata, Part, Store, StoreError,
    claim::Claim,
    entering::New,
    error::Doing,
    layout::{self, Folder},
};

/// A dataset in the making. Dropped without [`Capture::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct Capture<'a> {
    store: &'a Store,
    id: DatasetId,
    folder: Folder,
    timestamp: Timestamp,
    claim: Option<Claim>,
    parts: Vec<Part>,
    open_part: Option<PartWriter>,
}

/// A payload that is being written.
#[derive(Debug)]
pub struct PartWriter {
    path: PathBuf,
    file: BufWriter<File>,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<'a> Capture<'a> {
    pub(crate) fn begin(store: &'a Store, timestamp: Timestamp) -> Result<Self, StoreError> {
        let folder = Folder::of(timestamp);
        if !store.layout.has(&folder) {
            store.layout.make_folder(&folder)?;
        }
        let claim = match store.take_spare_claim(&folder) {
            Some(claim) => claim,
            None => store.claim_a_name(&folder)?,
        };
        Ok(Self {
            store,
            id: claim.id().clone(),
            folder,
            timestamp,
            claim: Some(claim),
            parts: Vec::new(),
            open_part: None,
        })
    }

    /// The name that the dataset will have.
    pub fn id(&self) -> &DatasetId {
        &self.id
    }

    /// Ends the payload before, if any, and starts one whose file has this extension.
    pub fn start_part(&mut self, extension: &str) -> Result<&mut PartWriter, StoreError> {
        self.end_part()?;
        let name = match self.parts.len() {
            0 => format!("{}_data.{extension}", self.id),
            before => format!("{}_data_{}.{extension}", self.id, before + 1),
        };
        let path = self.store.layout.folder(&self.folder).join(name);
        Ok(self.open_part.insert(PartWriter::create(path)?))
    }

    /// Drops the payload that is open, as if it had not been started.
    pub fn discard_part(&mut self) -> Result<(), StoreError> {
        match self.open_part.take() {
            Some(part) => layout::remove(&part.path),
            None => Ok(()),
        }
    }

    /// Ends the payload before, if any, and gives its bytes back as a slice.
    pub fn map_last_part(&mut self) -> Result<Mapped, StoreError> {
        self.end_part()?;
        let name = self.parts.last().map_or("", |part| part.file.as_str());
        let path = self.store.layout.folder(&self.folder).join(name);
        Mapped::open(&path).doing("map", &path)
    }

    /// Gives the file of a payload that has ended another extension.
    pub fn set_extension(&mut self, part: usize, extension: &str) -> Result<(), StoreError> {
        let Some(part) = self.parts.get_mut(part) else { return Ok(()) };
        let stem = part.file.rsplit_once('.').map_or(part.file.as_str(), |(stem, _)| stem);
        let file = format!("{stem}.{extension}");
        if file == part.file {
            return Ok(());
        }
        let folder = self.store.layout.folder(&self.folder);
        let (from, to) = (folder.join(&part.file), folder.join(&file));
        fs::rename(&from, &to).doing("rename", &from)?;
        part.file = file;
        Ok(())
    }

    /// How many payloads have been written, the one that is open included.
    pub fn part_count(&self) -> usize {
        self.parts.len() + usize::from(self.open_part.is_some())
    }

    /// [`Self::finish`] and [`Finished::commit`].
    pub fn commit(self, description: Description) -> Result<Dataset, StoreError> {
        self.finish(description)?.commit()
    }

    /// Ends the last payload. The dataset can be looked at, and does not exist yet.
    pub fn finish(mut self, description: Description) -> Result<Finished<'a>, StoreError> {
        self.end_part()?;
        let metadata = Metadata {
            id: self.id.clone(),
            timestamp: self.timestamp,
            parts: std::mem::take(&mut self.parts),
            description,
        };
        let dataset = Dataset::new(self.store.layout.clone(), self.folder.clone(), metadata);
        Ok(Finished { capture: self, dataset })
    }

    /// Ends the payload that is open, if any.
    pub fn end_part(&mut self) -> Result<(), StoreError> {
        let Some(mut part) = self.open_part.take() else { return Ok(()) };
        part.end()?;
        self.store.sound.note(&part.path);
        let name = part.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (bytes, blake3) = part.written();
        self.parts.push(Part { file: name.unwrap_or_default(), bytes, blake3 });
        Ok(())
    }
}

/// A dataset whose payloads are written. Dropped without being committed, it leaves nothing behind.
#[derive(Debug)]
pub struct Finished<'a> {
    capture: Capture<'a>,
    dataset: Dataset,
}

impl Finished<'_> {
    /// The dataset as it will be.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Says what stands in the dataset's place, which is made of it, and how many tokens that has.
    pub fn set_summary(&mut self, text: &str, tokens: u64) {
        let facts = self.dataset.facts_mut();
        facts.summary_text = (!text.is_empty()).then(|| text.to_owned());
        facts.summary_tokens = Some(tokens);
    }

    /// Makes the dataset exist, and enters it in the catalog. From here on it survives our own end;
    /// against a power loss it is made safe right after, or before this returns, as the store has been
    /// told.
    pub fn commit(self) -> Result<Dataset, StoreError> {
        let store = self.capture.store;
        let dataset = self.commit_and_enter_later()?;
        store.enter_new_at_once();
        Ok(dataset)
    }

    /// Makes the dataset exist, and leaves it to the next call of [`Store::enter_new`] to enter it in
    /// the catalog. Whoever asks the catalog before sees it all the same.
    pub fn commit_and_enter_later(mut self) -> Result<Dataset, StoreError> {
        let store = self.capture.store;
        let metadata = self.dataset.metadata();
        let path = store.layout.metadata(self.dataset.folder(), self.dataset.id());
        let text = metadata
            .to_text()
            .map_err(|source| StoreError::Metadata { path: path.clone(), source })?;
        layout::write_by_rename(&path, &text)?;
        let claim = self.capture.claim.take();
        if store.durability == Durability::BeforeCommitReturns {
            self.dataset.sync()?;
        }
        store.to_enter().push(New { dataset: self.dataset.clone(), claim });
        store.hearers.tell(Change::Kept(self.dataset.id()));
        Ok(self.dataset.clone())
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        // It exists.
        let Some(claim) = self.claim.take() else { return };
        self.open_part = None;
        // What cannot be removed now is removed by the next process that cleans up.
        let files = self.store.layout.files(&self.folder, &self.id);
        if files.iter().all(|path| layout::remove(path).is_ok()) {
            let _ = claim.end();
        }
    }
}

impl PartWriter {
    /// A payload in a file that is not there yet.
    pub(crate) fn create(path: PathBuf) -> Result<Self, StoreError> {
        let file = layout::create(&path).doing("create", &path)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { path, file, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    /// Has all of it written.
    pub(crate) fn end(&mut self) -> Result<(), StoreError> {
        self.file.flush().doing("write", &self.path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is, and its hash, in hexadecimal.
    pub(crate) fn written(&self) -> (u64, String) {
        (self.bytes, self.hasher.finalize().to_hex().to_string())
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
