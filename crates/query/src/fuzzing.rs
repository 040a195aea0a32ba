//! The guard as a fuzz target sees it. Compiled for that alone (`--cfg fuzzing`).

use duckdb::Connection;

use crate::{
    QueryError,
    engine::failure,
    guard::{self, Approved, Form, Refusal},
    library,
};

/// A guard with a parser of its own. Nothing is bound and nothing runs.
pub struct Guard(Connection);

impl Guard {
    /// Loads the library, which may be unpacked into the directory for temporary files.
    pub fn new() -> Result<Self, QueryError> {
        library::load(&std::env::temp_dir())?;
        Ok(Self(Connection::open_in_memory().map_err(failure)?))
    }

    /// The tables of a text, if it is approved.
    ///
    /// # Panics
    ///
    /// If it would not be approved again, or would mean something else within the brackets in which
    /// the engine runs it.
    pub fn tables(&self, sql: &str) -> Option<Vec<String>> {
        let approved = guard::check(&self.0, sql).ok()?;
        assert_eq!(guard::check(&self.0, &approved.sql).ok().as_ref(), Some(&approved));
        if approved.form != Form::Explain {
            let wrapped = format!("SELECT * FROM (\n{}\n)", approved.sql);
            match guard::check(&self.0, &wrapped) {
                Ok(Approved { form, tables, .. }) => {
                    assert_eq!((form, &tables), (approved.form, &approved.tables));
                }
                // It was at the limit.
                Err(Refusal::TooDeep | Refusal::TooLong { .. }) => {}
                Err(refusal) => panic!("{refusal}"),
            }
        }
        Some(approved.tables.iter().map(ToString::to_string).collect())
    }
}
