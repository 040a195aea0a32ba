//! Results in, replacements out, with a model of the test's own behind.

use std::{
    hash::{DefaultHasher, Hasher as _},
    net::TcpListener,
    sync::atomic::{AtomicUsize, Ordering},
};

use forebay_embed::EmbedError;
use forebay_intercept::{Keeper, Policy, Usage};
use forebay_proxy::{
    body::{Payload, Source},
    chain::{Caller, Interceptor, Verdict},
    router::{Router, UpstreamName},
    session::{Call, FromClient, Session},
};
use forebay_store::{Durability, Filter, Retention, Scope};
use forebay_wire::Line;
use serde_json::{Value, json};

use super::*;

/// A model that says how many records there are, and counts how often it is asked.
struct Counting(Arc<AtomicUsize>);

impl Provider for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn model(&self) -> Option<&str> {
        Some("a-model")
    }

    fn ask(&self, prompt: &Prompt, _: Option<&Sampling>, _: Instant) -> Result<Said, Failure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let Some(records) = prompt.data.split("Records: ").nth(1) else {
            let line = "It is said at length what stands in the text, and why, and to what end.";
            let answer =
                json!({"keyFindings": vec![line.repeat(4); 5], "actionableInsights": [line]});
            return Ok(Said { answer, ..Said::default() });
        };
        let records = records.split(' ').next().unwrap();
        let found = [
            format!("The result has {records} records."),
            "The orders are all alike.".to_owned(),
            "Each has a note.".to_owned(),
        ];
        let answer = json!({"keyFindings": found, "actionableInsights": []});
        Ok(Said { answer, ..Said::default() })
    }
}

/// A model that says nothing until it is released.
struct Holding(Mutex<mpsc::Receiver<()>>);

impl Provider for Holding {
    fn name(&self) -> &'static str {
        "holding"
    }

    fn model(&self) -> Option<&str> {
        None
    }

    fn ask(&self, _: &Prompt, _: Option<&Sampling>, _: Instant) -> Result<Said, Failure> {
        self.0.lock().recv().unwrap();
        Err(Failure::Empty)
    }
}

/// A model that remembers what it was shown.
struct Shown(Arc<Mutex<String>>);

impl Provider for Shown {
    fn name(&self) -> &'static str {
        "shown"
    }

    fn model(&self) -> Option<&str> {
        None
    }

    fn ask(&self, prompt: &Prompt, _: Option<&Sampling>, _: Instant) -> Result<Said, Failure> {
        self.0.lock().clone_from(&prompt.data);
        Err(Failure::Empty)
    }
}

/// What a model is shown of a text.
fn shown(text: &str) -> String {
    let shown: Arc<Mutex<String>> = Arc::default();
    let bench = Bench::asking(Box::new(Shown(shown.clone())), Scope::Project, patient());
    bench.replaced("list", &text_result(text)).unwrap();
    shown.lock().clone()
}

/// Texts lie near each other that share words. Counts how many vectors it makes.
#[derive(Default)]
struct Words(AtomicUsize);

impl Embedder for Words {
    fn model(&self) -> &'static str {
        "words"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let mut vector = vec![0_f32; 256];
            for word in text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
                let mut hasher = DefaultHasher::new();
                hasher.write(word.as_bytes());
                vector[usize::from(hasher.finish().to_le_bytes()[0])] += 1.0;
            }
            let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
            vector.iter().map(|it| it / length).collect()
        };
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(vector).collect())
    }
}

