//! Data of every kind: nothing of it is out of reach, and what it is called or how large it is changes nothing.

use serde_json::{Value, json};

use super::{Page, keep_file, looking::encoded};

/// A page over one dataset with these records, and the dataset's name.
fn of_records(records: &Value) -> (Page, String) {
    let home = tempfile::tempdir().unwrap();
    keep_file(home.path(), &records.to_string());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    (page, id)
}

/// The values of a link's attribute `href`, of links before which a text stands.
fn links(html: &str, before: &str) -> Vec<String> {
    let links = html.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    links.map(|link| link.replace("&amp;", "&").replace("&#38;", "&")).collect()
}

fn column(rows: &Value, name: &str) -> Vec<Value> {
    let names = rows["columns"].as_array().unwrap();
    let at = names.iter().position(|it| it["name"] == name).unwrap();
    rows["rows"].as_array().unwrap().iter().map(|row| row[at].clone()).collect()
}

#[test]
fn every_row_of_a_large_table_is_on_a_page() {
    let text = "x".repeat(100_000);
    let records = (0..60).map(|n| json!({"n": n, "text": text})).collect::<Vec<_>>();
    let (page, id) = of_records(&json!(records));
    let mut path = format!("/dataset/{id}/rows");
    let first = page.json(&format!("/dataset/{id}/rows.json"));
    let left_out = first["left_out"].as_u64().unwrap();
    assert_eq!(left_out + first["rows"].as_array().unwrap().len() as u64, 50);
    assert!(left_out > 0 && page.get(&path).text.contains("left out: a page shows 4 MB at most"));
    let mut seen = Vec::new();
    loop {
        seen.extend(column(&page.json(&path.replacen("/rows", "/rows.json", 1)), "n"));
        match links(&page.get(&path).text, "rel=\"next\" href=\"").pop() {
            Some(next) => path = next,
            None => break,
        }
    }
    let all: Vec<Value> = (0..60).map(|n| json!(n)).collect();
    assert_eq!(seen, all);
}

#[test]
fn fields_of_any_name_are_sorted_by_a_click() {
    let records: Vec<Value> = (0..30)
        .map(|n| json!({"+1": n, "-1": 30 - n, "": n % 7, " a": n % 5, "x desc": n % 3, "100%": n}))
        .collect();
    let (page, id) = of_records(&json!(records));
    let shown = page.get(&format!("/dataset/{id}/rows")).text;
    let up = links(&shown, "aria-sort=\"none\"><a href=\"");
    assert_eq!(up.len(), 6);
    for (link, place) in up.iter().zip(0..) {
        let sorted = |link: &str| {
            let rows = page.json(&link.replacen("/rows", "/rows.json", 1));
            let rows = rows["rows"].as_array().unwrap().clone();
            rows.iter().map(|row| row[place].as_i64().unwrap()).collect::<Vec<_>>()
        };
        assert!(sorted(link).is_sorted(), "{link}");
        let shown = page.get(link).text;
        assert_eq!(shown.matches("aria-sort=\"ascending\"").count(), 1, "{link}");
        let down = links(&shown, "aria-sort=\"ascending\"><a href=\"").remove(0);
        assert!(sorted(&down).iter().rev().is_sorted(), "{down}");
    }
}

#[test]
fn long_numbers_are_compared_to_the_last_digit() {
    let records: Vec<Value> = (0..30)
        .map(|n| {
            let id = 9_007_199_254_740_990_u64 + n;
            json!({"id": id.to_string(), "big": format!("1844674407370955{}", 1600 + n), "n": n})
        })
        .collect();
    let (page, id) = of_records(&json!(records));
    for (filter, expected) in [
        ("gt:id=9007199254740992", 27),
        ("gte:id=9007199254740993", 27),
        ("lt:id=9007199254740993", 3),
        ("gt:big=18446744073709551616", 13),
        ("lte:big=18446744073709551616", 17),
    ] {
        let rows = page.json(&format!("/dataset/{id}/rows.json?where={}", encoded(filter)));
        assert_eq!(rows["total"], expected, "{filter}");
    }
}

