//! What has happened lately, in all processes: calls, and what was asked of datasets.
//!
//! Only so much of it is remembered, the latest; no other file holds it. It is written with the counts of what has
//! passed, after the reply, so it may be some seconds behind.

use jiff::Timestamp;
use rusqlite::{Row, params};

use super::{Catalog, wrong};
use crate::{DatasetId, Tally};

/// How many calls are remembered.
const MAX_EVENTS: i64 = 1_000;
/// How many questions are.
const MAX_QUESTIONS: i64 = 10_000;

pub(super) const TABLES: &str = "
    CREATE TABLE activity (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        client TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        millis INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        why TEXT NOT NULL,
        dataset TEXT NOT NULL
    );
    CREATE TABLE asked (
        number INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        at INTEGER NOT NULL,
        tool TEXT NOT NULL,
        client TEXT NOT NULL,
        what TEXT NOT NULL
    );
    CREATE INDEX asked_of ON asked (dataset, number DESC);";

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When it was answered.
    pub at: Timestamp,
    /// The upstream.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// What the client calls itself; empty if it has not said.
    pub client: String,
    /// How long the result was.
    pub bytes: u64,
    /// How many milliseconds it took.
    pub millis: u64,
    /// What became of the result.
    pub outcome: Outcome,
    /// Why.
    pub why: String,
    /// The dataset that it was kept as.
    pub dataset: Option<DatasetId>,
}

/// What became of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was kept, and a summary stands in its place.
    Kept,
    /// It went through as it came.
    Passed,
    /// An earlier one was given again.
    Again,
    /// It is an error, or something failed.
    Failed,
}

/// What somebody asked of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The dataset.
    pub dataset: DatasetId,
    /// When.
    pub at: Timestamp,
    /// The tool that was asked.
    pub tool: String,
    /// What the client calls itself; empty if it has not said.
    pub client: String,
    /// What was asked, shortened.
    pub what: String,
}

/// What is written with the counts of what has passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// Calls that were answered, the oldest first.
    pub events: Vec<Event>,
    /// What was asked of datasets, the oldest first.
    pub questions: Vec<Question>,
    /// What else is counted.
    pub tallies: Vec<Tally>,
}

impl Noted {
    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.questions.is_empty() && self.tallies.is_empty()
    }
}

impl Outcome {
    const NAMED: [(Self, &'static str); 4] = [
        (Self::Kept, "kept"),
        (Self::Passed, "passed"),
        (Self::Again, "again"),
        (Self::Failed, "failed"),
    ];

    /// It in a word.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(_, known)| *known == name).map(|(outcome, _)| *outcome)
    }
}

