//! Stage 1 of 5: decides whether a result is too large for the model.

use std::io;

use forebay_proxy::session::Call;
use forebay_records::Tokenizer;
use forebay_wire::scan;
use memchr::memmem;

use crate::{events, policy::Limit, result::ToolResult, unescape};

/// How much of a long text is looked at first, for each token that it may have: a token has fewer bytes.
const HEAD_BYTES: u64 = 6;

/// The key of a result that says whether it is an error.
const IS_ERROR: &str = "isError";
/// Up to so many bytes a result that nobody looks at is searched for that key: the relay waits meanwhile.
const MAX_SEARCHED_BYTES: usize = 64 * 1024;

/// What makes a result too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    /// How long the result is, as JSON.
    pub(crate) bytes: u64,
}

/// Returns how heavy `result` is if that is more than `limit` allows.
pub(crate) fn oversized(
    result: &ToolResult,
    call: &Call,
    limit: Limit,
    tokenizer: Tokenizer,
) -> io::Result<Option<Weight>> {
    let weight = Weight { bytes: result.whole.bytes() };
    // A failure is for the model to read as it is.
    if result.is_error || !result.has_payload() {
        return Ok(None);
    }
    let (tokens, max_bytes) = match limit {
        Limit::Never => return Ok(None),
        Limit::Always => return Ok(Some(weight)),
        Limit::Over { tokens, bytes } => (tokens, bytes),
    };
    let bytes = result.readable_bytes();
    if !limit.may_be_over(bytes) {
        return Ok(None);
    }
    // An escape of six bytes may stand for one.
    let least_bytes = bytes / 6;
    if least_bytes > tokens.saturating_mul(tokenizer.max_token_bytes())
        || max_bytes.is_some_and(|max| least_bytes > max)
    {
        return Ok(Some(weight));
    }
    let (mut tokens_left, mut bytes_left) = (tokens, max_bytes.unwrap_or(u64::MAX));
    for span in result.readable() {
        let span = &span;
        // Most of what is too large is so in its beginning.
        let head = HEAD_BYTES * (tokens_left + tokenizer.max_token_bytes());
        if span.end - span.start > 4 * head {
            let head = unescape::head(&result.json_at(&(span.start..span.start + head))?);
            // A token that is cut in two may be more than one.
            if tokenizer.up_to(tokens_left + tokenizer.max_token_bytes(), &head).is_none() {
                return Ok(Some(weight));
            }
        }
        let json = result.json_at(span)?;
        let text = match json.first() {
            Some(b'"') => unescape::whole(&json).ok().and_then(|text| String::from_utf8(text).ok()),
            _ => None,
        };
        let is_decoded = text.is_some();
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(&json).into_owned());
        let within = bytes_left.checked_sub(text.len() as u64);
        let count = tokenizer.up_to(tokens_left, &text);
        if is_decoded && result.whole.in_memory().is_some() {
            result.keep_decoded(span, text);
        }
        match (within, count) {
            (Some(bytes), Some(count)) => (bytes_left, tokens_left) = (bytes, tokens_left - count),
            _ => return Ok(Some(weight)),
        }
    }
    let count = tokens - tokens_left;
    if count * 5 >= tokens * 4 {
        events::near_threshold(call, count, tokens);
    }
    Ok(None)
}

/// True if a result that passes as it is says that it is an error. Only one that may is read.
pub(crate) fn says_error(result: &[u8]) -> bool {
    let says_true = |key: usize| {
        let behind = result[key + IS_ERROR.len()..].strip_prefix(b"\"").unwrap_or_default();
        let value = behind.trim_ascii_start().strip_prefix(b":").unwrap_or_default();
        value.trim_ascii_start().starts_with(b"true")
    };
    let may_be =
        result.len() <= MAX_SEARCHED_BYTES && memmem::find_iter(result, IS_ERROR).any(says_true);
    let [said] = if may_be { scan::members(result, [IS_ERROR]) } else { [None] };
    said == Some(b"true".as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_by_what_the_result_itself_says() {
        for error in [
            r#"{"isError":true,"content":[]}"#,
            r#"{"content":[{"type":"text","text":"no such file"}], "isError" : true}"#,
            r#"{"structuredContent":{"isError":false},"isError":true}"#,
        ] {
            assert!(says_error(error.as_bytes()), "{error}");
        }
        for other in [
            r#"{"content":[],"isError":false}"#,
            r#"{"content":[{"type":"text","text":"{\"isError\":true}"}]}"#,
            r#"{"structuredContent":{"isError":true}}"#,
            r#"{"content":[{"type":"text","text":"isError"}],"isError":"true"}"#,
            r#"{"content":[],"isError"#,
            "[]",
        ] {
            assert!(!says_error(other.as_bytes()), "{other}");
        }
        let long = format!("{{\"isError\":true,\"x\":\"{}\"}}", "x".repeat(MAX_SEARCHED_BYTES));
        assert!(!says_error(long.as_bytes()), "it is not searched");
    }
}
