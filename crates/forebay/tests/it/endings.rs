//! Every way in which one of the three parties can end, or hang. Nobody is left behind, and nobody
//! waits for ever.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    process::{ChildStdout, Command, Stdio},
    time::Duration,
};

use forebay_testkit::{
    peer::{Peer, eventually, is_running},
    programs,
};

use crate::{call, forebay, text_of, unanswered, untouched_fixture, upstream_pid, wrapped_fixture};

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

fn kill(signal: i32, pid: u32) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).status();
    assert!(sent.expect("kill starts").success());
}

/// Waits until a pipe that nobody reads takes hardly any more: its last page may stay open.
fn is_filled(pipe: &ChildStdout) {
    eventually("the pipe is full", || rustix::io::ioctl_fionread(pipe).unwrap() >= 60_000);
}

/// `forebay wrap` in front of a shell script.
fn wrapped_script(script: &str) -> Command {
    let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--", "sh", "-c"]);
    command.arg(script);
    command
}

/// The same with nothing kept.
fn untouched_script(script: &str) -> Command {
    let mut command =
        forebay(["wrap", "--no-capture", "--grace", "0.1", "--name", "fixture", "--"]);
    command.args(["sh", "-c", script]);
    command
}

#[test]
fn upstream_killed_answers_every_pending_call() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    let pid = upstream_pid(&mut peer);
    peer.send(&call(1, "hang", 0));
    peer.send(r#"{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"hang"}}"#);
    // The answer to a third call shows that the first two have arrived.
    peer.ask(&call(3, "echo", 0));
    kill(SIGKILL, pid);
    let how = "was ended by signal 9 (SIGKILL)";
    assert_eq!(peer.next_line(), unanswered("1", how));
    assert_eq!(peer.next_line(), unanswered("\"two\"", how));
    assert_eq!(peer.next_bytes(), None);
    assert_eq!(peer.wait().signal(), Some(SIGKILL), "it ends as its upstream did");
}

#[test]
fn upstream_exiting_with_a_call_pending_names_its_code() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    assert_eq!(peer.ask(&call(1, "exit", 7)), unanswered("1", "exited with code 7"));
    assert_eq!(peer.wait().code(), Some(7));
}

#[test]
fn upstream_exiting_at_once_is_the_answer_to_initialize() {
    let mut peer = Peer::start(&mut wrapped_script("echo no config >&2; exit 3"));
    let answer = peer.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    assert_eq!(answer, unanswered("0", "exited with code 3"));
    assert_eq!(peer.wait().code(), Some(3));
    assert!(peer.wait_for_stderr().contains("no config"), "its stderr is ours");
}

#[test]
fn upstream_hung_is_ended_after_the_client_closes() {
    let mut peer =
        Peer::start(&mut wrapped_script("trap '' TERM; echo $$; while :; do sleep 1; done"));
    let pid: u32 = peer.next_line().parse().unwrap();
    peer.send(&call(1, "echo", 0));
    peer.close_input();
    // Its call is answered although it ignores the end of its input and SIGTERM.
    assert_eq!(peer.next_line(), unanswered("1", "was ended by signal 9 (SIGKILL)"));
    assert_eq!(peer.wait().signal(), Some(SIGKILL));
    assert!(!is_running(pid));
}

#[test]
fn upstream_closing_its_output_only_is_noticed_and_ended() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    let pid = upstream_pid(&mut peer);
    peer.send(&call(1, "hang", 0));
    assert_eq!(
        peer.ask(&call(2, "close-output", 0)),
        unanswered("1", "closed its output without exiting")
    );
    assert_eq!(peer.next_line(), unanswered("2", "closed its output without exiting"));
    assert_eq!(peer.wait().signal(), Some(SIGTERM));
    assert!(!is_running(pid));
}

#[test]
fn upstream_closing_its_input_only_is_noticed_and_ended() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    let pid = upstream_pid(&mut peer);
    peer.send(&call(1, "close-input", 0));
    eventually("the upstream has become another program", || {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default() == "sleep\n"
    });
    peer.send(&call(2, "echo", 0));
    assert_eq!(peer.next_line(), unanswered("1", "was ended by signal 15 (SIGTERM)"));
    assert_eq!(peer.next_line(), unanswered("2", "was ended by signal 15 (SIGTERM)"));
    assert!(!is_running(pid));
}

