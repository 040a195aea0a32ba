//! A dataset that exists, for reading.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::PathBuf,
    sync::Arc,
};

use forebay_system::rename;

use crate::{
    DatasetId, Facts, Metadata, Part, StoreError,
    error::Doing,
    growth,
    integrity::{self, Checked},
    layout::{self, Folder, Layout},
};

/// More than any metadata file has: what is longer is none, and is not read into memory.
const MAX_METADATA_BYTES: u64 = 256 << 20;

/// A dataset's metadata, and the way to its payloads.
#[derive(Debug, Clone)]
pub struct Dataset {
    layout: Layout,
    folder: Folder,
    /// It may be long, and is handed around.
    metadata: Arc<Metadata>,
}

impl Dataset {
    pub(crate) fn new(layout: Layout, folder: Folder, metadata: Metadata) -> Self {
        Self { layout, folder, metadata: Arc::new(metadata) }
    }

    /// Reads the metadata file of a dataset.
    pub(crate) fn load(
        layout: &Layout,
        folder: &Folder,
        id: &DatasetId,
    ) -> Result<Self, StoreError> {
        let path = layout.metadata(folder, id);
        if !layout.has(folder) || !layout::is_there(&path) {
            return Err(StoreError::Unknown(id.clone()));
        }
        let mut text = Vec::new();
        layout::open(&path)
            .and_then(|file| file.take(MAX_METADATA_BYTES).read_to_end(&mut text))
            .doing("read", &path)?;
        let metadata = Metadata::read(&text, id)
            .map_err(|source| StoreError::Metadata { path: path.clone(), source })?;
        Ok(Self::new(layout.clone(), folder.clone(), metadata))
    }

    /// Its name.
    pub fn id(&self) -> &DatasetId {
        &self.metadata.id
    }

    /// What it is.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What is known of it.
    pub fn facts(&self) -> &Facts {
        &self.metadata.description.facts
    }

    /// What is known of it, to be changed before it exists.
    pub(crate) fn facts_mut(&mut self) -> &mut Facts {
        &mut Arc::make_mut(&mut self.metadata).description.facts
    }

    /// Which of its payloads the description is about.
    pub fn main_part(&self) -> usize {
        self.facts().payload.unwrap_or_default()
    }

    /// How many payloads it has. What stands between them may be a part of its own, the last one.
    pub fn payload_count(&self) -> usize {
        let template = self.facts().template.as_ref();
        let has_file = template.is_some_and(|template| template.part.is_some());
        self.metadata.parts.len().saturating_sub(usize::from(has_file)).max(1)
    }

    /// The file of a payload as it lies on disk, which may be compressed. The last one stands for
    /// those that do not exist.
    pub fn path(&self, part: usize) -> PathBuf {
        let plain = self.plain_path(part);
        let compressed = layout::compressed(&plain);
        if layout::is_there(&compressed) { compressed } else { plain }
    }

    /// Reads a payload as it came, whether or not it has been compressed. While it is open, nobody
    /// removes or compresses it. If it is not what was kept, reading it ends in an error.
    pub fn open(&self, part: usize) -> Result<Box<dyn Read + Send>, StoreError> {
        let plain = self.plain_path(part);
        match open_locked(&plain) {
            Ok(file) => Ok(Box::new(Checked::new(file, plain, self.part(part)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_compressed(part),
            Err(error) => Err(error).doing("open", &plain),
        }
    }

    /// [`Self::open`] for the compressed file, even if there is a plain one.
    pub(crate) fn open_compressed(&self, part: usize) -> Result<Box<dyn Read + Send>, StoreError> {
        let plain = self.plain_path(part);
        let path = layout::compressed(&plain);
        let file = match open_locked(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing(plain));
            }
            other => other.doing("open", &path)?,
        };
        let decoder = zstd::Decoder::with_buffer(BufReader::new(file)).doing("read", &path)?;
        Ok(Box::new(Checked::new(decoder, path, self.part(part)?)))
    }

    /// Makes sure that a payload is there and what was kept.
    pub fn verify(&self, part: usize) -> Result<(), StoreError> {
        self.verify_with(part, &mut |_| Ok(()))
    }

    /// [`Self::verify`], telling how much has been read each time.
    pub(crate) fn verify_with(
        &self,
        part: usize,
        tell: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        integrity::drain(&mut *self.open(part)?, tell)
            .map_err(|error| StoreError::of_reading(error, &self.path(part)))
    }

    /// The file for the rows of a table that is made from a payload. It can be made anew at any time.
    pub fn rows_path(&self, table: usize) -> PathBuf {
        // Rows of one edition are none of another.
        let edition = match self.facts().edition {
            Some(edition) if edition > 1 => format!("_edition_{edition}"),
            Some(_) | None => String::new(),
        };
        let name = match table {
            0 => format!("{}_rows{edition}.parquet", self.id()),
            before => format!("{}_rows{edition}_{}.parquet", self.id(), before + 1),
        };
        self.layout.folder(&self.folder).join(name)
    }

    /// The file with the hash of these rows.
    pub(crate) fn rows_hash_path(&self, table: usize) -> PathBuf {
        let mut path = self.rows_path(table).into_os_string();
        path.push(".blake3");
        path.into()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether it is to be kept for good.
    pub fn is_pinned(&self) -> bool {
        layout::is_there(&self.layout.pin(&self.folder, self.id()))
    }

    /// The file with the tags that people have given it.
    pub(crate) fn tags_path(&self) -> PathBuf {
        self.layout.tags(&self.folder, self.id())
    }

    /// How much of the disk the payloads take, and the rows that were made from them.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let length = |path: PathBuf| std::fs::symlink_metadata(path).ok().map(|file| file.len());
        if self.facts().edition.is_some() {
            let files = self.layout.files(&self.folder, self.id()).into_iter();
            let of_editions = files.filter(|path| growth::edition_of(path, self.id()).is_some());
            return of_editions.filter_map(length).sum();
        }
        let parts = (0..self.metadata.parts.len()).filter_map(|part| length(self.path(part)));
        let rows = (0..).map_while(|table| length(self.rows_path(table)));
        parts.chain(rows).sum()
    }

    /// True if all its payloads are compressed.
    pub(crate) fn is_packed(&self) -> bool {
        (0..self.metadata.parts.len()).all(|part| !layout::is_there(&self.plain_path(part)))
    }

    /// Waits until the dataset is on the disk for good.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        let folder = self.layout.folder(&self.folder);
        let parts = (0..self.metadata.parts.len()).map(|part| self.path(part));
        let metadata = self.layout.metadata(&self.folder, self.id());
        for path in parts.chain([metadata]) {
            match layout::open(&path) {
                // It has been removed in the meantime, by quota or by hand.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                file => file.and_then(|file| file.sync_all()).doing("sync", &path)?,
            }
        }
        rename::sync_folder(&folder).doing("sync", &folder)
    }

    /// What is known of a payload; of the last one for those that do not exist.
    fn part(&self, part: usize) -> Result<&Part, StoreError> {
        let parts = &self.metadata.parts;
        parts.get(part).or(parts.last()).ok_or_else(|| StoreError::Missing(self.plain_path(part)))
    }

    pub(crate) fn plain_path(&self, part: usize) -> PathBuf {
        let parts = &self.metadata.parts;
        let name = parts.get(part).or(parts.last()).map_or("", |part| part.file.as_str());
        self.layout.folder(&self.folder).join(name)
    }
}

fn open_locked(path: &std::path::Path) -> io::Result<File> {
    let file = layout::open(path)?;
    file.lock_shared()?;
    Ok(file)
}
