//! Why a page cannot be shown, as a page of its own.

use askama::Template;
use bytes::Bytes;
use forebay_store::StoreError;
use forebay_tools::ToolError;
use http::{Response, StatusCode};
use serde::Serialize;

use crate::{
    frame::{Frame, Section},
    reply::{NotWritten, Twin, with, written},
};

/// What went wrong, and what to do.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    what: String,
    /// What stands above it, if not what follows from the status.
    heading: Option<&'static str>,
    /// Where whoever asked comes from.
    back: Option<String>,
}

#[derive(Template, Serialize)]
#[template(path = "problem.html")]
struct Page {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    heading: &'static str,
    error: String,
    #[serde(skip)]
    back: Option<String>,
}

impl Problem {
    /// What was asked for is not there.
    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, what: what.into(), heading: None, back: None }
    }

    /// What was asked for cannot be.
    pub(crate) fn refused(what: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, what: what.into(), heading: None, back: None }
    }

    /// Some of what was to be changed is, and some is not.
    pub(crate) fn partly(what: String) -> Self {
        Self { status: StatusCode::CONFLICT, what, heading: Some("Partly done"), back: None }
    }

    /// The same where something was to be changed, and nothing was.
    pub(crate) fn unchanged(self) -> Self {
        Self { heading: self.heading.or(Some("Nothing was changed")), ..self }
    }

    /// The same with the way to the page that it was asked on.
    pub(crate) fn asked_on(self, page: String) -> Self {
        Self { back: Some(page), ..self }
    }

    /// What it is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// True if whoever asks can ask for something else.
    pub(crate) fn is_of_asker(&self) -> bool {
        self.status.is_client_error()
    }

    /// What went wrong, in a sentence.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    pub(crate) fn answer(self, twin: Twin) -> Response<Bytes> {
        let Self { status, what, heading, back } = self;
        let heading = heading.unwrap_or(match status {
            StatusCode::NOT_FOUND => "Not found",
            status if status.is_client_error() => "This cannot be shown",
            _ => "This went wrong",
        });
        let frame = Frame::new(Section::None, heading);
        let page = Page { frame, heading, error: sentence(&what), back };
        written(status, &page, twin).unwrap_or_else(|_| {
            let body = Bytes::from_static(b"this went wrong, and so did saying how\n");
            with(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", body)
        })
    }
}

impl From<ToolError> for Problem {
    fn from(error: ToolError) -> Self {
        let status = match &error {
            ToolError::NotFound(_) => StatusCode::NOT_FOUND,
            ToolError::Refused(_) | ToolError::Query(_) | ToolError::Chart(_) => {
                StatusCode::BAD_REQUEST
            }
            ToolError::Store(StoreError::Unknown(_)) => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(%error, "a page cannot be shown");
        }
        Self {
            status,
            what: sentence(&in_words_of_the_page(&error.told())),
            heading: None,
            back: None,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        ToolError::from(error).into()
    }
}

impl From<askama::Error> for Problem {
    fn from(error: askama::Error) -> Self {
        tracing::error!(%error, "a page cannot be written");
        let what = "The page cannot be written; the log says why.".to_owned();
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, what, heading: None, back: None }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(%error, "a page cannot be written as JSON");
        let what = "The page cannot be written as JSON; the log says why.".to_owned();
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, what, heading: None, back: None }
    }
}

impl From<NotWritten> for Problem {
    fn from(error: NotWritten) -> Self {
        match error {
            NotWritten::Html(error) => error.into(),
            NotWritten::Json(error) => error.into(),
        }
    }
}

/// A text for models, with what its names are called here.
fn in_words_of_the_page(text: &str) -> String {
    const NAMES: [(&str, &str); 13] = [
        (
            "Files are written by export-dataset, which `--tools full` offers.",
            "The links beside a result save it as a file.",
        ),
        (
            " For a value within a field use analyze-with-duckdb.",
            " SQL reads values within a field.",
        ),
        ("and read such JSON with read-saved-dataset.", "and read such JSON as the original."),
        (
            "read-saved-dataset reads the text itself, with lines, bytes or grep.",
            "the original has the text itself.",
        ),
        ("read-saved-dataset tells what they are and", "The overview tells what they are and"),
        ("for what there is the tool list-saved-datasets", "for what there is the shelf"),
        ("list-saved-datasets shows those that", "The shelf shows those that"),
        ("such as FROM dataset_k3v9x2ma.", "such as FROM dataset."),
        ("dataset_k3v9x2ma", "dataset"),
        ("list-saved-datasets", "the shelf"),
        ("analyze-with-duckdb", "SQL"),
        ("read-saved-dataset", "the rows"),
        ("visualize-dataset needs x", "a chart needs x"),
    ];
    NAMES.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// A text that begins as a sentence does; a name in front stays as it is.
fn sentence(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if word.chars().all(char::is_alphabetic) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_for_models_is_told_to_people() {
        let told = "Files are written by export-dataset, which `--tools full` offers.";
        assert_eq!(in_words_of_the_page(told), "The links beside a result save it as a file.");
        let made_up = in_words_of_the_page("Write SELECT * FROM dataset_k3v9x2ma LIMIT 10.");
        assert_eq!(made_up, "Write SELECT * FROM dataset LIMIT 10.");
        assert_eq!(sentence("there is none"), "There is none");
        assert_eq!(sentence("`a` is none"), "`a` is none");
    }
}