#[test]
fn output_held_open_by_what_an_upstream_started_does_not_hang() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    let grandchild: u32 = text_of(&peer.ask(&call(1, "spawn", 0))).parse().unwrap();
    assert_eq!(peer.ask(&call(2, "exit", 4)), unanswered("2", "exited with code 4"));
    assert_eq!(peer.wait().code(), Some(4));
    eventually("the grandchild is gone", || !is_running(grandchild));
}

#[test]
fn client_closing_its_output_only_still_gets_its_answers() {
    for mut command in [untouched_fixture(), wrapped_fixture()] {
        let mut peer = Peer::start(&mut command);
        for id in 0..100 {
            peer.send(&call(id, "bytes", 50_000));
        }
        peer.close_input();
        // Results that are kept may overtake each other.
        let answered: BTreeSet<u64> = (0..100)
            .map(|_| serde_json::from_str::<serde_json::Value>(&peer.next_line()).unwrap())
            .map(|answer| answer["id"].as_u64().filter(|_| answer["result"].is_object()).unwrap())
            .collect();
        assert_eq!(answered, (0..100).collect());
        assert_eq!(peer.next_bytes(), None);
        assert_eq!(peer.wait().code(), Some(0));
    }
}

#[test]
fn client_closing_before_the_upstream_is_ready_still_gets_its_answer() {
    // As with `npx`, which installs for longer than the grace period.
    let mut peer = Peer::start(&mut wrapped_script("sleep 0.5; read -r line; echo \"$line\""));
    let ping = r#"{"id":1,"method":"ping"}"#;
    peer.send(ping);
    peer.close_input();
    assert_eq!(peer.next_line(), ping);
}

#[test]
fn client_slow_to_read_gets_all_that_an_ended_upstream_has_said() {
    // What is held leaves its pipe at once. What is let through stays in the pipes, which take just as
    // much that it can end.
    for (script, length) in
        [(wrapped_script as fn(&str) -> Command, 3_000_000), (untouched_script, 180_000)]
    {
        let says = format!("echo $$; head -c {length} /dev/zero | tr '\\0' x; echo");
        let (mut peer, output) = Peer::start_without_reading(&mut script(&says));
        let mut reader = BufReader::with_capacity(16, output);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let upstream: u32 = line.trim().parse().unwrap();
        eventually("it has ended", || !is_running(upstream));
        // That nothing is given up needs time: longer than the upstream's end takes to settle.
        std::thread::sleep(Duration::from_millis(1500));
        line.clear();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line.len(), length + 1);
        assert_eq!(peer.wait().code(), Some(0));
    }
}

