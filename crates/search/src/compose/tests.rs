//! Datasets as documents.

use std::io::Write;

use forebay_records::describe;
use forebay_store::{Description, Durability, Insight, InsightMetadata, facts};
use serde_json::json;

use super::*;

/// Keeps a payload as it would be kept of a call, and makes a document of it.
fn composed(extension: &str, payload: &str, settings: &Settings) -> Composed {
    composed_of(&[(extension, payload)], settings)
}

/// The same of several payloads, of which the first is the main one.
fn composed_of(payloads: &[(&str, &str)], settings: &Settings) -> Composed {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Durability::default()).unwrap();
    let mut capture = store.capture().unwrap();
    for (extension, payload) in payloads {
        capture.start_part(extension).unwrap().write_all(payload.as_bytes()).unwrap();
    }
    let payload = payloads[0].1;
    let facts = describe(&Mapped::from(payload.as_bytes().to_vec()));
    let record_count = facts.tables().first().map(|table| table.records);
    let lines = payload.lines().count() as u64;
    let first_lines: Vec<String> = payload.lines().take(3).map(str::to_owned).collect();
    let text = facts::Text { lines, first_lines, ..facts::Text::default() };
    let summary = record_count.is_none().then_some(facts::Summary::Text(text));
    let facts = facts::Facts {
        arguments: Some(json!({"repository": "tidal/harbour", "state": "open"})),
        session: Some("s1".to_owned()),
        ..facts
    };
    let description = Description {
        tool: "list_issues".to_owned(),
        server: "github".to_owned(),
        record_count,
        summary,
        facts,
        ..Description::default()
    };
    let dataset = capture.commit(description).unwrap();
    let insight = Insight {
        key_findings: vec!["Most are about moorings.".to_owned()],
        actionable_insights: Vec::new(),
        metadata: InsightMetadata::of(&dataset),
        model: "a-model".to_owned(),
        reused: None,
    };
    assert!(store.put_findings(&dataset, &insight).unwrap());
    document(&store, &dataset, settings).unwrap()
}

#[test]
fn a_table_is_told_as_a_whole_and_by_its_records() {
    let long = "The mooring line chafes against the bollard. ".repeat(60);
    let rows: Vec<_> = (0..200)
        .map(|n| {
            let state = if n % 2 == 0 { "open" } else { "closed" };
            let body = if n == 7 { long.as_str() } else { "short" };
            json!({"body": body, "id": n, "state": state})
        })
        .collect();
    let payload = serde_json::to_string_pretty(&rows).unwrap();
    let Composed { document, session, left_out, .. } =
        composed("json", &payload, &Settings::default());
    assert_eq!(document.title, "200 records (body, id, state) from list_issues of github");
    assert_eq!((session.as_str(), left_out), ("s1", 0));
    let [whole, findings, records @ ..] = document.passages.as_slice() else { panic!() };
    for word in ["github", "list_issues", "tidal/harbour", "closed, open", "0 to 199"] {
        assert!(whole.text.contains(word), "{word}: {}", whole.text);
    }
    let said = "A model (a-model) said: Most are about moorings.";
    assert_eq!((findings.text.as_str(), findings.lines), (said, None));
    let all: String = records.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n");
    for n in [0, 6, 8, 199] {
        assert!(all.contains(&format!("id: {n}; state:")), "{n}");
    }
    assert!(all.matches("chafes").count() >= 60);
    let with_long = records.iter().find(|it| it.text.contains("chafes")).unwrap();
    let line = payload.lines().position(|line| line.contains("chafes")).unwrap() as u64;
    // A record begins on the line before its first member.
    assert_eq!(with_long.lines, Some((line, line)));
}

/// All that a document is found by but the whole and the findings, in one text.
fn told(document: &Document) -> String {
    let texts: Vec<&str> = document.passages[2..].iter().map(|it| it.text.as_str()).collect();
    texts.join("\n")
}

