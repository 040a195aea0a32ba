//! Where things lie in the store, and how files come to be there.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use forebay_system::{open, private, rename};
use jiff::{Timestamp, tz::TimeZone};

use crate::{DatasetId, Store, StoreError, error::Doing};

/// The ending of a compressed payload.
pub(crate) const COMPRESSED: &str = "zst";

/// The paths of a store.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    home: PathBuf,
}

/// The folder of a dataset, relative to the store, such as `2026/11/14`. It has no other form: one that
/// had could lead out of the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Folder(String);

impl Layout {
    pub(crate) fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn catalog(&self) -> PathBuf {
        self.home.join("catalog.db")
    }

    /// Held by the process that cleans up, or makes the catalog anew.
    pub(crate) fn housekeeping_lock(&self) -> PathBuf {
        self.home.join("housekeeping.lock")
    }

    /// Held by whoever changes the tags of a dataset.
    pub(crate) fn tagging_lock(&self) -> PathBuf {
        self.home.join("tagging.lock")
    }

    /// As old as the last time that somebody cleaned up.
    pub(crate) fn tidied(&self) -> PathBuf {
        self.home.join("tidied")
    }

    pub(crate) fn datasets(&self) -> PathBuf {
        self.home.join("datasets")
    }

    /// The rows of many results in a few files.
    pub(crate) fn united(&self) -> PathBuf {
        self.home.join("united")
    }

    /// Where what is damaged is put, out of the way.
    pub(crate) fn damaged(&self) -> PathBuf {
        self.home.join("damaged")
    }

    pub(crate) fn folder(&self, folder: &Folder) -> PathBuf {
        self.datasets().join(&folder.0)
    }

    /// True if a folder is there and lies in the store: no link on the way leads elsewhere.
    pub(crate) fn has(&self, folder: &Folder) -> bool {
        self.folder(folder).ancestors().take(LEVELS.len()).all(is_folder)
    }

    pub(crate) fn metadata(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_metadata.json"))
    }

    pub(crate) fn pin(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_pinned"))
    }

    /// The tags that people have given to a dataset.
    pub(crate) fn tags(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_tags"))
    }

    /// What a model has said of a dataset.
    pub(crate) fn findings(&self, folder: &Folder, id: &DatasetId) -> PathBuf {
        self.folder(folder).join(format!("{id}_findings.json"))
    }

    /// The datasets that are being captured, or have been and are not in the catalog yet.
    pub(crate) fn claims(&self) -> PathBuf {
        self.home.join("capturing")
    }

    /// Held by the process that captures the dataset, until it is in the catalog.
    pub(crate) fn claim(&self, id: &DatasetId) -> PathBuf {
        self.claims().join(id.as_str())
    }

    /// All files of a dataset.
    pub(crate) fn files(&self, folder: &Folder, id: &DatasetId) -> Vec<PathBuf> {
        if !self.has(folder) {
            return Vec::new();
        }
        let prefix = format!("{id}_");
        let entries = fs::read_dir(self.folder(folder)).into_iter().flatten().flatten();
        // A folder is none of ours, whatever it is called.
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        let of_dataset = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(&prefix))
        };
        entries.map(|entry| entry.path()).filter(of_dataset).collect()
    }

    /// All dated folders, the oldest first.
    pub(crate) fn folders(&self) -> Vec<Folder> {
        let mut folders = vec![String::new()];
        for _ in LEVELS {
            let deeper = folders.iter().flat_map(|folder| {
                let entries = fs::read_dir(self.datasets().join(folder)).into_iter().flatten();
                // The type of a link is that it is one.
                let inside =
                    entries.flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
                let names = inside.filter_map(|entry| entry.file_name().into_string().ok());
                names
                    .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
                    .collect::<Vec<_>>()
            });
            folders = deeper.collect();
        }
        let mut folders: Vec<Folder> = folders.iter().filter_map(|it| Folder::parse(it)).collect();
        folders.sort();
        folders
    }

    /// Makes the folder for a dataset, which only its owner may enter.
    pub(crate) fn make_folder(&self, folder: &Folder) -> Result<(), StoreError> {
        let path = self.folder(folder);
        private::make_folder(&path).doing("create", &path)?;
        if self.has(folder) { Ok(()) } else { Err(is_link()).doing("use", &path) }
    }
}

/// What a dated folder is made of.
const LEVELS: [&str; 3] = ["year", "month", "day"];

impl Folder {
    /// How long one is, as text.
    pub(crate) const LENGTH: usize = "2026/11/14".len();

    pub(crate) fn of(timestamp: Timestamp) -> Self {
        Self(timestamp.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d").to_string())
    }

    /// Reads one; `None` if it has another form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'/',
            _ => byte.is_ascii_digit(),
        };
        let is_dated = text.len() == Self::LENGTH && text.bytes().enumerate().all(fits);
        is_dated.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The folder for what is needed for a while: in the store or, where nothing can be written to that,
/// among the temporary files. Only its owner may enter it.
pub fn scratch(home: &Path) -> io::Result<PathBuf> {
    if Store::can_write(home) {
        let folder = home.join("spill");
        private::make_folder(&folder)?;
        return Ok(folder);
    }
    private::temporary_folder("forebay")
}

/// Opens a file for reading. Only a plain file is: a link could lead out of the store, and a pipe would
/// be waited for.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_plain(path, OpenOptions::new().read(true))
}

/// Opens a file that is there to be locked, or makes it. What it holds is left alone, and a link is not
/// followed.
pub fn lock_file(path: &Path) -> io::Result<File> {
    open_plain(path, private::file(OpenOptions::new().write(true).create(true).truncate(false)))
}

fn open_plain(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = open::without_following(options)
        .open(path)
        .map_err(|error| if open::is_for_a_link(&error) { is_link() } else { error })?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
}

pub(crate) fn is_link() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a link, and links are not followed")
}

/// True if there is something with that name, even a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// True if there is a folder with that name. A link to one is none.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

/// True if nobody can be at work any more at a file that has yet to get its name or its content.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    const OLD: Duration = Duration::from_secs(60 * 60);
    let modified = fs::symlink_metadata(path).and_then(|file| file.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD))
}

/// Creates a file that only its owner may read; fails if there is one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    private::file(OpenOptions::new().read(true).write(true).create_new(true)).open(path)
}

/// Puts a whole file in its place at once: whoever looks sees all of it, or none.
pub(crate) fn write_by_rename(path: &Path, bytes: &[u8]) -> Result<File, StoreError> {
    let partial = hidden_alone(path);
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

/// Gives a file another name, unless that is taken.
pub(crate) fn move_to_free(from: &Path, to: &Path) -> io::Result<()> {
    rename::to_free(from, to)
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
