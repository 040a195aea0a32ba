//! What a resource holds: all of a payload, or a range of its bytes.

use base64::{Engine, prelude::BASE64_STANDARD};
use forebay_store::{ADDRESS, Address, Artifact};
use serde_json::{Value, json};

use crate::{Desk, ToolError, arguments::counted, error::refuse};

/// Reads what an address names. `asked` is what else stands in it; `uri` is all of it, as it was written.
pub(super) fn read(
    desk: &Desk,
    address: &Address,
    asked: &[(&str, &str)],
    uri: &str,
    max_bytes: u64,
) -> Result<Value, ToolError> {
    let dataset = desk.dataset(&address.dataset)?;
    let block = address.block.unwrap_or_else(|| dataset.main_part());
    let Some(artifact) = dataset.artifact(block) else {
        return Err(ToolError::NotFound(format!(
            "{} has no block {block}: it has {}, counted from 0.",
            address.dataset,
            counted(dataset.payload_count() as u64, "block")
        )));
    };
    let range = range(asked, &artifact, uri, max_bytes)?;
    // A part of something else than what was kept is given to nobody.
    let payload = desk.store()?.map(&dataset, block)?;
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let bytes = payload.get(place(range.start)..place(range.end)).unwrap_or_default().to_vec();
    let mut contents = json!({"uri": uri, "mimeType": artifact.media_type});
    match String::from_utf8(bytes) {
        Ok(text) if artifact.is_text() => contents["text"] = text.into(),
        Ok(text) => contents["blob"] = BASE64_STANDARD.encode(text).into(),
        Err(other) => contents["blob"] = BASE64_STANDARD.encode(other.as_bytes()).into(),
    }
    Ok(contents)
}

/// Which bytes are asked for.
fn range(
    asked: &[(&str, &str)],
    artifact: &Artifact,
    uri: &str,
    max_bytes: u64,
) -> Result<std::ops::Range<u64>, ToolError> {
    if let Some((key, _)) = asked.iter().find(|(key, _)| *key != "bytes") {
        return refuse!(
            "A resource has no {key}: write block=N, counted from 0, or bytes=FROM-TO. Rows and fields are \
             for queries."
        );
    }
    let size = artifact.bytes;
    let whole = 0..size;
    let range = match asked {
        [] => whole,
        [(_, written)] => match parse(written, size) {
            Some(range) => range,
            None => {
                return refuse!(
                    "bytes={written} is no range of {}: write bytes=FROM-TO, both counted from 0 and \
                     included, such as bytes=0-{}.",
                    counted(size, "byte"),
                    size.min(65_536).saturating_sub(1)
                );
            }
        },
        _ => return refuse!("bytes is given more than once."),
    };
    if range.end - range.start > max_bytes {
        let joint = if uri.contains('?') { '&' } else { '?' };
        let base = uri.split(['?', '&']).next().unwrap_or_default();
        let is_address = base.starts_with(ADDRESS);
        let example = match asked {
            [] => format!("{uri}{joint}bytes=0-{}", max_bytes - 1),
            _ if is_address => {
                format!("{base}?block={}&bytes=0-{}", artifact.block, max_bytes - 1)
            }
            // A URL says itself which block.
            _ => format!("{base}?bytes=0-{}", max_bytes - 1),
        };
        return refuse!(
            "That is {}, more than are read at once ({max_bytes}). Read it in parts, such as {example}.",
            counted(range.end - range.start, "byte")
        );
    }
    Ok(range)
}

/// `FROM-TO`, `FROM-` or `-LAST`, as HTTP writes it.
fn parse(written: &str, size: u64) -> Option<std::ops::Range<u64>> {
    let (from, to) = written.split_once('-')?;
    let range = match (from, to) {
        ("", last) => size.saturating_sub(number(last)?)..size,
        (from, "") => number(from)?..size,
        (from, to) => number(from)?..number(to)?.saturating_add(1).min(size),
    };
    (range.start < range.end).then_some(range)
}

/// A number; one that is too long to be held is past every end.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_http() {
        for (written, expected) in [
            ("0-9", Some(0..10)),
            ("90-", Some(90..100)),
            ("-10", Some(90..100)),
            ("-1000", Some(0..100)),
            ("50-1000", Some(50..100)),
            ("99-99", Some(99..100)),
            ("0-99999999999999999999", Some(0..100)),
            ("-99999999999999999999", Some(0..100)),
            ("99999999999999999999-", None),
            ("+1-5", None),
            ("100-", None),
            ("9-0", None),
            ("x-1", None),
            ("-", None),
            ("5", None),
        ] {
            assert_eq!(parse(written, 100), expected, "{written}");
        }
    }
}
