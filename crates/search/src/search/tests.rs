//! The search as a whole, over a store on disk, with an embedder whose vectors are known.

use std::{
    fs,
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use forebay_embed::{EmbedError, Embedder};
use forebay_store::{Description, Durability, Principal, Retention, Scope, Shelf, facts};

mod elsewhere;

use super::*;
use crate::{
    Embedders, Parts, Settings,
    engine::NO_EMBEDDER,
    failures::{FAILURES, OF_CHROMA, OF_EMBEDDER},
    lock::{Lock, TURN},
};

/// Words that mean the same have the same number; any other word has one of its own.
#[derive(Default)]
struct Known {
    fails: AtomicBool,
    /// Texts with this in them are refused.
    refuses: Option<&'static str>,
    hangs: AtomicBool,
    asked: AtomicUsize,
}

const SAME: [(&str, &str); 3] = [("sign", "login"), ("refused", "rejected"), ("people", "users")];
const DIMENSIONS: usize = 384;

impl Embedder for Known {
    fn model(&self) -> &'static str {
        "known words"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        while self.hangs.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        if self.fails.load(Ordering::SeqCst) {
            return Err(EmbedError::Ended);
        }
        if self.refuses.is_some_and(|word| texts.iter().any(|text| text.contains(word))) {
            return Err(EmbedError::Ended);
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut numbers = vec![0.0_f32; DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        let word = word.to_lowercase();
        let word = SAME.iter().find(|(one, _)| *one == word).map_or(word.as_str(), |(_, it)| it);
        let hash = word
            .bytes()
            .fold(7_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
        numbers[hash as usize % DIMENSIONS] += 1.0;
    }
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt().max(1e-9);
    numbers.iter().map(|number| number / length).collect()
}

fn shelf(home: &Path) -> Arc<Shelf> {
    Arc::new(Shelf::new(home, Durability::default(), Retention::default()))
}

fn quick() -> Settings {
    Settings { quiet: Duration::ZERO, deadline: Duration::from_secs(20), ..Settings::default() }
}

fn search_with(shelf: Arc<Shelf>, embedder: Arc<Known>) -> Arc<Search> {
    let embedders = Some(Embedders { queries: embedder.clone(), indexing: embedder });
    Search::new(shelf, Parts { embedders, ..Parts::default() }, quick())
}

fn search(home: &Path) -> Arc<Search> {
    search_with(shelf(home), Arc::default())
}

/// Keeps a text that was kept for somebody.
fn keep_for(shelf: &Shelf, viewer: &Viewer, tool: &str, text: &str) -> DatasetId {
    let store = shelf.store().unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(text.as_bytes()).unwrap();
    let first_lines = vec![text.lines().next().unwrap_or_default().to_owned()];
    let lines = text.lines().count() as u64;
    let summary =
        facts::Summary::Text(facts::Text { lines, first_lines, ..facts::Text::default() });
    let mut description = Description {
        tool: tool.to_owned(),
        server: "notes".to_owned(),
        summary: Some(summary),
        ..Description::default()
    };
    description.set_origin(viewer);
    capture.commit(description).unwrap().id().clone()
}

fn keep(shelf: &Shelf, text: &str) -> DatasetId {
    keep_for(shelf, &Viewer::default(), "read", text)
}

fn ask(text: &str) -> Question {
    Question { text: text.to_owned(), limit: 5, ..Question::default() }
}

fn ids(found: &Found) -> Vec<DatasetId> {
    found.hits.iter().map(|hit| hit.dataset.clone()).collect()
}

fn find(search: &Search, text: &str) -> Vec<DatasetId> {
    ids(&search.find(&ask(text), &Viewer::default()).unwrap())
}

fn catch_up(search: &Search) -> Indexed {
    search.catch_up(&mut |_, _| true).unwrap()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

const AUTH: &str = "three login attempts of users were rejected last night";
const FISH: &str = "herring and mackerel were landed at the quay";

#[test]
fn a_text_is_found_by_its_words_and_by_its_meaning() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let (auth, fish) = (keep(&search.shelf, AUTH), keep(&search.shelf, FISH));
    assert_eq!(search.find(&ask("mackerel"), &Viewer::default()).unwrap().waiting, 2);
    let indexed = catch_up(&search);
    assert_eq!((indexed.documents, indexed.with_vectors, indexed.failed), (2, 2, 0));
    assert_eq!(find(&search, "mackerel")[0], fish);
    // No word of it is in the text.
    let found = search.find(&ask("people refused sign"), &Viewer::default()).unwrap();
    assert_eq!(
        (ids(&found)[0].clone(), found.by_words_alone.clone(), found.waiting),
        (auth, None, 0)
    );
    let hit = &found.hits[0];
    assert!(hit.score > 0.0 && hit.score <= 1.0 && hit.title.contains("read of notes"), "{hit:?}");
    assert_eq!(catch_up(&search), Indexed::default(), "there is nothing left to do");
    let counts = search.counts().unwrap();
    assert_eq!((counts.documents, counts.waiting, counts.without_vectors), (2, 0, 0));
    assert!(counts.vectors >= 2 && counts.bytes > 0);
}

#[test]
fn the_place_of_what_fits_is_told() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let line = |n: u32| {
        if n == 250 {
            "the anchor was lost at Fair Isle\n".to_owned()
        } else {
            format!("{n} all is well on board today\n")
        }
    };
    keep(&search.shelf, &(1..=400).map(line).collect::<String>());
    catch_up(&search);
    let found = search.find(&ask("anchor Fair Isle"), &Viewer::default()).unwrap();
    let passage = &found.hits[0].passage;
    let (first, last) = passage.lines.unwrap();
    assert!(
        passage.text.contains("Fair Isle") && first <= 250 && last >= 250 && last - first < 60,
        "{first}-{last}"
    );
}

#[test]
fn server_tool_and_time_narrow_what_is_looked_at() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let read = keep(&search.shelf, FISH);
    let listed = keep_for(&search.shelf, &Viewer::default(), "list", FISH);
    catch_up(&search);
    let with = |question: Question| ids(&search.find(&question, &Viewer::default()).unwrap());
    assert_eq!(with(ask("herring")).len(), 2);
    let of_tool = |tool: &str| Question { tool: Some(tool.to_owned()), ..ask("herring") };
    assert_eq!(with(of_tool("list")), [listed]);
    assert_eq!(with(of_tool("read")), [read]);
    assert_eq!(with(Question { server: Some("other".to_owned()), ..ask("herring") }), []);
    let since = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    assert_eq!(with(Question { since: Some(since), ..ask("herring") }), []);
    assert_eq!(with(Question { until: Some(since), ..ask("herring") }).len(), 2);
    let long_ago = Some(jiff::Timestamp::UNIX_EPOCH);
    assert_eq!(with(Question { until: long_ago, ..ask("herring") }), []);
    let least = |bytes: usize| Question { min_bytes: Some(bytes as u64), ..ask("herring") };
    assert_eq!(with(least(FISH.len())).len(), 2);
    assert_eq!(with(least(FISH.len() + 1)), []);
}

#[test]
fn those_that_are_named_are_found_however_many_fit_better() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let far = keep(&search.shelf, "one herring among much else that was caught, salted and sold");
    for _ in 0..60 {
        keep(&search.shelf, FISH);
    }
    catch_up(&search);
    let with = |way, within: Option<&[&DatasetId]>| {
        let within = within.map(|these| Arc::new(these.iter().copied().cloned().collect()));
        let question = Question { limit: 50, within, ..ask("herring quay") };
        ids(&search.find_by(way, &question, &Viewer::default()).unwrap())
    };
    for way in [Way::Words, Way::Meaning, Way::Both] {
        let best = with(way, None);
        assert!(best.len() == 50 && !best.contains(&far), "{way:?}");
        assert_eq!(with(way, Some(&[&far])), std::slice::from_ref(&far), "{way:?}");
        assert_eq!(with(way, Some(&[&far, &best[7]])), [best[7].clone(), far.clone()], "{way:?}");
        assert_eq!(with(way, Some(&[])), [], "{way:?}");
    }
}

