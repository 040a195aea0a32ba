//! Asks before a dataset is removed, which cannot be undone.

use askama::Template;
use serde::Serialize;

use super::Head;
use crate::{
    Pages,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
};

/// What would be removed.
#[derive(Template, Serialize)]
#[template(path = "remove.html")]
pub(crate) struct Confirmation {
    #[serde(skip)]
    frame: Frame,
    datasets: Vec<Head>,
    /// Where whoever keeps them comes from.
    #[serde(skip)]
    back: String,
    /// Where whoever removes them goes.
    #[serde(skip)]
    after: String,
}

impl Confirmation {
    pub(crate) fn of(pages: &Pages, id: &str) -> Result<Self, Problem> {
        let head = pages.head(id)?;
        let back = head.path();
        Ok(Self::for_all(vec![head], back, "/shelf".to_owned()))
    }

    /// The same for those of several that are there, chosen on a page of the shelf.
    pub(crate) fn of_many(pages: &Pages, ids: &[&str], back: &str) -> Result<Self, Problem> {
        let heads = ids.iter().map(|id| pages.head(id));
        let (heads, mut gone): (Vec<_>, Vec<_>) = heads.partition(Result::is_ok);
        let heads: Vec<Head> = heads.into_iter().flatten().collect();
        match gone.pop() {
            Some(Err(problem)) if heads.is_empty() => Err(problem),
            // This page may be none any more.
            _ => Ok(Self::for_all(heads, back.to_owned(), without_page(back))),
        }
    }

    fn for_all(datasets: Vec<Head>, back: String, after: String) -> Self {
        Self { frame: Frame::new(Section::Shelf, "Delete"), datasets, back, after }
    }

    fn title(&self) -> String {
        match self.datasets.as_slice() {
            [one] => format!("Delete {}?", one.id),
            many => format!("Delete {} datasets?", many.len()),
        }
    }
}

/// The first page of a list that one stands on.
fn without_page(address: &str) -> String {
    match address.split_once('?') {
        Some((path, given)) => Given::of(given).without("page").at(path),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_that_one_comes_from_begins_anew() {
        assert_eq!(without_page("/shelf?tool=a%20b&page=3"), "/shelf?tool=a%20b");
        assert_eq!(
            (without_page("/shelf?page=2"), without_page("/shelf")),
            ("/shelf".to_owned(), "/shelf".to_owned())
        );
    }
}
