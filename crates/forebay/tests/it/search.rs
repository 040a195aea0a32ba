//! What is kept is indexed: in the background, by the command, by many at once; and gone with its dataset.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Child,
};

use forebay_embed::Local;
use forebay_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::{forebay, home, in_the_background, text_of};

fn empty(test: &str) -> PathBuf {
    let home = home().join("search").join(test);
    let _ = fs::remove_dir_all(&home);
    home
}

/// A session with the demo's server whose orders have been kept.
fn session(home: &Path, embedder: &str) -> Peer {
    let mut command = forebay(["wrap", "--name", "shop", "--"]);
    command.arg(env!("CARGO_BIN_EXE_forebay")).arg("demo-server").env("FOREBAY_HOME", home);
    command.env("FOREBAY_SEARCH_QUIET_SECONDS", "0").env("FOREBAY_SEARCH_EMBEDDER", embedder);
    let mut peer = Peer::start(&mut command);
    let params = json!({"name": "list_orders", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    assert!(text_of(&peer.ask(&call.to_string())).starts_with("Large response detected"));
    peer
}

fn keep_orders(home: &Path) {
    let mut peer = session(home, "none");
    peer.close_input();
    peer.wait();
}

/// What a command prints, what it says, and its code.
fn said(home: &Path, embedder: &str, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = forebay(arguments);
    command.env("FOREBAY_HOME", home).env("FOREBAY_SEARCH_EMBEDDER", embedder);
    let output = command.env("FOREBAY_SEARCH_MAX_VECTORS", "3").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn status(home: &Path, embedder: &str) -> Value {
    let (counts, told, code) = said(home, embedder, &["index", "status", "--json"]);
    assert_eq!(code, Some(0), "{told}");
    serde_json::from_str(&counts).unwrap()
}

#[test]
fn what_is_kept_is_indexed_while_the_session_goes_on() {
    let home = empty("background");
    let mut peer = session(&home, "none");
    in_the_background("it is indexed", || {
        let counts = status(&home, "none");
        counts["datasets"] == 1 && counts["waiting"] == 0
    });
    assert!(status(&home, "none")["passages"].as_u64().unwrap() > 50);
    peer.close_input();
    peer.wait();
}

#[test]
fn the_command_makes_the_index_anew_with_the_model_of_the_program() {
    let test = "the_command_makes_the_index_anew_with_the_model_of_the_program";
    if !Local::is_inside() {
        let must = std::env::var("FOREBAY_TEST_PEERS").is_ok_and(|value| value == "required");
        assert!(!must, "the program was built without its embedding model");
        let said = "needs the embedding model, which pip fetches";
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {said}");
        return;
    }
    let home = empty("rebuild");
    assert_eq!(said(&home, "inside", &["index", "rebuild"]).2, Some(0));
    assert!(!home.exists(), "nothing is made where nothing was kept");
    keep_orders(&home);
    let told = said(&home, "inside", &["index", "rebuild"]);
    let expected = "1 dataset indexed, by words and by meaning.\n".to_owned();
    assert_eq!(told, (expected, String::new(), Some(0)));
    let counts = status(&home, "inside");
    assert_eq!((&counts["vectors"], &counts["without_vectors"]), (&json!(3), &json!(0)));
    let without = counts["passages"].as_u64().unwrap() - 3;
    assert_eq!(counts["passages_without_vectors"], without);
    let (told, ..) = said(&home, "inside", &["index", "status"]);
    assert!(told.contains(&format!("\n{without} passages without a vector.\n")), "{told}");
    fs::write(home.join("search.db"), b"no database").unwrap();
    assert_eq!(status(&home, "inside")["waiting"], 1);
    assert_eq!(said(&home, "inside", &["index", "rebuild"]).2, Some(0));
    assert_eq!(status(&home, "inside"), counts, "it is as it was");
}

#[test]
fn a_rebuild_with_an_embedder_that_is_down_fails_and_changes_nothing() {
    let home = empty("down");
    keep_orders(&home);
    assert_eq!(said(&home, "none", &["index", "rebuild"]).2, Some(0));
    let before = status(&home, "none");
    let with_service = |arguments: &[&str], key: &str| {
        let output = forebay(arguments)
            .env("FOREBAY_HOME", &home)
            .env("FOREBAY_SEARCH_EMBEDDER", "service")
            .env("FOREBAY_SEARCH_EMBEDDER_URL", "http://127.0.0.1:1")
            .env("FOREBAY_SEARCH_EMBEDDER_MODEL", "a-model")
            .env("FOREBAY_SEARCH_EMBEDDER_KEY_VARIABLE", key)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    // One that is down, and one that is not even asked since there is no key for it.
    for (key, code) in [("", 1), ("FOREBAY_TEST_NO_SUCH_KEY", 4)] {
        let (told, why, ended) = with_service(&["index", "rebuild"], key);
        assert_eq!((told.as_str(), ended), ("", Some(code)), "{why}");
        assert!(why.contains("`search.embedder = \"none\"`"), "{why}");
        assert_eq!(status(&home, "none"), before);
    }
    let (told, ..) = with_service(&["index", "status"], "");
    assert!(
        told.contains("1 dataset so far found by words alone, not by meaning: a running"),
        "{told}"
    );
    let (told, why, code) = with_service(&["stats"], "");
    assert!(told.contains("1 failure of the embedder"), "{code:?} {told}{why}");
}

#[test]
fn what_is_removed_by_hand_is_gone_from_the_index() {
    let home = empty("removed");
    keep_orders(&home);
    said(&home, "none", &["index", "rebuild"]);
    let holds = |word: &str| {
        ["search.db", "search.db-wal"].iter().any(|name| {
            let bytes = fs::read(home.join(name)).unwrap_or_default();
            bytes.windows(word.len()).any(|part| part == word.as_bytes())
        })
    };
    assert!(holds("list_orders"));
    let (_, told, code) = said(&home, "none", &["datasets", "rm", "--all", "--yes"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(!holds("list_orders"), "neither as text nor as words");
    assert_eq!(status(&home, "none")["datasets"], 0);
}

#[test]
fn whoever_is_no_terminal_is_told_what_the_search_waits_for() {
    let home = empty("waits");
    keep_orders(&home);
    said(&home, "none", &["index", "rebuild"]);
    let waits = "waiting until 1 dataset is indexed";
    let (_, told, code) = said(&home, "none", &["search", "orders"]);
    assert!(code == Some(0) && !told.contains(waits), "{told}");
    fs::remove_file(home.join("search.db")).unwrap();
    let (found, told, code) = said(&home, "none", &["search", "orders"]);
    assert!(code == Some(0) && found.contains("list_orders of shop"), "{found}{told}");
    assert_eq!(told.matches(waits).count(), 1, "{told}");
}

#[test]
fn many_processes_make_one_index() {
    let home = empty("many");
    keep_orders(&home);
    let start = |_| {
        let mut command = forebay(["index", "rebuild"]);
        command.env("FOREBAY_HOME", &home).env("FOREBAY_SEARCH_EMBEDDER", "none").spawn().unwrap()
    };
    let processes: Vec<Child> = (0..4).map(start).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let counts = status(&home, "none");
    assert_eq!((&counts["datasets"], &counts["waiting"]), (&json!(1), &json!(0)));
}

#[test]
fn an_index_that_is_turned_off_is_not_there() {
    let home = empty("off");
    let mut command = forebay(["index", "status"]);
    let output = command.env("FOREBAY_HOME", &home).env("FOREBAY_SEARCH_ENABLED", "false").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8(output.stderr).unwrap().contains("search.enabled"));
}
