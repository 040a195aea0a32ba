//! The functions that a program can call, which whoever runs it brings.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{
    frame::{self, Kind},
    input::Input,
};

/// Answers a program's calls.
pub trait Host: Send + Sync {
    /// A function is called, on the thread that hears the worker. `answer` may be given on any thread, at any
    /// time; this must not wait for it, because the program's other calls would.
    fn call(&self, called: HostCall, answer: Answer);

    /// True if the program is no longer wanted. Asked every few milliseconds.
    fn is_cancelled(&self) -> bool;
}

/// A call of a program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// `callMCPTool`, `help`, `datasets.query`, `datasets.read` or `datasets.save`; but what runs
    /// programs is not to be relied on, so it may be any text.
    pub function: String,
    /// What was given, as a JSON array.
    pub arguments: String,
}

/// The way to a worker, until its program has ended.
pub(crate) type Way = Arc<Mutex<Option<Arc<Input>>>>;

/// Gives a call its answer, without waiting for it to be read. A call whose answer is dropped is refused.
pub struct Answer {
    id: u64,
    /// Taken when the answer is given.
    way: Option<Way>,
}

impl Answer {
    pub(crate) fn new(id: u64, way: Way) -> Self {
        Self { id, way: Some(way) }
    }

    /// Gives JSON.
    pub fn give(mut self, json: &[u8]) {
        self.send(Kind::Answer, json);
    }

    /// Gives none, and says why.
    pub fn refuse(mut self, why: &str) {
        self.send(Kind::Refusal, why.as_bytes());
    }

    fn send(&mut self, kind: Kind, bytes: &[u8]) {
        let Some(way) = self.way.take() else { return };
        // Once the program has ended there is nobody to tell.
        let way = way.lock();
        let Some(input) = &*way else { return };
        let mut frame = Vec::new();
        if frame::encode(&mut frame, kind, self.id, &[bytes]).is_err() {
            let too_long: &[u8] = b"the answer is longer than a program can be given";
            let _ = frame::encode(&mut frame, Kind::Refusal, self.id, &[too_long]);
        }
        input.send(frame);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.send(Kind::Refusal, b"the call was given up without an answer");
    }
}
