//! What stands in the place of the files of a result: a link to each, or a table of many.
//!
//! Beside the summary (stage 4 of 5), for what the summary says little about.

use std::{collections::BTreeMap, io};

use forebay_proxy::session::Call;
use forebay_store::{Address, Artifact, Dataset, Store, Viewer};
use serde_json::{Value, json};

use crate::{
    CaptureError, Links, Policy, file,
    places::Place,
    save::{self, Made, Named},
    summarise::{self, Afterwards, Tools},
};

/// The files of a result, as a client sees them.
#[derive(Debug)]
pub(crate) struct Linked {
    /// What is said of them where no summary is.
    pub(crate) note: String,
    /// Where each can be fetched.
    pub(crate) uris: Vec<String>,
    /// At their places.
    pub(crate) files: Vec<LinkedFile>,
    /// What stands there instead of links, if there are many.
    pub(crate) table: Option<Table>,
}

impl Linked {
    /// What stands for files before they have links, no longer than these.
    pub(crate) fn unnamed(places: &[Place]) -> Self {
        let block = || json!({"type": "resource_link"});
        let file = |place: &Place| LinkedFile { binary: place.binary, block: block(), shown: None };
        let uris = vec![String::new(); places.len()];
        let files = places.iter().map(file).collect();
        Self { note: String::new(), uris, files, table: None }
    }
}

/// A file of a result at one of its places, as a client sees it.
#[derive(Debug)]
pub(crate) struct LinkedFile {
    /// Which of the result's binary strings stood there.
    pub(crate) binary: usize,
    /// The block of content that it is, as JSON.
    pub(crate) block: Value,
    /// A block that shows it, too.
    pub(crate) shown: Option<Value>,
}

/// A dataset that is a table of links.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) dataset: Dataset,
    /// What is said of the files, and of it.
    pub(crate) summary: String,
    /// A link to it, for a client that takes one.
    pub(crate) link: Option<Value>,
}

/// Whoever makes links, and for whom.
pub(crate) struct Linker<'a> {
    pub(crate) links: &'a Links,
    pub(crate) policy: &'a Policy,
    pub(crate) store: &'a Store,
    pub(crate) viewer: &'a Viewer,
    pub(crate) afterwards: Afterwards<'a>,
}

/// How a text begins that stands in the place of a file, for a client that takes no links.
pub const FILE_KEPT: &str = "File kept: ";

/// What the table of the files of a tool's result is called.
pub fn files_table(tool: &str) -> String {
    format!("{tool}_files")
}

/// What is said of the files of a dataset where no summary is.
pub(crate) fn note(dataset: &Dataset, places: &[Place], afterwards: Afterwards<'_>) -> String {
    let tools = afterwards.advice.map_or(Tools::None, |_| Tools::Offered);
    let artifacts: Vec<Artifact> =
        places.iter().filter_map(|place| place.artifact(dataset)).collect();
    summarise::files(dataset.id(), &artifacts, tools)
}

impl Linker<'_> {
    /// What stands in the place of the files of `dataset`, the result of `call`.
    pub(crate) fn of_files(
        &self,
        call: &Call,
        places: &[Place],
        dataset: &Dataset,
    ) -> Result<Linked, CaptureError> {
        let is_many = places.len() > self.policy.files.gather_above;
        let table = if is_many { Some(self.table(call, places, dataset)?) } else { None };
        let file = |place: &Place| {
            let artifact = place.artifact(dataset)?;
            let shown = self.shown(dataset, &artifact);
            let block = self.block(call, dataset, &artifact);
            Some(LinkedFile { binary: place.binary, block, shown })
        };
        let files = if is_many { Vec::new() } else { places.iter().filter_map(file).collect() };
        let blocks = dataset.facts().files.iter().map(|file| file.block);
        let kept = blocks.filter_map(|block| dataset.artifact(block));
        let uris = kept.map(|artifact| self.links.uri(dataset, &artifact)).collect();
        Ok(Linked { note: note(dataset, places, self.afterwards), uris, files, table })
    }

    /// A link to the payload that the summary of `dataset` is about, for a client that takes one.
    pub(crate) fn of_main(&self, call: &Call, dataset: &Dataset) -> Option<Value> {
        let artifact = dataset.artifact(dataset.main_part()).filter(|_| call.takes_links())?;
        Some(self.links.block(dataset, &artifact))
    }

    /// A file as a block of content: a link, or the same facts as text.
    fn block(&self, call: &Call, dataset: &Dataset, artifact: &Artifact) -> Value {
        if call.takes_links() {
            return self.links.block(dataset, artifact);
        }
        let mut text = format!("{FILE_KEPT}{}", summarise::file(dataset.id(), artifact));
        let uri = self.links.uri(dataset, artifact);
        if !text.ends_with(&uri) {
            text = format!("{text}, and for a while at {uri}");
        }
        json!({"type": "text", "text": text})
    }

    /// An image small enough to be seen, if the policy wants that.
    fn shown(&self, dataset: &Dataset, artifact: &Artifact) -> Option<Value> {
        let most = self.policy.files.show_images_up_to;
        if most == 0 || !artifact.media_type.starts_with("image/") {
            return None;
        }
        let bytes = self.store.map(dataset, artifact.block).ok()?;
        let file::Preview { media_type, data } = file::preview(&bytes, most)?;
        Some(json!({"type": "image", "data": data, "mimeType": media_type}))
    }

    /// Keeps the links as a dataset of its own.
    fn table(
        &self,
        call: &Call,
        places: &[Place],
        dataset: &Dataset,
    ) -> Result<Table, CaptureError> {
        let rows: Vec<Value> = places
            .iter()
            .filter_map(|place| {
                let artifact = place.artifact(dataset)?;
                // A URL would lead nowhere after a while.
                let address = Address::of(dataset.id(), artifact.block).to_string();
                let mut row = BTreeMap::from([
                    ("name", Value::from(artifact.name.as_str())),
                    ("mimeType", artifact.media_type.as_str().into()),
                    ("size", artifact.bytes.into()),
                    ("uri", address.into()),
                    ("description", artifact.description.clone().into()),
                    ("block", artifact.block.into()),
                    ("position", place.position.into()),
                ]);
                if let Some(own) = place.tellable_address() {
                    row.insert("resource", own.into());
                }
                Some(json!(row))
            })
            .collect();
        let json = serde_json::to_vec(&rows).map_err(io::Error::from)?;
        let name = files_table(call.tool().unwrap_or_default());
        let named = Named { name: &name, server: call.upstream.as_str() };
        let made_from = vec![dataset.id().to_string()];
        let Self { policy, store, viewer, .. } = self;
        let of = Made::From(made_from);
        let (table, profile) = save::profiled(&json, named, of, store, policy, viewer)?;
        let opening = format!(
            "{} large files of this result were kept as {} and are not sent. The table {} lists them, \
             with the address of each.",
            rows.len(),
            dataset.id(),
            table.id()
        );
        let afterwards =
            Afterwards { is_structured: false, opening: Some(&opening), ..self.afterwards };
        let summary = summarise::of(&table, &profile, policy, afterwards).text;
        let link = self.of_main(call, &table);
        Ok(Table { dataset: table, summary, link })
    }
}
