//! A worker as whoever runs a program sees it: a process at the other end of two pipes.
//!
//! It heeds its limits by itself. One that does not, because it is stopped or gone wrong, is killed; so
//! is one whose program is cancelled, which takes less time than to ask it to stop.

use std::{
    ffi::OsString,
    io::{self, BufReader},
    path::Path,
    process::{Child, ChildStdout},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use forebay_worker::{Started, Stopped, start};
use parking_lot::Mutex;

use super::{Run, TICK};
use crate::{
    Answer, Failure, Host, HostCall, SandboxError,
    engine::Ending,
    frame::{self, Frame, Kind},
    host::Way,
    input::Input,
    worker::Ask,
};

/// How long a worker may take beyond its limit before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The workers that have nothing to do.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Worker>>);

impl Idle {
    pub(super) fn push(&self, worker: Worker) {
        self.0.lock().push(worker);
    }

    pub(super) fn pop(&self) -> Option<Worker> {
        self.0.lock().pop()
    }

    fn pull(&self, id: u32) -> Option<Worker> {
        let mut idle = self.0.lock();
        let place = idle.iter().position(|worker| worker.child.id() == id)?;
        Some(idle.remove(place))
    }
}

pub(super) struct Worker {
    child: Child,
    input: Arc<Input>,
    /// What it says, besides its calls.
    frames: mpsc::Receiver<io::Result<Frame>>,
    /// Whoever answers its calls.
    calling: Arc<Mutex<Option<Arc<Calling>>>>,
    state: Work,
}

/// A program that calls.
struct Calling {
    host: Arc<dyn Host>,
    way: Way,
    calls: AtomicU64,
    max_calls: u64,
}

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// It has been asked, and has not said anything.
    Asked,
    /// It runs a program.
    Running,
    /// It has nothing to do.
    Free,
    /// It has ended, does not heed, or is of no more use.
    Broken,
}

