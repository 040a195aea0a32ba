//! Vectors in Chroma, a service that many processes and machines may share, by its HTTP API (v2).
//!
//! All of them are in one collection. What a passage is about goes with its vector, so that others who look
//! into the collection see more than numbers; nothing of it is needed here but for whom it was kept, where
//! from and when. How the service is asked is in [`service`], what the collection must be in [`collection`].

mod collection;
mod service;

use std::{collections::HashSet, time::Duration};

use forebay_services::{Client, Method};
use forebay_store::DatasetId;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use self::{
    collection::Collection,
    service::{Asking, Service},
};

use crate::{Among, COLLECTION, ChromaError, Document, Near, PassageVector, SearchError, Vectors};

/// Somebody waits for what is found.
const TO_QUERY: Duration = Duration::from_millis(1_500);
/// Nobody waits for what is kept, or removed.
const TO_CHANGE: Duration = Duration::from_secs(30);
/// How many datasets are named at once.
const DATASETS_AT_ONCE: usize = 500;

/// Where Chroma is, and whose vectors are kept there.
#[derive(Clone)]
pub struct ChromaSettings {
    /// Its address, without `/api/v2`.
    pub url: Url,
    /// What it wants to see in `x-chroma-token`, if it does.
    pub token: Option<String>,
    /// The model that the vectors are of.
    pub model: String,
}

/// Vectors in Chroma.
pub struct Chroma {
    service: Service,
    model: String,
    /// The collection as it was found last. It may have been removed since.
    known: Mutex<Option<Collection>>,
}

/// What becomes of a request if there is no collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// One is made.
    Make,
    /// There is nothing to be done.
    Leave,
}

impl Chroma {
    /// Vectors there. Nothing is asked yet.
    pub fn new(client: Client, settings: ChromaSettings) -> Self {
        let ChromaSettings { url, token, model } = settings;
        Self { service: Service::new(client, url, token), model, known: Mutex::default() }
    }

    /// What `work` does with the collection. One that was removed meanwhile is looked for, or made, once more.
    fn within<T>(
        &self,
        absent: Absent,
        asking: &Asking<'_>,
        work: impl Fn(&Collection) -> Result<T, ChromaError>,
    ) -> Result<Option<T>, ChromaError> {
        for _ in 0..2 {
            let Some(collection) = self.collection(absent, asking)? else { return Ok(None) };
            match work(&collection) {
                Err(ChromaError::NotThere) => drop(self.known.lock().take()),
                Err(error) => {
                    // Whatever is wrong with it may have been put right by the next time.
                    self.known.lock().take();
                    return Err(error);
                }
                Ok(done) => return Ok(Some(done)),
            }
        }
        Ok(None)
    }

    fn collection(
        &self,
        absent: Absent,
        asking: &Asking<'_>,
    ) -> Result<Option<Collection>, ChromaError> {
        if let Some(known) = self.known.lock().clone() {
            return Ok(Some(known));
        }
        let found = match (Collection::find(asking, &self.model)?, absent) {
            (Some(found), Absent::Make | Absent::Leave) => Some(found),
            (None, Absent::Make) => Some(Collection::make(asking, &self.model)?),
            (None, Absent::Leave) => None,
        };
        self.known.lock().clone_from(&found);
        Ok(found)
    }

    /// The ids of all that is there of a dataset.
    fn ids_of(
        asking: &Asking<'_>,
        collection: &Collection,
        dataset: &DatasetId,
    ) -> Result<Vec<String>, ChromaError> {
        #[derive(Deserialize)]
        struct Got {
            ids: Vec<String>,
        }
        let wanted = json!({"where": {"dataset": dataset.as_str()}, "include": []});
        let got: Got = asking.ask(Method::Post, &[&collection.id, "get"], Some(&wanted))?;
        Ok(got.ids)
    }

    /// The nearest of all, or of those that fit `condition`.
    fn query(
        asking: &Asking<'_>,
        collection: &Collection,
        question: (&[f32], usize),
        condition: Option<Value>,
    ) -> Result<Vec<(Near, Value)>, ChromaError> {
        #[derive(Deserialize)]
        struct Got {
            distances: [Vec<f32>; 1],
            metadatas: [Vec<Value>; 1],
        }
        let (vector, limit) = question;
        let mut asked = json!({
            "query_embeddings": [vector], "n_results": limit, "include": ["distances", "metadatas"],
        });
        if let Some(condition) = condition {
            asked["where"] = condition;
        }
        let Got { distances: [distances], metadatas: [metadatas] } =
            asking.ask(Method::Post, &[&collection.id, "query"], Some(&asked))?;
        let near = distances.into_iter().zip(metadatas).filter_map(|(distance, metadata)| {
            // What somebody else has put there is passed over.
            let dataset = DatasetId::parse(metadata["dataset"].as_str()?)?;
            let passage = usize::try_from(metadata["passage"].as_u64()?).ok()?;
            Some((Near { dataset, passage, similarity: 1.0 - distance }, metadata))
        });
        Ok(near.collect())
    }

