use serde_json::json;

use super::*;

#[test]
fn a_list_is_read_where_it_ends() {
    let json = br#"{"tools":[{"name":"a"},{"name":"b"}] ,"nextCursor":null}"#;
    let list = List::read(json).unwrap();
    let names = list.names.iter().map(|named| (named.name.as_str(), &json[named.span.clone()]));
    let expected: [(&str, &[u8]); 2] = [("a", br#""a""#), ("b", br#""b""#)];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert!(!list.has_next);
    assert_eq!(json[list.end], b']');
    assert!(List::read(br#"{"tools":[],"nextCursor":"x"}"#).unwrap().has_next);
    assert!(List::read(br#"{"tools":[ ]}"#).unwrap().names.is_empty());
    assert!(List::read(&json!({"tools": 1}).to_string().into_bytes()).is_none());
}
