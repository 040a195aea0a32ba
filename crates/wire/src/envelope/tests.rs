use super::*;

fn envelope(json: &str) -> Envelope {
    match Line::of(json.as_bytes()) {
        Line::Message(envelope) => envelope,
        line => panic!("{json} is {line:?}"),
    }
}

fn id(json: &str) -> Id {
    Id::parse(json.as_bytes()).unwrap()
}

#[test]
fn requests_notifications_and_responses_are_told_apart() {
    let request = envelope(r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{}}"#);
    assert_eq!(request.kind(), Kind::Request { id: &id("1"), method: "tools/call" });
    let notification = envelope(r#"{"method":"notifications/progress"}"#);
    assert_eq!(notification.kind(), Kind::Notification { method: "notifications/progress" });
    let result = envelope(r#"{"result":{"id":2},"jsonrpc":"2.0","id":"a"}"#);
    assert_eq!(result.kind(), Kind::Response { id: &id("\"a\"") });
    assert_eq!(result.result, Some(10..18));
    let error = envelope(r#"{"error":{},"id":1}"#);
    assert_eq!(error.kind(), Kind::Response { id: &id("1") });
    for json in ["{}", r#"{"id":1}"#, r#"{"id":null,"error":{}}"#, r#"{"id":{},"result":1}"#] {
        assert_eq!(envelope(json).kind(), Kind::Other, "{json}");
    }
}

#[test]
fn the_last_of_equal_keys_counts() {
    let twice = envelope(r#"{"id":1,"method":"a","id":2,"method":"b"}"#);
    assert_eq!(twice.kind(), Kind::Request { id: &id("2"), method: "b" });
}

#[test]
fn ids_are_equal_when_json_says_so() {
    let same = [("1", "1.0"), ("10", "1e1"), (r#""a""#, r#""\u0061""#), ("0", "-0")];
    for (left, right) in same {
        assert_eq!(id(left), id(right), "{left} {right}");
    }
    let different = [
        ("1", "\"1\""),
        ("1", "2"),
        ("12345678901234567890", "12345678901234567891"),
        (r#""\ud800""#, r#""\ud801""#),
        ("1.5", "1.25"),
    ];
    for (left, right) in different {
        assert_ne!(id(left), id(right), "{left} {right}");
    }
    for json in ["null", "true", "{}", ""] {
        assert_eq!(Id::parse(json.as_bytes()), None, "{json}");
    }
}

#[test]
fn a_batch_is_several_messages() {
    let json = r#"[{"id":1,"method":"a"}, {"method":"b"}, 5]"#;
    let line = Line::of(json.as_bytes());
    let spans: Vec<_> = line.messages().iter().map(|m| m.span.clone()).collect();
    assert_eq!(spans, [1..22, 24..38]);
    assert!(matches!(line, Line::Batch(_)));
}

#[test]
fn whom_a_line_answers_is_known_as_soon_as_it_is_said() {
    let answered = |begun: &str| {
        let mut scanner = LineScanner::new();
        scanner.push(begun.as_bytes());
        scanner.answers()
    };
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"a":"#), Some(id("7")));
    assert_eq!(answered(r#"{"error":{},"id":"a","#), Some(id("\"a\"")));
    for unknown in [
        r#"{"result":{"id":8,"#,
        r#"{"id":7,"#,
        r#"{"id":7,"params":{"#,
        r#"{"id":7,"method":"ask","params":{"result":1"#,
        r#"[{"id":7,"result":{"#,
        r#"{"id":7 "result":{"#,
    ] {
        assert_eq!(answered(unknown), None, "{unknown}");
    }
}
