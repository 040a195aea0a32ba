//! `read-saved-dataset`.

use serde_json::{Value, json};

use super::Client;

#[test]
fn the_paging_fields_say_where_a_page_stands() {
    let mut client = Client::new("paging");
    let id = client.keep_orders(450);
    let second = client.read(&json!({"dataset_id": id, "page": 2})).json();
    let expected = json!({
        "total_count": 450, "current_page": 2, "page_size": 20, "total_pages": 23,
        "has_more": true, "next_page": 3, "offset": 20, "returned": 20,
    });
    assert_eq!(second["pagination"], expected);
    assert_eq!(second["results"].as_array().unwrap().len(), 20);
    assert_eq!(second["results"][0], super::orders(450)[20], "as it came");
    let last =
        client.read(&json!({"dataset_id": id, "page": 5, "limit": 100, "fields": ["id"]})).json();
    assert_eq!(last["pagination"]["has_more"], false);
    assert_eq!(last["pagination"]["next_page"], Value::Null);
    assert_eq!(last["pagination"]["returned"], 50);
    let beyond = client.read(&json!({"dataset_id": id, "page": 24}));
    assert_eq!(
        beyond.error(),
        "That is past the end: there are 450 records, which is 23 pages of 20."
    );
}

#[test]
fn pages_one_after_the_other_are_all_records_in_their_order() {
    let mut client = Client::new("all_pages");
    let id = client.keep_orders(450);
    let mut records = Vec::new();
    let mut next = json!({"dataset_id": id, "limit": 100, "page": 1});
    loop {
        let page = client.read(&next).json();
        records.extend(page["results"].as_array().unwrap().iter().cloned());
        let pagination = &page["pagination"];
        if pagination["has_more"] == false {
            break;
        }
        // What did not fit is told by the offset.
        next = match pagination["next_page"].as_u64() {
            Some(page) => json!({"dataset_id": id, "limit": 100, "page": page}),
            None => json!({"dataset_id": id, "limit": 100, "offset": pagination["next_offset"]}),
        };
    }
    assert_eq!(Value::from(records), super::orders(450));
}

#[test]
fn page_and_offset_exclude_each_other() {
    let mut client = Client::new("page_or_offset");
    let id = client.keep_orders(450);
    let both = client.read(&json!({"dataset_id": id, "page": 1, "offset": 0}));
    assert!(both.error().contains("page or offset, not both"), "{}", both.error());
    let offset = client.read(&json!({"dataset_id": id, "offset": 7, "limit": 2})).json();
    assert_eq!(offset["results"][0]["id"], 7);
    assert_eq!(offset["pagination"]["offset"], 7);
}

#[test]
fn only_the_fields_that_are_asked_for_are_given() {
    let mut client = Client::new("fields");
    let id = client.keep_orders(450);
    let arguments = json!({"dataset_id": id, "fields": ["status", "id"], "limit": 2});
    let results = client.read(&arguments).json()["results"].clone();
    assert_eq!(results, json!([{"id": 0, "status": "open"}, {"id": 1, "status": "paid"}]));
    let unknown = client.read(&json!({"dataset_id": id, "fields": ["stats"]}));
    let error = unknown.error();
    assert!(error.contains("Did you mean status?") && error.contains("ordered_at"), "{error}");
}

#[test]
fn summary_only_gives_what_the_summary_gave() {
    let mut client = Client::new("summary_only");
    let id = client.keep_orders(450);
    let summary = client.read(&json!({"dataset_id": id, "summary_only": true})).json();
    assert_eq!(summary["records"], 450);
    assert_eq!(summary["tool"], "file");
    assert!(summary.get("results").is_none());
    let status =
        &summary["fields"].as_array().unwrap().iter().find(|it| it["name"] == "status").unwrap();
    assert_eq!(status["top"][0], json!(["open", 150]));
    assert!(summary["samples"][0].as_str().unwrap().contains("\"id\":0,"), "{summary}");

    let chapters: Vec<String> = (0..800)
        .map(|n| format!("# Chapter {n}\n\nIt goes on for {n} lines or more, as chapters do.\n"))
        .collect();
    let id = client.keep_text(&chapters.concat());
    let summary = client.read(&json!({"dataset_id": id, "summary_only": true})).json();
    assert_eq!(summary["lines"], 2_400);
    assert_eq!(summary["headings"][1], "4: # Chapter 1");
    assert_eq!(summary["headings_left_out"], 600);
    assert_eq!(summary["first_lines"][0], "# Chapter 0");
    let last = &summary["last_lines"][4];
    assert_eq!(last, "It goes on for 799 lines or more, as chapters do.");
}

