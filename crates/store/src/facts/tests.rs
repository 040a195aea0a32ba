use serde_json::json;

use super::*;
use crate::{DatasetId, Metadata};

/// Metadata files that the last version without these types has written.
const BEFORE: [(&str, &str); 3] = [
    ("zc3esdks", include_str!("before/dataset_zc3esdks_metadata.json")),
    ("thtd682y", include_str!("before/dataset_thtd682y_metadata.json")),
    ("fdfkvxjk", include_str!("before/dataset_fdfkvxjk_metadata.json")),
];

fn before(index: usize) -> Metadata {
    let (id, text) = BEFORE[index];
    Metadata::read(text.as_bytes(), &DatasetId::parse(id).unwrap()).unwrap()
}

#[test]
fn what_the_version_before_has_written_is_read_and_written_the_same() {
    for (index, (id, text)) in BEFORE.iter().enumerate() {
        let metadata = before(index);
        assert!(metadata.description.facts.others.is_empty(), "{id}: every key is known");
        let written: Value = serde_json::from_slice(&metadata.to_text().unwrap()).unwrap();
        let mut expected: Value = serde_json::from_str(text).unwrap();
        expected["checksum"] = written["checksum"].clone();
        assert_eq!(written, expected, "{id}");
    }
}

#[test]
fn facts_of_records_that_the_version_before_has_written_are_found() {
    let metadata = before(0);
    let facts = &metadata.description.facts;
    assert!(matches!(facts.arguments_hash, Some(Hash::Told(_))));
    assert_eq!(facts.format.as_deref(), Some("json"));
    assert_eq!((metadata.session().is_some(), metadata.project()), (true, Some("/tmp/fx")));
    let names: Vec<&str> = facts.tables().iter().filter_map(|it| it.name.as_deref()).collect();
    assert_eq!(names, ["", "shops", "lines", "prices"]);
    let orders = &facts.tables()[0];
    assert_eq!((orders.path.as_str(), orders.records, &orders.within), ("$.orders", 60, &None));
    let field = |name: &str| orders.fields.iter().find(|field| field.name() == name).unwrap();
    assert_eq!(field("at").local_column.as_deref(), Some("at_local"));
    assert_eq!(field("Name").column(), "Name_2");
    assert_eq!(field("customer").fields[1].name(), "mail");
    assert_eq!(field("odd").kind, Type::Known(Kind::Json));
    assert_eq!(field("tags").items.as_ref().unwrap().kind, Type::Known(Kind::String));
    assert!(orders.fields.iter().all(|field| field.others.is_empty()), "every key is known");
    let [lines, prices] = &facts.tables()[2..] else { panic!() };
    let within = lines.within.as_ref().unwrap();
    assert_eq!((within.parent, within.of), (0, Form::List));
    let within = prices.within.as_ref().unwrap();
    assert_eq!((within.of, within.value_is_plain), (Form::Map, Some(true)));
}

#[test]
fn facts_of_a_text_and_of_a_query_that_the_version_before_has_written_are_found() {
    let metadata = before(1);
    let facts = &metadata.description.facts;
    assert_eq!(facts.arguments_hash, Some(Hash::Withheld));
    assert_eq!((facts.tables(), facts.are_of_rows()), (&[][..], false));
    let Some(Summary::Text(text)) = &metadata.description.summary else { panic!() };
    assert_eq!((text.lines, text.headings[1].line, text.heading_count), (176, 23, 8));
    let metadata = before(2);
    let facts = &metadata.description.facts;
    assert!(facts.are_of_rows() && facts.tables.is_none());
    assert_eq!(facts.query.as_deref(), Some("SELECT * FROM range(5000) t(n)"));
    let schema = metadata.description.schema.unwrap();
    assert_eq!(schema.fields[0].kind, Type::Other("BIGINT".to_owned()));
}

#[test]
fn what_a_later_version_adds_is_kept_as_it_stands() {
    let written = json!({
        "arguments": null, "colour": "blue", "format": "json",
        "tables": [{"fields": [{"name": "a", "type": "decimal", "unit": {"of": "money"}}],
                    "kind": "list", "path": "$", "records": 1, "shape": [1, 2]}],
        "template": {"holes": [{"as": "part", "at": 0, "bytes": 1, "from": 2, "part": 0}], "text": ""},
    });
    let facts: Facts = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(facts.tables()[0].fields[0].kind, Type::Other("decimal".to_owned()));
    let mut expected = written;
    // One of the first versions called it so.
    expected["template"]["holes"][0]["as"] = "json".into();
    assert_eq!(serde_json::to_value(&facts).unwrap(), expected);
}
