//! Results in, replacements out; and what was kept is what came.

mod files;

use std::fmt::Write as _;

use forebay_proxy::{
    body::Source,
    chain::{Caller, Params},
    session::{FromClient, Session},
    telemetry,
};
use forebay_records::tokens_up_to;
use forebay_store::{
    Counts, DEFINITION_TOKENS, Dataset, Durability, Event, Filter, Noted, Passed, REPLY_TOKENS,
    Retention, Store,
};
use forebay_wire::Line;
use serde_json::{Value, json};

use super::*;

struct Bench {
    home: tempfile::TempDir,
    written: Arc<Mutex<Vec<Written>>>,
    keeper: Keeper,
}

/// What can be done with what was kept.
struct Tools;

impl AfterCapture for Tools {
    fn advice(&self) -> String {
        "Query it.".to_owned()
    }

    fn kept(&self, _: &Dataset) {}
}

/// Counts that were written: whose, of which tool, and how much.
type Written = (String, String, Counts);

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let policy = Policy { threshold: Some(500), ..Policy::default() };
        let shelf = Shelf::new(home.path(), Durability::RightAfter, Retention::default());
        let written: Arc<Mutex<Vec<Written>>> = Arc::default();
        let usage = Arc::new(usage_written_to(&written));
        let keeper =
            Keeper::new(Arc::new(shelf), policy, router(), usage).followed_by(Arc::new(Tools));
        Self { home, written, keeper }
    }

    fn store(&self) -> Arc<Store> {
        self.keeper.shelf.store().unwrap()
    }

    /// What becomes of a result.
    fn result_of(&self, tool: &str, result: &str) -> Verdict {
        self.keeper
            .on_result(&call(tool), &Payload::from(result.as_bytes().to_vec()), &Caller::default())
            .unwrap()
    }

    /// The replacement of a result, and the dataset that it became.
    fn kept(&self, result: &Value) -> (Value, Dataset) {
        let Verdict::Replace(replacement) = self.result_of("list", &result.to_string()) else {
            panic!("the result has passed");
        };
        (serde_json::from_slice(&replacement).unwrap(), self.last())
    }

    fn last(&self) -> Dataset {
        let newest = self.store().list(&Filter::default()).unwrap().remove(0);
        self.store().dataset(&newest.id).unwrap()
    }
}

fn usage_written_to(written: &Arc<Mutex<Vec<Written>>>) -> Usage {
    let written = written.clone();
    Usage::new(move |all, _| {
        let owned = |it: &Passed<'_>| (it.server.to_owned(), it.tool.to_owned(), it.counts);
        written.lock().extend(all.iter().map(owned));
        Ok(())
    })
}

/// A text with what changes from run to run taken out.
fn settled(text: &str, dataset: &Dataset) -> String {
    let home = dataset.path(0).parent().unwrap().display().to_string();
    text.replace(&home, "FOLDER").replace(dataset.id().as_str(), "dataset_ID")
}

fn router() -> Router {
    Router::sole(UpstreamName::new("shop"))
}

fn call(tool: &str) -> Arc<Call> {
    call_in(tool, None)
}

/// A call in a session that was opened with a revision.
fn call_in(tool: &str, revision: Option<&str>) -> Arc<Call> {
    asked_in("tools/call", Some(tool), revision)
}

fn asked_in(method: &str, tool: Option<&str>, revision: Option<&str>) -> Arc<Call> {
    let mut session = Session::new(router());
    let mut sent = |line: &str| {
        let Line::Message(envelope) = Line::of(line.as_bytes()) else { panic!() };
        session.client_sent(&envelope, Source::Line(line.as_bytes()))
    };
    if let Some(revision) = revision {
        let params = json!({ "protocolVersion": revision });
        sent(&json!({"id": 0, "method": "initialize", "params": params}).to_string());
    }
    let params = tool.map(|tool| json!({"name": tool})).unwrap_or_default();
    let line = json!({"id": 1, "method": method, "params": params}).to_string();
    match sent(&line) {
        FromClient::ToolCall(call) | FromClient::Resources(call) => call,
        other => panic!("{other:?}"),
    }
}

