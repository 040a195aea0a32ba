//! The log file: what is written there, by whom, and what is not.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, process::Stdio};

use forebay_testkit::peer::Peer;
use serde_json::Value;

use super::{doctor, found, new_home};
use crate::{call, forebay};

/// The lines of all files, each of which must be one.
fn lines(home: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    for name in ["forebay.log.2", "forebay.log.1", "forebay.log"] {
        let text = fs::read_to_string(home.join("logs").join(name)).unwrap_or_default();
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        all.extend(text.lines().map(read));
    }
    all
}

#[test]
fn why_a_client_got_nothing_is_written_down_and_the_doctor_tells_it() {
    let home = new_home("failing");
    let run = |arguments: &[&str]| {
        let mut peer = Peer::start(forebay(arguments).env("FOREBAY_HOME", &home));
        peer.close_input();
        peer.wait();
    };
    run(&["wrap", "--env", "TOKEN=hush", "--", "/no/such/program", "--key=hush"]);
    run(&["wrap", "--no-such-option", "--", "cat"]);
    let logged = lines(&home);
    assert_eq!(logged.len(), 2, "{logged:#?}");
    for line in &logged {
        assert_eq!((&line["level"], &line["command"]), (&"error".into(), &"wrap".into()));
        assert!(line["pid"].as_u64().is_some() && line["time"].as_str().is_some(), "{line}");
    }
    let why = "there is no file `/no/such/program`";
    assert!(logged[0]["message"].as_str().unwrap().contains(why), "{logged:#?}");
    assert!(!serde_json::to_string(&logged).unwrap().contains("hush"), "{logged:#?}");
    let mode = |name: &str| fs::metadata(home.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("logs"), mode("logs/forebay.log")), (0o700, 0o600));
    let told = found(&mut doctor(&home, &["--no-start"]));
    assert!(told.is_well(), "what is past is no problem");
    let errors = told.of("log", "warning");
    assert!(errors.iter().any(|it| it["text"].as_str().unwrap().contains(why)), "{errors:#?}");
}

#[test]
fn a_url_that_cannot_be_reached_is_written_down_once_a_session() {
    let home = new_home("unreachable");
    let mut peer = Peer::start(
        forebay(["wrap", "--url", "http://127.0.0.1:1/mcp?key=hush"]).env("FOREBAY_HOME", &home),
    );
    for id in 1..4 {
        assert!(peer.ask(&call(id, "echo", 0)).contains("cannot reach upstream"));
    }
    peer.close_input();
    peer.wait();
    let logged = lines(&home);
    let warned = logged.iter().filter(|it| it["level"] == "warn").collect::<Vec<_>>();
    assert_eq!(warned.len(), 1, "{logged:#?}");
    let message = warned[0]["message"].as_str().unwrap();
    assert!(message.contains("cannot reach upstream") && !message.contains("hush"), "{message}");
}

#[test]
fn mistakes_of_whoever_types_are_not_written_down() {
    let home = new_home("typing");
    fs::create_dir_all(&home).unwrap();
    for arguments in [&["datasets", "show", "k3v9x2ma"][..], &["query", "SELECT 1"], &["nonsense"]]
    {
        assert!(!forebay(arguments).env("FOREBAY_HOME", &home).output().unwrap().status.success());
    }
    assert!(!home.join("logs").exists());
}

#[test]
fn the_level_is_a_setting_and_off_leaves_no_file() {
    let home = new_home("level");
    let with = |level: &str| {
        let _ = fs::remove_dir_all(home.join("logs"));
        let mut command = forebay(["wrap", "--name", "s", "--", "true"]);
        command.env("FOREBAY_HOME", &home).env("FOREBAY_LOG_FILE_LEVEL", level);
        command.env("FOREBAY_ODD", "1");
        let mut peer = Peer::start(&mut command);
        peer.close_input();
        peer.wait();
        let levels =
            lines(&home).into_iter().map(|line| line["level"].as_str().unwrap().to_owned());
        levels.collect::<Vec<_>>()
    };
    assert_eq!(with("off"), Vec::<String>::new());
    assert!(!home.join("logs").exists());
    assert_eq!(with("error"), Vec::<String>::new());
    assert_eq!(with("warn"), ["warn"]);
    assert!(with("info").contains(&"info".to_owned()));
}

#[test]
fn many_processes_share_the_file_and_no_line_is_torn() {
    const PROCESSES: usize = 8;
    const VARIABLES: usize = 1_000;
    let home = new_home("shared");
    fs::create_dir_all(&home).unwrap();
    let start = |_| {
        let mut command = forebay(["datasets", "list"]);
        command.env("FOREBAY_HOME", &home).stdout(Stdio::null()).stderr(Stdio::null());
        // Each means nothing, and is warned of.
        let variables =
            (0..VARIABLES).map(|at| (format!("FOREBAY_{}_{at:04}", "X".repeat(40)), "1"));
        command.envs(variables).spawn().unwrap()
    };
    let running: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut process in running {
        assert!(process.wait().unwrap().success());
    }
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for line in lines(&home) {
        *counts.entry(line["pid"].as_u64().unwrap()).or_default() += 1;
    }
    // The warning of the variable that all tests have makes none more.
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [VARIABLES; PROCESSES]);
    let size = |name: &str| fs::metadata(home.join("logs").join(name)).unwrap().len();
    assert!(size("forebay.log.1") >= 1 << 20, "it was full");
    for name in ["forebay.log", "forebay.log.1"] {
        assert!(size(name) < (1 << 20) + 100_000, "{name}: {}", size(name));
    }
}

#[test]
fn secrets_of_a_server_elsewhere_are_not_written_down() {
    let home = new_home("secrets");
    let mut command = forebay(["wrap", "--url", "http://me:hush-1@127.0.0.1:9/mcp?key=hush-2"]);
    command.args(["--header", "Authorization: Bearer hush-3"]).env("FOREBAY_HOME", &home);
    command.env("FOREBAY_LOG_FILE_LEVEL", "debug").env("FOREBAY_ODD", "1");
    let mut peer = Peer::start(&mut command);
    let answer = peer.ask(&call(1, "echo", 1).replace("\"count\":1", "\"password\":\"hush-4\""));
    assert!(answer.contains("error"), "{answer}");
    peer.close_input();
    peer.wait();
    let logged = serde_json::to_string(&lines(&home)).unwrap();
    assert!(logged.contains("FOREBAY_ODD") && !logged.contains("hush"), "{logged}");
}
