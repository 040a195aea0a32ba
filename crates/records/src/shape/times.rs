//! Times at the front of a text, as logs write them.
//!
//! A time with a day, a month and a year is handed on in the order of ISO 8601, whatever order it is
//! written in. One without a year is handed on as it is written: no year is made up.

use std::borrow::Cow;

use crate::table::has_form;

/// A time, and how long it is where it stands.
pub(super) struct Time<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) length: usize,
}

/// The time at the front of a text, if there is one that logs begin lines with.
pub(super) fn leading(text: &[u8]) -> Option<Time<'_>> {
    numeric(text)
        .or_else(|| with_weekday(text))
        .or_else(|| without_year(text))
        .or_else(|| clock(text, Zone::None).map(|length| as_written(text, length)))
}

/// A day in numbers with a time: `2026-11-15T05:27:06.123Z`, `2026/11/15 05:27:06`.
pub(super) fn numeric(text: &[u8]) -> Option<Time<'_>> {
    let has_slashes = has_form(text, b"9999/99/99");
    if !has_slashes && !has_form(text, b"9999-99-99") {
        return None;
    }
    if !matches!(text.get(10)?, b'T' | b't' | b' ' | b'_') {
        return None;
    }
    let length = 11 + clock(&text[11..], Zone::Offset)?;
    let has_blank = memchr::memchr(b' ', &text[11..length]).is_some();
    if !has_slashes && !has_blank {
        return Some(as_written(text, length));
    }
    let mut iso = text[..length].to_vec();
    iso[4] = b'-';
    iso[7] = b'-';
    if has_blank {
        // Before the zone, where a database does not expect it.
        iso.remove(length - 6);
    }
    Some(Time { text: Cow::Owned(iso), length })
}

/// A syslog time, which has no year: `Nov  5 05:27:06`.
pub(super) fn without_year(text: &[u8]) -> Option<Time<'_>> {
    let has_day = has_form(text, b"aaa 99 ") || has_form(text, b"aaa  9 ");
    (has_day && month(text).is_some()).then_some(())?;
    let length = 7 + clock(&text[7..], Zone::None)?;
    Some(as_written(text, length))
}

/// A time behind a weekday: `Sun Nov 15 05:27:06.123 2026`, `Sun 2026-11-15 05:27:06 UTC`.
pub(super) fn with_weekday(text: &[u8]) -> Option<Time<'_>> {
    has_form(text, b"aaa ").then_some(())?;
    let rest = &text[4..];
    if let Some(time) = numeric(rest) {
        // What the letters of other zones stand for is not certain.
        let is_utc = rest[time.length..].starts_with(b" UTC");
        let mut iso = time.text.into_owned();
        let length = 4 + time.length + if is_utc { 4 } else { 0 };
        iso.extend(is_utc.then_some(b'Z'));
        return Some(Time { text: Cow::Owned(iso), length });
    }
    let time = without_year(rest)?;
    let after = &rest[time.length..];
    has_form(after, b" 9999").then_some(())?;
    let day = [if rest[4] == b' ' { b'0' } else { rest[4] }, rest[5]];
    let iso = [&after[1..5], b"-", month(rest)?, b"-", &day, b"T", &time.text[7..]].concat();
    Some(Time { text: Cow::Owned(iso), length: 4 + time.length + 5 })
}

/// A web server's time: `15/Nov/2026:05:27:06 +0000`.
pub(super) fn of_web_server(text: &[u8]) -> Option<Time<'_>> {
    has_form(text, b"99/aaa/9999:99:99:99 ").then_some(())?;
    let zone = &text[21..];
    (has_form(zone, b"+9999") || has_form(zone, b"-9999")).then_some(())?;
    let iso = [
        &text[7..11],
        b"-",
        month(&text[3..])?,
        b"-",
        &text[..2],
        b"T",
        &text[12..20],
        &zone[..3],
        b":",
        &zone[3..5],
    ];
    Some(Time { text: Cow::Owned(iso.concat()), length: 26 })
}

