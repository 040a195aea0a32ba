//! What the servers behind a gateway had when they were last there, and how they stand now.
//!
//! The lists are files under `servers/`. One is for a server as it is written: when its command or URL is
//! another, it is not known what it has.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use forebay_proxy::upstream::{Memory, Standing};
use forebay_tools::Servers;
use parking_lot::Mutex;

use crate::{config::servers::Server, regular};

/// The memory of a gateway.
pub(crate) struct Remembered {
    files: Vec<PathBuf>,
    standings: Mutex<Vec<Standing>>,
}

impl Remembered {
    pub(crate) fn new(home: &Path, servers: &[Server]) -> Self {
        let file = |server: &Server| {
            let way = blake3::hash(format!("{:?}", server.way).as_bytes()).to_hex();
            home.join("servers").join(format!("{}-{}.json", server.name, &way[..16]))
        };
        Self { files: servers.iter().map(file).collect(), standings: Mutex::default() }
    }
}

impl Memory for Remembered {
    fn tools(&self, upstream: usize) -> Option<Vec<u8>> {
        regular::contents_within(self.files.get(upstream)?, MAX_MIB).ok()
    }

    fn remember_tools(&self, upstream: usize, result: &[u8]) {
        let Some(path) = self.files.get(upstream) else { return };
        if let Err(error) = write(path, result) {
            tracing::debug!(%error, "the list of tools is not remembered");
        }
    }

    fn stand(&self, standings: Vec<Standing>) {
        *self.standings.lock() = standings;
    }
}

impl Servers for Remembered {
    fn standings(&self) -> Vec<Standing> {
        self.standings.lock().clone()
    }
}

/// No server has a longer list.
const MAX_MIB: u64 = 16;

/// Writes a file that is there whole or as it was before.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    fs::rename(&beside, path)
}
