//! Files that are SQLite databases: what lies beside them, who may read them, and what damage is.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use forebay_system::{access, private};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::layout;

/// The file of a database, and what SQLite keeps beside it.
pub fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        file.into()
    })
}

/// Lets only its owner read a file that is older than this rule.
pub fn make_private(path: &Path) -> io::Result<()> {
    if private::is_open_to_others(&fs::symlink_metadata(path)?) {
        private::make_private(&layout::open(path)?)?;
    }
    Ok(())
}

/// What a look at a database shows, that changes nothing in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glance {
    /// There is none.
    Missing,
    /// It can be read, and is of this version.
    Readable {
        /// The number that its program has given it.
        version: i32,
    },
    /// Its pages do not hang together, or it is no database.
    Damaged,
    /// It cannot be read right now, for this reason.
    Unreadable(String),
}

/// Looks at the database at `path`. All of its pages are looked at if that is quick.
pub fn glance(path: &Path) -> Glance {
    /// Some tenths of a second.
    const QUICK_BYTES: u64 = 100_000_000;
    let bytes = match fs::symlink_metadata(path) {
        Ok(file) if file.is_file() => file.len(),
        Ok(_) => return Glance::Damaged,
        Err(_) => return Glance::Missing,
    };
    let look = || {
        let connection = open_to_look(path)?;
        connection.busy_timeout(Duration::from_secs(1))?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let verdict: String = if bytes > QUICK_BYTES {
            "ok".to_owned()
        } else {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?
        };
        Ok(if verdict == "ok" { Glance::Readable { version } } else { Glance::Damaged })
    };
    match look() {
        Ok(glance) => glance,
        Err(error) if is_damage(&error) => Glance::Damaged,
        Err(error) => Glance::Unreadable(error.to_string()),
    }
}

/// Opens a database for reading alone.
fn open_to_look(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if path.parent().is_none_or(access::can_write) {
        return Connection::open_with_flags(path, flags);
    }
    // Where nothing can be made beside it, nobody changes it either.
    let mut address = "file:".to_owned();
    for character in path.to_string_lossy().chars() {
        match character {
            '%' => address.push_str("%25"),
            '?' => address.push_str("%3F"),
            '#' => address.push_str("%23"),
            other => address.push(other),
        }
    }
    address.push_str("?immutable=1");
    Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
}

/// True if what was opened is no database any more; false if it merely cannot be used right now. Also
/// true of what is a database but not ours: a name that is missing, a value of another kind.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    let Some(code) = error.sqlite_error_code() else { return true };
    !matches!(
        code,
        ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OperationInterrupted
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::OperationAborted
            | ErrorCode::OutOfMemory
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::SchemaChanged
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::AuthorizationForStatementDenied
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_tells_a_version_from_damage_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        assert_eq!(glance(&path), Glance::Missing);
        let made = Connection::open(&path).unwrap();
        let tables = "PRAGMA user_version = 7; CREATE TABLE a (b TEXT);
                      INSERT INTO a VALUES (hex(randomblob(50000)));";
        made.execute_batch(tables).unwrap();
        drop(made);
        let before = fs::read(&path).unwrap();
        assert_eq!(glance(&path), Glance::Readable { version: 7 });
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::write(&path, "no database at all ".repeat(50)).unwrap();
        assert_eq!(glance(&path), Glance::Damaged);
        let mut torn = before;
        torn[4_096..8_192].fill(0xAA);
        fs::write(&path, torn).unwrap();
        assert_eq!(glance(&path), Glance::Damaged);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert_eq!(glance(&path), Glance::Damaged);
    }
}
