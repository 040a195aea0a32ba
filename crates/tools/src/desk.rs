//! Where what was kept is looked at: the store, and what answers queries over it.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use forebay_query::{Column, Conduct, FileForm, Query, Service};
use forebay_store::{Dataset, DatasetId, Description, Filter, Shelf, Store, StoreError};
use serde_json::{Map, Value, json};

use crate::{Formulas, ToolError, arguments::dataset_and_table, definitions::Tool};

/// The server that results of queries are of.
const SERVER: &str = "forebay";

/// What tools work with.
pub struct Desk {
    home: PathBuf,
    shelf: Arc<Shelf>,
    service: Service,
    formulas: Formulas,
}

impl Desk {
    /// A desk for the store at `home`, which is that of the shelf and the service.
    pub fn new(home: &Path, shelf: Arc<Shelf>, service: Service) -> Self {
        Self { home: home.to_owned(), shelf, service, formulas: Formulas::default() }
    }

    /// The same desk, where CSV files are written like this.
    #[must_use]
    pub fn with_formulas(self, formulas: Formulas) -> Self {
        Self { formulas, ..self }
    }

    pub(crate) fn formulas(&self) -> Formulas {
        self.formulas
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
            Err(StoreError::Unknown(id)) => {
                let latest = store.list(&Filter { limit: Some(LATEST), ..Filter::default() })?;
                let names = latest.iter().map(|entry| entry.id.as_str());
                let meant = forebay_query::nearest(id.as_str(), names)
                    .filter(|name| differs_little(name, &id));
                let meant = meant.map(|it| format!(" Did you mean {it}?")).unwrap_or_default();
                Err(ToolError::NotFound(format!(
                    "There is no dataset {id}; it may have been removed by age.{meant} \
                     list-saved-datasets shows those that there are."
                )))
            }
            other => Ok(other?),
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
        match (forebay_query::latest(&store, name)?, own) {
            (Some(id), _) => Ok((id, String::new())),
            // It has the form of a dataset's name, and is told with the one that may be meant.
            (None, Ok((id, table))) => self.dataset(&id).map(|_| (id, table)),
            (None, Err(_)) => Err(ToolError::NotFound(format!(
                "{name} is neither a dataset nor a tool whose result was kept. list-saved-datasets \
                 shows what there is."
            ))),
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
        let dataset = capture.commit(Description {
            tool: Tool::Analyze.name().to_owned(),
            server: SERVER.to_owned(),
            original_size: bytes,
            record_count: Some(written.rows),
            schema: json!({"fields": fields(&written.columns)}),
            summary: json!({"totalRecords": written.rows}),
            more: details(query),
        })?;
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
