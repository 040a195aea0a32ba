//! The files that logins are kept in: one for each upstream, for their owner alone.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, bail};
use forebay_system::{identity::FileId, private};
use tempfile::NamedTempFile;
use tokio::time::{Instant, sleep};

use super::{Address, Login};
use crate::regular;

/// How long a process waits for another that is at the same login, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(60);
const OFTEN: Duration = Duration::from_millis(20);

/// The directory of all logins.
#[derive(Debug, Clone)]
pub(crate) struct Keep {
    directory: PathBuf,
}

/// Tells one state of an upstream's login from another; `None` if there is no file. Each is written as
/// a file of its own, so which file it is and its time do.
pub(crate) type Stamp = Option<(FileId, SystemTime)>;

/// The right to change one upstream's login, among all processes, until it is dropped.
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: File,
}

impl Keep {
    pub(crate) fn new(home: &Path) -> Self {
        Self { directory: home.join("auth") }
    }

    /// Where an upstream's login is, if there is one.
    pub(crate) fn file(&self, address: &Address) -> PathBuf {
        self.directory.join(address.file_stem() + ".json")
    }

    /// The login for an upstream, if there is one.
    pub(crate) fn read(&self, address: &Address) -> Result<Option<Login>> {
        let file = self.file(address);
        let login = read_file(&file)?;
        if login.as_ref().is_some_and(|login| login.url != address.url().as_str()) {
            bail!("`{}` belongs to another server", file.display());
        }
        Ok(login)
    }

    /// Looks at an upstream's login without opening it.
    pub(crate) fn stamp(&self, address: &Address) -> Stamp {
        let file = fs::metadata(self.file(address)).ok()?;
        Some((FileId::of(&file), file.modified().ok()?))
    }

    /// All logins, by their upstream; what cannot be read is passed over with a warning.
    pub(crate) fn all(&self) -> Result<Vec<Login>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| self.cannot("read")),
        };
        let mut logins = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| self.cannot("read"))?.path();
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            if name.starts_with(b".") || !name.ends_with(b".json") {
                continue;
            }
            match read_file(&path) {
                Ok(login) => logins.extend(login),
                Err(error) => tracing::warn!("{error:#}"),
            }
        }
        logins.sort_by(|one, other| one.url.cmp(&other.url));
        Ok(logins)
    }

    /// Waits until nobody else changes the upstream's login.
    pub(crate) async fn turn(&self, address: &Address) -> Result<Turn> {
        self.make_directory()?;
        let path = self.file(address).with_extension("lock");
        let cannot = || format!("cannot lock `{}`", path.display());
        // It stays when the login goes: whoever waits for it would be left with a lock of its own.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = private::file(&mut options).open(&path).with_context(cannot)?;
        let started = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Turn { _lock: lock }),
                Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => sleep(OFTEN).await,
                Err(error) => return Err(error).with_context(cannot),
            }
        }
    }

    /// Puts a login in its place at once: whoever looks sees all of it, or the one before.
    pub(crate) fn write(&self, address: &Address, login: &Login, _: &Turn) -> Result<()> {
        let file = self.file(address);
        let text = serde_json::to_string_pretty(login)?;
        // Such files are their owner's alone from the beginning.
        let written = NamedTempFile::with_prefix_in(".", &self.directory).and_then(|mut fresh| {
            fresh.write_all(text.as_bytes())?;
            fresh.as_file().sync_all()?;
            fresh.persist(&file)?;
            Ok(())
        });
        written.with_context(|| format!("cannot write `{}`", file.display()))
    }

    /// Removes a login.
    pub(crate) fn remove(&self, address: &Address, _: &Turn) -> Result<()> {
        let file = self.file(address);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove `{}`", file.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn make_directory(&self) -> Result<()> {
        private::make_folder(&self.directory).with_context(|| self.cannot("make"))
    }

    fn cannot(&self, what: &str) -> String {
        format!("cannot {what} `{}`", self.directory.display())
    }
}

fn read_file(path: &Path) -> Result<Option<Login>> {
    let text = match regular::contents(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
        }
    };
    // What is wrong is told by its place: the text around it may be a token.
    let login = serde_json::from_slice(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        anyhow::anyhow!("`{}` is damaged at {line}:{column}", path.display())
    })?;
    Ok(Some(login))
}
