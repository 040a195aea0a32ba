//! Which file something is, whatever its name.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// A file as the system knows it: its device and its number there. One that is put in its place is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// The file that this was said of.
    pub fn of(file: &Metadata) -> Self {
        Self { device: file.dev(), number: file.ino() }
    }

    /// The file that has this name, which may be a link; `None` if there is none.
    pub fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|file| Self::of(&file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_identity_and_its_successor_another() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        fs::write(&one, "one").unwrap();
        fs::hard_link(&one, &other).unwrap();
        assert_eq!(FileId::at(&one), FileId::at(&other), "two names of one file");
        let before = FileId::at(&one).unwrap();
        assert_eq!(FileId::of(&fs::metadata(&one).unwrap()), before);
        fs::write(folder.path().join("new"), "new").unwrap();
        fs::rename(folder.path().join("new"), &one).unwrap();
        assert_ne!(FileId::at(&one), Some(before));
        assert_eq!(FileId::at(&folder.path().join("none")), None);
    }
}
