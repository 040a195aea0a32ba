//! Halves of surrogate pairs, which a text of the language may have and no other text can.

/// What JSON has for them: `\ud800` to `\udfff`. Whole pairs stand in it as they are.
const FIRST_DIGIT: u8 = b'd';

/// What stands in their place.
const REPLACEMENT: &[u8; 4] = b"fffd";

/// Puts U+FFFD in place of each half in a JSON text, and says whether there was one.
pub(super) fn replace(json: String) -> (String, bool) {
    if !json.contains("\\ud") {
        return (json, false);
    }
    let mut bytes = json.into_bytes();
    let mut at = 0;
    let mut has_one = false;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        if let Some([b'u', FIRST_DIGIT, b'8'..=b'9' | b'a'..=b'f', _, _]) =
            bytes.get(at + 1..at + 6)
        {
            bytes[at + 2..at + 6].copy_from_slice(REPLACEMENT);
            has_one = true;
        }
        at += 2;
    }
    (String::from_utf8(bytes).unwrap_or_default(), has_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        let cases = [
            (r#""\ud800x""#, r#""\ufffdx""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\udfff""#, r#""\\\ufffd""#),
            (r#""\ud7ff\u0000""#, r#""\ud7ff\u0000""#),
            ("\"😀\"", "\"😀\""),
        ];
        for (json, expected) in cases {
            assert_eq!(replace(json.to_owned()), (expected.to_owned(), json != expected), "{json}");
        }
    }
}
