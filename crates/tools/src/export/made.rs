//! A file that a tool has made, as a dataset: listed, linked, and tidied up as all others are.

use std::{
    io::{self, Read},
    path::Path,
};

use forebay_store::{Dataset, Description, Facts, facts};
use serde_json::Value;

use crate::{Desk, ToolError, definitions::Tool, desk::SERVER};

/// What a file is.
pub(crate) struct Made {
    /// The tool that has made it.
    pub(crate) tool: Tool,
    /// What it is called, with how that kind of file ends.
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    /// What can be said of it in a few words.
    pub(crate) description: String,
    /// The datasets that it is made of.
    pub(crate) from: Vec<String>,
}

impl Made {
    /// Keeps the file.
    pub(crate) fn keep(self, desk: &Desk, mut content: impl Read) -> Result<Dataset, ToolError> {
        let extension = self.name.rsplit_once('.').map_or("bin", |(_, extension)| extension);
        let store = desk.store()?;
        let mut capture = store.capture()?;
        let bytes = io::copy(&mut content, capture.start_part(extension)?)?;
        let file = facts::File {
            block: 0,
            description: Some(self.description),
            media_type: self.media_type.to_owned(),
            name: self.name,
        };
        let mut description = Description {
            tool: self.tool.name().to_owned(),
            server: SERVER.to_owned(),
            original_size: bytes,
            facts: Facts {
                files: vec![file],
                made_from: self.from,
                // Nothing in it is a table: what it was made of is asked instead.
                tables: Some(Vec::new()),
                ..Facts::default()
            },
            ..Description::default()
        };
        description.set_origin(desk.viewer());
        let dataset = capture.commit(description)?;
        desk.tidy_if_due();
        Ok(dataset)
    }
}

/// Where a file is, in words: for whoever cannot see our disk, its dataset.
pub(crate) fn place(desk: &Desk, path: &Path, dataset: Option<&Dataset>) -> String {
    let Some(dataset) = dataset else { return path.display().to_string() };
    match desk.links().path(dataset, 0) {
        Some(path) => format!("{}, {}", dataset.id(), path.display()),
        None => dataset.id().to_string(),
    }
}

/// A link to the file that a dataset is.
pub(crate) fn link(desk: &Desk, dataset: &Dataset) -> Option<Value> {
    let artifact = dataset.artifact(0)?;
    Some(desk.links().block(dataset, &artifact))
}
