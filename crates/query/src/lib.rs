//! DuckDB over what was kept: guarded SQL, pages, export. The only crate that links DuckDB.
//!
//! A [`Service`] asks; a worker, which is a process of its own that calls [`serve`], answers. What a
//! query names is found in the store ([`tables`]), its records are made into rows if they are not yet
//! ([`rows`]), and a database that reaches nothing else runs it ([`engine`]), if the [`guard`] lets
//! it.

mod columns;
mod comparisons;
mod confine;
mod engine;
mod error;
mod explain;
#[cfg(fuzzing)]
pub mod fuzzing;
mod guard;
mod history;
mod json;
mod library;
mod near;
mod plain;
mod protocol;
mod rows;
mod segments;
mod service;
mod tables;
mod unite;
mod views;
mod watch;
mod worker;

pub use columns::{literal, quoted};
pub use confine::can_confine;
pub use error::QueryError;
pub use guard::bare;
pub use library::DUCKDB_VERSION;
pub use near::nearest;
pub use plain::{plain, plain_lines};
pub use protocol::{ALL_ROWS, Column, FileForm, Limits, NUMBER, PLACE, Query, Source};
pub use service::{Observer, Patient, Selected, Service, WrittenFile};
pub use tables::{among, is_result, latest, table_name, table_names, word};
pub use worker::serve;

#[cfg(test)]
mod tests {
    #[test]
    fn the_library_is_loaded_when_it_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        crate::library::load(folder.path()).unwrap();
        let connection = duckdb::Connection::open_in_memory().unwrap();
        let version = connection.query_row("SELECT version()", [], |row| row.get::<_, String>(0));
        assert_eq!(version.unwrap(), format!("v{}", crate::DUCKDB_VERSION));
    }
}
