//! What a worker says, gathered until there is something to wait for.

use std::{fs::File, io::Write, process};

use parking_lot::Mutex;

use crate::{
    engine::Ending,
    frame::{self, Kind},
};

/// When so much is gathered, it is written.
const MUCH: usize = 32 << 10;

/// What was said and is not written yet.
pub(super) struct Output(Mutex<Said>);

struct Said {
    pipe: File,
    bytes: Vec<u8>,
    /// False once the end of the program was said.
    is_open: bool,
}

impl Output {
    pub(super) fn new(pipe: File) -> Self {
        Self(Mutex::new(Said { pipe, bytes: Vec::new(), is_open: false }))
    }

    /// A program is about to run.
    pub(super) fn begin(&self) {
        let mut said = self.0.lock();
        said.is_open = true;
        said.add(Kind::Begun, 0, &[&[]]);
        said.write();
    }

    pub(super) fn add(&self, kind: Kind, number: u64, parts: &[&[u8]]) {
        let mut said = self.0.lock();
        said.add(kind, number, parts);
        if said.bytes.len() > MUCH {
            said.write();
        }
    }

    pub(super) fn flush(&self) {
        self.0.lock().write();
    }

    /// Says how the program ended, unless that was said.
    pub(super) fn end(&self, ending: &Ending) {
        let mut said = self.0.lock();
        if !said.is_open {
            return;
        }
        said.is_open = false;
        if let Some(value) = &ending.value {
            said.add(Kind::Value, 0, &[value.as_bytes()]);
        }
        match serde_json::to_vec(ending) {
            Ok(bytes) => said.add(Kind::End, 0, &[&bytes]),
            Err(_) => process::exit(1),
        }
        said.write();
    }
}

impl Said {
    fn add(&mut self, kind: Kind, number: u64, parts: &[&[u8]]) {
        if frame::encode(&mut self.bytes, kind, number, parts).is_err() {
            process::exit(1);
        }
    }

    fn write(&mut self) {
        // If nobody listens any more, the process has no purpose.
        if self.pipe.write_all(&self.bytes).is_err() {
            process::exit(1);
        }
        self.bytes.clear();
    }
}
