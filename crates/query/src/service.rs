//! Asks workers, starts them when there is something to ask, and ends them when they do not heed.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError, Weak, mpsc},
    thread,
    time::{Duration, Instant},
};

use forebay_store::DatasetId;

use crate::{
    Column, FileForm, Limits, Query, QueryError,
    protocol::{Ask, CANCEL, MAX_PREPARATION, Say, What},
};

/// How long a worker may take beyond its limit before it is ended.
const GRACE: Duration = Duration::from_secs(3);
/// How many questions are worked on at a time.
const MAX_WORKERS: usize = 4;
/// How often whoever asked is asked whether the answer is still wanted.
const TICK: Duration = Duration::from_millis(5);

/// Answers queries, in processes of their own.
pub struct Service {
    home: PathBuf,
    limits: Limits,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Workers that have nothing to do.
    idle: Arc<Idle>,
    turns: Arc<Turns>,
}

/// The first rows of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Each row as a JSON array.
    pub rows: Vec<String>,
    /// Whether there are more.
    pub has_more: bool,
}

/// A result that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its columns.
    pub columns: Vec<Column>,
    /// How many rows there are.
    pub rows: u64,
    /// Whether the result has more, which are left out.
    pub has_more: bool,
}

/// How a question is going: what it is told, and what it can be told.
pub trait Conduct: Sync {
    /// How far it is, from 0 to 1, and with what.
    fn progress(&self, done: f64, message: &str);

    /// True if the answer is no longer wanted. Asked every few milliseconds.
    fn is_cancelled(&self) -> bool;
}

/// Waits for the answer, whatever comes.
pub struct Patient;

