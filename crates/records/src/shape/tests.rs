//! Texts in, tables out.

use std::{fmt::Write as _, io::Write as _};

use forebay_store::{Durability, Store};

use super::*;

mod around;
mod hostile;
mod outputs;

const RULES: Rules = Rules { sample_size: 0, detects_types: true, has_cells: false };

/// What is found in a text, on a line for each table.
fn found(text: &str) -> String {
    let (format, contents) = contents(text);
    let mut out = format.name().to_owned();
    for table in contents.tables {
        let fields =
            table.fields.iter().map(|field| format!("{} {}", field.name, field.kind.name()));
        let fields: Vec<String> = fields.collect();
        let _ = write!(out, "\n{} {} {}: ", table.path, table.kind, table.records);
        out.push_str(&fields.join(", "));
    }
    out
}

fn contents(text: &str) -> (Format, Contents) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Durability::RightAfter).unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(text.as_bytes()).unwrap();
    let payload = capture.map_last_part().unwrap();
    let found = [of, not_json, super::text].iter().find_map(|view| {
        let view = view(&payload);
        Some((view.format, view.contents(RULES)?))
    });
    found.unwrap()
}

#[test]
fn json_records_are_found_wherever_they_lie() {
    let records = r#"[{"id":1,"at":"2024-01-01T00:00:00Z"},{"id":2,"at":null},{"id":3,"x":[1]}]"#;
    let fields = "id integer, at timestamp, x list";
    assert_eq!(found(records), format!("json\n$ list 3: {fields}"));
    for (document, path) in [
        (format!(r#"{{"total": 3, "results": {records}}}"#), "$.results"),
        (
            format!(r#"{{"data": {{"the items": {records}, "ids": [1,2]}}}}"#),
            r#"$.data["the items"]"#,
        ),
        (format!(r#"[{{"page": {records}}}]"#), "$[0].page"),
    ] {
        assert_eq!(found(&document), format!("json\n{path} list 3: {fields}"), "{document}");
    }
}

#[test]
fn a_long_list_is_read_by_two_and_the_facts_are_the_same() {
    let record = |index: usize| {
        let mixed = index.wrapping_mul(0x9E37_79B9) % 100_003;
        let mut record = serde_json::json!({
            "id": index, "name": format!("name {}", mixed % 30_000), "state": (["a", "b", "c"][mixed % 3]),
            "share": f64::from(u32::try_from(mixed).unwrap()) / 8.0, "at": format!("2024-01-{:02}", mixed % 28 + 1),
            "odd": if mixed.is_multiple_of(7) { serde_json::json!(mixed) } else { serde_json::json!("x\n") },
            "tags": [mixed % 5],
        });
        if index > 15_000 {
            record["late"] = mixed.into();
        }
        if index == 29_999 {
            record["id"] = serde_json::json!(-1.5);
        }
        record.to_string()
    };
    let records: Vec<String> = (0..30_000).map(record).collect();
    let facts = |text: &str| {
        let (_, contents) = contents(text);
        let fields: Vec<_> =
            contents.tables[0].fields.iter().map(crate::table::Field::facts).collect();
        (contents.tables[0].records, fields)
    };
    let list = facts(&format!("[{}]", records.join(",")));
    assert_eq!(list.0, 30_000);
    assert_eq!(list, facts(&records.join("\n")), "as lines they are read by one");
    // A flaw in either half is found.
    for at in [10_000, 20_000] {
        let mut broken = records.clone();
        broken[at] = broken[at].replace(':', ";");
        assert_eq!(contents(&format!("[{}]", broken.join(","))).0.name(), "text");
    }
}

#[test]
fn more_fields_than_are_described_are_the_same_however_a_list_is_read() {
    // `late` is within what one half describes and beyond what the other does.
    let record = |index: usize| {
        let names = (index % 200) * 20..(index % 200) * 20 + 20;
        let fields: Vec<String> = names.map(|name| format!("\"f{name}\": {index}")).collect();
        format!("{{{}, \"late\": {index}}}", fields.join(", "))
    };
    let records: Vec<String> = (0..2_400).map(record).chain((0..200).rev().map(record)).collect();
    let facts = |text: &str| {
        let table = contents(text).1.tables.remove(0);
        let fields: Vec<_> = table.fields.iter().map(crate::table::Field::facts).collect();
        (table.records, table.other_fields, fields)
    };
    let list = format!("[{}]", records.join(","));
    assert!(list.len() > 512 * 1024, "long enough for two");
    assert_eq!(facts(&list), facts(&records.join("\n")));
}

#[test]
fn json_tables_have_many_forms() {
    for (document, expected) in [
        // What stands beside the record in each element is part of it.
        (
            r#"{"data":{"edges":[{"cursor":"a","node":{"id":1}},{"cursor":"b","node":{"id":2}}]}}"#,
            "$.data.edges list 2: cursor string, node struct",
        ),
        // Columns side by side.
        (
            r#"{"day":["2024-01-01","2024-01-02","2024-01-03"],"rain":[0.5,1,null]}"#,
            "$ columns 3: day date, rain float",
        ),
        // Rows under a header, and with the names elsewhere.
        (r#"[["id","name"],[1,"a"],[2,"b"]]"#, "$ rows 2: id integer, name string"),
        (
            r#"{"columns":["id","name"],"rows":[[1,"a"],[2,"b"]]}"#,
            "$.rows rows 2: id integer, name string",
        ),
        (
            r#"{"schema":[{"name":"id"},{"name":"ok"}],"data":[[1,true],[2,false]]}"#,
            "$.data rows 2: id integer, ok boolean",
        ),
        // Several tables, the larger first.
        (
            r#"{"a":[{"x":1},{"x":2}],"b":[{"y":1.5},{"y":2.5},{"y":3.5}],"c":"note"}"#,
            "$.b list 3: y float\n$.a list 2: x integer",
        ),
        (r#"["a","b","c"]"#, "$ values 3: value string"),
        (r#"[1, "a", {"b": 2}]"#, "$ values 3: value json"),
        // The same kind of records under several keys.
        (
            r#"{"n":1,"open":[{"x":1,"y":2}],"shut":[{"x":2,"y":3},{"x":3}],"z":[{"q":1}]}"#,
            "$.{open,shut} grouped 3: key string, x integer, y integer\n$.z list 1: q integer",
        ),
        (
            r#"{"a":{"of":1,"items":[{"x":1}]},"b":{"of":2,"items":[{"x":2},{"x":3}]},"c":{"items":[]}}"#,
            "$.*.items grouped 3: key string, x integer",
        ),
        // Mere wrappers around lists.
        (
            r#"[{"page":1,"items":[{"name":"number 0 of 1"},{"name":"number 1 of 1"},{"name":"number 2 of 1"},{"name":"number 3 of 1"},{"name":"number 4 of 1"}]},{"page":2,"items":[{"name":"number 0 of 2"},{"name":"number 1 of 2"},{"name":"number 2 of 2"},{"name":"number 3 of 2"},{"name":"number 4 of 2"}]}]"#,
            "$[].items grouped 10: page integer, name string\n$ list 2: page integer",
        ),
    ] {
        assert_eq!(found(document), format!("json\n{expected}"), "{document}");
    }
}

#[test]
fn the_members_of_an_object_may_be_records() {
    let map: Vec<String> = (0..9).map(|n| format!(r#""k{n}":{{"size":{n},"kind":"a"}}"#)).collect();
    assert_eq!(
        found(&format!("{{{}}}", map.join(","))),
        "json\n$ map 9: key string, size integer, kind string"
    );
    let dictionary: Vec<String> = (0..60).map(|n| format!(r#""1.0.{n}":"2024-01-01"#)).collect();
    assert_eq!(
        found(&format!("{{\"time\":{{{}\"}}}}", dictionary.join("\","))),
        "json\n$.time map 60: key string, value date"
    );
    // A record is not a table of its members.
    assert_eq!(found(r#"{"a":{"x":1},"b":{"x":2}}"#), "json\n$ object 1: a struct, b struct");
}

#[test]
fn json_need_not_stand_alone() {
    let records = r#"[{"id": 1, "text": "a [b] {c}"}, {"id": 2, "text": "\"d\""}]"#;
    let expected = "json\n$ list 2: id integer, text string";
    let twice = serde_json::Value::from(records).to_string();
    let thrice = serde_json::Value::from(twice.as_str()).to_string();
    for text in [
        format!("Here are the results:\n```json\n{records}\n```\nAnything else?"),
        format!("Found 2 records: {records}"),
        format!("Done [ok].\n\n{records}\n"),
        format!("\u{feff}{records}\n"),
        format!("{{\"result\": {twice}}}"),
        twice,
        thrice,
    ] {
        assert_eq!(found(&text), expected, "{text}");
    }
    let lines = "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 2, \"text\": \"b\"}\n";
    assert_eq!(found(lines), "ndjson\n$ list 2: id integer, text string");
    let pretty = "{\n  \"id\": 1\n}\n{\n  \"id\": 2\n}{\"id\": 3}\n";
    assert_eq!(found(pretty), "ndjson\n$ list 3: id integer");
}

#[test]
fn delimited_text_is_a_table() {
    let csv =
        "id,name,score,code\n1,\"Smith, A\",0.5,007\n2,\"multi\nline\",1,008\n3,,,009\n4,x,2,010\n";
    assert_eq!(found(csv), "csv\n$ list 4: id integer, name string, score float, code string");
    let tsv = "a\tb\tc\nx\t2024-01-01\ttrue\ny\t2024-01-02\tfalse\nz\t\t\n";
    assert_eq!(found(tsv), "tsv\n$ list 3: a string, b date, c boolean");
    let bare = "1;2;3\n4;5;6\n7;8;9\n1;2;3\n";
    assert_eq!(found(bare), "csv\n$ list 4: column_1 integer, column_2 integer, column_3 integer");
}

#[test]
fn lines_that_do_not_fit_are_no_records() {
    let rows: Vec<String> = (0..40).map(|n| format!("{n},name {n},{}", n * 2)).collect();
    let csv = format!(
        "id,name,name,\n{}\n40 rows returned\n",
        rows.join("\n").replace('\n', ",\n") + ","
    );
    let (format, found) = contents(&csv);
    let table = &found.tables[0];
    assert_eq!((format.name(), table.records, table.skipped), ("csv", 40, 0));
    assert_eq!(found.envelope, [("footer".to_owned(), "\"40 rows returned\"".to_owned())]);
    let names: Vec<&str> = table.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["id", "name", "name_3", "column_4"]);
    let prose = "Some words that follow, and are no table.\n".repeat(200);
    assert_eq!(found_format(&format!("{csv}{prose}")), "text");

    let mut lines: Vec<String> = (0..40).map(|n| format!("{{\"id\": {n}}}")).collect();
    lines[17] = "{\"id\": 17".to_owned();
    let (format, found) = contents(&(lines.join("\n") + "\n"));
    let table = &found.tables[0];
    assert_eq!((format.name(), table.records, table.skipped), ("ndjson", 39, 1));

    let code = "let a = 1;\nlet b = 2;\nlet c = 3;\ncall(a);\n".repeat(20);
    assert_ne!(found_format(&code), "csv");
    let colours = "\u{1b}[1;31mred\u{1b}[0m\n".repeat(30);
    assert_eq!(found_format(&colours), "lines");
}

fn found_format(text: &str) -> &'static str {
    contents(text).0.name()
}

#[test]
fn ranges_are_those_of_the_values_not_of_their_texts() {
    let (_, found) = contents(
        r#"[{"at":"2024-01-01T23:00:00Z","n":18446744073709551615,"m":1.5},
            {"at":"2024-01-02T05:00:00+09:00","n":3,"m":12345678901234567890}]"#,
    );
    let range = |index: usize| found.tables[0].fields[index].range.clone();
    assert_eq!(range(0), None, "in different zones the order of texts says nothing");
    assert_eq!(range(1), Some(("3".to_owned(), "18446744073709551615".to_owned())));
    assert_eq!(range(2), Some(("1.5".to_owned(), "12345678901234567890".to_owned())));
}

#[test]
fn all_that_stands_beside_the_records_is_counted() {
    let values: Vec<String> = (0..60).map(|n| format!("\"v{n}\": {n}")).collect();
    let tables: Vec<String> =
        (0..20).map(|n| format!("\"t{n}\": [{{\"a{n}\": {n}}}, {{\"a{n}\": 2}}]")).collect();
    let (_, found) = contents(&format!(
        "{{{}, {}, \"next_cursor\": \"{}\", \"rows\": [{}]}}",
        values.join(", "),
        tables.join(", "),
        "c".repeat(600),
        vec!["{\"a\": 1, \"b\": \"some longer text\"}"; 200].join(","),
    ));
    assert_eq!((found.counts.tables, found.counts.envelope), (21, 61));
    assert!(found.tables.len() < 21 && found.tables[0].path == "$.rows");
}

#[test]
fn markdown_tables_are_tables() {
    let text = "Two of them:\n\n| id | name |\n|---:|:----|\n| 1 | a \\| b |\n| 2 | |\n| 3 | c |\n\n\
        x | y\n--- | ---\n1.5 | z\n";
    assert_eq!(
        found(text),
        "markdown\n$[0] list 3: id integer, name string\n$[1] list 1: x float, y string"
    );
    // Prose with a small table in it is prose.
    let prose = format!("{}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "Some long words. ".repeat(50));
    assert_eq!(found(&prose), "text");
}

#[test]
fn log_lines_have_a_time_a_level_and_a_message() {
    let expected = "log\n$ list 6: timestamp timestamp, level string, message string";
    let lines = "2026-01-01 12:00:00,123 INFO start\n2026-01-01 12:00:01,000 [main] ERROR failed\n  \
        at a.b(c)\n  at d.e(f)\n2026-01-01 12:00:02 WARN: x\n2026-01-01T12:00:03Z debug y\n\
        2026-01-01 12:00:04 done\n2026-01-01 12:00:05 done\n";
    assert_eq!(found(lines), expected);
    let java = "2026-01-01 12:00:00 ERROR failed\njava.lang.Error: x\n\tat a.b(C.java:1)\n\tat d.e(F.java:2)\n\
        Caused by: y\n\tat g.h(I.java:3)\n\t... 12 more\n";
    assert!(found(&java.repeat(12)).starts_with("log\n$ list 12: timestamp timestamp"));
    for line in [
        "Nov 15 05:27:06 host sshd[12]: Accepted publickey",
        "[2026-11-15T05:27:06+01:00] warning: low space",
        "127.0.0.1 [15/Nov/2026:05:27:06 +0000] \"GET / HTTP/1.1\" 200 12",
        "05:27:06.123 INFO ready",
    ] {
        let text = format!("{line}\n").repeat(6);
        assert!(found(&text).starts_with("log\n$ list 6: timestamp "), "{}", found(&text));
    }
}

#[test]
fn values_of_a_name_that_their_object_has_already_are_counted() {
    let repeated = |text: &str| contents(text).1.tables.iter().map(|it| it.repeated).sum::<u64>();
    let once = r#"{"id":1,"in":{"a":1,"b":[{"x":1}]},"at":"x"}"#;
    assert_eq!(repeated(&format!("[{once},{once}]")), 0);
    let often =
        r#"{"id":1,"in":{"a":1,"b":[{"x":1,"x":{"y":2}}],"a":2},"id":null,"\u0069d":[],"at":"x"}"#;
    assert_eq!(repeated(&format!("[{once},{often}]")), 4, "escaped or not");
    assert_eq!(repeated(&format!("{often}\n{once}\n{often}\n")), 8);
    // In maps, too.
    let keys: Vec<String> = (0..3_000).map(|key| format!(r#""key {key}":{key}"#)).collect();
    let map = format!(r#"{{"id":1,"map":{{{},"key 2999":5}}}}"#, keys.join(","));
    assert_eq!(repeated(&format!("[{map},{map}]")), 2);
    // One that came before it was seen that it is a map, and again behind that; the object before has others.
    let again = map.replace("\"key 150\":150,", "");
    let again = again.replace("\"key 2999\":5", "\"key 150\":150,\"key 3\":5");
    let before = r#"{"id":0,"map":{"key 150":1,"key 3":1}}"#;
    assert_eq!(repeated(&format!("[{before},{again}]")), 1);
    let (_, contents) = contents(&format!("[{before},{again}]"));
    let map = &contents.tables[0].fields[1];
    assert_eq!(map.inside.entries.as_ref().unwrap().key.present, 3_002);
    // So many that they are read by several at once.
    assert_eq!(repeated(&format!("[{}]", vec![often; 100_000].join(","))), 400_000);
    assert_eq!(repeated("Name: a\nSize: 1\n\nName: b\nSize: 2\nSize: 3\n\nName: c\nSize: 4\n"), 1);
}

#[test]
fn paragraphs_of_names_and_values_are_records() {
    let text = "Package: a\nVersion: 1.0\nDescription: short\n and long\n\nPackage: b\nVersion: 2.0\n\n\
        Package: c\nVersion: 3.0\nSize: 12\n";
    assert_eq!(
        found(text),
        "stanzas\n$ list 3: Package string, Version float, Description string, Size integer"
    );
    let log = "Commit history:\nCommit: 'a1'\nAuthor: x\n\nCommit: 'b2'\nAuthor: y\n\nCommit: 'c3'\nAuthor: z\n";
    assert_eq!(found(log), "stanzas\n$ list 3: Commit string, Author string");
}

#[test]
fn yaml_and_xml_are_looked_at_as_json() {
    let yaml = "# people\npeople:\n  - name: Ann\n    age: 31\n    born: 1990-01-01\n  - name: \"12\"\n    age: ~\n\
        total: 2\n";
    assert_eq!(found(yaml), "yaml\n$.people list 2: name string, age integer, born date");
    let documents = "---\nkind: Pod\nname: a\n---\nkind: Service\nname: b\nport: 80\n";
    assert_eq!(found(documents), "yaml\n$ list 2: kind string, name string, port integer");
    let xml = "<?xml version=\"1.0\"?>\n<list>\n<!-- two -->\n<item id=\"1\"><name>A &amp; B</name></item>\
        <item id=\"2\"><name><![CDATA[C]]></name><more/></item></list>";
    assert_eq!(found(xml), "xml\n$.list.item list 2: id integer, name string, more null");
    assert_eq!(found(&format!("<html>{}</html>", "<p>words</p>\n".repeat(30))), "text");
}

#[test]
fn listings_are_lines_and_everything_else_is_text() {
    let listing: Vec<String> = (0..30).map(|n| format!("[FILE] name-{n}.txt")).collect();
    let listing = listing.join("\n");
    assert_eq!(found(&listing), "lines\n$ values 30: line integer, text string");
    let prose =
        "It was the best of times, it was the worst of times,\nit was the age of wisdom.\n\n";
    let code = "fn main() {\n    let a = 1;\n    println!(\"{a}\");\n}\n\n";
    for text in [prose.repeat(20), code.repeat(20), "word ".repeat(3_000)] {
        assert_eq!(found(&text), "text", "{}", &text[..60]);
    }
}

#[test]
fn what_python_prints_and_json_without_its_end_are_records() {
    let told = "python\n$ list 2: a integer";
    for text in
        ["[{'a': 1}, {'a': None}]", "[{\"a\": 1}, {\"a\": NaN},]", "[{\"a\": 1}, {\"a\": 2}, {\"a"]
    {
        assert_eq!(found(text), told, "{text}");
    }
}

#[test]
fn what_only_looks_like_json_is_not_taken_for_it() {
    for text in [
        "[{\"a\": 1} {\"a\": 2}]",
        "{\"a\": [1, 2, oops]}",
        "{\"a\": 1}\n{\"a\": 2\n",
        "\"just a text\"",
    ] {
        assert_eq!(found(text), "text", "{text}");
    }
    let log: Vec<String> =
        (0..9).map(|n| format!("[2026-01-01 12:00:0{n}] INFO {{\"a\": {n}}}")).collect();
    let log = log.join("\n");
    assert!(found(&log).starts_with("log\n$ list 9"), "{}", found(&log));
}

#[test]
fn a_list_longer_than_a_window_is_described_as_a_short_one_is() {
    // Two windows and a half, with what is in the one and not in the other.
    let record = |number: usize| {
        let more = if number.is_multiple_of(5) { r#","even":[1,{"a":"]}"}]"# } else { "" };
        format!(r#"{{"id":{number},"text":"{} \"]}}, {{"{more}}}"#, "x".repeat(2_000))
    };
    let count = 40_000;
    let records: Vec<String> = (0..count).map(record).collect();
    let list = format!("[{}]", records.join(" ,\n"));
    let facts = |text: String| {
        let payload = Mapped::from(text.into_bytes());
        crate::profile::of_payload(0, &payload, crate::profile::Inference::default())
    };
    let profile = facts(list.clone());
    let table = profile.main().unwrap();
    assert_eq!((table.path.as_str(), table.records), ("$", count as u64));
    let field = |name: &str| table.fields.iter().find(|field| field.name == name).unwrap();
    assert_eq!(field("id").distinct, Some(crate::table::Count::Exactly(count as u64)));
    assert_eq!(field("even").present, count as u64 / 5);
    // What is wrong behind the first window is seen.
    assert_eq!(
        facts(list.replacen(r#""id":39999"#, r#""id":039999"#, 1)).main().map(|it| it.records),
        None
    );
}