#[test]
fn nobody_finds_what_another_may_see() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let viewer = |name: &str, session: &str, project: &str, scope| Viewer {
        principal: Principal::new(name),
        session: Some(session.to_owned()),
        project: Some(project.to_owned()),
        scope,
    };
    let ada = viewer("ada", "1", "/a", Scope::All);
    let of_ada = keep_for(&search.shelf, &ada, "read", FISH);
    let in_project = keep_for(&search.shelf, &viewer("ada", "2", "/a", Scope::All), "read", FISH);
    let elsewhere = keep_for(&search.shelf, &viewer("ada", "3", "/b", Scope::All), "read", FISH);
    let of_grace = keep_for(&search.shelf, &viewer("grace", "1", "/a", Scope::All), "read", FISH);
    // So many others that what may be seen is not among the first that are found.
    for _ in 0..50 {
        keep_for(&search.shelf, &viewer("ada", "4", "/c", Scope::All), "read", FISH);
    }
    catch_up(&search);
    let seen = |viewer: &Viewer| {
        let mut seen =
            ids(&search.find(&Question { limit: 100, ..ask("herring quay") }, viewer).unwrap());
        seen.sort();
        seen
    };
    let sorted = |mut ids: Vec<DatasetId>| {
        ids.sort();
        ids
    };
    assert_eq!(seen(&viewer("ada", "1", "/a", Scope::Session)), std::slice::from_ref(&of_ada));
    assert_eq!(seen(&viewer("ada", "1", "/a", Scope::Project)), sorted(vec![of_ada, in_project]));
    assert_eq!(seen(&viewer("ada", "9", "/b", Scope::Project)), [elsewhere]);
    assert_eq!(seen(&ada).len(), 53);
    assert_eq!(seen(&viewer("grace", "7", "/x", Scope::All)), [of_grace]);
    assert_eq!(seen(&viewer("grace", "7", "/x", Scope::Project)), []);
    assert_eq!(seen(&viewer("", "", "", Scope::All)), []);
}

