//! A worker as whoever asks it sees it: a process at the other end of two pipes.
//!
//! It is told its limits and when an answer is no longer wanted, and heeds both by itself. One that
//! does not, because it is stopped or deep in a function that cannot be interrupted, is killed.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout},
    sync::{Weak, mpsc},
    thread,
    time::{Duration, Instant},
};

use forebay_worker::{Started, Stopped, start};
use parking_lot::{Mutex, MutexGuard};

use super::{Observer, Patient, TICK};
use crate::{
    Column, QueryError, Source,
    protocol::{CANCEL, MAX_PREPARATION, Say},
};

/// How long a worker may take beyond its limit before it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// The same after a cancellation.
const HEED: Duration = Duration::from_secs(1);
/// How often whoever asked hears that the query runs.
const TELLS_EACH: Duration = Duration::from_secs(1);

/// What a worker needs of our environment: how libraries are found, and where temporary files go.
const VARIABLES: [&str; 3] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"];

/// The workers that have nothing to do.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Worker>>);

impl Idle {
    pub(super) fn push(&self, worker: Worker) {
        self.lock().push(worker);
    }

    pub(super) fn pop(&self) -> Option<Worker> {
        self.lock().pop()
    }

    fn pull(&self, id: u32) -> Option<Worker> {
        let mut idle = self.lock();
        let place = idle.iter().position(|worker| worker.child.id() == id)?;
        Some(idle.remove(place))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.0.lock()
    }
}

#[derive(Default)]
pub(super) struct Answer {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Vec<String>,
    pub(super) rows: u64,
    pub(super) has_more: bool,
    pub(super) sources: Vec<Source>,
}

pub(super) struct Worker {
    child: Child,
    /// Written to its input by a thread: a worker that does not read holds up nobody.
    input: Option<mpsc::Sender<String>>,
    lines: mpsc::Receiver<String>,
    pub(super) has_said_nothing: bool,
    pub(super) state: Work,
}

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// It finds out whether the query may run.
    Checking,
    /// It makes rows, which takes what it takes.
    Preparing,
    /// It runs a query, since then.
    Running(Instant),
    /// It has answered.
    Done,
    /// It has ended, or does not heed.
    Broken,
}

impl Worker {
    /// Starts one. Should it end while it is among the `idle`, it is taken away from them.
    pub(super) fn start(
        program: &Path,
        arguments: &[OsString],
        idle: Weak<Idle>,
    ) -> io::Result<Self> {
        let Started { child, input, output } = start(program, arguments, &VARIABLES)?;
        let (said, lines) = mpsc::sync_channel(1024);
        let (told, to_tell) = mpsc::channel();
        let id = child.id();
        let worker =
            Self { child, input: Some(told), lines, has_said_nothing: true, state: Work::Broken };
        thread::Builder::new().name("query".to_owned()).spawn(move || tell(input, &to_tell))?;
        thread::Builder::new().name("query".to_owned()).spawn(move || {
            pass_on(output, &said);
            drop(idle.upgrade().and_then(|idle| idle.pull(id)));
        })?;
        Ok(worker)
    }

    fn tell(&mut self, line: &str) {
        // If it has ended, that is heard from its output.
        if let Some(input) = &self.input {
            let _ = input.send(format!("{line}\n"));
        }
    }

    /// Asks, and waits for the answer. A worker that does not heed its limit is broken.
    pub(super) fn answer(
        &mut self,
        line: &str,
        limit: Duration,
        observer: &dyn Observer,
    ) -> Result<Answer, QueryError> {
        self.has_said_nothing = true;
        self.state = Work::Checking;
        self.tell(line);
        let asked = Instant::now();
        let mut stopped = Stopped::default();
        let mut answer = Answer::default();
        let mut told = asked;
        loop {
            match self.lines.recv_timeout(TICK) {
                Ok(line) => {
                    self.has_said_nothing = false;
                    if let Some(outcome) = self.hear(line, &mut answer, limit, observer)? {
                        return outcome.map(|()| answer);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if let Work::Running(since) = self.state
                && told.max(since).elapsed() >= TELLS_EACH
            {
                told = Instant::now();
                observer.runs(since.elapsed());
            }
            if observer.is_cancelled() {
                self.tell(CANCEL);
                return Err(QueryError::Cancelled);
            }
            let (since, limit) = match self.state {
                Work::Running(since) => (since, limit),
                Work::Checking => (asked, limit),
                Work::Preparing | Work::Done | Work::Broken => (asked, MAX_PREPARATION),
            };
            if since.elapsed() > limit + GRACE {
                self.state = Work::Broken;
                return Err(QueryError::Late(limit));
            }
            if stopped.is_for_long(self.child.id()) {
                self.state = Work::Broken;
                return Err(QueryError::Stopped);
            }
        }
    }

    /// It has ended without an answer.
    fn ended(&mut self) -> QueryError {
        let state = std::mem::replace(&mut self.state, Work::Broken);
        if state == Work::Preparing { QueryError::NotPrepared } else { QueryError::Ended }
    }

    /// Takes a line in; gives how it went, if it was the last one.
    fn hear(
        &mut self,
        line: String,
        answer: &mut Answer,
        limit: Duration,
        observer: &dyn Observer,
    ) -> io::Result<Option<Result<(), QueryError>>> {
        if line.starts_with('[') {
            answer.lines.push(line);
            return Ok(None);
        }
        match serde_json::from_str(&line).map_err(io::Error::other)? {
            Say::Progress { done, message } => observer.progress(done, &message),
            Say::Preparing => self.state = Work::Preparing,
            Say::Running => self.state = Work::Running(Instant::now()),
            Say::Sources(sources) => answer.sources = sources,
            Say::Columns(columns) => answer.columns = columns,
            Say::End { rows, has_more } => {
                self.state = Work::Done;
                (answer.rows, answer.has_more) = (rows, has_more);
                return Ok(Some(Ok(())));
            }
            Say::Error { kind, text } => {
                let was_preparing = self.state == Work::Preparing;
                self.state = Work::Done;
                let limit = if was_preparing { MAX_PREPARATION } else { limit };
                return Ok(Some(Err(QueryError::told(kind, text, limit))));
            }
        }
        Ok(None)
    }

    /// Waits until a worker whose answer nobody wants any more is free. One that does not heed is not.
    pub(super) fn is_free_soon(&mut self) -> bool {
        let since = Instant::now();
        let mut stopped = Stopped::default();
        let mut unwanted = Answer::default();
        loop {
            let patience = match self.state {
                Work::Preparing => MAX_PREPARATION + GRACE,
                Work::Checking | Work::Running(_) => HEED,
                Work::Done => return true,
                Work::Broken => return false,
            };
            match self.lines.recv_timeout(TICK) {
                Ok(line) => {
                    if self.hear(line, &mut unwanted, Duration::ZERO, &Patient).is_err() {
                        self.state = Work::Broken;
                    }
                    unwanted.lines.clear();
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => self.state = Work::Broken,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if since.elapsed() > patience || stopped.is_for_long(self.child.id()) {
                        self.state = Work::Broken;
                    }
                }
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_millis(500);
        // It ends when its input does.
        self.input = None;
        let since = Instant::now();
        while self.state == Work::Done
            && matches!(self.child.try_wait(), Ok(None))
            && since.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(mut input: ChildStdin, lines: &mpsc::Receiver<String>) {
    for line in lines {
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn pass_on(output: ChildStdout, lines: &mpsc::SyncSender<String>) {
    for line in BufReader::with_capacity(1 << 16, output).lines() {
        let Ok(line) = line else { return };
        if lines.send(line).is_err() {
            return;
        }
    }
}
