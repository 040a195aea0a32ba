//! What pages are asked for: what they refuse, and where their own links lead.

use serde_json::{Value, json};

use super::{Answer, Page, index, keep, keep_file, looking::encoded};

/// What is asked for, with the reason for which it is refused, on the page and by its twin.
fn refused(page: &Page, path: &str) -> String {
    let (place, parameters) = path.split_once('?').unwrap();
    let shown = page.get(path);
    assert_eq!(shown.head.status, 400, "{path}: {}", shown.text);
    let twin = page.get(&format!("{place}.json?{parameters}"));
    assert_eq!(twin.head.status, 400, "{path}: {}", twin.text);
    let told: Value = serde_json::from_str(&twin.text).unwrap();
    let why = told["error"].as_str().unwrap_or_else(|| panic!("{path}: {told}")).to_owned();
    assert!(shown.text.contains(&why), "{path}: {why}: {}", shown.text);
    why
}

/// The addresses of the links that a text has before a mark.
fn links<'t>(shown: &'t Answer, mark: &str) -> Vec<&'t str> {
    let link = |part: &'t str| {
        let (_, link) = part.rsplit_once("href=\"")?;
        link.split('"').next()
    };
    let parts: Vec<&str> = shown.text.split(mark).collect();
    parts[..parts.len() - 1].iter().filter_map(|part| link(part)).collect()
}

/// A link of a page's, as a browser reads it.
fn followed(link: &str) -> String {
    link.replace("&#38;", "&").replace("&amp;", "&")
}

#[test]
fn a_parameter_that_no_page_knows_is_refused_by_all() {
    let page = Page::of(&[("records", 60)]);
    let id = page.ids().remove(0);
    let of_dataset = ["", "/rows", "/fields", "/sql", "/original", "/delete"];
    let of_dataset = of_dataset.map(|below| format!("/dataset/{id}{below}"));
    let others = ["/now", "/now/calls", "/shelf", "/savings", "/servers", "/settings", "/doctor"];
    for path in of_dataset.into_iter().chain(others.map(str::to_owned)) {
        let why = refused(&page, &format!("{path}?colour=red"));
        assert!(why.starts_with("There is no parameter colour: "), "{path}: {why}");
    }
    for below in ["chart.svg?x=id&", "export?form=csv&", "file/0?", "rows?field=id&op=eq&value=1&"]
    {
        let answer = page.get(&format!("/dataset/{id}/{below}colour=red"));
        assert_eq!(answer.head.status, 400, "{below}: {}", answer.text);
    }
}

#[test]
fn what_lies_past_the_end_is_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("forebay.toml"), "[search]\nembedder = \"none\"\n").unwrap();
    keep(home.path(), &[("records", 60)]);
    index(home.path());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let at = format!("/dataset/{id}");
    for limit in ["0", "501"] {
        let why = refused(&page, &format!("{at}/rows?limit={limit}"));
        assert_eq!(why, "Limit is 1 to 500.");
    }
    assert_eq!(page.json(&format!("{at}/rows.json?limit=500"))["per_page"], 500);
    let why = refused(&page, &format!("{at}/original?from=999999999"));
    assert!(why.starts_with("That is past the end: it has "), "{why}");
    assert_eq!(refused(&page, "/shelf?page=99"), "There is no page 99: 1 dataset on 1 page.");
    // What is sought stands on one page, and is not sought for another.
    let why = refused(&page, "/shelf?q=records&page=2");
    assert_eq!(why, "What is found stands on one page: the best 50 of all that fits.");
    let shown = page.get("/shelf?q=records&page=2");
    assert_eq!(links(&shown, ">Back</a>"), ["/shelf?q=records"]);
    assert_eq!(page.json("/shelf.json?q=records&page=1")["page"], 1);

    let many = (0..250).map(|column| format!("{column} AS c{column}")).collect::<Vec<_>>();
    let sql = encoded(&format!("SELECT {}", many.join(", ")));
    let part = page.json(&format!("{at}/sql.json?sql={sql}&columns=101"))["result"].clone();
    assert_eq!(
        (&part["columns"][0]["name"], &part["rows"][0][0], &part["first_column"]),
        (&json!("c100"), &json!(100), &json!(100))
    );
    assert_eq!(
        (part["rows"][0].as_array().unwrap().len(), &part["column_count"]),
        (100, &250.into())
    );
    let shown = page.get(&format!("{at}/sql?sql={sql}&columns=101"));
    assert!(shown.text.contains("Columns 101–200 of 250 columns"), "{}", shown.text);
    let next = followed(links(&shown, ">Next columns →").remove(0));
    assert!(page.get(&next).text.contains("Columns 201–250 of 250 columns"), "{next}");
    let why = refused(&page, &format!("{at}/sql?sql={sql}&columns=251"));
    assert_eq!(why, "That is past the end: there are 250 columns.");
}

