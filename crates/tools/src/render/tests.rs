use serde_json::json;

use super::*;

fn found(columns: &[(&str, &str)], rows: &[Value]) -> Selected {
    let column =
        |(name, kind): &(&str, &str)| Column { name: (*name).into(), kind: (*kind).into() };
    Selected {
        columns: columns.iter().map(column).collect(),
        rows: rows.iter().map(Value::to_string).collect(),
        has_more: false,
        sources: Vec::new(),
    }
}

fn flat() -> Selected {
    let rows = [
        json!([1, "plain", 1.5, null]),
        json!([2, "a, \"b\"", -0.25, ""]),
        json!([3, "007", null, "x|y\nz"]),
    ];
    found(&[("id", "BIGINT"), ("some name", "VARCHAR"), ("n", "DOUBLE"), ("t", "VARCHAR")], &rows)
}

fn nested() -> Selected {
    let rows = [json!([1, ["a", "b"], {"k": [{"x": 1}, {"x": "-"}]}]), json!([2, [], null])];
    found(&[("id", "BIGINT"), ("tags", "VARCHAR[]"), ("more", "STRUCT(k STRUCT(x JSON)[])")], &rows)
}

fn text(format: Format, found: &Selected) -> String {
    within(Budget::NONE, format, found).text
}

#[test]
fn flat_rows_are_csv_in_which_texts_and_numbers_differ() {
    assert_eq!(Format::shortest(&flat().columns), Format::Csv);
    let expected =
        "id,some name,n,t\n1,plain,1.5,\n2,\"a, \"\"b\"\"\",-0.25,\"\"\n3,\"007\",,\"x|y\nz\"";
    assert_eq!(text(Format::Csv, &flat()), expected);
}

#[test]
fn nested_rows_are_lists() {
    assert_eq!(Format::shortest(&nested().columns), Format::Lists);
    let expected = "[\"id\",\"tags\",\"more\"]\n[1,[\"a\",\"b\"],{\"k\":[{\"x\":1},{\"x\":\"-\"}]}]\n[2,[],null]";
    assert_eq!(text(Format::Lists, &nested()), expected);
    assert!(text(Format::Csv, &nested()).contains("1,\"[\"\"a\"\",\"\"b\"\"]\","));
}

#[test]
fn json_is_a_list_of_objects() {
    let objects: Value = serde_json::from_str(&text(Format::Json, &nested())).unwrap();
    assert_eq!(objects[0]["more"]["k"][1]["x"], "-");
    assert_eq!(text(Format::Json, &found(&[("a", "BIGINT")], &[])), "[]");
}

#[test]
fn markdown_is_a_table() {
    let expected = "| id | some name | n | t |\n|---|---|---|---|\n| 1 | plain | 1.5 |  |\n";
    let text = text(Format::Markdown, &flat());
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("| 3 | 007 |  | x\\|y<br>z |"), "{text}");
}

#[test]
fn toon_is_a_table_or_a_list() {
    let expected = "[3]{id,\"some name\",n,t}:\n  1,plain,1.5,null\n  2,\"a, \\\"b\\\"\",-0.25,\"\"\n  3,\"007\",null,\"x|y\\nz\"";
    assert_eq!(text(Format::Toon, &flat()), expected);
    let expected = "[2]:\n  - id: 1\n    tags[2]: a,b\n    more:\n      k[2]:\n        - x: 1\n        - x: \"-\"\n  - id: 2\n    tags[0]:\n    more: null";
    assert_eq!(text(Format::Toon, &nested()), expected);
}

#[test]
fn as_many_rows_as_fit_are_shown() {
    let rows: Vec<Value> = (0..500).map(|n| json!([n, "some words of text"])).collect();
    let many = found(&[("n", "BIGINT"), ("t", "VARCHAR")], &rows);
    for format in [Format::Csv, Format::Json, Format::Markdown, Format::Toon, Format::Lists] {
        for tokens in [40, 100, 1_000] {
            let budget = Budget { tokens, bytes: None };
            let shown = within(budget, format, &many);
            assert!(budget.holds(&shown.text), "{format:?} {tokens}");
            assert!(shown.rows > 0 && shown.rows < 500 && !shown.is_cut, "{format:?} {tokens}");
            assert_eq!(shown.text, text(format, &found_first(&many, shown.rows)));
            let more = text(format, &found_first(&many, shown.rows + 2));
            assert!(!budget.holds(&more) || tokens == 40, "{format:?} {tokens}");
        }
    }
}

fn found_first(found: &Selected, rows: usize) -> Selected {
    Selected { rows: found.rows[..rows].to_vec(), ..found.clone() }
}

#[test]
fn a_row_that_does_not_fit_is_cut_and_says_so() {
    let long = "word ".repeat(50_000);
    let row = found(&[("id", "BIGINT"), ("body", "VARCHAR")], &[json!([7, long])]);
    let budget = Budget { tokens: 500, bytes: None };
    let shown = within(budget, Format::Csv, &row);
    assert!(budget.holds(&shown.text) && shown.is_cut && shown.rows == 1);
    assert!(shown.text.contains("characters more)"), "{}", shown.text);
    assert!(shown.text.len() > 500, "{}", shown.text);
}