fn orders(count: u64) -> Value {
    let status = ["active", "active", "inactive", "pending"];
    (0..count)
        .map(|index| {
            json!({
                "id": index + 1, "total": f64::from(u32::try_from(index).unwrap()) * 1.5,
                "status": status[usize::try_from(index % 4).unwrap()],
                "created_at": format!("2024-01-{:02}T00:00:00Z", index % 28 + 1),
                "note": if index % 3 == 0 { Value::Null } else { format!("note {index}").into() },
                "tags": ["a", "b"],
            })
        })
        .collect()
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn restored(dataset: &Dataset) -> Value {
    let mut bytes = Vec::new();
    restore(dataset, &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn records_in_a_text_block_are_kept_and_described() {
    let bench = Bench::new();
    let text =
        serde_json::to_string_pretty(&json!({"total": 200, "results": orders(200)})).unwrap();
    let result = json!({
        "content": [{"type": "text", "text": text}, {"type": "text", "text": "Done."},
                    {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        "_meta": {"trace": "x"},
    });
    let (replacement, dataset) = bench.kept(&result);
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    insta::assert_snapshot!("records", settled(summary, &dataset));
    let link = json!({
        "type": "resource_link", "uri": format!("forebay://dataset/{}?block=0", dataset.id()),
        "name": format!("{}_data.json", dataset.id()), "mimeType": "application/json",
        "size": text.len(),
    });
    assert_eq!(replacement["content"][1], link);
    assert_eq!(replacement["content"][2]["text"], "Done.");
    assert_eq!(replacement["content"][3]["type"], "image");
    assert_eq!(replacement["_meta"], result["_meta"]);
    assert!(replacement.get("structuredContent").is_none());

    assert_eq!(std::fs::read_to_string(dataset.path(0)).unwrap(), text, "byte for byte");
    assert_eq!(restored(&dataset), result);
    let description = &dataset.metadata().description;
    assert_eq!((description.tool.as_str(), description.server.as_str()), ("list", "shop"));
    assert_eq!(description.record_count, Some(200));
    insta::assert_snapshot!(
        "records_facts",
        serde_json::to_string_pretty(&json!([description.summary, description.facts.tables]))
            .unwrap()
    );
}

/// Reads what is over its threshold, counts that, and says nothing.
#[derive(Default)]
struct Silent(Mutex<usize>);

impl Reader for Silent {
    fn threshold_bytes(&self) -> u64 {
        2_048
    }

    fn read(&self, _: &Asked<'_>) -> Reading {
        *self.0.lock() += 1;
        Reading::nothing()
    }
}

#[test]
fn the_same_data_as_text_and_structured_counts_once_for_whoever_reads() {
    let mut bench = Bench::new();
    bench.keeper.policy.threshold = Some(1_000_000);
    let reader: Arc<Silent> = Arc::default();
    bench.keeper = bench.keeper.read_by(reader.clone());
    let read = |data: &Value| {
        let text = json!([{"type": "text", "text": data.to_string()}]);
        bench.result_of("list", &json!({"content": text, "structuredContent": data}).to_string());
        std::mem::take(&mut *reader.0.lock())
    };
    assert_eq!(read(&json!({"note": "fine weather ".repeat(140)})), 0, "1,820 bytes, twice");
    assert_eq!(read(&json!({"note": "fine weather ".repeat(160)})), 1, "2,080 bytes, twice");
}

#[test]
fn structured_content_is_replaced_too_and_kept_once() {
    let bench = Bench::new();
    let data = json!({"orders": orders(100)});
    let result = json!({
        "content": [{"type": "text", "text": serde_json::to_string_pretty(&data).unwrap()}],
        "structuredContent": data,
    });
    let (replacement, dataset) = bench.kept(&result);
    let facts = &replacement["structuredContent"];
    assert_eq!(facts["dataset_id"], dataset.id().as_str());
    assert_eq!(facts["record_count"], 100);
    let id = json!({"name": "id", "type": "integer", "min": "1", "max": "100", "distinct": 100});
    assert_eq!(facts["schema"]["fields"][1], id);
    let facts = serde_json::to_string_pretty(facts).unwrap();
    insta::assert_snapshot!("structured", settled(&facts, &dataset));
    assert_eq!(dataset.metadata().parts.len(), 1, "one payload");
    assert_eq!(restored(&dataset), result);

    let other = json!({"content": [{"type": "text", "text": "x y ".repeat(2000)}],
                       "structuredContent": {"orders": orders(3)}});
    let (_, dataset) = bench.kept(&other);
    assert_eq!(dataset.metadata().parts.len(), 2, "what differs is kept apart");
    assert_eq!(restored(&dataset), other);
}

#[test]
fn many_small_blocks_are_kept_together() {
    let bench = Bench::new();
    let block = |index: u32| json!({"type": "text", "text": format!("{{\"id\": {index}}}")});
    let mut blocks: Vec<Value> = (0..300).map(block).collect();
    blocks.insert(7, json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}));
    let result = json!({"content": blocks, "_meta": {"trace": "x"}});
    let (replacement, dataset) = bench.kept(&result);
    let kinds: Vec<&Value> =
        replacement["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "resource_link", "image"], "the summary, its link, the image");
    assert_eq!(dataset.metadata().description.record_count, Some(300));
    assert_eq!(dataset.metadata().description.schema.as_ref().unwrap().fields[0].name(), "id");
    assert_eq!(restored(&dataset), result);

    let lines: Vec<Value> =
        (0..300).map(|index| json!({"type": "text", "text": format!("line {index}")})).collect();
    let result = json!({ "content": lines });
    let (_, dataset) = bench.kept(&result);
    assert_eq!(dataset.metadata().description.facts.format.as_deref(), Some("lines"));
    assert_eq!(restored(&dataset), result);
}

#[test]
fn of_several_blocks_it_is_said_which_one_is_described_and_where_the_others_are() {
    let bench = Bench::new();
    let block = |count: u64| json!({"type": "text", "text": orders(count).to_string()});
    let (replacement, dataset) = bench.kept(&json!({"content": [block(80), block(60)]}));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(summary.contains("- Total records: 80 (json; block 0 of 2, from 0)"), "{summary}");
    assert!(summary.contains("\nThe block is kept in "), "{summary}");
    assert!(summary.contains("\nBeside it: "), "{summary}");
    assert_eq!(dataset.metadata().description.record_count, Some(80));
}

#[test]
fn values_whose_name_their_object_has_already_are_told_with_their_number() {
    let bench = Bench::new();
    let records: Vec<String> =
        (0..90).map(|index| format!(r#"{{"id":{index},"state":"open","state":"shut"}}"#)).collect();
    let text = format!("[{}]", records.join(","));
    let (replacement, _) = bench.kept(&json!({"content": [{"type": "text", "text": text}]}));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    let told = "90 values have a name that their object has already: the first counts";
    assert!(summary.contains(&format!("- Total records: 90 (json; {told})")), "{summary}");
}

#[test]
fn of_thousands_of_blocks_none_is_passed_over() {
    let bench = Bench::new();
    let block = |index: u32| json!({"type": "text", "text": format!("line {index}")});
    let result = json!({"content": (0..30_000).map(block).collect::<Vec<_>>()});
    let (replacement, dataset) = bench.kept(&result);
    assert_eq!(replacement["content"].as_array().unwrap().len(), 2, "the summary and its link");
    assert_eq!(dataset.metadata().description.record_count, Some(30_000));
    assert_eq!(restored(&dataset), result);

    let mut blocks = vec![json!({"type": "text", "text": ""}); 10_000];
    blocks.push(json!({"type": "text", "text": "x y ".repeat(100_000)}));
    let result = json!({ "content": blocks });
    let (_, dataset) = bench.kept(&result);
    assert_eq!(dataset.metadata().description.record_count, Some(10_001));
    assert_eq!(restored(&dataset), result);
}

#[test]
fn lines_that_begin_with_a_quoted_cell_are_samples_as_they_are() {
    let bench = Bench::new();
    let lines: Vec<String> = (0..300).map(|n| format!("\"n, {n}\",{n},some words")).collect();
    let csv = format!("name,qty,what\n{}", lines.join("\n"));
    let (replacement, _) = bench.kept(&json!({"content": [{"type": "text", "text": csv}]}));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(summary.contains("- Sample: \"n, 0\",0,some words"), "{summary}");
}

#[test]
fn the_files_of_a_diff_are_headings() {
    let bench = Bench::new();
    let file = |n: u32| format!("--- a/f{n}.rs\n+++ b/f{n}.rs\n@@ -1 +1 @@\n-old\n+new\n");
    let diff: String = (0..200).map(file).collect();
    let (replacement, _) = bench.kept(&json!({"content": [{"type": "text", "text": diff}]}));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(summary.contains("\n    2: +++ b/f0.rs\n    7: +++ b/f1.rs\n"), "{summary}");
}

#[test]
fn embedded_resources_and_annotated_blocks_are_kept_as_they_are() {
    let bench = Bench::new();
    let resource = json!({"uri": "file:///a.csv", "text": "a,b\n1,2\n".repeat(900)});
    let result = json!({"content": [{"type": "resource", "resource": resource}]});
    let (replacement, dataset) = bench.kept(&result);
    assert_eq!(replacement["content"][0]["type"], "text");
    assert_eq!(restored(&dataset), result);

    let annotations = json!({"audience": ["user"], "priority": 1});
    let block = json!({"annotations": annotations, "type": "text", "text": orders(100).to_string(),
                       "_meta": {"a": 1}});
    let (replacement, dataset) = bench.kept(&json!({ "content": [block] }));
    assert_eq!(replacement["content"][0]["annotations"], annotations);
    assert_eq!(replacement["content"][0]["_meta"], json!({"a": 1}));
    assert_eq!(restored(&dataset), json!({ "content": [block] }));
}

#[test]
fn what_no_parser_would_give_back_is_given_back() {
    let bench = Bench::new();
    let number = |last: u8| format!("[{{\"n\": 12345678901234567890123456789{last}}}]");
    let padding = " ".repeat(2_000) + &"x y ".repeat(500);
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"{padding}"}},{{"type":"text","text":{}}}],"structuredContent":{{"a":{}}}}}"#,
        Value::from(format!("{}{}", " ".repeat(1_200), number(0))),
        number(1),
    );
    assert!(matches!(bench.result_of("list", &result), Verdict::Replace(_)));
    let mut bytes = Vec::new();
    restore(&bench.last(), &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), result);

    let mut result = text_result(&"odd ".repeat(3_000)).to_string().into_bytes();
    let at = result.len() / 2;
    result[at] = 0xFF;
    let payload = Payload::from(result.clone());
    assert!(matches!(
        bench.keeper.on_result(&call("list"), &payload, &Caller::default()),
        Ok(Verdict::Replace(_))
    ));
    let mut bytes = Vec::new();
    restore(&bench.last(), &mut bytes).unwrap();
    assert!(bytes == result, "no UTF-8, byte for byte");
}

