//! What was done to which file, and what was there before: `installed.json` in Forebay's home.
//!
//! It is written before the file that it tells of, so that whatever happens in between can be undone. It holds
//! what clients' files hold, secrets included, and is for its owner alone.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use forebay_system::{identity::FileId, private};
use serde::{Deserialize, Serialize};

use crate::{
    disk::{self, Disk},
    document::Place,
    error::ClientsError,
    own::{OURS, Own},
    value::Value,
};

const FILE: &str = "installed.json";
const LOCK: &str = "installed.lock";
const COPIES: &str = "installed";

/// How often the lock may be removed by others before it is taken.
const ATTEMPTS: usize = 1_000;

/// All that was done and not undone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    pub(crate) files: Vec<Record>,
    /// Copies that no record needs any more, and that may still be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outdated: Vec<PathBuf>,
}

/// What was done to a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The client that it was changed for last, by its name.
    pub(crate) client: String,
    /// The others whose file it was, too, when it was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<String>,
    /// Where it really lies.
    pub(crate) path: PathBuf,
    /// The hash of the file without what was done; empty if that is not known to the byte.
    pub(crate) before: String,
    /// The hash of the file as it was written.
    pub(crate) after: String,
    /// The copy of the file without what was done, or of the file as it was before others had changed it; `None` if
    /// there never was one.
    pub(crate) copy: Option<PathBuf>,
    /// True if the copy was made by taking ours out of a file that others had changed, and is not what somebody wrote.
    #[serde(default)]
    pub(crate) is_rebuilt: bool,
    pub(crate) changes: Vec<Change>,
    /// Files that were made along with it, each with its hash.
    #[serde(default)]
    pub(crate) made: Vec<(PathBuf, String)>,
}

/// What was done to a part of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) place: Place,
    /// What was there, and what is now; `None` if nothing.
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
    /// The text that was there, and the one that took its place.
    pub(crate) original: String,
    pub(crate) ours: String,
    /// Where in the file that was, when it was done.
    #[serde(default)]
    pub(crate) at: usize,
    /// The servers that were moved behind a gateway, if this is what was done.
    #[serde(default)]
    pub(crate) moved: Vec<String>,
}

impl Record {
    /// True if it is the file of the client of this name.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.client == name || self.also.iter().any(|it| it == name)
    }
}

impl Change {
    /// The file of a gateway's servers, if this moved some there.
    pub(crate) fn servers_file(&self) -> Option<PathBuf> {
        Own::of(self.after.as_ref()?.get(OURS)?)?.servers_file()
    }
}

/// The right to change files; one at a time has it.
#[derive(Debug)]
pub(crate) struct Turn {
    lock: File,
    home: PathBuf,
    /// True if the home was not there before.
    is_new: bool,
}

impl Turn {
    /// Waits until nobody else on this machine installs or uninstalls.
    pub(crate) fn take(home: &Path) -> Result<Self, ClientsError> {
        let path = home.join(LOCK);
        let is_new = !home.exists();
        let open = || -> io::Result<File> {
            private::make_folder(home)?;
            let mut options = File::options();
            let options = options.read(true).write(true).create(true).truncate(false);
            let lock = private::file(options).open(&path)?;
            lock.lock()?;
            Ok(lock)
        };
        let mut failed = io::Error::from(io::ErrorKind::WouldBlock);
        for _ in 0..ATTEMPTS {
            match open() {
                Ok(lock) if is_at(&lock, &path) => {
                    // An end at the wrong moment may have left half of one.
                    let _ = std::fs::remove_file(disk::beside(&home.join(FILE)));
                    return Ok(Self { lock, home: home.to_owned(), is_new });
                }
                // Whoever had it before has removed the file that was waited for, or the home.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => failed = error,
                Err(source) => return Err(ClientsError::Write { path, source }),
            }
        }
        Err(ClientsError::Write { path, source: failed })
    }
}

impl Drop for Turn {
    /// Where nothing is remembered, nothing is left.
    fn drop(&mut self) {
        let path = self.home.join(LOCK);
        if !self.home.join(FILE).exists() && is_at(&self.lock, &path) {
            let _ = std::fs::remove_file(&path);
            if self.is_new {
                let _ = std::fs::remove_dir(&self.home);
            }
        }
    }
}

/// True if this open file is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let here = file.metadata().ok().map(|file| FileId::of(&file));
    here.is_some() && here == FileId::at(path)
}

impl Ledger {
    /// What is remembered in this home. One that cannot be read is an error: it is all that is known.
    pub(crate) fn load(home: &Path) -> Result<Self, ClientsError> {
        let path = home.join(FILE);
        let read = || match disk::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        };
        let mut ledger =
            read().map_err(|source| ClientsError::Ledger { path: path.clone(), source })?;
        ledger.outdated.retain(|copy| copy.exists() || disk::beside(copy).exists());
        Ok(ledger)
    }

    /// Writes it down, or removes it if there is nothing in it.
    pub(crate) fn save(&self, disk: &dyn Disk, home: &Path) -> Result<(), ClientsError> {
        let path = home.join(FILE);
        let save = || {
            if self.files.is_empty() {
                return disk::remove_if_there(disk, &path);
            }
            disk::write(disk, &path, &serde_json::to_vec_pretty(self)?)
        };
        save().map_err(|source| ClientsError::Write { path: path.clone(), source })
    }

    pub(crate) fn record(&self, path: &Path) -> Option<&Record> {
        self.files.iter().find(|record| record.path == path)
    }

    pub(crate) fn set(&mut self, record: Record) {
        self.forget(&record.path);
        self.files.push(record);
    }

    pub(crate) fn forget(&mut self, path: &Path) {
        let copy = self.record(path).and_then(|record| record.copy.clone());
        self.outdated.extend(copy.filter(|copy| !self.outdated.contains(copy)));
        self.files.retain(|it| it.path != path);
    }

    /// True if this file of servers was made along with a change that is remembered.
    pub(crate) fn has_made(&self, path: &Path) -> bool {
        self.files.iter().any(|record| record.made.iter().any(|(made, _)| made == path))
    }

    /// Where a copy of these bytes is kept.
    pub(crate) fn place_of_copy(home: &Path, bytes: &[u8]) -> PathBuf {
        home.join(COPIES).join(&hash(bytes)[..32])
    }

    /// Keeps a copy of these bytes.
    pub(crate) fn keep_copy(
        disk: &dyn Disk,
        home: &Path,
        bytes: &[u8],
    ) -> Result<(), ClientsError> {
        let path = Self::place_of_copy(home, bytes);
        if disk::read(&path).is_ok_and(|kept| kept == bytes) {
            return Ok(());
        }
        disk::write(disk, &path, bytes).map_err(|source| ClientsError::Write { path, source })
    }

    /// Removes copies that no record needs any more, and the folder if it is empty. Those of an install of which nothing
    /// is remembered stay: they are all that is left of the files.
    pub(crate) fn sweep(&self, disk: &dyn Disk, home: &Path) {
        let folder = home.join(COPIES);
        for copy in &self.outdated {
            if !self.files.iter().any(|record| record.copy.as_ref() == Some(copy)) {
                // Half of one, too, of which an end at the wrong moment has left no more.
                let _ = disk::remove_if_there(disk, &disk::beside(copy));
                let _ = disk::remove_if_there(disk, copy);
            }
        }
        if self.files.is_empty() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// By what a file is known again.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
