use forebay_records::{Counts, Format, Nested};

use super::*;

fn field(name: &str, kind: Kind, top: &[&str]) -> Field {
    Field {
        name: name.to_owned(),
        column: name.to_owned(),
        carried: None,
        kind,
        has_offset: false,
        local: None,
        present: 100,
        nulls: 0,
        distinct: Some(Count::Exactly(50)),
        range: None,
        top: top.iter().map(|value| ((*value).to_owned(), 2)).collect(),
        longest: 10,
        kinds: Vec::new(),
        inside: Nested::default(),
    }
}

fn queries(fields: Vec<Field>) -> Vec<String> {
    let table = Table {
        path: "$".to_owned(),
        kind: "list",
        header: None,
        records: 100,
        observed: 100,
        fields,
        other_fields: 0,
        skipped: 0,
        repeated: 0,
        samples: Vec::new(),
        within: None,
        without: None,
    };
    let profile = Profile {
        payload: 0,
        format: Format::Json,
        tables: vec![table],
        envelope: Vec::new(),
        counts: Counts::default(),
        outline: None,
    };
    let id = DatasetId::parse("dataset_k3v9x2ma").unwrap();
    of(&id, &profile).into_iter().map(|query| query.replace(id.as_str(), "d")).collect()
}

#[test]
fn names_and_values_are_quoted_where_they_must_be() {
    let cases = [
        ("status", "open", "status = 'open'"),
        ("Last_Name2", "O'Brien", "Last_Name2 = 'O''Brien'"),
        ("group", "''", "\"group\" = ''''''"),
        ("LEFT", "", "\"LEFT\" = ''"),
        ("2nd name", "a \"b\"", "\"2nd name\" = 'a \"b\"'"),
        ("say \"hi\"", "\\'; DROP", "\"say \"\"hi\"\"\" = '\\''; DROP'"),
        ("Straße", "日本語 ✓", "\"Straße\" = '日本語 ✓'"),
        ("a.b", "50%", "\"a.b\" = '50%'"),
        ("-- x", "/* */", "\"-- x\" = '/* */'"),
    ];
    for (name, value, condition) in cases {
        let column = condition.split(" = ").next().unwrap();
        let expected = [
            format!("SELECT * FROM d WHERE {condition} LIMIT 10"),
            format!(
                "SELECT {column}, count(*) FROM d GROUP BY {column} ORDER BY count(*) DESC LIMIT 20"
            ),
        ];
        assert_eq!(queries(vec![field(name, Kind::String, &[value])]), expected);
    }
    for (kind, value, literal) in [(Kind::Integer, "-7", "-7"), (Kind::Boolean, "TRUE", "true")] {
        let query = queries(vec![field("flag", kind, &[value])]).remove(0);
        assert_eq!(query, format!("SELECT * FROM d WHERE flag = {literal} LIMIT 10"));
    }
}

#[test]
fn what_cannot_be_shown_as_it_is_stands_in_no_query() {
    let long = "x".repeat(61);
    for name in ["", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a\u{2028}b", &long] {
        let fields = vec![field(name, Kind::String, &["x"]), field(name, Kind::Float, &[])];
        assert_eq!(queries(fields), ["SELECT * FROM d LIMIT 10"], "{name:?}");
    }
    for value in ["a\nb", "a\u{200b}b", &long] {
        let found = queries(vec![field("status", Kind::String, &[value])]);
        let grouping =
            "SELECT status, count(*) FROM d GROUP BY status ORDER BY count(*) DESC LIMIT 20";
        assert_eq!(found, [grouping], "{value:?}");
    }
}

#[test]
fn a_fraction_is_measured_before_a_whole_number_and_an_id_never() {
    let measured = |names: &[(&str, Kind)]| {
        let fields = names.iter().map(|(name, kind)| field(name, *kind, &[])).collect();
        queries(fields).remove(0)
    };
    let (id, name, whole) =
        (("id", Kind::Integer), ("customerID", Kind::Integer), ("items", Kind::Integer));
    let total = ("total", Kind::Float);
    let found = measured(&[id, name, whole, total]);
    assert_eq!(found, "SELECT min(total), avg(total), max(total) FROM d");
    let found = measured(&[id, name, whole]);
    assert_eq!(found, "SELECT min(items), avg(items), max(items) FROM d");
    assert_eq!(measured(&[id, name]), "SELECT * FROM d LIMIT 10");
}