impl Worker {
    /// Starts one that says no more than `max_frame` bytes at once. Should it end while it is among the
    /// `idle`, it is taken away from them.
    pub(super) fn start(
        program: &Path,
        arguments: &[OsString],
        max_frame: u64,
        idle: Weak<Idle>,
    ) -> io::Result<Self> {
        let Started { child, input, output } = start(program, arguments, &[])?;
        let (said, frames) = mpsc::sync_channel(64);
        let id = child.id();
        let calling: Arc<Mutex<Option<Arc<Calling>>>> = Arc::default();
        let input = Input::new(input)?;
        let worker = Self { child, input, frames, calling: calling.clone(), state: Work::Free };
        thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            if let Err(error) = hear(output, &calling, &said, max_frame) {
                let _ = said.send(Err(error));
            }
            drop(said);
            drop(idle.upgrade().and_then(|idle| idle.pull(id)));
        })?;
        Ok(worker)
    }

    /// True if the worker can run another program.
    pub(super) fn is_free(&self) -> bool {
        self.state == Work::Free
    }

    /// True if the worker has begun to run the program that it was last asked to.
    pub(super) fn has_begun(&self) -> bool {
        self.state != Work::Asked
    }

    /// Runs a program to its end.
    pub(super) fn run(&mut self, ask: &Ask, host: &Arc<dyn Host>) -> Result<Run, SandboxError> {
        self.state = Work::Asked;
        let ask_bytes = serde_json::to_vec(ask).map_err(io::Error::other)?;
        let mut frame = Vec::new();
        frame::encode(&mut frame, Kind::Run, 0, &[&ask_bytes])?;
        let way = Arc::new(Mutex::new(Some(self.input.clone())));
        let calling = Arc::new(Calling {
            host: host.clone(),
            way: way.clone(),
            calls: AtomicU64::new(0),
            max_calls: ask.limits.max_calls,
        });
        *self.calling.lock() = Some(calling.clone());
        self.input.send(frame);
        let mut run = Run::default();
        let ended = self.follow(ask, host.as_ref(), &mut run);
        run.calls = run.calls.max(calling.calls.load(Ordering::Relaxed));
        // Calls that come now are of nobody, and so are answers.
        *self.calling.lock() = None;
        *way.lock() = None;
        let Err(error) = ended else { return Ok(run) };
        let _ = self.child.kill();
        if self.state == Work::Asked {
            return Err(error);
        }
        self.state = Work::Broken;
        match error {
            // What it logged before may tell what it had done.
            SandboxError::Ended | SandboxError::Stopped => {
                run.failure = Some(Failure::new(error.to_string()));
                Ok(run)
            }
            error => Err(error),
        }
    }

    fn follow(&mut self, ask: &Ask, host: &dyn Host, run: &mut Run) -> Result<(), SandboxError> {
        let begun = Instant::now();
        let mut stopped = Stopped::default();
        let mut logged_bytes = 0;
        loop {
            match self.frames.recv_timeout(TICK) {
                Ok(frame) => {
                    let Frame { kind, bytes, .. } = frame?;
                    match kind {
                        Kind::Begun => self.state = Work::Running,
                        Kind::Log => {
                            logged_bytes += bytes.len() as u64 + 1;
                            if logged_bytes > ask.limits.output_bytes.saturating_add(1) {
                                return Err(unheeded("more output than it may have"));
                            }
                            run.logged.push(text(bytes)?);
                        }
                        Kind::Value => run.value = Some(text(bytes)?),
                        Kind::End => return self.ended(run, &bytes),
                        Kind::Run | Kind::Answer | Kind::Refusal | Kind::Call => {
                            return Err(unheeded("a frame that is not its to send"));
                        }
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(SandboxError::Ended),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if host.is_cancelled() {
                return Err(SandboxError::Cancelled);
            }
            if begun.elapsed() > ask.wall + GRACE || stopped.is_for_long(self.child.id()) {
                return Err(SandboxError::Stopped);
            }
        }
    }

    fn ended(&mut self, run: &mut Run, bytes: &[u8]) -> Result<(), SandboxError> {
        let ending: Ending = serde_json::from_slice(bytes).map_err(io::Error::other)?;
        self.state = if ending.is_spent { Work::Broken } else { Work::Free };
        run.notes = ending.notes;
        run.left_out_bytes = ending.left_out_bytes;
        run.calls = ending.calls;
        run.failure = ending.failure;
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hears a worker to its end. Calls are made here, where they are heard, without waking another thread; the rest
/// goes to whoever follows the run.
fn hear(
    output: ChildStdout,
    calling: &Mutex<Option<Arc<Calling>>>,
    frames: &mpsc::SyncSender<io::Result<Frame>>,
    max_frame: u64,
) -> io::Result<()> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    while let Some(frame) = frame::read(&mut output, max_frame)? {
        if frame.kind != Kind::Call {
            if frames.send(Ok(frame)).is_err() {
                break;
            }
            continue;
        }
        // Not in the `if`, which would keep it locked.
        let calling = calling.lock().clone();
        if let Some(Calling { host, way, calls, max_calls }) = calling.as_deref() {
            if calls.fetch_add(1, Ordering::Relaxed) >= *max_calls {
                return Err(io::Error::other("a worker sent more calls than it may make"));
            }
            host.call(host_call(frame.bytes)?, Answer::new(frame.number, way.clone()));
        }
    }
    Ok(())
}

/// The function that is called, and behind a line feed its arguments.
fn host_call(bytes: Vec<u8>) -> io::Result<HostCall> {
    let mut function = text(bytes)?;
    let end = function.find('\n').ok_or_else(|| io::Error::other("a call without arguments"))?;
    let arguments = function.split_off(end + 1);
    function.truncate(end);
    Ok(HostCall { function, arguments })
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The worker has done what no worker of ours does.
fn unheeded(what: &str) -> SandboxError {
    SandboxError::Pipe(io::Error::other(format!("a worker sent {what}")))
}
