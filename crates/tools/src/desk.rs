//! Where what was kept is looked at: the store, and what answers queries over it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use forebay_intercept::Links;
use forebay_query::{Column, FileForm, Limits, Observer, Query, Service};
use forebay_store::{
    Dataset, DatasetId, Description, Facts, Filter, Shelf, Store, StoreError, Viewer,
    facts::{Field, Records, Schema, Summary, Type},
};
use forebay_system::private;

use crate::{
    Finder, ToolError,
    arguments::dataset_and_table,
    definitions::{SEPARATOR, Tool},
    error::refuse,
};

/// The server that results of queries are of.
pub(crate) const SERVER: &str = "forebay";

/// What becomes of texts in a CSV that a spreadsheet would run as formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulas {
    /// A `'` before them makes them texts there, too.
    #[default]
    Disarmed,
    /// They stay as they are.
    AsWritten,
}

/// What tools work with.
#[derive(Clone)]
pub struct Desk {
    home: PathBuf,
    shelf: Arc<Shelf>,
    service: Service,
    formulas: Formulas,
    viewer: Viewer,
    links: Links,
    finder: Option<Arc<dyn Finder>>,
}

impl Desk {
    /// A desk for the store at `home`, which is that of the shelf and the service. Whoever sits at it
    /// sees everything.
    pub fn new(home: &Path, shelf: Arc<Shelf>, service: Service) -> Self {
        let viewer = Viewer::default();
        let (formulas, links) = (Formulas::default(), Links::default());
        let (home, finder) = (home.to_owned(), None);
        Self { home, shelf, service, formulas, viewer, links, finder }
    }

    /// The same desk, where CSV files are written like this.
    #[must_use]
    pub fn with_formulas(self, formulas: Formulas) -> Self {
        Self { formulas, ..self }
    }

    /// The same desk, which gives these links to what was kept.
    #[must_use]
    pub fn linking(self, links: Links) -> Self {
        Self { links, ..self }
    }

    /// The same desk, at which what was kept is found by its meaning.
    #[must_use]
    pub fn finding_by(self, finder: Arc<dyn Finder>) -> Self {
        Self { finder: Some(finder), ..self }
    }

    /// Whoever finds what was kept by its meaning.
    pub(crate) fn finder(&self) -> Result<&dyn Finder, ToolError> {
        match &self.finder {
            Some(finder) => Ok(&**finder),
            None => refuse!("What is kept is not indexed here (setting `search.enabled`)."),
        }
    }

    /// How what was kept is linked to.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// What is said to clients: no path of ours, if they cannot see our disk.
    pub(crate) fn without_paths(&self, text: String) -> String {
        self.links.clients().without_paths(text, &self.home)
    }

    pub(crate) fn formulas(&self) -> Formulas {
        self.formulas
    }

