use std::{collections::BTreeSet, fs, io::Write};

use jiff::Timestamp;

use super::*;
use crate::{Counts, DatasetId, Description, Entry, Facts, Filter, Scope, SizeClass, Viewer};

fn open(home: &tempfile::TempDir) -> Store {
    Store::open(home.path(), Durability::RightAfter).unwrap()
}

fn names(store: &Store) -> BTreeSet<DatasetId> {
    store.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.id).collect()
}

/// A result of a tool: what of it was counted when it passed, and when it was captured.
const CAPTURED: Counts = Counts {
    results: 1,
    bytes: 7,
    captured: 1,
    captured_tokens: 9_000,
    given_tokens: 500,
    cached: 0,
};
const PASSED: Counts =
    Counts { results: 1, bytes: 7, captured: 0, captured_tokens: 0, given_tokens: 0, cached: 0 };

const PASSED_ORDER: Passed<'_> =
    Passed { server: "shop", tool: "orders", size: SizeClass::ALL[0], counts: PASSED };

fn claims(home: &tempfile::TempDir) -> usize {
    fs::read_dir(home.path().join("capturing")).unwrap().count()
}

fn with_tokens(tool: &str, session: &str, project: &str) -> Description {
    let facts = Facts {
        tokens: Some(9_000),
        summary_tokens: Some(500),
        session: Some(session.to_owned()),
        project: Some(project.to_owned()),
        ..Facts::default()
    };
    Description {
        tool: tool.to_owned(),
        server: "shop".to_owned(),
        original_size: 7,
        facts,
        ..Description::default()
    }
}

fn keep_for_later(store: &Store, description: Description) -> Dataset {
    let mut capture = store.capture().unwrap();
    capture.start_part("json").unwrap().write_all(b"[]").unwrap();
    capture.finish(description).unwrap().commit_and_enter_later().unwrap()
}

#[test]
fn what_was_captured_is_seen_by_all_before_it_is_entered_and_counted_once() {
    let home = tempfile::tempdir().unwrap();
    let (store, other) = (open(&home), open(&home));
    let dataset = keep_for_later(&store, with_tokens("orders", "s", "p"));
    assert_eq!(names(&other), [dataset.id().clone()].into());
    assert_eq!(names(&open(&home)), [dataset.id().clone()].into());
    assert!(other.usage(None).unwrap().is_empty(), "its own process counts it");
    store.enter_new(&[PASSED_ORDER]).unwrap();
    assert_eq!(other.usage(None).unwrap()[0].counts, CAPTURED);
    drop(store);
    assert_eq!(claims(&home), 0);
}

#[test]
fn what_a_process_had_not_entered_when_it_died_is_entered_and_counted_once() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let dataset = keep_for_later(&store, with_tokens("orders", "s", "p"));
    // As if it had died here: the claim is there, and nobody holds it.
    store.to_enter().clear();
    for _ in 0..2 {
        let next = open(&home);
        assert_eq!(names(&next), [dataset.id().clone()].into());
        assert_eq!(next.usage(None).unwrap()[0].counts, CAPTURED);
    }
}

