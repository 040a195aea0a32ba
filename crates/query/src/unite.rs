//! Brings the rows of many results of a tool into one file, a segment.
//!
//! Records are written down as JSON lines, as they are for the rows of a single result, but those of some
//! hundred results one after the other: a database takes as long to begin with a file as to read
//! thousands of records. Every value stays just as it is, so that a history says the same however it is
//! read ([`About`]). A result that cannot be united is noted, and left alone.

mod lines;

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread::{self, ScopedJoinHandle},
};

use parking_lot::Mutex;

use duckdb::Connection;
use forebay_store::{DatasetId, Origin, Outline, Segment};

use crate::{
    Limits, QueryError,
    columns::{self, Made, literal},
    engine::{self, Engine, WIDE, failure},
    rows::{self, Alone, Workshop},
    segments::{self, About, OURS},
};

use self::lines::{Member, Stack, gather};

/// So many results are in a segment at most: as many are united again when one of them is removed.
const FULL: usize = 512;

/// The payloads of the results in a segment are about this long together at most.
const FULL_BYTES: u64 = 64_000_000;

/// A longer result gains nothing.
const LARGE_BYTES: u64 = 4_000_000;

/// If there are more small segments than this, they are merged.
const MANY_SMALL: usize = 8;

/// A segment whose file is longer is not small. Rows take a fraction of what their payloads do.
const SMALL_BYTES: u64 = 4_000_000;

