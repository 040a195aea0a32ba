//! Makes sure that all that was kept is what it was, and puts right what can be.

use std::{io, io::Read};

use forebay_system::private;

use crate::{
    Dataset, DatasetId, Entry, Store, StoreError,
    catalog::Catalog,
    error::Doing,
    events, integrity,
    layout::{self, Folder, Layout},
    reconcile, retention, united,
};

/// How to go about it.
pub struct Verification<'a> {
    /// Whether what is damaged is put right, or set aside where that cannot be.
    pub repairs: bool,
    /// Told the share that is done, and with what; `false` ends it.
    pub tell: &'a mut dyn FnMut(f64, &DatasetId) -> bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// How many datasets were looked at.
    pub datasets: u64,
    /// How long their payloads are, uncompressed.
    pub bytes: u64,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// Something that is not as it was.
#[derive(Debug)]
pub struct Fault {
    /// The dataset; `None` if it is the catalog, or what was made of many.
    pub id: Option<DatasetId>,
    /// What is wrong.
    pub what: String,
    /// What was done about it.
    pub remedy: Option<&'static str>,
}

/// Looks at every file, and at the catalog in the end.
pub(crate) fn all(store: &Store, how: &mut Verification<'_>) -> Result<Findings, StoreError> {
    let folders = store.layout.folders();
    if store.is_writable() {
        for folder in &folders {
            reconcile::catch_up(store, folder)?;
        }
    }
    let total = store.ask(Catalog::bytes)?;
    let mut looking = Looking { store, how, total, findings: Findings::default() };
    for folder in &folders {
        for id in reconcile::datasets_in(&store.layout, folder) {
            looking.look_at(folder, &id)?;
        }
    }
    looking.look_at_segments()?;
    looking.look_at_catalog()?;
    Ok(looking.findings)
}

/// Makes sure that rows are as they were made.
pub(crate) fn rows(dataset: &Dataset, table: usize) -> Result<(), StoreError> {
    let (path, hash_path) = (dataset.rows_path(table), dataset.rows_hash_path(table));
    let mut noted = String::new();
    let read = layout::open(&hash_path)
        .and_then(|file| file.take(2 * blake3::OUT_LEN as u64).read_to_string(&mut noted));
    read.doing("read", &hash_path)?;
    if integrity::hash(&path).doing("read", &path)? != noted {
        return Err(StoreError::Damaged { path, how: "it is not as it was made" });
    }
    Ok(())
}

struct Looking<'l, 'h> {
    store: &'l Store,
    how: &'l mut Verification<'h>,
    total: u64,
    findings: Findings,
}

impl Looking<'_, '_> {
    fn look_at(&mut self, folder: &Folder, id: &DatasetId) -> Result<(), StoreError> {
        self.progress(id)?;
        let dataset = match Dataset::load(&self.store.layout, folder, id) {
            // It is being captured, or has just been removed.
            Err(StoreError::Unknown(_)) => return Ok(()),
            Err(error) => {
                let remedy = self.repair(|store| set_aside(store, folder, id))?;
                self.note(Some(id), &error, remedy);
                self.findings.datasets += 1;
                return Ok(());
            }
            Ok(dataset) => dataset,
        };
        self.findings.datasets += 1;
        for part in 0..dataset.metadata().parts.len() {
            let Err(error) = self.look_at_part(&dataset, part)? else { continue };
            // It may have been removed, or have grown, while we were reading.
            if !is_still(&self.store.layout, &dataset) {
                return Ok(());
            }
            let remedy = self.repair(|store| mend(store, &dataset, part))?;
            self.note(Some(id), &error, remedy);
            if remedy == Some(SET_ASIDE) {
                return Ok(());
            }
        }
        self.look_at_rows(&dataset)
    }

