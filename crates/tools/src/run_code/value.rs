//! What a program gets of a tool's result: the whole of it, as a value.

use std::fmt::Write as _;

use forebay_proxy::body::Payload;
use forebay_wire::{scan, syntax, walk};

/// How long the text of a failed call may be that a program gets.
const MAX_ERROR_BYTES: usize = 4_000;

/// The value of a result as JSON: `structuredContent`, or the JSON of its text, or its text. The error is that
/// of a call that failed.
pub(super) fn of(result: &Payload, max_bytes: u64) -> Result<Vec<u8>, String> {
    if result.bytes() > max_bytes {
        return Err(format!(
            "the result has {} bytes, more than the {max_bytes} that code.memory_bytes leaves for \
             one; ask for less, or call the tool by itself and query what is kept",
            result.bytes()
        ));
    }
    let json = result.to_vec().map_err(|error| error.to_string())?;
    let [structured, content, is_error] =
        scan::members(&json, ["structuredContent", "content", "isError"]);
    if is_error == Some(b"true") {
        return Err(failure(content));
    }
    if let Some(value) = structured.filter(|value| *value != b"null") {
        return Ok(value.to_vec());
    }
    let blocks: Vec<&[u8]> = content.and_then(walk::elements).into_iter().flatten().collect();
    let mut values = blocks.iter().map(|block| of_block(block));
    match (values.next(), values.next()) {
        (None, _) => Ok(b"null".to_vec()),
        (Some(sole), None) => Ok(sole),
        (Some(first), Some(second)) => {
            let all: Vec<Vec<u8>> = [first, second].into_iter().chain(values).collect();
            Ok([b"[", &all.join(&b","[..])[..], b"]"].concat())
        }
    }
}

/// A text that is an object or a list is that; any other text is a text; any other block is as it is.
fn of_block(block: &[u8]) -> Vec<u8> {
    let [kind, text] = scan::members(block, ["type", "text"]);
    let Some(written) = text.filter(|_| kind == Some(b"\"text\"")) else { return block.to_vec() };
    let Some(text) = scan::string(written) else { return written.to_vec() };
    let is_document =
        text.trim_start().starts_with(['{', '[']) && syntax::check(text.trim().as_bytes()).is_ok();
    if is_document { text.trim().as_bytes().to_vec() } else { written.to_vec() }
}

/// What a failed call says.
fn failure(content: Option<&[u8]>) -> String {
    let blocks = content.and_then(walk::elements).into_iter().flatten();
    let texts: Vec<String> = blocks
        .filter_map(|block| {
            let [text] = scan::members(block, ["text"]);
            Some(scan::string(text?)?.into_owned())
        })
        .collect();
    let mut text = texts.join("\n");
    if text.is_empty() {
        "the tool failed without saying why".clone_into(&mut text);
    }
    if text.len() > MAX_ERROR_BYTES {
        let end = (0..=MAX_ERROR_BYTES).rev().find(|at| text.is_char_boundary(*at));
        let left = text.len() - end.unwrap_or(0);
        text.truncate(end.unwrap_or(0));
        let _ = write!(text, "… ({left} more bytes)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(result: &str) -> Result<String, String> {
        let payload = Payload::from(result.as_bytes().to_vec());
        of(&payload, 10_000).map(|json| String::from_utf8(json).unwrap())
    }

    #[test]
    fn a_result_is_its_structure_or_the_json_of_its_text_or_its_text() {
        let cases = [
            (
                r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1.0}}"#,
                r#"{"a":1.0}"#,
            ),
            (
                r#"{"content":[{"type":"text","text":" [1, 12345678901234567890]\n"}]}"#,
                "[1, 12345678901234567890]",
            ),
            (r#"{"content":[{"type":"text","text":"{broken"}]}"#, r#""{broken""#),
            (r#"{"content":[{"type":"text","text":"42"}]}"#, r#""42""#),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"{}"}]}"#,
                r#"["a",{}]"#,
            ),
            (
                r#"{"content":[{"type":"image","data":"AA=="}]}"#,
                r#"{"type":"image","data":"AA=="}"#,
            ),
            (r#"{"content":[]}"#, "null"),
            (r#"{"structuredContent":null,"content":[{"type":"text","text":"x"}]}"#, r#""x""#),
        ];
        for (result, expected) in cases {
            assert_eq!(value(result).unwrap(), expected, "{result}");
        }
    }

    #[test]
    fn a_failure_is_told_and_cut() {
        let failed = r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#;
        assert_eq!(value(failed).unwrap_err(), "no such file");
        assert!(value(r#"{"isError":true}"#).unwrap_err().contains("without saying why"));
        let long = format!(
            r#"{{"content":[{{"type":"text","text":"{}"}}],"isError":true}}"#,
            "é".repeat(3_000)
        );
        assert!(value(&long).unwrap_err().ends_with("… (2000 more bytes)"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let large = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(20_000));
        assert!(value(&large).unwrap_err().contains("code.memory_bytes"));
    }
}
