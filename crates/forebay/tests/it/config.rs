//! Settings, through the program as a whole.

use std::{fs, path::PathBuf};

use forebay_store::{Durability, Filter, Store};
use forebay_testkit::{http::HttpPeer, peer::Peer, programs};

use crate::{call, forebay, home};

/// A home of its own for a test, with this `forebay.toml` in it.
fn home_with(test: &str, settings: &str) -> PathBuf {
    let home = home().join(test);
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("forebay.toml"), settings).unwrap();
    home
}

/// `forebay wrap` with these options in front of the fixture upstream.
fn wrapped(home: &PathBuf, options: &[&str]) -> Peer {
    let mut command = forebay(["wrap", "--grace", "0.1"]);
    command.args(options).arg("--").arg(programs::fixture_upstream()).env("FOREBAY_HOME", home);
    Peer::start(&mut command)
}

/// True if a result of about so many bytes is replaced by a summary.
fn is_kept(peer: &mut Peer, tool: &str, bytes: u64) -> bool {
    peer.ask(&call(1, tool, bytes)).contains("Large response detected")
}

fn initialize(client: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
    )
}

#[test]
fn a_known_client_has_the_limit_that_it_is_known_for() {
    let home = home_with("config_presets", "");
    // 10 KB of records are fewer tokens than the default lets through.
    for (client, expected) in [("Cline", true), ("Visual Studio Code", true), ("other", false)] {
        let mut peer = wrapped(&home, &[]);
        peer.ask(&initialize(client));
        assert_eq!(is_kept(&mut peer, "bytes", 10_000), expected, "{client}");
    }
    let mut modern = wrapped(&home, &[]);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"cline"}}"#;
    let modern_call =
        call(1, "bytes", 10_000).replacen(r#""name""#, &format!(r#"{meta},"name""#), 1);
    assert!(modern.ask(&modern_call).contains("Large response detected"));
    let mut set = wrapped(&home, &["--threshold", "8192"]);
    set.ask(&initialize("Cline"));
    assert!(!is_kept(&mut set, "bytes", 10_000), "what is set goes before");
}

#[test]
fn tools_can_be_told_apart() {
    let settings = "excluded_tools = [\"p*d\"]\n[tools.\"by*\"]\nthreshold = 100\n[tools.\"*\"]\nnever = true\n";
    let home = home_with("config_tools", settings);
    let mut peer = wrapped(&home, &[]);
    assert!(is_kept(&mut peer, "bytes", 2_000));
    assert!(!is_kept(&mut wrapped(&home, &["--exclude", "b?tes"]), "bytes", 100_000));
    let mut off = wrapped(&home, &["--no-capture"]);
    assert!(!is_kept(&mut off, "bytes", 100_000));
    fs::write(home.join("forebay.toml"), "[tools.bytes]\nalways = true").unwrap();
    assert!(is_kept(&mut wrapped(&home, &[]), "bytes", 2_000));
    fs::write(home.join("forebay.toml"), "[tools.\"b*\"]\nnever = true").unwrap();
    assert!(!is_kept(&mut wrapped(&home, &["--threshold", "10"]), "bytes", 100_000));
}

#[test]
fn a_flag_goes_before_a_variable_and_a_variable_before_the_file() {
    let home = home_with("config_precedence", "threshold = 1_000_000");
    let kept_with = |variable: &str, options: &[&str]| {
        let mut command = forebay(["wrap", "--grace", "0.1"]);
        command.args(options).arg("--").arg(programs::fixture_upstream());
        command.env("FOREBAY_HOME", &home).env("FOREBAY_THRESHOLD", variable);
        is_kept(&mut Peer::start(&mut command), "bytes", 20_000)
    };
    assert!(!kept_with("", &[]));
    assert!(kept_with("1000", &[]));
    assert!(!kept_with("1000", &["--threshold", "1000000"]));
    let other = home.join("other.toml");
    fs::write(&other, "enabled = false").unwrap();
    assert!(!kept_with("1000", &["--config", other.to_str().unwrap()]));
}

#[test]
fn what_is_kept_goes_where_the_settings_say() {
    let home = home_with("config_location", "");
    let elsewhere = home.join("elsewhere");
    fs::write(home.join("forebay.toml"), format!("persist_location = {elsewhere:?}")).unwrap();
    assert!(is_kept(&mut wrapped(&home, &[]), "bytes", 100_000));
    assert!(!home.join("datasets").exists());
    let store = Store::open(&elsewhere, Durability::default()).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    let mut list = forebay(["datasets", "list"]);
    let listed = list.env("FOREBAY_HOME", &home).output().unwrap().stdout;
    assert!(String::from_utf8(listed).unwrap().contains("bytes"));
}