struct Bench {
    _home: tempfile::TempDir,
    shelf: Arc<Shelf>,
    keeper: Keeper,
    insights: Arc<Insights>,
    asked: Arc<AtomicUsize>,
    embedder: Arc<Words>,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        Self::within(Scope::Project, settings)
    }

    fn within(scope: Scope, settings: Settings) -> Self {
        let asked: Arc<AtomicUsize> = Arc::default();
        let bench = Self::asking(Box::new(Counting(asked.clone())), scope, settings);
        Self { asked, ..bench }
    }

    /// In front of another model. All sessions are about one project.
    fn asking(provider: Box<dyn Provider>, scope: Scope, settings: Settings) -> Self {
        let home = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(home.path(), Durability::default(), Retention::default()));
        let asked: Arc<AtomicUsize> = Arc::default();
        let embedder: Arc<Words> = Arc::default();
        let cache = Some(Cache::new(embedder.clone(), settings.reuse));
        let tallies = Tallies::of(provider.name());
        let insights = Arc::new(Insights(Arc::new(Shared {
            provider,
            settings,
            breaker: Breaker::new(settings.max_running),
            cache,
            shelf: shelf.clone(),
            tallies,
            open: Mutex::new(Some(0)),
        })));
        let router = Router::sole(UpstreamName::new("shop"));
        let usage = Arc::new(Usage::new(|_, _| Ok(())));
        let policy = Policy { scope, directory: Some("/work".to_owned()), ..Policy::default() };
        let keeper = Keeper::new(shelf.clone(), policy, router, usage).read_by(insights.clone());
        Self { _home: home, shelf, keeper, insights, asked, embedder }
    }

    /// What stands in the place of a result, as it goes out. Each is of a session of its own.
    fn replaced(&self, tool: &str, result: &Value) -> Option<Value> {
        self.replaced_in(&mut session(), tool, result)
    }

    fn replaced_in(&self, session: &mut Session, tool: &str, result: &Value) -> Option<Value> {
        let payload = Payload::from(result.to_string().into_bytes());
        match self.keeper.on_result(&call(session, tool), &payload, &Caller::default()).unwrap() {
            Verdict::Replace(json) => Some(serde_json::from_slice(&json).unwrap()),
            Verdict::Pass => None,
        }
    }

    /// What stands in the place of a text, once all of it is kept.
    fn told(&self, tool: &str, text: &str) -> String {
        self.result(tool, text)["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The result that stands in the place of one with a text, once all of it is kept.
    fn result(&self, tool: &str, text: &str) -> Value {
        self.result_in(&mut session(), tool, text)
    }

    fn result_in(&self, session: &mut Session, tool: &str, text: &str) -> Value {
        let json = self.replaced_in(session, tool, &text_result(text)).unwrap();
        let store = self.shelf.store().unwrap();
        let newest = store.list(&Filter::default()).unwrap().remove(0);
        let dataset = store.dataset(&newest.id).unwrap();
        eventually("what was said is kept", || dataset.findings().is_some());
        json
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// How often something was counted.
    fn count(&self, what: &str) -> u64 {
        self.insights.0.tallies.write_down(&self.shelf);
        let tallies = self.shelf.store().unwrap().tallies(None).unwrap();
        tallies.iter().find(|it| it.what == what).map_or(0, |it| it.count)
    }
}

/// As usual, but that what is said is waited for however busy the machine is.
fn patient() -> Settings {
    Settings { deadline: Duration::from_secs(60), ..Settings::default() }
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never happened: {what}");
        thread::yield_now();
    }
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn session() -> Session {
    Session::new(Router::sole(UpstreamName::new("shop")))
}

fn call(session: &mut Session, tool: &str) -> Arc<Call> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let id = CALLS.fetch_add(1, Ordering::Relaxed);
    let params = json!({"name": tool});
    let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let line = line.to_string();
    let Line::Message(envelope) = Line::of(line.as_bytes()) else { panic!("one message") };
    match session.client_sent(&envelope, Source::Line(line.as_bytes())) {
        FromClient::ToolCall(call) => call,
        other => panic!("{other:?}"),
    }
}

fn orders(count: usize, note: &str) -> String {
    orders_of("active", count, note)
}

fn orders_of(status: &str, count: usize, note: &str) -> String {
    let order = |number| json!({"id": number, "status": status, "note": note});
    Value::from((1..=count).map(order).collect::<Vec<_>>()).to_string()
}

#[test]
fn what_was_said_of_a_result_that_is_nearly_the_same_is_said_again_and_hides_no_number() {
    let bench = Bench::new(patient());
    let first = bench.told("list", &orders(60, "a note of some length for each"));
    assert!(first.contains("Key findings (by a-model):\n- The result has 60 records."), "{first}");
    let second = bench.told("list", &orders(61, "a note of some length for each"));
    assert_eq!(bench.asked(), 1, "{second}");
    assert!(second.contains("61 records"), "its own number: {second}");
    assert!(second.contains("Key findings (by a-model, reused from dataset_"), "{second}");
    assert!(second.contains("- The orders are all alike."), "{second}");
    assert!(!second.contains("The result has 60 records"), "that is no longer true: {second}");

    let other =
        "nothing here is like the others, in words or numbers, and so the model is asked again";
    bench.told("list", &orders(33, other));
    assert_eq!(bench.asked(), 2);
    bench.told("search", &orders(60, "a note of some length for each"));
    assert_eq!(bench.asked(), 3, "of another tool");
    let counts = ["calls", "reused", "compared", "dropped_lines"].map(|what| bench.count(what));
    assert_eq!(counts, [3, 1, 4, 1]);
}

#[test]
fn a_value_that_has_changed_is_told_anew() {
    let bench = Bench::new(patient());
    let note = "a note of some length for each";
    bench.told("list", &orders(60, note));
    bench.told("list", &orders_of("failed", 60, note));
    assert_eq!(bench.asked(), 2, "the words are near, the values are not");
    bench.told("list", &orders(80, note));
    assert_eq!(bench.asked(), 3, "many more");
    bench.told("list", &orders(60, note));
    assert_eq!(bench.asked(), 3);
}

#[test]
fn a_private_key_is_not_shown_wherever_the_sample_cuts_it() {
    let mut hasher = DefaultHasher::new();
    let mut letters = || {
        hasher.write_u8(1);
        format!("Ab1{:016x}+{:09X}", hasher.finish(), hasher.finish() >> 28)
    };
    let key: Vec<String> = (0..60).map(|_| letters() + &letters() + "aZ").collect();
    let pem = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        key.join("\n")
    );
    let log = |number: usize| format!("2026-11-18T10:00:{:02}Z INFO part {number}", number % 60);
    let prose =
        |number: usize| format!("## Part {number}\n\nIt is said at length in part {number}.\n");
    let line = |number: usize| format!("line {number} of a text that has many of them");
    let lines = |of: fn(usize) -> String| move |number: usize| of(number);
    for (what, of) in [("log", lines(log)), ("markdown", lines(prose)), ("text", lines(line))] {
        for (before, behind) in [(0, 300), (150, 150), (300, 0), (20, 20), (2_000, 900)] {
            let pieces = (0..before).map(of).chain([pem.clone()]);
            let text: Vec<String> = pieces.chain((before..before + behind).map(of)).collect();
            let shown = shown(&text.join("\n"));
            assert!(shown.contains("SAMPLE"), "{what}: {shown}");
            let leaked = key.iter().find(|line| shown.contains(&line[..16]));
            assert_eq!(leaked, None, "{what}, {before} and {behind}: {shown}");
        }
    }
    let records: Vec<Value> = (0..200)
        .map(|id| json!({"id": id, "pem": if id % 9 == 0 { pem.as_str() } else { "" }}))
        .collect();
    let shown = shown(&Value::from(records).to_string());
    assert!(shown.contains("SAMPLE") && !shown.contains(&key[0][..16]), "{shown}");
}

