//! The model in real processes.
#![expect(clippy::unwrap_used, reason = "what a test cannot go on without")]

use std::{
    fs,
    io::{self, Write as _},
    sync::Arc,
    thread,
    time::Duration,
};

use forebay_embed::{DIMENSIONS, Embedder, Local, MODEL};

/// The model, and the argument that its processes are known by. `None` where the model is missing.
fn model(test: &str, idle: Duration) -> Option<Local> {
    if !Local::is_inside() {
        let must = std::env::var("FOREBAY_TEST_PEERS").is_ok_and(|value| value == "required");
        assert!(!must, "the program was built without its embedding model");
        let _ =
            writeln!(io::stderr(), "SKIPPED {test}: needs the embedding model, which pip fetches");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_embed-worker").into();
    Some(Local::new(program, vec![test.into()], idle))
}

/// The processes of a test.
fn processes(test: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap();
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_of_test = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(test.as_bytes())
    };
    ids.filter(is_of_test).collect()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

const LONG: Duration = Duration::from_secs(600);

#[test]
fn texts_become_vectors_in_their_order() {
    let Some(local) = model("texts_become_vectors", LONG) else { return };
    let queries = local.for_queries();
    assert_eq!(queries.model(), MODEL);
    assert_eq!(queries.embed(&[]).unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(processes("texts_become_vectors"), Vec::<i32>::new(), "nothing was asked");
    let texts: Vec<String> = (0..20).map(|number| format!("sentence number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = queries.embed(&texts).unwrap();
    assert_eq!(vectors.len(), 20);
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_eq!(vector.len(), DIMENSIONS);
        let alone = local.for_indexing().embed(&[text]).unwrap();
        assert!(cosine(&alone[0], vector) > 0.9999, "{text}");
    }
}

#[test]
fn queries_and_indexing_have_a_process_each_and_both_reach_nothing() {
    const TEST: &str = "queries_and_indexing";
    let Some(local) = model(TEST, LONG) else { return };
    local.for_queries().embed(&["one"]).unwrap();
    let [query] = processes(TEST)[..] else { panic!("{:?}", processes(TEST)) };
    local.for_indexing().embed(&["one"]).unwrap();
    let ids = processes(TEST);
    assert_eq!(ids.len(), 2);
    for id in ids {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        assert!(status.contains("\nSeccomp:\t2\n"), "{status}");
        assert_eq!(fs::read(format!("/proc/{id}/environ")).unwrap(), b"");
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let nice = stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().to_owned();
        assert_eq!(nice == "19", id != query, "{nice}");
    }
    drop(local);
    assert_eq!(processes(TEST), Vec::<i32>::new());
}

#[test]
fn a_process_that_was_killed_is_replaced() {
    const TEST: &str = "a_process_that_was_killed";
    let Some(local) = model(TEST, LONG) else { return };
    let queries = local.for_queries();
    let before = queries.embed(&["one"]).unwrap();
    let killed = processes(TEST)[0];
    let id = rustix::process::Pid::from_raw(killed).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    assert_eq!(queries.embed(&["one"]).unwrap(), before);
    assert!(!processes(TEST).contains(&killed));
}

#[test]
fn an_idle_process_ends_by_itself_and_leaves_nothing_behind() {
    const TEST: &str = "an_idle_process_ends";
    let Some(local) = model(TEST, Duration::from_millis(1)) else { return };
    let queries = local.for_queries();
    let before = queries.embed(&["one"]).unwrap();
    while !processes(TEST).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(queries.embed(&["one"]).unwrap(), before);
}

#[test]
fn many_ask_at_once_and_each_has_its_own_vectors() {
    let Some(local) = model("many_ask_at_once", LONG) else { return };
    let queries = local.for_queries();
    let expected: Vec<Vec<f32>> =
        (0..8).flat_map(|number| queries.embed(&[&format!("topic {number}")]).unwrap()).collect();
    let ask = |number: usize, queries: Arc<dyn Embedder>| {
        thread::spawn(move || queries.embed(&[&format!("topic {number}")]).unwrap().remove(0))
    };
    let threads: Vec<_> = (0..8).map(|number| ask(number, queries.clone())).collect();
    for (thread, expected) in threads.into_iter().zip(expected) {
        assert_eq!(thread.join().unwrap(), expected);
    }
    assert_eq!(processes("many_ask_at_once").len(), 1);
}

#[test]
fn any_text_has_a_vector() {
    let Some(local) = model("any_text_has_a_vector", LONG) else { return };
    let long = "word ".repeat(1_000_000);
    let blob = "x".repeat(10_000_000);
    let strange: String = (0..2_000).filter_map(char::from_u32).collect();
    let texts = ["", "\0", "\u{1f600}", &long, &blob, &strange, "[SEP][CLS]"];
    for vector in local.for_queries().embed(&texts).unwrap() {
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
    }
}