/// Whether the files of the index hold a text.
fn holds(home: &Path, text: &str) -> bool {
    ["search.db", "search.db-wal"].iter().any(|name| {
        let bytes = fs::read(home.join(name)).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn what_is_removed_is_gone_from_the_index_too() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    search.follow();
    let (auth, fish) = (keep(&search.shelf, AUTH), keep(&search.shelf, FISH));
    // The files are written to until the thread is gone.
    eventually("both are indexed", || {
        search.counts().unwrap().vectors >= 4 && !search.waiting.is_running()
    });
    // The text itself, and a word as the index has it.
    assert!(holds(home.path(), "herring and mackerel") && holds(home.path(), "herr"));
    search.shelf.store().unwrap().remove(&fish).unwrap();
    assert_eq!(find(&search, "herring mackerel").iter().filter(|id| **id == fish).count(), 0);
    eventually("it is taken out", || search.counts().unwrap().documents == 1);
    eventually("nothing is left", || {
        !holds(home.path(), "herring") && !holds(home.path(), "mackerel")
    });
    assert_eq!(find(&search, "login")[0], auth);
}

#[test]
fn what_grows_is_indexed_again() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    search.follow();
    let store = search.shelf.store().unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(b"first came the cod").unwrap();
    let mut description = Description::default();
    description.facts.edition = Some(1);
    let id = capture.commit(description.clone()).unwrap().id().clone();
    eventually("it is indexed", || find(&search, "cod") == [id.clone()]);
    let mut growth = store.grow(&id, "txt").unwrap();
    growth.part().unwrap().write_all(b"first came the cod, then the turbot").unwrap();
    growth.commit(description).unwrap();
    eventually("it is indexed again", || {
        let found = search.find(&ask("turbot"), &Viewer::default()).unwrap();
        found.hits.first().is_some_and(|hit| hit.passage.text.contains("turbot"))
    });
    assert_eq!(search.counts().unwrap().documents, 1);
}

#[test]
fn words_alone_answer_when_the_embedder_fails() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known::default());
    let search = search_with(shelf(home.path()), embedder.clone());
    let fish = keep(&search.shelf, FISH);
    embedder.fails.store(true, Ordering::SeqCst);
    let indexed = catch_up(&search);
    assert_eq!((indexed.documents, indexed.with_vectors), (1, 0));
    assert!(indexed.without_vectors.unwrap().contains("ended"));
    let found = search.find(&ask("herring"), &Viewer::default()).unwrap();
    assert_eq!(ids(&found), std::slice::from_ref(&fish));
    assert!(found.by_words_alone.unwrap().contains("ended"));
    let counts = search.counts().unwrap();
    assert_eq!((counts.without_vectors, counts.failures), (1, 1));
    embedder.fails.store(false, Ordering::SeqCst);
    assert_eq!(catch_up(&search).with_vectors, 1, "they are made when it works again");
    let without = Search::new(shelf(home.path()), Parts::default(), quick());
    let found = without.find(&ask("herring"), &Viewer::default()).unwrap();
    assert_eq!((ids(&found), found.by_words_alone.as_deref()), (vec![fish], Some(NO_EMBEDDER)));
}

