//! Messages of any size and split, in both directions at once, and lines that are none.

use std::{
    io::{BufRead, BufReader, Write},
    thread,
    time::Duration,
};

use forebay_testkit::peer::{Peer, eventually};

use crate::{call, forebay, text_of, untouched_fixture, wrapped_fixture};

const MIB: usize = 1 << 20;

/// `forebay wrap` in front of `cat`: what goes in comes back.
fn wrapped_cat() -> Peer {
    Peer::start(&mut forebay(["wrap", "--grace", "1", "--", "cat"]))
}

/// A call whose argument is `bytes` long.
fn long_call(id: u32, bytes: usize) -> String {
    let text = "x\\n\\\"é".repeat(bytes / 8);
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"echo","arguments":"{text}"}}}}"#
    )
}

fn peak_mib(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[test]
fn a_byte_at_a_time_arrives_whole() {
    let mut peer = wrapped_cat();
    let line = "{\"method\":\"notifications/x\",\"params\":{\"text\":\"é漢\\\"\"}}\r\n";
    for byte in line.as_bytes() {
        peer.send_bytes(&[*byte]);
        peer.input().flush().unwrap();
    }
    assert_eq!(peer.next_bytes().unwrap(), line.as_bytes());
}

#[test]
fn crlf_blank_lines_batches_and_an_open_end_come_back_as_they_were() {
    let mut peer = wrapped_cat();
    let input = "\n\r\n  \n{\"method\":\"a\"}\r\n[{\"method\":\"b\"},{\"method\":\"c\"}]\n42\n\"text\"\n\
                 {\"jsonrpc\":\"9\",\"method\":\"future/x\",\"later\":1e400}\n{\"method\":\"no newline\"}";
    peer.send_bytes(input.as_bytes());
    peer.close_input();
    let mut output = Vec::new();
    while let Some(line) = peer.next_bytes() {
        output.extend(line);
    }
    assert_eq!(String::from_utf8(output).unwrap(), input);
}

#[test]
fn a_client_line_that_is_not_json_is_answered_and_the_session_goes_on() {
    let mut peer = wrapped_cat();
    let error = peer.ask("{\"id\":1,");
    assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#), "{error}");
    let long = format!("[\"{}\"", "x".repeat(6 * MIB));
    let error = peer.ask(&long);
    assert!(error.contains("-32700"), "spooled lines are checked too: {error}");
    assert_eq!(peer.ask(r#"{"method":"b"}"#), r#"{"method":"b"}"#);
}

#[test]
fn an_upstream_line_that_is_not_json_is_logged_and_passed_on() {
    let script = "printf 'Listening\\n\\377\\n'; cat";
    let mut peer = Peer::start(&mut forebay(["wrap", "--name", "s", "--", "sh", "-c", script]));
    assert_eq!(peer.next_bytes().unwrap(), b"Listening\n");
    assert_eq!(peer.next_bytes().unwrap(), b"\xff\n");
    peer.close_input();
    let log = peer.wait_for_stderr();
    assert_eq!(log.matches("upstream sent a line that is not JSON").count(), 2, "{log}");
}

#[test]
fn lines_of_every_size_around_the_limits_come_back_as_they_were() {
    let mut peer = wrapped_cat();
    for bytes in [100, 65_535, 65_536, 65_537, 200_000, 4 * MIB - 90, 4 * MIB + 90, 9 * MIB] {
        let line = long_call(1, bytes);
        peer.send(&line);
        assert!(peer.next_line() == line, "a line of {bytes} bytes has changed");
    }
}

#[test]
fn large_messages_in_both_directions_at_once_do_not_deadlock() {
    let mut peer = Peer::start_without_reading(&mut untouched_fixture());
    // Neither side reads before it has written: the upstream by its nature, the client here.
    peer.0.send(&call(1, "bytes", 64 * MIB as u64));
    peer.0.send(&long_call(2, 64 * MIB));
    let mut reader = BufReader::new(peer.1);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    reader.read_until(b'\n', &mut first).unwrap();
    reader.read_until(b'\n', &mut second).unwrap();
    assert!(first.len() > 63 * MIB && first.ends_with(b"\"id\":1}\n"));
    let length: usize = text_of(std::str::from_utf8(&second).unwrap()).parse().unwrap();
    assert_eq!(length, long_call(2, 64 * MIB).len() + 1);
}

#[test]
fn a_slow_reader_slows_the_writer() {
    let (mut peer, output) = Peer::start_without_reading(&mut untouched_fixture());
    let mut reader = BufReader::new(output);
    let mut line = String::new();
    peer.send(&call(1, "pid", 0));
    reader.read_line(&mut line).unwrap();
    let upstream = text_of(&line);
    let written = || -> usize {
        let io = std::fs::read_to_string(format!("/proc/{upstream}/io")).unwrap();
        let line = io.lines().find(|line| line.starts_with("wchar")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    peer.send(&call(2, "bytes", 200 * MIB as u64));
    eventually("the upstream stands still", || {
        let before = written();
        thread::sleep(Duration::from_millis(200));
        before > 100_000 && written() == before
    });
    assert!(written() < 2 * MIB, "no more is taken than the pipes hold: {}", written());
    let peak = peak_mib(peer.child.id());
    assert!(peak < 32, "{peak} MiB");
    let mut rest = Vec::new();
    reader.read_until(b'\n', &mut rest).unwrap();
    assert!(rest.len() > 199 * MIB, "and then the rest comes");
}

#[test]
fn a_message_of_many_megabytes_passes_in_little_memory() {
    let mut peer = Peer::start(&mut untouched_fixture());
    let answer = peer.ask(&call(1, "bytes", 100 * MIB as u64));
    assert!(answer.len() > 99 * MIB);
    let length = text_of(&peer.ask(&long_call(2, 100 * MIB)));
    assert_eq!(length.parse::<usize>().unwrap(), long_call(2, 100 * MIB).len() + 1);
    let peak = peak_mib(peer.child.id());
    assert!(peak <= 64, "{peak} MiB");
}

#[test]
fn a_message_that_cannot_be_spooled_passes_all_the_same() {
    let mut command = wrapped_fixture();
    command.env("FOREBAY_HOME", "/dev/null/nowhere");
    let mut peer = Peer::start(&mut command);
    let length = text_of(&peer.ask(&long_call(2, 20 * MIB)));
    assert_eq!(length.parse::<usize>().unwrap(), long_call(2, 20 * MIB).len() + 1);
    peer.close_input();
    let log = peer.wait_for_stderr();
    assert!(log.contains("cannot spool a large message to disk; passed on unread"), "{log}");
}
