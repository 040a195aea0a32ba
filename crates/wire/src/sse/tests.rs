use proptest::prelude::*;

use super::{
    judge::{Got, by_the_book, judge, read},
    *,
};

fn fields(id: Option<&str>, event: Option<&str>, retry: Option<u64>, has_data: bool) -> Fields {
    Fields { id: id.map(str::to_owned), event: event.map(str::to_owned), retry, has_data }
}

fn data(text: &str) -> Got {
    Got::Event(text.as_bytes().to_vec(), fields(None, None, None, true))
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
    let grows = [b"id: ", [0xFF; MAX_VALUE_BYTES / 2].as_slice(), b"\n\n"].concat();
    assert_eq!(read(&grows, &[100]), [], "when it is made UTF-8");
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

/// Streams as servers send them, and odd ones.
const SEEDS: [&[u8]; 6] = [
    b"event: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
    b": ping\r\n\r\nretry: 1500\r\nid: a-1\r\ndata:\r\n\r\ndata: x\r\ndata: y\r\n\r\n",
    b"\xEF\xBB\xBFdata: a\r\rdata\rdata: b\r\rid\n\n",
    b"event: endpoint\ndata: /messages?sessionId=1\n\n: comment\ndata: \xF0\x9F\x8C\x8A\n\n",
    b"data:  two spaces\nunknown: x\nid: \0\nretry: 12x\n\ndata",
    b"\n\n\r\n:\n:\ndata:data:\n\n",
];

/// What mutations put in.
const PIECES: [&[u8]; 12] = [
    b"\n",
    b"\r",
    b"\r\n",
    b":",
    b" ",
    b"data",
    b"id: ",
    b"event:",
    b"retry: 9",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xFF",
];

#[test]
fn thousands_of_broken_streams_are_read_as_the_standard_says() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit.max(1) as u64).unwrap()
    };
    for round in 0..6_000 {
        let mut input = SEEDS[round % SEEDS.len()].to_vec();
        for _ in 0..=below(6) {
            let at = below(input.len() + 1);
            let end = (at + below(9)).min(input.len());
            match below(4) {
                0 => drop(input.drain(at..end)),
                1 => drop(input.splice(at..at, PIECES[below(PIECES.len())].iter().copied())),
                2 => {
                    let again = input[at..end].to_vec();
                    input.splice(at..at, again);
                }
                _ => input.truncate(at.max(1)),
            }
        }
        let portions = u8::try_from(below(256)).unwrap();
        judge(&[&[portions], input.as_slice()].concat());
    }
}