/// Records of which some have no note, and few values are told apart.
fn of_notes() -> String {
    let note = |id: u64| match id % 4 {
        0 => Value::Null,
        1 => json!(""),
        _ => json!("seen"),
    };
    let record = |id: u64| {
        let letter =
            ["a", "b", "c", "d", "e", "f", "g", "h"][usize::try_from(id % 36).unwrap() / 5];
        json!({"id": id, "note": note(id), "is_late": id.is_multiple_of(3), "level": id % 5, "letter": letter})
    };
    serde_json::to_string(&(0..90).map(record).collect::<Vec<_>>()).unwrap()
}

/// That the frequent values of rows are those that a query counts, of these fields.
fn assert_counted(page: &Page, id: &str, fields: &[&str]) {
    for (filter, condition) in [("", "true"), ("where=gt:id=10", "id > 10")] {
        let told = page.json(&format!("/dataset/{id}/rows.json?{filter}"))["facets"].clone();
        let names: Vec<&str> =
            told.as_array().unwrap().iter().map(|it| it["field"].as_str().unwrap()).collect();
        assert_eq!(names, fields);
        for facet in told.as_array().unwrap() {
            let name = facet["field"].as_str().unwrap();
            let sql = format!(
                "SELECT CAST({name} AS VARCHAR), count(*) FROM dataset WHERE {condition} GROUP BY 1 \
                 ORDER BY 2 DESC, 1"
            );
            let counted = page.json(&format!("/dataset/{id}/sql.json?sql={}", encoded(&sql)));
            let counted = counted["result"]["rows"].as_array().unwrap().clone();
            let values = facet["values"].as_array().unwrap();
            let pairs: Vec<Value> =
                values.iter().map(|it| json!([it["value"], it["count"]])).collect();
            assert!(!pairs.is_empty() && pairs == counted[..pairs.len()], "{condition}: {facet}");
            assert_eq!(pairs.len() as u64 + facet["more"].as_u64().unwrap(), counted.len() as u64);
        }
    }
}

#[test]
fn frequent_values_are_those_that_a_query_counts() {
    let home = tempfile::tempdir().unwrap();
    keep_file(home.path(), &of_notes());
    let line = |id: u64| {
        let (mark, count) = (["NA", "", "seen", "new"][(id % 4) as usize], id % 7);
        format!("{id},{mark},{count},{}\n", ["yes", "no", "No"][(id % 3) as usize])
    };
    let lines: String = (0..90).map(line).collect();
    keep_file(home.path(), &format!("id,mark,count,answer\n{lines}"));
    let page = Page::at(home);
    let ids = page.ids();
    assert_counted(&page, &ids[0], &["mark", "count", "answer"]);
    assert_counted(&page, &ids[1], &["is_late", "letter", "level", "note"]);

    let rows = format!("/dataset/{}/rows", ids[1]);
    let whole = page.json(&format!("{rows}.json"))["facets"].clone();
    assert_eq!(whole[3]["values"][2], json!({"value": null, "count": 23}), "{whole}");
    // Each leads to the rows that have the value, and back.
    let shown = page.get(&rows);
    let chosen = followed(links(&shown, "><span class=\"name\"><i>no value</i>").remove(0));
    let of_none = page.get(&chosen);
    assert!(of_none.text.contains("of 23 rows"), "{chosen}: {}", of_none.text);
    assert_eq!(links(&of_none, " <span aria-hidden=\"true\">×"), [rows.as_str()]);
    let mark = " aria-current=\"true\"><span class=\"name\"><i>no value</i>";
    assert_eq!(links(&of_none, mark), [rows.as_str()]);
}

#[test]
fn rows_whose_fields_are_called_otherwise_in_sql_are_shown() {
    let home = tempfile::tempdir().unwrap();
    let record = |id: u64| {
        let item = |at: u64| {
            let (one, other) =
                (["a", "b"][(at % 2) as usize], ["c", "d"][((at + id) % 2) as usize]);
            json!({"Status": one, "status": other, "": at % 2, "hid\u{202e}den": at % 2})
        };
        json!({"id": id, "customer": {"name": format!("customer {id}")}, "items": [item(0), item(1)]})
    };
    let records: Vec<Value> = (1..=40).map(record).collect();
    keep_file(home.path(), &serde_json::to_string(&records).unwrap());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let rows = format!("/dataset/{id}/rows");
    let found = page.json(&format!("{rows}.json?table=items"));
    assert_eq!(found["total"], 80);
    let facets = found["facets"].as_array().unwrap();
    let told: Vec<&str> = facets.iter().map(|it| it["field"].as_str().unwrap()).collect();
    // In the order in which the text has them.
    assert_eq!(told, ["", "Status", "hid\u{202e}den", "status"]);
    for facet in facets {
        assert_eq!(facet["values"][0]["count"], 40, "{facet}");
    }
    let shown = page.get(&format!("{rows}?table=items"));
    let facets = links(&shown, "><span class=\"name\">");
    assert_eq!(facets.len(), 8, "{}", shown.text);
    for link in facets {
        let fitting = page.get(&followed(link));
        assert_eq!(fitting.head.status, 200, "{link}: {}", fitting.text);
        assert!(fitting.text.contains("of 40 rows"), "{link}: {}", fitting.text);
        assert!(fitting.text.contains("aria-current=\"true\"><span class=\"name\">"), "{link}");
    }
}

