//! Texts that look like tables and are none, and tables that are hard to read.

use std::{fmt::Write as _, time::Instant};

use super::{contents, found, outputs::told};

#[test]
fn what_is_no_table_stays_text_or_lines() {
    let prose = "NOTE  WELL\n\nIt was the best of times,  it was the worst of times.\nIt was the age of wisdom.\n";
    let rust = include_str!("../aligned/boxed.rs");
    let makefile = "CC     = gcc\nCFLAGS = -O2 -Wall\nOBJS   = a.o b.o\n\nall: $(OBJS)\n\t$(CC) -o all $(OBJS)\n\n\
        clean:\n\trm -f *.o\n";
    let tree = ".\n├── Cargo.toml\n├── src\n│   ├── lib.rs\n│   └── main.rs\n└── tests\n    └── it.rs\n\n3 directories, 4 files\n";
    let markdown = "# Title\n\nSome words.\n\nMore\n----\n\n- a\n- b\n\n1. one\n2. two\n";
    let art = "+--------+      +--------+\n| client | ---> | server |\n+--------+      +--------+\n    |               |\n    v               v\n";
    let sql = "SELECT  A\nFROM    B\nWHERE   C\nORDER   BY\n";
    let help = "Usage: x [OPTIONS]\n\nOptions:\n  -a, --all      Show all\n  -v, --version  Show the version\n";
    let diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-old | line\n+new | line\n same\n";
    let heading = " Introduction\n-------------\n This is the text.\n It goes on.\n";
    let texts = [prose, rust, makefile, tree, markdown, art, sql, help, diff, heading];
    for text in texts {
        for text in [text.to_owned(), text.repeat(10)] {
            let found = found(&text);
            assert!(
                ["text", "lines", "yaml"].iter().any(|form| found.starts_with(form)),
                "{found}\n{text}"
            );
        }
    }
}

#[test]
fn empty_texts_and_single_lines_are_text() {
    for text in [
        "",
        "\n",
        " ",
        "NAME   AGE",
        "NAME   AGE\n",
        "----+----",
        "+--+--+\n",
        "total 0\n",
        "│\n",
        "| a |",
    ] {
        assert_eq!(found(text), "text", "{text:?}");
    }
}

#[test]
fn line_ends_and_colours_do_not_matter() {
    let plain = " id | name \n----+------\n  1 | a\n  2 | b\n(2 rows)\n";
    let expected = told(plain.as_bytes());
    assert!(expected.starts_with("table\n$: 2 records"), "{expected}");
    assert_eq!(told(plain.replace('\n', "\r\n").as_bytes()), expected);
    let plain = "NAME    READY   STATUS\nweb-0   1/1     Running\nweb-1   0/1     Pending\n";
    let coloured = "\u{1b}[1mNAME\u{1b}[0m    READY   STATUS\n\u{1b}[32mweb-0\u{1b}[0m   1/1     \u{1b}[32mRunning\u{1b}[0m\n\
        web-1   \u{1b}[31m0/1\u{1b}[0m     Pending\n";
    assert_eq!(told(coloured.as_bytes()), told(plain.as_bytes()));
}

#[test]
fn a_table_that_is_cut_off_is_read_as_far_as_it_goes() {
    for (head, row, cut, expected) in [
        (" id | name  \n----+-------\n", "  1 | abc\n", "  3 | x", (21, 0)),
        ("+----+------+\n| id | name |\n+----+------+\n", "|  1 | a    |\n", "|  3 | c", (20, 1)),
        ("NAME    READY   STATUS\n", "web-0   1/1     Running\n", "web-2   0/", (21, 0)),
        ("USER  PID COMMAND\n", "root    1 sh -c a\n", "root ", (20, 0)),
        ("-[ RECORD 1 ]\n", "a | 1\n-[ RECORD 2 ]\n", "a", (20, 1)),
    ] {
        let text = format!("{head}{}{cut}", row.repeat(20));
        let (format, found) = contents(&text);
        assert_eq!(format.name(), "table", "{text}");
        let table = &found.tables[0];
        assert_eq!((table.records, table.skipped), expected, "{text}");
    }
}

#[test]
fn rows_that_do_not_fit_are_skipped_and_counted() {
    let mut text = " id | name  | x \n----+-------+---\n".to_owned();
    for id in 10..50 {
        let _ = writeln!(text, " {id} | name  | y");
    }
    text.push_str(" 51 | too long a name for it | a | z\n 52 | name  | y\n(42 rows)\n");
    let (format, found) = contents(&text);
    assert_eq!((format.name(), found.tables[0].records, found.tables[0].skipped), ("table", 41, 1));
}