#[test]
fn small_results_and_errors_pass() {
    let bench = Bench::new();
    let small = text_result("short").to_string();
    assert_eq!(bench.result_of("list", &small), Verdict::Pass);
    // Many bytes, few tokens.
    let spaces = text_result(&" ".repeat(3000)).to_string();
    assert_eq!(bench.result_of("list", &spaces), Verdict::Pass);
    let mut error = text_result(&"why ".repeat(5000));
    error["isError"] = true.into();
    assert_eq!(bench.result_of("list", &error.to_string()), Verdict::Pass);
    assert!(bench.store().list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn records_are_found_wherever_they_lie() {
    let bench = Bench::new();
    let by_name: serde_json::Map<String, Value> =
        (0..50).map(|i| (format!("item-{i}"), json!({"size": i, "kind": "box"}))).collect();
    let cases = [
        (orders(50), "$", 50, 6),
        (
            json!({"data": {"page": {"items": orders(60)}, "next": null}}),
            "$.data.page.items",
            60,
            6,
        ),
        (json!({"few": [{"x": 1}], "many": orders(70)}), "$.many", 70, 6),
        // The same kind of records under several keys, with the key.
        (json!({"open": orders(2), "closed": orders(70)}), "$.*", 72, 7),
        (Value::Object(by_name), "$", 50, 3),
        (
            json!({"names": (0..900).map(|i| format!("n{i}")).collect::<Vec<_>>()}),
            "$.names",
            900,
            1,
        ),
    ];
    for (data, path, records, fields) in cases {
        let (_, dataset) = bench.kept(&text_result(&data.to_string()));
        let description = &dataset.metadata().description;
        assert_eq!(description.facts.tables()[0].path, path);
        assert_eq!(description.record_count, Some(records));
        assert_eq!(description.schema.as_ref().unwrap().fields.len(), fields, "{path}");
    }
}

#[test]
fn what_comes_from_the_data_is_made_harmless() {
    let bench = Bench::new();
    let mut log = String::new();
    for index in 0..500 {
        let _ = writeln!(log, "2026-01-01 12:00:00 INFO \u{1b}[31mrequest {index} done\u{1b}[0m");
    }
    let (replacement, dataset) = bench.kept(&text_result(&log));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(!summary.contains('\u{1b}'), "control characters are made harmless");
    insta::assert_snapshot!("log", settled(summary, &dataset));
    assert_eq!(std::fs::read_to_string(dataset.path(0)).unwrap(), log);
}

#[test]
fn text_that_is_no_table_gets_an_outline() {
    let bench = Bench::new();
    let mut code = String::new();
    for index in 0..60 {
        let _ = writeln!(
            code,
            "/// Number {index}.\npub fn number_{index}() -> u32 {{\n    {index}\n}}\n"
        );
    }
    let (replacement, dataset) = bench.kept(&text_result(&code));
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    insta::assert_snapshot!("text", settled(summary, &dataset));
    assert_eq!(dataset.metadata().description.record_count, None);
    assert_eq!(std::fs::read_to_string(dataset.path(0)).unwrap(), code);
}

#[test]
fn a_text_is_outlined_rather_than_its_escaped_twin() {
    let bench = Bench::new();
    let text = "A line of prose, and no more.\n".repeat(2000);
    let mut result = text_result(&text);
    result["structuredContent"] = json!({ "content": text });
    let (replacement, dataset) = bench.kept(&result);
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(summary.starts_with("Large response detected (2000 lines, ~"), "{summary}");
    assert_eq!(dataset.metadata().parts.len(), 1, "the text, once");
    assert_eq!(restored(&dataset), result);
}

#[test]
fn a_summary_fits_however_wide_the_table() {
    let bench = Bench::new();
    let wide: Vec<Value> = (0..20)
        .map(|row| {
            let record: serde_json::Map<String, Value> = (0..300)
                .map(|column| (format!("a_rather_long_column_name_{column}"), json!(row * column)))
                .collect();
            record.into()
        })
        .collect();
    let long = json!([{"text": "word ".repeat(20_000)}, {"text": "other ".repeat(20_000)}]);
    for data in [Value::from(wide), long] {
        let (replacement, _) = bench.kept(&text_result(&data.to_string()));
        let summary = replacement["content"][0]["text"].as_str().unwrap();
        assert!(summary.len() <= 8_000 && tokens_up_to(600, summary).is_some(), "{summary}");
        assert!(summary.starts_with("Large response detected ("));
        let both = json!({"content": [], "structuredContent": {"rows": data}});
        let facts = bench.kept(&both).0["structuredContent"].to_string();
        assert!(facts.len() <= 8_000 && tokens_up_to(600, &facts).is_some(), "{facts}");
    }
}

#[test]
fn a_summary_is_a_function_of_the_bytes() {
    let bench = Bench::new();
    let result = text_result(&orders(300).to_string());
    let mut summaries = (0..3).map(|_| {
        let (replacement, dataset) = bench.kept(&result);
        settled(replacement["content"][0]["text"].as_str().unwrap(), &dataset)
    });
    let first = summaries.next().unwrap();
    assert!(summaries.all(|summary| summary == first));
}

#[test]
fn half_a_surrogate_pair_is_given_back() {
    let bench = Bench::new();
    let text = format!(r#""\ud800{}""#, "odd ".repeat(3000));
    let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
    assert!(matches!(bench.result_of("list", &result), Verdict::Replace(_)));
    let mut bytes = Vec::new();
    restore(&bench.last(), &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), result);
}

#[test]
fn output_schemas_go_where_a_result_may_be_replaced() {
    let mut bench = Bench::new();
    bench.keeper.policy.excluded_tools = vec![Glob::new("exclude?")];
    let list = r#"{"tools": [{"name":"a","outputSchema":{"type":"object"},"z":1.0,"description":"d"},
        {"name":"excluded","outputSchema":{}}, {"name":"ui","outputSchema":{},"_meta":{"ui":{"resourceUri":"ui://x"}}},
        {"name":"none"}], "nextCursor":"n"}"#;
    let payload = Payload::from(list.as_bytes().to_vec());
    let Verdict::Replace(changed) = bench.keeper.on_tool_list(&call("x"), &payload).unwrap() else {
        panic!("the list has passed");
    };
    assert_eq!(
        String::from_utf8(changed).unwrap(),
        r#"{"tools": [{"name":"a","z":1.0,"description":"d"},{"name":"excluded","outputSchema":{}},{"name":"ui","outputSchema":{},"_meta":{"ui":{"resourceUri":"ui://x"}}},{"name":"none"}], "nextCursor":"n"}"#
    );
    let watches =
        |tool| bench.keeper.watches(&Moment::Answer(SubjectKind::Result, &call(tool), 1_000_000));
    assert!(watches("a") && !watches("excluded") && !watches("ui"));
    let plain = Payload::from(br#"{"tools":[{"name":"none"}]}"#.to_vec());
    assert_eq!(bench.keeper.on_tool_list(&call("x"), &plain).unwrap(), Verdict::Pass);
}

#[test]
fn a_store_that_fails_is_an_error_for_the_chain_to_pass_over() {
    let mut bench = Bench::new();
    std::fs::write(bench.home.path().join("datasets"), b"in the way").unwrap();
    let payload = Payload::from(text_result(&"x y ".repeat(5000)).to_string().into_bytes());
    let error = bench.keeper.on_result(&call("list"), &payload, &Caller::default()).unwrap_err();
    assert_eq!(error.to_string(), "cannot keep the result");

    bench.keeper.policy.on_store_failure = OnStoreFailure::Error;
    let verdict = bench.keeper.on_result(&call("list"), &payload, &Caller::default()).unwrap();
    let Verdict::Replace(refusal) = verdict else { panic!("the result has passed") };
    let refusal: Value = serde_json::from_slice(&refusal).unwrap();
    assert_eq!(refusal["isError"], true);
    let text = refusal["content"][0]["text"].as_str().unwrap();
    let home = bench.home.path().display().to_string();
    insta::assert_snapshot!("refusal", text.replace(&home, "HOME"));
}

#[test]
fn output_schemas_can_be_widened_instead() {
    let mut bench = Bench::new();
    bench.keeper.policy.output_schema = OutputSchema::Widen;
    let list = r##"{"tools":[{"name":"a","outputSchema":{"type":"object","required":["x"]},"z":1.0},
        {"name":"odd","outputSchema":{"properties":{"a":{"$ref":"#"}}}}]}"##;
    let payload = Payload::from(list.as_bytes().to_vec());
    let Verdict::Replace(changed) = bench.keeper.on_tool_list(&call("x"), &payload).unwrap() else {
        panic!("the list has passed");
    };
    insta::assert_snapshot!("widened", String::from_utf8(changed).unwrap());
}

