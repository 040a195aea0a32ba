//! The store as a whole: opening it, and what can be done with it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use forebay_system::{access, private};
use parking_lot::{Mutex, MutexGuard};

use jiff::{Timestamp, ToSpan, civil::Date};

use crate::{
    Capture, Collected, Counts, Dataset, DatasetId, Entry, Event, Facet, Filter, Findings, HowFar,
    Mapped, Outline, Question, Retention, Savings, SizeClass, StoreError, Tally, Total, Usage,
    Verification, Viewer,
    catalog::{Catalog, usage},
    claim::{self, Claim},
    compression, database,
    entering::New,
    error::Doing,
    events,
    hearers::Hearers,
    integrity::{self, Sound},
    layout::{self, Folder, Layout},
    reconcile, retention, verify,
};

/// The datasets of a machine, or of whoever has a home of their own.
#[derive(Debug)]
pub struct Store {
    pub(crate) layout: Layout,
    pub(crate) durability: Durability,
    patience: Duration,
    catalog: Mutex<Catalog>,
    /// A claim for the next capture.
    pub(crate) spare_claim: Mutex<Option<Claim>>,
    /// What exists and has yet to be entered in the catalog.
    pub(crate) to_enter: Mutex<Vec<New>>,
    /// Who is told of what is kept.
    pub(crate) hearers: Hearers,
    /// Whether files may be made and changed.
    is_writable: bool,
    /// The files that need not be checked again.
    pub(crate) sound: Sound,
}

/// How long a command waits for another process that writes to the catalog.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where somebody waits for an answer; a capture asks a few times.
pub(crate) const HURRY: Duration = Duration::from_millis(100);

/// The same for opening it, which comes once. Whoever closes it last may be in the way, and may be a
/// process that gives way to everything else; and without a catalog nothing can be kept.
const OPENING: Duration = Duration::from_secs(2);

/// When a dataset is safe against a loss of power. Against our own end it always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A moment after the capture has returned.
    #[default]
    RightAfter,
    /// Before the capture returns.
    BeforeCommitReturns,
}

impl Store {
    /// The same store, of which these are told what is kept.
    #[must_use]
    pub(crate) fn heard_by(mut self, hearers: Hearers) -> Self {
        self.hearers = hearers;
        self
    }

    /// Opens the store at `home`, or makes one; cleans up what interrupted captures have left, and
    /// makes the catalog anew if it is missing or damaged.
    pub fn open(home: &Path, durability: Durability) -> Result<Self, StoreError> {
        Self::open_with(home, durability, PATIENCE)
    }

    /// Opens a store that waits no longer than `patience` for another process to write.
    pub(crate) fn open_with(
        home: &Path,
        durability: Durability,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let layout = Layout::new(home);
        let datasets = layout.datasets();
        private::make_folder(&datasets).doing("create", &datasets)?;
        let opening = patience.max(OPENING);
        let catalog = match Catalog::open(&layout.catalog(), opening)? {
            Some(catalog) => catalog,
            None => reconcile::rebuild(&layout, opening)?,
        };
        catalog.set_patience(patience)?;
        let store = Self {
            layout,
            durability,
            patience,
            catalog: Mutex::new(catalog),
            spare_claim: Mutex::default(),
            to_enter: Mutex::default(),
            is_writable: true,
            sound: Sound::default(),
            hearers: Hearers::default(),
        };
        claim::make_folder(&store.layout)?;
        store.take_in();
        Ok(store)
    }

    /// Opens the store at `home` for those who only look. Nothing is made where there is none; and where
    /// nothing can be written, on a disk that is read-only for one, what is there can still be seen.
    pub fn open_to_read(home: &Path, durability: Durability) -> Result<Self, StoreError> {
        let layout = Layout::new(home);
        if layout.datasets().is_dir() && Self::can_write(home) {
            return Self::open(home, durability);
        }
        Self::looking_at(layout, durability)
    }

    fn looking_at(layout: Layout, durability: Durability) -> Result<Self, StoreError> {
        Ok(Self {
            catalog: Mutex::new(reconcile::in_memory(&layout)?),
            layout,
            durability,
            patience: PATIENCE,
            spare_claim: Mutex::default(),
            to_enter: Mutex::default(),
            is_writable: false,
            sound: Sound::default(),
            hearers: Hearers::default(),
        })
    }

