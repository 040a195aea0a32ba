//! Where what was kept is looked at: the store, and what answers queries over it.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use forebay_query::{Column, Conduct, FileForm, Query, Service};
use forebay_store::{Dataset, DatasetId, Description, Filter, Shelf, Store, StoreError, Viewer};
use serde_json::{Map, Value, json};

use crate::{ToolError, definitions::Tool, error::refuse};

/// The server that results of queries are of.
const SERVER: &str = "forebay";

/// What tools work with.
#[derive(Clone)]
pub struct Desk {
    home: PathBuf,
    shelf: Arc<Shelf>,
    service: Service,
    viewer: Viewer,
}

impl Desk {
    /// A desk for the store at `home`, which is that of the shelf and the service. Whoever sits at it
    /// sees everything.
    pub fn new(home: &Path, shelf: Arc<Shelf>, service: Service) -> Self {
        Self { home: home.to_owned(), shelf, service, viewer: Viewer::default() }
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
        const LATEST: u64 = 200;
        let store = self.store()?;
        match store.dataset(id) {
            Ok(dataset) if self.viewer.sees(dataset.metadata()) => Ok(dataset),
            Ok(_) | Err(StoreError::Unknown(_)) => {
                let viewer = self.viewer.clone();
                let filter = Filter { limit: Some(LATEST), viewer, ..Filter::default() };
                let latest = store.list(&filter)?;
                let names = latest.iter().map(|entry| entry.id.as_str());
                let meant = forebay_query::nearest(id.as_str(), names)
                    .filter(|name| differs_little(name, id));
                let meant = meant.map(|it| format!(" Did you mean {it}?")).unwrap_or_default();
                refuse!(
                    "There is no dataset {id}{}; it may have been removed by age.{meant} \
                     list-saved-datasets shows those that there are.",
                    forebay_query::among(self.viewer.scope)
                )
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a query whose result, or its first rows, becomes a dataset of its own.
    pub(crate) fn keep(
        &self,
        query: &Query,
        limit: Option<u64>,
        conduct: &dyn Conduct,
    ) -> Result<Kept, ToolError> {
        let folder = self.folder("spill")?;
        let file = Unnamed(folder.join(format!("result-{}", unique())));
        let max_rows = self.service.limits().max_rows.min(limit.unwrap_or(u64::MAX));
        let written = self.service.write(query, &file.0, FileForm::Parquet, max_rows, conduct)?;
        let store = self.store()?;
        let mut capture = store.capture()?;
        let bytes = io::copy(&mut File::open(&file.0)?, capture.start_part("parquet")?)?;
        let mut description = Description {
            tool: Tool::Analyze.name().to_owned(),
            server: SERVER.to_owned(),
            original_size: bytes,
            record_count: Some(written.rows),
            schema: json!({"fields": fields(&written.columns)}),
            summary: json!({"totalRecords": written.rows}),
            more: details(query),
        };
        description.set_origin(&self.viewer);
        let dataset = capture.commit(description)?;
        self.shelf.tidy_if_due();
        Ok(Kept { dataset, rows: written.rows, has_more: written.has_more })
    }

    /// A folder of the store that is not for datasets, made if it is not there.
    pub(crate) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.home.join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder)
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

fn differs_little(name: &str, id: &DatasetId) -> bool {
    const LETTERS: usize = 3;
    strsim::damerau_levenshtein(name, id.as_str()) <= LETTERS
}

fn fields(columns: &[Column]) -> Vec<Value> {
    columns.iter().map(|column| json!({"name": column.name, "type": column.kind})).collect()
}

fn details(query: &Query) -> Map<String, Value> {
    let mut more = Map::new();
    more.insert("format".to_owned(), "parquet".into());
    more.insert("query".to_owned(), query.sql.as_str().into());
    if let Some(dataset) = &query.dataset {
        more.insert("queryDataset".to_owned(), dataset.as_str().into());
    }
    more
}
