use forebay_store::{DatasetId, Principal, Viewer};
use serde_json::json;

use super::*;
use crate::testing::{Fixed, Stage, hit, texts};

const BUDGET: Budget = Budget { tokens: 4_000, bytes: None };

fn asked(desk: &Desk, given: Value) -> Result<Vec<String>, ToolError> {
    let arguments = Arguments::new(Tool::SemanticSearch, given)?;
    answer(desk, &arguments, BUDGET).map(texts)
}

fn json_of(texts: &[String]) -> Value {
    serde_json::from_str(&texts[0]).unwrap()
}

/// A stage on which a log and a table were kept, and both are found.
fn stage() -> (Stage, std::sync::Arc<Fixed>, [Dataset; 2]) {
    let stage = Stage::new();
    let (log, table) = (stage.keep("read_log", "txt", b"x"), stage.keep("orders", "json", b"[]"));
    let text = format!("{} the login of ada failed {}", "boring ".repeat(200), "dull ".repeat(200));
    let hits = vec![hit(&log, 0.876_5, &text, Some((40, 55))), hit(&table, 0.5, "Orders.", None)];
    let (stage, finder) = stage.finding(Found { hits, ..Found::default() });
    (stage, finder, [log, table])
}

#[test]
fn what_was_found_is_told_with_where_it_stands_and_how_to_read_it() {
    let (stage, finder, [log, table]) = stage();
    let given = json!({"query": "failed login", "limit": 7, "server": "shop", "since": "2h"});
    let told = asked(&stage.desk, given).unwrap();
    let results = json_of(&told)["results"].clone();
    let passage = results[0]["passage"].as_str().unwrap();
    assert!(passage.contains("the login of ada failed") && passage.len() < 320, "{passage}");
    assert_eq!(
        results[0],
        json!({
            "artifactId": log.id().as_str(), "summary": format!("About {}.", log.id()),
            "relevanceScore": 0.88, "path": log.path(0), "age": "just now", "passage": passage,
            "lines": "40-55",
        })
    );
    assert_eq!((&results[1]["relevanceScore"], results[1].get("lines")), (&json!(0.5), None));
    assert_eq!(results[1]["artifactId"], table.id().as_str());
    let how = format!(
        "Read lines with read-saved-dataset, such as {{\"dataset_id\":\"{}\",\"lines\":\"40-55\"}}.",
        log.id()
    );
    assert_eq!(told[1], how);
    let question = finder.asked.lock().remove(0);
    assert_eq!((question.text.as_str(), question.limit), ("failed login", 7));
    assert_eq!((question.server.as_deref(), question.tool), (Some("shop"), None));
    assert!(question.since.is_some_and(|since| since < Timestamp::now()));
}

#[test]
fn json_on_one_line_has_no_lines_to_be_read() {
    let stage = Stage::new();
    let table = stage.keep("orders", "json", b"[]");
    let hits = vec![hit(&table, 0.5, "open", Some((1, 1))), hit(&table, 0.4, "open", Some((1, 9)))];
    let (stage, _) = stage.finding(Found { hits, ..Found::default() });
    let results =
        json_of(&asked(&stage.desk, json!({"query": "open"})).unwrap())["results"].clone();
    assert_eq!((results[0].get("lines"), &results[1]["lines"]), (None, &json!("1-9")));
}

#[test]
fn the_passage_about_the_whole_does_not_say_the_summary_again() {
    let stage = Stage::new();
    let table = stage.keep("orders", "json", b"[]");
    let summary = format!("About {}.", table.id());
    let hits = vec![
        hit(&table, 0.5, &format!("{summary}\nshop orders\nstatus: open"), None),
        hit(&table, 0.4, &summary, None),
    ];
    let (stage, _) = stage.finding(Found { hits, ..Found::default() });
    let results =
        json_of(&asked(&stage.desk, json!({"query": "open"})).unwrap())["results"].clone();
    assert_eq!(results[0]["summary"], summary.as_str());
    assert_eq!(results[0]["passage"], "shop orders status: open");
    assert_eq!(results[1]["passage"], summary.as_str(), "there is nothing else");
}

#[test]
fn what_a_model_has_said_is_marked_whichever_part_of_it_is_told() {
    for mark in
        ["A model (m) said:", "A model (m) said (of dataset_22222222, reused, similarity 0.97):"]
    {
        let passage = format!("{mark} {}the valve is stuck", "it goes on at length ".repeat(30));
        let told = told_of(&passage, "valve stuck");
        assert!(told.starts_with(&format!("{mark} …")), "{told}");
        assert!(told.ends_with("the valve is stuck") && told.chars().count() <= 303, "{told}");
    }
    assert_eq!(told_of("A model (m) said: so", "so"), "A model (m) said: so");
}