    fn look_at_part(
        &mut self,
        dataset: &Dataset,
        part: usize,
    ) -> Result<Result<(), StoreError>, StoreError> {
        let before = self.findings.bytes;
        let (store, mut is_wanted) = (self.store, true);
        // Equal payloads that are one file are read once.
        let checked = store.sound.check(&dataset.path(part), || {
            dataset.verify_with(part, &mut |count| {
                self.findings.bytes += count;
                is_wanted = self.progress(dataset.id()).is_ok();
                if is_wanted { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
            })
        });
        if !is_wanted {
            return Err(StoreError::Interrupted);
        }
        let bytes = dataset.metadata().parts.get(part).map_or(0, |part| part.bytes);
        self.findings.bytes = before.saturating_add(bytes);
        Ok(checked)
    }

    /// Rows from before they had a hash are made again when they are needed, and are no fault.
    fn look_at_rows(&mut self, dataset: &Dataset) -> Result<(), StoreError> {
        for table in 0.. {
            if !layout::is_there(&dataset.rows_path(table)) {
                return Ok(());
            }
            if !layout::is_there(&dataset.rows_hash_path(table)) {
                continue;
            }
            let Err(error) = rows(dataset, table) else { continue };
            let remedy = self.repair(|_| {
                layout::remove(&dataset.rows_path(table))?;
                Ok(MADE_AGAIN)
            })?;
            self.note(Some(dataset.id()), &error, remedy);
        }
        Ok(())
    }

    fn look_at_segments(&mut self) -> Result<(), StoreError> {
        for (path, error) in united::faults(&self.store.layout) {
            let remedy = self.repair(|_| {
                layout::remove(&path)?;
                Ok(MADE_AGAIN)
            })?;
            self.note(None, &error, remedy);
        }
        Ok(())
    }

    fn look_at_catalog(&mut self) -> Result<(), StoreError> {
        if !self.store.is_writable() {
            return Ok(());
        }
        let what = if !self.store.ask(Catalog::is_whole)? {
            "the catalog is damaged"
        } else if !self.is_catalog_right()? {
            "the catalog does not say what the files do"
        } else {
            return Ok(());
        };
        let remedy = self.repair(|store| {
            store.replace_catalog()?;
            Ok("made anew from the files")
        })?;
        self.findings.faults.push(Fault { id: None, what: what.to_owned(), remedy });
        Ok(())
    }

    /// True if every line is what its dataset's metadata say.
    fn is_catalog_right(&self) -> Result<bool, StoreError> {
        let mut is_right = true;
        retention::each(self.store, false, |entry| {
            is_right = match Dataset::load(&self.store.layout, &entry.folder, &entry.id) {
                Ok(dataset) => is_line_of(entry, &dataset) || self.has_line(&entry.id)?,
                // Removed just now, or long ago by hand.
                Err(StoreError::Unknown(id)) => {
                    self.store.ask(|catalog| catalog.folder(&id))?.is_none()
                }
                // That has been told.
                Err(_) => true,
            };
            Ok(is_right)
        })?;
        Ok(is_right)
    }

    /// True if the catalog has the line of a dataset as it is now: it may have grown since we looked.
    fn has_line(&self, id: &DatasetId) -> Result<bool, StoreError> {
        let Ok(dataset) = self.store.dataset(id) else { return Ok(true) };
        let entry = self.store.ask(|catalog| catalog.entry(id))?;
        Ok(entry.is_none_or(|entry| is_line_of(&entry, &dataset)))
    }

    fn progress(&mut self, id: &DatasetId) -> Result<(), StoreError> {
        #[expect(clippy::cast_precision_loss, reason = "it is for a bar")]
        let share = self.findings.bytes as f64 / self.total.max(1) as f64;
        if (self.how.tell)(share, id) { Ok(()) } else { Err(StoreError::Interrupted) }
    }

    fn repair(
        &self,
        work: impl FnOnce(&Store) -> Result<&'static str, StoreError>,
    ) -> Result<Option<&'static str>, StoreError> {
        if self.how.repairs { work(self.store).map(Some) } else { Ok(None) }
    }

    fn note(&mut self, id: Option<&DatasetId>, error: &StoreError, remedy: Option<&'static str>) {
        // The way to repair it is told once for all.
        let what = match error {
            StoreError::Metadata { path, source } => {
                format!("the metadata file `{}` is damaged: {source}", path.display())
            }
            StoreError::File { source, .. } => format!("{error}: {source}"),
            other => other.to_string(),
        };
        self.findings.faults.push(Fault { id: id.cloned(), what, remedy });
    }
}

const MADE_AGAIN: &str = "made again when it is needed";
const SET_ASIDE: &str = "set aside";

/// Puts a payload right from whatever else holds it, or sets its dataset aside.
fn mend(store: &Store, dataset: &Dataset, part: usize) -> Result<&'static str, StoreError> {
    // One of two that are there for a moment may be sound.
    if store.plain_file(dataset, part).is_ok() {
        return Ok("put right from its other copy");
    }
    let content = dataset.metadata().content();
    let twins = store.ask(|catalog| catalog.twins(&content))?.into_iter();
    for twin in twins.filter(|twin| twin != dataset.id()) {
        let Ok(twin) = store.dataset(&twin) else { continue };
        let Ok(theirs) = store.plain_file(&twin, part) else { continue };
        let ours = dataset.plain_path(part);
        layout::link_over(&theirs, &ours).doing("write", &ours)?;
        layout::remove(&layout::compressed(&ours))?;
        return Ok("put right from an equal result");
    }
    set_aside(store, dataset.folder(), dataset.id())
}

/// Moves the files of a dataset out of the way, its metadata first: from then on it does not exist.
fn set_aside(store: &Store, folder: &Folder, id: &DatasetId) -> Result<&'static str, StoreError> {
    let aside = store.layout.damaged();
    private::make_folder(&aside).doing("create", &aside)?;
    let metadata = store.layout.metadata(folder, id);
    let mut files = store.layout.files(folder, id);
    files.sort_by_key(|path| *path != metadata);
    for path in files {
        let target = aside.join(path.file_name().unwrap_or_default());
        std::fs::rename(&path, &target).doing("move", &path)?;
    }
    united::forget(store, id)?;
    store.ask(|catalog| catalog.forget(id))?;
    events::set_aside(id, &aside);
    Ok(SET_ASIDE)
}

/// True if a dataset exists, and is what it was.
fn is_still(layout: &Layout, dataset: &Dataset) -> bool {
    match Dataset::load(layout, dataset.folder(), dataset.id()) {
        Ok(now) => now.metadata().parts == dataset.metadata().parts,
        Err(StoreError::Unknown(_)) => false,
        Err(_) => true,
    }
}

fn is_line_of(entry: &Entry, dataset: &Dataset) -> bool {
    let metadata = dataset.metadata();
    let description = &metadata.description;
    entry.timestamp.as_millisecond() == metadata.timestamp.as_millisecond()
        && entry.tool == description.tool
        && entry.server == description.server
        && entry.content == metadata.content()
        && entry.bytes == metadata.bytes()
        && entry.records == description.record_count
        && entry.is_pinned == dataset.is_pinned()
        && entry.tags == dataset.words()
}
