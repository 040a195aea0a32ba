//! What finding costs.
//!
//! `cargo bench --bench search` keeps texts of 10,000 and of 100,000 passages, indexes them, and prints how long
//! questions take by words, by meaning and by both, how long with the embedding model that is part of the program,
//! how quickly it is indexed, and how much memory is held meanwhile. What is indexed gets vectors that cost
//! nothing to make: how long real ones take, `cargo bench --bench embed -p forebay-embed` tells.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

use std::{
    fs,
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_embed::{DIMENSIONS, EmbedError, Embedder, Local};
use forebay_search::{Embedders, Parts, Question, Search, Settings, Way};
use forebay_store::{Description, Durability, Retention, Shelf, Store, Viewer, facts};

/// To be reached from a question to its answer, with the model.
const TO_REACH: Duration = Duration::from_millis(30);
const QUESTIONS: usize = 60;
/// Lines of a text that make about so many passages.
const LINES: usize = 240;
const WORDS_IN_LINE: usize = 14;
const VOCABULARY: usize = 20_000;

fn main() {
    for passages in [10_000, 100_000] {
        let home = tempfile::tempdir().expect("a folder");
        report(home.path(), passages);
    }
}

fn report(home: &Path, wanted: u64) {
    let shelf = Arc::new(Shelf::new(home, Durability::default(), Retention::default()));
    let store = shelf.store().expect("a store");
    let made: Arc<dyn Embedder> = Arc::new(Made);
    let settings = Settings { deadline: Duration::from_secs(60), ..Settings::default() };
    let with = |queries: Arc<dyn Embedder>| {
        let embedders = Embedders { queries, indexing: made.clone() };
        let parts = Parts { embedders: Some(embedders), ..Parts::default() };
        Search::new(shelf.clone(), parts, settings)
    };
    let quick = with(made.clone());
    let mut random = Random(7);
    let started = Instant::now();
    while quick.counts().expect("an index").vectors < wanted {
        for _ in 0..100 {
            keep(&store, &mut random);
        }
        quick.catch_up(&mut |_, _| true).expect("indexed");
    }
    let (counts, took) = (quick.counts().expect("an index"), started.elapsed());
    let rate = counts.passages * 1_000 / u64::try_from(took.as_millis()).expect("short").max(1);
    let per_passage = counts.bytes / counts.passages.max(1);
    say(&format!(
        "\n{} passages of {} datasets, {} vectors: kept and indexed in {took:.1?} ({rate} passages/s), {per_passage} bytes each",
        counts.passages, counts.documents, counts.vectors
    ));
    let before = resident();
    for (way, name) in [(Way::Words, "words"), (Way::Meaning, "vectors"), (Way::Both, "both")] {
        say(&format!("  by {name:8} p50 {:.1?}", median(&quick, way, &mut random)));
    }
    say(&format!("  memory held for vectors: {} MB", resident().saturating_sub(before) / 1_000));
    if !Local::is_inside() {
        return say("  without the model: it is not part of this program");
    }
    let program = env!("CARGO_BIN_EXE_forebay").into();
    let local = Local::new(program, vec!["embed-worker".into()], Duration::from_secs(600));
    let real = with(local.for_queries());
    let took = median(&real, Way::Both, &mut random);
    let verdict = if took <= TO_REACH { "reached" } else { "MISSED" };
    say(&format!("  with the model   p50 {took:.1?} (to reach: {TO_REACH:?}, {verdict})"));
}

/// How long half of the questions take at most.
fn median(search: &Search, way: Way, random: &mut Random) -> Duration {
    let mut ask = || {
        let text = (0..5).map(|_| random.word()).collect::<Vec<_>>().join(" ");
        let question = Question { text, limit: 5, ..Question::default() };
        let started = Instant::now();
        let found = search.find_by(way, &question, &Viewer::default()).expect("an answer");
        assert!(!found.hits.is_empty() && found.by_words_alone.is_none(), "{found:?}");
        started.elapsed()
    };
    // The first ones find nothing in memory.
    for _ in 0..5 {
        ask();
    }
    let mut times: Vec<Duration> = (0..QUESTIONS).map(|_| ask()).collect();
    times.sort();
    times[QUESTIONS / 2]
}

fn keep(store: &Store, random: &mut Random) {
    let mut capture = store.capture().expect("room");
    let part = capture.start_part("txt").expect("room");
    for _ in 0..LINES {
        let line = (0..WORDS_IN_LINE).map(|_| random.word()).collect::<Vec<_>>().join(" ");
        writeln!(part, "{line}").expect("room");
    }
    let text = facts::Text { lines: LINES as u64, ..facts::Text::default() };
    let description = Description {
        tool: "read".to_owned(),
        server: "library".to_owned(),
        summary: Some(facts::Summary::Text(text)),
        ..Description::default()
    };
    capture.commit(description).expect("kept");
}

/// Vectors that are made of words' numbers, and cost nothing.
struct Made;

impl Embedder for Made {
    fn model(&self) -> &'static str {
        "made up"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let mut numbers = vec![0.001_f32; DIMENSIONS];
            for word in text.split_whitespace() {
                let hash = word.bytes().fold(7_usize, |hash, byte| {
                    (hash ^ usize::from(byte)).wrapping_mul(16_777_619)
                });
                numbers[hash % DIMENSIONS] += 1.0;
            }
            let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt();
            numbers.iter().map(|it| it / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Numbers that are as good as random, and the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A word: some are much more frequent than others, as in any language.
    fn word(&mut self) -> String {
        let span = self.next() % VOCABULARY as u64 + 1;
        let number = self.next() % span;
        let syllables = ["ka", "lo", "mi", "ren", "tas", "vu", "shi", "dor", "pel", "gan"];
        let mut rest = usize::try_from(number).unwrap_or_default() + 10;
        let mut word = String::new();
        while rest > 0 {
            word.push_str(syllables[rest % syllables.len()]);
            rest /= syllables.len();
        }
        word
    }
}

/// How much memory this process has, in kilobytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