#[test]
fn records_are_filtered_and_sorted() {
    let mut client = Client::new("filtered");
    let id = client.keep_orders(450);
    let mut ids = |filter: Value, sort: Value| -> (Value, Value) {
        let arguments =
            json!({"dataset_id": id, "filter": filter, "sort": sort, "fields": ["id"], "limit": 3});
        let page = client.read(&arguments).json();
        let ids = page["results"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        (ids, page["pagination"]["total_count"].clone())
    };
    let expect = |ids: Value, total: u64| (ids, json!(total));
    assert_eq!(ids(json!({"status": "paid"}), json!(null)), expect(json!([1, 4, 7]), 150));
    assert_eq!(ids(json!({"status": "paid"}), json!("-id")), expect(json!([448, 445, 442]), 150));
    assert_eq!(
        ids(json!({"total": {"gte": 15, "lt": 21}}), json!("-total")),
        expect(json!([13, 12, 11]), 4)
    );
    assert_eq!(
        ids(json!({"coupon": {"is_null": false}}), json!(null)),
        expect(json!([0, 10, 20]), 45)
    );
    assert_eq!(ids(json!({"id": [3, 5, 900]}), json!(null)), expect(json!([3, 5]), 2));
    assert_eq!(
        ids(json!({"customer": {"contains": "6"}}), json!(["customer", "-id"])),
        expect(json!([447, 440, 433]), 64)
    );
    assert_eq!(ids(json!({"ordered_at": {"lt": "2026-01-02"}}), json!(null)).1, 17);
    assert_eq!(
        ids(json!({"items": {"contains": "sku-44\""}}), json!(null)),
        expect(json!([44]), 1)
    );
}

#[test]
fn records_under_keys_are_read_with_their_key() {
    let mut client = Client::new("map");
    let user = |n: u64| json!({"age": n % 90, "about": format!("a text about user number {n}")});
    let map: serde_json::Map<String, Value> =
        (100..900).map(|n| (format!("user{n}"), user(n))).collect();
    let id = client.keep(&json!(map));
    let page = client.read(&json!({"dataset_id": id, "limit": 1, "offset": 7})).json();
    let expected = json!({"key": "user107", "age": 17, "about": "a text about user number 107"});
    assert_eq!(page["results"][0], expected);
    let arguments = json!({"dataset_id": id, "filter": {"key": "user899"}, "fields": ["age"]});
    assert_eq!(client.read(&arguments).json()["results"], json!([{"age": 89}]));
}

#[test]
fn a_table_with_very_many_columns_can_be_read() {
    let mut client = Client::new("wide");
    let record = |n: u64| {
        let fields =
            (0..19).map(|m| (format!("field_{}", n * 19 + m), json!({"value": m, "n": n})));
        fields.chain([("n".to_owned(), json!(n))]).collect::<serde_json::Map<String, Value>>()
    };
    let id = client.keep(&json!((0..100).map(record).collect::<Vec<_>>()));
    let query =
        format!("SELECT n, field_1899->'value' AS v FROM {id} WHERE field_1899 IS NOT NULL");
    assert_eq!(client.analyze(&query).rows(), "[\"n\",\"v\"]\n[99,18]");
    let page = client.read(&json!({"dataset_id": id, "limit": 1, "offset": 99})).json();
    assert_eq!(page["results"][0], json!(record(99)));
    let all = client.analyze(&format!("FROM {id}"));
    assert!(all.text(1).contains("1901 columns; select fewer"), "{}", all.text(1));
}

#[test]
fn columns_keep_their_type_beside_one_that_does_not_fit() {
    let mut client = Client::new("misfit");
    let record = |n: u64| {
        let odd = if n == 700 { json!([1, "two", {"three": 3}]) } else { json!([n]) };
        json!({"n": n, "odd": odd, "tags": ["a", format!("tag {n}")]})
    };
    let id = client.keep(&json!((0..900).map(record).collect::<Vec<_>>()));
    let query = format!("SELECT len(tags) AS l, tags[2] AS t, odd FROM {id} WHERE n = 700");
    let expected = "[\"l\",\"t\",\"odd\"]\n[2,\"tag 700\",[1,\"two\",{\"three\":3}]]";
    assert_eq!(client.analyze(&query).rows(), expected);
}

#[test]
fn other_tables_are_read_by_their_name() {
    let mut client = Client::new("tables");
    let line = |n: u64| json!({"n": n, "text": format!("this is line number {n}")});
    let note = |n: u64| json!({"n": n, "by": "someone"});
    let (many, few): (Value, Value) = ((0..900).map(line).collect(), (0..60).map(note).collect());
    let id = client.keep(&json!({"lines": many, "notes": few}));
    let main = client.read(&json!({"dataset_id": id, "limit": 1})).json();
    assert_eq!(main["pagination"]["total_count"], 900);
    let other = client.read(&json!({"dataset_id": format!("{id}_notes"), "limit": 1})).json();
    assert_eq!(other["pagination"]["total_count"], 60);
    let query = format!("SELECT count(*) FROM {id} JOIN {id}_notes USING (n)");
    assert_eq!(client.analyze(&query).rows(), "count_star()\n60");
    let wrong = client.read(&json!({"dataset_id": format!("{id}_note")}));
    assert!(wrong.error().contains(&format!("{id}_notes")), "{}", wrong.error());
}

/// A text of lines that differ.
fn lines() -> Vec<String> {
    let line = |n: u64| match n % 100 {
        42 => format!("On day {n} something went WRONG, and that is rare"),
        _ => format!("On day {n} all was well."),
    };
    (1..=2_500).map(line).collect()
}

#[test]
fn a_text_is_read_by_pages_lines_and_bytes() {
    let mut client = Client::new("text");
    let id = client.keep_text(&lines().join("\r\n"));
    let page = client.read(&json!({"dataset_id": id, "limit": 3, "page": 2})).json();
    assert_eq!(page["results"], json!(lines()[3..6]), "{page}");
    assert_eq!(page["pagination"]["total_count"], 2_500);
    let range = client.read(&json!({"dataset_id": id, "lines": "2499-2600"})).json();
    assert_eq!(range, json!({"lines": lines()[2498..], "first": 2_499, "total_lines": 2_500}));
    let beyond = client.read(&json!({"dataset_id": id, "lines": "2501-"}));
    assert_eq!(beyond.error(), "That is past the end: there are 2500 lines.");
    let bytes = client.read(&json!({"dataset_id": id, "bytes": "9-20"})).json();
    assert_eq!(bytes["text"], "all was well");
    let all = client.read(&json!({"dataset_id": id, "lines": "1-"}));
    let shown = all.json()["lines"].as_array().unwrap().len();
    let next = format!("go on with lines \"{}-2500\"", shown + 1);
    assert!(shown > 100 && all.text(1).contains(&next), "{}", all.text(1));
    let query = format!("SELECT count(*) AS n FROM {id} WHERE text LIKE '%WRONG%'");
    assert_eq!(client.analyze(&query).rows(), "n\n25");
}

#[test]
fn the_places_around_a_match_are_found() {
    let mut client = Client::new("grep");
    let id = client.keep_text(&lines().join("\n"));
    let arguments =
        json!({"dataset_id": id, "grep": "W[A-Z]+G", "context": 2, "limit": 1, "offset": 1});
    let found = client.read(&arguments);
    let expected = json!({"matches": [{
        "line": 142, "text": lines()[141], "before": lines()[139..141], "after": lines()[142..144],
    }], "total_matches": 25});
    assert_eq!(found.json(), expected);
    assert_eq!(found.text(1), "There are more matches: go on with offset 2.");
    let none = client.read(&json!({"dataset_id": id, "grep": "wrong"}));
    assert!(none.text(1).contains("(?i)"), "{}", none.text(1));
    let any = client.read(&json!({"dataset_id": id, "grep": "(?i)wrong"})).json();
    assert_eq!(any["total_matches"], 25);
    let bad = client.read(&json!({"dataset_id": id, "grep": "("}));
    assert!(bad.error().contains("not a regular expression"), "{}", bad.error());
    // In a text that is one long line, what stands around each match is shown.
    let orders = client.keep_orders(450);
    let within = client.read(&json!({"dataset_id": orders, "grep": "sku-44\\b", "limit": 5}));
    let text = within.json()["matches"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("\"sku\":\"sku-44\"") && text.len() < 500, "{text}");
}

#[test]
fn numbers_stay_as_they_were_written() {
    let mut client = Client::new("numbers");
    let big = |n: u64| -> Value {
        serde_json::from_str(&format!(
            r#"{{"n": {n}, "big": 9007199254740993, "text": "some text to fill the line {n}"}}"#
        ))
        .unwrap()
    };
    let id = client.keep(&(0..900).map(big).collect());
    let reply = client.read(&json!({"dataset_id": id, "limit": 1, "fields": ["big"]}));
    assert!(reply.text(0).contains(r#"[{"big":9007199254740993}]"#), "{}", reply.text(0));
    let sum = client.analyze(&format!("SELECT max(big) AS m FROM {id}"));
    assert_eq!(sum.rows(), "m\n9007199254740993");
}

#[test]
fn fields_that_differ_in_capitals_alone_are_told_apart() {
    let mut client = Client::new("capitals");
    let record =
        |n: u64| json!({"id": n, "ID": n + 1_000, "__at": "here", "text": "some more text"});
    let id = client.keep(&(0..900).map(record).collect());
    let arguments = json!({"dataset_id": id, "fields": ["ID", "__at"], "filter": {"ID": 1_007}});
    let results = client.read(&arguments).json()["results"].clone();
    assert_eq!(results, json!([{"ID": 1_007, "__at": "here"}]));
}

#[test]
fn a_line_that_does_not_fit_is_cut_and_the_next_one_is_the_next() {
    let mut client = Client::new("long_lines");
    let long = |word: &str| format!("{word} {}", "and more words than fit ".repeat(4_000));
    let text = ["first", "second", "third"].map(long).join("\n");
    let id = client.keep_text(&text);
    for (line, word) in ["first", "second", "third"].iter().enumerate() {
        let page = client.read(&json!({"dataset_id": id, "offset": line})).json();
        let shown = page["results"][0].as_str().unwrap();
        assert!(shown.starts_with(word) && shown.ends_with("characters more)"), "{shown}");
        assert_eq!(page["pagination"]["returned"], 1);
    }
}

#[test]
fn no_pattern_takes_long_in_a_long_line() {
    let mut client = Client::new("pattern");
    let id = client.keep_orders(20_000);
    let pattern = r#""error".*"fatal"|"id":(7|19999),"#;
    let found = client.read(&json!({"dataset_id": id, "grep": pattern})).json();
    assert_eq!(found["total_matches"], 2, "{found}");
}

#[test]
fn a_long_line_is_searched_as_one() {
    let mut client = Client::new("long-lines");
    let numbers: Vec<String> = (0..40_000).map(|n| format!("{n:07},")).collect();
    let long =
        format!("q{}!\nX{}Y\n{}", "a".repeat(1_100_000), "a".repeat(70_000), numbers.concat());
    let id = client.keep_text(&long);
    let mut grep = |pattern: &str| {
        let found = client.read(&json!({"dataset_id": id, "grep": pattern, "limit": 1})).json();
        (found["total_matches"].clone(), found["occurrences_in_long_lines"].clone())
    };
    assert_eq!(grep("^a"), (json!(0), Value::Null));
    assert_eq!(grep("^qa+$"), (json!(0), Value::Null));
    assert_eq!(grep("Xa+Y"), (json!(1), json!(1)));
    assert_eq!(grep(r"\d{6}5,").1, json!(4_000));
    assert_eq!(grep("a!").1, json!(1));
}