#[test]
fn a_passage_of_another_block_is_told_with_that_block() {
    let stage = Stage::new();
    let log = stage.keep("logs", "txt", b"INFO started\n");
    let mut of_block = hit(&log, 0.5, "the valve is stuck", Some((7, 9)));
    of_block.passage.block = Some(1);
    let (stage, _) = stage.finding(Found { hits: vec![of_block], ..Found::default() });
    let told = asked(&stage.desk, json!({"query": "valve"})).unwrap();
    let result = json_of(&told)["results"][0].clone();
    assert_eq!((&result["lines"], &result["block"]), (&json!("7-9"), &json!(1)));
    let how = format!("{{\"dataset_id\":\"{}\",\"block\":1,\"lines\":\"7-9\"}}", log.id());
    assert!(told[1].contains(&how), "{}", told[1]);
}

#[test]
fn who_cannot_see_our_disk_gets_an_address() {
    let (stage, _, [log, _]) = stage();
    let stage = stage.elsewhere();
    let told = asked(&stage.desk, json!({"query": "x"})).unwrap();
    let address = format!("forebay://dataset/{}", log.id());
    assert_eq!(json_of(&told)["results"][0]["path"], address);
    assert!(!told.concat().contains(&*stage.home.path().to_string_lossy()));
}

#[test]
fn what_is_gone_or_anothers_is_not_told_whatever_the_index_says() {
    let (stage, _, [log, table]) = stage();
    stage.desk.store().unwrap().remove(log.id()).unwrap();
    let told = asked(&stage.desk, json!({"query": "x"})).unwrap();
    assert_eq!(json_of(&told)["results"].as_array().unwrap().len(), 1);
    let stranger = Viewer { principal: Principal::new("grace"), ..Viewer::default() };
    let told = asked(&stage.desk.seen_by(stranger), json!({"query": "x"})).unwrap().concat();
    assert!(!told.contains(table.id().as_str()), "{told}");
}

#[test]
fn the_state_of_the_index_is_told() {
    let found = Found {
        waiting: 3,
        without_vectors: 2,
        refused: 1,
        by_words_alone: Some("the model is down".to_owned()),
        ..Found::default()
    };
    let (stage, _) = Stage::new().finding(found);
    let told = asked(&stage.desk, json!({"query": "x", "tool": "y"})).unwrap();
    assert_eq!(told[0], r#"{"results":[]}"#);
    assert_eq!(
        told[1],
        "Nothing was found. Try other words, without server, tool or since; list-saved-datasets shows what \
         there is. 3 datasets are not indexed yet. 2 datasets so far found by words alone, not by meaning: a \
         running Forebay makes the vectors, and so does `forebay index rebuild`. 1 dataset found by words \
         alone, not by meaning: no vectors can be made of the texts. Found by words alone, not by meaning: the model is down."
    );
}

#[test]
fn arguments_that_make_no_sense_are_told_with_what_to_write() {
    let (stage, _, _) = stage();
    for (given, told) in [
        (json!({}), "needs query"),
        (json!({"query": " "}), "must say what is looked for"),
        (json!({"query": "x", "limit": 0}), "from 1 to 50"),
        (json!({"query": "x", "limit": 51}), "from 1 to 50"),
        (json!({"query": "x", "since": "last tuesday"}), "such as 30m, 2h, 7d"),
        (json!({"query": "x", "max": 1}), "takes limit, query, server, since, tool"),
    ] {
        let error = asked(&stage.desk, given.clone()).unwrap_err().told();
        assert!(error.contains(told), "{given}: {error}");
    }
    let error = asked(&Stage::new().desk, json!({"query": "x"})).unwrap_err().told();
    assert!(error.contains("`search.enabled`"), "{error}");
}

#[test]
fn as_many_as_fit_are_told() {
    let stage = Stage::new();
    let kept: Vec<Dataset> = (0..50).map(|n| stage.keep("list", "txt", &[n])).collect();
    let hits = kept.iter().map(|it| hit(it, 0.9, &"long words ".repeat(90), Some((1, 2))));
    let (stage, _) = stage.finding(Found { hits: hits.collect(), ..Found::default() });
    let told = asked(&stage.desk, json!({"query": "long", "limit": 50})).unwrap();
    let count = json_of(&told)["results"].as_array().unwrap().len();
    assert!((10..50).contains(&count), "{count}");
    assert!(told[1].starts_with(&format!("{count} of 50 fit in this reply.")), "{}", told[1]);
    assert!(forebay_records::tokens(&told.concat()) <= BUDGET.tokens);
    let first = json_of(&told)["results"][0]["artifactId"].clone();
    assert_eq!(DatasetId::parse(first.as_str().unwrap()).as_ref(), Some(kept[0].id()));
}