#[test]
fn rules_decide_for_their_tools() {
    let mut bench = Bench::new();
    let rule = |pattern: &str, when| ToolRule { when: Some(when), ..ToolRule::of(pattern) };
    bench.keeper.policy.tools = vec![
        rule("always_*", When::Always),
        rule("never_*", When::Never),
        rule("more_*", When::Over(5_000)),
    ];
    let watches = |tool: &str, bytes: u64| {
        bench.keeper.watches(&Moment::Answer(SubjectKind::Result, &call(tool), bytes))
    };
    assert!(watches("always_x", 1) && watches("more_x", 5_001) && watches("x", 501));
    assert!(!watches("never_x", 1 << 30) && !watches("more_x", 5_000) && !watches("x", 500));

    let is_kept = |tool: &str, text: &str| {
        bench.result_of(tool, &text_result(text).to_string()) != Verdict::Pass
    };
    let (little, some, much) = ("tiny", "x y ".repeat(400), "x y ".repeat(4_000));
    assert!(is_kept("always_x", &some) && is_kept("x", &some) && is_kept("more_x", &much));
    assert!(!is_kept("more_x", &some) && !is_kept("x", little));
    assert!(!is_kept("always_x", little), "a summary would be longer");
}

#[test]
fn a_limit_in_bytes_counts_text_as_it_reads() {
    let bench = Bench::new();
    let limit = Limit::Over { tokens: 8_192, bytes: Some(8_000) };
    let is_over = |text: &str| {
        let payload = Payload::from(text_result(text).to_string().into_bytes());
        let result = ToolResult::read(&payload).unwrap();
        detect::oversized(&result, &call("x"), limit, bench.keeper.policy.tokenizer)
            .unwrap()
            .is_some()
    };
    // Each line break is two bytes of JSON.
    assert!(!is_over(&"1234567\n".repeat(1_000)));
    assert!(is_over(&"1234567\n".repeat(1_001)));
}

