//! What the file of a segment holds: columns, and which of them each of its results has.
//!
//! [`crate::unite`] writes such files, [`crate::history`] reads them.

use std::{collections::BTreeSet, path::Path};

use forebay_store::Segment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::columns::{Made, literal};

/// The columns that tell results apart.
pub(crate) const OURS: [&str; 3] = ["_dataset", "_captured_at", "_arguments"];

/// What is said of the rows in a segment.
///
/// A name that has values of several types in several results is several columns, of which each row has
/// one at most: no value is changed. Which type covers all, depends on who asks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// The columns of the file, which are called by their places.
    pub(crate) columns: Vec<Made>,
    /// All columns that results have.
    own: Vec<Made>,
    /// The columns of a result: which of `own` it is, and its place in the file.
    forms: Vec<Vec<(usize, usize)>>,
    /// Which of `forms` each result has.
    pub(crate) form_of: Vec<usize>,
}

impl About {
    pub(crate) fn read(segment: &Segment) -> Option<Self> {
        let about: Self = Self::deserialize(&segment.about).ok()?;
        let exists =
            |(own, place): &(usize, usize)| *own < about.own.len() && *place < about.columns.len();
        let is_whole = about.form_of.len() == segment.datasets.len()
            && about.form_of.iter().all(|form| *form < about.forms.len())
            && about.forms.iter().flatten().all(exists);
        is_whole.then_some(about)
    }

    /// Says of a file that it has these columns, and no results yet.
    pub(crate) fn with(columns: &[Made]) -> Self {
        Self { columns: columns.to_vec(), ..Self::default() }
    }

    /// Adds a result, whose columns have these places in the file.
    pub(crate) fn add(&mut self, columns: &[Made], places: &[usize]) {
        let mut form = Vec::new();
        for (column, place) in columns.iter().zip(places) {
            form.push((position(&mut self.own, column), *place));
        }
        self.form_of.push(position(&mut self.forms, &form));
    }

    /// Adds the results of another segment, whose columns have these places in this file.
    pub(crate) fn add_all(&mut self, other: &Self, places: &[usize]) {
        for form in &other.form_of {
            let form = &other.forms[*form];
            let columns: Vec<Made> = form.iter().map(|(own, _)| other.own[*own].clone()).collect();
            let places: Vec<usize> = form.iter().map(|(_, place)| places[*place]).collect();
            self.add(&columns, &places);
        }
    }

    /// The columns that some of the results have, with their places.
    pub(crate) fn columns_of(&self, forms: &BTreeSet<usize>) -> Vec<(Made, usize)> {
        let all = forms.iter().flat_map(|form| &self.forms[*form]);
        let distinct: BTreeSet<&(usize, usize)> = all.collect();
        distinct.into_iter().map(|(own, place)| (self.own[*own].clone(), *place)).collect()
    }
}

/// What a column is called in the file of a segment.
pub(crate) fn in_file(place: usize) -> String {
    format!("\"{place}\"")
}

/// The files of segments that all have the same columns, as a table.
pub(crate) fn reading<'p>(segments: impl Iterator<Item = &'p Path>) -> String {
    let files: Vec<String> = segments.map(|path| literal(&path.to_string_lossy())).collect();
    format!("read_parquet([{}])", files.join(", "))
}

/// When a result was captured, as SQL reads it.
pub(crate) fn captured_at(timestamp: Timestamp) -> String {
    timestamp.strftime("%Y-%m-%d %H:%M:%S%.f").to_string()
}

/// Where something stands in a list; it is put there if it does not.
fn position<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) -> usize {
    list.iter().position(|known| known == item).unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}
