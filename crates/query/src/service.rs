//! Asks workers, starts them when there is something to ask, and ends them when they do not heed.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use forebay_store::DatasetId;

use crate::{
    Column, FileForm, Limits, Query, QueryError,
    protocol::{Ask, CANCEL, Say, What},
};

/// How long a worker may take beyond its limit before it is ended.
const GRACE: Duration = Duration::from_secs(3);
/// How long making rows may take.
const MAX_PREPARATION: Duration = Duration::from_secs(600);

/// Answers queries, in processes of their own.
pub struct Service {
    home: PathBuf,
    limits: Limits,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Workers that have nothing to do.
    idle: Mutex<Vec<Worker>>,
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
        Self { home: home.to_owned(), limits, program, arguments, idle: Mutex::default() }
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

    /// The first rows of a query.
    pub fn select(
        &self,
        query: &Query,
        max_rows: u64,
        conduct: &dyn Conduct,
    ) -> Result<Selected, QueryError> {
        let what = What::Select { query: query.clone(), max_rows };
        let answer = self.ask(what, self.limits.time, conduct)?;
        Ok(Selected { columns: answer.columns, rows: answer.lines, has_more: answer.has_more })
    }

    /// Writes the rows of a query to a file that does not exist.
    pub fn write(
        &self,
        query: &Query,
        file: &Path,
        form: FileForm,
        conduct: &dyn Conduct,
    ) -> Result<WrittenFile, QueryError> {
        let max_rows = self.limits.max_rows;
        let what = What::Write { query: query.clone(), file: file.to_owned(), form, max_rows };
        let answer = self.ask(what, self.limits.time, conduct)?;
        let (rows, has_more) = (answer.rows.min(max_rows), answer.has_more);
        Ok(WrittenFile { columns: answer.columns, rows, has_more })
    }

    fn ask(&self, what: What, time: Duration, conduct: &dyn Conduct) -> Result<Answer, QueryError> {
        let limits = Limits { time, ..self.limits.clone() };
        let ask = Ask { home: self.home.clone(), limits, what };
        let line = serde_json::to_string(&ask).map_err(io::Error::other)?;
        // One that has waited may be about to end; a new one is not.
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(mut worker) = waiting
            && worker.tell(&line).is_ok()
        {
            match worker.answer(time, conduct) {
                Err(QueryError::Ended) if worker.has_said_nothing => {}
                outcome => return self.done(worker, outcome),
            }
        }
        let mut worker =
            Worker::start(&self.program, &self.arguments).map_err(QueryError::NotStarted)?;
        worker.tell(&line)?;
        let outcome = worker.answer(time, conduct);
        self.done(worker, outcome)
    }

    /// Keeps a worker for the next question, if it is well.
    fn done(
        &self,
        worker: Worker,
        outcome: Result<Answer, QueryError>,
    ) -> Result<Answer, QueryError> {
        if worker.is_well {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
        outcome
    }
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
    is_well: bool,
}

impl Worker {
    fn start(program: &Path, arguments: &[OsString]) -> io::Result<Self> {
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
        thread::Builder::new().name("query".to_owned()).spawn(move || pass_on(output, &sender))?;
        Ok(Self { child, input, lines, has_said_nothing: true, is_well: true })
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        self.has_said_nothing = true;
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(line.as_bytes())?;
        input.write_all(b"\n")?;
        input.flush()
    }

    /// Waits for the answer. A worker that does not heed the limit or the wish to cancel is ended.
    fn answer(&mut self, limit: Duration, conduct: &dyn Conduct) -> Result<Answer, QueryError> {
        const TICK: Duration = Duration::from_millis(5);
        let mut answer = Answer::default();
        let mut cancelled: Option<Instant> = None;
        let mut last_heard = Instant::now();
        loop {
            match self.lines.recv_timeout(TICK) {
                Ok(line) if line.starts_with('[') => answer.lines.push(line),
                Ok(line) => {
                    self.has_said_nothing = false;
                    last_heard = Instant::now();
                    match serde_json::from_str(&line).map_err(io::Error::other)? {
                        Say::Progress { done, message } => conduct.progress(done, &message),
                        Say::Columns(columns) => answer.columns = columns,
                        Say::End { rows, has_more } => {
                            (answer.rows, answer.has_more) = (rows, has_more);
                            return Ok(answer);
                        }
                        Say::Error { kind, text } => {
                            return Err(QueryError::told(kind, text, limit));
                        }
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    self.is_well = false;
                    return Err(QueryError::Ended);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if cancelled.is_none() && conduct.is_cancelled() {
                cancelled = Some(Instant::now());
                let has_heard = self.tell(CANCEL);
                self.has_said_nothing = false;
                if has_heard.is_err() {
                    self.is_well = false;
                    return Err(QueryError::Cancelled);
                }
            }
            let is_deaf = cancelled.is_some_and(|since| since.elapsed() > GRACE);
            // Making rows comes before the query and has a limit of its own.
            let is_late = last_heard.elapsed() > limit.max(MAX_PREPARATION) + GRACE;
            if is_deaf || is_late {
                self.is_well = false;
                let _ = self.child.kill();
                return Err(if is_deaf { QueryError::Cancelled } else { QueryError::Late(limit) });
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
        while self.is_well
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