#[test]
fn an_estimate_is_a_token_for_every_three_bytes() {
    let mut bench = Bench::new();
    bench.keeper.policy.tokenizer = Tokenizer::Estimate;
    // Few real tokens, many bytes.
    let spaces = text_result(&" ".repeat(1_501));
    let (replacement, _) = bench.kept(&spaces);
    let summary = replacement["content"][0]["text"].as_str().unwrap();
    assert!(summary.contains("~501 tokens"), "{summary}");
    let fewer = text_result(&" ".repeat(1_500)).to_string();
    assert_eq!(bench.result_of("list", &fewer), Verdict::Pass);
}

#[test]
fn a_capture_is_counted_soon_with_all_that_came_before() {
    let bench = Bench::new();
    let notice = |tool: &str, bytes| {
        bench.keeper.notices(&Moment::Answer(SubjectKind::Result, &call(tool), bytes), None);
    };
    notice("small", 100);
    notice("list", 70_000);
    notice("small", 20);
    // No results.
    bench.keeper.notices(&Moment::Answer(SubjectKind::ToolList, &call("list"), 9), None);
    let params = Payload::from(b"{}".to_vec());
    bench.keeper.notices(&Moment::Call(&call("list"), &Params::from(&params)), None);
    assert_eq!(bench.written.lock().len(), 0, "nothing but in memory");
    let (replacement, dataset) = bench.kept(&text_result(&orders(300).to_string()));
    bench.keeper.usage.write_down();
    let passed = |results, bytes| Counts { results, bytes, ..Counts::default() };
    let mut written = std::mem::take(&mut *bench.written.lock());
    written.sort_by(|one, other| one.1.cmp(&other.1));
    let of = |tool: &str, counts| ("shop".to_owned(), tool.to_owned(), counts);
    assert_eq!(written, [of("list", passed(1, 70_000)), of("small", passed(2, 120))]);
    // The store counts what it holds.
    bench.store().enter_new(&[]).unwrap();
    let captured = Counts {
        captured: 1,
        captured_tokens: dataset.metadata().description.facts.tokens.unwrap(),
        given_tokens: forebay_records::tokens(replacement["content"][0]["text"].as_str().unwrap()),
        ..Counts::default()
    };
    assert_eq!(bench.store().usage(None).unwrap()[0].counts, captured);
    bench.keeper.usage.write_down();
    assert_eq!(bench.written.lock().len(), 0, "each is written once");
}

