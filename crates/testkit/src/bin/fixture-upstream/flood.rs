//! A result that floods: two images and many records, or whatever a file says.

use std::{fs, io};

use crate::{json::Json, records::Records, request::Era};

/// What a PNG of 1920 × 1080 pixels begins with, in base64.
const HEAD: &str = "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAIAAABnsVYU";
/// How long that is, decoded.
const HEAD_BYTES: u64 = 33;
/// How long the records are with their escapes; without them they have 300 KB.
const RECORD_BYTES: usize = 370_000;

/// Two images of about `count` bytes each, 2 MB if that is 0, and 300 KB of records.
pub(crate) fn result(era: Era, count: u64) -> Json {
    let count = if count == 0 { 2 << 20 } else { count };
    let image = |group: &str| {
        let groups = usize::try_from(count.saturating_sub(HEAD_BYTES) / 3).unwrap_or(0);
        let data = HEAD.to_owned() + &group.repeat(groups);
        format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#)
    };
    let mut records = String::new();
    for number in 1.. {
        records += &Records::Flat.record(number);
        if records.len() > RECORD_BYTES {
            break;
        }
    }
    let records = records.trim_start_matches(',');
    Json::whole(format!(
        r#"{}"content":[{},{{"type":"text","text":"[{records}]"}},{}]}}"#,
        era.result_head(),
        image("Ab1/"),
        image("Zy9+"),
    ))
}

/// The members of a result as they stand in a file.
pub(crate) fn from_file(era: Era, path: &str) -> io::Result<Json> {
    Ok(Json::whole(format!("{}{}}}", era.result_head(), fs::read_to_string(path)?)))
}
