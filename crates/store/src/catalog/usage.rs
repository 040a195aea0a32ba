//! What has passed, counted by day, server, tool and size.
//!
//! The one thing in the catalog that no other file holds. When the catalog is made anew the counts
//! are taken over if they can still be read; otherwise those of the datasets that exist are counted
//! again, and what merely passed is lost.

use std::{fmt::Write as _, path::Path, time::Duration};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use rusqlite::{Connection, OpenFlags, Row, ToSql, params};

use super::{Catalog, Home, size_class::SizeClass};
use crate::{DatasetId, Metadata};

pub(super) const TABLE: &str = "
    CREATE TABLE usage (
        day TEXT NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        results INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        captured INTEGER NOT NULL,
        captured_tokens INTEGER NOT NULL,
        given_tokens INTEGER NOT NULL,
        cached INTEGER NOT NULL,
        size INTEGER NOT NULL,
        PRIMARY KEY (day, server, tool, size)
    ) WITHOUT ROWID;";

/// What has passed of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The upstream that the tool belongs to.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The first day that is counted here, in UTC.
    pub since: Date,
    /// How much it was.
    pub counts: Counts,
}

/// Results of one size that a tool has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed<'a> {
    /// The upstream that the tool belongs to.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// How long each of them was.
    pub size: SizeClass,
    /// How much it was.
    pub counts: Counts,
}

/// Results, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many there were.
    pub results: u64,
    /// How long they were together.
    pub bytes: u64,
    /// How many of them were captured.
    pub captured: u64,
    /// How many tokens the captured ones have.
    pub captured_tokens: u64,
    /// How many tokens were given in their place.
    pub given_tokens: u64,
    /// How many results were given again without asking the upstream; these are not among the others.
    pub cached: u64,
}

impl Counts {
    /// How many tokens the captured results would have taken more than what was given; less than none if what was
    /// given is longer.
    pub fn tokens_kept_out(&self) -> i64 {
        self.captured_tokens.cast_signed().saturating_sub(self.given_tokens.cast_signed())
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.results += other.results;
        self.bytes += other.bytes;
        self.captured += other.captured;
        self.captured_tokens += other.captured_tokens;
        self.given_tokens += other.given_tokens;
        self.cached += other.cached;
    }
}

/// The day of a moment, in UTC.
pub(crate) fn day(timestamp: Timestamp) -> Date {
    timestamp.to_zoned(TimeZone::UTC).date()
}

impl Catalog {
    /// Adds to what a tool has given on a day.
    pub(crate) fn add_usage(&self, day: Date, passed: Passed<'_>) -> rusqlite::Result<()> {
        let Passed { server, tool, size, counts } = passed;
        let mut add = self.connection.prepare_cached(
            "INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT DO UPDATE SET
                 results = results + ?4, bytes = bytes + ?5, captured = captured + ?6,
                 captured_tokens = captured_tokens + ?7, given_tokens = given_tokens + ?8,
                 cached = cached + ?9",
        )?;
        add.execute(params![
            day.to_string(),
            server,
            tool,
            counts.results.cast_signed(),
            counts.bytes.cast_signed(),
            counts.captured.cast_signed(),
            counts.captured_tokens.cast_signed(),
            counts.given_tokens.cast_signed(),
            counts.cached.cast_signed(),
            size.number(),
        ])?;
        Ok(())
    }

