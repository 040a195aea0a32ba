//! Asks workers, starts them when there is something to ask, and ends them when they do not heed.

mod process;
mod turns;

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use forebay_store::{DatasetId, Viewer};
use forebay_system::private;

use self::{
    process::{Answer, Idle, Work, Worker},
    turns::{Length, Turn, Turns},
};
use crate::{
    Column, FileForm, Limits, Query, QueryError, Source,
    protocol::{Ask, MAX_PREPARATION, What},
};

/// How often whoever asked is asked whether the answer is still wanted.
const TICK: Duration = Duration::from_millis(5);

/// Answers queries, in processes of their own.
#[derive(Clone)]
pub struct Service {
    workers: Arc<Workers>,
    /// Whoever asks: what its queries may see, and whose turn it is.
    viewer: Viewer,
}

/// How workers are started, and those that there are.
struct Workers {
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
    /// What the names of tools in the query stood for.
    pub sources: Vec<Source>,
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
    /// What the names of tools in the query stood for.
    pub sources: Vec<Source>,
}

/// Whoever follows a question while it is answered.
pub trait Observer: Sync {
    /// Hears that it is its turn: until now others were asking.
    fn begins(&self) {}

    /// Hears how far the answer is, from 0 to 1, and what is being done.
    fn progress(&self, done: f64, message: &str);

    /// Hears each second that the query still runs, and for how long it has.
    fn runs(&self, _time: Duration) {}

    /// True if the answer is no longer wanted. Asked every few milliseconds.
    fn is_cancelled(&self) -> bool;
}

/// Waits for the answer, whatever comes.
pub struct Patient;

impl Observer for Patient {
    fn progress(&self, _done: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Service {
    /// A service for the store at `home`, whose workers are started as `program arguments…`, which
    /// must call [`crate::serve`]. Whoever asks sees everything.
    pub fn new(home: &Path, limits: Limits, program: PathBuf, arguments: Vec<OsString>) -> Self {
        let workers = Workers {
            home: home.to_owned(),
            limits,
            program,
            arguments,
            idle: Arc::default(),
            turns: Arc::default(),
        };
        Self { workers: Arc::new(workers), viewer: Viewer::default() }
    }

    /// The same service, with the same workers, for `viewer`.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Self {
        Self { workers: self.workers.clone(), viewer }
    }

    /// What a query may take.
    pub fn limits(&self) -> &Limits {
        &self.workers.limits
    }

    /// Makes the rows of a dataset, if they are not there.
    pub fn prepare(&self, dataset: &DatasetId, observer: &dyn Observer) -> Result<(), QueryError> {
        let what = What::Rows { dataset: dataset.clone() };
        self.ask(what, MAX_PREPARATION, observer).map(drop)
    }

    /// The first rows of a query: as many as `max_rows` and `max_bytes` allow, but one at least.
    pub fn select(
        &self,
        query: &Query,
        max_rows: u64,
        max_bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Selected, QueryError> {
        let what = What::Select { query: query.clone(), max_rows, max_bytes };
        let Answer { columns, lines, has_more, sources, .. } =
            self.ask(what, self.limits().time, observer)?;
        Ok(Selected { columns, rows: lines, has_more, sources })
    }

    /// The columns that a query gives.
    pub fn columns(
        &self,
        query: &Query,
        observer: &dyn Observer,
    ) -> Result<Vec<Column>, QueryError> {
        let what = What::Columns { query: query.clone() };
        Ok(self.ask(what, self.limits().time, observer)?.columns)
    }

    /// Writes the first rows of a query to a file that does not exist.
    pub fn write(
        &self,
        query: &Query,
        file: &Path,
        form: FileForm,
        max_rows: u64,
        observer: &dyn Observer,
    ) -> Result<WrittenFile, QueryError> {
        let what = What::Write { query: query.clone(), file: file.to_owned(), form, max_rows };
        let answer = self.ask(what, self.limits().time, observer)?;
        let Answer { columns, rows, has_more, sources, .. } = answer;
        Ok(WrittenFile { columns, rows, has_more, sources })
    }

    fn ask(
        &self,
        what: What,
        time: Duration,
        observer: &dyn Observer,
    ) -> Result<Answer, QueryError> {
        let Workers { home, limits, program, arguments, idle, turns } = &*self.workers;
        // If it cannot be made, the worker says so.
        let _ = private::make_folder(home);
        let length = what.length();
        let limits = Limits { time, ..limits.clone() };
        let ask = Ask { home: home.clone(), viewer: self.viewer.clone(), limits, what };
        let line = serde_json::to_string(&ask).map_err(io::Error::other)?;
        let turn = Turns::take(turns, self.viewer.session.as_deref(), length, observer)?;
        observer.begins();
        // One that has waited may be about to end, or not go on; a new one is and does.
        if let Some(mut worker) = idle.pop() {
            match worker.answer(&line, time, observer) {
                Err(QueryError::Ended | QueryError::Stopped) if worker.has_said_nothing => {}
                outcome => return self.done(worker, turn, outcome),
            }
        }
        let mut worker = Worker::start(program, arguments, Arc::downgrade(idle))
            .map_err(QueryError::NotStarted)?;
        let outcome = worker.answer(&line, time, observer);
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
            Work::Done => self.workers.idle.push(worker),
            Work::Broken => {}
            Work::Checking | Work::Preparing | Work::Running(_) => {
                // It may still be making rows, which the next question will want.
                let idle = self.workers.idle.clone();
                let wait = move || {
                    if worker.is_free_soon() {
                        idle.push(worker);
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

impl What {
    /// Our own questions, of one dataset, take a moment; anybody's may take as long as is allowed.
    fn length(&self) -> Length {
        match self {
            Self::Select { query, .. } if query.with_places => Length::Short,
            Self::Rows { .. } | Self::Columns { .. } | Self::Select { .. } | Self::Write { .. } => {
                Length::Long
            }
        }
    }
}
