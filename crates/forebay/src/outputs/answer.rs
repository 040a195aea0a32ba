//! What is sent for a link: a file or a part of it, or why there is none.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use forebay_store::{Address, Artifact, Dataset, Mapped, Store};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use jiff::Timestamp;

use super::{
    disposition::{content_disposition, content_type},
    key::Link,
    range::{Wanted, wanted},
};

/// What everything is sent with: no script runs, nothing is fetched, no form is sent, and no other type is
/// guessed. Nobody but the client keeps it, and it asks each time whether the link is still good.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'; style-src 'unsafe-inline'"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// So many bytes are read from the disk at a time, at least.
const PAGE: usize = 4096;
/// How much of a hash is enough to tell files apart.
const TAG_DIGITS: usize = 32;

/// What a link leads to.
pub(super) struct Found {
    pub(super) store: Arc<Store>,
    pub(super) dataset: Dataset,
    pub(super) artifact: Artifact,
}

impl Found {
    /// Where the payload lies.
    pub(super) fn path(&self) -> PathBuf {
        self.dataset.path(self.artifact.block)
    }
}

/// Bytes that are those of a file, and stay there.
pub(super) fn shared(mapped: Arc<Mapped>) -> Bytes {
    struct Owner(Arc<Mapped>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Bytes::from_owner(Owner(mapped))
}

/// The file, a part of it, or that it is what the client has.
pub(super) fn with<B>(request: &Request<B>, artifact: &Artifact, bytes: &Bytes) -> Response<Bytes> {
    let tag = tag(artifact);
    if is_known(request.headers(), &tag) {
        return with_tag(empty(StatusCode::NOT_MODIFIED), &tag);
    }
    let length = bytes.len();
    let wanted = match *request.method() {
        Method::GET => part(request.headers(), &tag, length),
        // Only what is got can be got in parts.
        _ => Wanted::Whole,
    };
    let (status, sent) = match wanted {
        Wanted::Whole => (StatusCode::OK, 0..length),
        Wanted::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        Wanted::Nothing => {
            let why = format!("the file has {length} bytes");
            let mut answer = text(StatusCode::RANGE_NOT_SATISFIABLE, &why);
            set(answer.headers_mut(), header::CONTENT_RANGE, &format!("bytes */{length}"));
            return with_tag(answer, &tag);
        }
    };
    let mut answer = with_tag(empty(status), &tag);
    let headers = answer.headers_mut();
    let Artifact { name, media_type, .. } = artifact;
    headers.insert(header::CONTENT_TYPE, content_type(media_type));
    headers.insert(header::CONTENT_DISPOSITION, content_disposition(media_type, name));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(sent.len()));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {}-{}/{length}", sent.start, sent.end.saturating_sub(1));
        set(headers, header::CONTENT_RANGE, &range);
    }
    if *request.method() == Method::GET {
        let bytes = bytes.slice(sent);
        read_ahead(&bytes);
        *answer.body_mut() = bytes;
    }
    answer
}

/// There is nothing, or nobody may know of it: which of the two is not told.
pub(super) fn nothing() -> Response<Bytes> {
    text(StatusCode::NOT_FOUND, "there is nothing here")
}

/// The link was good once.
pub(super) fn expired(link: &Link) -> Response<Bytes> {
    let seconds = i64::try_from(link.until).unwrap_or(i64::MAX);
    let when = Timestamp::from_second(seconds).unwrap_or_default();
    let why = format!(
        "This link was good until {when}. What it led to may still be there: ask for {} again, and a new \
         link comes with it. {}",
        link.dataset,
        elsewhere(link)
    );
    text(StatusCode::GONE, &why)
}

/// The file is longer than may be fetched; where it is, for a client that is here.
pub(super) fn too_large(
    link: &Link,
    bytes: u64,
    most: u64,
    path: Option<PathBuf>,
) -> Response<Bytes> {
    let place = match path {
        Some(path) if path.extension().is_some_and(|it| it == "zst") => {
            format!("It lies in {} (compressed with zstd).", path.display())
        }
        Some(path) => format!("It lies in {}.", path.display()),
        None => elsewhere(link),
    };
    let why = format!(
        "The file has {bytes} bytes, and up to {most} may be fetched (outputs.max_bytes). {place}"
    );
    text(StatusCode::PAYLOAD_TOO_LARGE, &why)
}

/// The client asks too often.
pub(super) fn too_many(wait: Duration) -> Response<Bytes> {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let why = format!("This is asked for too often; try again in {seconds} s.");
    let mut answer = text(StatusCode::TOO_MANY_REQUESTS, &why);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// Outputs can be read and nothing else.
pub(super) fn not_allowed() -> Response<Bytes> {
    let mut answer =
        text(StatusCode::METHOD_NOT_ALLOWED, "outputs can be fetched, and nothing else");
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    answer
}

/// What was kept is damaged, or cannot be read now.
pub(super) fn unreadable() -> Response<Bytes> {
    text(StatusCode::INTERNAL_SERVER_ERROR, "it cannot be read; the log says why")
}

/// How else it can be had.
fn elsewhere(link: &Link) -> String {
    let address = Address::of(&link.dataset, link.block);
    let id = &link.dataset;
    format!("Read it through MCP, with `read-saved-dataset` ({id}) or as the resource {address}.")
}

/// The tag of a file: another one has another.
fn tag(artifact: &Artifact) -> String {
    let digits = artifact.blake3.get(..TAG_DIGITS).unwrap_or(&artifact.blake3);
    format!("\"{digits}\"")
}

/// True if the client has the file already.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let mut tags = lists.flat_map(|list| list.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Which part is asked for, if it is one of the file that the client has the rest of.
fn part(headers: &HeaderMap, tag: &str, length: usize) -> Wanted {
    let is_of_this = headers.get(header::IF_RANGE).is_none_or(|of| of.as_bytes() == tag.as_bytes());
    let range = headers.get(header::RANGE).filter(|_| is_of_this);
    range.and_then(|range| range.to_str().ok()).map_or(Wanted::Whole, |range| wanted(range, length))
}

/// Has the system read what is to be sent, here, where that holds up nobody.
fn read_ahead(bytes: &[u8]) {
    let firsts = bytes.chunks(PAGE).filter_map(|page| page.first());
    std::hint::black_box(firsts.fold(0, |sum, byte| sum ^ byte));
}

fn with_tag(mut answer: Response<Bytes>, tag: &str) -> Response<Bytes> {
    set(answer.headers_mut(), header::ETAG, tag);
    answer.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    answer
}

/// A sentence for people.
fn text(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut answer = empty(status);
    *answer.body_mut() = Bytes::from(format!("{text}\n"));
    answer.headers_mut().insert(header::CONTENT_TYPE, content_type("text/plain"));
    answer
}

fn empty(status: StatusCode) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = status;
    answer.headers_mut().extend(HEADERS);
    answer
}

/// Sets a header to what we have written ourselves.
fn set(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}
