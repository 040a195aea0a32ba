//! The command line: mistakes, options, recordings and logs.

use std::os::unix::fs::PermissionsExt;

use forebay_testkit::{
    corpus::{self, Recorded},
    peer::Peer,
    programs,
};

use crate::{call, forebay, home, text_of, wrapped_fixture};

fn output_of(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = forebay(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn mistakes_on_the_command_line_say_what_to_write() {
    let mistakes: [(&[&str], i32); 5] = [
        (&["wrap"], 2),
        (&["wrap", "--recrod", "file", "--", "cat"], 2),
        (&["wrap", "--env", "FOO", "--", "cat"], 2),
        (&["wrap", "--grace", "soon", "--", "cat"], 2),
        (&["wrap", "--record", "/nonexistent/file", "--", "cat"], 1),
    ];
    let said = mistakes.map(|(arguments, expected)| {
        let (stdout, stderr, code) = output_of(arguments);
        assert_eq!((stdout.as_str(), code), ("", Some(expected)), "{arguments:?}");
        assert!(stderr.starts_with("forebay: "), "{stderr}");
        format!("$ forebay {}\n{stderr}", arguments.join(" "))
    });
    insta::assert_snapshot!("mistakes", said.join("\n"));
}

#[test]
fn dashes_before_the_command_are_optional_and_those_after_it_its_own() {
    for arguments in [
        ["wrap", "--", "echo", "--env", "--", "x"],
        ["wrap", "--grace=1", "echo", "--env", "--", "x"],
    ] {
        let peer = Peer::start(&mut forebay(arguments));
        assert_eq!(peer.next_line(), "--env -- x");
    }
}

#[test]
fn the_environment_is_kept_and_added_to() {
    let mut command = forebay(["wrap", "--env", "FIXTURE=added", "--"]);
    command.arg(programs::fixture_upstream());
    let mut peer = Peer::start(&mut command);
    assert_eq!(text_of(&peer.ask(&call(1, "environment", 0))), "added");

    let mut kept = wrapped_fixture();
    kept.env("FIXTURE", "kept");
    let mut peer = Peer::start(&mut kept);
    assert_eq!(text_of(&peer.ask(&call(1, "environment", 0))), "kept");
}

#[test]
fn the_upstream_starts_in_the_directory_it_is_given() {
    let peer = Peer::start(&mut forebay(["wrap", "--cwd", "/", "--", "pwd"]));
    assert_eq!(peer.next_line(), "/");
    let mut peer = Peer::start(&mut forebay(["wrap", "--cwd", "/nowhere", "--", "pwd"]));
    peer.close_input();
    let said = peer.wait_for_stderr();
    assert_eq!(said, "forebay: cannot start upstream `pwd`: there is no directory `/nowhere`\n");
}

#[test]
fn a_recording_holds_every_line_of_both_sides_and_no_environment() {
    let file = home().join("recording.jsonl");
    let _ = std::fs::remove_file(&file);
    let mut command = forebay(["wrap", "--env", "TOKEN=hush", "--record"]);
    command.arg(&file).args(["--", "sh", "-c", "printf 'not json \\377\\n'; cat"]);
    let lines = [
        "{\"id\":1,\"method\":\"ping\",\"params\":{\"text\":\"\\\"é\\\\\"}}\r\n".to_owned(),
        "\n".to_owned(),
        format!("[\"{}\"]\n", "long \\u0001".repeat(600_000)),
    ];
    let mut expected =
        vec![Recorded { from: "upstream".to_owned(), line: b"not json \xff\n".to_vec() }];
    let mut peer = Peer::start(&mut command);
    assert_eq!(peer.next_bytes().unwrap(), b"not json \xff\n");
    for line in &lines {
        peer.send_bytes(line.as_bytes());
        assert!(peer.next_bytes().unwrap() == line.as_bytes());
        for from in ["client", "upstream"] {
            expected.push(Recorded { from: from.to_owned(), line: line.clone().into_bytes() });
        }
    }
    peer.close_input();
    peer.wait();
    assert!(corpus::read(&file) == expected, "the recording differs from what passed");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(r#"{"command":["sh","-c","#), "{}", &text[..100]);
    assert!(!text.contains("hush"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn sessions_can_share_a_recording_even_one_that_was_cut_off() {
    let file = home().join("shared.jsonl");
    std::fs::write(&file, "{\"at_ms\":1,\"from\":\"cli").unwrap();
    let line = format!("[\"{}\"]\n", "x".repeat(20_000));
    let mut peers: Vec<Peer> = (0..4)
        .map(|_| {
            let mut command = forebay(["wrap", "--record"]);
            command.arg(&file).args(["--", "cat"]);
            Peer::start(&mut command)
        })
        .collect();
    for _ in 0..20 {
        for peer in &mut peers {
            peer.send_bytes(line.as_bytes());
        }
    }
    for peer in &mut peers {
        (0..20).for_each(|_| assert!(peer.next_bytes().unwrap() == line.as_bytes()));
        peer.close_input();
        peer.wait();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let (cut, rest) = text.split_once('\n').unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(cut).is_err());
    let entries = rest.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(entries.count(), 4 + 4 * 20 * 2);
}

#[test]
fn logs_are_for_people_or_json_and_go_to_stderr() {
    let log = |arguments: &[&str], variable: &str| {
        let mut command = forebay(arguments);
        command.env("RUST_LOG", variable).args(["wrap", "--name", "s", "--", "true"]);
        let mut peer = Peer::start(&mut command);
        peer.close_input();
        assert_eq!(peer.next_bytes(), None, "stdout belongs to the protocol");
        peer.wait_for_stderr()
    };
    assert_eq!(log(&[], ""), "", "silent by default");
    assert!(log(&["--log-level", "info"], "off").contains("INFO upstream started upstream=s pid="));
    assert!(log(&[], "info").contains("INFO upstream started"));
    let odd = log(&[], "a=b=c");
    assert!(odd.starts_with("forebay: RUST_LOG is passed over: `a=b=c`"), "{odd}");
    let json = log(&["--log-level", "info", "--log-format", "json"], "");
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["message"], "upstream started");
    assert_eq!(first["upstream"], "s");
}