#[test]
fn a_text_that_is_refused_does_not_keep_older_ones_from_having_vectors() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known { refuses: Some("unspeakable"), ..Known::default() });
    let search = search_with(shelf(home.path()), embedder.clone());
    keep(&search.shelf, AUTH);
    let refused = keep(&search.shelf, "an unspeakable text");
    keep(&search.shelf, FISH);
    let indexed = catch_up(&search);
    assert_eq!((indexed.documents, indexed.with_vectors, indexed.is_held_up), (3, 2, false));
    assert!(indexed.without_vectors.is_some());
    let lacking = || {
        let counts = search.counts().unwrap();
        let found = search.find(&ask("login"), &Viewer::default()).unwrap();
        assert_eq!(
            (found.without_vectors, found.refused),
            (counts.without_vectors, counts.refused)
        );
        (counts.without_vectors, counts.refused)
    };
    assert_eq!(lacking(), (1, 0));
    assert_eq!(find(&search, "unspeakable")[0], refused, "by its words");
    catch_up(&search);
    catch_up(&search);
    assert_eq!(lacking(), (0, 1), "no more is tried");
    let asked = embedder.asked.load(Ordering::SeqCst);
    assert_eq!(catch_up(&search).without_vectors, None);
    assert_eq!(embedder.asked.load(Ordering::SeqCst), asked, "it is given up");
}

#[test]
fn vectors_are_made_when_the_embedder_works_again() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known::default());
    let embedders = Some(Embedders { queries: embedder.clone(), indexing: embedder.clone() });
    let settings = Settings { retry: Duration::from_millis(1), ..quick() };
    let search = Search::new(shelf(home.path()), Parts { embedders, ..Parts::default() }, settings);
    search.follow();
    embedder.fails.store(true, Ordering::SeqCst);
    keep(&search.shelf, FISH);
    eventually("it has failed twice", || search.counts().unwrap().failures > 1);
    assert_eq!(search.counts().unwrap().without_vectors, 1);
    embedder.fails.store(false, Ordering::SeqCst);
    eventually("they are made", || search.counts().unwrap().without_vectors == 0);
    eventually("the thread is gone", || !search.waiting.is_running());
}

#[test]
fn vectors_that_another_process_could_not_make_are_made_after_a_question() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known::default());
    let embedders = Some(Embedders { queries: embedder.clone(), indexing: embedder.clone() });
    let settings = Settings { retry: Duration::from_millis(1), ..quick() };
    let ours = Search::new(shelf(home.path()), Parts { embedders, ..Parts::default() }, settings);
    keep(&ours.shelf, AUTH);
    ours.follow();
    eventually("all is done", || ours.counts().unwrap().vectors > 0 && !ours.waiting.is_running());
    let failing = Arc::new(Known::default());
    failing.fails.store(true, Ordering::SeqCst);
    let theirs = search_with(shelf(home.path()), failing);
    keep(&theirs.shelf, FISH);
    catch_up(&theirs);
    assert_eq!(ours.counts().unwrap().without_vectors, 1);
    let found = ours.find(&ask("herring"), &Viewer::default()).unwrap();
    assert_eq!((found.without_vectors, found.waiting), (1, 0));
    eventually("they are made", || ours.counts().unwrap().without_vectors == 0);
}

#[test]
fn findings_that_nobody_told_of_are_found_by_who_comes_next() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    let id = keep(&search.shelf, FISH);
    catch_up(&search);
    // By another process, which ends before it has indexed them.
    let store = shelf(home.path());
    let store = store.store().unwrap();
    let dataset = store.dataset(&id).unwrap();
    let insight = |said: &str| forebay_store::Insight {
        key_findings: vec![said.to_owned()],
        actionable_insights: Vec::new(),
        metadata: forebay_store::InsightMetadata::of(&dataset),
        model: "a-model".to_owned(),
        reused: None,
    };
    for said in ["overfishing", "a quota of the zephyr kind"] {
        store.put_findings(&dataset, &insight(said)).unwrap();
        assert_eq!(catch_up(&search).documents, 1, "{said}");
        let found = search.find(&ask(said), &Viewer::default()).unwrap();
        assert!(found.hits[0].passage.text.contains(said), "{found:?}");
    }
    assert_eq!(catch_up(&search).documents, 0);
}