#[test]
fn wide_tables_are_read() {
    let names: Vec<String> = (0..2_000).map(|n| format!("column {n}")).collect();
    let rule: Vec<String> = names.iter().map(|name| "-".repeat(name.len() + 2)).collect();
    let cell = |text: &str, width: usize| format!(" {text:<width$} ");
    let row = |row: usize| -> String {
        let cells = names.iter().map(|name| cell(&row.to_string(), name.len()));
        cells.collect::<Vec<_>>().join("|")
    };
    let header: Vec<String> = names.iter().map(|name| cell(name, name.len())).collect();
    let rows: Vec<String> = (0..50).map(row).collect();
    let text =
        format!("{}\n{}\n{}\n(50 rows)\n", header.join("|"), rule.join("+"), rows.join("\n"));
    let (format, found) = contents(&text);
    assert_eq!(
        (format.name(), found.tables[0].records, found.tables[0].fields.len()),
        ("table", 50, 2_000)
    );
}

#[test]
fn a_hundred_thousand_lines_are_read_in_one_pass() {
    type Make = fn(usize) -> String;
    let forms: [(Make, (&str, u64)); 10] = [
        (
            |n| format!(" id | name \n----+------\n{}(1 row)\n", " 12 | é 李\n".repeat(n)),
            ("table", 100_000),
        ),
        // A frame that is never closed.
        (
            |n| format!("+----+------+\n| id | name |\n+----+------+\n{}", "| 12 | ab\n".repeat(n)),
            ("lines", 100_003),
        ),
        (
            |n| format!("NAME    READY   STATUS\n{}", "web-0   1/1     Running\n".repeat(n)),
            ("table", 100_000),
        ),
        // Headers without rows.
        (|n| "NAME    READY   STATUS\nweb\n\n".repeat(n), ("text", 0)),
        // Of many tables the largest are read.
        (|n| "a   b\n--- ---\n1   2\n\n".repeat(n), ("table", 12)),
        (|n| " a | b \n".repeat(n), ("csv", 99_999)),
        (
            |n| format!("total 1\n{}", "-rw-r--r-- 1 root root 1 Nov 15 05:27 deep\n".repeat(n)),
            ("table", 100_000),
        ),
        (|n| "-[ RECORD 1 ]\na | 1\n".repeat(n), ("table", 100_000)),
        (
            |n| "127.0.0.1 - - [16/Nov/2026:05:51:43 +0000] \"GET / HTTP/1.1\" 404 236\n".repeat(n),
            ("log", 100_000),
        ),
        (|n| format!("<table><tr><th>a<th>b{}", "<tr><td>1<td>2".repeat(n)), ("html", 100_000)),
    ];
    for (make, expected) in forms {
        let text = make(100_000);
        let start = Instant::now();
        let (format, found) = contents(&text);
        let records: u64 = found.tables.iter().map(|table| table.records).sum();
        assert_eq!((format.name(), records), expected, "{}", &text[..60]);
        // The square of the lines would take minutes.
        assert!(start.elapsed().as_secs() < 20, "{:?}: {}", start.elapsed(), &text[..60]);
    }
}

#[test]
fn tables_in_pages_are_read() {
    let page = "<!DOCTYPE html>\n<html><head><title>Prices &amp; more</title><style>td { color: red }</style></head>\n\
        <body><h1>Prices</h1><p>As of <b>today</b>:\n\
        <table class=x><thead><tr><th rowspan=2>Name<th colspan=\"2\">Price<tr><th>net<th>gross</thead>\n\
        <tr><td colspan=3>Fruit</td></tr>\n\
        <tr><td><a href='/a'>App&shy;le</a><td>1.5<td>1.7</tr>\n\
        <tr><td>Pear &lt;x&gt; &#8364;<td>2<td>2.2\n\
        <tfoot><tr><td>Sum<td>3.5<td>3.9</tfoot></table>\n\
        <script>document.write(\"<table><tr><td>no</td></tr></table>\")</script>\n\
        <table><tr><td><table><tr><td>1<td>a<tr><td>2<td>b</table></td></tr></table></body></html>";
    insta::assert_snapshot!(told(page.as_bytes()));
}

#[test]
fn pages_without_tables_and_xml_with_tables_are_what_they_were() {
    let page = format!("<html><body>{}</body></html>", "<p>words and words\n".repeat(40));
    assert_eq!(found(&page), "text");
    let small = format!(
        "<html><body>{}<table><tr><th>a<tr><td>1</table></body></html>",
        "<p>words and words\n".repeat(40)
    );
    assert_eq!(found(&small), "text", "a small table in a long text");
    let xml = "<db><table name=\"t\"><row><id>1</id></row><row><id>2</id></row></table></db>";
    assert!(found(xml).starts_with("xml\n"), "{}", found(xml));
}