/// Unites results of a tool, as far as that can be done. What is left is read one by one.
pub(crate) fn unite(
    workshop: Workshop<'_>,
    origin: &Origin,
    results: &[&Outline],
) -> Result<(), QueryError> {
    match try_to_unite(workshop, origin, results) {
        Err(_) if workshop.watch.is_stopped() => Err(workshop.watch.why()),
        Err(error) => {
            tracing::warn!(%error, "the results of a tool cannot be united");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn try_to_unite(
    workshop: Workshop<'_>,
    origin: &Origin,
    results: &[&Outline],
) -> Result<(), QueryError> {
    let store = workshop.store;
    store.make_united_folder()?;
    let _alone = Alone::with(&store.united_list(origin), workshop.watch)?;
    // Another process may have done so meanwhile.
    let known: HashSet<&DatasetId> = results.iter().map(|result| &result.id).collect();
    let there = store.united(origin, &|id| known.contains(id))?;
    let mut taken = there.apart;
    taken.extend(there.segments.into_iter().flat_map(|segment| segment.datasets));
    let left = results.iter().copied().filter(|result| !taken.contains(&result.id));
    let (fitting, large): (Vec<_>, Vec<_>) = left.partition(|result| result.bytes <= LARGE_BYTES);
    let of = fitting.len();
    let shared = Shared { origin, list: Mutex::default(), done: AtomicUsize::new(0), of };
    let mut apart: Vec<DatasetId> = large.into_iter().map(|result| result.id.clone()).collect();
    let outcome = in_parallel(workshop, &shared, &chunks(&fitting), &mut apart);
    if !apart.is_empty() {
        store.set_apart(origin, apart)?;
    }
    outcome?;
    Uniting::new(workshop, &shared, 0).merge()
}

/// Unites each chunk, several at the same time: a database reads the lines of one with little more than
/// one thread.
fn in_parallel(
    workshop: Workshop<'_>,
    shared: &Shared<'_>,
    chunks: &[&[&Outline]],
    apart: &mut Vec<DatasetId>,
) -> Result<(), QueryError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let most = workshop.limits.threads.clamp(1, cores);
    let threads = most.min(chunks.len()).max(1);
    let limits = Limits {
        threads: most / threads,
        memory_bytes: workshop.limits.memory_bytes / threads as u64,
        ..workshop.limits.clone()
    };
    let workshop = Workshop { limits: &limits, ..workshop };
    let next = AtomicUsize::new(0);
    let work = |number: usize| {
        let mut work = Uniting::new(workshop, shared, number);
        let mut outcome = Ok(());
        while let (Ok(()), Some(chunk)) = (&outcome, chunks.get(next.fetch_add(1, Relaxed))) {
            outcome = work.make(chunk);
        }
        (work.apart, outcome)
    };
    let ended = thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        started.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut all = Ok(());
    for ended in ended {
        let (own, outcome) = ended.map_err(|_| QueryError::Failed("a thread ended".to_owned()))?;
        apart.extend(own);
        all = all.and(outcome);
    }
    all
}

/// What those who unite results have in common.
struct Shared<'a> {
    origin: &'a Origin,
    /// Held by who changes the list of segments.
    list: Mutex<()>,
    done: AtomicUsize,
    of: usize,
}

/// Divides results into as many as a segment may have.
fn chunks<'c, 'r>(results: &'c [&'r Outline]) -> Vec<&'c [&'r Outline]> {
    let (mut chunks, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, result) in results.iter().enumerate() {
        if at - start == FULL || at > start && bytes + result.bytes > FULL_BYTES {
            chunks.push(&results[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += result.bytes;
    }
    chunks.push(&results[start..]);
    chunks
}

struct Uniting<'a> {
    workshop: Workshop<'a>,
    shared: &'a Shared<'a>,
    /// Tells its files from those of others.
    number: usize,
    engine: Option<Engine>,
    /// Those that cannot be united.
    apart: Vec<DatasetId>,
}

/// What becomes a segment.
struct Lot<T> {
    /// The columns of its file.
    columns: Vec<Made>,
    /// What it is made from, with the places of the columns there.
    sources: Vec<(T, Vec<usize>)>,
}

impl<T> Default for Lot<T> {
    fn default() -> Self {
        Self { columns: Vec::new(), sources: Vec::new() }
    }
}

impl<T> Lot<T> {
    /// Takes a source with these columns; gives it back if the file would have too many.
    fn take(&mut self, source: T, own: &[Made]) -> Result<(), T> {
        let mut columns = self.columns.clone();
        let places = columns::places(&mut columns, own);
        if !self.sources.is_empty() && leaves(&columns) > WIDE.max(leaves(own)) {
            return Err(source);
        }
        self.columns = columns;
        self.sources.push((source, places));
        Ok(())
    }

    /// The columns of the file, as a source has them.
    fn selected(&self, places: &[usize]) -> String {
        let mut selected = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let kind = column.kind.sql();
            let own = places.iter().position(|it| *it == place);
            let value = own.map_or_else(|| "NULL".to_owned(), segments::in_file);
            selected.push(format!("{value}::{kind} AS {}", segments::in_file(place)));
        }
        selected.join(", ")
    }
}

fn leaves(columns: &[Made]) -> usize {
    columns.iter().map(|column| column.kind.leaves()).sum()
}

impl<'a> Uniting<'a> {
    fn new(workshop: Workshop<'a>, shared: &'a Shared<'a>, number: usize) -> Self {
        Self { workshop, shared, number, engine: None, apart: Vec::new() }
    }

    /// The file of a segment that is being made.
    fn file(&self) -> PathBuf {
        self.workshop.spill.join(format!("segment-{}.parquet", self.number))
    }

    /// Makes the segments of a chunk; more than one, if the results differ very much.
    fn make(&mut self, chunk: &[&Outline]) -> Result<(), QueryError> {
        let mut misfits = Vec::new();
        for lot in self.lots(chunk)? {
            let Shared { done, of, .. } = self.shared;
            #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
            let share = done.load(Relaxed) as f64 / (*of).max(1) as f64;
            self.workshop.watch.progress(share, &format!("uniting {of} results"));
            let members: Vec<&Outline> = lot.members().map(|member| member.result).collect();
            if self.write(&lot)? {
                done.fetch_add(members.len(), Relaxed);
            } else {
                misfits.push(members);
            }
        }
        for members in misfits {
            if let [alone] = members.as_slice() {
                self.apart.push(alone.id.clone());
            } else {
                // The values of most of them do fit their types.
                let (some, others) = members.split_at(members.len() / 2);
                self.make(some)?;
                self.make(others)?;
            }
        }
        Ok(())
    }

    /// Writes the records of a chunk down.
    fn lots<'r>(&mut self, chunk: &[&'r Outline]) -> Result<Vec<Lot<Stack<'r>>>, QueryError> {
        let (stacks, apart) = gather(self.workshop, chunk, self.number)?;
        self.apart.extend(apart);
        let (mut lots, mut lot) = (Vec::new(), Lot::default());
        for stack in stacks {
            let columns = stack.columns.clone();
            if let Err(stack) = lot.take(stack, &columns) {
                lots.push(std::mem::take(&mut lot));
                let _ = lot.take(stack, &columns);
            }
        }
        lots.push(lot);
        lots.retain(|lot| !lot.sources.is_empty());
        Ok(lots)
    }

    /// Makes a segment; `false` if a value does not fit the type that it should have.
    fn write(&mut self, lot: &Lot<Stack<'_>>) -> Result<bool, QueryError> {
        let rows = lot.sources.iter().map(|(stack, _)| stack.rows).sum::<u64>();
        let file = self.file();
        let prepared = lot.variables();
        match self.copy(&prepared, &lot.select(), &lot.columns, &file)? {
            None => return Ok(false),
            Some(count) if count != rows => {
                return Err(QueryError::Failed(format!(
                    "{count} rows were made of {rows} records"
                )));
            }
            Some(_) => {}
        }
        let (datasets, about) = lot.about();
        self.put(&file, datasets, &about, &[])?;
        Ok(true)
    }

    fn put(
        &self,
        file: &Path,
        datasets: Vec<DatasetId>,
        about: &About,
        made_from: &[PathBuf],
    ) -> Result<(), QueryError> {
        let about = serde_json::to_value(about).map_err(io::Error::other)?;
        let Shared { origin, list, .. } = self.shared;
        let _alone = list.lock();
        Ok(self.workshop.store.put_segment(origin, file, datasets, about, made_from)?)
    }

    /// Writes rows to a file; if that takes too much memory, once more with as little as can be. `None`
    /// if a value does not fit its type.
    fn copy(
        &mut self,
        prepared: &str,
        select: &str,
        columns: &[Made],
        file: &Path,
    ) -> Result<Option<u64>, QueryError> {
        let Workshop { limits, spill, watch, .. } = self.workshop;
        let mut is_lean = leaves(columns) > WIDE;
        loop {
            // Each thread has its own of every column.
            let engine = match self.engine.take() {
                Some(engine) if !is_lean => engine,
                _ => {
                    let threads = if is_lean { 1 } else { limits.threads };
                    let limits = Limits { threads, ..limits.clone() };
                    Engine::trusted(&limits, spill, BTreeSet::new())?
                }
            };
            watch.interrupt_with(&engine.connection);
            let copied = copy(&engine.connection, prepared, select, is_lean, file);
            if copied.is_ok() && !is_lean {
                self.engine = Some(engine);
            }
            match copied {
                Err(_) if watch.is_stopped() => return Err(watch.why()),
                Err(error) if rows::is_too_much(&error) && !is_lean => is_lean = true,
                Err(error) if rows::is_misfit(&error) => return Ok(None),
                other => return other.map(Some).map_err(failure),
            }
            let _ = fs::remove_file(file);
        }
    }

    /// Merges small segments, if there are many.
    fn merge(&mut self) -> Result<(), QueryError> {
        let store = self.workshop.store;
        let united = store.united(self.shared.origin, &|_| true)?;
        let read = |segment: Segment| About::read(&segment).map(|about| (segment, about));
        // The newest were made last.
        let all = united.segments.into_iter().rev().filter_map(read);
        let is_small = |(segment, _): &(Segment, About)| {
            let is_short = fs::metadata(&segment.path).is_ok_and(|file| file.len() < SMALL_BYTES);
            is_short && segment.datasets.len() < FULL / 2
        };
        let small: Vec<_> = all.filter(is_small).collect();
        if small.len() <= MANY_SMALL {
            return Ok(());
        }
        let (mut lots, mut lot, mut count) = (Vec::new(), Lot::default(), 0);
        for (segment, about) in small {
            count += segment.datasets.len();
            let (columns, datasets) = (about.columns.clone(), segment.datasets.len());
            let left = if count > FULL {
                Some((segment, about))
            } else {
                lot.take((segment, about), &columns).err()
            };
            if let Some(left) = left {
                lots.push(std::mem::take(&mut lot));
                count = datasets;
                let _ = lot.take(left, &columns);
            }
        }
        lots.push(lot);
        lots.retain(|lot| lot.sources.len() > 1);
        lots.into_iter().try_for_each(|lot| self.merge_into_one(&lot))
    }

    fn merge_into_one(&mut self, lot: &Lot<(Segment, About)>) -> Result<(), QueryError> {
        let file = self.file();
        let (mut parts, mut datasets, mut made_from) = (Vec::new(), Vec::new(), Vec::new());
        let mut about = About::with(&lot.columns);
        for ((segment, of_segment), places) in &lot.sources {
            let reading = segments::reading([segment.path.as_path()].into_iter());
            let (ours, own) = (OURS.join(", "), lot.selected(places));
            parts.push(format!("SELECT {ours}, {own} FROM {reading}"));
            datasets.extend(segment.datasets.iter().cloned());
            about.add_all(of_segment, places);
            made_from.push(segment.path.clone());
        }
        if self.copy("", &parts.join(" UNION ALL "), &lot.columns, &file)?.is_none() {
            return Ok(());
        }
        self.put(&file, datasets, &about, &made_from)
    }
}

