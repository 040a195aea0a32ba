//! Every fact that a scan yields is checked against what `serde_json` reads in the same bytes.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

const KEYS: [&str; 4] = ["id", "method", "params", "\u{e9}"];

fn scan_in_chunks(json: &[u8], chunk_bytes: usize) -> Outline<4> {
    let mut scanner = Scanner::new(KEYS);
    for chunk in json.chunks(chunk_bytes) {
        scanner.push(chunk);
    }
    scanner.finish()
}

/// The members of an object in their order, by `serde_json`.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((key, value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// JSON text: any order and spelling of keys, any numbers, escapes, white space and nesting.
fn json_text() -> impl Strategy<Value = String> {
    let space = r"[ \t]{0,2}";
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        json_string(),
    ];
    scalar.prop_recursive(5, 40, 6, move |inner| {
        let pair = (space, json_key(), space, inner.clone(), space)
            .prop_map(|(a, key, b, value, c)| format!("{a}{key}{b}:{value}{c}"));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(pair, 0..6).prop_map(|pairs| format!("{{{}}}", pairs.join(","))),
        ]
    })
}

fn json_string() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just(r#"\""#.to_owned()),
            Just(r"\\".to_owned()),
            Just(r"\/".to_owned()),
            Just(r"\u00e9".to_owned()),
            Just(r"\ud83d\ude00".to_owned()),
            "[a-z{}\\[\\]:,漢 ]{1,9}",
        ],
        0..12,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn json_key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#""id""#.to_owned()),
        Just(r#""\u0069d""#.to_owned()),
        Just(r#""method""#.to_owned()),
        Just(r#""params""#.to_owned()),
        Just("\"\u{e9}\"".to_owned()),
        Just(r#""\u00e9""#.to_owned()),
        json_string(),
    ]
}

proptest! {
    #[test]
    fn the_scan_finds_what_a_parser_finds(json in json_text(), chunk in 1_usize..40) {
        let outline = scan_in_chunks(json.as_bytes(), chunk);
        prop_assert_eq!(&outline, &super::outline(json.as_bytes(), KEYS));
        match serde_json::from_str::<Members>(&json) {
            Ok(Members(members)) => {
                let Outline::Object(object) = outline else {
                    return Err(TestCaseError::fail(format!("{outline:?}")));
                };
                for (found, key) in object.members.iter().zip(KEYS) {
                    let expected = members.iter().rfind(|(name, _)| name == key).map(|(_, v)| *v);
                    let text = found.as_ref().and_then(|v| slice(json.as_bytes(), &v.span));
                    prop_assert_eq!(text, expected.map(str::as_bytes));
                    let is_scalar = expected.is_some_and(|text| !text.starts_with(['{', '[']));
                    let scalar = found.as_ref().and_then(|v| v.scalar.as_deref());
                    prop_assert_eq!(scalar, expected.filter(|_| is_scalar).map(str::as_bytes));
                }
            }
            Err(_) if json.starts_with('[') => {
                let items: Vec<&RawValue> = serde_json::from_str(&json).unwrap();
                let expected: Vec<&str> =
                    items.iter().map(|item| item.get()).filter(|i| i.starts_with('{')).collect();
                let Outline::Array(objects) = outline else {
                    return Err(TestCaseError::fail(format!("{outline:?}")));
                };
                let found: Vec<&str> = objects
                    .iter()
                    .map(|o| std::str::from_utf8(slice(json.as_bytes(), &o.span).unwrap()).unwrap())
                    .collect();
                prop_assert_eq!(found, expected);
            }
            Err(_) => prop_assert_eq!(outline, Outline::Other),
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), chunk in 1_usize..70) {
        let whole = outline(&bytes, KEYS);
        prop_assert_eq!(scan_in_chunks(&bytes, chunk), whole);
    }
}

#[test]
fn ten_thousand_levels_are_one_value() {
    let many = |count| format!("[{}]", vec!["{}"; count].join(","));
    assert!(
        matches!(outline(many(10_000).as_bytes(), KEYS), Outline::Array(all) if all.len() == 10_000)
    );
    assert_eq!(outline(many(10_001).as_bytes(), KEYS), Outline::Crowd, "not a part for the whole");
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let json = format!(r#"{{"params":{deep},"id":7}}"#);
    let [id, _, params, _] = members(json.as_bytes(), KEYS);
    assert_eq!(id, Some(b"7".as_slice()));
    assert_eq!(params.map(<[u8]>::len), Some(deep.len()));
}

#[test]
fn what_is_no_object_or_array_is_other() {
    for text in ["oops", "{\"id\":1", "{\"id\" 1}", "{} {}", "[1,]", "{,}", "42", "\"id\""] {
        assert_eq!(outline(text.as_bytes(), KEYS), Outline::Other, "{text}");
    }
    assert_eq!(outline(b" \r\n", KEYS), Outline::Blank);
}

#[test]
fn a_scalar_too_long_to_keep_is_still_found() {
    let json = format!(r#"{{"id":"{}"}}"#, "x".repeat(MAX_SCALAR_BYTES));
    let Outline::Object(object) = outline(json.as_bytes(), KEYS) else { panic!() };
    let id = object.members[0].as_ref().unwrap();
    assert_eq!(id.scalar, None);
    assert_eq!(id.span, 6..json.len() as u64 - 1);
}