/// Whether the zone is looked for behind a clock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Offset,
    None,
}

fn as_written(text: &[u8], length: usize) -> Time<'_> {
    Time { text: Cow::Borrowed(&text[..length]), length }
}

/// The number of the month whose name stands at the front of a text.
fn month(text: &[u8]) -> Option<&'static [u8]> {
    const MONTHS: [(&[u8], &[u8]); 12] = [
        (b"jan", b"01"),
        (b"feb", b"02"),
        (b"mar", b"03"),
        (b"apr", b"04"),
        (b"may", b"05"),
        (b"jun", b"06"),
        (b"jul", b"07"),
        (b"aug", b"08"),
        (b"sep", b"09"),
        (b"oct", b"10"),
        (b"nov", b"11"),
        (b"dec", b"12"),
    ];
    let name = text.get(..3)?;
    MONTHS.iter().find(|(month, _)| name.eq_ignore_ascii_case(month)).map(|(_, number)| *number)
}

/// How long a time of day is, with its fraction, and its zone if that is looked for.
fn clock(text: &[u8], zone: Zone) -> Option<usize> {
    let mut length = if has_form(text, b"99:99:99") {
        8
    } else if zone == Zone::Offset && has_form(text, b"99:99") {
        return Some(5);
    } else {
        return None;
    };
    if matches!(text.get(length), Some(b'.' | b',')) {
        let digits = text[length + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        length += if digits > 0 { digits + 1 } else { 0 };
    }
    if zone == Zone::Offset {
        let zone = &text[length..];
        length += match zone {
            [b'Z' | b'z', ..] => 1,
            _ if has_form(zone, b"+99:99") || has_form(zone, b"-99:99") => 6,
            _ if has_form(zone, b"+9999") || has_form(zone, b"-9999") => 5,
            _ if has_form(zone, b" +9999") || has_form(zone, b" -9999") => 6,
            _ => 0,
        };
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(time: Option<Time<'_>>) -> Option<(String, usize)> {
        time.map(|time| (String::from_utf8(time.text.into_owned()).unwrap(), time.length))
    }

    #[test]
    fn times_are_handed_on_in_the_order_of_iso() {
        for (text, iso, length) in [
            ("2026-11-15T05:27:06.123Z x", "2026-11-15T05:27:06.123Z", 24),
            ("2026-11-15 05:27:06.5 +0100 x", "2026-11-15 05:27:06.5+0100", 27),
            ("2026/11/15 05:27:06 [error]", "2026-11-15 05:27:06", 19),
            ("Sun Nov  5 05:27:06.123 2026] x", "2026-11-05T05:27:06.123", 28),
            ("Sun 2026-11-15 05:27:06 UTC host", "2026-11-15 05:27:06Z", 27),
            ("Sun 2026-11-15 05:27:06 CET host", "2026-11-15 05:27:06", 23),
            ("Nov 15 05:27:06 host", "Nov 15 05:27:06", 15),
            ("05:27:06,5 x", "05:27:06,5", 10),
        ] {
            let found = told(leading(text.as_bytes()));
            assert_eq!(found, Some((iso.to_owned(), length)), "{text}");
        }
        let web = told(of_web_server(b"15/Nov/2026:05:27:06 -0130] x"));
        assert_eq!(web, Some(("2026-11-15T05:27:06-01:30".to_owned(), 26)));
    }

    #[test]
    fn what_is_no_time_is_not_taken_for_one() {
        for text in ["Foo 15 05:27:06", "2026-11-15", "2026/11/15", "Sun Nov 15", "5:27", ""] {
            assert!(leading(text.as_bytes()).is_none(), "{text}");
        }
        assert!(of_web_server(b"15/Foo/2026:05:27:06 +0000").is_none());
    }
}
