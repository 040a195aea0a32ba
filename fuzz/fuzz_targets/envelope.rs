//! A scan never panics, means the same at every split, and finds in valid JSON what a parser finds.
#![no_main]

use forebay_wire::{Id, Line, envelope::LineScanner, scan, syntax};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((chunk, bytes)) = input.split_first() else { return };
    let line = Line::of(bytes);
    let mut scanner = LineScanner::new();
    for chunk in bytes.chunks(usize::from(*chunk) + 1) {
        scanner.push(chunk);
    }
    assert_eq!(scanner.finish(), line);

    let is_valid = syntax::check(bytes).is_ok();
    assert_eq!(is_valid, syntax::check_reader(bytes).unwrap().is_ok());
    // A parser that builds values refuses deep nesting and huge numbers; a scan does not.
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    assert!(is_valid);
    match (&value, &line) {
        (Value::Object(object), Line::Message(envelope)) => {
            let id = object.get("id").filter(|id| id.is_string() || id.is_number());
            assert_eq!(envelope.id.is_some(), id.is_some());
            if let (Some(found), Some(Value::String(text))) = (&envelope.id, id) {
                assert_eq!(*found, Id::parse(Value::from(text.as_str()).to_string().as_bytes()).unwrap());
            }
            assert_eq!(envelope.method.as_deref(), object.get("method").and_then(Value::as_str));
            for (key, span) in
                [("params", &envelope.params), ("result", &envelope.result), ("error", &envelope.error)]
            {
                let text = span.as_ref().and_then(|span| scan::slice(bytes, span));
                let parsed: Option<Value> = text.map(|text| serde_json::from_slice(text).unwrap());
                assert_eq!(parsed.as_ref(), object.get(key));
            }
        }
        (Value::Array(items), Line::Batch(envelopes)) => {
            assert_eq!(items.iter().filter(|item| item.is_object()).count(), envelopes.len());
        }
        (_, line) => assert_eq!(*line, Line::Other),
    }
});
