//! The process that DuckDB runs in.
//!
//! A query is untrusted, and a database is a large program: what it takes is limited, and if it goes
//! wrong it ends alone, not with the client's session. A worker answers one question after the other
//! and ends when none comes for a while, which gives all of its memory back.

use std::{
    fs,
    io::{self, BufRead, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use duckdb::Connection;
use forebay_store::{Durability, Store, Viewer};
use forebay_system::{private, process::is_gone};

use crate::{
    QueryError, Source, comparisons, confine,
    engine::{Engine, View, failure},
    error::Kind,
    explain,
    guard::{self, Approved, Form},
    history, library,
    protocol::{Ask, CANCEL, Query, Say, What, say, write_line},
    rows::{self, Workshop},
    tables::{self, Kept, Meaning},
    views::{self, Files},
    watch::Watch,
};

/// How long a worker waits for its first question.
const FIRST: Duration = Duration::from_secs(60);

/// Answers what comes on standard input, until it closes or nothing comes for a while.
pub fn serve() -> Result<(), QueryError> {
    confine::for_good();
    // Whatever DuckDB writes is for its owner alone.
    private::make_all_private();
    let watch = Arc::new(Watch::default());
    let spill = Arc::new(Spill::default());
    let asks = listen(watch.clone(), spill.clone());
    let timed = watch.clone();
    thread::spawn(move || timed.time());
    let mut worker = Worker { watch, spill, store: None, parser: None, engine: None };
    let mut idle = FIRST;
    while let Ok(ask) = asks.recv_timeout(idle) {
        idle = ask.limits.idle;
        let said = match worker.answer(&ask) {
            Ok(said) => said,
            Err(error) => Say::Error { kind: error.kind(), text: with_causes(&error) },
        };
        worker.watch.end();
        say(&said)?;
        if is_spent(&said) || confine::is_crowded(&ask.limits) {
            break;
        }
    }
    worker.spill.remove();
    Ok(())
}

/// True if a worker is of no more use: what was allocated may not be given back, or the database is no
/// longer whole. Another takes its place.
fn is_spent(said: &Say) -> bool {
    const SIGNS: [&str; 4] = ["Out of Memory", "bad_alloc", "INTERNAL Error", "FATAL Error"];
    match said {
        Say::Error { kind: Kind::Late, .. } => true,
        Say::Error { text, .. } => SIGNS.iter().any(|sign| text.contains(sign)),
        _ => false,
    }
}

struct Worker {
    watch: Arc<Watch>,
    /// Where it writes what does not fit into memory.
    spill: Arc<Spill>,
    /// The store of the last question.
    store: Option<(PathBuf, Store)>,
    /// A database that is asked for nothing but its parser's word.
    parser: Option<Connection>,
    /// The database of the last query, if it is as good as new.
    engine: Option<Engine>,
}

impl Worker {
    fn answer(&mut self, ask: &Ask) -> Result<Say, QueryError> {
        confine::to(&ask.limits);
        // Whoever asks has seen to it that it is there; if it is gone since, it stays so.
        if !ask.home.is_dir() {
            let home = ask.home.display();
            return Err(QueryError::Refused(format!("What was kept in {home} has been removed.")));
        }
        let can_write = Store::can_write(&ask.home);
        let scratch = forebay_store::scratch(&ask.home)?;
        library::load(&if can_write { ask.home.join("lib") } else { scratch.clone() })?;
        let spill = self.spill.within(&scratch)?;
        let store = match self.store.take() {
            Some((home, store)) if home == ask.home => store,
            _ if can_write => Store::open(&ask.home, Durability::RightAfter)?,
            _ => Store::open_to_read(&ask.home, Durability::RightAfter)?,
        };
        let outcome = self.answer_from(&store, &spill, ask);
        self.store = Some((ask.home.clone(), store));
        outcome
    }

    fn answer_from(&mut self, store: &Store, spill: &Path, ask: &Ask) -> Result<Say, QueryError> {
        let (limits, watch) = (&ask.limits, self.watch.clone());
        let workshop = Workshop { store, limits, spill, watch: &watch };
        let (query, out) = match &ask.what {
            What::Rows { dataset } => {
                self.watch.prepare()?;
                say(&Say::Preparing)?;
                let dataset = store.dataset(dataset)?;
                for index in 0..tables::facts(&dataset).len().max(1) {
                    rows::file(workshop, &tables::Table { dataset: dataset.clone(), index })?;
                }
                return Ok(Say::End { rows: 0, has_more: false });
            }
            What::Columns { query } | What::Select { query, .. } => (query, None),
            What::Write { query, file, .. } => (query, Some(file)),
        };
        if self.parser.is_none() {
            self.parser = Some(Connection::open_in_memory().map_err(failure)?);
        }
        let parser = self.parser.as_ref().ok_or(QueryError::Ended)?;
        let (approved, left) = checked(&self.watch, parser, &query.sql, ask.limits.time)?;
        let is_table = !matches!(ask.what, What::Select { .. });
        if is_table && approved.form == Form::Explain {
            return Err(QueryError::NotKept);
        }
        self.watch.prepare()?;
        say(&Say::Preparing)?;
        let mut files = Files { workshop, paths: out.cloned().into_iter().collect() };
        let (views, sources) = views_of(&ask.viewer, query, &approved, &mut files)?;
        let paths = files.paths;
        say(&Say::Sources(sources))?;
        self.watch.run(left)?;
        say(&Say::Running)?;
        let engine = match self.engine.take() {
            Some(engine) if engine.reaches(&paths) => engine,
            _ => Engine::guarded(&ask.limits, spill, paths)?,
        };
        self.watch.interrupt_with(&engine.connection);
        engine.define(&views)?;
        // What we ask for ourselves, with places, is right as it is.
        if approved.form == Form::Select && !query.with_places {
            comparisons::check(&engine, parser, &approved.tree, &views)?;
        }
        let outcome = run(&engine, &approved, &ask.what);
        let outcome = match outcome {
            Err(_) if self.watch.is_stopped() => Err(self.watch.why()),
            Err(error) => Err(explain::error(&engine, &query.sql, &views, &error)),
            Ok(said) => Ok(said),
        };
        // A pivot has left its types behind.
        if approved.form != Form::Pivot {
            self.engine = Some(engine);
        }
        outcome
    }
}

/// What the names of a query stand for.
fn views_of(
    viewer: &Viewer,
    query: &Query,
    approved: &Approved,
    files: &mut Files<'_>,
) -> Result<(Vec<View>, Vec<Source>), QueryError> {
    let kept = Kept { store: files.workshop.store, viewer };
    let (mut views, mut sources) = (Vec::new(), Vec::new());
    for name in &approved.tables {
        let meaning = kept.find(query.dataset.as_ref(), name)?;
        if let Some(Meaning::Latest(table)) = &meaning {
            sources.push(kept.source(name, &table.dataset));
        }
        let select = match &meaning {
            Some(Meaning::One(table) | Meaning::Latest(table)) => {
                Some(views::one(table, files, query.with_places)?)
            }
            // `None` if what it stood for has just been removed.
            Some(Meaning::History(history)) => history::select(history, files)?,
            None => None,
        };
        match select {
            Some(select) => {
                let (schema, name) = (name.schema.clone(), name.name.clone());
                views.push(View { schema, name, select });
            }
            // Of a pivot, every word is looked up.
            None if approved.form == Form::Pivot => {}
            None => {
                let said = kept.unknown(query.dataset.as_ref(), &name.to_string());
                return Err(QueryError::Refused(said));
            }
        }
    }
    Ok((views, sources))
}

/// What a text is, if it may run, and how much of its time is left: to find that out may take as long as
/// to run it.
fn checked(
    watch: &Watch,
    parser: &Connection,
    sql: &str,
    time: Duration,
) -> Result<(Approved, Duration), QueryError> {
    let begun = Instant::now();
    watch.run(time)?;
    watch.interrupt_with(parser);
    let outcome = guard::check(parser, sql);
    if watch.is_stopped() {
        return Err(watch.why());
    }
    let approved = outcome.map_err(|no| QueryError::Refused(no.to_string()))?;
    Ok((approved, time.saturating_sub(begun.elapsed())))
}

/// The directory for what does not fit into memory; each worker has its own.
#[derive(Default)]
struct Spill(OnceLock<PathBuf>);

impl Spill {
    fn within(&self, all: &Path) -> io::Result<PathBuf> {
        if let Some(path) = self.0.get() {
            return Ok(path.clone());
        }
        let own = all.join(process::id().to_string());
        private::make_folder(&own)?;
        remove_left_behind(all);
        Ok(self.0.get_or_init(|| own).clone())
    }

    fn remove(&self) {
        if let Some(path) = self.0.get() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes what workers have left that were ended from outside.
fn remove_left_behind(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        // A worker's directory, or the file of a result: `17`, `result-17-1`.
        let number = |name: &str| name.split('-').find_map(|part| part.parse().ok());
        if name.to_str().and_then(number).is_some_and(is_gone) {
            let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
        }
    }
}

fn run(engine: &Engine, approved: &Approved, what: &What) -> duckdb::Result<Say> {
    let form = approved.form;
    // If nobody listens any more, nobody misses anything.
    match what {
        What::Rows { .. } => Ok(Say::End { rows: 0, has_more: false }),
        What::Columns { .. } => {
            let sql = engine.settled(form, &approved.sql)?;
            let _ = say(&Say::Columns(engine.describe(&sql)?));
            Ok(Say::End { rows: 0, has_more: false })
        }
        What::Select { max_rows, max_bytes, .. } => {
            let sql = engine.settled(form, &approved.sql)?;
            let found = engine.select(form, &sql, *max_rows, *max_bytes)?;
            let rows = found.rows.len() as u64;
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            let _ = write_line(&mut out, &Say::Columns(found.columns));
            for row in found.rows {
                let _ = out.write_all(row.as_bytes()).and_then(|()| out.write_all(b"\n"));
            }
            let _ = out.flush();
            Ok(Say::End { rows, has_more: found.has_more })
        }
        What::Write { file, form: file_form, max_rows, .. } => {
            let sql = engine.settled(form, &approved.sql)?;
            let columns = engine.describe(&sql)?;
            let rows = engine.write(&sql, columns.len(), file, *file_form, *max_rows)?;
            let has_more = rows >= *max_rows && engine.has_more(&sql, *max_rows)?;
            let _ = say(&Say::Columns(columns));
            Ok(Say::End { rows, has_more })
        }
    }
}

/// Hands questions on as they come, and heeds what must not wait behind them.
fn listen(watch: Arc<Watch>, spill: Arc<Spill>) -> mpsc::Receiver<Ask> {
    let (sender, asks) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if line == CANCEL {
                watch.cancel();
            } else if let Ok(ask) = serde_json::from_str(&line) {
                // A cancellation that came too late was not for this one.
                watch.end();
                let _ = sender.send(ask);
            }
        }
        // Whoever asked is gone.
        spill.remove();
        process::exit(0);
    });
    asks
}

fn with_causes(error: &QueryError) -> String {
    use std::fmt::Write as _;
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