#[test]
fn the_beginning_of_a_token_is_not_shown() {
    let tokens = [
        "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
    ];
    for token in tokens {
        let note = |before: usize| format!("{} {token} {}", "x".repeat(before), "y".repeat(300));
        let record = |id: usize| json!({"id": id, "note": note(id * 7), "more": "z".repeat(20)});
        let records = Value::from((0..60).map(record).collect::<Vec<_>>());
        let beside = json!({"hint": note(50), "at": note(470), "rows": records});
        let lines: Vec<String> =
            (0..900).map(|line| format!("It says {token} in {line}")).collect();
        let text = format!("# It\n\n{}", lines.join(" and\n\nthen: "));
        for text in [records.to_string(), beside.to_string(), text] {
            let shown = shown(&text);
            assert!(shown.contains("SAMPLE"), "{shown}");
            assert!(!shown.contains(&token[..5]), "{shown}");
        }
    }
}

#[test]
fn after_its_time_nothing_is_said_again() {
    let reuse = Rules { similarity: 0.9, age: Duration::ZERO };
    let bench = Bench::new(Settings { reuse, ..patient() });
    for _ in 0..2 {
        bench.told("list", &orders(60, "a note of some length for each"));
    }
    assert_eq!(bench.asked(), 2);
}

#[test]
fn what_was_said_in_a_session_is_said_again_where_it_may_be_seen() {
    let text = orders(60, "a note of some length for each");
    for (scope, asked) in [(Scope::Session, 2), (Scope::Project, 1)] {
        let bench = Bench::within(scope, patient());
        let (mut one, mut other) = (session(), session());
        let first = bench.result_in(&mut one, "list", &text).to_string();
        let id = first.split("saved as ").nth(1).unwrap()[..16].to_owned();
        let elsewhere = bench.result_in(&mut other, "list", &text).to_string();
        assert_eq!(bench.asked(), asked, "{scope:?}: {elsewhere}");
        assert_eq!(elsewhere.contains(&id), scope != Scope::Session, "{elsewhere}");
        let again = bench.result_in(&mut one, "list", &text).to_string();
        assert_eq!(bench.asked(), asked, "{scope:?}: {again}");
        assert!(again.contains("reused from"), "{again}");
    }
}

