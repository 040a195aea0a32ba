//! A dataset of which only the catalog knows: its metadata are gone or cannot be read.

use askama::Template;
use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;

use super::{Head, overview::Overview};
use crate::{
    Pages,
    frame::{Frame, Section},
    problem::Problem,
    reply::{Twin, written},
};

/// What is left of a dataset, and what can be done.
#[derive(Template, Serialize)]
#[template(path = "damaged.html")]
pub(crate) struct Damaged {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    error: String,
    mend: &'static str,
}

/// The overview of a dataset, or what is left of it.
pub(crate) fn answer(pages: &Pages, id: &str, twin: Twin) -> Result<Response<Bytes>, Problem> {
    let problem = match Overview::of(pages, id) {
        Ok(overview) => return Ok(written(StatusCode::OK, &overview, twin)?),
        Err(problem) => problem,
    };
    let Ok(head) = pages.head(id) else { return Err(problem) };
    // One that is there, and cannot be shown for another reason, is not damaged.
    if pages.desk.dataset(&pages.listed(id)?).is_ok() {
        return Err(problem);
    }
    let error = match pages.desk.dataset(&pages.listed(id)?) {
        Err(forebay_tools::ToolError::NotFound(_)) => {
            "The file with what is known of it is missing.".to_owned()
        }
        _ => problem.what().to_owned(),
    };
    let page = Damaged {
        frame: Frame::new(Section::Shelf, head.id.clone()),
        dataset: head,
        error,
        mend: "forebay datasets verify --repair",
    };
    Ok(written(StatusCode::INTERNAL_SERVER_ERROR, &page, twin)?)
}