impl Conduct for Patient {
    fn progress(&self, _done: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Service {
    /// A service for the store at `home`, whose workers are started as `program arguments…`, which
    /// must call [`crate::serve`].
    pub fn new(home: &Path, limits: Limits, program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self {
            home: home.to_owned(),
            limits,
            program,
            arguments,
            idle: Arc::default(),
            turns: Arc::default(),
        }
    }

    /// What a query may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes the rows of a dataset, if they are not there.
    pub fn prepare(&self, dataset: &DatasetId, conduct: &dyn Conduct) -> Result<(), QueryError> {
        let what = What::Rows { dataset: dataset.clone() };
        self.ask(what, MAX_PREPARATION, conduct).map(drop)
    }

    /// The first rows of a query: as many as `max_rows` and `max_bytes` allow, but one at least.
    pub fn select(
        &self,
        query: &Query,
        max_rows: u64,
        max_bytes: u64,
        conduct: &dyn Conduct,
    ) -> Result<Selected, QueryError> {
        let what = What::Select { query: query.clone(), max_rows, max_bytes };
        let answer = self.ask(what, self.limits.time, conduct)?;
        Ok(Selected { columns: answer.columns, rows: answer.lines, has_more: answer.has_more })
    }

    /// The columns that a query gives.
    pub fn columns(&self, query: &Query, conduct: &dyn Conduct) -> Result<Vec<Column>, QueryError> {
        let what = What::Columns { query: query.clone() };
        Ok(self.ask(what, self.limits.time, conduct)?.columns)
    }

    /// Writes the first rows of a query to a file that does not exist.
    pub fn write(
        &self,
        query: &Query,
        file: &Path,
        form: FileForm,
        max_rows: u64,
        conduct: &dyn Conduct,
    ) -> Result<WrittenFile, QueryError> {
        let what = What::Write { query: query.clone(), file: file.to_owned(), form, max_rows };
        let answer = self.ask(what, self.limits.time, conduct)?;
        let Answer { columns, rows, has_more, .. } = answer;
        Ok(WrittenFile { columns, rows, has_more })
    }

    fn ask(&self, what: What, time: Duration, conduct: &dyn Conduct) -> Result<Answer, QueryError> {
        // If it cannot be made, the worker says so.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(&self.home);
        let limits = Limits { time, ..self.limits.clone() };
        let ask = Ask { home: self.home.clone(), limits, what };
        let line = serde_json::to_string(&ask).map_err(io::Error::other)?;
        let turn = Turns::take(&self.turns, conduct)?;
        // One that has waited may be about to end; a new one is not.
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(mut worker) = waiting
            && worker.tell(&line).is_ok()
        {
            match worker.answer(time, conduct) {
                Err(QueryError::Ended) if worker.has_said_nothing => {}
                outcome => return self.done(worker, turn, outcome),
            }
        }
        let mut worker = Worker::start(&self.program, &self.arguments, Arc::downgrade(&self.idle))
            .map_err(QueryError::NotStarted)?;
        worker.tell(&line)?;
        let outcome = worker.answer(time, conduct);
        self.done(worker, turn, outcome)
    }

    /// Keeps a worker for the next question, once it is free.
    fn done(
        &self,
        mut worker: Worker,
        turn: Turn,
        outcome: Result<Answer, QueryError>,
    ) -> Result<Answer, QueryError> {
        match worker.state {
            Work::Done => push(&self.idle, worker),
            Work::Broken => {}
            Work::Preparing | Work::Running(_) => {
                // It may still be making rows, which the next question will want.
                let idle = self.idle.clone();
                let wait = move || {
                    if worker.is_free_soon() {
                        push(&idle, worker);
                    }
                    drop(turn);
                };
                // Without a thread it is ended here.
                let _ = thread::Builder::new().name("query".to_owned()).spawn(wait);
            }
        }
        outcome
    }
}

/// Lets only so many work at a time: each worker may take as much memory as a query may have.
#[derive(Default)]
struct Turns {
    taken: Mutex<usize>,
    given_back: Condvar,
}

struct Turn(Arc<Turns>);

impl Turns {
    fn take(turns: &Arc<Self>, conduct: &dyn Conduct) -> Result<Turn, QueryError> {
        let mut taken = turns.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken >= MAX_WORKERS {
            if conduct.is_cancelled() {
                return Err(QueryError::Cancelled);
            }
            let waited = turns.given_back.wait_timeout(taken, TICK);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken += 1;
        Ok(Turn(turns.clone()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.given_back.notify_one();
    }
}

type Idle = Mutex<Vec<Worker>>;

fn push(idle: &Idle, worker: Worker) {
    let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(worker);
}

fn pull(idle: &Idle, id: u32) -> Option<Worker> {
    let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
    let place = idle.iter().position(|worker| worker.child.id() == id)?;
    Some(idle.remove(place))
}

#[derive(Default)]
struct Answer {
    columns: Vec<Column>,
    lines: Vec<String>,
    rows: u64,
    has_more: bool,
}

struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    has_said_nothing: bool,
    state: Work,
}

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
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
    fn start(program: &Path, arguments: &[OsString], idle: Weak<Idle>) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, lines) = mpsc::sync_channel(1024);
        let id = child.id();
        thread::Builder::new().name("query".to_owned()).spawn(move || {
            pass_on(output, &sender);
            drop(idle.upgrade().and_then(|idle| pull(&idle, id)));
        })?;
        Ok(Self { child, input, lines, has_said_nothing: true, state: Work::Done })
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(line.as_bytes())?;
        input.write_all(b"\n")?;
        input.flush()
    }

    /// Waits for the answer. A worker that does not heed its limit is ended.
    fn answer(&mut self, limit: Duration, conduct: &dyn Conduct) -> Result<Answer, QueryError> {
        self.has_said_nothing = true;
        self.state = Work::Preparing;
        let asked = Instant::now();
        let mut answer = Answer::default();
        loop {
            match self.lines.recv_timeout(TICK) {
                Ok(line) => {
                    self.has_said_nothing = false;
                    if let Some(outcome) = self.hear(line, &mut answer, limit, conduct)? {
                        return outcome.map(|()| answer);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    self.state = Work::Broken;
                    return Err(QueryError::Ended);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if conduct.is_cancelled() {
                if self.tell(CANCEL).is_err() {
                    self.state = Work::Broken;
                }
                return Err(QueryError::Cancelled);
            }
            let is_late = match self.state {
                Work::Running(since) => since.elapsed() > limit + GRACE,
                Work::Preparing | Work::Done | Work::Broken => {
                    asked.elapsed() > MAX_PREPARATION + GRACE
                }
            };
            if is_late {
                self.state = Work::Broken;
                return Err(QueryError::Late(limit));
            }
        }
    }

    /// Takes a line in; gives how it went, if it was the last one.
    fn hear(
        &mut self,
        line: String,
        answer: &mut Answer,
        limit: Duration,
        conduct: &dyn Conduct,
    ) -> io::Result<Option<Result<(), QueryError>>> {
        if line.starts_with('[') {
            answer.lines.push(line);
            return Ok(None);
        }
        match serde_json::from_str(&line).map_err(io::Error::other)? {
            Say::Progress { done, message } => conduct.progress(done, &message),
            Say::Running => self.state = Work::Running(Instant::now()),
            Say::Columns(columns) => answer.columns = columns,
            Say::End { rows, has_more } => {
                self.state = Work::Done;
                (answer.rows, answer.has_more) = (rows, has_more);
                return Ok(Some(Ok(())));
            }
            Say::Error { kind, text } => {
                self.state = Work::Done;
                return Ok(Some(Err(QueryError::told(kind, text, limit))));
            }
        }
        Ok(None)
    }

    /// Waits until a worker whose answer nobody wants any more is free. One that does not heed is not.
    fn is_free_soon(&mut self) -> bool {
        let since = Instant::now();
        let mut unwanted = Answer::default();
        loop {
            let patience = match self.state {
                Work::Preparing => MAX_PREPARATION + GRACE,
                Work::Running(_) => GRACE,
                Work::Done => return true,
                Work::Broken => return false,
            };
            let left = patience.saturating_sub(since.elapsed());
            let Ok(line) = self.lines.recv_timeout(left) else {
                self.state = Work::Broken;
                return false;
            };
            if self.hear(line, &mut unwanted, Duration::ZERO, &Patient).is_err() {
                self.state = Work::Broken;
            }
            unwanted.lines.clear();
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

fn pass_on(output: ChildStdout, lines: &mpsc::SyncSender<String>) {
    for line in BufReader::with_capacity(1 << 16, output).lines() {
        let Ok(line) = line else { return };
        if lines.send(line).is_err() {
            return;
        }
    }
}