#[test]
fn what_was_said_of_a_result_that_was_removed_is_not_said_again() {
    let bench = Bench::new(patient());
    let text = orders(60, "a note of some length for each");
    bench.told("list", &text);
    let store = bench.shelf.store().unwrap();
    let id = store.list(&Filter::default()).unwrap().remove(0).id;
    store.remove(&id).unwrap();
    let told = bench.told("list", &text);
    assert!(!told.contains("reused from"), "{told}");
    assert_eq!(bench.asked(), 2);
}

#[test]
fn a_provider_that_never_answers_has_timed_out_in_the_end() {
    // Connections are made, and nothing is ever said.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(&[] as &[Vec<u8>]).unwrap();
    let wait = Duration::from_millis(50);
    let settings = Settings { deadline: wait, patience: 2 * wait, ..Settings::default() };
    for choice in [Choice::Gemini, Choice::Anthropic, Choice::OpenAi] {
        let model = choice.usual_model().to_owned();
        let provider = providers::of(choice, client.clone(), Some(base.clone()), model, None);
        let bench = Bench::asking(provider.unwrap(), Scope::Project, settings);
        let result = text_result(&orders(60, "a note of some length for each"));
        let instead = bench.replaced("list", &result).unwrap().to_string();
        assert!(instead.contains("60 records") && !instead.contains("Key findings"), "{instead}");
        eventually("the question fails", || bench.count("failures") > 0);
        let kinds = ["calls", "failures", "failed_time_out", "not_given", "answers"];
        assert_eq!(kinds.map(|what| bench.count(what)), [1, 1, 1, 1, 0], "{choice:?}");
    }
}

#[test]
fn a_question_that_is_open_at_the_end_is_given_up_and_counted_once() {
    let (release, held) = mpsc::channel();
    let settings =
        Settings { deadline: Duration::from_millis(50), max_running: 1, ..Settings::default() };
    let bench = Bench::asking(Box::new(Holding(Mutex::new(held))), Scope::Project, settings);
    let result = text_result(&orders(60, "a note of some length for each"));
    let instead = bench.replaced("list", &result).unwrap().to_string();
    assert!(instead.contains("60 records") && !instead.contains("Key findings"), "{instead}");
    let shared = &bench.insights.0;
    eventually("the question is asked", || *shared.open.lock() == Some(1));
    bench.insights.end();
    let counts =
        || ["calls", "timed_out", "failures", "failed_given_up"].map(|what| bench.count(what));
    assert_eq!(counts(), [1, 1, 1, 1]);
    release.send(()).unwrap();
    eventually("the model has let go", || shared.breaker.admit(Instant::now()).is_ok());
    bench.insights.end();
    assert_eq!((counts(), bench.count("failed_empty")), ([1, 1, 1, 1], 0));
}