#[test]
fn nothing_starts_with_settings_that_cannot_be_used() {
    let home = home_with("config_mistakes", "treshold = 5\nenabled = 1");
    let started = home.join("started");
    let mut command = forebay(["wrap", "--threshold", "0", "--", "touch"]);
    let output = command.arg(&started).env("FOREBAY_HOME", &home).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    let file = home.join("forebay.toml");
    let expected = format!(
        "forebay: the settings cannot be used:\n  {0}:1: there is no setting `treshold`; write \
         `threshold`\n  {0}:2: `enabled` cannot be 1; write `true` or `false`\n  --threshold: \
         cannot be `0`; write a number, 1 or more\n",
        file.display()
    );
    assert_eq!(said, expected);
    assert!(!started.exists());
}

/// What a client is told that asks this.
fn refusal(peer: &mut Peer, request: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(&peer.ask(request)).unwrap();
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

#[test]
fn a_client_is_told_what_is_wrong_with_the_settings() {
    let home = home_with("config_told", "enabeld = false");
    let mut peer = wrapped(&home, &[]);
    for request in [&initialize("any"), DISCOVER, &call(7, "bytes", 5)] {
        let told = refusal(&mut peer, request);
        assert!(told.starts_with("Forebay cannot start: the settings cannot be used:"), "{told}");
        assert!(told.contains("forebay.toml:1: there is no setting `enabeld`"), "{told}");
    }
    peer.close_input();
    assert_eq!(peer.wait().code(), Some(2));
}

#[test]
fn a_client_is_told_what_is_wrong_with_the_command_line() {
    let fixture = programs::fixture_upstream();
    for (options, expected, code) in [
        (&["wrap", "--treshold", "5"][..], "there is no option `--treshold`", 2),
        (&["wrap", "--grace", "soon"], "write a number of seconds", 2),
        (&["wrap", "--record", "/dev/null/nowhere"], "cannot record to `/dev/null/nowhere`", 1),
    ] {
        let mut peer = Peer::start(forebay(options).arg("--").arg(&fixture));
        let told = refusal(&mut peer, &initialize("any"));
        assert!(told.starts_with("Forebay cannot start: ") && told.contains(expected), "{told}");
        peer.close_input();
        assert_eq!(peer.wait().code(), Some(code));
    }
}

#[test]
fn a_client_over_http_is_told_what_is_wrong_with_the_settings() {
    let home = home_with("config_told_http", "keep_argument = false");
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--"]);
    let command = command.arg(programs::fixture_upstream()).env("FOREBAY_HOME", &home);
    let mut peer = HttpPeer::start(command);
    let json = [("Content-Type", "application/json")];
    for request in [&initialize("any"), DISCOVER] {
        let mut connection = peer.connect();
        connection.send("POST", "/mcp", &json, request.as_bytes());
        assert_eq!(connection.head().status, 200);
        let answer = connection.json();
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains("forebay.toml:1: there is no setting `keep_argument`"), "{told}");
    }
    let mut health = peer.connect();
    health.send("GET", "/healthz", &[], b"");
    assert_eq!(health.head().status, 503);
    assert_eq!(health.json()["status"], "refusing");
    peer.terminate();
    assert_eq!(peer.wait().code(), Some(2));
}

#[test]
fn what_is_sound_in_the_settings_holds_beside_a_mistake_that_is_passed_over() {
    let home = home_with(
        "config_passed_over",
        "treshold = 5\nsummary_tokens = \"few\"\n[tools.bytes]\nnever = true",
    );
    let mut peer = wrapped(&home, &[]);
    peer.ask(&initialize("other"));
    assert!(!is_kept(&mut peer, "bytes", 100_000));
    peer.close_input();
    let said = peer.wait_for_stderr();
    assert!(
        said.contains("there is no setting `treshold`; write `threshold`; passed over"),
        "{said}"
    );
    assert!(said.contains("`summary_tokens` cannot be \"few\""), "{said}");
}

#[test]
fn a_home_that_is_relative_is_refused_and_one_at_home_is_found() {
    let output = forebay(["datasets", "list"]).env("FOREBAY_HOME", "some/where").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("FOREBAY_HOME: cannot be `some/where`; write a path that begins"),
        "{said}"
    );

    let home = home_with("config_tilde", "");
    let mut command = forebay(["wrap", "--grace", "0.1", "--"]);
    command.arg(programs::fixture_upstream()).current_dir(&home);
    let mut peer = Peer::start(command.env("HOME", &home).env("FOREBAY_HOME", "~/x"));
    assert!(is_kept(&mut peer, "bytes", 100_000));
    assert!(home.join("x/datasets").exists() && !home.join("~").exists());
}

#[test]
fn a_variable_that_means_nothing_is_told_and_no_more() {
    let mut command = forebay(["wrap", "--", "true"]);
    let output = command.env("FOREBAY_TRESHOLD", "5").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("WARN FOREBAY_TRESHOLD: there is no such setting; did you mean"),
        "{said}"
    );
}

#[test]
fn a_session_that_keeps_nothing_opens_no_store() {
    let home = home_with("config_lazy", "");
    let mut peer = wrapped(&home, &[]);
    peer.ask(&initialize("other"));
    assert!(!is_kept(&mut peer, "bytes", 5_000));
    let files: Vec<_> =
        fs::read_dir(&home).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["forebay.toml"]);
}