#[test]
fn every_filter_can_be_taken_away_however_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    keep_file(home.path(), &of_notes());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let rows = format!("/dataset/{id}/rows");
    for written in ["is_null:note", "is_null:note=", "is_null:note=true", "is_null:no%2574e"] {
        let shown = page.get(&format!("{rows}?where={written}&limit=10"));
        assert!(shown.text.contains("of 23 rows"), "{written}: {}", shown.text);
        let away = links(&shown, " <span aria-hidden=\"true\">×");
        assert_eq!(away, [format!("{rows}?limit=10")], "{written}");
    }
    // Nothing that stood in the form for another operator is asked of “has no value”.
    let kept = page.get(&format!("{rows}?field=note&op=is_null&value=abc&limit=10"));
    let place = kept.head.header("location").unwrap();
    assert!(page.get(place).text.contains("of 23 rows"), "{place}");
    let refused = page.get(&format!("{rows}?where=is_null:nothing"));
    assert_eq!(refused.head.status, 400);
    assert!(refused.text.contains("placeholder=\"value\" value=\"\""), "{}", refused.text);
}

#[test]
fn rows_say_where_they_stand_in_the_original() {
    let home = tempfile::tempdir().unwrap();
    keep_file(home.path(), &of_notes());
    let page = Page::at(home);
    let id = page.ids().remove(0);
    let found = page.json(&format!("/dataset/{id}/rows.json?where=gte:id=88"));
    assert_eq!(found["numbers"], json!([89, 90]));
    let payload = of_notes();
    for (at, number) in [(0, 88), (1, 89)] {
        let place = usize::try_from(found["places"][at].as_u64().unwrap()).unwrap();
        assert!(payload[place..].starts_with('{'), "{place}");
        assert!(payload[place..].contains(&format!("\"id\":{number},")), "{place}");
    }
}

#[test]
fn the_twin_of_a_page_is_asked_for_the_same() {
    let page = Page::of(&[("nested", 60)]);
    let id = page.ids().remove(0);
    let tables = page.json(&format!("/dataset/{id}.json"))["dataset"]["tables"].clone();
    let inner = tables[1]["suffix"].as_str().unwrap();
    let at = format!("/dataset/{id}");
    for (path, parameters) in [
        (format!("{at}/fields"), format!("table={inner}&page=1")),
        (format!("{at}/rows"), format!("table={inner}&limit=7")),
        (format!("{at}/sql"), "sql=SELECT%201".to_owned()),
        ("/savings".to_owned(), "days=7&price=3".to_owned()),
        ("/shelf".to_owned(), "tool=nested".to_owned()),
    ] {
        let shown = page.get(&format!("{path}?{parameters}"));
        let twin = followed(links(&shown, ">JSON</a>").remove(0));
        assert_eq!(twin, format!("{path}.json?{parameters}"));
        page.json(&twin);
    }
    let shown = page.get(&format!("{at}/rows")).text;
    assert!(
        shown.contains("<details class=\"kind\"><summary>"),
        "what is in a type is there: {shown}"
    );
    assert!(!shown.contains("class=\"kind\" title="), "{shown}");
}

#[test]
fn a_refused_change_leads_back_to_where_it_was_asked_for() {
    let page = Page::of(&[("records", 60)]);
    let id = page.ids().remove(0);
    let at = format!("/dataset/{id}");
    for (path, form, status, back) in [
        (format!("{at}/tag"), "tag=%3Cb%3E", 400, at.as_str()),
        (format!("{at}/tag"), "tag=%3Cb%3E&back=/shelf?tool=records", 400, "/shelf?tool=records"),
        (format!("{at}/tag"), "tag=%3Cb%3E&back=//evil.example", 400, at.as_str()),
        ("/shelf".to_owned(), "what=pin&back=/shelf?sort=size", 400, "/shelf?sort=size"),
        ("/shelf".to_owned(), "what=pin", 400, "/shelf"),
        ("/servers".to_owned(), "restart=none", 400, "/servers"),
    ] {
        let answer = page.post(&path, form);
        assert_eq!(answer.head.status, status, "{path} {form}: {}", answer.text);
        assert!(answer.text.contains("Nothing was changed"), "{path} {form}: {}", answer.text);
        assert_eq!(links(&answer, ">Back</a>"), [back], "{path} {form}");
    }
}
