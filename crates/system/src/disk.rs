//! How much room there is on a disk.

use std::path::Path;

use rustix::fs::statvfs;

/// How large a disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total_bytes: u64,
    /// What this user may still fill.
    pub free_bytes: u64,
}

/// The disk that `path` is on or, if there is nothing yet, would be on; `None` if that cannot be told.
pub fn space_at(path: &Path) -> Option<Space> {
    let disk = path.ancestors().find_map(|path| statvfs(path).ok())?;
    Some(Space {
        total_bytes: disk.f_blocks.saturating_mul(disk.f_frsize),
        free_bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_yet_has_the_room_of_what_it_would_be_in() {
        let folder = tempfile::tempdir().unwrap();
        let there = space_at(folder.path()).unwrap();
        assert!(there.total_bytes > 0 && there.free_bytes <= there.total_bytes);
        let missing = space_at(&folder.path().join("a/b/c")).unwrap();
        assert_eq!(missing.total_bytes, there.total_bytes);
    }
}
