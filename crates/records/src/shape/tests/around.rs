//! What stands around the records is told.

use std::fmt::Write as _;

use super::outputs::told;

fn check(text: &str, expected: &str) {
    assert_eq!(told(text.as_bytes()).trim_end(), expected, "{text}");
}

#[test]
fn sentences_around_json_are_told() {
    let long = "x".repeat(80);
    let records = format!("[{{\"id\": \"{long}\"}}, {{\"id\": \"{long}\"}}]");
    let row = format!("{{\"id\": \"{long}\"}}");
    let told = format!("json\n$: 2 records, 0 skipped (id string)\n  {row}\n  {row}");
    check(
        &format!("{records}\nShowing 1-2 of 1,532 results. Use page=2 for more."),
        &format!("{told}\ntext after = \"Showing 1-2 of 1,532 results. Use page=2 for more.\""),
    );
    check(
        &format!("Found [2]:\n```json\n{records}\n```\nNext: [page 2]"),
        &format!("{told}\ntext before = \"Found [2]:\"\ntext after = \"Next: [page 2]\""),
    );
    // Among too many words it is a part of them.
    let words = "words and words ".repeat(400);
    check(&format!("{words}\n{}\n", records.repeat(100)), "text");
}

#[test]
fn of_several_documents_the_longest_is_read_and_the_others_are_told() {
    let long = "x".repeat(200);
    let text = format!(
        "First:\n```json\n[{{\"a\": 1}}, {{\"a\": 2}}]\n```\nSecond:\n```json\n[{{\"b\": \"{long}\"}}, {{\"b\": \"y\"}}]\n```\n\
         And code:\n```sh\nls\n```\n"
    );
    check(
        &text,
        &format!(
            "json\n$: 2 records, 0 skipped (b string)\n  {{\"b\": \"{long}\"}}\n  {{\"b\": \"y\"}}\n\
             text before = \"First:\"\nother document, a list of 2 = [{{\"a\": 1}}, {{\"a\": 2}}]\ntext between = \"Second:\"\n\
             text after = \"And code:\\n```sh\\nls\\n```\""
        ),
    );
}

#[test]
fn objects_on_lines_after_a_sentence_are_records() {
    check(
        "Three rows:\n{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\nDone.\n",
        "ndjson\n$: 3 records, 0 skipped (a integer)\n  {\"a\": 1}\n  {\"a\": 2}\n  {\"a\": 3}\n\
         text before = \"Three rows:\"\ntext after = \"Done.\"",
    );
}

#[test]
fn members_around_json_in_a_string_are_told() {
    let long = "x".repeat(80);
    let text = format!("Here:\n[{{\"id\": \"{long}\"}}, {{\"id\": \"b\"}}]");
    let text = serde_json::Value::from(text);
    check(
        &format!("{{\"note\": \"x\", \"result\": {text}}}"),
        &format!(
            "json\n$: 2 records, 0 skipped (id string)\n  {{\"id\": \"{long}\"}}\n  {{\"id\": \"b\"}}\n\
             text before = \"Here:\"\n$.note = \"x\""
        ),
    );
}

#[test]
fn comments_and_footers_of_delimited_text_are_told() {
    check(
        "# exported\n# twice\nid,name,x\n1,a,b\n2,c,d\n3,e,f\n4,g,h\n(4 rows)\n",
        "csv\n$: 4 records, 0 skipped (id integer, name string, x string)\n  id=\"1\" name=\"a\" x=\"b\" \n  \
         id=\"2\" name=\"c\" x=\"d\" \n  id=\"3\" name=\"e\" x=\"f\" \n  id=\"4\" name=\"g\" x=\"h\" \n\
         text before = \"# exported\\n# twice\"\nfooter = \"(4 rows)\"",
    );
    // A header may begin with the sign of a comment.
    check(
        "#id,name,x\n1,a,b\n2,c,d\n3,e,f\n4,g,h\n",
        "csv\n$: 4 records, 0 skipped (#id integer, name string, x string)\n  #id=\"1\" name=\"a\" x=\"b\" \n  \
         #id=\"2\" name=\"c\" x=\"d\" \n  #id=\"3\" name=\"e\" x=\"f\" \n  #id=\"4\" name=\"g\" x=\"h\"",
    );
}

#[test]
fn text_around_markdown_tables_is_told() {
    check(
        "---\ntitle: x\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nthen\n\n| c | d |\n|---|---|\n| 3 | 4 |\n\nend\n",
        "markdown\n$[0]: 1 records, 0 skipped (a integer, b integer)\n  a=\"1\" b=\"2\" \n\
         $[1]: 1 records, 0 skipped (c integer, d integer)\n  c=\"3\" d=\"4\" \n\
         text before = \"---\\ntitle: x\\n---\"\ntext between = \"then\"\ntext after = \"end\"",
    );
}

#[test]
fn long_pieces_are_shortened_and_many_are_counted() {
    let piece = "é".repeat(400);
    let mut text = String::new();
    for _ in 0..30 {
        let _ = write!(text, "{piece}\n\n| a | b |\n|---|---|\n");
        text.push_str(&"| 1 | 2 |\n".repeat(60));
        text.push('\n');
    }
    let told = told(text.as_bytes());
    let shown = format!("\ntext before = \"{}… (800 bytes)\"\n", "é".repeat(250));
    assert!(told.contains(&shown), "{told}");
    assert!(told.ends_with("\nand 10 more"), "{}", &told[told.len() - 100..]);
}

#[test]
fn lines_before_the_first_entry_of_a_log_are_told() {
    let entries = "2026-01-01 12:00:00 INFO a\n".repeat(6);
    let told = told(format!("-- Journal begins --\n{entries}").as_bytes());
    assert!(told.starts_with("log\n$: 6 records"), "{told}");
    assert!(told.ends_with("\ntext before = \"-- Journal begins --\""), "{told}");
}