#[test]
fn a_short_error_of_a_tool_is_noted_as_one() {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let noted = events.clone();
    let usage = Usage::new(move |_, noticed| {
        noted.lock().extend(noticed.events.iter().cloned());
        Ok(())
    });
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(home.path(), Durability::RightAfter, Retention::default());
    let keeper = Keeper::new(Arc::new(shelf), Policy::default(), router(), Arc::new(usage));
    for text in [r#"{"content":[],"isError":true}"#, r#"{"content":[],"isError":false}"#] {
        let call = call("list");
        let moment = Moment::Answer(SubjectKind::Result, &call, text.len() as u64);
        assert!(!keeper.watches(&moment), "it is short");
        keeper.notices(&moment, Some(text.as_bytes()));
    }
    keeper.usage.write_down();
    let told: Vec<_> = events.lock().iter().map(|it| (it.outcome, it.why.clone())).collect();
    let of = |outcome, why: &str| (outcome, why.to_owned());
    assert_eq!(
        told,
        [of(Outcome::Failed, "an error of the server's"), of(Outcome::Passed, "short enough")]
    );
}

#[test]
fn counts_that_could_not_be_written_are_written_with_the_next() {
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let usage = Usage::new({
        let attempts = attempts.clone();
        move |passed, _| {
            let mut attempts = attempts.lock();
            attempts.push(passed[0].counts.results);
            if attempts.len() == 1 { Err("disk full".into()) } else { Ok(()) }
        }
    });
    usage.saw(&call("list"), 1);
    usage.write_down();
    usage.saw(&call("list"), 1);
    usage.write_down();
    usage.write_down();
    assert_eq!(*attempts.lock(), [1, 2]);
}