#[test]
fn line_breaks_in_values_survive_forms() {
    let records: Vec<Value> = (0..40)
        .map(|n| json!({"n": n, "note": if n % 2 == 0 { "one\ntwo" } else { "one\r\ntwo\\" }}))
        .collect();
    let (page, id) = of_records(&json!(records));
    for value in ["one\ntwo", "one\r\ntwo\\"] {
        let facets = page.json(&format!("/dataset/{id}/rows.json"))["facets"].clone();
        let known = facets[0]["values"].as_array().unwrap().clone();
        assert!(known.iter().any(|it| it["value"] == value), "{known:?}");
        let filter = encoded(&format!("eq:note={value}"));
        let rows = page.json(&format!("/dataset/{id}/rows.json?where={filter}"));
        assert_eq!(rows["total"], 20, "{value:?}");
        let shown = page.get(&format!("/dataset/{id}/rows?where={filter}")).text;
        let hidden = links(&shown, "name=\"where\" value=\"").remove(0);
        assert!(!hidden.contains(char::is_control), "{hidden:?}");
        let again = page.json(&format!("/dataset/{id}/rows.json?where={}", encoded(&hidden)));
        assert_eq!(again["total"], 20, "{hidden:?}");
        // As the box for SQL gives it back.
        let sql = rows["sql"].as_str().unwrap().replace('\n', "\r\n");
        let asked = page.json(&format!("/dataset/{id}/sql.json?sql={}", encoded(&sql)));
        assert_eq!(asked["result"]["rows"].as_array().unwrap().len(), 20, "{sql}");
    }
}

#[test]
fn a_page_past_the_end_keeps_what_was_asked_for() {
    let (page, id) = of_records(&(0..120).map(|n| json!({"id": n})).collect());
    let rows = format!("/dataset/{id}/rows");
    let behind = page.get(&format!("{rows}?where=gte:id=100&page=9"));
    assert_eq!(behind.head.status, 400);
    assert!(behind.text.contains("past the end: there are 20 records"), "{}", behind.text);
    assert!(behind.text.contains("type=\"hidden\" name=\"where\" value=\"gte:id=100\""));
    let before = links(&behind.text, "rel=\"prev\" href=\"").remove(0);
    assert!(page.get(&before).text.contains("1–20 of 20 rows"), "{before}");
    for page_number in [u64::MAX, i64::MAX.unsigned_abs()] {
        for path in [&rows, "/shelf"] {
            let answer = page.get(&format!("{path}?page={page_number}"));
            assert_eq!(answer.head.status, 400, "{path}: {}", answer.text);
            assert!(
                answer.text.contains("past the end") || answer.text.contains("There is no page")
            );
        }
    }
    assert_eq!(page.json(&format!("/shelf.json?min={}", u64::MAX))["fitting"], 0);
}

#[test]
fn a_chart_that_cannot_be_drawn_is_refused() {
    let (page, id) = of_records(&(0..40).map(|n| json!({"id": n, "unit  price": n})).collect());
    let sql = format!("/dataset/{id}/sql?sql=FROM%20dataset");
    for refused in ["chart=pie&x=id", "chart=bar", "chart=bar&x=nonsense"] {
        assert_eq!(page.get(&format!("{sql}&{refused}")).head.status, 400, "{refused}");
    }
    let shown = page.get(&sql).text;
    assert!(shown.contains("<option value=\"unit  price\""), "{shown}");
    assert_eq!(page.get(&format!("{sql}&chart=bar&x=unit%20%20price&y=id")).head.status, 200);
}

#[test]
fn fields_without_a_column_are_told() {
    let record = |n: u64| {
        let members = (0..2_050).map(|field| (format!("f{field}"), json!(n)));
        Value::Object(members.collect())
    };
    let (page, id) = of_records(&(0..3).map(record).collect());
    let rows = page.json(&format!("/dataset/{id}/rows.json"));
    let columns = rows["column_count"].as_u64().unwrap();
    assert_eq!(rows["other_fields"].as_u64().unwrap() + columns, 2_050, "{columns}");
    let fields = page.json(&format!("/dataset/{id}/fields.json"));
    assert_eq!(fields["other_fields"], rows["other_fields"]);
    for path in ["rows", "fields"] {
        let shown = page.get(&format!("/dataset/{id}/{path}")).text;
        assert!(shown.contains("no column, and are only in the original"), "{path}");
    }
}

