//! Each way in which a provider fails, by name: the summary goes out alone, the client sees no error, and
//! what failed is counted.

use std::{path::PathBuf, process::Command};

use forebay_testkit::peer::eventually;
use serde_json::{Value, json};

use super::{
    Manner, Model, PROVIDERS, Session, asking, findings, key_of, orders, said_by, shown, text,
};
use crate::forebay;

/// A result has its summary alone, and the failure is counted under its name.
fn summary_stands(test: &str, kind: &str, model: impl Fn(&'static str) -> Model) {
    for provider in PROVIDERS {
        let model = model(provider);
        let test = format!("{test}_{provider}");
        let mut session = Session::start(asking(&test, provider, &model.url));
        let result = session.result(&orders(60));
        assert!(result.get("isError").is_none(), "{result}");
        let told = text(&result);
        assert!(told.contains("60 records") && told.contains("saved as dataset_"), "{told}");
        assert!(!told.contains("Key findings"), "{told}");
        assert_eq!(result.get("_meta"), None, "{result}");
        let stats = session.stats(provider);
        assert_eq!(stats["failures"], 1, "{provider}: {stats}");
        assert_eq!(stats["failures_by_kind"], json!({kind: 1}), "{provider}: {stats}");
        let log = session.peer.wait_for_stderr();
        assert!(!log.contains("secret-key-1"), "{log}");
    }
}

fn always(status: u16, body: &'static str) -> impl Fn(&'static str) -> Model {
    move |_| Model::answering(move |_| (status, body.to_owned()))
}

#[test]
fn too_many_requests_429() {
    summary_stands("429", "429", always(429, r#"{"error":{"message":"slow down"}}"#));
}

#[test]
fn server_error_500() {
    summary_stands("500", "500", always(500, "oops"));
}

#[test]
fn invalid_json() {
    summary_stands("invalid_json", "invalid_json", always(200, "<html>a proxy's page</html>"));
}

#[test]
fn wrong_schema() {
    summary_stands("wrong_schema", "wrong_schema", |provider| {
        Model::answering(move |_| (200, said_by(provider, &json!({"findings": ["a", "b", "c"]}))))
    });
}

#[test]
fn empty_answer() {
    summary_stands("empty", "empty", always(200, ""));
    summary_stands("empty_object", "empty", |_| Model::answering(|_| (200, "{}".to_owned())));
}

#[test]
fn connection_refused() {
    summary_stands("refused", "refused", |_| {
        let mut model = Model::start(Manner::Hangs);
        // Nobody listens on this port, and none is given it by chance.
        model.url = "http://127.0.0.1:1".to_owned();
        model
    });
}

#[test]
fn a_bad_key_is_told_and_counted() {
    summary_stands(
        "bad_key",
        "not_accepted",
        always(401, r#"{"error":{"message":"bad key: secret-key-1"}}"#),
    );
}

/// A provider that says nothing within the deadline, nor until the session ends: then it is given up, and
/// that is a failure.
#[test]
fn time_out() {
    for provider in PROVIDERS {
        let model = Model::start(Manner::Hangs);
        let (mut command, home) = asking(&format!("time_out_{provider}"), provider, &model.url);
        command.env("FOREBAY_SUMMARIES_DEADLINE_SECONDS", "1");
        let mut session = Session::start((command, home));
        let result = session.result(&orders(60));
        let told = text(&result);
        assert!(told.contains("60 records") && !told.contains("Key findings"), "{told}");
        eventually("it is asked", || model.asked().len() == 1);
        let stats = session.stats(provider);
        for what in ["calls", "timed_out", "not_given", "failures"] {
            assert_eq!(stats[what], 1, "{what}: {stats}");
        }
        assert_eq!(stats["failures_by_kind"], json!({"given_up": 1}), "{stats}");
    }
}

/// Nobody is asked, which one warning at the start tells, naming the key's variable.
fn nobody_is_asked(prepared: (Command, PathBuf), key: &str) {
    let mut session = Session::start(prepared);
    let original = orders(60);
    assert_eq!(text(&session.result(&original)), original, "it passes as without a provider");
    session.result(&original);
    session.peer.close_input();
    let log = session.peer.wait_for_stderr();
    assert_eq!(log.matches(key).count(), 1, "one warning: {log}");
    assert!(!log.contains("secret-key-1"), "{log}");
}

#[test]
fn missing_key() {
    let model = Model::start(Manner::Hangs);
    for provider in PROVIDERS {
        let key = key_of(provider);
        let (mut command, home) = asking(&format!("no_key_{provider}"), provider, &model.url);
        command.env_remove(key);
        nobody_is_asked((command, home), key);
        // Where the provider itself is, its own key is wanted, whether or not it is named.
        let (mut command, home) = asking(&format!("no_own_key_{provider}"), provider, "");
        command.env_remove(key).env_remove("FOREBAY_SUMMARIES_KEY_VARIABLE");
        nobody_is_asked((command, home), key);
    }
    assert_eq!(model.asked().len(), 0);
}

#[test]
fn a_key_is_not_sent_over_plain_http_to_another_machine() {
    for provider in PROVIDERS {
        let test = format!("plain_http_{provider}");
        nobody_is_asked(asking(&test, provider, "http://models.example"), key_of(provider));
    }
}

#[test]
fn a_key_is_sent_to_no_place_that_it_is_not_named_for() {
    for provider in PROVIDERS {
        let model =
            Model::answering(move |asked| (200, said_by(provider, &findings(&shown(&asked.body)))));
        let (mut command, home) = asking(&format!("unnamed_{provider}"), provider, &model.url);
        command.env_remove("FOREBAY_SUMMARIES_KEY_VARIABLE");
        let mut session = Session::start((command, home));
        let result = session.result(&orders(60));
        assert!(text(&result).contains("Key findings"), "{result}");
        let head = &model.asked()[0].head;
        assert!(!head.contains("secret-key-1") && !head.contains("authorization"), "{head}");
    }
}

#[test]
fn missing_embedder_key() {
    let model = Model::answering(|asked| (200, said_by("openai", &findings(&shown(&asked.body)))));
    let embedder = Model::answering(|_| (500, String::new()));
    let (mut command, home) = asking("no_embedder_key", "openai", &model.url);
    let by_service = |command: &mut Command| {
        command
            .env("FOREBAY_SEARCH_EMBEDDER", "service")
            .env("FOREBAY_SEARCH_EMBEDDER_URL", &embedder.url)
            .env("FOREBAY_SEARCH_EMBEDDER_MODEL", "a-model")
            .env("FOREBAY_SEARCH_EMBEDDER_KEY_VARIABLE", "EMBEDDINGS_KEY")
            .env_remove("EMBEDDINGS_KEY");
    };
    by_service(&mut command);
    let mut session = Session::start((command, home));
    let told = session.result(&orders(60));
    assert!(text(&told).contains("Key findings"), "all is as without an embedder: {told}");
    session.peer.close_input();
    let log = session.peer.wait_for_stderr();
    let told = log.lines().filter(|line| line.contains("EMBEDDINGS_KEY")).count();
    assert_eq!(told, 1, "one warning: {log}");
    let mut command = forebay(["search", "inactive", "--json"]);
    by_service(command.env("FOREBAY_HOME", &session.home));
    let output = command.output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "words alone find it: {found}");
    assert_eq!(embedder.asked().len(), 0);
}

/// A disk that is full when what a model says is to be written: the result is kept, and nothing else is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_findings_and_nothing_else() {
    use std::{
        fs,
        sync::{Mutex, mpsc},
    };

    use forebay_store::Filter;
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let model = Model::answering(move |_| {
        let _ = held.lock().unwrap().recv();
        // More characters than a line is shown with, of three bytes each; what is said twice is told once.
        let lines: Vec<String> = ["一", "二", "三", "四", "五"].map(|it| it.repeat(300)).into();
        (200, said_by("openai", &json!({"keyFindings": lines, "actionableInsights": []})))
    });
    let (wrapped, home) = asking("full_disk", "openai", &model.url);
    // A limit on the size of files stands for a full disk, where going over it is an error and no signal.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    command.arg(wrapped.get_program()).args(wrapped.get_args());
    for (name, value) in wrapped.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("FOREBAY_SUMMARIES_DEADLINE_SECONDS", "1");
    let mut session = Session::start((command, home));
    let original = orders(60);
    let result = session.result(&original);
    assert!(text(&result).contains("60 records"), "{result}");
    let store = session.store();
    let dataset = store.dataset(&store.list(&Filter::default()).unwrap()[0].id).unwrap();
    // The log has room, what was said has not.
    let full = Rlimit { current: Some(3_000), ..getrlimit(Resource::Fsize) };
    prlimit(Some(Pid::from_child(&session.peer.child)), Resource::Fsize, full).unwrap();
    release.send(()).unwrap();
    let log = session.home.join("logs/forebay.log");
    eventually("it is told", || {
        let log = fs::read_to_string(&log).unwrap_or_default();
        log.contains("what the model said of a result cannot be kept")
    });
    let second = session.result(&orders(61));
    assert!(second.get("isError").is_none(), "{second}");
    assert!(text(&second).contains("customer number 61"), "it passes as it came: {second}");
    session.peer.close_input();
    session.peer.wait();
    assert_eq!(dataset.findings(), None);
    let names = fs::read_dir(dataset.path(0).parent().unwrap()).unwrap().flatten();
    let mut names = names.map(|entry| entry.file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.contains("findings")), None, "nothing is left half-written");
    assert_eq!(fs::read_to_string(dataset.path(0)).unwrap(), original);
}

#[test]
fn after_five_failures_in_a_row_nothing_is_asked_for_a_while() {
    let model = Model::answering(|_| (503, String::new()));
    let mut session = Session::start(asking("paused", "openai", &model.url));
    for count in 0..8 {
        let result = session.result(&orders(60 + count));
        assert!(text(&result).contains("records"), "{result}");
    }
    assert_eq!(model.asked().len(), 5);
    let stats = session.stats("openai");
    assert_eq!((&stats["failures"], &stats["skipped_paused"]), (&json!(5), &json!(3)), "{stats}");
}

#[test]
fn a_server_that_knows_no_schemas_is_asked_for_any_json() {
    let model = Model::answering(|asked| {
        if asked.body["response_format"]["type"] == "json_schema" {
            return (400, r#"{"error":{"message":"unknown response_format"}}"#.to_owned());
        }
        (200, said_by("openai", &findings(&shown(&asked.body))))
    });
    let mut session = Session::start(asking("no_schemas", "openai", &model.url));
    let result = session.result(&orders(60));
    assert!(text(&result).contains("Key findings"), "{result}");
    assert_eq!(model.asked().len(), 2);
    assert_eq!(model.asked()[1].body["response_format"]["type"], "json_object");
}

#[test]
fn a_server_that_streams_although_it_was_not_asked_to_is_understood() {
    let model = Model::answering(|asked| {
        assert_eq!(asked.body["stream"], false);
        let said = findings(&shown(&asked.body)).to_string();
        let (one, other) = said.split_at(said.len() / 2);
        let piece = |text: &str| {
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
        };
        (200, format!("{}{}data: [DONE]\n\n", piece(one), piece(other)))
    });
    let mut session = Session::start(asking("streams", "openai", &model.url));
    let result = session.result(&orders(60));
    assert!(text(&result).contains("Key findings (by gpt-4.1-mini)"), "{result}");
}

#[test]
fn a_small_result_whose_summary_would_be_no_shorter_passes() {
    let model = Model::answering(|_| (500, String::new()));
    let mut session = Session::start(asking("no_shorter", "openai", &model.url));
    // Long, and of few tokens.
    let original = "=".repeat(3_000);
    assert_eq!(text(&session.result(&original)), original);
    assert_eq!(model.asked().len(), 1);
    let kept = session.store().list(&forebay_store::Filter::default()).unwrap();
    assert!(kept.is_empty(), "{kept:?}");
}