/// [`Known`] by another name, with vectors as long.
struct Other(Known);

impl Embedder for Other {
    fn model(&self) -> &'static str {
        "another model"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.0.embed(texts)
    }
}

#[test]
fn vectors_of_two_models_are_not_compared_though_they_are_as_long() {
    let home = tempfile::tempdir().unwrap();
    let fish = keep(&shelf(home.path()), FISH);
    catch_up(&search(home.path()));
    let other: Arc<dyn Embedder> = Arc::new(Other(Known::default()));
    let embedders = Some(Embedders { queries: other.clone(), indexing: other });
    let parts = Parts { embedders, ..Parts::default() };
    let search = Search::new(shelf(home.path()), parts, quick());
    let by_meaning = || {
        let found = search.find_by(Way::Meaning, &ask("herring"), &Viewer::default()).unwrap();
        (ids(&found), found.without_vectors)
    };
    assert_eq!(by_meaning(), (Vec::new(), 1));
    catch_up(&search);
    assert_eq!(by_meaning(), (vec![fish], 0));
}

#[test]
fn a_late_embedder_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known::default());
    let embedders =
        Some(Embedders { queries: embedder.clone(), indexing: Arc::new(Known::default()) });
    let settings = Settings { deadline: Duration::from_millis(20), ..quick() };
    let search = Search::new(shelf(home.path()), Parts { embedders, ..Parts::default() }, settings);
    let fish = keep(&search.shelf, FISH);
    catch_up(&search);
    embedder.hangs.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        let found = search.find(&ask("herring"), &Viewer::default()).unwrap();
        assert_eq!(ids(&found), std::slice::from_ref(&fish));
        assert!(found.by_words_alone.is_some());
    }
    assert!(embedder.asked.load(Ordering::SeqCst) < 12, "no thread for each question piles up");
    embedder.hangs.store(false, Ordering::SeqCst);
}

#[test]
fn a_corrupt_index_is_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("search.db");
    let fish = keep(&shelf(home.path()), FISH);
    catch_up(&search(home.path()));
    let whole = fs::read(&path).unwrap();
    let damages: [&dyn Fn(); 6] = [
        &|| fs::write(&path, b"no database at all").unwrap(),
        &|| fs::write(&path, &whole[..whole.len() / 2]).unwrap(),
        &|| fs::write(&path, &whole[..100]).unwrap(),
        &|| fs::write(&path, b"").unwrap(),
        &|| {
            let mut bytes = whole.clone();
            bytes[4_096..].fill(0xa5);
            fs::write(&path, bytes).unwrap();
        },
        &|| {
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), b"somebody's").unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", path.display()));
        }
        damage();
        let search = search(home.path());
        let found = search.find(&ask("herring"), &Viewer::default()).unwrap();
        assert_eq!(found.hits, [], "{number}: nothing is found, and nothing wrong");
        catch_up(&search);
        assert_eq!(find(&search, "herring"), std::slice::from_ref(&fish), "{number}");
    }
    let aside = home.path().join("search.db.aside-1");
    assert_eq!(fs::read(aside.join("file")).unwrap(), b"somebody's");
}

#[test]
fn a_search_goes_on_with_the_index_that_takes_the_place_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (search(home.path()), search(home.path()));
    let fish = keep(&one.shelf, FISH);
    catch_up(&one);
    assert_eq!(find(&one, "herring"), std::slice::from_ref(&fish));
    assert_eq!(find(&other, "herring"), std::slice::from_ref(&fish));
    let mut told = Vec::new();
    let indexed = other
        .rebuild(&mut |done, total| {
            told.push((done, total));
            true
        })
        .unwrap();
    assert_eq!((indexed.documents, indexed.with_vectors), (1, 1));
    assert_eq!(told.last(), Some(&(2, 2)));
    assert_eq!(find(&one, "herring"), std::slice::from_ref(&fish));
    let auth = keep(&other.shelf, AUTH);
    catch_up(&other);
    assert_eq!(find(&one, "people refused sign")[0], auth, "by its meaning, too");
}