#[test]
fn client_killed_while_the_upstream_takes_no_input_ends_everything() {
    let notification = r#"{"method":"notifications/x"}"#;
    let mut client = Command::new("yes").arg(notification).stdout(Stdio::piped()).spawn().unwrap();
    let mut command = wrapped_script("echo $$; exec sleep 1000");
    let mut forebay =
        command.stdin(client.stdout.take().unwrap()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(forebay.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let upstream: u32 = line.trim().parse().unwrap();
    let written = || std::fs::read_to_string(format!("/proc/{}/io", client.id())).unwrap();
    eventually("all pipes are full", || {
        let before = written();
        std::thread::sleep(Duration::from_millis(200));
        written() == before
    });
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(forebay.wait().unwrap().signal(), Some(SIGTERM));
    assert!(!is_running(upstream));
}

#[test]
fn client_not_reading_is_waited_for_until_it_is_gone() {
    let mut command = forebay(["wrap", "--no-capture", "--grace", "0.05", "--"]);
    let (mut peer, output) = Peer::start_without_reading(command.arg(programs::fixture_upstream()));
    peer.send(&call(1, "bytes", 50_000_000));
    peer.close_input();
    is_filled(&output);
    // That it is not given up needs time: more than the 30 grace periods that an answer may take.
    std::thread::sleep(Duration::from_secs(2));
    assert!(peer.child.try_wait().unwrap().is_none(), "its answer is kept for it");
    drop(output);
    peer.wait();
}

#[test]
fn client_not_reading_does_not_keep_a_signal_from_ending_forebay() {
    for script in ["exec yes '{\"method\":\"x\"}'", "yes '{\"method\":\"x\"}' | head -n 20000"] {
        let (mut peer, output) = Peer::start_without_reading(&mut wrapped_script(script));
        is_filled(&output);
        kill(SIGTERM, peer.child.id());
        peer.wait();
        drop(output);
    }
}

#[test]
fn client_that_sends_garbage_and_does_not_read_is_survived() {
    let mut command = wrapped_script("sleep 0.3; exit 5");
    let (mut peer, output) = Peer::start_without_reading(&mut command);
    // The answers fill the pipe, and then every courier waits.
    let garbage = "garbage\n".repeat(2_000);
    let mut input = peer.take_input();
    let writer = std::thread::spawn(move || drop(input.write_all(garbage.as_bytes())));
    is_filled(&output);
    kill(SIGTERM, peer.child.id());
    peer.wait();
    drop(output);
    writer.join().unwrap();
}

#[test]
fn upstream_dying_in_the_middle_of_a_line_is_told_on_a_line_of_its_own() {
    for length in [10, 200_000] {
        let script = format!(
            "read -r line; printf '{{\"id\":1,\"result\":\"'; head -c {length} /dev/zero | tr '\\0' x; kill -9 $$"
        );
        let mut peer = Peer::start(&mut wrapped_script(&script));
        peer.send(&call(1, "echo", 0));
        assert!(peer.next_line().starts_with(r#"{"id":1,"result":"xxxxxxxxxx"#));
        assert_eq!(peer.next_line(), unanswered("1", "was ended by signal 9 (SIGKILL)"));
    }
}

#[test]
fn upstream_ending_without_a_newline_has_answered_all_the_same() {
    for length in [10, 200_000] {
        let script = format!(
            "read -r line; printf '{{\"id\":1,\"result\":\"'; head -c {length} /dev/zero | tr '\\0' x; printf '\"}}'"
        );
        let mut peer = Peer::start(&mut wrapped_script(&script));
        peer.send(&call(1, "echo", 0));
        assert!(peer.next_line().ends_with("x\"}"));
        assert_eq!(peer.next_bytes(), None, "and no error follows");
    }
}

#[test]
fn upstream_exiting_while_a_grandchild_holds_a_line_open_does_not_hang() {
    let script = "read -r line; head -c 100000 /dev/zero | tr '\\0' x; sleep 1000 & exit 3";
    let mut peer = Peer::start(&mut untouched_script(script));
    peer.send(&call(1, "echo", 0));
    assert_eq!(peer.next_line().len(), 100_000);
    assert_eq!(peer.next_line(), unanswered("1", "exited with code 3"));
    assert_eq!(peer.wait().code(), Some(3));
    // A line that might be kept is held until it is whole, and may come after the error.
    let mut peer = Peer::start(&mut wrapped_script(script));
    peer.send(&call(1, "echo", 0));
    let lines: Vec<Vec<u8>> = std::iter::from_fn(|| peer.next_bytes()).collect();
    let error = format!("{}\n", unanswered("1", "exited with code 3")).into_bytes();
    assert!(lines.contains(&error), "{} lines", lines.len());
    assert_eq!(peer.wait().code(), Some(3));
}

#[test]
fn stderr_that_nobody_reads_ends_nothing() {
    // A pipe whose reader is gone.
    let mut command = wrapped_script("echo 'not json'; read -r line; exit 3");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", call(1, "echo", 0)).unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["not json".to_owned(), unanswered("1", "exited with code 3")]);
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn stderr_that_fills_up_does_not_stall_the_session() {
    let script = "i=0; while [ $i -lt 3000 ]; do echo 'a log line'; i=$((i+1)); done; cat";
    let mut command = wrapped_script(script);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let ping = r#"{"id":1,"method":"ping"}"#;
    writeln!(input, "{ping}").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line == ping));
    drop(input);
    child.wait().unwrap();
}

#[test]
fn stderr_that_is_full_holds_nobody() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    // A pipe's worth; nobody drains it.
    writer.write_all(&vec![b'x'; 65_536]).unwrap();
    let mut command = wrapped_script("echo 'not json'; read -r line; exit 3");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", call(1, "echo", 0)).unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["not json".to_owned(), unanswered("1", "exited with code 3")]);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    drop(reader);
}

#[test]
fn upstream_killed_leaves_no_call_unanswered_however_slow_the_client() {
    let mut command = wrapped_script("echo $$; exec sleep 1000");
    let (mut peer, output) = Peer::start_without_reading(&mut command);
    let mut reader = BufReader::new(output);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    // The answers are more than a pipe holds.
    for id in 0..2_000 {
        peer.send(&format!(r#"{{"id":{id},"method":"ping"}}"#));
    }
    // Garbage is answered last: all calls have arrived before it.
    peer.send("garbage");
    let upstream: u32 = line.trim().parse().unwrap();
    line.clear();
    reader.read_line(&mut line).unwrap();
    assert!(line.contains("-32700"), "{line}");
    kill(SIGKILL, upstream);
    eventually("it is gone", || !is_running(upstream));
    assert!(!reader.fill_buf().unwrap().is_empty(), "the first answers are in the pipe");
    // That the others are not given up needs time: several grace periods.
    std::thread::sleep(Duration::from_millis(500));
    let mut answered = 0;
    for line in reader.lines() {
        assert!(line.unwrap().ends_with(r#"was ended by signal 9 (SIGKILL)"}}"#));
        answered += 1;
    }
    assert_eq!(answered, 2_000);
}

#[test]
fn what_leaves_the_group_and_holds_a_line_open_keeps_no_call_unanswered() {
    let script = "read -r line; head -c 100000 /dev/zero | tr '\\0' x; setsid sleep 3 & exit 3";
    let mut peer = Peer::start(&mut untouched_script(script));
    peer.send(&call(1, "echo", 0));
    assert_eq!(peer.next_line().len(), 100_000);
    assert_eq!(peer.next_line(), unanswered("1", "exited with code 3"));
}

#[test]
fn the_guard_goes_home_when_there_is_nothing_to_guard() {
    let mut command = forebay(["wrap", "--grace", "77", "--", "cat"]);
    let mut peer = Peer::start(&mut command);
    peer.ask(r#"{"method":"x"}"#);
    let guards = || -> usize {
        let commands = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
        commands.filter(|command| command.contains("left=77")).count()
    };
    // For a moment after it was started a process has no command line.
    eventually("there is a guard", || guards() == 1);
    peer.close_input();
    peer.wait();
    assert_eq!(guards(), 0);
}

#[test]
fn a_signal_that_was_to_be_ignored_stays_so() {
    let mut command = Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" wrap -- sh -c 'grep SigIgn /proc/self/status; cat'";
    command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_forebay"));
    let mut peer = Peer::start(&mut command);
    let ignored = peer.next_line();
    let mask = u64::from_str_radix(ignored.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask & 1, 1, "{ignored}");
    kill(1, peer.child.id());
    assert_eq!(peer.ask(r#"{"method":"x"}"#), r#"{"method":"x"}"#);
}

#[test]
fn client_that_reads_no_more_ends_the_upstream() {
    let mut command = wrapped_fixture();
    command.arg("--stay");
    let (mut peer, output) = Peer::start_without_reading(&mut command);
    let mut reader = BufReader::new(output);
    peer.send(&call(1, "pid", 0));
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    drop(reader);
    // Its input stays open; that nobody reads shows when something is to be said.
    peer.send(&call(2, "echo", 0));
    assert_eq!(peer.wait().signal(), Some(SIGTERM));
    assert!(!is_running(text_of(&line).parse().unwrap()));
}

#[test]
fn client_killed_ends_everything() {
    // A shell stands for the client: it holds both pipes, and is killed.
    let script = format!(
        "mkfifo \"$0\"/in \"$0\"/out; \"$1\" wrap --grace 1 -- \"$2\" --stay <\"$0\"/in >\"$0\"/out & echo $!; \
         exec 3>\"$0\"/in 4<\"$0\"/out; echo '{}' >&3; head -n 1 <&4; exec sleep 1000",
        call(1, "pid", 0)
    );
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("client_killed");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let client = Peer::start(
        Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(&directory)
            .arg(env!("CARGO_BIN_EXE_forebay"))
            .arg(programs::fixture_upstream()),
    );
    let forebay: u32 = client.next_line().parse().unwrap();
    let upstream: u32 = text_of(&client.next_line()).parse().unwrap();
    assert!(is_running(forebay) && is_running(upstream));
    drop(client);
    eventually("forebay and its upstream are gone", || {
        !is_running(forebay) && !is_running(upstream)
    });
}

#[test]
fn forebay_killed_leaves_no_orphan() {
    let mut command = wrapped_fixture();
    command.arg("--stay");
    let mut peer = Peer::start(&mut command);
    let pid = upstream_pid(&mut peer);
    let grandchild: u32 = text_of(&peer.ask(&call(1, "spawn", 0))).parse().unwrap();
    kill(SIGKILL, peer.child.id());
    peer.wait();
    eventually("the upstream and what it started are gone", || {
        !is_running(pid) && !is_running(grandchild)
    });
}

#[test]
fn forebay_killed_takes_an_upstream_along_that_ignores_sigterm() {
    let mut peer =
        Peer::start(&mut wrapped_script("trap '' TERM; echo $$; while :; do sleep 1; done"));
    let pid: u32 = peer.next_line().parse().unwrap();
    kill(SIGKILL, peer.child.id());
    peer.wait();
    eventually("the upstream is gone", || !is_running(pid));
}

#[test]
fn a_signal_to_forebay_reaches_the_upstream() {
    let script = "trap 'echo got TERM; exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let mut peer = Peer::start(&mut wrapped_script(script));
    assert_eq!(peer.next_line(), "ready");
    kill(SIGTERM, peer.child.id());
    assert_eq!(peer.next_line(), "got TERM");
    assert_eq!(peer.wait().code(), Some(9));
}

#[test]
fn a_signal_that_ends_the_upstream_ends_forebay_alike() {
    let mut peer = Peer::start(&mut wrapped_fixture());
    upstream_pid(&mut peer);
    kill(SIGTERM, peer.child.id());
    assert_eq!(peer.wait().signal(), Some(SIGTERM));
}

#[test]
fn a_command_that_does_not_exist_is_the_answer_to_initialize() {
    let mut peer = Peer::start(&mut forebay(["wrap", "--", "no-such-server", "--flag"]));
    let reason = "cannot start upstream `no-such-server`: there is no `no-such-server` in PATH; \
                  install it or give its full path";
    let probe = peer.ask(r#"{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{}}"#);
    let answer = peer.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    for (line, id) in [(probe, "\"p\""), (answer, "0")] {
        assert_eq!(
            line,
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"{reason}"}}}}"#
            )
        );
    }
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(127));
    assert_eq!(peer.wait_for_stderr(), format!("forebay: {reason}\n"));
}

#[test]
fn a_command_that_does_not_exist_lets_go_of_a_busy_client_and_of_signals() {
    let mut peer = Peer::start(&mut forebay(["wrap", "--", "no-such-server"]));
    for _ in 0..200 {
        peer.send(r#"{"method":"notifications/x"}"#);
    }
    assert!(peer.ask(r#"{"id":0,"method":"initialize"}"#).contains("cannot start upstream"));
    kill(SIGTERM, peer.child.id());
    assert_eq!(peer.wait().code(), Some(127));
}

#[test]
fn a_command_that_may_not_be_run_says_so() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut peer = Peer::start(&mut forebay(["wrap", "--", manifest]));
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(126));
    let said = peer.wait_for_stderr();
    let hint = format!("`{manifest}` may not be executed; check its permissions");
    assert!(said.contains(&hint), "{said}");
}