#[test]
fn what_is_left_is_written_when_the_session_is_over() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let usage = Usage::new(move |passed, _| Ok(sender.send(passed[0].tool.to_owned())?));
    usage.saw(&call("list"), 1);
    drop(usage);
    assert_eq!(receiver.recv().unwrap(), "list");
}

#[test]
fn what_becomes_of_results_is_noted_and_what_tools_cost() {
    let noted = Arc::new(Mutex::new(Noted::default()));
    let usage = Usage::new({
        let noted = noted.clone();
        move |_, new| {
            *noted.lock() = new.clone();
            Ok(())
        }
    });
    usage.answered(&call("list"), telemetry::Outcome::Error);
    usage.answered(&asked_in("resources/list", None, None), telemetry::Outcome::Error);
    usage.answered(&call("list"), telemetry::Outcome::Result);
    usage.gave_again(&call("again"));
    let id = DatasetId::parse("k3v9x2ma").unwrap();
    usage.asked(&call("x"), "analyze", "FROM a", std::slice::from_ref(&id));
    usage.asked(&call("x"), "analyze", "FROM b", &[]);
    usage.replied("analyze", 10);
    usage.offered(5);
    usage.write_down();
    let noted = noted.lock().clone();
    let events: Vec<(&str, Outcome)> =
        noted.events.iter().map(|event| (event.tool.as_str(), event.outcome)).collect();
    assert_eq!(events, [("list", Outcome::Failed), ("again", Outcome::Again)]);
    let questions: Vec<_> = noted.questions.iter().map(|it| (&it.dataset, &*it.what)).collect();
    assert_eq!(questions, [(&id, "FROM a")]);
    let mut tallies: Vec<_> = noted.tallies.iter().map(|it| (&*it.what, it.count)).collect();
    tallies.sort_unstable();
    assert_eq!(tallies, [(DEFINITION_TOKENS, 5), (REPLY_TOKENS, 10)]);
}

