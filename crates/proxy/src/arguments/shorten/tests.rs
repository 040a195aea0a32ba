//! Arguments in, shorter ones out, which are JSON and say what is missing.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn shortened(json: &str) -> Vec<u8> {
    let mut shortener = Shortener::default();
    shortener.push(json.as_bytes());
    shortener.finish()
}

fn value(json: &str) -> Value {
    serde_json::from_slice(&shortened(json)).unwrap()
}

#[test]
fn a_long_argument_hides_no_other() {
    let ids: Vec<u32> = (0..10_000).collect();
    let short =
        value(&json!({"a": "x", "ids": ids, "page": 2, "q": "ä".repeat(9_000)}).to_string());
    assert_eq!((&short["a"], &short["page"]), (&json!("x"), &json!(2)));
    let kept = short["ids"].as_array().unwrap();
    assert_eq!((&kept[0], &kept[99]), (&json!(0), &json!(99)));
    assert_eq!(kept.last().unwrap(), "… (48891 bytes)");
    let text = short["q"].as_str().unwrap();
    assert!(text.starts_with("ää") && text.ends_with("ä… (18002 bytes)"), "{text}");
}

#[test]
fn what_is_cut_is_cut_between_values_or_characters() {
    let pad = "x".repeat(ARGUMENT_BYTES - 20);
    for rest in [
        r#""\ud83c\udf0a\ud83c\udf0a""#,
        r#"{"k":{"long name":[1,2,[3]]}}"#,
        r#"[true,false,null,-1.5e7,"\\\"",{"a":[]}]"#,
        "123456789012345678901234567890",
        r#"{"\u00e4\u00e4\u00e4\u00e4":1,"b":2,"c":{}}"#,
    ] {
        for cut in 0..30 {
            let json = format!(r#"{{"a":["{}",{rest},0,0,0,0,0,0,0,0,0,0,0]}}"#, &pad[cut..]);
            let short = value(&json);
            assert_eq!(short["a"][0], pad[cut..], "{json}");
        }
    }
}

#[test]
fn arguments_that_are_too_many_are_counted() {
    let many: serde_json::Map<String, Value> =
        (0..5_000).map(|n| (format!("argument {n:04}"), n.into())).collect();
    let short = value(&Value::from(many).to_string());
    let kept = short.as_object().unwrap().len() - 1;
    assert!(kept > 500, "{kept}");
    assert_eq!(short["…"], format!("({} more)", 5_000 - kept));
}

#[test]
fn what_is_no_object_is_shortened_too() {
    assert_eq!(value(&"7".repeat(20_000)), "… (20000 bytes)");
    assert_eq!(value("[1, 2]"), json!([1, 2]));
    assert_eq!(value(" {} "), json!({}));
    let texts = value(&json!(["x".repeat(600), "y".repeat(600)]).to_string());
    assert!(texts[1].as_str().unwrap().ends_with("y… (1207 bytes)"), "{texts}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "(\\PC|[\"\\\\\n\u{1}😀ä]){0,700}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,30}", inner, 0..8).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_stays_json_within_bounds(
        json in any_json(), is_pretty in any::<bool>(), split in 1_usize..64,
    ) {
        let text = if is_pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) };
        let text = text.unwrap();
        let mut shortener = Shortener::default();
        for chunk in text.as_bytes().chunks(split) {
            shortener.push(chunk);
        }
        let short = shortener.finish();
        prop_assert_eq!(&short, &shortened(&text));
        prop_assert!(short.len() <= TOTAL_BYTES + 100);
        let read: Value = serde_json::from_slice(&short).unwrap();
        if let Value::Object(members) = &json {
            for (name, member) in members {
                if serde_json::to_string(&json!({name.as_str(): member})).unwrap().len() < ARGUMENT_BYTES {
                    prop_assert_eq!(&read[name], member);
                }
            }
        } else if json.to_string().len() < ARGUMENT_BYTES {
            prop_assert_eq!(read, json);
        }
    }
}