fn copy(
    connection: &Connection,
    prepared: &str,
    select: &str,
    is_lean: bool,
    file: &Path,
) -> duckdb::Result<u64> {
    connection.execute_batch(prepared)?;
    let (to, how) = (literal(&file.to_string_lossy()), engine::parquet(is_lean));
    let copy = format!("COPY ({select}) TO {to} ({how})");
    connection.query_row(&copy, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}

impl<'r> Lot<Stack<'r>> {
    fn members(&self) -> impl Iterator<Item = &Member<'r>> {
        self.sources.iter().flat_map(|(stack, _)| &stack.members)
    }

    /// What tells results apart, as lists in which each result has its place.
    fn variables(&self) -> String {
        let count = self.members().map(|member| member.number).max().unwrap_or_default();
        let mut values = [(); OURS.len()].map(|()| vec!["NULL".to_owned(); count]);
        for Member { result, number, arguments, .. } in self.members() {
            let at = number - 1;
            values[0][at] = literal(result.id.as_str());
            values[1][at] = literal(&segments::captured_at(result.timestamp));
            values[2][at] = arguments.as_deref().map_or_else(|| "NULL".to_owned(), literal);
        }
        let kinds = ["VARCHAR", "TIMESTAMP", "JSON"];
        let set = |((name, kind), values): ((&str, &str), Vec<String>)| {
            format!("SET VARIABLE {name} = [{}]::{kind}[];\n", values.join(", "))
        };
        OURS.into_iter().zip(kinds).zip(values).map(set).collect()
    }

    fn select(&self) -> String {
        let ours = OURS.map(|name| format!("getvariable('{name}')[d] AS {name}")).join(", ");
        let part = |(stack, places): &(Stack<'_>, Vec<usize>)| {
            let kinds = places.iter().map(|place| self.columns[*place].kind.sql());
            let own = kinds.enumerate().map(|(at, kind)| (at.to_string(), kind));
            let number = ("d".to_owned(), "UINTEGER".to_owned());
            let columns = [number].into_iter().chain(own);
            let lines = rows::reading(&[&stack.lines.0], stack.longest, columns);
            format!("SELECT {ours}, {} FROM {lines}", self.selected(places))
        };
        self.sources.iter().map(part).collect::<Vec<String>>().join(" UNION ALL ")
    }

    fn about(&self) -> (Vec<DatasetId>, About) {
        let mut about = About::with(&self.columns);
        let mut datasets = Vec::new();
        for (stack, places) in &self.sources {
            for member in &stack.members {
                datasets.push(member.result.id.clone());
                about.add(&member.form, places);
            }
        }
        (datasets, about)
    }
}
