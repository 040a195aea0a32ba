//! A process of the model's as whoever asks it sees it: the other end of two pipes.

use std::{
    ffi::OsString,
    io::{self, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout},
    sync::{Weak, mpsc},
    thread,
    time::{Duration, Instant},
};

use forebay_worker::{Started, Stopped, start};
use parking_lot::Mutex;

use crate::{
    EmbedError,
    frame::{self, Frame, Kind, Setup},
    tokenize,
};

/// How often it is looked whether a process has been stopped.
const TICK: Duration = Duration::from_millis(200);

/// No answer is longer: a thousand vectors, or a sentence.
const MAX_ANSWER: usize = 4 << 20;

/// The process of a lane, if it runs.
pub(super) type Slot = Mutex<Option<Worker>>;

pub(super) struct Worker {
    child: Child,
    /// Written to its input by a thread: a worker that does not read holds up nobody.
    input: mpsc::Sender<Vec<u8>>,
    frames: mpsc::Receiver<io::Result<Frame>>,
    state: State,
}

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// It has been asked, and has not answered; or it has answered what no worker of ours does.
    Busy,
}

impl Worker {
    /// Starts one. Should it end while it is in the slot, it is taken out of it.
    pub(super) fn start(
        program: &Path,
        arguments: &[OsString],
        setup: &Setup,
        slot: Weak<Slot>,
    ) -> io::Result<Self> {
        let setup = frame::encode(Kind::Setup, &serde_json::to_vec(setup)?)?;
        let Started { child, input, output } = start(program, arguments, &[])?;
        let (said, frames) = mpsc::sync_channel(1);
        let (told, to_tell) = mpsc::channel();
        let id = child.id();
        let worker = Self { child, input: told, frames, state: State::Free };
        // If it has ended, that is heard from its output.
        let _ = worker.input.send(setup);
        let thread = || thread::Builder::new().name("embed".to_owned());
        thread().spawn(move || tell(input, &to_tell))?;
        thread().spawn(move || {
            pass_on(output, &said);
            drop(said);
            drop(
                slot.upgrade()
                    .and_then(|slot| slot.lock().take_if(|worker| worker.child.id() == id)),
            );
        })?;
        Ok(worker)
    }

    /// True if the worker can be asked again.
    pub(super) fn is_of_use(&self) -> bool {
        self.state == State::Free
    }

    /// The vectors of the texts. How long that may take is for whoever asks to say.
    pub(super) fn ask(
        &mut self,
        texts: &[&str],
        deadline: Instant,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.state = State::Busy;
        let shortened: Vec<&str> = texts.iter().map(|text| tokenize::shortened(text)).collect();
        let request = serde_json::to_vec(&shortened).map_err(io::Error::other)?;
        let _ = self.input.send(frame::encode(Kind::Texts, &request)?);
        let Frame { kind, bytes } = self.wait(deadline)?;
        let outcome = match kind {
            Kind::Vectors => Ok(frame::vectors_of(&bytes, texts.len())?),
            Kind::Failure => Err(EmbedError::Model(String::from_utf8_lossy(&bytes).into_owned())),
            Kind::Setup | Kind::Texts => {
                return Err(io::Error::other("a frame that is not a worker's to send").into());
            }
        };
        self.state = State::Free;
        outcome
    }

    fn wait(&self, deadline: Instant) -> Result<Frame, EmbedError> {
        let mut stopped = Stopped::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.frames.recv_timeout(left.min(TICK)) {
                Ok(frame) => return Ok(frame?),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(EmbedError::Ended),
                Err(mpsc::RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(EmbedError::Late(Duration::ZERO));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            // One that is stopped from outside is as good as gone.
            if stopped.is_for_long(self.child.id()) {
                return Err(EmbedError::Ended);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(mut input: ChildStdin, frames: &mpsc::Receiver<Vec<u8>>) {
    for frame in frames {
        if input.write_all(&frame).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn pass_on(output: ChildStdout, frames: &mpsc::SyncSender<io::Result<Frame>>) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        match frame::read(&mut output, MAX_ANSWER) {
            Ok(Some(frame)) => {
                if frames.send(Ok(frame)).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                let _ = frames.send(Err(error));
                return;
            }
        }
    }
}