#[test]
fn totals_are_what_a_count_would_give() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let (tools, sessions, projects) = (["a", "b"], ["s", "t", "u"], ["p", "q", ""]);
    let mut kept = Vec::new();
    for number in 0..60 {
        let (tool, session) = (tools[number % 2], sessions[number / 2 % 3]);
        // A session may change its project.
        let project = projects[number / 7 % 3];
        kept.push(keep_for_later(&store, with_tokens(tool, session, project)).id().clone());
    }
    for id in kept.iter().step_by(3) {
        assert!(store.remove(id).unwrap());
    }
    let entries = store.list(&Filter::default()).unwrap();
    assert_eq!(
        store.catalog().stored_bytes().unwrap(),
        entries.iter().map(|it| it.stored_bytes).sum::<u64>()
    );
    for tool in [None, Some("a"), Some("none")] {
        let fits = |entry: &&Entry| tool.is_none_or(|tool| entry.tool == tool);
        let fitting = entries.iter().filter(fits).count() as u64;
        let days = store.days(&Viewer::default(), None, tool).unwrap();
        assert_eq!(days.iter().map(|(_, count)| count).sum::<u64>(), fitting, "{tool:?}");
        let totals = store.totals(&Viewer::default()).unwrap().into_iter();
        let of_tool = totals.filter(|total| tool.is_none_or(|tool| total.tool == tool));
        assert_eq!(of_tool.map(|total| total.datasets).sum::<u64>(), fitting, "{tool:?}");
    }
    for (scope, session, project) in [
        (Scope::All, None, None),
        (Scope::Session, Some("s"), Some("p")),
        (Scope::Session, None, Some("p")),
        (Scope::Project, Some("t"), Some("q")),
        (Scope::Project, Some("nobody"), Some("p")),
        (Scope::Project, Some("u"), None),
    ] {
        let viewer = Viewer {
            scope,
            session: session.map(str::to_owned),
            project: project.map(str::to_owned),
            ..Viewer::default()
        };
        for tool in [None, Some("a"), Some("none")] {
            let filter = Filter {
                viewer: viewer.clone(),
                tool: tool.map(str::to_owned),
                ..Filter::default()
            };
            let seen: Vec<Entry> = entries
                .iter()
                .filter(|entry| {
                    let dataset = store.dataset(&entry.id).unwrap();
                    viewer.sees(dataset.metadata()) && tool.is_none_or(|tool| entry.tool == tool)
                })
                .cloned()
                .collect();
            assert_eq!(store.list(&filter).unwrap(), seen, "{filter:?}");
            assert_eq!(store.count(&filter).unwrap(), seen.len() as u64, "{filter:?}");
            let since = Filter { from: Some(Timestamp::UNIX_EPOCH), ..filter.clone() };
            assert_eq!(store.count(&since).unwrap(), seen.len() as u64, "{filter:?}");
            let page = Filter { offset: 3, limit: Some(4), ..filter };
            let expected: Vec<Entry> = seen.iter().skip(3).take(4).cloned().collect();
            assert_eq!(store.list(&page).unwrap(), expected);
        }
        let mut origins = store.origins(&viewer).unwrap();
        origins.sort();
        let filter = Filter { viewer, ..Filter::default() };
        let seen: BTreeSet<_> =
            store.list(&filter).unwrap().into_iter().map(|it| (it.server, it.tool)).collect();
        assert_eq!(origins, seen.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn what_was_removed_before_it_was_entered_is_counted_and_not_entered() {
    let home = tempfile::tempdir().unwrap();
    let (store, other) = (open(&home), open(&home));
    let dataset = keep_for_later(&store, with_tokens("orders", "s", "p"));
    assert!(other.remove(dataset.id()).unwrap());
    store.enter_new(&[PASSED_ORDER]).unwrap();
    assert!(names(&store).is_empty() && names(&other).is_empty());
    assert_eq!(store.count(&Filter::default()).unwrap(), 0);
    assert_eq!(other.usage(None).unwrap()[0].counts, CAPTURED);
}

#[test]
fn a_claim_that_is_gone_already_is_no_reason_to_enter_twice() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    keep_for_later(&store, with_tokens("orders", "s", "p"));
    fs::remove_dir_all(home.path().join("capturing")).unwrap();
    store.enter_new(&[PASSED_ORDER]).unwrap();
    assert!(store.to_enter().is_empty());
    assert_eq!(store.usage(None).unwrap()[0].counts, CAPTURED);
    keep_for_later(&store, with_tokens("orders", "s", "p"));
    assert_eq!(names(&store).len(), 2);
    assert_eq!(claims(&home), 1);
}

#[test]
fn a_claim_serves_one_capture_after_the_other() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    let mut kept = BTreeSet::new();
    for _ in 0..3 {
        kept.insert(keep_for_later(&store, with_tokens("orders", "s", "p")).id().clone());
        store.enter_new(&[]).unwrap();
        assert_eq!(claims(&home), 1, "for the next one");
        assert_eq!(names(&open(&home)), kept, "it is on no dataset yet");
    }
    // As if it had died: whoever looks next removes the claim, and keeps the rest.
    let left = fs::read_dir(home.path().join("capturing")).unwrap().next().unwrap().unwrap();
    let name = DatasetId::parse(left.file_name().to_str().unwrap()).unwrap();
    assert!(!kept.contains(&name));
    store.spare_claim.lock().take();
    assert_eq!(names(&open(&home)), kept);
    assert_eq!(claims(&home), 0);
}

#[test]
fn a_spare_claim_that_somebody_removed_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let store = open(&home);
    keep_for_later(&store, with_tokens("orders", "s", "p"));
    store.enter_new(&[]).unwrap();
    fs::remove_dir_all(home.path().join("capturing")).unwrap();
    let dataset = keep_for_later(&store, with_tokens("orders", "s", "p"));
    assert!(home.path().join("capturing").join(dataset.id().as_str()).exists());
}