#[test]
fn filters_take_every_value_and_name_what_was_refused() {
    let text = |n: u64| match n % 4 {
        0 => "a\0b",
        1 => "",
        2 => " ",
        _ => "open",
    };
    let records =
        (0..40).map(|n| json!({"id": n, "state": text(n), "new\nline": n % 2})).collect::<Vec<_>>();
    let (page, id) = of_records(&json!(records));
    let rows = |asked: &str| format!("/dataset/{id}/rows{asked}");
    let facets = page.json(&rows(".json"))["facets"].clone();
    let values = facets.as_array().unwrap().iter().find(|it| it["field"] == "state").unwrap();
    for value in values["values"].as_array().unwrap() {
        let filter = encoded(&format!("eq:state={}", value["value"].as_str().unwrap()));
        assert_eq!(page.json(&rows(&format!(".json?where={filter}")))["total"], 10, "{value}");
    }
    let shown = page.get(&rows("")).text;
    assert!(shown.contains("“empty”") && shown.contains("⟨U+0020⟩"), "{shown}");
    for (filter, total) in [("in:id=[1,2,\"3\"]", 3), ("not_in:state=[\"open\",\"\"]", 20)] {
        let filter = encoded(filter);
        assert_eq!(page.json(&rows(&format!(".json?where={filter}")))["total"], total, "{filter}");
    }
    let refused = page.get(&rows("?where=in:id=1,2"));
    assert_eq!(refused.head.status, 400);
    assert!(refused.text.contains("takes a list in JSON"), "{}", refused.text);
    // As a browser sends the form.
    let moved = page.get(&rows("?field=new%0D%0Aline&op=eq&value=1"));
    let to = moved.head.header("location").unwrap().replacen("/rows", "/rows.json", 1);
    assert_eq!(page.json(&to)["total"], 20, "{to}");
    // The one that was refused is the one to be changed.
    let refused = page.get(&rows("?where=eq:id=abc&where=eq:state=open"));
    assert!(refused.text.contains("abc is none of these"), "{}", refused.text);
    assert!(refused.text.contains("placeholder=\"value\" value=\"abc\""), "{}", refused.text);
    for (asked, why) in [
        ("where=matches:state=(", "is not a regular expression: missing"),
        ("page=1&page=2", "is given more than once"),
    ] {
        let refused = page.get(&rows(&format!("?{asked}")));
        assert!(refused.head.status == 400 && refused.text.contains(why), "{}", refused.text);
    }
}

#[test]
fn large_whole_numbers_lie_where_they_are() {
    let records = (0..1_200_u64)
        .map(|n| json!({"large": (1_u64 << 53) + n, "larger": (1_u64 << 63) + n}))
        .collect::<Vec<_>>();
    let (page, id) = of_records(&json!(records));
    let fields = page.json(&format!("/dataset/{id}/fields.json"))["fields"].clone();
    for field in fields.as_array().unwrap() {
        let counts: Vec<u64> = serde_json::from_value(field["ranges"].clone()).unwrap();
        let even = 1_200 / counts.len() as u64;
        assert_eq!(counts.iter().sum::<u64>(), 1_200, "{field}");
        assert!(counts.iter().all(|count| count.abs_diff(even) <= 1), "{field}");
    }
    for asked in ["table=nothing", "page=9"] {
        let refused = page.get(&format!("/dataset/{id}/fields?{asked}"));
        assert_eq!(refused.head.status, 400, "{}", refused.text);
    }
}

#[test]
fn of_many_numbers_it_is_said_how_many_are_not_drawn() {
    let record = |n: u64| (0..11).map(|field| (format!("number {field}"), n.into())).collect();
    let records: Vec<serde_json::Map<String, Value>> = (0..1_200).map(record).collect();
    let (page, id) = of_records(&json!(records));
    let told = page.json(&format!("/dataset/{id}/fields.json"));
    let drawn = told["fields"].as_array().unwrap().iter().filter(|it| it["ranges"] != json!([]));
    assert_eq!((drawn.count(), &told["without_ranges"]), (8, &json!(3)));
    let text = page.get(&format!("/dataset/{id}/fields")).text;
    assert!(
        text.contains("The distribution of 3 more fields is not drawn: 8 on a page are."),
        "{text}"
    );
}
