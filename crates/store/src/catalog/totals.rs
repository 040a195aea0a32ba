//! How many datasets there are, by who may see them, server and tool: kept up by the database itself, so
//! that nobody has to count.

use rusqlite::{Row, params_from_iter, types::Value};

use super::{Catalog, Filter};
use crate::{Scope, Viewer};

/// A dataset is counted for its principal among all, among those of its project, and among those of its session. The
/// last are told apart by their project, too, since a session may change it.
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
            (NEW.principal, 'project', NEW.project, '', NEW.server, NEW.tool),
            (NEW.principal, 'session', NEW.session, NEW.project, NEW.server, NEW.tool);
        UPDATE totals SET datasets = datasets + 1, stored_bytes = stored_bytes + NEW.stored_bytes
        WHERE principal = NEW.principal AND server = NEW.server AND tool = NEW.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('project', NEW.project, ''), ('session', NEW.session, NEW.project));
    END;
    CREATE TRIGGER counted_out AFTER DELETE ON datasets BEGIN
        UPDATE totals SET datasets = datasets - 1, stored_bytes = stored_bytes - OLD.stored_bytes
        WHERE principal = OLD.principal AND server = OLD.server AND tool = OLD.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('project', OLD.project, ''), ('session', OLD.session, OLD.project));
        DELETE FROM totals
        WHERE principal = OLD.principal AND server = OLD.server AND tool = OLD.tool AND datasets <= 0
            AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('project', OLD.project, ''), ('session', OLD.session, OLD.project));
    END;
    CREATE TRIGGER weighed_again AFTER UPDATE OF stored_bytes ON datasets BEGIN
        UPDATE totals SET stored_bytes = stored_bytes + NEW.stored_bytes - OLD.stored_bytes
        WHERE principal = NEW.principal AND server = NEW.server AND tool = NEW.tool AND (scope, name, project) IN (VALUES
            ('all', '', ''), ('project', NEW.project, ''), ('session', NEW.session, NEW.project));
    END;";

impl Catalog {
    /// The servers and tools that the datasets are of that `viewer` may see, each once.
    pub(crate) fn origins(&self, viewer: &Viewer) -> rusqlite::Result<Vec<(String, String)>> {
        let (seen, values) = of(viewer);
        let query = format!("SELECT DISTINCT server, tool FROM totals WHERE {seen}");
        let mut query = self.connection.prepare_cached(&query)?;
        let origin = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        query.query_map(params_from_iter(values), origin)?.collect()
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
