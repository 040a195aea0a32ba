//! The collection: found, checked and made.

use forebay_services::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::service::Asking;
use crate::{COLLECTION, ChromaError};

/// The collection, as long as nobody removes it.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) id: String,
    /// How many passages it takes at once.
    pub(super) max_batch: usize,
    /// How many numbers its vectors have, once there are some.
    dimension: Option<usize>,
}

/// What Chroma says of it.
#[derive(Deserialize)]
struct Described {
    id: String,
    dimension: Option<usize>,
    metadata: Option<Value>,
    /// One member for each kind of index; those that it does not have are null.
    #[serde(default)]
    configuration_json: Value,
}

impl Collection {
    /// The collection, if it is there. One with vectors of another model is an error.
    pub(super) fn find(asking: &Asking<'_>, model: &str) -> Result<Option<Self>, ChromaError> {
        match asking.ask(Method::Get, &[COLLECTION], None) {
            Ok(described) => Self::checked(asking, described, model).map(Some),
            Err(ChromaError::NotThere) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes it, unless another has just done so.
    pub(super) fn make(asking: &Asking<'_>, model: &str) -> Result<Self, ChromaError> {
        // With what it has by default, one in fifteen of the 50 nearest of 10,000 is missed; with this, none.
        let index = json!({"space": "cosine", "ef_construction": 200, "ef_search": 800, "max_neighbors": 32});
        let wanted = json!({
            "name": COLLECTION, "get_or_create": true, "configuration": {"hnsw": index},
            "metadata": {"model": model, "made_by": "forebay"},
        });
        let described = asking.ask(Method::Post, &[], Some(&wanted))?;
        Self::checked(asking, described, model)
    }

    /// Removes it, if it is there.
    pub(super) fn remove(asking: &Asking<'_>) -> Result<(), ChromaError> {
        match asking.ask::<Value>(Method::Delete, &[COLLECTION], None) {
            Ok(_) | Err(ChromaError::NotThere) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// An error if this vector cannot be one of those in it.
    pub(super) fn check(&self, vector: &[f32], model: &str) -> Result<(), ChromaError> {
        match self.dimension {
            Some(dimension) if dimension != vector.len() => Err(ChromaError::OtherModel {
                theirs: format!("{dimension} numbers"),
                ours: format!("{} ({model})", vector.len()),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn checked(
        asking: &Asking<'_>,
        described: Described,
        model: &str,
    ) -> Result<Self, ChromaError> {
        #[derive(Deserialize)]
        struct Limits {
            max_batch_size: usize,
        }
        let Described { id, dimension, metadata, configuration_json } = described;
        let spaces =
            ["hnsw", "spann"].iter().filter_map(|kind| configuration_json[kind]["space"].as_str());
        if let Some(other) = spaces.into_iter().find(|space| *space != "cosine") {
            return Err(ChromaError::OtherSpace(other.to_owned()));
        }
        let theirs = metadata.as_ref().and_then(|it| it["model"].as_str());
        if theirs != Some(model) {
            let theirs = theirs.unwrap_or("a model that it does not name").to_owned();
            return Err(ChromaError::OtherModel { theirs, ours: model.to_owned() });
        }
        let limits: Limits = asking.ask_at(Method::Get, &["pre-flight-checks"], None)?;
        Ok(Self { id, max_batch: limits.max_batch_size.max(1), dimension })
    }
}