    /// Counts a dataset that has been captured, unless that has been done. If nobody has counted the
    /// result that it was made of, it is counted as one, too.
    pub(crate) fn count_in(&self, metadata: &Metadata, is_noticed: bool) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET counted = 1 WHERE id = ?1 AND NOT counted";
        let mut change = self.connection.prepare_cached(change)?;
        if change.execute([metadata.id.as_str()])? == 0 {
            return Ok(());
        }
        let description = &metadata.description;
        // Whatever else has been kept has not passed.
        let Some(tokens) = description.facts.tokens else { return Ok(()) };
        let mut counts = Counts {
            captured: 1,
            captured_tokens: tokens,
            given_tokens: description.facts.summary_tokens.unwrap_or_default(),
            ..Counts::default()
        };
        if !is_noticed {
            (counts.results, counts.bytes) = (1, description.original_size);
        }
        let (server, tool) = (&description.server, &description.tool);
        let size = SizeClass::of(description.original_size);
        self.add_usage(day(metadata.timestamp), Passed { server, tool, size, counts })
    }

    /// Notes that a dataset is among the counts.
    pub(crate) fn mark_counted(&self, id: &DatasetId) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET counted = 1 WHERE id = ?1";
        self.connection.prepare_cached(change)?.execute([id.as_str()]).map(drop)
    }

    /// What has passed since a day, by server and tool.
    pub(crate) fn usage(&self, from: Date) -> rusqlite::Result<Vec<Usage>> {
        let mut query = self.connection.prepare(
            "SELECT min(day), server, tool, sum(results), sum(bytes), sum(captured),
                    sum(captured_tokens), sum(given_tokens), sum(cached)
             FROM usage WHERE day >= ?1 GROUP BY server, tool",
        )?;
        query.query_map([from.to_string()], usage)?.collect()
    }

    /// What has passed on each day since one, the latest first.
    pub(crate) fn usage_by_day(&self, from: Date) -> rusqlite::Result<Vec<(Date, Counts)>> {
        let mut query = self.connection.prepare(
            "SELECT day, '', '', sum(results), sum(bytes), sum(captured), sum(captured_tokens),
                    sum(given_tokens), sum(cached)
             FROM usage WHERE day >= ?1 GROUP BY day ORDER BY day DESC",
        )?;
        let of_day = |row: &Row<'_>| usage(row).map(|usage| (usage.since, usage.counts));
        query.query_map([from.to_string()], of_day)?.collect()
    }

    /// What has passed since a day, by size.
    pub(crate) fn usage_by_size(&self, from: Date) -> rusqlite::Result<Vec<(SizeClass, Counts)>> {
        let mut by_size = SizeClass::ALL.map(|size| (size, Counts::default()));
        for (size, usage) in self.sized_usage("WHERE day >= ?1", &[&from.to_string()])? {
            if let Some((_, counts)) = by_size.get_mut(size.index()) {
                *counts += usage.counts;
            }
        }
        Ok(by_size.into())
    }

    /// What can be read of the counts in a catalog that is about to be made anew, day by day.
    pub(crate) fn salvage_usage(path: &Path) -> Option<Vec<(SizeClass, Usage)>> {
        if !std::fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        Self::connect(path, OpenFlags::empty(), Duration::ZERO).ok()?.all_usage()
    }

    /// The same of a catalog that lies where nothing can be written.
    pub(crate) fn usage_as_written(path: &Path) -> Option<Vec<(SizeClass, Usage)>> {
        let mut uri = "file:".to_owned();
        for byte in path.as_os_str().as_encoded_bytes() {
            let _ = write!(uri, "%{byte:02x}");
        }
        // Nobody can change it, and no other file is needed.
        uri.push_str("?mode=ro&immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri, flags).ok()?;
        Self { connection, home: Home::Memory }.all_usage()
    }

    fn all_usage(&self) -> Option<Vec<(SizeClass, Usage)>> {
        self.sized_usage("", &[]).ok()
    }

    /// What has passed, day by day.
    fn sized_usage(
        &self,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<Vec<(SizeClass, Usage)>> {
        let mut query = self.connection.prepare(&format!("SELECT * FROM usage {condition}"))?;
        // An older version did not tell them apart.
        let has_size = query.column_count() > 9;
        let sized = |row: &Row<'_>| {
            let size =
                if has_size { row.get(9).map(SizeClass::numbered)? } else { SizeClass::UNKNOWN };
            Ok((size, usage(row)?))
        };
        query.query_map(values, sized)?.collect()
    }
}

fn usage(row: &Row<'_>) -> rusqlite::Result<Usage> {
    let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let day: String = row.get(0)?;
    // An older version did not count them.
    let has_cached = row.as_ref().column_count() > 8;
    Ok(Usage {
        since: day.parse().map_err(|_| super::wrong(0, day))?,
        server: row.get(1)?,
        tool: row.get(2)?,
        counts: Counts {
            results: count(3)?,
            bytes: count(4)?,
            captured: count(5)?,
            captured_tokens: count(6)?,
            given_tokens: count(7)?,
            cached: if has_cached { count(8)? } else { 0 },
        },
    })
}