#[test]
fn all_payloads_are_indexed_each_with_its_place() {
    let rows: Vec<_> = (0..20).map(|n| json!({"id": n, "name": format!("berth {n}")})).collect();
    let list = serde_json::to_string(&rows).unwrap();
    let log: Vec<String> = (0..4_000)
        .map(|n| format!("2024-05-01T10:00:00Z INFO tide gauge {n} reports nothing of note\n"))
        .collect();
    let log = log.concat();
    let log = format!("{log}2024-05-01T11:00:00Z ERROR the zephyr valve is stuck\n");
    let payloads = [("json", list.as_str()), ("txt", &log), ("txt", &log)];
    let Composed { document, left_out, .. } = composed_of(&payloads, &Settings::default());
    let told = told(&document);
    assert!(told.contains("name: berth 19") && told.contains("gauge 0 ") && left_out == 0);
    assert_eq!(told.matches("zephyr").count(), 1, "the same payload twice is indexed once");
    let valve = document.passages.iter().find(|it| it.text.contains("zephyr")).unwrap();
    assert_eq!((valve.block, valve.lines.unwrap().1), (Some(1), 4_001));
    assert_eq!(document.passages[2].block, None, "the main payload is first");
    let few = Settings { max_passages: 22, ..Settings::default() };
    let Composed { document, left_out, .. } = composed_of(&payloads, &few);
    let of = |block| document.passages[2..].iter().filter(|it| it.block == block).count();
    let (of_list, of_log) = (of(None), of(Some(1)));
    assert!(of_list > 0 && of_list + of_log == 20 && left_out > 200, "{of_list}, {of_log}");
}

#[test]
fn long_texts_beside_a_table_and_other_tables_are_indexed() {
    let body: Vec<String> = (0..400).map(|n| format!("Sentence {n} of a long letter.\n")).collect();
    let body = body.concat();
    let comments: Vec<_> = (0..80)
        .map(|n| json!({"by": n, "said": format!("remark {n}, {}", "blah ".repeat(20))}))
        .collect();
    let labels: Vec<_> =
        (0..9).map(|n| json!({"label": format!("label-{n}"), "colour": "red"})).collect();
    let payload = json!({
        "body": body, "comments": comments, "deep": {"labels": labels, "note": "a zephyr"},
    });
    let payload = serde_json::to_string_pretty(&payload).unwrap();
    let Composed { document, left_out, .. } = composed("json", &payload, &Settings::default());
    let told = told(&document);
    for n in [0, 200, 399] {
        assert!(told.contains(&format!("Sentence {n} of")), "{n}");
    }
    assert!(told.contains("remark 79") && told.contains("label-8") && told.contains("zephyr"));
    assert_eq!(left_out, 0);
    assert_eq!(told.matches("remark 41,").count(), 1, "what is in a record is not beside it");
    let few = Settings { max_passages: 8, ..Settings::default() };
    let Composed { document, left_out, .. } = composed("json", &payload, &few);
    assert_eq!(document.passages.len(), 8);
    assert!(left_out > 10, "{left_out}");
}

#[test]
fn a_text_is_cut_into_pieces_with_their_lines() {
    let days: Vec<String> = (1..=300)
        .map(|n| format!("On day {n} the tide rises at the quay, and falls again.\n"))
        .collect();
    let text = days.concat();
    let document = composed("txt", &text, &Settings::default()).document;
    let lines: Vec<&str> = text.lines().collect();
    let pieces = &document.passages[2..];
    assert!(pieces.len() > 10, "{}", pieces.len());
    let mut behind = 0;
    for piece in pieces {
        let (first, last) = piece.lines.unwrap();
        assert!(first <= behind + 1 && last > behind, "nothing is left out: {first}-{last}");
        behind = last;
        let of_lines =
            lines[usize::try_from(first).unwrap() - 1..usize::try_from(last).unwrap()].join("\n");
        assert!(of_lines.contains(&piece.text), "{first}-{last}");
    }
    assert_eq!(behind, 300);
}

#[test]
fn what_is_too_long_is_spread_over_all_and_the_rest_counted() {
    let entries: Vec<String> =
        (1..=60_000).map(|n| format!("entry {n} of a long book\n")).collect();
    let text = entries.concat();
    let settings = Settings { max_passages: 50, ..Settings::default() };
    let Composed { document, left_out, .. } = composed("txt", &text, &settings);
    assert_eq!(document.passages.len(), 50);
    let last = document.passages.last().unwrap().lines.unwrap().1;
    assert!(last > 40_000 && left_out > 500, "{last}, {left_out}");
    let settings = Settings { max_bytes: 100_000, ..Settings::default() };
    let Composed { document, left_out, .. } = composed("txt", &text, &settings);
    assert!(document.passages.last().unwrap().lines.unwrap().1 < 6_000 && left_out > 500);
}

#[test]
fn what_is_no_text_is_told_as_a_whole() {
    for payload in ["", "\0\u{1}\u{2}", "   \n\n  "] {
        let document = composed("bin", payload, &Settings::default()).document;
        assert_eq!(document.passages.len(), 2, "{payload:?}");
    }
}

#[test]
fn the_same_dataset_gives_the_same_document() {
    let text = "one\ntwo\n".repeat(200);
    let (one, other) = (
        composed("txt", &text, &Settings::default()),
        composed("txt", &text, &Settings::default()),
    );
    assert_eq!(
        (one.document.title, one.document.passages),
        (other.document.title, other.document.passages)
    );
}
