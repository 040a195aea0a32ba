use forebay_store::{Insight, InsightMetadata};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    definitions::Tool,
    testing::{Stage, texts},
};

fn asked(desk: &Desk, ids: &[String], tokens: u64) -> Result<String, ToolError> {
    let given = json!({"ids": ids, "maxTokens": tokens});
    let arguments = Arguments::new(Tool::ArtifactContext, given)?;
    let mut texts = texts(answer(desk, &arguments, Budget { tokens, bytes: None })?);
    assert_eq!(texts.len(), 1, "all of it is counted");
    Ok(texts.remove(0))
}

fn told(desk: &Desk, ids: &[&Dataset], tokens: u64) -> Value {
    let ids: Vec<String> = ids.iter().map(|dataset| dataset.id().to_string()).collect();
    let text = asked(desk, &ids, tokens).unwrap();
    assert!(forebay_records::tokens(&text) <= tokens, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn with_room_for_all_everything_is_told_in_the_order_that_was_asked() {
    let stage = Stage::new();
    let (small, large) = (stage.keep_records("list_tags", 2), stage.keep_records("list_orders", 9));
    let reply = told(&stage.desk, &[&large, &small, &large], 8_000);
    let artifacts = reply["artifacts"].as_array().unwrap();
    let ids: Vec<&str> = artifacts.iter().map(|it| it["dataset_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [large.id().as_str(), small.id().as_str()], "each once");
    assert_eq!(artifacts[0]["arguments"]["status"], "open");
    assert_eq!(artifacts[0]["fields"].as_array().unwrap().len(), 9);
    assert_eq!(artifacts[0]["fields"][0]["top"][0], json!(["open", 300]));
    assert_eq!(artifacts[0]["samples"].as_array().unwrap().len(), 3);
    assert_eq!(reply.get("leftOut"), None);
}

#[test]
fn a_small_one_leaves_its_rest_to_the_others() {
    let stage = Stage::new();
    let (small, large) =
        (stage.keep_records("list_tags", 1), stage.keep_records("list_orders", 40));
    let fields =
        |reply: &Value, at: usize| reply["artifacts"][at]["fields"].as_array().map_or(0, Vec::len);
    let alone = told(&stage.desk, &[&small], 4_000)["totalTokens"].as_u64().unwrap();
    let both = told(&stage.desk, &[&small, &large], alone + 700);
    assert_eq!(
        both["artifacts"][0]["samples"].as_array().unwrap().len(),
        3,
        "the small one in full"
    );
    assert!(fields(&both, 1) >= 20, "{both}");
}

#[test]
fn all_are_shortened_before_one_is_left_out() {
    let stage = Stage::new();
    let kept: Vec<Dataset> = (0..6).map(|n| stage.keep_records("list_orders", 10 + n)).collect();
    let all: Vec<&Dataset> = kept.iter().collect();
    let lines = told(&stage.desk, &all, 420);
    assert_eq!(lines["artifacts"].as_array().unwrap().len(), 6, "{lines}");
    let about = lines["artifacts"][5]["about"].as_str().unwrap();
    assert!(about.starts_with("list_orders of shop {") && about.contains("500 records"), "{about}");
    let few = told(&stage.desk, &all, 260);
    let shown = few["artifacts"].as_array().unwrap().len();
    assert!((1..6).contains(&shown), "{few}");
    let is_told = |it: &&Dataset| few["artifacts"].to_string().contains(it.id().as_str());
    let left: Vec<&str> =
        kept.iter().filter(|it| !is_told(it)).map(|it| it.id().as_str()).collect();
    assert_eq!((few["leftOut"]["noRoom"].clone(), left.len() + shown), (json!(left), 6));
}

#[test]
fn a_long_one_is_passed_over_for_those_behind_it() {
    let stage = Stage::new();
    let long = stage.keep_records(&"list_all_the_orders_of_".repeat(4), 40);
    let short = [stage.keep("a", "txt", b"x"), stage.keep("b", "txt", b"y")];
    // How many tokens a line has depends on the names, which are drawn.
    let ids = |these: &[&Dataset]| these.iter().map(|it| it.id().to_string()).collect::<Vec<_>>();
    let of_long = (LEAST_TOKENS..400).find(|it| asked(&stage.desk, &ids(&[&long]), *it).is_ok());
    let of_long = of_long.unwrap();
    let error = asked(&stage.desk, &ids(&[&long]), of_long - 1).unwrap_err().told();
    assert!(error.contains("maxTokens has no room"), "{error}");
    let names = |reply: &Value| {
        let told = reply["artifacts"].as_array().unwrap().iter();
        told.map(|it| it["dataset_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let reply = told(&stage.desk, &[&long, &short[0], &short[1]], of_long - 1);
    assert_eq!(names(&reply)[0], short[0].id().as_str(), "{reply}");
    let between = [&short[0], &long, &short[1]];
    let mut replies = (of_long..400).map(|tokens| told(&stage.desk, &between, tokens));
    let more = replies.find(|reply| names(reply).len() == 2).unwrap();
    assert_eq!(names(&more), ids(&[&short[0], &short[1]]), "{more}");
}

#[test]
fn what_a_model_has_found_is_told_and_leaves_room_for_the_facts() {
    let stage = Stage::new();
    let dataset = stage.keep_records("list_orders", 12);
    let said = "Most orders are open; few were ever paid, and none was sent in March.";
    let insight = Insight {
        key_findings: vec![said.to_owned()],
        actionable_insights: Vec::new(),
        metadata: InsightMetadata::of(&dataset),
        model: "a-model".to_owned(),
        reused: None,
    };
    assert!(stage.desk.store().unwrap().put_findings(&dataset, &insight).unwrap());
    let whole = told(&stage.desk, &[&dataset], 4_000);
    assert_eq!(whole["artifacts"][0]["findings"], format!("A model (a-model) said: {said}"));
    assert_eq!(whole.to_string().matches("few were ever paid").count(), 1, "once: {whole}");
    assert_eq!(whole["artifacts"][0]["fields"].as_array().unwrap().len(), 12);
    let little = told(&stage.desk, &[&dataset], 200);
    let found = little["artifacts"][0]["findings"].as_str().unwrap();
    assert!(found.starts_with("A model (a-model) said: Most orders"), "{little}");
    assert!(little["artifacts"][0]["fields_left_out"].is_number(), "{little}");
}

#[test]
fn what_is_not_there_is_named() {
    let stage = Stage::new();
    let there = stage.keep_records("list_orders", 2);
    let ids = [there.id().to_string(), "dataset_22222222".to_owned(), "../etc/passwd".to_owned()];
    let reply: Value = serde_json::from_str(&asked(&stage.desk, &ids, 2_000).unwrap()).unwrap();
    assert_eq!(reply["leftOut"], json!({"unknown": ["dataset_22222222", "../etc/passwd"]}));
    let error = asked(&stage.desk, &ids[1..], 2_000).unwrap_err().told();
    assert!(error.contains("dataset_22222222") && error.contains("list-saved-datasets"), "{error}");
    assert!(asked(&stage.desk, &[], 2_000).unwrap_err().told().contains("needs ids"));
    let many = vec![there.id().to_string(); 101];
    assert!(asked(&stage.desk, &many, 2_000).unwrap_err().told().contains("100 at most"));
}

#[test]
fn a_budget_for_nothing_says_how_much_is_enough() {
    let stage = Stage::new();
    let kept = [stage.keep_records("list_orders", 9), stage.keep_records("list_tags", 9)];
    let ids: Vec<String> = kept.iter().map(|dataset| dataset.id().to_string()).collect();
    let error = asked(&stage.desk, &ids, LEAST_TOKENS).unwrap_err().told();
    let enough: u64 = error
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .next_back()
        .unwrap();
    assert!(error.contains("maxTokens has no room"), "{error}");
    assert!(asked(&stage.desk, &ids, enough).is_ok(), "{enough}");
    assert!(asked(&stage.desk, &ids, enough - 1).is_err());
}

#[test]
fn a_limit_in_bytes_holds_too() {
    let stage = Stage::new();
    let dataset = stage.keep_records("list_orders", 200);
    let given = json!({"ids": [dataset.id().as_str()]});
    let arguments = Arguments::new(Tool::ArtifactContext, given).unwrap();
    let budget = Budget { tokens: 8_000, bytes: Some(2_000) };
    let text = texts(answer(&stage.desk, &arguments, budget).unwrap()).concat();
    assert!(text.len() <= 2_000 && text.len() > 800, "{}", text.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_reply_is_over_its_budget_and_each_says_what_it_has(
        fields in prop::collection::vec(0_usize..60, 1..8),
        unknown in 0_usize..5,
        budgets in prop::collection::vec(LEAST_TOKENS..4_000, 6),
    ) {
        let stage = Stage::new();
        let known = fields.iter().map(|fields| stage.keep_records("list", *fields).id().to_string());
        let unknown = (0..unknown).map(|n| format!("dataset_2222222{}", n + 2));
        let ids: Vec<String> = known.chain(unknown).collect();
        for tokens in budgets {
            match asked(&stage.desk, &ids, tokens) {
                Ok(text) => {
                    let exact = forebay_records::tokens(&text);
                    prop_assert!(exact <= tokens, "{exact} of {tokens}: {text}");
                    let reply: Value = serde_json::from_str(&text).unwrap();
                    prop_assert_eq!(&reply["totalTokens"], &json!(exact));
                    prop_assert!(!reply["artifacts"].as_array().unwrap().is_empty());
                }
                Err(error) => {
                    prop_assert!(tokens < 150, "{tokens}");
                    prop_assert!(error.told().contains("maxTokens has no room"), "{}", error.told());
                }
            }
        }
    }
}