impl Catalog {
    /// Remembers what has happened, and forgets what happened long ago.
    pub(crate) fn note(&self, noted: &Noted) -> rusqlite::Result<()> {
        let mut event = self.connection.prepare_cached(
            "INSERT INTO activity (at, server, tool, client, bytes, millis, outcome, why, dataset)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for Event { at, server, tool, client, bytes, millis, outcome, why, dataset } in
            &noted.events
        {
            event.execute(params![
                at.as_millisecond(),
                server,
                tool,
                client,
                bytes.cast_signed(),
                millis.cast_signed(),
                outcome.name(),
                why,
                dataset.as_ref().map_or("", DatasetId::as_str),
            ])?;
        }
        let mut question = self.connection.prepare_cached(
            "INSERT INTO asked (dataset, at, tool, client, what) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for Question { dataset, at, tool, client, what } in &noted.questions {
            question.execute(params![dataset.as_str(), at.as_millisecond(), tool, client, what])?;
        }
        for (table, most) in [("activity", MAX_EVENTS), ("asked", MAX_QUESTIONS)] {
            let forget = format!(
                "DELETE FROM {table} WHERE number <= (SELECT max(number) FROM {table}) - ?1"
            );
            self.connection.prepare_cached(&forget)?.execute([most])?;
        }
        Ok(())
    }

    /// The latest calls, the last one first.
    pub(crate) fn recent(&self, limit: u64) -> rusqlite::Result<Vec<Event>> {
        let mut query = self.connection.prepare_cached(
            "SELECT at, server, tool, client, bytes, millis, outcome, why, dataset FROM activity
             ORDER BY number DESC LIMIT ?1",
        )?;
        query.query_map([limit.cast_signed()], event)?.collect()
    }

    /// How many calls are remembered.
    pub(crate) fn remembered(&self) -> rusqlite::Result<u64> {
        let query = "SELECT count(*) FROM activity";
        self.connection.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// What was asked of a dataset, the last question first.
    pub(crate) fn asked_of(&self, id: &DatasetId, limit: u64) -> rusqlite::Result<Vec<Question>> {
        let mut query = self.connection.prepare_cached(
            "SELECT at, tool, client, what FROM asked WHERE dataset = ?1
             ORDER BY number DESC LIMIT ?2",
        )?;
        let question = |row: &Row<'_>| {
            let (tool, client, what) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Question { dataset: id.clone(), at: time(row, 0)?, tool, client, what })
        };
        query.query_map(params![id.as_str(), limit.cast_signed()], question)?.collect()
    }
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let (outcome, dataset): (String, String) = (row.get(6)?, row.get(8)?);
    Ok(Event {
        at: time(row, 0)?,
        server: row.get(1)?,
        tool: row.get(2)?,
        client: row.get(3)?,
        bytes: count(4)?,
        millis: count(5)?,
        outcome: Outcome::named(&outcome).ok_or_else(|| wrong(6, outcome))?,
        why: row.get(7)?,
        dataset: DatasetId::parse(&dataset),
    })
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let written: i64 = row.get(column)?;
    Timestamp::from_millisecond(written).map_err(|_| wrong(column, written.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: i64) -> Event {
        let dataset = (number % 2 == 0).then(|| DatasetId::parse("k3v9x2ma").unwrap());
        Event {
            at: Timestamp::from_millisecond(number).unwrap(),
            server: "shop".to_owned(),
            tool: format!("tool_{number}"),
            client: String::new(),
            bytes: 10,
            millis: 2,
            outcome: if dataset.is_some() { Outcome::Kept } else { Outcome::Passed },
            why: "short".to_owned(),
            dataset,
        }
    }

    #[test]
    fn the_latest_are_remembered_and_no_more() {
        let catalog = Catalog::in_memory().unwrap();
        let events: Vec<Event> = (0..MAX_EVENTS + 5).map(event).collect();
        catalog.note(&Noted { events: events.clone(), ..Noted::default() }).unwrap();
        let recent = catalog.recent(u64::from(u32::MAX)).unwrap();
        assert_eq!(recent.len(), usize::try_from(MAX_EVENTS).unwrap());
        assert_eq!(recent[..2], [events[1_004].clone(), events[1_003].clone()]);
        catalog.note(&Noted { events: vec![event(7)], ..Noted::default() }).unwrap();
        assert_eq!(catalog.recent(1).unwrap(), [event(7)]);
        assert_eq!(catalog.recent(u64::from(u32::MAX)).unwrap().len(), recent.len());
    }

    #[test]
    fn questions_are_those_of_their_dataset() {
        let catalog = Catalog::in_memory().unwrap();
        let question = |id: &str, what: &str| Question {
            dataset: DatasetId::parse(id).unwrap(),
            at: Timestamp::UNIX_EPOCH,
            tool: "query".to_owned(),
            client: "c".to_owned(),
            what: what.to_owned(),
        };
        let questions =
            vec![question("k3v9x2ma", "a"), question("22222222", "b"), question("k3v9x2ma", "c")];
        catalog.note(&Noted { questions: questions.clone(), ..Noted::default() }).unwrap();
        let asked = catalog.asked_of(&questions[0].dataset, 9).unwrap();
        assert_eq!(asked, [questions[2].clone(), questions[0].clone()]);
    }
}