#[test]
fn what_an_injected_tool_made_counts_as_its_reply_unless_it_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(home.path(), Durability::RightAfter, Retention::default());
    let noted = Arc::new(Mutex::new(Noted::default()));
    let usage = Usage::new({
        let noted = noted.clone();
        move |_, new| {
            noted.lock().tallies.extend(new.tallies.clone());
            noted.lock().events.extend(new.events.clone());
            Ok(())
        }
    });
    let policy = Policy { threshold: Some(500), ..Policy::default() };
    let keeper = Keeper::new(Arc::new(shelf), policy, router(), Arc::new(usage));
    for (length, tokens) in [(10, 7), (20_000, 5_000)] {
        let call = call("run_code");
        call.note(ReplyIfPassed { tool: "run_code", tokens });
        let result = text_result(&"word ".repeat(length)).to_string().into_bytes();
        let (moment, result) = (result.len() as u64, Payload::from(result));
        let moment = Moment::Answer(SubjectKind::Result, &call, moment);
        keeper.notices(&moment, None);
        if keeper.watches(&moment) {
            keeper.on_result(&call, &result, &Caller::default()).unwrap();
        }
    }
    keeper.usage.write_down();
    let noted = noted.lock();
    let outcomes: Vec<Outcome> = noted.events.iter().map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Kept]);
    let tallies: Vec<_> =
        noted.tallies.iter().map(|it| (&*it.subject, &*it.what, it.count)).collect();
    assert_eq!(tallies, [("run_code", REPLY_TOKENS, 7)]);
}

#[test]
fn what_is_left_of_a_result_is_in_the_metadata_if_it_is_short_and_else_in_a_file() {
    let bench = Bench::new();
    for (bytes, files) in [(100, 1), (5_000, 2)] {
        let mut result = text_result(&"A line of prose, and no more.\n".repeat(2000));
        let image = json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(bytes)});
        result["content"].as_array_mut().unwrap().push(image);
        let (_, dataset) = bench.kept(&result);
        assert_eq!(dataset.metadata().parts.len(), files, "{bytes} bytes");
        assert_eq!(restored(&dataset), result);
    }
}