    /// The same desk for `viewer`, who sees no more than that may, and whose results are its own.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Self {
        Self { service: self.service.seen_by(viewer.clone()), viewer, ..self.clone() }
    }

    /// Whoever sits at it.
    pub(crate) fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// What answers queries.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// What has been kept.
    pub fn store(&self) -> Result<Arc<Store>, ToolError> {
        Ok(self.shelf.store()?)
    }

    /// A dataset; one that is not there is told with the one that may be meant.
    pub fn dataset(&self, id: &DatasetId) -> Result<Dataset, ToolError> {
        let store = self.store()?;
        match store.dataset(id) {
            Ok(dataset) if self.viewer.sees(dataset.metadata()) => Ok(dataset),
            Ok(_) | Err(StoreError::Unknown(_)) => {
                let meant = meant(&store, &self.viewer, id.as_str());
                let meant = meant.filter(|it| it != id);
                let meant = meant.map(|it| format!(" Did you mean {it}?")).unwrap_or_default();
                Err(ToolError::NotFound(format!(
                    "There is no dataset {id}{}; it may have been deleted, or removed by age.{meant} \
                     list-saved-datasets shows those that there are.",
                    forebay_query::among(self.viewer.scope)
                )))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A dataset and one of its tables, by the name that queries have for it: its own, or that of the
    /// tool whose latest result it is.
    pub fn named(&self, name: &str) -> Result<(DatasetId, String), ToolError> {
        let own = dataset_and_table(name);
        if let Ok((id, _)) = &own
            && (name.starts_with("dataset_") || self.store()?.dataset(id).is_ok())
        {
            self.dataset(id)?;
            return own;
        }
        let store = self.store()?;
        let latest = match forebay_query::latest(&store, &self.viewer, name)? {
            None => self.latest_as_offered(&store, name)?,
            found => found,
        };
        match (latest, own) {
            (Some(id), _) => Ok((id, String::new())),
            // It has the form of a dataset's name, and is told with the one that may be meant.
            (None, Ok((id, table))) => self.dataset(&id).map(|_| (id, table)),
            (None, Err(_)) => Err(ToolError::NotFound(format!(
                "{name} is neither a dataset nor a tool whose result was kept. list-saved-datasets \
                 shows what there is."
            ))),
        }
    }

    /// The latest result of the tool that a gateway offers under this name, its server's before its own.
    fn latest_as_offered(&self, store: &Store, name: &str) -> Result<Option<DatasetId>, ToolError> {
        for (at, _) in name.match_indices(SEPARATOR) {
            let (server, own) = (&name[..at], &name[at + SEPARATOR.len()..]);
            let of_server = format!("{}.{own}", forebay_query::word(server));
            if let Some(found) = forebay_query::latest(store, &self.viewer, &of_server)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Runs a query whose result, or its first rows, becomes a dataset of its own.
    pub(crate) fn keep(
        &self,
        query: &Query,
        limit: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Kept, ToolError> {
        let file = Unnamed(self.scratch()?.join(format!("result-{}", unique())));
        let Limits { max_rows, max_bytes, .. } = *self.service.limits();
        let max_rows = max_rows.min(limit.unwrap_or(u64::MAX));
        let bounded =
            Bounded { observer, file: &file.0, max_bytes, is_over: AtomicBool::new(false) };
        let written = self.service.write(query, &file.0, FileForm::Parquet, max_rows, &bounded);
        if bounded.is_too_long() {
            return refuse!(
                "The result takes more than {max_bytes} bytes, too much to be saved as a dataset: \
                 aggregate it, select fewer columns or rows, or raise query.max_bytes."
            );
        }
        let written = written?;
        let store = self.store()?;
        let mut capture = store.capture()?;
        let bytes = io::copy(&mut File::open(&file.0)?, capture.start_part("parquet")?)?;
        let mut description = Description {
            tool: Tool::Analyze.name().to_owned(),
            server: SERVER.to_owned(),
            original_size: bytes,
            record_count: Some(written.rows),
            schema: Some(schema(&written.columns)),
            summary: Some(Summary::Records(Records {
                total_records: written.rows,
                ..Records::default()
            })),
            facts: Facts::of_query(
                query.sql.clone(),
                query.dataset.as_ref().map(ToString::to_string),
            ),
        };
        description.set_origin(&self.viewer);
        let dataset = capture.commit(description)?;
        self.tidy_if_due();
        Ok(Kept { dataset, rows: written.rows, has_more: written.has_more })
    }

    /// Has the store tidied up, if that is due.
    pub(crate) fn tidy_if_due(&self) {
        self.shelf.tidy_if_due();
    }

    /// The folder for what is needed for a while.
    pub(crate) fn scratch(&self) -> io::Result<PathBuf> {
        forebay_store::scratch(&self.home)
    }

    /// A folder of the store that is not for datasets, made if it is not there.
    pub(crate) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.home.join(name);
        private::make_folder(&folder)?;
        Ok(folder)
    }
}

/// The dataset that was probably meant by a name that none has which `viewer` sees.
pub fn meant(store: &Store, viewer: &Viewer, name: &str) -> Option<DatasetId> {
    const LATEST: u64 = 200;
    const LETTERS: usize = 3;
    let filter = Filter { limit: Some(LATEST), viewer: viewer.clone(), ..Filter::default() };
    let latest = store.list(&filter).ok()?;
    let name = name.to_lowercase();
    let short = name.strip_prefix("dataset_").unwrap_or(&name);
    let distance = |id: &DatasetId| {
        strsim::damerau_levenshtein(id.as_str().trim_start_matches("dataset_"), short)
    };
    let nearest = latest.into_iter().map(|entry| entry.id).min_by_key(distance)?;
    (distance(&nearest) <= LETTERS).then_some(nearest)
}

/// Ends a query whose file grows too long.
struct Bounded<'b> {
    observer: &'b dyn Observer,
    file: &'b Path,
    max_bytes: u64,
    /// Whether it was too long at some time: it is removed when the query ends early.
    is_over: AtomicBool,
}

impl Bounded<'_> {
    fn is_too_long(&self) -> bool {
        if fs::metadata(self.file).is_ok_and(|file| file.len() > self.max_bytes) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Observer for Bounded<'_> {
    fn progress(&self, done: f64, message: &str) {
        self.observer.progress(done, message);
    }

    fn runs(&self, time: Duration) {
        self.observer.runs(time);
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled() || self.is_too_long()
    }
}

/// The result of a query that has become a dataset.
pub(crate) struct Kept {
    pub(crate) dataset: Dataset,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// Whether the result has more, which are left out.
    pub(crate) has_more: bool,
}

/// A file that goes away when it is no longer needed here.
pub(crate) struct Unnamed(pub(crate) PathBuf);

impl Drop for Unnamed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A part of a file name that nobody else uses at this time.
pub(crate) fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn schema(columns: &[Column]) -> Schema {
    let field = |column: &Column| Field::new(column.name.clone(), Type::named(&column.kind));
    Schema { fields: columns.iter().map(field).collect(), ..Schema::default() }
}
