//! Asks before a dataset is removed, which cannot be undone.

use askama::Template;
use serde::Serialize;

use super::Head;
use crate::{
    Pages,
    frame::{Frame, Section},
    problem::Problem,
};

/// What would be removed.
#[derive(Template, Serialize)]
#[template(path = "remove.html")]
pub(crate) struct Confirmation {
    #[serde(skip)]
    frame: Frame,
    datasets: Vec<Head>,
    #[serde(skip)]
    back: String,
}

impl Confirmation {
    pub(crate) fn of(pages: &Pages, id: &str) -> Result<Self, Problem> {
        let head = pages.head(id)?;
        let back = head.path();
        Ok(Self::for_all(vec![head], back))
    }

    /// The same for several.
    pub(crate) fn of_many(pages: &Pages, ids: &[&str], back: String) -> Result<Self, Problem> {
        let heads = ids.iter().map(|id| pages.head(id));
        Ok(Self::for_all(heads.collect::<Result<_, Problem>>()?, back))
    }

    fn for_all(datasets: Vec<Head>, back: String) -> Self {
        Self { frame: Frame::new(Section::Shelf, "Delete"), datasets, back }
    }

    fn title(&self) -> String {
        match self.datasets.as_slice() {
            [one] => format!("Delete {}?", one.id),
            many => format!("Delete {} datasets?", many.len()),
        }
    }
}