#[test]
fn what_may_not_be_asked_costs_nothing() {
    let bench = Bench::new(Settings { max_running: 0, ..patient() });
    let text = orders(60, "a note of some length for each");
    assert!(bench.replaced("list", &text_result(&text)).is_some(), "the summary stands alone");
    assert_eq!(bench.count("skipped_busy"), 1);
    assert_eq!(bench.asked(), 0);
    assert_eq!(bench.embedder.0.load(Ordering::Relaxed), 0, "no vector was made for nothing");
}

#[test]
fn what_is_said_again_is_marked_for_programs_and_stays_marked() {
    let bench = Bench::new(patient());
    let note = "a note of some length for each";
    let first = bench.result("list", &orders(60, note));
    let id = first["_meta"]["forebay/insights"]["metadata"]["artifactId"].clone();
    assert_eq!(first["_meta"]["forebay/insights"].get("reused"), None);
    let second = bench.result("list", &orders(61, note));
    let reused = &second["_meta"]["forebay/insights"]["reused"];
    assert_eq!(reused["from"], id, "{second}");
    assert!(reused["similarity"].as_f64().unwrap() > 0.9, "{second}");
    assert!(reused["ageSeconds"].is_u64(), "{second}");
}

#[test]
fn a_result_is_never_longer_by_what_was_said_of_it() {
    let bench = Bench::new(patient());
    let mut replaced = 0;
    for words in (280..900).step_by(20) {
        let text: Vec<String> = (0..words).map(|word| format!("word{word}")).collect();
        let result = text_result(&text.join(" "));
        let Some(instead) = bench.replaced("verbose", &result) else { continue };
        let tokens = |json: &Value| forebay_records::tokens(&json.to_string());
        let (before, after) = (tokens(&result), tokens(&instead));
        assert!(after < before, "{after} of {before}: {instead}");
        assert!(instead.to_string().len() < result.to_string().len(), "{instead}");
        replaced += 1;
        let newest = bench.shelf.store().unwrap().list(&Filter::default()).unwrap().remove(0);
        let counted = bench.shelf.store().unwrap().dataset(&newest.id).unwrap();
        let counted = counted.facts().summary_tokens.unwrap();
        let object = tokens(&instead["_meta"]["forebay/insights"]);
        let text = forebay_records::tokens(instead["content"][0]["text"].as_str().unwrap());
        let of_object = if instead.get("_meta").is_some() { object } else { 0 };
        assert_eq!(counted, text + of_object, "all that goes out is counted: {instead}");
    }
    assert!(replaced > 5, "{replaced}");
}

#[test]
fn a_structured_result_is_never_longer_by_what_was_said_of_it() {
    let bench = Bench::new(patient());
    // Of those that were replaced, how many told programs what was said, and how many did not.
    let (mut told, mut not_told) = (0, 0);
    // Long words cost few tokens for their bytes: there is less room for what was said.
    let notes = ["a note of some length for each", "internationalization responsibilities"];
    for (count, note) in (34..64).flat_map(|count| notes.map(|note| (count, note))) {
        let order = |id| json!({"id": id, "note": note});
        let data = json!({"orders": (1..=count).map(order).collect::<Vec<_>>()});
        for text in ["done".to_owned(), data.to_string()] {
            let result =
                json!({"content": [{"type": "text", "text": text}], "structuredContent": data});
            let Some(instead) = bench.replaced("list", &result) else { continue };
            let (before, after) = (result.to_string(), instead.to_string());
            let tokens = forebay_records::tokens;
            assert!(after.len() < before.len(), "{} of {}: {after}", after.len(), before.len());
            assert!(tokens(&after) < tokens(&before), "{count}: {after}");
            let is_told = instead["structuredContent"].get("insights").is_some();
            *(if is_told { &mut told } else { &mut not_told }) += 1;
        }
    }
    assert!(told > 5 && not_told > 5, "{told} and {not_told}");
}
