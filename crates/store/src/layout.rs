//! Where things lie in the store, and how files come to be there.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use jiff::{Timestamp, tz::TimeZone};

use crate::{DatasetId, StoreError, error::Doing};

/// The ending of a compressed payload.
pub(crate) const COMPRESSED: &str = "zst";

/// The paths of a store.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    home: PathBuf,
}

/// The folder of a dataset, relative to the store, such as `2026/11/14`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder(pub(crate) String);

impl Layout {
    pub(crate) fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    pub(crate) fn catalog(&self) -> PathBuf {
        self.home.join("catalog.db")
    }

    /// Held by the process that cleans up, or makes the catalog anew.
    pub(crate) fn housekeeping_lock(&self) -> PathBuf {
        self.home.join("housekeeping.lock")
    }

    pub(crate) fn datasets(&self) -> PathBuf {
        self.home.join("datasets")
    }

    pub(crate) fn folder(&self, folder: &Folder) -> PathBuf {
        self.datasets().join(&folder.0)
    }

    pub(crate) fn metadata(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_metadata.json"))
    }

    pub(crate) fn pin(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_pinned"))
    }

    /// Held by the process that captures the dataset, until it exists.
    pub(crate) fn claim(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_capturing"))
    }

    /// All files of a dataset.
    pub(crate) fn files(&self, folder: &Folder, id: &DatasetId) -> Vec<PathBuf> {
        let prefix = format!("{id}_");
        let entries = fs::read_dir(self.folder(folder)).into_iter().flatten().flatten();
        let of_dataset = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(&prefix))
        };
        entries.map(|entry| entry.path()).filter(of_dataset).collect()
    }

    /// All dated folders, the oldest first.
    pub(crate) fn folders(&self) -> Vec<Folder> {
        let mut folders = vec![String::new()];
        for _ in ["year", "month", "day"] {
            let deeper = folders.iter().flat_map(|folder| {
                let entries = fs::read_dir(self.datasets().join(folder)).into_iter().flatten();
                let names =
                    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
                let numbers = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
                numbers
                    .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
                    .collect::<Vec<_>>()
            });
            folders = deeper.collect();
        }
        folders.sort();
        folders.into_iter().map(Folder).collect()
    }

    /// Makes the folder for a dataset, which only its owner may enter.
    pub(crate) fn make_folder(&self, folder: &Folder) -> Result<(), StoreError> {
        let path = self.folder(folder);
        DirBuilder::new().recursive(true).mode(0o700).create(&path).doing("create", &path)
    }
}

impl Folder {
    pub(crate) fn of(timestamp: Timestamp) -> Self {
        Self(timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string())
    }
}

/// Creates a file that only its owner may read; fails if there is one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Puts a whole file in its place at once: whoever looks sees all of it, or none.
pub(crate) fn write_by_rename(path: &Path, bytes: &[u8]) -> Result<File, StoreError> {
    let partial = hidden(path);
    let mut file = create(&partial).doing("create", &partial)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.doing("write", path)?;
    Ok(file)
}

/// The name that a file has until it is ready to have its own. Such files belong to no dataset, and
/// one that has been left behind is removed once it is old.
pub(crate) fn hidden(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    path.with_file_name(format!(".{name}"))
}

/// [`hidden`], for something that several may be making at the same time.
pub(crate) fn hidden_alone(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = hidden(path).into_os_string();
    name.push(format!(".{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}

/// Makes `ours` another name for `theirs`, at once.
pub(crate) fn link_over(theirs: &Path, ours: &Path) -> io::Result<()> {
    let link = hidden(ours);
    fs::hard_link(theirs, &link)?;
    fs::rename(&link, ours).inspect_err(|_| drop(fs::remove_file(&link)))
}

/// Removes a file; that it is gone already is fine.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).doing("remove", path),
        _ => Ok(()),
    }
}

/// The compressed form of a payload's path.
pub(crate) fn compressed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(COMPRESSED);
    name.into()
}
