//! What is no more here and has yet to be removed elsewhere: a service that keeps vectors may not answer when a
//! dataset is removed, and must not keep its texts for that.

use forebay_store::DatasetId;
use rusqlite::params;

use crate::{
    SearchError,
    columns::{self, count},
    database::Database,
};

/// A dataset that is to be removed from a place.
pub(crate) struct Removal {
    pub(crate) place: String,
    pub(crate) dataset: String,
}

impl Database {
    /// Notes datasets that are to be removed from a place.
    pub(crate) fn add_removals(&self, removals: &[Removal]) -> Result<(), SearchError> {
        let mut note =
            self.connection.prepare_cached("INSERT OR IGNORE INTO removals VALUES (?1, ?2)")?;
        for Removal { place, dataset } in removals {
            note.execute([place, dataset])?;
        }
        Ok(())
    }

    /// Takes a dataset off the list, wherever it was to be removed.
    pub(crate) fn keep_elsewhere(&self, dataset: &DatasetId) -> Result<(), SearchError> {
        let keep = "DELETE FROM removals WHERE dataset = ?1";
        self.connection.prepare_cached(keep)?.execute([dataset.as_str()])?;
        Ok(())
    }

    /// All that is to be removed from anywhere.
    pub(crate) fn all_removals(&self) -> Result<Vec<Removal>, SearchError> {
        let mut query = self.connection.prepare_cached("SELECT place, dataset FROM removals")?;
        let removals =
            query.query_map([], |row| Ok(Removal { place: row.get(0)?, dataset: row.get(1)? }))?;
        Ok(removals.collect::<rusqlite::Result<_>>()?)
    }

    /// What is to be removed from a place, `limit` at most.
    pub(crate) fn removals(
        &self,
        place: &str,
        limit: usize,
    ) -> Result<Vec<DatasetId>, SearchError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT dataset FROM removals WHERE place = ?1 LIMIT ?2")?;
        let datasets =
            query.query_map(params![place, count(limit)], |row| columns::dataset(row, 0))?;
        Ok(datasets.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes that they have been removed there.
    pub(crate) fn end_removals(
        &self,
        place: &str,
        datasets: &[DatasetId],
    ) -> Result<(), SearchError> {
        self.at_once(|database| {
            let mut end = database
                .connection
                .prepare_cached("DELETE FROM removals WHERE place = ?1 AND dataset = ?2")?;
            for dataset in datasets {
                end.execute([place, dataset.as_str()])?;
            }
            Ok(())
        })
    }
}
