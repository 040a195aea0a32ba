//! What the servers behind a gateway had when they were last there.
//!
//! The lists are files under `servers/`. One is for a server as it is written: when its command or URL is
//! another, it is not known what it has.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use forebay_proxy::upstream::Memory;
use forebay_system::private;

use crate::{config::servers::Server, regular};

/// The memory of a gateway.
pub(crate) struct Remembered {
    folder: PathBuf,
}

impl Remembered {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("servers") }
    }

    /// What a server is remembered by.
    pub(crate) fn key(server: &Server) -> String {
        format!("{}-{}", server.name, brief_hash(&format!("{:?}", server.way)))
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

/// A text that is short, and another for every text. What is written of a server may be secret.
pub(super) fn brief_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

impl Memory for Remembered {
    fn tools(&self, key: &str) -> Option<Vec<u8>> {
        regular::contents_within(&self.file(key), MAX_MIB).ok()
    }

    fn remember_tools(&self, key: &str, result: &[u8]) {
        if let Err(error) = write(&self.file(key), result) {
            tracing::debug!(%error, "the list of tools is not remembered");
        }
    }
}

/// No server has a longer list.
const MAX_MIB: u64 = 16;

/// Writes a file that is there whole or as it was before.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    private::make_folder(folder)?;
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true);
    let mut file = private::file(options).open(&beside)?;
    file.write_all(bytes)?;
    fs::rename(&beside, path)
}
