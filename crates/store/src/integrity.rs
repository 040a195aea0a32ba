//! Whether what lies on the disk is what was kept.
//!
//! Payloads have their hash in the metadata, rows have theirs in a file beside them. Hashing is cheap
//! but not free, so a file that was found to be sound is not hashed again by the same process for as
//! long as it looks the same.

use std::{
    collections::HashSet,
    fs, io,
    io::Read,
    path::{Path, PathBuf},
    time::SystemTime,
};

use forebay_system::identity::FileId;
use parking_lot::{Mutex, MutexGuard};

use crate::{Part, StoreError, layout};

/// How much is read at a time.
const CHUNK: usize = 1 << 17;

/// Reads a payload, and ends in an error if it was not what was kept. No more is given than there was,
/// however much there is now.
pub(crate) struct Checked<R> {
    source: R,
    path: PathBuf,
    expected: String,
    left: u64,
    hasher: blake3::Hasher,
}

impl<R: Read> Checked<R> {
    /// Checks what `source` gives of the file at `path` against what is known of the payload.
    pub(crate) fn new(source: R, path: PathBuf, part: &Part) -> Self {
        let hasher = blake3::Hasher::new();
        Self { source, path, expected: part.blake3.clone(), left: part.bytes, hasher }
    }

    fn damaged(&self, how: &'static str) -> io::Error {
        let error = StoreError::Damaged { path: self.path.clone(), how };
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.source.read(buffer) {
            // What the system says has a number; what the decoder says has none.
            Err(error)
                if error.kind() != io::ErrorKind::Interrupted && error.raw_os_error().is_none() =>
            {
                return Err(self.damaged("it cannot be unpacked"));
            }
            other => other?,
        };
        self.left = match self.left.checked_sub(count as u64) {
            Some(left) => left,
            None => return Err(self.damaged("it is longer than what was kept")),
        };
        self.hasher.update(&buffer[..count]);
        if count == 0 && !buffer.is_empty() {
            if self.left > 0 {
                return Err(self.damaged("it is shorter than what was kept"));
            }
            if self.hasher.finalize().to_hex().as_str() != self.expected {
                return Err(self.damaged("it is not what was kept"));
            }
        }
        Ok(count)
    }
}

/// Reads to the end, and tells how much has been read each time.
pub(crate) fn drain(
    source: &mut dyn Read,
    tell: &mut dyn FnMut(u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => tell(count as u64)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The hash of a file, in hexadecimal.
pub(crate) fn hash(path: &Path) -> io::Result<String> {
    let mut file = layout::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(count) => drop(hasher.update(&buffer[..count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The files that this process has found to be sound.
#[derive(Debug, Default)]
pub(crate) struct Sound(Mutex<HashSet<Stamp>>);

/// What changes when a file does. Another name for it changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    file: FileId,
    bytes: u64,
    modified: SystemTime,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = file.modified().ok()?;
        Some(Self { file: FileId::of(&file), bytes: file.len(), modified })
    }
}

impl Sound {
    /// Checks a file, unless it is known to be sound.
    pub(crate) fn check<E>(
        &self,
        path: &Path,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        // Taken before: a file that changes while it is checked is not known.
        let stamp = Stamp::of(path);
        if stamp.is_some_and(|stamp| self.known().contains(&stamp)) {
            return Ok(());
        }
        check()?;
        self.known().extend(stamp);
        Ok(())
    }

    /// Notes that a file is sound, because it has just been written.
    pub(crate) fn note(&self, path: &Path) {
        self.known().extend(Stamp::of(path));
    }

    fn known(&self) -> MutexGuard<'_, HashSet<Stamp>> {
        self.0.lock()
    }
}
