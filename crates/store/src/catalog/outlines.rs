//! The least that is to be known of many datasets at once.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params_from_iter, types::Value};

use super::{Catalog, Filter, name, wrong};
use crate::{DatasetId, Principal, united::Origin};

/// A dataset among many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The dataset's name.
    pub id: DatasetId,
    /// When it was captured.
    pub timestamp: Timestamp,
    /// The project for which it was kept; empty if that is not known.
    pub project: String,
    /// How long its payloads are.
    pub bytes: u64,
}

impl Catalog {
    /// The datasets that `filter` lets through, newest first, without regard to its offset and limit.
    pub(crate) fn outlines(&self, filter: &Filter) -> rusqlite::Result<Vec<Outline>> {
        let (sql, values) = listing(filter);
        let mut query = self.connection.prepare_cached(&sql)?;
        query.query_map(params_from_iter(values), outline)?.collect()
    }

    /// Whose result a dataset is.
    pub(crate) fn origin(&self, id: &DatasetId) -> rusqlite::Result<Option<Origin>> {
        let query = "SELECT server, tool, project, principal FROM datasets WHERE id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let origin = |row: &Row<'_>| {
            let (server, tool, project) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let principal = Principal::new(row.get::<_, String>(3)?);
            Ok(Origin { principal, server, tool, project })
        };
        query.query_row([id.as_str()], origin).optional()
    }
}

fn listing(filter: &Filter) -> (String, Vec<Value>) {
    let (fitting, values) = filter.all("id, timestamp, project, bytes");
    (format!("{fitting} ORDER BY timestamp DESC, id"), values)
}

fn outline(row: &Row<'_>) -> rusqlite::Result<Outline> {
    let timestamp: i64 = row.get(1)?;
    Ok(Outline {
        id: name(row, 0)?,
        timestamp: Timestamp::from_millisecond(timestamp)
            .map_err(|_| wrong(1, timestamp.to_string()))?,
        project: row.get(2)?,
        bytes: row.get::<_, i64>(3)?.cast_unsigned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scope, Viewer};

    #[test]
    fn the_results_of_a_tool_are_found_by_an_index() {
        let catalog = Catalog::in_memory().unwrap();
        let (session, project) = (Some("1".to_owned()), Some("/work".to_owned()));
        for scope in [Scope::Session, Scope::Project, Scope::All] {
            let (session, project) = (session.clone(), project.clone());
            let viewer = Viewer { session, project, scope, ..Viewer::default() };
            let (tool, server) = (Some("list".to_owned()), Some("notes".to_owned()));
            let (sql, values) = listing(&Filter { tool, server, viewer, ..Filter::default() });
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut query = catalog.connection.prepare(&sql).unwrap();
            let rows = query.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
            let plan: Vec<String> = rows.map(Result::unwrap).collect();
            let of_table = plan.iter().filter(|step| step.contains("datasets"));
            assert!(of_table.clone().all(|step| step.starts_with("SEARCH")), "{plan:?}");
            assert_ne!(of_table.count(), 0, "{plan:?}");
        }
    }
}
