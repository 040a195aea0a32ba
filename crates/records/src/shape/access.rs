//! Access logs of web servers, in the common and the combined format, perhaps with the virtual host
//! in front and further fields behind.

use std::borrow::Cow;

use super::{around::Around, times};
use crate::table::{Raw, Records};

const LOOKED_AT: usize = 50;
const MIN_LINES: usize = 3;

/// What a line says.
struct Line<'a> {
    host: Option<&'a [u8]>,
    address: &'a [u8],
    identity: &'a [u8],
    user: &'a [u8],
    time: Cow<'a, [u8]>,
    request: &'a [u8],
    status: &'a [u8],
    bytes: &'a [u8],
    referer: Option<&'a [u8]>,
    agent: Option<&'a [u8]>,
    /// What further fields there are, as they are written.
    extra: &'a [u8],
}

/// True if nearly all lines are requests.
pub(super) fn is_access_log(text: &[u8]) -> bool {
    let lines = || super::filled_lines(text).take(LOOKED_AT);
    let (all, fitting) = (lines().count(), lines().filter(|line| request(line).is_some()).count());
    fitting >= MIN_LINES && fitting * 10 >= all * 9
}

/// What stands before the first request.
pub(super) fn around(text: &[u8]) -> Around {
    let mut around = Around::default();
    let first = super::filled_lines(text).find(|line| request(line).is_some());
    let start = first.map_or(0, |line| line.as_ptr().addr() - text.as_ptr().addr());
    around.text(super::around::BEFORE, &text[..start]);
    around
}

/// Hands the requests to `table`; `None` if many lines turn out to be none.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> Option<R> {
    let mut has_begun = false;
    for line in super::filled_lines(text) {
        match request(line) {
            Some(request) => {
                has_begun = true;
                if table.record(line) {
                    tell(&request, &mut table);
                }
            }
            // What stands before the first is told beside the records.
            None if has_begun => table.skip(),
            None => {}
        }
    }
    (!table.is_mostly_skipped()).then_some(table)
}

fn tell<'a>(line: &Line<'_>, table: &mut impl Records<'a>) {
    let mut place = 0;
    let mut field = |name: &[u8], value: Raw<'_>| {
        table.field(place, name, value);
        place += 1;
    };
    if let Some(host) = line.host {
        field(b"virtual_host", Raw::Text(host));
    }
    field(b"remote_addr", Raw::Text(line.address));
    field(b"remote_user", or_null(Some(line.user)));
    field(b"timestamp", Raw::Text(&line.time));
    let parts = parts(line.request);
    field(b"method", or_null(parts.map(|(method, _, _)| method)));
    field(b"path", or_null(parts.map(|(_, path, _)| path)));
    field(b"protocol", or_null(parts.and_then(|(_, _, protocol)| protocol)));
    field(b"status", Raw::Cell(line.status));
    field(b"bytes", if line.bytes == b"-" { NULL } else { Raw::Cell(line.bytes) });
    if line.referer.is_some() || line.agent.is_some() {
        field(b"referer", or_null(line.referer));
        field(b"user_agent", or_null(line.agent));
    }
    if line.identity != b"-" {
        field(b"remote_ident", Raw::Text(line.identity));
    }
    if parts.is_none() {
        field(b"request", or_null(Some(line.request)));
    }
    if !line.extra.is_empty() {
        field(b"extra", Raw::Text(line.extra));
    }
}

const NULL: Raw<'static> = Raw::Json(b"null");

fn or_null(text: Option<&[u8]>) -> Raw<'_> {
    match text {
        None | Some(b"-" | b"") => NULL,
        Some(text) => Raw::Text(text),
    }
}

fn request(line: &[u8]) -> Option<Line<'_>> {
    /// The time stands within this much of the line's front.
    const WITHIN: usize = 1_024;
    let open = memchr::memmem::find(&line[..line.len().min(WITHIN)], b" [")?;
    let mut words = line[..open].split(|byte| *byte == b' ').collect::<Vec<_>>();
    let host = if words.len() == 4 { Some(words.remove(0)) } else { None };
    let [address, identity, user] = words[..] else { return None };
    let time = times::of_web_server(&line[open + 2..])?;
    let rest = line[open + 2 + time.length..].strip_prefix(b"] \"")?;
    let (request, rest) = quoted(rest)?;
    let (status, rest) = word(rest.strip_prefix(b" ")?);
    let (bytes, mut rest) = word(rest.strip_prefix(b" ")?);
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let fits = status.len() == 3 && is_number(status) && (bytes == b"-" || is_number(bytes));
    (fits && !address.is_empty()).then_some(())?;
    let mut next = || {
        let (text, after) = quoted(rest.strip_prefix(b" \"")?)?;
        rest = after;
        Some(text)
    };
    let (referer, agent) = (next(), next());
    let time = time.text;
    let extra = rest.trim_ascii();
    Some(Line {
        host,
        address,
        identity,
        user,
        time,
        request,
        status,
        bytes,
        referer,
        agent,
        extra,
    })
}

/// The method, the path and the protocol.
type Parts<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>);

/// The parts of a request that has the form of one.
fn parts(request: &[u8]) -> Option<Parts<'_>> {
    let (method, rest) = word(request);
    let is_method = !method.is_empty()
        && method.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'));
    let rest = rest.strip_prefix(b" ")?;
    let (path, protocol) = match memchr::memrchr(b' ', rest) {
        Some(space) => (&rest[..space], Some(&rest[space + 1..])),
        None => (rest, None),
    };
    let is_protocol = protocol.is_none_or(|protocol| protocol.starts_with(b"HTTP/"));
    (is_method && is_protocol && !path.is_empty()).then_some((method, path, protocol))
}

fn word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(memchr::memchr(b' ', text).unwrap_or(text.len()))
}

/// What stands before the quote that ends a text, and what behind it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}