#[test]
fn what_is_made_anew_is_the_same() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    for number in 0..20 {
        keep(&search.shelf, &format!("{FISH} number {number}"));
    }
    catch_up(&search);
    let questions = ["herring number 7", "landed people", "quay"];
    let asked = || -> Vec<Vec<(DatasetId, f32)>> {
        let of = |text: &&str| {
            let found = search.find(&ask(text), &Viewer::default()).unwrap();
            let mut hits: Vec<_> =
                found.hits.into_iter().map(|hit| (hit.dataset, hit.score)).collect();
            hits.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            hits
        };
        questions.iter().map(of).collect()
    };
    let before = asked()[0].clone();
    let counts = search.counts().unwrap();
    search.rebuild(&mut |_, _| true).unwrap();
    assert_eq!(asked()[0][0], before[0]);
    let after = search.counts().unwrap();
    assert_eq!(
        (after.documents, after.passages, after.vectors),
        (counts.documents, counts.passages, counts.vectors)
    );
}

#[test]
fn making_it_anew_goes_on_where_it_was_broken_off_and_begins_again_when_it_was_done() {
    let home = tempfile::tempdir().unwrap();
    let embedder: Arc<Known> = Arc::default();
    let search = search_with(shelf(home.path()), embedder.clone());
    for number in 0..10 {
        keep(&search.shelf, &format!("{FISH} number {number}"));
    }
    catch_up(&search);
    let made = || embedder.asked.swap(0, Ordering::SeqCst);
    let all = made();
    let mut steps = 0;
    let broken = search.rebuild(&mut |_, _| {
        steps += 1;
        steps < 18
    });
    assert!(matches!(broken, Err(SearchError::Interrupted)));
    let before = made();
    let left = search.counts().unwrap().without_vectors;
    assert!((1..10).contains(&left), "{left}");
    let rest = search_with(shelf(home.path()), embedder.clone()).rebuild(&mut |_, _| true).unwrap();
    assert_eq!((rest.documents, rest.with_vectors), (0, left));
    // The one that was being done is done again, and no other; before each there is a sample.
    let after = made() - 1;
    let before = before - 1;
    assert!(before > 0 && after < all && before + after <= all + all / 10, "{before}, {after}");
    let again = search.rebuild(&mut |_, _| true).unwrap();
    assert_eq!((again.documents, again.with_vectors, made() - 1), (10, 10, all));
}

#[test]
fn an_embedder_that_fails_keeps_the_index_from_being_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let embedder: Arc<Known> = Arc::default();
    let search = search_with(shelf(home.path()), embedder.clone());
    let auth = keep(&search.shelf, AUTH);
    catch_up(&search);
    let before = search.counts().unwrap();
    embedder.fails.store(true, Ordering::SeqCst);
    let error = search.rebuild(&mut |_, _| true).unwrap_err();
    assert!(matches!(error, SearchError::EmbedderFails(_)));
    let told = events::told(&error);
    assert!(told.contains("`search.embedder = \"none\"`") && told.contains("ended"), "{told}");
    assert_eq!(search.counts().unwrap(), before);
    embedder.fails.store(false, Ordering::SeqCst);
    assert_eq!(find(&search, "people refused sign"), [auth], "by its meaning");
    let without = Search::new(shelf(home.path()), Parts::default(), quick());
    assert_eq!(without.rebuild(&mut |_, _| true).unwrap().documents, 1, "words need none");
}

#[test]
fn failures_of_the_embedder_are_counted_by_the_day() {
    let home = tempfile::tempdir().unwrap();
    let embedder: Arc<Known> = Arc::default();
    let search = search_with(shelf(home.path()), embedder.clone());
    keep(&search.shelf, FISH);
    let counted = || failures(&search, OF_EMBEDDER);
    catch_up(&search);
    find(&search, "herring");
    assert_eq!(counted(), 0);
    embedder.fails.store(true, Ordering::SeqCst);
    find(&search, "herring");
    assert_eq!(counted(), 1);
    keep(&search.shelf, AUTH);
    catch_up(&search);
    assert_eq!(counted(), 2);
    let without = Search::new(shelf(home.path()), Parts::default(), quick());
    find(&without, "herring");
    assert_eq!((counted(), failures(&search, OF_CHROMA)), (2, 0));
}

