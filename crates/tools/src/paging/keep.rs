//! Keeps the records that were fetched as one dataset, which grows with them under its name.

use std::io::Write;

use forebay_intercept::kept_arguments;
use forebay_proxy::arguments::Arguments;
use forebay_records::Inference;
use forebay_store::{Dataset, DatasetId, Description, Facts, Mapped, Store, StoreError, Viewer};

use super::book::Book;
use crate::ToolError;

/// What the records are of.
pub(crate) struct Origin<'o> {
    pub(crate) server: &'o str,
    pub(crate) tool: &'o str,
    /// What the tool was called with; `None` if that is not kept.
    pub(crate) arguments: Option<Arguments>,
    pub(crate) viewer: &'o Viewer,
    pub(crate) inference: Inference,
}

/// A dataset with the records of a book, as this process has written it last.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    id: DatasetId,
    edition: u64,
}

impl Kept {
    pub(crate) fn id(&self) -> &DatasetId {
        &self.id
    }

    /// The text that the records stand in; `None` if it is gone.
    pub(crate) fn text(&self, store: &Store) -> Option<Mapped> {
        let dataset = store.dataset(&self.id).ok()?;
        let is_ours = dataset.facts().edition == Some(self.edition);
        store.map(&dataset, dataset.main_part()).ok().filter(|_| is_ours)
    }
}

/// Writes all records of a book to the dataset that has had them so far, or to a new one.
pub(crate) fn keep(
    store: &Store,
    book: &mut Book,
    kept: Option<&Kept>,
    origin: &Origin<'_>,
) -> Result<Kept, ToolError> {
    let before = match kept {
        Some(kept) => Some((kept, kept.text(store).ok_or_else(|| gone(kept))?)),
        None => None,
    };
    let (dataset, spans) = if let Some((kept, text)) = &before {
        let mut growth = store.grow(&kept.id, EXTENSION)?;
        let spans = write(book, text, growth.part()?)?;
        let description = origin.describe(&growth.map()?)?;
        (growth.commit(description)?, spans)
    } else {
        let mut capture = store.capture()?;
        let spans = write(book, &[], capture.start_part(EXTENSION)?)?;
        let description = origin.describe(&capture.map_last_part()?)?;
        (capture.commit(description)?, spans)
    };
    book.move_to(spans);
    Ok(Kept { id: dataset.id().clone(), edition: edition(&dataset) })
}

/// What the file ends with.
const EXTENSION: &str = "json";

fn gone(kept: &Kept) -> ToolError {
    StoreError::Unknown(kept.id.clone()).into()
}

fn edition(dataset: &Dataset) -> u64 {
    dataset.facts().edition.unwrap_or(1)
}

/// Writes the records as a list; gives where those of each page stand in it.
fn write(
    book: &mut Book,
    kept: &[u8],
    out: &mut dyn Write,
) -> Result<Vec<Vec<std::ops::Range<usize>>>, ToolError> {
    let (mut spans, mut at) = (Vec::new(), 1);
    out.write_all(b"[")?;
    for page in book.pages_mut() {
        let text = page.text.as_deref().unwrap_or(kept);
        let mut of_page = Vec::with_capacity(page.records.len());
        for span in &page.records {
            let record = text.get(span.clone()).unwrap_or(b"null");
            if at > 1 {
                out.write_all(b",\n")?;
                at += 2;
            }
            out.write_all(record)?;
            of_page.push(at..at + record.len());
            at += record.len();
        }
        spans.push(of_page);
    }
    out.write_all(b"]")?;
    Ok(spans)
}

impl Origin<'_> {
    fn describe(&self, payload: &Mapped) -> Result<Description, ToolError> {
        let bytes = payload.len() as u64;
        let profile = forebay_records::profile(std::slice::from_ref(payload), self.inference)?;
        let (arguments, arguments_hash) = self.arguments.as_ref().map(kept_arguments).unzip();
        let facts = Facts { arguments, arguments_hash, edition: Some(1), ..profile.facts() };
        let mut description = Description {
            tool: self.tool.to_owned(),
            server: self.server.to_owned(),
            original_size: bytes,
            record_count: profile.records(),
            schema: Some(profile.schema()),
            summary: profile.summary(),
            facts,
        };
        description.set_origin(self.viewer);
        Ok(description)
    }
}
