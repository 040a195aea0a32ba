//! Streams as scripts: what is said, read, left and come back to.

use forebay_wire::Line;

use super::*;

fn id(json: &str) -> Id {
    Id::parse(json.as_bytes()).unwrap()
}

fn say(streams: &mut Streams, json: &str) {
    let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!("{json}") };
    let message = Message::of(vec![json.as_bytes().to_vec().into()]);
    if let Some(destination) =
        streams.destination(std::slice::from_ref(&envelope), Source::Line(json.as_bytes()))
    {
        streams.say(destination, &[envelope], message);
    }
}

fn drained(streams: &mut Streams, mut place: Place, reader: u64) -> (Vec<String>, bool) {
    let mut said = Vec::new();
    loop {
        match streams.next(place, reader) {
            Next::Event(next, message) => {
                place = next;
                said.push(String::from_utf8(message.into_bytes().unwrap()).unwrap());
            }
            Next::Wait => return (said, false),
            Next::Over => return (said, true),
        }
    }
}

#[test]
fn each_message_goes_to_the_stream_of_its_request() {
    let mut log = Streams::default();
    let first = log.open(&[id("1")], &[id("\"t\"")], true);
    let second = log.open(&[id("2")], &[], true);
    let readers = (log.read(first).unwrap(), log.read(second).unwrap());
    let progress = r#"{"method":"notifications/progress","params":{"progressToken":"t"}}"#;
    let question = r#"{"id":1,"method":"sampling/createMessage"}"#;
    let (one, two) = (r#"{"id":1,"result":{}}"#, r#"{"id":2,"result":{}}"#);
    for json in [progress, question, two, one, question] {
        say(&mut log, json);
    }
    let standalone = log.read(STANDALONE).unwrap();
    let mut read = |stream, reader| drained(&mut log, Place { stream, event: 0 }, reader);
    assert_eq!(read(first, readers.0), (vec![progress.to_owned(), one.to_owned()], true));
    // While both are under way the newest is meant; then there is only the standalone stream.
    assert_eq!(read(second, readers.1), (vec![question.to_owned(), two.to_owned()], true));
    assert_eq!(read(STANDALONE, standalone), (vec![question.to_owned()], false));
}

#[test]
fn a_client_that_comes_back_gets_what_it_has_not_got() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1")], &[id("7")], true);
    let reader = log.read(stream).unwrap();
    let progress = |n| {
        format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":7,"progress":{n}}}}}"#
        )
    };
    for n in 0..3 {
        say(&mut log, &progress(n));
    }
    let Next::Event(place, _) = log.next(Place { stream, event: 0 }, reader) else { panic!() };
    log.leave(stream, reader);
    say(&mut log, r#"{"id":1,"result":{}}"#);
    let place = Place::parse(&place.id()).unwrap();
    let again = log.read(stream).unwrap();
    let (said, is_over) = drained(&mut log, place, again);
    assert_eq!(said, [progress(1), progress(2), r#"{"id":1,"result":{}}"#.to_owned()]);
    assert!(is_over);
    assert!(matches!(log.next(place, reader), Next::Over), "the first reader has been relieved");
    assert!(log.read(99).is_none() && Place::parse("x").is_none());
}

#[test]
fn what_nobody_reads_is_bounded_and_the_last_word_stays() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1")], &[id("7")], true);
    log.can_be_resumed(stream);
    let padding = "x".repeat(100_000);
    for _ in 0..200 {
        say(
            &mut log,
            &format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":7,"message":"{padding}"}}}}"#
            ),
        );
    }
    say(&mut log, r#"{"id":1,"result":{}}"#);
    assert!(Excess::of(log.all.values()).bytes <= limits::KEPT_BYTES);
    let reader = log.read(stream).unwrap();
    let (said, is_over) = drained(&mut log, Place { stream, event: 0 }, reader);
    assert_eq!(said.last().unwrap(), r#"{"id":1,"result":{}}"#);
    assert!(is_over);
}

#[test]
fn an_answer_alone_needs_no_stream() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1")], &[], true);
    assert!(!log.has_begun(stream) && log.take_sole_answer(stream).is_none());
    say(&mut log, r#"{"id":1,"result":{}}"#);
    assert!(log.has_begun(stream));
    assert!(log.take_sole_answer(stream).is_some());
    assert!(!log.is_awaited() && log.read(stream).is_none());
}

#[test]
fn a_batch_is_answered_by_one_line_or_several() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1"), id("2"), id("3")], &[], true);
    let reader = log.read(stream).unwrap();
    let both = r#"[{"id":1,"result":{}},{"id":3,"result":{}}]"#;
    let Line::Batch(envelopes) = Line::of(both.as_bytes()) else { panic!() };
    let message = Message::of(vec![both.as_bytes().to_vec().into()]);
    let destination = log.destination(&envelopes, Source::Line(both.as_bytes())).unwrap();
    log.say(destination, &envelopes, message);
    assert!(log.is_awaited());
    say(&mut log, r#"{"id":2,"result":{}}"#);
    let (said, is_over) = drained(&mut log, Place { stream, event: 0 }, reader);
    assert!(said.len() == 2 && is_over, "{said:?}");
}

#[test]
fn who_leaves_without_a_place_to_come_back_to_is_forgotten() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1")], &[], true);
    let reader = log.read(stream).unwrap();
    log.leave(stream, reader);
    assert!(!log.is_awaited() && log.read(stream).is_none());
    say(&mut log, r#"{"id":1,"result":{}}"#);
    assert!(log.all.is_empty());
}

#[test]
fn what_is_said_to_a_stream_that_was_left_meanwhile_is_for_nobody() {
    let mut log = Streams::default();
    let stream = log.open(&[id("1")], &[], true);
    let reader = log.read(stream).unwrap();
    let json = r#"{"id":1,"result":{}}"#;
    let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!() };
    let envelopes = [envelope];
    let destination = log.destination(&envelopes, Source::Line(json.as_bytes())).unwrap();
    log.leave(stream, reader);
    let message = Message::of(vec![json.as_bytes().to_vec().into()]);
    log.say(destination, &envelopes, message);
    assert!(log.all.is_empty());
}

#[test]
fn a_cancelled_request_leaves_no_token() {
    let mut log = Streams::default();
    log.open(&[id("1"), id("2")], &[id("7"), id("8")], true);
    log.cancel(&id("1"));
    assert_eq!(log.tokens.len(), 2, "the other one may still have one");
    log.cancel(&id("2"));
    assert!(log.tokens.is_empty() && log.waiting.is_empty() && !log.is_awaited());
}

#[test]
fn the_stream_that_belongs_to_no_request_goes_on_after_its_events_were_dropped() {
    let mut log = Streams::default();
    let note = |number: u32| format!(r#"{{"method":"note","params":{{"number":{number}}}}}"#);
    say(&mut log, &note(1));
    let reader = log.read(STANDALONE).unwrap();
    let begin = Place { stream: STANDALONE, event: 0 };
    let Next::Event(place, _) = log.next(begin, reader) else { panic!() };
    log.leave(STANDALONE, reader);
    say(&mut log, &note(2));
    let padding = "x".repeat(1_000_000);
    for number in 0..50 {
        let stream = log.open(&[id(&number.to_string())], &[], true);
        log.can_be_resumed(stream);
        say(&mut log, &format!(r#"{{"id":{number},"result":"{padding}"}}"#));
    }
    say(&mut log, &note(3));
    let again = log.read(STANDALONE).unwrap();
    assert_eq!(drained(&mut log, place, again), (vec![note(3)], false));
}

#[test]
fn answers_that_nobody_comes_back_for_are_bounded() {
    let mut log = Streams::default();
    let padding = "x".repeat(1_000_000);
    for number in 0..50 {
        let stream = log.open(&[id(&number.to_string())], &[], true);
        log.can_be_resumed(stream);
        say(&mut log, &format!(r#"{{"id":{number},"result":"{padding}"}}"#));
    }
    assert!(Excess::of(log.all.values()).bytes <= limits::KEPT_BYTES);
    let newest = log.read(50).unwrap();
    assert!(matches!(log.next(Place { stream: 50, event: 0 }, newest), Next::Event(..)));
}
