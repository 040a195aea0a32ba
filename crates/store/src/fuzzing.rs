//! The store's files as fuzz targets and the tests for damage see them: whatever a file holds, what is
//! given out is what was kept, or an error. Compiled for these alone.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a target that fails panics")]

use std::{
    fs,
    io::{Read, Write},
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    Counts, Dataset, DatasetId, Description, Durability, Filter, Metadata, Passed, SizeClass,
    Store, Viewer, compression,
    database::files,
    layout::{self, Layout},
    verify,
};

/// Results of a tool that have passed.
fn passed(counts: Counts) -> Passed<'static> {
    Passed { server: "shop", tool: "list", size: SizeClass::of(0), counts }
}

/// A store with one dataset, whose payload is compressed and which has rows.
pub struct Files {
    home: PathBuf,
    dataset: Dataset,
    payload: Vec<u8>,
}

impl Files {
    /// Makes one among the temporary files.
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("forebay-files-{}-{number}", std::process::id());
        let home = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&home);
        let payload = b"all work and no play makes Jack a dull boy; ".repeat(50);
        let store = Store::open(&home, Durability::RightAfter).unwrap();
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(&payload).unwrap();
        let description = Description { tool: "list".to_owned(), ..Description::default() };
        let dataset = capture.commit(description).unwrap();
        assert!(compression::compress(&dataset.plain_path(0)).unwrap());
        let rows = home.join("rows");
        fs::write(&rows, b"PAR1 what stands for rows here PAR1").unwrap();
        store.put_rows(&dataset, 0, &rows).unwrap();
        let counts = Counts { results: 1, ..Counts::default() };
        store.enter_new(&[passed(counts)]).unwrap();
        Self { home, dataset, payload }
    }

    /// The metadata file, the compressed payload, the rows and the catalog, as they are.
    pub fn whole(&self) -> [Vec<u8>; 4] {
        let layout = Layout::new(&self.home);
        let metadata = layout.metadata(self.dataset.folder(), self.dataset.id());
        [metadata, self.dataset.path(0), self.dataset.rows_path(0), layout.catalog()]
            .map(|path| fs::read(path).unwrap())
    }

    /// Reads a metadata file: if it is taken, it names nothing but files of its own dataset.
    pub fn metadata(&self, text: &[u8]) {
        // Seeds are of other datasets.
        let of = serde_json::from_slice(text).map(|metadata: Metadata| metadata.id);
        let id = &of.unwrap_or_else(|_| self.dataset.id().clone());
        let Ok(metadata) = Metadata::read(text, id) else { return };
        assert_eq!(metadata.id, *id);
        for part in &metadata.parts {
            assert!(part.file.starts_with(id.as_str()) && !part.file.contains(['/', '\0']));
        }
        let again = Metadata::read(&metadata.to_text().unwrap(), id).unwrap();
        assert_eq!(again.parts, metadata.parts);
    }

    /// Reads a compressed payload: all that was kept, or an error, and never more.
    pub fn compressed(&self, bytes: &[u8]) {
        fs::write(layout::compressed(&self.dataset.plain_path(0)), bytes).unwrap();
        let mut read = Vec::new();
        match self.dataset.open(0).map(|mut payload| payload.read_to_end(&mut read)) {
            Ok(Ok(_)) => assert!(read == self.payload),
            Ok(Err(_)) | Err(_) => assert!(read.len() <= self.payload.len()),
        }
    }

    /// Looks at rows: they are as they were made, or not given out.
    pub fn rows(&self, bytes: &[u8]) {
        let path = self.dataset.rows_path(0);
        let hash = fs::read_to_string(self.dataset.rows_hash_path(0)).unwrap();
        fs::write(path, bytes).unwrap();
        let is_same = blake3::hash(bytes).to_hex().as_str() == hash;
        assert_eq!(verify::rows(&self.dataset, 0).is_ok(), is_same);
    }

    /// Opens a catalog: whatever it is, what was kept can be found and listed.
    pub fn catalog(&self, bytes: &[u8]) {
        let path = Layout::new(&self.home).catalog();
        for file in files(&path) {
            let _ = fs::remove_file(file);
        }
        fs::write(path, bytes).unwrap();
        let store = Store::open(&self.home, Durability::RightAfter).unwrap();
        store.count(&Filter::default()).unwrap();
        store.origins(&Viewer::default()).unwrap();
        store.usage(None).unwrap();
        store.enter_new(&[passed(Counts::default())]).unwrap();
        store.dataset(self.dataset.id()).unwrap();
        let listed = |store: &Store| -> Vec<DatasetId> {
            store.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.id).collect()
        };
        listed(&store);
        let mut repair = crate::Verification { repairs: true, tell: &mut |_, _| true };
        store.verify(&mut repair).unwrap();
        assert_eq!(listed(&store), [self.dataset.id().clone()]);
    }
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}
