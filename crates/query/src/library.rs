//! DuckDB's library, loaded when it is first needed.
//!
//! Linked as usual it would cost every process some milliseconds at its start and 14 MiB, though most
//! never ask a query; and one that does not find it would not start at all. So each of DuckDB's
//! functions is a jump to where the loaded one is, and only a worker that is about to use them loads
//! the library: from where it was put when this was built, or else unpacked from this very binary.

/// The DuckDB that is part of this program.
pub const DUCKDB_VERSION: &str = env!("FOREBAY_DUCKDB_VERSION");

#[cfg(not(duckdb_loaded))]
pub(crate) fn load(_folder: &std::path::Path) -> Result<(), crate::QueryError> {
    Ok(())
}

#[cfg(duckdb_loaded)]
pub(crate) use loaded::load;

#[cfg(duckdb_loaded)]
#[expect(unsafe_code, reason = "that is what loading a library by hand is")]
mod loaded {
    use std::{
        arch::global_asm,
        ffi::c_void,
        fs::{self, File},
        io::{self, Write},
        path::{Path, PathBuf},
        ptr::null_mut,
        sync::{
            OnceLock,
            atomic::{AtomicPtr, Ordering},
        },
    };

    use forebay_system::private::is_trustworthy;
    use libloading::Library;

    use crate::QueryError;

    const NAMES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/functions.rs"));
    const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libduckdb.so.zst"));
    const FROM_BUILD: &str = env!("FOREBAY_DUCKDB");
    const BYTES: &str = env!("FOREBAY_DUCKDB_BYTES");

    global_asm!(include_str!(concat!(env!("OUT_DIR"), "/functions.s")));

    /// Where each function is.
    #[unsafe(export_name = "forebay_duckdb")]
    static FUNCTIONS: [AtomicPtr<c_void>; NAMES.len()] =
        [const { AtomicPtr::new(null_mut()) }; NAMES.len()];

    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();

    /// Loads the library; to be called before anything of DuckDB is. It is unpacked into `folder` if
    /// need be.
    pub(crate) fn load(folder: &Path) -> Result<(), QueryError> {
        let loaded = LOADED.get_or_init(|| {
            let path = find(Path::new(FROM_BUILD), folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            open(&path).map_err(|error| error.to_string())
        });
        loaded.clone().map_err(QueryError::Library)
    }

    /// The library where the build has left it, or else unpacked into `folder`.
    fn find(from_build: &Path, folder: &Path) -> io::Result<PathBuf> {
        // What others could have put there is not run: a build may have been anywhere.
        let is_whole = |path: &Path| {
            fs::metadata(path)
                .is_ok_and(|file| file.len().to_string() == BYTES && is_trustworthy(&file))
        };
        let unpacked = folder.join(format!("libduckdb-{BYTES}.so"));
        for path in [from_build, &unpacked] {
            if is_whole(path) {
                return Ok(path.to_owned());
            }
        }
        fs::create_dir_all(folder)?;
        let partial = folder.join(format!(".libduckdb-{}", std::process::id()));
        // Never through a link that somebody has put there.
        let _ = fs::remove_file(&partial);
        let mut file = File::create_new(&partial)?;
        file.write_all(&zstd::decode_all(COMPRESSED)?)?;
        fs::rename(&partial, &unpacked)?;
        Ok(unpacked)
    }

    fn open(path: &Path) -> Result<(), libloading::Error> {
        // SAFETY: the library's initialisers have no preconditions, and it is never closed.
        let library = std::mem::ManuallyDrop::new(unsafe { Library::new(path)? });
        for (name, place) in NAMES.iter().zip(&FUNCTIONS) {
            // SAFETY: only the address is taken; it is called as what DuckDB's own header says.
            if let Ok(function) = unsafe { library.get::<*mut c_void>(name.as_bytes()) } {
                place.store(*function, Ordering::Release);
            }
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_program_that_has_been_moved_unpacks_its_library() {
            let folder = tempfile::tempdir().unwrap();
            let library = find(Path::new("/nowhere"), folder.path()).unwrap();
            assert!(library.starts_with(folder.path()));
            let made = fs::metadata(&library).unwrap();
            assert_eq!(made.len().to_string(), BYTES);
            assert_eq!(find(Path::new("/nowhere"), folder.path()).unwrap(), library);
            let again = fs::metadata(&library).unwrap();
            assert_eq!(made.modified().unwrap(), again.modified().unwrap(), "once is enough");
            open(&library).unwrap();
        }

        #[test]
        fn a_library_that_others_can_write_is_not_loaded() {
            use std::os::unix::fs::PermissionsExt;
            let folder = tempfile::tempdir().unwrap();
            let foreign = find(Path::new("/nowhere"), &folder.path().join("a")).unwrap();
            fs::set_permissions(&foreign, fs::Permissions::from_mode(0o666)).unwrap();
            let library = find(&foreign, &folder.path().join("b")).unwrap();
            assert_ne!(library, foreign);
        }
    }
}