    /// The nearest of those that fit. What the condition cannot say is looked at here, of more and more of them.
    fn fitting(
        asking: &Asking<'_>,
        collection: &Collection,
        question: (&[f32], usize),
        among: &Among,
    ) -> Result<Vec<Near>, ChromaError> {
        let (vector, limit) = question;
        let mut asked = limit;
        loop {
            let condition = Some(condition(among));
            let all = Self::query(asking, collection, (vector, asked), condition)?;
            let is_all = all.len() < asked;
            let fitting = fitting(all, among);
            if is_all || fitting.len() >= limit {
                return Ok(fitting);
            }
            asked *= 4;
        }
    }
}

impl Vectors for Chroma {
    fn place(&self) -> String {
        format!("{}{COLLECTION}", self.service.place())
    }

    fn put(&self, document: &Document, vectors: &[PassageVector]) -> Result<(), SearchError> {
        let asking = self.service.within(TO_CHANGE);
        let put = self.within(Absent::Make, &asking, |collection| {
            for vector in vectors {
                collection.check(&vector.vector, &self.model)?;
            }
            for batch in vectors.chunks(collection.max_batch) {
                let rows = rows(document, batch, &self.model);
                asking.ask_for_nothing(&[&collection.id, "upsert"], &rows)?;
            }
            // What is new comes first: whatever happens, something of the dataset is found.
            let new: HashSet<String> =
                vectors.iter().map(|it| id(&document.dataset, it.passage)).collect();
            let mut stale = Self::ids_of(&asking, collection, &document.dataset)?;
            stale.retain(|id| !new.contains(id));
            for batch in stale.chunks(collection.max_batch) {
                asking.ask_for_nothing(&[&collection.id, "delete"], &json!({"ids": batch}))?;
            }
            Ok(())
        })?;
        // Somebody removes it again and again.
        Ok(put.ok_or(ChromaError::NotThere)?)
    }

    fn remove(&self, datasets: &[DatasetId]) -> Result<(), SearchError> {
        for datasets in datasets.chunks(DATASETS_AT_ONCE) {
            let asking = self.service.within(TO_CHANGE);
            let names: Vec<&str> = datasets.iter().map(DatasetId::as_str).collect();
            self.within(Absent::Leave, &asking, |collection| {
                let gone = json!({"where": {"dataset": {"$in": names}}});
                asking.ask_for_nothing(&[&collection.id, "delete"], &gone)
            })?;
        }
        Ok(())
    }

    fn make_room(&self, sample: &dyn Fn() -> Option<Vec<f32>>) -> Result<(), SearchError> {
        self.known.lock().take();
        let asking = self.service.within(TO_CHANGE);
        let is_fit = Collection::find(&asking, &self.model).and_then(|found| {
            let Some(collection) = found else { return Ok(()) };
            sample().map_or(Ok(()), |sample| collection.check(&sample, &self.model))
        });
        match is_fit {
            // Whosever vectors are in it: this is how one makes room for those of another model.
            Err(ChromaError::OtherModel { .. } | ChromaError::OtherSpace(_)) => {
                Collection::remove(&asking)?;
                Ok(())
            }
            other => Ok(other?),
        }
    }

    fn nearest(
        &self,
        vector: &[f32],
        among: &Among,
        limit: usize,
    ) -> Result<Vec<Near>, SearchError> {
        let is_nothing = among.within.as_ref().is_some_and(|these| these.is_empty());
        if limit == 0 || is_nothing {
            return Ok(Vec::new());
        }
        let asking = self.service.within(TO_QUERY);
        let found = self.within(Absent::Leave, &asking, |collection| {
            collection.check(vector, &self.model)?;
            // Who names datasets has seen that others are nearer, or wants these alone.
            if among.within.as_ref().is_some_and(|these| these.len() <= DATASETS_AT_ONCE) {
                let condition = Some(condition(among));
                let found = Self::query(&asking, collection, (vector, limit), condition)?;
                return Ok(found.into_iter().map(|(near, _)| near).collect());
            }
            // A condition has the service look at the metadata of everything first, which takes much
            // longer than to look at a few more here.
            let some_more = limit + limit / 2 + 16;
            let all = Self::query(&asking, collection, (vector, some_more), None)?;
            let mut fitting = fitting(all, among);
            if fitting.len() < limit {
                fitting = Self::fitting(&asking, collection, (vector, limit), among)?;
            }
            fitting.truncate(limit);
            Ok(fitting)
        })?;
        Ok(found.ok_or(ChromaError::NotThere)?)
    }

