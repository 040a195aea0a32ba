//! What a worker hears: programs, and the answers to their calls. It is heard by the thread that waits for it, so
//! that nobody has to be woken twice.

use std::{
    fs::File,
    io::{self, BufReader},
    process,
    time::Instant,
};

use forebay_system::pipes;

use super::Ask;
use crate::{
    engine::Answered,
    frame::{self, Frame, Kind},
};

/// The longest frame that is read: what no answer has.
const MAX_FRAME: u64 = u32::MAX as u64;

pub(super) struct Input(BufReader<File>);

impl Input {
    pub(super) fn new(pipe: File) -> Self {
        Self(BufReader::with_capacity(1 << 16, pipe))
    }

    /// The next program, if one comes until then.
    pub(super) fn ask(&mut self, until: Instant) -> Option<Ask> {
        loop {
            let Frame { kind, bytes, .. } = self.frame(until)?;
            match kind {
                Kind::Run => return serde_json::from_slice(&bytes).ok(),
                // It was for the program before.
                Kind::Answer | Kind::Refusal => {}
                _ => return None,
            }
        }
    }

    /// The next answer, if one comes until then.
    pub(super) fn answer(&mut self, until: Instant) -> Option<Answered> {
        let Frame { kind, number, bytes } = self.frame(until)?;
        let outcome = match kind {
            Kind::Answer => Ok(bytes),
            Kind::Refusal => Err(String::from_utf8_lossy(&bytes).into_owned()),
            // Nobody who keeps to what was agreed says that now.
            _ => process::exit(1),
        };
        Some(Answered { id: number, outcome })
    }

    /// An answer that has been read from the pipe already.
    pub(super) fn ready_answer(&mut self) -> Option<Answered> {
        frame::is_whole(self.0.buffer()).then(|| self.answer(Instant::now())).flatten()
    }

    /// The next frame. Without whoever asks, the process has no purpose.
    fn frame(&mut self, until: Instant) -> Option<Frame> {
        let has_come = || -> io::Result<bool> {
            let wait = until.saturating_duration_since(Instant::now());
            Ok(!self.0.buffer().is_empty() || pipes::has_come_within(self.0.get_ref(), wait)?)
        };
        match has_come() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => process::exit(1),
        }
        match frame::read(&mut self.0, MAX_FRAME) {
            Ok(Some(frame)) => Some(frame),
            Ok(None) => process::exit(0),
            Err(_) => process::exit(1),
        }
    }
}
