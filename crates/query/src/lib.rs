//! DuckDB over what was kept: guarded SQL, pages, export. The only crate that links DuckDB.

mod guard;
mod library;

#[cfg(test)]
mod tests {
    #[test]
    fn the_library_is_loaded_when_it_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        crate::library::load(folder.path()).unwrap();
        let connection = duckdb::Connection::open_in_memory().unwrap();
        let version = connection.query_row("SELECT version()", [], |row| row.get::<_, String>(0));
        assert!(version.unwrap().starts_with('v'));
    }
}

/// What can go wrong with a query.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The library is missing or broken.
    #[error("DuckDB's library cannot be loaded: {0}")]
    Library(String),
}
