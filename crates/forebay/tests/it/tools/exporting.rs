//! `export-dataset` and `visualize-dataset`.

use std::{fs, path::PathBuf};

use forebay_testkit::real;
use serde_json::{Value, json};

use super::{Client, Reply};

/// The file that a reply links to: it says where it is, too.
pub(crate) fn linked(reply: &Reply) -> PathBuf {
    let blocks = reply.result["content"].as_array().unwrap();
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
    let id = link["uri"].as_str().unwrap().strip_prefix("forebay://dataset/").unwrap();
    let id = id.strip_suffix("?block=0").unwrap();
    let (_, place) = reply.text(0).split_once(&format!("{id}, ")).unwrap();
    let end = place.find(['(', ';', ' ']).unwrap_or(place.len());
    let path = PathBuf::from(place[..end].trim_end_matches(['.', ' ']));
    assert_eq!(link["size"], fs::metadata(&path).unwrap().len());
    path
}

#[test]
fn a_dataset_becomes_a_file_of_every_form_and_none_is_written_over() {
    let mut client = Client::new("export");
    let id = client.keep_orders(450);
    let mut export = |format: &str| {
        let reply = client.call("export-dataset", &json!({"dataset_id": id, "format": format}));
        assert!(!reply.is_error(), "{reply:?}");
        let path = linked(&reply);
        assert!(reply.text(0).starts_with("450 rows written to dataset_"), "{reply:?}");
        (path.clone(), fs::read(path).unwrap())
    };
    let (path, csv) = export("csv");
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 451);
    assert!(csv.contains(r#""[{""count"":3,""sku"":""sku-3""}]""#), "nested values are JSON");
    assert_ne!(export("csv").0, path);
    assert_eq!(fs::read_to_string(&path).unwrap(), csv, "the first is as it was");
    let list: Value = serde_json::from_slice(&export("json").1).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 450);
    assert_eq!(list[3]["items"][0]["sku"], "sku-3");
    assert_eq!(String::from_utf8(export("ndjson").1).unwrap().lines().count(), 450);
    assert!(export("parquet").1.starts_with(b"PAR1"));
    assert!(export("xlsx").1.starts_with(b"PK"));
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o077, 0, "for its owner alone");
}

#[test]
fn a_query_becomes_a_file_too() {
    let mut client = Client::new("export_query");
    let id = client.keep_orders(450);
    let query = format!("SELECT status, count(*) AS n FROM {id} GROUP BY 1 ORDER BY 1;");
    let reply = client.call("export-dataset", &json!({"query": query, "format": "csv"}));
    assert_eq!(
        fs::read_to_string(linked(&reply)).unwrap(),
        "status,n\nopen,150\npaid,150\nsent,150\n"
    );
    let neither = client.call("export-dataset", &json!({"format": "csv"}));
    assert!(neither.error().contains("query or dataset_id"), "{}", neither.error());
}

/// Reads a workbook without any library.
const WORKBOOK: &str = r#"
import sys, zipfile, xml.etree.ElementTree as tree
book = zipfile.ZipFile(sys.argv[1])
name = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
rows = list(tree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(name + "row"))
texts = lambda row: ["".join(cell.itertext()) for cell in row]
print(len(rows), texts(rows[1])[0], texts(rows[1])[3])
"#;

#[test]
fn a_workbook_can_be_read_by_others() {
    let Some(python) = real::python("a_workbook_can_be_read_by_others") else { return };
    let mut client = Client::new("workbook");
    let id = client.keep_orders(450);
    let query = format!("SELECT id, customer, status, total FROM {id} ORDER BY id DESC");
    let reply = client.call("export-dataset", &json!({"query": query, "format": "xlsx"}));
    let words = python.module("json");
    let output = std::process::Command::new(&words[0])
        .args(["-c", WORKBOOK])
        .arg(linked(&reply))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "451 449 673.5", "{output:?}");
}

#[test]
fn a_workbook_keeps_what_is_no_number_and_what_is_too_long_for_one() {
    let Some(python) = real::python("a_workbook_keeps_what_is_no_number") else { return };
    let mut client = Client::new("workbook_numbers");
    let query = "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, 12345678901234567890123::HUGEINT AS c, 'last' AS d";
    let reply = client.call("export-dataset", &json!({"query": query, "format": "xlsx"}));
    let words = python.module("json");
    let script = WORKBOOK.replace("texts(rows[1])[0], texts(rows[1])[3]", "*texts(rows[1])");
    let output = std::process::Command::new(&words[0])
        .args(["-c", &script])
        .arg(linked(&reply))
        .output()
        .unwrap();
    let said = "In the file: 1 number with more digits than a workbook keeps, as text.";
    assert!(reply.text(0).ends_with(said), "{}", reply.text(0));
    let expected = "2 NaN Infinity 12345678901234567890123 last";
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
}

