//! Vectors of texts that belong to no dataset, such as what tools are for.
//!
//! They are made once for each model, and kept in the index where there is one.

use std::collections::HashMap;

use parking_lot::Mutex;
use rusqlite::{OptionalExtension, params};

use crate::{SearchError, database::Database};

/// No more are kept: servers that make up new descriptions all the time would fill the disk.
const MAX_KEPT: i64 = 20_000;

/// Those that are known, by text.
#[derive(Default)]
pub(crate) struct Texts(Mutex<HashMap<String, Vec<f32>>>);

impl Texts {
    /// The vectors of these texts, where they are known.
    pub(crate) fn of(&self, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let known = self.0.lock();
        texts.iter().map(|text| known.get(*text).cloned()).collect()
    }

    /// Those of these texts that are not known.
    pub(crate) fn unknown(&self, texts: &[String]) -> Vec<String> {
        let known = self.0.lock();
        texts.iter().filter(|text| !known.contains_key(*text)).cloned().collect()
    }

    pub(crate) fn add(&self, text: String, vector: Vec<f32>) {
        self.0.lock().insert(text, vector);
    }
}

impl Database {
    /// The vector of a text that was made before.
    pub(crate) fn text_vector(
        &self,
        model: &str,
        text: &str,
    ) -> Result<Option<Vec<f32>>, SearchError> {
        let query = "SELECT vector FROM texts WHERE model = ?1 AND text = ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let bytes: Option<Vec<u8>> = query.query_row([model, text], |row| row.get(0)).optional()?;
        let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
        Ok(bytes.map(|bytes| bytes.as_chunks::<4>().0.iter().map(number).collect()))
    }

    /// Keeps the vector of a text.
    pub(crate) fn put_text_vector(
        &self,
        model: &str,
        text: &str,
        vector: &[f32],
    ) -> Result<(), SearchError> {
        let kept: i64 =
            self.connection.query_row("SELECT count(*) FROM texts", [], |row| row.get(0))?;
        if kept >= MAX_KEPT {
            self.connection.execute("DELETE FROM texts", [])?;
        }
        let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.connection.execute(
            "INSERT OR REPLACE INTO texts VALUES (?1, ?2, ?3)",
            params![model, text, bytes],
        )?;
        Ok(())
    }
}
