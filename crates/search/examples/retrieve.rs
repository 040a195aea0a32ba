//! Runs sets of questions through the search as the program has it, for `eval/retrieval/score.py`.
//!
//! `cargo run --release -p forebay-search --example retrieve -- SETS RUN [CHROMA]` reads `documents.jsonl`
//! (`id`, `title`, `text`, `server`, `tool`) and `queries.jsonl` (`id`, `text`) from each folder in SETS, keeps the
//! documents as results of tools, indexes them, asks every question in three ways, and writes lines of set, way,
//! query, rank and document to RUN. With the address of a Chroma server the vectors lie there, in place of what it
//! has.

#![expect(clippy::unwrap_used, reason = "what an evaluation cannot go on without")]

use std::{
    collections::HashMap,
    env, fs,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_embed::Local;
use forebay_records::{Inference, profile};
use forebay_search::{
    Chroma, ChromaSettings, Embedders, Parts, Question, Search, Settings, Vectors, Way,
};
use forebay_services::Client;
use forebay_store::{
    DatasetId, Description, Durability, Facts, Mapped, Retention, Shelf, Store, Viewer,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
    #[serde(default)]
    server: String,
    #[serde(default)]
    tool: String,
}

#[derive(Deserialize)]
struct Query {
    id: String,
    text: String,
}

const WAYS: [(Way, &str); 3] =
    [(Way::Words, "words"), (Way::Meaning, "vectors"), (Way::Both, "fused")];
const DEPTH: usize = 100;
const WORKER: &str = "embed-worker";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [worker] if worker == WORKER => forebay_embed::serve().unwrap(),
        [sets, run] => evaluate(Path::new(sets), Path::new(run), None),
        [sets, run, chroma] => evaluate(Path::new(sets), Path::new(run), Some(chroma)),
        _ => tell("usage: retrieve SETS RUN [CHROMA]"),
    }
}

fn evaluate(sets: &Path, run: &Path, chroma: Option<&String>) {
    let mut out = BufWriter::new(File::create(run).unwrap());
    let mut folders: Vec<PathBuf> =
        fs::read_dir(sets).unwrap().map(|it| it.unwrap().path()).collect();
    folders.retain(|folder| folder.join("documents.jsonl").exists());
    folders.sort();
    for folder in folders {
        evaluate_set(&folder, chroma, &mut out);
    }
    out.flush().unwrap();
}

fn evaluate_set(folder: &Path, chroma: Option<&String>, out: &mut dyn Write) {
    let set = folder.file_name().unwrap().to_string_lossy().into_owned();
    let home = tempfile::tempdir().unwrap();
    let shelf = Arc::new(Shelf::new(home.path(), Durability::default(), Retention::default()));
    let store = shelf.store().unwrap();
    let documents: Vec<Document> = lines(&folder.join("documents.jsonl"));
    let names: HashMap<DatasetId, String> =
        documents.iter().map(|document| (keep(&store, document), document.id.clone())).collect();
    let program = env::current_exe().unwrap();
    let local = Local::new(program, vec![WORKER.into()], Duration::from_secs(600));
    let (queries, indexing) = (local.for_queries(), local.for_indexing());
    let vectors = chroma.map(|url| in_chroma(url, &format!("{} for {set}", indexing.model())));
    let embedders = Some(Embedders { queries, indexing });
    let parts = Parts { embedders, vectors };
    let settings = Settings { deadline: Duration::from_secs(60), ..Settings::default() };
    let search = Search::new(shelf, parts, settings);
    let started = Instant::now();
    search.catch_up(&mut |_, _| true).unwrap();
    let counts = search.counts().unwrap();
    tell(&format!("{set}: {counts:?} in {:?}", started.elapsed()));
    for query in lines::<Query>(&folder.join("queries.jsonl")) {
        for (way, name) in WAYS {
            let question =
                Question { text: query.text.clone(), limit: DEPTH, ..Question::default() };
            let found = search.find_by(way, &question, &Viewer::default()).unwrap();
            assert_eq!(found.by_words_alone, None);
            for (rank, hit) in found.hits.iter().enumerate() {
                let document = &names[&hit.dataset];
                writeln!(out, "{set}\t{name}\t{}\t{}\t{document}", query.id, rank + 1).unwrap();
            }
        }
    }
}

/// A collection of its own for each set: one for another is in the way.
fn in_chroma(url: &str, model: &str) -> Arc<dyn Vectors> {
    let settings =
        ChromaSettings { url: url.parse().unwrap(), token: None, model: model.to_owned() };
    let chroma = Chroma::new(Client::new(&[] as &[Vec<u8>]).unwrap(), settings);
    chroma.make_room(&|| None).unwrap();
    Arc::new(chroma)
}

/// Keeps a document as the result of a tool is kept.
fn keep(store: &Store, document: &Document) -> DatasetId {
    // What a tool was called with, as `read_file {"path": "…"}`.
    let call = document.title.strip_prefix(&document.tool).filter(|_| !document.tool.is_empty());
    let arguments: Option<Value> = call.and_then(|call| serde_json::from_str(call).ok());
    let text = if document.title.is_empty() || arguments.is_some() {
        document.text.clone()
    } else {
        format!("{}\n\n{}", document.title, document.text)
    };
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(text.as_bytes()).unwrap();
    let profile = profile(&[Mapped::from(text.into_bytes())], Inference::default()).unwrap();
    let description = Description {
        tool: document.tool.clone(),
        server: document.server.clone(),
        record_count: profile.records(),
        schema: Some(profile.schema()),
        summary: profile.summary(),
        facts: Facts { arguments, ..profile.facts() },
        ..Description::default()
    };
    capture.commit(description).unwrap().id().clone()
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
