//! Reads a file of ours whose place is known in advance, so that anything may have been put there.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    path::Path,
};

use forebay_system::open;

/// Nobody writes more settings than this, and no login is longer.
const MAX_MIB: u64 = 1;

/// The bytes of the file at `path`. A pipe, a device and what is too long are errors: they could keep
/// the program waiting, or never end.
pub(crate) fn contents(path: &Path) -> io::Result<Vec<u8>> {
    contents_within(path, MAX_MIB)
}

pub(crate) fn contents_within(path: &Path, max_mib: u64) -> io::Result<Vec<u8>> {
    let max_bytes = max_mib << 20;
    let file = open::without_waiting(OpenOptions::new().read(true)).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("it is longer than {max_mib} MiB")));
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    text_within(path, MAX_MIB)
}

/// The same as text, of a file that others may have made longer.
pub(crate) fn text_within(path: &Path, max_mib: u64) -> io::Result<String> {
    String::from_utf8(contents_within(path, max_mib)?)
        .map_err(|_| io::Error::other("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = contents(path).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{}", path.display());
        }
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), vec![b'#'; 1 << 20]).unwrap();
        assert_eq!(text(file.path()).unwrap().len(), 1 << 20);
        fs::write(file.path(), vec![b'#'; (1 << 20) + 1]).unwrap();
        assert_eq!(text(file.path()).unwrap_err().to_string(), "it is longer than 1 MiB");
        fs::write(file.path(), b"\xff").unwrap();
        assert_eq!(text(file.path()).unwrap_err().to_string(), "it is not UTF-8");
    }
}