#[test]
fn a_workbook_has_dates_that_are_dates() {
    let Some(python) = real::python("a_workbook_has_dates_that_are_dates") else { return };
    let mut client = Client::new("workbook_dates");
    let query = "SELECT DATE '2025-03-01' AS a, TIMESTAMP '2025-03-01 06:00:00' AS b, \
                 TIMESTAMPTZ '2025-03-01 18:00:00.250001+00' AS c, DATE '1815-06-18' AS d, \
                 NULL::DATE AS e, -1.5 AS f";
    let reply = client.call("export-dataset", &json!({"query": query, "format": "xlsx"}));
    let said = "In the file: 1 date outside of 1900 to 9999, as text; 1 time without what is finer \
                than a millisecond; times without a zone (b): those that had one are in UTC.";
    assert!(reply.text(0).ends_with(said), "{}", reply.text(0));
    // What is written, and how it is shown.
    let script = WORKBOOK.replace("texts(rows[1])[0], texts(rows[1])[3]", "*texts(rows[1])")
        + r#"
styles = tree.fromstring(book.read("xl/styles.xml"))
formats = {one.get("numFmtId"): one.get("formatCode") for one in styles.iter(name + "numFmt")}
shown = [formats.get(one.get("numFmtId")) for one in styles.find(name + "cellXfs")]
print([shown[int(cell.get("s", 0))] for cell in rows[1]])
"#;
    let words = python.module("json");
    let output = std::process::Command::new(&words[0])
        .args(["-c", &script])
        .arg(linked(&reply))
        .output()
        .unwrap();
    let expected = "2 45717 45717.25 45717.75000289352 1815-06-18 -1.5\n\
                    ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', 'yyyy-mm-dd hh:mm:ss.000', None, None]";
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
}

#[test]
fn a_text_in_a_csv_that_a_spreadsheet_would_run_is_made_a_text_and_that_is_told() {
    let mut client = Client::new("export_formulas");
    let query = "SELECT '=cmd|''/C calc''!A0' AS a, '-5' AS b, -5 AS c, '+x' AS \"@d\"";
    let reply = client.call("export-dataset", &json!({"query": query, "format": "csv"}));
    let written = fs::read_to_string(linked(&reply)).unwrap();
    assert_eq!(written, "a,b,c,'@d\n'=cmd|'/C calc'!A0,-5,-5,'+x\n");
    let said = "In the file: 3 texts that would be a formula in a spreadsheet, with a ' before it \
                (the setting escape_formulas).";
    assert!(reply.text(0).ends_with(said), "{}", reply.text(0));
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(linked(&reply)).unwrap());
    assert_eq!(mode & 0o077, 0, "for its owner alone");
    let json = client.call("export-dataset", &json!({"query": query, "format": "json"}));
    assert!(fs::read_to_string(linked(&json)).unwrap().contains("\"=cmd"), "nothing runs there");
}

#[test]
fn a_chart_of_each_kind_is_a_picture_and_a_file() {
    let mut client = Client::new("charts");
    let id = client.keep_orders(450);
    for (chart, more) in [
        ("bar", json!({"x": "status", "y": "total"})),
        ("line", json!({"x": "ordered_at", "y": "total", "series": "status"})),
        ("scatter", json!({"x": "id", "y": "total"})),
        ("histogram", json!({"x": "total"})),
        ("heatmap", json!({"x": "status", "y": "customer", "series": "total"})),
    ] {
        let mut arguments = json!({"dataset_id": id, "chart": chart});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = client.call("visualize-dataset", &arguments);
        assert!(!reply.is_error(), "{reply:?}");
        let picture = &reply.result["content"][1];
        assert_eq!(
            (&picture["type"], &picture["mimeType"]),
            (&json!("image"), &json!("image/png"))
        );
        assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG in base64");
        assert!(picture["data"].as_str().unwrap().len() < 700_000, "within its limit");
        assert!(fs::read_to_string(linked(&reply)).unwrap().starts_with("<svg"), "{chart}");
    }
    let wrong =
        client.call("visualize-dataset", &json!({"dataset_id": id, "chart": "bar", "x": "stauts"}));
    assert!(wrong.error().contains("Did you mean status?"), "{}", wrong.error());
    let text = client.call(
        "visualize-dataset",
        &json!({"dataset_id": id, "chart": "histogram", "x": "customer"}),
    );
    assert!(text.error().contains("holds text"), "{}", text.error());
}

#[test]
fn a_chart_of_objects_or_lists_is_refused_with_what_to_draw_instead() {
    let mut client = Client::new("charts_nested");
    let id = client.keep_orders(450);
    let query = format!("SELECT {{'state': status}} AS place, items, total FROM {id}");
    let mut draw = |x: &str| {
        client.call("visualize-dataset", &json!({"query": query, "chart": "bar", "x": x}))
    };
    let objects = draw("place");
    assert!(objects.error().ends_with("write x: place.state, for one."), "{}", objects.error());
    let lists = draw("items");
    assert!(lists.error().contains("unnest(\"items\")"), "{}", lists.error());
    let member = draw("place.state");
    let svg = fs::read_to_string(linked(&member)).unwrap();
    assert!(["open", "paid", "sent"].iter().all(|it| svg.contains(it)) && !svg.contains("(null)"));
}

#[test]
fn what_a_chart_gathers_is_told_in_the_reply() {
    let mut client = Client::new("charts_notes");
    let id = client.keep_orders(450);
    let mut draw = |query: &str, chart: &str| {
        let arguments = json!({"query": query, "chart": chart, "x": "day", "y": "total"});
        let reply = client.call("visualize-dataset", &arguments);
        assert!(!reply.is_error(), "{reply:?}");
        reply.text(0).to_owned()
    };
    let days = |every: u32| {
        format!("SELECT DATE '2024-01-01' + (id // {every})::INTEGER AS day, total FROM {id}")
    };
    let line = draw(&days(9), "line");
    assert!(line.ends_with("In the chart: mean of 9 rows per day."), "{line}");
    let bars = draw(&days(1), "bar");
    assert!(bars.ends_with("In the chart: one bar per week."), "{bars}");
    let plain = draw(&days(9), "bar");
    assert!(!plain.contains("In the chart"), "{plain}");
}
