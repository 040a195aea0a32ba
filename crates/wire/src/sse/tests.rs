use proptest::prelude::*;

use super::*;

/// What came of a stream: events as their data and fields, comments between them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Got {
    Comment,
    Event(Vec<u8>, Fields),
}

fn fields(id: Option<&str>, event: Option<&str>, retry: Option<u64>, has_data: bool) -> Fields {
    Fields { id: id.map(str::to_owned), event: event.map(str::to_owned), retry, has_data }
}

fn data(text: &str) -> Got {
    Got::Event(text.as_bytes().to_vec(), fields(None, None, None, true))
}

/// Pushes `input` in portions of the given sizes.
fn read(input: &[u8], portions: &[usize]) -> Vec<Got> {
    let mut events = Events::default();
    let (mut got, mut held) = (Vec::new(), Vec::new());
    let (mut left, mut sizes) = (input, portions.iter().cycle());
    while !left.is_empty() {
        let (mut portion, rest) = left.split_at((*sizes.next().unwrap()).min(left.len()));
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
fn by_the_book(input: &[u8]) -> Vec<Got> {
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
            byte => lines.last_mut().unwrap().push(*byte),
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
        match name {
            b"" => got.push(Got::Comment),
            b"data" => {
                if std::mem::replace(&mut found.has_data, true) {
                    text.push(b'\n');
                }
                text.extend_from_slice(value);
            }
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

fn check(input: &[u8], expected: &[Got]) {
    for portion in 1..=input.len().max(1) {
        assert_eq!(read(input, &[portion]), expected, "in portions of {portion}");
    }
}

#[test]
fn every_line_end_is_one() {
    for end in ["\n", "\r", "\r\n"] {
        let input = format!("data: a{end}data:b{end}{end}data:  c{end}{end}");
        check(input.as_bytes(), &[data("a\nb"), data(" c")]);
    }
    check(b"data: a\r\n\rdata: b\n\r\n", &[data("a"), data("b")]);
}

#[test]
fn an_event_that_ends_with_a_carriage_return_is_there_at_once() {
    check(b"data: a\r\r", &[data("a")]);
    check(b"data: a\r\n\r", &[data("a")]);
}

#[test]
fn fields_without_data_are_an_event_and_nothing_is_none() {
    check(
        b"id: 7\ndata:\n\n\n\nretry: 15\n\nevent: ping\nid\ndata\ndata\n\n",
        &[
            Got::Event(Vec::new(), fields(Some("7"), None, None, true)),
            Got::Event(Vec::new(), fields(None, None, Some(15), false)),
            Got::Event(b"\n".to_vec(), fields(Some(""), Some("ping"), None, true)),
        ],
    );
    check(b"unknown: field\n\nno colon\n\n", &[]);
}

#[test]
fn comments_are_told_and_end_nothing() {
    check(b":\n\ndata: a\n: ping\ndata: b\n\n", &[Got::Comment, Got::Comment, data("a\nb")]);
}

#[test]
fn what_is_no_id_and_no_number_is_ignored() {
    check(b"id: a\0b\nretry: 1s\nretry:\ndata: x\n\n", &[data("x")]);
    check(b"retry: 99999999999999999999999\ndata: x\n\n", &[data("x")]);
    check(b"database: x\ndat: y\n\ndata-: z\n\n", &[]);
}

#[test]
fn a_mark_may_stand_at_the_start_and_nowhere_else() {
    check(b"\xEF\xBB\xBFdata: a\n\n", &[data("a")]);
    check(b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", &[]);
    check(b"\xEF\xBBdata: a\n\n", &[]);
    check(b"data: a\n\n\xEF\xBB\xBFdata: b\n\n", &[data("a")]);
}

#[test]
fn an_event_that_was_broken_off_is_none() {
    check(b"data: a\n\ndata: b\n", &[data("a")]);
    check(b"data: a\n\ndata: b", &[data("a")]);
}

#[test]
fn values_that_are_too_long_are_dropped_and_data_is_not() {
    let long = "x".repeat(MAX_VALUE_BYTES + 1);
    let input = format!("id: {long}\nevent: {long}\ndata: {long}\n\n");
    assert_eq!(read(input.as_bytes(), &[100]), [data(&long)]);
    let fits = "x".repeat(MAX_VALUE_BYTES);
    let input = format!("id: {fits}\n\n");
    let expected = [Got::Event(Vec::new(), fields(Some(&fits), None, None, false))];
    assert_eq!(read(input.as_bytes(), &[100]), expected);
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(b"data".to_vec()),
        Just(b"id".to_vec()),
        Just(b"event".to_vec()),
        Just(b"retry".to_vec()),
        Just(b":".to_vec()),
        Just(b" ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"12".to_vec()),
        Just(BYTE_ORDER_MARK.to_vec()),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_split_gives_what_the_standard_says(
        input in stream(),
        portions in prop::collection::vec(1_usize..9, 1..9),
    ) {
        prop_assert_eq!(read(&input, &portions), by_the_book(&input));
    }

    #[test]
    fn what_is_written_is_read_again(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5),
        id in prop::option::of("[^\r\n\0]{0,9}"),
        event in prop::option::of("[^\r\n]{0,9}"),
        retry in any::<Option<u64>>(),
    ) {
        let fields = Fields { id, event, retry, has_data: true };
        let mut written = Vec::new();
        write_fields(&fields, &mut written);
        written.extend_from_slice(b"data: ");
        for part in &parts {
            write_data(part, &mut written);
        }
        written.extend_from_slice(b"\n\n");
        let mut expected = parts.concat();
        for byte in &mut expected {
            if *byte == b'\r' {
                *byte = b' ';
            }
        }
        prop_assert_eq!(read(&written, &[7]), vec![Got::Event(expected, fields)]);
    }
}
