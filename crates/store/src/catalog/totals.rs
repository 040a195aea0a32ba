//! How many datasets there are, by who may see them, server and tool: kept up by the database itself, so
//! that nobody has to count.

use jiff::civil::Date;
use rusqlite::{Row, params, params_from_iter, types::Value};

use super::{Catalog, Filter};
use crate::{Scope, Viewer};

/// A dataset is counted for its principal among all, among those of its project, of its session, and of its day (UTC).
/// Those of a session are told apart by their project, too, since a session may change it.
pub(super) const TABLE: &str = "
    CREATE TABLE totals (
        principal TEXT NOT NULL,
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        project TEXT NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        datasets INTEGER NOT NULL DEFAULT 0,
        stored_bytes INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (principal, scope, name, project, server, tool)
    ) WITHOUT ROWID;
    CREATE TRIGGER counted_in AFTER INSERT ON datasets BEGIN
        INSERT OR IGNORE INTO totals (principal, scope, name, project, server, tool) VALUES
            (NEW.principal, 'all', '', '', NEW.server, NEW.tool),
            (NEW.principal, 'day', date(NEW.timestamp / 1000, 'unixepoch'), '', NEW.server, NEW.tool),
            (NEW.principal, 'project', NEW.project, '', NEW.server, NEW.tool),
            (NEW.principal, 'session', NEW.session, NEW.project, NEW.server, NEW.tool);
        UPDATE totals SET datasets = datasets + 1, stored_bytes = stored_bytes + NEW.stored_bytes
        WHERE principal = NEW.principal AND server = NEW.server AND tool = NEW.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('day', date(NEW.timestamp / 1000, 'unixepoch'), ''),
            ('project', NEW.project, ''), ('session', NEW.session, NEW.project));
    END;
    CREATE TRIGGER counted_out AFTER DELETE ON datasets BEGIN
        UPDATE totals SET datasets = datasets - 1, stored_bytes = stored_bytes - OLD.stored_bytes
        WHERE principal = OLD.principal AND server = OLD.server AND tool = OLD.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('day', date(OLD.timestamp / 1000, 'unixepoch'), ''),
            ('project', OLD.project, ''), ('session', OLD.session, OLD.project));
        DELETE FROM totals
        WHERE principal = OLD.principal AND server = OLD.server AND tool = OLD.tool AND datasets <= 0
            AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('day', date(OLD.timestamp / 1000, 'unixepoch'), ''),
            ('project', OLD.project, ''), ('session', OLD.session, OLD.project));
    END;
    CREATE TRIGGER weighed_again AFTER UPDATE OF stored_bytes ON datasets BEGIN
        UPDATE totals SET stored_bytes = stored_bytes + NEW.stored_bytes - OLD.stored_bytes
        WHERE principal = NEW.principal AND server = NEW.server AND tool = NEW.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('day', date(NEW.timestamp / 1000, 'unixepoch'), ''),
            ('project', NEW.project, ''), ('session', NEW.session, NEW.project));
    END;";

/// The datasets of a tool, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Total {
    /// The upstream that the tool belongs to.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// How many datasets there are of it.
    pub datasets: u64,
    /// How much of the disk they take; equal payloads are counted with each dataset.
    pub stored_bytes: u64,
}

impl Catalog {
    /// The servers and tools that the datasets are of that `viewer` may see, each once.
    pub(crate) fn origins(&self, viewer: &Viewer) -> rusqlite::Result<Vec<(String, String)>> {
        let (seen, values) = of(viewer);
        let query = format!("SELECT DISTINCT server, tool FROM totals WHERE {seen}");
        let mut query = self.connection.prepare_cached(&query)?;
        let origin = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        query.query_map(params_from_iter(values), origin)?.collect()
    }

    /// How many datasets `viewer` may see of each server and tool, and how much they take at most.
    pub(crate) fn totals(&self, viewer: &Viewer) -> rusqlite::Result<Vec<Total>> {
        let (seen, values) = of(viewer);
        let query = format!(
            "SELECT server, tool, sum(datasets), sum(stored_bytes) FROM totals WHERE {seen}
             GROUP BY server, tool ORDER BY 3 DESC, 1, 2"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let total = |row: &Row<'_>| {
            let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            let (server, tool) = (row.get(0)?, row.get(1)?);
            Ok(Total { server, tool, datasets: count(2)?, stored_bytes: count(3)? })
        };
        query.query_map(params_from_iter(values), total)?.collect()
    }

    /// How many datasets of a principal were kept on each day, in UTC, the latest first: all, or those of a
    /// server and a tool.
    pub(crate) fn days(
        &self,
        viewer: &Viewer,
        server: Option<&str>,
        tool: Option<&str>,
    ) -> rusqlite::Result<Vec<(Date, u64)>> {
        let mut query = self.connection.prepare_cached(
            "SELECT name, sum(datasets) FROM totals
             WHERE principal = ?1 AND scope = 'day' AND (?2 IS NULL OR server = ?2)
                 AND (?3 IS NULL OR tool = ?3)
             GROUP BY name ORDER BY name DESC",
        )?;
        let day = |row: &Row<'_>| {
            let day: String = row.get(0)?;
            let count = row.get::<_, i64>(1)?.cast_unsigned();
            Ok((day.parse().map_err(|_| super::wrong(0, day))?, count))
        };
        query.query_map(params![viewer.own_name(), server, tool], day)?.collect()
    }

    /// How much all datasets take at most: equal payloads are counted each time.
    pub(crate) fn stored_bytes(&self) -> rusqlite::Result<u64> {
        let query = "SELECT coalesce(sum(stored_bytes), 0) FROM totals WHERE scope = 'all'";
        self.connection.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// How many datasets there are, of all principals.
    pub(crate) fn datasets(&self) -> rusqlite::Result<u64> {
        let query = "SELECT coalesce(sum(datasets), 0) FROM totals WHERE scope = 'all'";
        self.connection.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// How many datasets a filter lets through that asks for no time.
    pub(super) fn total(&self, filter: &Filter) -> rusqlite::Result<u64> {
        let (seen, mut values) = of(&filter.viewer);
        let mut sql = format!("SELECT coalesce(sum(datasets), 0) FROM totals WHERE ({seen})");
        for (condition, value) in
            [(" AND tool = ?", &filter.tool), (" AND server = ?", &filter.server)]
        {
            if let Some(value) = value {
                sql.push_str(condition);
                values.push(Value::Text(value.clone()));
            }
        }
        let mut query = self.connection.prepare_cached(&sql)?;
        query.query_row(params_from_iter(values), |row| row.get(0)).map(i64::cast_unsigned)
    }
}

/// The totals of what `viewer` may see, as a condition with its values.
fn of(viewer: &Viewer) -> (&'static str, Vec<Value>) {
    let name = viewer.own_name();
    match viewer.scope {
        Scope::All => ("principal = ? AND scope = 'all'", vec![name]),
        Scope::Session => {
            ("principal = ? AND scope = 'session' AND name = ?", vec![name, viewer.own_session()])
        }
        Scope::Project => (
            "principal = ? AND scope = 'project' AND name = ?
             OR principal = ? AND scope = 'session' AND name = ? AND project IS NOT ?",
            vec![
                name.clone(),
                viewer.own_project(),
                name,
                viewer.own_session(),
                viewer.own_project(),
            ],
        ),
    }
}
