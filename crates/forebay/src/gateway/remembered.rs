//! What the servers behind a gateway had when they were last there.
//!
//! The lists are files under `servers/`, and so is how each server stood when the doctor last started it. One is for a
//! server as it is written: when its command or URL is another, it is not known what it has.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use forebay_proxy::upstream::Memory;
use forebay_system::private;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{config::servers::Server, regular};

/// The memory of a gateway.
pub(crate) struct Remembered {
    folder: PathBuf,
}

/// How a server stood when it was started to see whether it works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sighting {
    /// When that was.
    pub(crate) at: Timestamp,
    /// The revision of the protocol that it spoke, then or before.
    pub(crate) revision: Option<String>,
    /// Why it could not be used, if it could not.
    pub(crate) error: Option<String>,
}

impl Remembered {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("servers") }
    }

    /// What a server is remembered by.
    pub(crate) fn key(server: &Server) -> String {
        format!("{}-{}", server.name, brief_hash(&format!("{:?}", server.way)))
    }

    /// How a server stood when it was last looked at.
    pub(crate) fn sighting(&self, server: &Server) -> Option<Sighting> {
        let text = regular::contents_within(&self.sighting_file(server), MAX_MIB).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// This is how a server stands. One that does not start speaks what it spoke before.
    pub(crate) fn remember_sighting(&self, server: &Server, mut sighting: Sighting) {
        if sighting.revision.is_none() {
            sighting.revision = self.sighting(server).and_then(|before| before.revision);
        }
        let text = serde_json::to_vec(&sighting).map_err(io::Error::from);
        if let Err(error) = text.and_then(|text| write(&self.sighting_file(server), &text)) {
            tracing::debug!(%error, "how a server stands is not remembered");
        }
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    fn sighting_file(&self, server: &Server) -> PathBuf {
        self.folder.join(format!("{}.seen.json", Self::key(server)))
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
