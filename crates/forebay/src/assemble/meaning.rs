//! What reads and finds what was kept: models, the index, and what makes vectors.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use forebay_embed::{Local, Remote, RemoteSettings};
use forebay_insight::{Insights, Key, Setup};
use forebay_search::{Chroma, ChromaSettings, Embedders, Parts, Search, Vectors};
use forebay_services::Client;
use forebay_store::Shelf;

use super::{own_program, shelf};
use crate::{
    config::{Config, environment::CHROMA_TOKEN, search::Embedding},
    trust,
};

/// How long a service may take that makes vectors.
const EMBEDDING: Duration = Duration::from_secs(20);

/// What a model says in a few lines is far shorter than this.
const MAX_MODEL_ANSWER_BYTES: u64 = 1 << 20;

/// What finds what is kept and whoever reads large results, as far as the settings want them. Both compare
/// texts by the same vectors.
pub(super) fn search_and_insights(
    config: &Config,
    shelf: &Arc<Shelf>,
) -> Result<(Option<Arc<Search>>, Option<Insights>)> {
    let is_needed = config.search.is_enabled || config.summaries.provider.is_some();
    let embedders = if is_needed { embedders_or_words(config)? } else { None };
    let insights = insights(config, shelf, embedders.as_ref())?;
    Ok((search_by(embedders, config, shelf)?, insights))
}

/// Whoever reads large results, if a model is to be asked.
fn insights(
    config: &Config,
    shelf: &Arc<Shelf>,
    embedders: Option<&Embedders>,
) -> Result<Option<Insights>> {
    let summaries = &config.summaries;
    let Some(choice) = summaries.provider else { return Ok(None) };
    let variable = summaries.key_variable();
    let key = variable.and_then(|variable| Key::new(&std::env::var(variable).ok()?));
    if let (Some(variable), None) = (variable, &key) {
        tracing::warn!(
            "`summaries.provider` is set, but {variable} is not, or is no key: no model is asked, and \
             summaries stand alone"
        );
        return Ok(None);
    }
    let base = summaries.url.as_deref().map(str::parse).transpose();
    let setup = Setup {
        choice,
        base: base.context("`summaries.url` is no URL")?,
        model: summaries.model.clone(),
        key,
        client: Client::new(&trust::authorities(config.ca_file.as_deref())?)?
            .taking_up_to(MAX_MODEL_ANSWER_BYTES),
        embedder: embedders.map(|it| it.queries.clone()),
    };
    let insights = Insights::new(setup, summaries.settings(), shelf.clone());
    if let (Some(variable), None) = (variable, &insights) {
        tracing::warn!(
            "{variable} is not sent over plain HTTP to another machine: no model is asked, and summaries \
             stand alone; write a URL with `https` as `summaries.url`, or \"\" as `summaries.key_variable` \
             if no key is needed there"
        );
    }
    Ok(insights)
}

/// What finds what was kept, unless that is turned off. Nothing is indexed before it is told to.
pub(crate) fn search(config: &Config, shelf: &Arc<Shelf>) -> Result<Option<Arc<Search>>> {
    let embedders = if config.search.is_enabled { embedders_or_words(config)? } else { None };
    search_by(embedders, config, shelf)
}

fn search_by(
    embedders: Option<Embedders>,
    config: &Config,
    shelf: &Arc<Shelf>,
) -> Result<Option<Arc<Search>>> {
    if !config.search.is_enabled {
        return Ok(None);
    }
    let vectors = embedders.as_ref().map(|it| chroma(config, it.indexing.model())).transpose()?;
    let parts = Parts { embedders, vectors: vectors.flatten() };
    Ok(Some(Search::new(shelf.clone(), parts, config.search.settings())))
}

/// The place for vectors of a model elsewhere, if one is set.
fn chroma(config: &Config, model: &str) -> Result<Option<Arc<dyn Vectors>>> {
    let Some(url) = &config.search.chroma_url else { return Ok(None) };
    let url = url.parse().context("`search.chroma_url` is no URL")?;
    let token = std::env::var(CHROMA_TOKEN).ok().filter(|token| !token.is_empty());
    let client = Client::new(&trust::authorities(config.ca_file.as_deref())?)?;
    let settings = ChromaSettings { url, token, model: model.to_owned() };
    Ok(Some(Arc::new(Chroma::new(client, settings))))
}

/// What makes vectors of texts, if anything does. A service whose key is not there makes none, which is
/// told; whatever wants vectors goes on as if nothing made them.
fn embedders_or_words(config: &Config) -> Result<Option<Embedders>> {
    let Some(variable) = embedder_key_missing(config) else { return embedders(config) };
    tracing::warn!(
        "`search.embedder_key_variable` names {variable}, which is not set: what is kept is found by its \
         words alone; set {variable}, or write `search.embedder = \"none\"`"
    );
    Ok(None)
}

/// The variable that is to hold the key of the service that makes vectors, if it does not.
fn embedder_key_missing(config: &Config) -> Option<&str> {
    let variable = config.search.embedder_key_variable.as_deref();
    let variable = variable.filter(|_| config.search.embedder == Embedding::Service)?;
    embedder_key(variable).is_none().then_some(variable)
}

fn embedder_key(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.trim().is_empty())
}

/// What makes vectors of texts, if anything does; an error if it cannot.
pub(crate) fn embedders(config: &Config) -> Result<Option<Embedders>> {
    let search = &config.search;
    match search.embedder {
        Embedding::Inside => {
            let local = Local::new(own_program()?, vec!["embed-worker".into()], search.idle);
            let (queries, indexing) = (local.for_queries(), local.for_indexing());
            Ok(Some(Embedders { queries, indexing }))
        }
        Embedding::Service => {
            let (Some(url), Some(model)) = (&search.embedder_url, &search.embedder_model) else {
                bail!(
                    "with `search.embedder = \"service\"`, write `search.embedder_url` and \
                     `search.embedder_model`, too"
                );
            };
            let key = search.embedder_key_variable.as_ref().map(|variable| {
                embedder_key(variable).with_context(|| {
                    format!("`search.embedder_key_variable` names {variable}, which is not set")
                })
            });
            let settings = RemoteSettings {
                url: url.parse().context("`search.embedder_url` is no URL")?,
                model: model.clone(),
                key: key.transpose()?,
                timeout: EMBEDDING,
            };
            let client = Client::new(&trust::authorities(config.ca_file.as_deref())?)?;
            let remote: Arc<Remote> = Arc::new(Remote::new(client, settings));
            Ok(Some(Embedders { queries: remote.clone(), indexing: remote }))
        }
        Embedding::None => Ok(None),
    }
}

/// Has what was removed forgotten by the index, too. What cannot be forgotten now is by whoever indexes next.
pub(crate) fn forget_gone(config: &Config) {
    let forgotten = search(config, &shelf(config)).and_then(|search| match search {
        Some(search) => Ok(search.forget_gone()?),
        None => Ok(0),
    });
    if let Err(error) = forgotten {
        tracing::warn!("the index still holds what was removed: {error:#}");
    }
}