    /// False if `home` is there and nothing can be written to it.
    pub fn can_write(home: &Path) -> bool {
        !home.exists() || access::can_write(home)
    }

    /// Whether files can be made and changed in it.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Begins a dataset.
    pub fn capture(&self) -> Result<Capture<'_>, StoreError> {
        Capture::begin(self, Timestamp::now())
    }

    /// A dataset by its name.
    pub fn dataset(&self, id: &DatasetId) -> Result<Dataset, StoreError> {
        let folder = self.folder(id)?;
        Dataset::load(&self.layout, &folder, id)
    }

    /// A payload's file for anything to read, which is what was kept: one that was compressed is
    /// unpacked, and compressed again when it has been left alone for as long.
    pub fn plain_file(&self, dataset: &Dataset, part: usize) -> Result<PathBuf, StoreError> {
        let plain = dataset.plain_path(part);
        match self.make_plain(dataset, part, &plain) {
            // Somebody else has unpacked it between two looks.
            Err(StoreError::Missing(_)) if layout::is_there(&plain) => {
                self.make_plain(dataset, part, &plain)?;
            }
            other => other?,
        }
        Ok(plain)
    }

    fn make_plain(&self, dataset: &Dataset, part: usize, plain: &Path) -> Result<(), StoreError> {
        let compressed = layout::compressed(plain);
        let checked = if layout::is_there(plain) {
            self.sound.check(plain, || dataset.verify(part))
        } else {
            Err(StoreError::Missing(plain.to_owned()))
        };
        // For a moment there may be both, and then either will do.
        if !layout::is_there(&compressed) {
            return checked;
        }
        if checked.is_ok() {
            return if self.is_writable { layout::remove(&compressed) } else { Ok(()) };
        }
        compression::unpack(dataset, part)?;
        self.sound.note(plain);
        self.note_size(dataset);
        Ok(())
    }

    /// A payload as a slice of memory, which is what was kept.
    pub fn map(&self, dataset: &Dataset, part: usize) -> Result<Mapped, StoreError> {
        let plain = dataset.plain_path(part);
        if self.is_writable || layout::is_there(&plain) {
            let plain = self.plain_file(dataset, part)?;
            return Mapped::open(&plain).doing("map", &plain);
        }
        self.map_copy(dataset, part, &plain)
    }

    /// [`Self::map`] for a single look: what was compressed stays so.
    pub fn map_once(&self, dataset: &Dataset, part: usize) -> Result<Mapped, StoreError> {
        let plain = dataset.plain_path(part);
        if layout::is_there(&plain) {
            return self.map(dataset, part);
        }
        self.map_copy(dataset, part, &plain)
    }

    fn map_copy(&self, dataset: &Dataset, part: usize, plain: &Path) -> Result<Mapped, StoreError> {
        let spare = layout::scratch(self.layout.home()).doing("use", self.layout.home())?;
        let copy = layout::hidden_alone(&spare.join(plain.file_name().unwrap_or_default()));
        compression::copy(dataset, part, &copy)?;
        let mapped = Mapped::open(&copy).doing("map", &copy);
        // What is mapped needs no name.
        layout::remove(&copy)?;
        mapped
    }

    /// [`Self::plain_file`]; where nothing can be written in the store, what was compressed is unpacked
    /// into `spare`.
    pub fn plain_file_or_copy(
        &self,
        dataset: &Dataset,
        part: usize,
        spare: &Path,
    ) -> Result<PathBuf, StoreError> {
        let plain = dataset.plain_path(part);
        if self.is_writable || layout::is_there(&plain) {
            return self.plain_file(dataset, part);
        }
        let copy = spare.join(plain.file_name().unwrap_or_default());
        self.sound.check(&copy, || compression::copy(dataset, part, &copy))?;
        self.sound.note(&copy);
        Ok(copy)
    }

    fn note_size(&self, dataset: &Dataset) {
        let noted = self.catalog().set_stored(dataset, dataset.is_packed());
        noted.unwrap_or_else(|error| events::catalog_behind(&error.into()));
    }

    /// The file with the rows of a table, if it is there and as it was made.
    pub fn rows(&self, dataset: &Dataset, table: usize) -> Option<PathBuf> {
        let path = dataset.rows_path(table);
        if !layout::is_there(&path) {
            return None;
        }
        let is_sound = self.sound.check(&path, || verify::rows(dataset, table)).is_ok();
        // Those from before they had a hash are made again without a word.
        if !is_sound && layout::is_there(&dataset.rows_hash_path(table)) {
            events::rows_damaged(&path);
        }
        is_sound.then_some(path)
    }

    /// Puts a file of rows in its place, `None` if the dataset has been removed meanwhile.
    pub fn put_rows(
        &self,
        dataset: &Dataset,
        table: usize,
        file: &Path,
    ) -> Result<Option<PathBuf>, StoreError> {
        let path = dataset.rows_path(table);
        // What has its name is whole, whatever happens.
        layout::open(file).and_then(|file| file.sync_all()).doing("sync", file)?;
        let hash = integrity::hash(file).doing("read", file)?;
        let hash_path = dataset.rows_hash_path(table);
        layout::write_by_rename(&hash_path, hash.as_bytes())?;
        std::fs::rename(file, &path).doing("rename", file)?;
        if !layout::is_there(&self.layout.metadata(dataset.folder(), dataset.id())) {
            layout::remove(&path)?;
            layout::remove(&hash_path)?;
            return Ok(None);
        }
        self.sound.note(&path);
        self.note_size(dataset);
        Ok(Some(path))
    }

    /// The servers and tools that the datasets are of that `viewer` may see.
    pub fn origins(&self, viewer: &Viewer) -> Result<Vec<(String, String)>, StoreError> {
        self.ask(|catalog| catalog.origins(viewer))
    }

    /// How many datasets `viewer` may see of each server and tool, most first.
    pub fn totals(&self, viewer: &Viewer) -> Result<Vec<Total>, StoreError> {
        self.ask(|catalog| catalog.totals(viewer))
    }

    /// How many datasets of the viewer's principal were kept on each day, in UTC, the latest first: all, or
    /// those of a server and a tool.
    pub fn days(
        &self,
        viewer: &Viewer,
        server: Option<&str>,
        tool: Option<&str>,
    ) -> Result<Vec<(Date, u64)>, StoreError> {
        self.ask(|catalog| catalog.days(viewer, server, tool))
    }

    /// The values of a facet among the datasets that `filter` lets through, each with how many have it, the
    /// most frequent first.
    pub fn facet(&self, filter: &Filter, facet: Facet) -> Result<Vec<(String, u64)>, StoreError> {
        self.ask(|catalog| catalog.facet(filter, facet))
    }

    /// The tags of what `viewer` may see that are not servers or tools, each once.
    pub fn tags(&self, viewer: &Viewer) -> Result<BTreeSet<String>, StoreError> {
        self.ask(|catalog| catalog.tags(viewer))
    }

    /// What the catalog knows of a dataset, whether or not its files are sound.
    pub fn entry(&self, id: &DatasetId) -> Result<Option<Entry>, StoreError> {
        self.ask(|catalog| catalog.entry(id))
    }

    /// The datasets that `filter` lets through, newest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        self.ask(|catalog| catalog.list(filter))
    }

    /// The least that is to be known of all datasets that `filter` lets through, newest first.
    pub fn outlines(&self, filter: &Filter) -> Result<Vec<Outline>, StoreError> {
        self.ask(|catalog| catalog.outlines(filter))
    }

    /// Goes through all datasets, the oldest first, until `look` says that it has seen enough.
    pub fn each(
        &self,
        look: impl FnMut(&Entry) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        retention::each(self, false, look)
    }

    /// How many datasets there are, for whomever.
    pub fn total(&self) -> Result<u64, StoreError> {
        self.ask(Catalog::datasets)
    }

    /// How much of the disk all payloads take at most; equal ones are counted each time, so that it costs nothing.
    pub fn stored_bytes_at_most(&self) -> Result<u64, StoreError> {
        self.ask(Catalog::stored_bytes)
    }

    /// How much of the disk all payloads take; equal ones are one file, and counted once.
    pub fn stored_bytes(&self) -> Result<u64, StoreError> {
        self.ask(Catalog::stored_bytes_of_files)
    }

    /// How many datasets `filter` lets through, without regard to its offset and limit.
    pub fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        self.ask(|catalog| catalog.count(filter))
    }

    /// Keeps a dataset for good.
    pub fn pin(&self, id: &DatasetId) -> Result<(), StoreError> {
        let folder = self.dataset_folder(id)?;
        let path = self.layout.pin(&folder, id);
        match layout::create(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error).doing("create", &path);
            }
            _ => {}
        }
        self.ask(|catalog| catalog.set_pinned(id, true))
    }

    /// Lets age and quota take a dataset again.
    pub fn unpin(&self, id: &DatasetId) -> Result<(), StoreError> {
        let folder = self.dataset_folder(id)?;
        layout::remove(&self.layout.pin(&folder, id))?;
        self.ask(|catalog| catalog.set_pinned(id, false))
    }

    /// Removes a dataset, or what is left of one whose metadata are gone. `false` if someone is reading it,
    /// and it stays.
    pub fn remove(&self, id: &DatasetId) -> Result<bool, StoreError> {
        let folder = match self.dataset_folder(id) {
            Err(StoreError::Unknown(_)) => self.listed_folder(id)?,
            other => other?,
        };
        retention::remove(self, id, &folder)
    }

    /// Removes and compresses what `retention` says, as of `now`, and tells how far it is. An error if
    /// another process is at it.
    pub fn collect(
        &self,
        retention: &Retention,
        now: Timestamp,
        how_far: &mut HowFar<'_>,
    ) -> Result<Collected, StoreError> {
        retention::collect(self, retention, now, how_far)
    }

    /// The datasets that [`Self::collect_now`] would remove, the oldest first. What it would compress
    /// before may leave some of them their place.
    pub fn would_remove(&self, retention: &Retention) -> Result<Vec<Entry>, StoreError> {
        retention::would_remove(self, retention, Timestamp::now())
    }

    /// Makes sure that all that was kept is what it was; see [`Verification`].
    pub fn verify(&self, how: &mut Verification<'_>) -> Result<Findings, StoreError> {
        verify::all(self, how)
    }

    /// [`Self::collect`] as of now.
    pub fn collect_now(
        &self,
        retention: &Retention,
        how_far: &mut HowFar<'_>,
    ) -> Result<Collected, StoreError> {
        self.collect(retention, Timestamp::now(), how_far)
    }

    /// What has passed, by server and tool: in the last `days`, today included, or ever.
    pub fn usage(&self, days: Option<u16>) -> Result<Vec<Usage>, StoreError> {
        self.usage_as_of(usage::day(Timestamp::now()), days)
    }

    fn usage_as_of(&self, today: Date, days: Option<u16>) -> Result<Vec<Usage>, StoreError> {
        self.ask(|catalog| catalog.usage(first_of(days, today)))
    }

    /// The same, by how long the results were.
    pub fn usage_by_size(&self, days: Option<u16>) -> Result<Vec<(SizeClass, Counts)>, StoreError> {
        let from = first_of(days, usage::day(Timestamp::now()));
        self.ask(|catalog| catalog.usage_by_size(from))
    }

    /// What was kept out of models' contexts, and what that cost: in the last `days`, today included, or ever.
    pub fn savings(&self, days: Option<u16>) -> Result<Savings, StoreError> {
        Ok(self.savings_by_day(days)?.into_iter().map(|(_, of_day)| of_day).sum())
    }

    /// The same, on each day, the latest first.
    pub fn savings_by_day(&self, days: Option<u16>) -> Result<Vec<(Date, Savings)>, StoreError> {
        let from = first_of(days, usage::day(Timestamp::now()));
        self.ask(|catalog| catalog.savings_by_day(from))
    }

    /// The latest calls in all processes, the last one first, as far as they have been written down.
    pub fn recent(&self, limit: u64) -> Result<Vec<Event>, StoreError> {
        self.ask(|catalog| catalog.recent(limit))
    }

    /// How many calls are remembered.
    pub fn remembered(&self) -> Result<u64, StoreError> {
        self.ask(Catalog::remembered)
    }

    /// What was asked of a dataset lately, the last question first.
    pub fn asked_of(&self, id: &DatasetId, limit: u64) -> Result<Vec<Question>, StoreError> {
        self.ask(|catalog| catalog.asked_of(id, limit))
    }

    /// Adds to what was counted today.
    pub fn add_tallies(&self, tallies: &[Tally]) -> Result<(), StoreError> {
        let today = usage::day(Timestamp::now());
        self.ask_as_it_is(|catalog| catalog.add_tallies(today, tallies))
    }

    /// What was counted: in the last `days`, today included, or ever.
    pub fn tallies(&self, days: Option<u16>) -> Result<Vec<Tally>, StoreError> {
        let from = first_of(days, usage::day(Timestamp::now()));
        self.ask(|catalog| catalog.tallies(from))
    }

    /// Asks the catalog that is in place, with all in it that exists. One that turns out to be damaged is
    /// made anew, and asked again.
    pub(crate) fn ask<T>(
        &self,
        question: impl Fn(&Catalog) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.follow_catalog();
        self.take_in();
        self.ask_as_it_is(question)
    }

    /// [`Self::ask`], without a look at what may be missing.
    pub(crate) fn ask_as_it_is<T>(
        &self,
        question: impl Fn(&Catalog) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let answer = question(&self.catalog());
        match answer {
            Err(error) if database::is_damage(&error) && self.is_writable => {
                self.replace_catalog()?;
                Ok(question(&self.catalog())?)
            }
            other => Ok(other?),
        }
    }

    /// Makes the catalog anew, whatever it says of itself.
    pub(crate) fn replace_catalog(&self) -> Result<(), StoreError> {
        let mut catalog = self.catalog();
        *catalog = reconcile::replace(&self.layout, &catalog, self.patience.max(OPENING))?;
        catalog.set_patience(self.patience)?;
        Ok(())
    }

    pub(crate) fn catalog(&self) -> MutexGuard<'_, Catalog> {
        // SQLite keeps its own state whole.
        self.catalog.lock()
    }

    /// Turns to the catalog that is in place, if the one that is open has been removed or replaced.
    pub(crate) fn follow_catalog(&self) {
        let mut catalog = self.catalog();
        if catalog.is_at(&self.layout.catalog()) {
            return;
        }
        match reconcile::reopen(&self.layout, self.patience) {
            Ok(Some(in_place)) => *catalog = in_place,
            // The files are found without it, and entered later.
            Ok(None) => return,
            Err(error) => return events::catalog_behind(&error),
        }
        drop(catalog);
        self.take_in();
    }

    /// Brings the catalog in line with what is being captured, or was by a process that has died.
    fn take_in(&self) {
        if let Err(error) = reconcile::take_in(self) {
            events::catalog_behind(&error);
        }
    }

    fn folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let known = self.catalog().folder(id);
        if let Ok(Some(folder)) = &known
            && layout::is_there(&self.layout.metadata(folder, id))
        {
            return Ok(folder.clone());
        }
        let Some(folder) = reconcile::find(&self.layout, id) else {
            known
                .or_else(|error| if database::is_damage(&error) { Ok(None) } else { Err(error) })?;
            return Err(StoreError::Unknown(id.clone()));
        };
        match reconcile::enter(self, &folder, id) {
            // Whoever reads the dataset is told that.
            Ok(()) | Err(StoreError::Metadata { .. } | StoreError::File { .. }) => {}
            Err(error) => events::catalog_behind(&error),
        }
        Ok(folder)
    }

    /// The folder that the catalog has for a dataset, whether or not its metadata are there.
    fn listed_folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let folder = self.ask(|catalog| catalog.folder(id))?;
        folder.filter(|it| self.layout.has(it)).ok_or_else(|| StoreError::Unknown(id.clone()))
    }

    /// The folder of a dataset that exists.
    pub(crate) fn dataset_folder(&self, id: &DatasetId) -> Result<Folder, StoreError> {
        let folder = self.folder(id)?;
        if self.layout.has(&folder) && layout::is_there(&self.layout.metadata(&folder, id)) {
            return Ok(folder);
        }
        Err(StoreError::Unknown(id.clone()))
    }
}

/// The first of the last `days`, today included, or of all.
fn first_of(days: Option<u16>, today: Date) -> Date {
    let first = |days: u16| today.saturating_sub((i64::from(days) - 1).days());
    days.map_or(Date::MIN, first)
}

#[cfg(test)]
mod tests;