#[test]
fn a_question_does_not_wait_until_its_failure_is_written_down() {
    let home = tempfile::tempdir().unwrap();
    let embedder: Arc<Known> = Arc::default();
    let search = search_with(shelf(home.path()), embedder.clone());
    let fish = keep(&search.shelf, FISH);
    catch_up(&search);
    embedder.fails.store(true, Ordering::SeqCst);
    let nobody_writes = search.failures.writing.lock();
    assert_eq!(find(&search, "herring"), [fish]);
    drop(nobody_writes);
    assert_eq!(failures(&search, OF_EMBEDDER), 1);
    find(&search, "herring");
    let shelf = search.shelf.clone();
    drop(search);
    let search = search_with(shelf, embedder);
    assert_eq!(failures(&search, OF_EMBEDDER), 2, "it is written at the end at last");
}

/// How many failures are counted.
fn failures(search: &Search, of: &str) -> u64 {
    search.failures.write_down(&search.shelf);
    let tallies = search.shelf.store().unwrap().tallies(Some(1)).unwrap();
    let of_this = tallies.iter().filter(|it| it.subject == FAILURES && it.what == of);
    of_this.map(|it| it.count).sum()
}

#[test]
fn indexing_that_is_broken_off_goes_on_where_it_was() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    for number in 0..10 {
        keep(&search.shelf, &format!("{FISH} number {number}"));
    }
    let mut steps = 0;
    let broken = search.catch_up(&mut |_, _| {
        steps += 1;
        steps < 14
    });
    assert!(matches!(broken, Err(SearchError::Interrupted)));
    let counts = search.counts().unwrap();
    assert!(
        counts.documents == 10 && counts.without_vectors > 0 && counts.without_vectors < 10,
        "{counts:?}"
    );
    let rest = catch_up(&search);
    assert_eq!((rest.documents, rest.with_vectors), (0, counts.without_vectors));
}

#[test]
fn one_at_a_time_indexes() {
    let home = tempfile::tempdir().unwrap();
    let search = search(home.path());
    keep(&search.shelf, FISH);
    let store = search.shelf.store().unwrap();
    let mut how_far = |_, _| true;
    let held = Pass::begin(&search, &store, Duration::ZERO, &mut how_far).unwrap();
    let mut how_far = |_, _| true;
    let second = Pass::begin(&search, &store, Duration::ZERO, &mut how_far);
    assert!(matches!(second, Err(SearchError::BeingIndexed)));
    drop(held);
    assert_eq!(catch_up(&search).documents, 1);
}

#[test]
fn whoever_has_lost_its_turn_begins_again() {
    let home = tempfile::tempdir().unwrap();
    // Without vectors: each step is one dataset.
    let search = Search::new(shelf(home.path()), Parts::default(), quick());
    for number in 0..10 {
        keep(&search.shelf, &format!("{FISH} number {number}"));
    }
    let mut other: Option<thread::JoinHandle<()>> = None;
    let mut steps = Vec::new();
    search
        .catch_up(&mut |done, _| {
            steps.push(done);
            let other = other.get_or_insert_with(|| {
                let home = home.path().to_owned();
                thread::spawn(move || {
                    let held = Lock::take(&home, Duration::from_secs(60)).unwrap();
                    // Longer than the first one waits to have it back at once.
                    thread::sleep(Duration::from_millis(200));
                    drop(held);
                })
            });
            // Until the other has had its turn, this one is over after each step.
            if !other.is_finished() {
                thread::sleep(TURN);
            }
            true
        })
        .unwrap();
    other.unwrap().join().unwrap();
    let again = steps.windows(2).filter(|pair| pair[1] <= pair[0]).count();
    assert_eq!(again, 1, "{steps:?}");
    let counts = search.counts().unwrap();
    assert_eq!((counts.documents, counts.waiting), (10, 0));
}

#[test]
fn what_others_have_kept_is_indexed_by_who_comes_next() {
    let home = tempfile::tempdir().unwrap();
    let fish = keep(&shelf(home.path()), FISH);
    let search = search(home.path());
    search.follow();
    eventually("it is found", || find(&search, "herring") == std::slice::from_ref(&fish));
    eventually("the thread is gone", || !search.waiting.is_running());
}

#[test]
fn nothing_is_made_where_nothing_is_kept() {
    let parent = tempfile::tempdir().unwrap();
    let home = parent.path().join("home");
    let search = search(&home);
    search.follow();
    assert!(!search.waiting.is_running() && !home.exists());
    assert!(search.rank("login", &["sign in"]).is_none());
    eventually("they are made", || search.rank("login", &["sign in"]).is_some());
    assert!(!home.exists());
}

