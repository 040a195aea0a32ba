//! Whether this process may do something with a file, by the system's own word.

use std::path::Path;

use rustix::fs::{Access, access};

/// True if this process may write to a file, or make files in a folder.
pub fn can_write(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// True if this process may run a file as a program, or enter a folder.
pub fn can_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}
