//! A desk for tests, at a store of its own.

use std::{io::Write, sync::Arc};

use forebay_intercept::{Clients, Links};
use forebay_query::{Limits, Service};
use forebay_search::{Found, Hit, Passage, Question, SearchError};
use forebay_store::{
    Dataset, Description, Durability, Facts, Retention, Shelf, Viewer,
    facts::{self, Field, Kind, Records, Schema, Summary},
};
use parking_lot::Mutex;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Desk, Finder, reply::Reply};

/// A store, and a desk at which all of it is seen.
pub(crate) struct Stage {
    pub(crate) home: TempDir,
    pub(crate) desk: Desk,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(home.path(), Durability::default(), Retention::default());
        let service =
            Service::new(home.path(), Limits::default(), "/no/such/program".into(), Vec::new());
        let desk = Desk::new(home.path(), Arc::new(shelf), service);
        Self { home, desk }
    }

    /// The same for clients that cannot see our disk.
    pub(crate) fn elsewhere(self) -> Self {
        let desk = self.desk.linking(Links::new(None, Clients::Elsewhere));
        Self { desk, ..self }
    }

    /// The same, where a finder finds these, whatever is asked.
    pub(crate) fn finding(self, found: Found) -> (Self, Arc<Fixed>) {
        let fixed = Arc::new(Fixed { found, asked: Mutex::default() });
        let desk = self.desk.finding_by(fixed.clone());
        (Self { desk, ..self }, fixed)
    }

    /// Keeps a payload with this ending.
    pub(crate) fn keep(&self, tool: &str, extension: &str, payload: &[u8]) -> Dataset {
        self.keep_as(tool, extension, payload, Facts::default(), &Viewer::default())
    }

    pub(crate) fn keep_as(
        &self,
        tool: &str,
        extension: &str,
        payload: &[u8],
        facts: Facts,
        viewer: &Viewer,
    ) -> Dataset {
        let store = self.desk.store().unwrap();
        let mut capture = store.capture().unwrap();
        capture.start_part(extension).unwrap().write_all(payload).unwrap();
        let (tool, server) = (tool.to_owned(), "shop".to_owned());
        let mut description = Description { tool, server, facts, ..Description::default() };
        description.set_origin(viewer);
        capture.commit(description).unwrap()
    }

    /// Keeps files of a result, each with its name and media type.
    pub(crate) fn keep_files(&self, tool: &str, files: &[(&str, &str, &[u8])]) -> Dataset {
        let store = self.desk.store().unwrap();
        let mut capture = store.capture().unwrap();
        for (name, _, payload) in files {
            let extension = name.rsplit('.').next().unwrap();
            capture.start_part(extension).unwrap().write_all(payload).unwrap();
        }
        let told = files.iter().enumerate().map(|(block, (name, media_type, _))| facts::File {
            block,
            description: None,
            media_type: (*media_type).to_owned(),
            name: (*name).to_owned(),
        });
        let facts = Facts { files: told.collect(), ..Facts::default() };
        let (tool, server) = (tool.to_owned(), "shop".to_owned());
        capture.commit(Description { tool, server, facts, ..Description::default() }).unwrap()
    }

    /// Keeps records with so many fields, of which much is known.
    pub(crate) fn keep_records(&self, tool: &str, fields: usize) -> Dataset {
        let store = self.desk.store().unwrap();
        let mut capture = store.capture().unwrap();
        capture.start_part("json").unwrap().write_all(b"[]").unwrap();
        let field = |index: usize| Field {
            distinct: Some(7),
            min: Some("2026-01-01".to_owned()),
            max: Some("2026-12-31".to_owned()),
            top: vec![("open".to_owned(), 300), ("paid".to_owned(), 200)],
            ..Field::new(format!("field_number_{index}"), Kind::String)
        };
        let fields: Vec<Field> = (0..fields).map(field).collect();
        let table = facts::Table {
            fields: fields.clone(),
            records: 500,
            path: "$".into(),
            ..Default::default()
        };
        let sample = format!("{{\"field_number_0\":\"{}\"}}", "open, or paid ".repeat(20));
        let mut facts = Facts { samples: Some(vec![sample; 3]), ..Facts::default() };
        facts.tables = Some(vec![table]);
        facts.arguments = Some(serde_json::json!({"status": "open", "page": 1}));
        let records = Records { total_records: 500, ..Records::default() };
        let description = Description {
            tool: tool.to_owned(),
            server: "shop".to_owned(),
            record_count: Some(500),
            schema: Some(Schema { fields, ..Schema::default() }),
            summary: Some(Summary::Records(records)),
            facts,
            ..Description::default()
        };
        capture.commit(description).unwrap()
    }
}

/// Finds the same whatever is asked, and remembers that.
pub(crate) struct Fixed {
    found: Found,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Finder for Fixed {
    fn find(&self, question: &Question, _: &Viewer) -> Result<Found, SearchError> {
        self.asked.lock().push(question.clone());
        let mut found = self.found.clone();
        found.hits.truncate(question.limit);
        Ok(found)
    }

    fn rank(&self, _: &str, _: &[&str]) -> Option<Vec<f32>> {
        None
    }
}

/// Something that was found.
pub(crate) fn hit(dataset: &Dataset, score: f32, text: &str, lines: Option<(u64, u64)>) -> Hit {
    let (dataset, title) = (dataset.id().clone(), format!("About {}.", dataset.id()));
    Hit {
        dataset,
        score,
        title,
        passage: Passage { text: text.to_owned(), lines, block: None },
        left_out: 0,
    }
}

/// The texts of a reply that is no error.
pub(crate) fn texts(reply: Reply) -> Vec<String> {
    let reply: Value = serde_json::from_slice(&reply.into_json()).unwrap();
    assert_ne!(reply["isError"], true, "{reply}");
    let blocks = reply["content"].as_array().unwrap().iter();
    blocks.map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}