#[test]
fn texts_are_compared_by_meaning_once_their_vectors_are_made() {
    let home = tempfile::tempdir().unwrap();
    let embedder = Arc::new(Known::default());
    keep(&shelf(home.path()), FISH);
    let search = search_with(shelf(home.path()), embedder.clone());
    catch_up(&search);
    let tools = ["list login attempts", "land herring"];
    assert_eq!(search.rank("who may sign", &tools), None);
    eventually("they are made", || search.rank("who may sign", &tools).is_some());
    let ranks = search.rank("who may sign", &tools).unwrap();
    assert!(ranks[0] > ranks[1] && ranks[0] <= 1.0, "{ranks:?}");
    // Another process finds them.
    eventually("they are kept", || {
        let other = search_with(shelf(home.path()), embedder.clone());
        other.rank("who may sign", &tools).is_some()
    });
    let without = Search::new(shelf(home.path()), Parts::default(), quick());
    assert_eq!(without.rank("who may sign", &tools), None);
}

/// What another process does in the tests below, which is this very program.
#[test]
fn as_another_process() {
    let Ok(home) = std::env::var("FOREBAY_TEST_INDEX_HOME") else { return };
    let search = search(Path::new(&home));
    let indexed = search.catch_up(&mut |_, _| true);
    if let Err(error) = &indexed {
        let _ = writeln!(std::io::stderr(), "INDEXING FAILED: {}", events::told(error));
    }
}

fn another_process(home: &Path, limits: &str) -> std::process::Child {
    let program = std::env::current_exe().unwrap();
    let run = "exec \"$0\" --exact search::tests::as_another_process --nocapture";
    std::process::Command::new("sh")
        .args(["-c", &format!("{limits} {run}")])
        .arg(program)
        .env("FOREBAY_TEST_INDEX_HOME", home)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_full_disk_costs_the_index_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let kept: Vec<DatasetId> = (0..30)
        .map(|number| {
            keep(&shelf(home.path()), &format!("{FISH} {number}\n{}", "a long log\n".repeat(2_000)))
        })
        .collect();
    // A limit on the size of files, in blocks of 512 bytes, stands for a full disk.
    let full =
        another_process(home.path(), "trap '' XFSZ; ulimit -f 200;").wait_with_output().unwrap();
    let told = String::from_utf8(full.stderr).unwrap();
    assert!(full.status.success() && told.contains("INDEXING FAILED"), "{told}");
    let search = search(home.path());
    search.find(&ask("herring"), &Viewer::default()).unwrap();
    assert_eq!(search.shelf.store().unwrap().total().unwrap(), 30);
    catch_up(&search);
    assert_eq!(search.counts().unwrap().documents, 30);
    assert!(kept.contains(&find(&search, "herring 7")[0]));
}

#[test]
fn a_full_disk_leaves_no_index_that_is_half_made() {
    let home = tempfile::tempdir().unwrap();
    keep(&shelf(home.path()), FISH);
    let full =
        another_process(home.path(), "trap '' XFSZ; ulimit -f 70;").wait_with_output().unwrap();
    let told = String::from_utf8(full.stderr).unwrap();
    assert!(told.contains("INDEXING FAILED"), "{told}");
    let names = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.filter(|name| name.to_string_lossy().contains("search.db")).collect();
    assert_eq!(names, Vec::<std::ffi::OsString>::new());
}

#[test]
fn many_processes_index_and_kill_each_other_and_all_is_there_in_the_end() {
    let home = tempfile::tempdir().unwrap();
    for number in 0..40 {
        keep(&shelf(home.path()), &format!("{FISH} number {number}"));
    }
    for round in 0..4_u64 {
        let mut processes: Vec<_> = (0..3).map(|_| another_process(home.path(), "")).collect();
        let search = search(home.path());
        eventually("somebody has begun", || home.path().join("search.lock").exists());
        thread::sleep(Duration::from_millis(7 * round));
        for process in &mut processes {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        search.find(&ask("herring"), &Viewer::default()).unwrap();
    }
    let search = search(home.path());
    catch_up(&search);
    let counts = search.counts().unwrap();
    assert_eq!((counts.documents, counts.without_vectors, counts.waiting), (40, 0, 0));
    let question = Question { limit: 100, ..ask("herring") };
    assert_eq!(search.find(&question, &Viewer::default()).unwrap().hits.len(), 40);
}