    fn of(&self, dataset: &DatasetId, passage: usize) -> Result<Option<Vec<f32>>, SearchError> {
        #[derive(Deserialize)]
        struct Got {
            embeddings: Vec<Vec<f32>>,
        }
        let asking = self.service.within(TO_QUERY);
        let got = self.within(Absent::Leave, &asking, |collection| {
            let wanted = json!({"ids": [id(dataset, passage)], "include": ["embeddings"]});
            asking.ask::<Got>(Method::Post, &[&collection.id, "get"], Some(&wanted))
        })?;
        Ok(got.and_then(|got| got.embeddings.into_iter().next()))
    }
}

/// What a passage is called there.
fn id(dataset: &DatasetId, passage: usize) -> String {
    format!("{dataset}#{passage}")
}

/// Vectors as Chroma takes them, each with what it is about.
fn rows(document: &Document, vectors: &[PassageVector], model: &str) -> Value {
    let text = |it: &PassageVector| document.passages.get(it.passage).map(|it| it.text.as_str());
    let about = |it: &PassageVector| {
        json!({
            "dataset": document.dataset.as_str(), "passage": it.passage,
            "principal": document.principal.as_str(), "server": document.server,
            "tool": document.tool, "kept": document.kept.as_millisecond(),
            "bytes": document.bytes, "title": document.title, "model": model,
        })
    };
    json!({
        "ids": vectors.iter().map(|it| id(&document.dataset, it.passage)).collect::<Vec<_>>(),
        "embeddings": vectors.iter().map(|it| &it.vector).collect::<Vec<_>>(),
        "documents": vectors.iter().map(|it| text(it).unwrap_or_default()).collect::<Vec<_>>(),
        "metadatas": vectors.iter().map(about).collect::<Vec<_>>(),
    })
}

/// Those of the passages that are among them.
fn fitting(all: Vec<(Near, Value)>, among: &Among) -> Vec<Near> {
    let fitting = all.into_iter().filter(|(near, metadata)| fits(near, metadata, among));
    fitting.map(|(near, _)| near).collect()
}

/// True if a passage with this metadata is among them.
fn fits(near: &Near, metadata: &Value, among: &Among) -> bool {
    let Among { principal, server, tool, since, until, min_bytes, within } = among;
    let is = |key: &str, wanted: Option<&str>| wanted.is_none_or(|it| metadata[key] == it);
    let kept = || metadata["kept"].as_i64();
    let is_new = since.is_none_or(|it| kept().is_some_and(|kept| kept >= it.as_millisecond()));
    let is_old = until.is_none_or(|it| kept().is_some_and(|kept| kept < it.as_millisecond()));
    let bytes = || metadata["bytes"].as_u64();
    let is_large = min_bytes.is_none_or(|it| bytes().is_some_and(|bytes| bytes >= it));
    is("principal", Some(principal.as_str()))
        && is("server", server.as_deref())
        && is("tool", tool.as_deref())
        && is_new
        && is_old
        && is_large
        && within.as_ref().is_none_or(|these| these.contains(&near.dataset))
}

/// The same as Chroma is asked for it, but for a list of datasets that is long.
fn condition(among: &Among) -> Value {
    let Among { principal, server, tool, since, until, min_bytes, within } = among;
    let mut all = vec![json!({"principal": principal.as_str()})];
    all.extend(server.as_ref().map(|server| json!({"server": server})));
    all.extend(tool.as_ref().map(|tool| json!({"tool": tool})));
    all.extend(since.map(|since| json!({"kept": {"$gte": since.as_millisecond()}})));
    all.extend(until.map(|until| json!({"kept": {"$lt": until.as_millisecond()}})));
    all.extend(min_bytes.map(|least| json!({"bytes": {"$gte": least}})));
    let few = within.as_ref().filter(|these| these.len() <= DATASETS_AT_ONCE);
    all.extend(few.map(|these| {
        let names: Vec<&str> = these.iter().map(DatasetId::as_str).collect();
        json!({"dataset": {"$in": names}})
    }));
    // "And" of one thing is refused.
    if all.len() == 1 { all.swap_remove(0) } else { json!({"$and": all}) }
}

#[cfg(test)]
mod tests;
