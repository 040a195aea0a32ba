//! What else is counted, by day, whose it is and what: how often a model was asked, and what it cost.
//!
//! The table is made when something is first counted. As with what has passed, no other file holds these
//! counts; they are taken over when the catalog is made anew, if they can be read.

use std::{path::Path, time::Duration};

use jiff::civil::Date;
use rusqlite::{OpenFlags, params};

use super::Catalog;

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS tallies (
        day TEXT NOT NULL,
        subject TEXT NOT NULL,
        what TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (day, subject, what)
    ) WITHOUT ROWID";

/// How often something has happened, or how much it was together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Whose it is.
    pub subject: String,
    /// What is counted.
    pub what: String,
    /// How much it is.
    pub count: u64,
}

impl Catalog {
    /// Adds to what was counted on a day.
    pub(crate) fn add_tallies(&self, day: Date, tallies: &[Tally]) -> rusqlite::Result<()> {
        self.at_once(|catalog| catalog.add_tallies_with_others(day, tallies))
    }

    /// The same, among what else is written at once.
    pub(crate) fn add_tallies_with_others(
        &self,
        day: Date,
        tallies: &[Tally],
    ) -> rusqlite::Result<()> {
        if tallies.is_empty() {
            return Ok(());
        }
        self.connection.execute_batch(TABLE)?;
        let mut add = self.connection.prepare_cached(
            "INSERT INTO tallies VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET count = count + ?4",
        )?;
        for Tally { subject, what, count } in tallies {
            add.execute(params![day.to_string(), subject, what, count.cast_signed()])?;
        }
        Ok(())
    }

    /// What was counted since a day.
    pub(crate) fn tallies(&self, from: Date) -> rusqlite::Result<Vec<Tally>> {
        if !self.has_tallies()? {
            return Ok(Vec::new());
        }
        let mut query = self.connection.prepare(
            "SELECT subject, what, sum(count) FROM tallies WHERE day >= ?1
             GROUP BY subject, what ORDER BY subject, what",
        )?;
        let tally = |row: &rusqlite::Row<'_>| {
            let count = row.get::<_, i64>(2)?.cast_unsigned();
            Ok(Tally { subject: row.get(0)?, what: row.get(1)?, count })
        };
        query.query_map([from.to_string()], tally)?.collect()
    }

    /// What was counted of one kind on each day, the latest first.
    pub(crate) fn tallies_of(&self, what: &str, from: Date) -> rusqlite::Result<Vec<(Date, u64)>> {
        if !self.has_tallies()? {
            return Ok(Vec::new());
        }
        let mut query = self.connection.prepare(
            "SELECT day, sum(count) FROM tallies WHERE what = ?1 AND day >= ?2
             GROUP BY day ORDER BY day DESC",
        )?;
        let counted = |row: &rusqlite::Row<'_>| {
            let day: String = row.get(0)?;
            let count = row.get::<_, i64>(1)?.cast_unsigned();
            Ok((day.parse().map_err(|_| super::wrong(0, day))?, count))
        };
        query.query_map([what, &from.to_string()], counted)?.collect()
    }

    /// Takes over what was counted in a catalog that is about to be made anew.
    pub(crate) fn take_over_tallies(&self, path: &Path) {
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        let before = is_file.then(|| Self::connect(path, OpenFlags::empty(), Duration::ZERO).ok());
        let days = before.flatten().and_then(|before| before.tallies_by_day().ok());
        for (day, tally) in days.into_iter().flatten() {
            // What cannot be taken over is lost, as it would be without a catalog.
            let _ = self.add_tallies(day, &[tally]);
        }
    }

    fn tallies_by_day(&self) -> rusqlite::Result<Vec<(Date, Tally)>> {
        let mut query = self.connection.prepare("SELECT day, subject, what, count FROM tallies")?;
        let tally = |row: &rusqlite::Row<'_>| {
            let day: String = row.get(0)?;
            let count = row.get::<_, i64>(3)?.cast_unsigned();
            let tally = Tally { subject: row.get(1)?, what: row.get(2)?, count };
            Ok((day.parse().map_err(|_| super::wrong(0, day))?, tally))
        };
        query.query_map([], tally)?.collect()
    }

    fn has_tallies(&self) -> rusqlite::Result<bool> {
        self.connection.table_exists(None, "tallies")
    }
}
