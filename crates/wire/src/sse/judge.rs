//! Whether a stream is read as the standard says, in any split: what tests and a fuzz target ask.

use super::{BYTE_ORDER_MARK, Events, Fields, MAX_VALUE_BYTES, Token, write_data, write_fields};

/// What came of a stream: events as their data and fields, comments between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Got {
    Comment,
    Event(Vec<u8>, Fields),
}

/// Reads what follows the first byte as a stream, in portions that this byte says.
///
/// # Panics
///
/// If what is read is not what the standard says, or is another thing when it is written and read
/// again.
pub fn judge(input: &[u8]) {
    let Some((first, input)) = input.split_first() else { return };
    let portions = [usize::from(first % 16), usize::from(first / 16)];
    let got = read(input, &portions);
    assert_eq!(got, by_the_book(input));

    let mut written = Vec::new();
    let mut expected = Vec::new();
    for event in got {
        let Got::Event(mut data, fields) = event else { continue };
        write_fields(&fields, &mut written);
        if fields.has_data {
            written.extend_from_slice(b"data: ");
            write_data(&data, &mut written);
            written.push(b'\n');
        }
        written.push(b'\n');
        data.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
        expected.push(Got::Event(data, fields));
    }
    assert_eq!(read(&written, &portions), expected, "written and read again");
}

/// Pushes `input` in portions of the given sizes.
pub(super) fn read(input: &[u8], portions: &[usize]) -> Vec<Got> {
    let mut events = Events::default();
    let (mut got, mut held) = (Vec::new(), Vec::new());
    let (mut left, mut sizes) = (input, portions.iter().cycle());
    while !left.is_empty() {
        let size = sizes.next().map_or(1, |size| (*size).max(1));
        let (mut portion, rest) = left.split_at(size.min(left.len()));
        left = rest;
        while let Some(token) = events.next(&mut portion) {
            match token {
                Token::Data(part) => held.extend_from_slice(part),
                Token::Comment => got.push(Got::Comment),
                Token::End(fields) => got.push(Got::Event(std::mem::take(&mut held), fields)),
            }
        }
        assert!(portion.is_empty());
    }
    got
}

/// The same by the words of the HTML standard, with the whole at hand.
pub(super) fn by_the_book(input: &[u8]) -> Vec<Got> {
    let input = input.strip_prefix(BYTE_ORDER_MARK).unwrap_or(input);
    let mut lines = vec![Vec::new()];
    let mut bytes = input.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if(|next| **next == b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().into_iter().for_each(|line| line.push(*byte)),
        }
    }
    // The last line has not ended; that it is a comment is known all the same.
    let last = lines.pop().filter(|line| line.starts_with(b":"));
    let (mut got, mut text, mut found) = (Vec::new(), Vec::new(), Fields::default());
    for line in lines {
        if line.is_empty() {
            let (text, found) = (std::mem::take(&mut text), std::mem::take(&mut found));
            if found != Fields::default() {
                got.push(Got::Event(text, found));
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let lossy = String::from_utf8_lossy(value).into_owned();
        let is_dropped = name != b"data" && lossy.len() > MAX_VALUE_BYTES;
        match name {
            b"" => got.push(Got::Comment),
            b"data" => {
                if std::mem::replace(&mut found.has_data, true) {
                    text.push(b'\n');
                }
                text.extend_from_slice(value);
            }
            _ if is_dropped => {}
            b"id" if !value.contains(&0) => found.id = Some(lossy),
            b"event" => found.event = Some(lossy),
            b"retry" if !lossy.is_empty() && lossy.bytes().all(|byte| byte.is_ascii_digit()) => {
                found.retry = lossy.parse().ok().or(found.retry);
            }
            _ => {}
        }
    }
    got.extend(last.map(|_| Got::Comment));
    got
}
