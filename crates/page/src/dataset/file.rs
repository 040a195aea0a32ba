//! A payload as a file: pictures are shown, everything else is saved, and nothing of it can act.

use bytes::Bytes;
use forebay_store::Mapped;
use http::{HeaderValue, Response, StatusCode, header};

use crate::{Pages, problem::Problem, reply::with};

/// What a browser shows as a picture that cannot act.
const PICTURES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];
/// Nothing in a file may do anything, whatever it is taken for.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

/// The bytes of a file, which stay there.
struct Held(Mapped);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

pub(crate) fn is_picture(media_type: &str) -> bool {
    PICTURES.contains(&media_type)
}

pub(crate) fn answer(pages: &Pages, id: &str, block: &str) -> Result<Response<Bytes>, Problem> {
    let dataset = pages.dataset(id)?;
    let block: usize = block.parse().map_err(|_| Problem::missing("Blocks are counted from 0."))?;
    let artifact = dataset
        .artifact(block)
        .ok_or_else(|| Problem::missing(format!("{} has no block {block}.", dataset.id())))?;
    let mapped = pages.desk.store()?.map(&dataset, block)?;
    let kind = PICTURES.iter().find(|kind| **kind == artifact.media_type);
    let body = Bytes::from_owner(Held(mapped));
    let mut answer =
        with(StatusCode::OK, kind.copied().unwrap_or("application/octet-stream"), body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    if kind.is_none() {
        headers.insert(header::CONTENT_DISPOSITION, attachment(&artifact.name));
    }
    Ok(answer)
}

/// Has a browser save what is sent under a name, as far as that is plain.
pub(super) fn attachment(name: &str) -> HeaderValue {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{plain}\""))
        .unwrap_or(HeaderValue::from_static("attachment"))
}
