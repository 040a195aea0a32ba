//! What was kept is damaged, missing or cannot be written: commands say so, and give out nothing wrong.

use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use forebay_store::{Dataset, DatasetId, Durability, Filter, Store};
use forebay_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::{forebay, home, text_of};

/// A home with the orders of the demo's server, whose rows are made.
pub(crate) fn with_orders(test: &str) -> (PathBuf, Dataset) {
    let home = home().join("rot").join(test);
    let _ = fs::remove_dir_all(&home);
    let mut command = forebay(["wrap", "--name", "shop", "--"]);
    command.arg(env!("CARGO_BIN_EXE_forebay")).arg("demo-server").env("FOREBAY_HOME", &home);
    let mut peer = Peer::start(&mut command);
    let params = json!({"name": "list_orders", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    assert!(text_of(&peer.ask(&call.to_string())).starts_with("Large response detected"));
    peer.close_input();
    peer.wait();
    assert_eq!(said(&home, &["query", COUNT, "--csv"]).0, ANSWER);
    let store = Store::open(&home, Durability::default()).unwrap();
    let id = store.list(&Filter::default()).unwrap().remove(0).id;
    let dataset = store.dataset(&id).unwrap();
    (home, dataset)
}

const COUNT: &str = "SELECT count(*) AS orders, min(id) AS first FROM list_orders";
const ANSWER: &str = "orders,first\n5000,100000\n";

fn said(home: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    ended(forebay(arguments).env("FOREBAY_HOME", home))
}

fn ended(command: &mut Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Changes one bit in the middle of a file.
pub(crate) fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_payload_is_an_error_wherever_it_would_be_given_out() {
    let (home, dataset) = with_orders("payload");
    flip(&dataset.path(0));
    let id = dataset.id().as_str();
    let damaged = format!("the data file `{}` is damaged", dataset.path(0).display());
    for command in [
        &["datasets", "original", id][..],
        &["datasets", "path", id],
        &["read", id, "--lines", "1-2"],
        &["read", id, "--grep", "delivered"],
    ] {
        let (nothing, told, code) = said(&home, command);
        assert_eq!((nothing.as_str(), code), ("", Some(1)), "{command:?}");
        let told = told.replacen("The data", "the data", 1);
        assert!(told.contains(&damaged), "{command:?}: {told}");
    }
    fs::remove_file(dataset.rows_path(0)).unwrap();
    let (nothing, told, _) = said(&home, &["query", COUNT]);
    assert!(nothing.is_empty() && told.contains(&damaged), "no rows are made of it: {told}");
}

#[test]
fn damaged_rows_are_made_again() {
    let (home, dataset) = with_orders("rows");
    let rows = dataset.rows_path(0);
    let whole = fs::read(&rows).unwrap();
    let damages: [&dyn Fn(); 4] = [
        &|| flip(&rows),
        &|| fs::write(&rows, &whole[..whole.len() / 2]).unwrap(),
        &|| fs::write(&rows, b"PAR1PAR1").unwrap(),
        &|| {
            let _ = fs::remove_file(format!("{}.blake3", rows.display()));
        },
    ];
    for damage in damages {
        damage();
        assert_eq!(
            said(&home, &["query", COUNT, "--csv"]),
            (ANSWER.to_owned(), String::new(), Some(0))
        );
    }
    assert_eq!(said(&home, &["datasets", "verify"]).2, Some(0), "the file itself is sound again");
}

#[test]
fn a_worker_notices_rows_that_change_between_two_queries() {
    let mut client = crate::tools::Client::new("rot");
    let id = client.keep_orders(1_000);
    let query = format!("SELECT sum(id) AS s FROM {id}");
    assert_eq!(client.analyze(&query).rows(), "s\n499500");
    let store = Store::open(&client.home, Durability::default()).unwrap();
    let rows = store.dataset(&DatasetId::parse(&id).unwrap()).unwrap().rows_path(0);
    let bytes = fs::read(&rows).unwrap();
    fs::write(&rows, &bytes[..bytes.len() / 3]).unwrap();
    assert_eq!(client.analyze(&query).rows(), "s\n499500");
}

#[test]
fn verify_tells_what_is_damaged_and_repairs_it() {
    let (home, dataset) = with_orders("verify");
    let id = dataset.id().as_str();
    let (shown, told, code) = said(&home, &["datasets", "verify"]);
    assert!(
        shown.starts_with("1 dataset checked (") && shown.ends_with("): all is as it was kept.\n")
    );
    assert_eq!((told.as_str(), code), ("", Some(0)));
    flip(&dataset.path(0));
    let (shown, _, code) = said(&home, &["datasets", "verify"]);
    let start =
        format!("{id}: the data file `{}` is damaged: it is not ", dataset.path(0).display());
    assert!(shown.starts_with(&start) && shown.contains("1 fault found"), "{shown}");
    assert!(shown.contains("`forebay datasets verify --repair`"), "{shown}");
    assert_eq!(code, Some(1));
    let (shown, _, code) = said(&home, &["datasets", "verify", "--json"]);
    let findings: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&findings["datasets"], code), (&json!(1), Some(1)));
    assert_eq!(
        (&findings["faults"][0]["id"], &findings["faults"][0]["remedy"]),
        (&json!(id), &Value::Null)
    );
    let (shown, told, code) = said(&home, &["datasets", "verify", "--repair"]);
    assert!(shown.contains(" (set aside)\n"), "{shown}");
    assert_eq!(code, Some(0), "{told}");
    let name = dataset.path(0).file_name().unwrap().to_owned();
    assert!(home.join("damaged").join(name).exists());
    assert_eq!(said(&home, &["datasets", "verify"]).2, Some(0));
}

#[test]
fn damaged_metadata_are_told_with_what_to_do_and_not_for_ever() {
    let (home, dataset) = with_orders("metadata");
    let id = dataset.id().as_str();
    let path = dataset.path(0).with_file_name(format!("{id}_metadata.json"));
    flip(&path);
    for file in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let _ = fs::remove_file(home.join(file));
    }
    let (_, told, code) = said(&home, &["datasets", "show", id]);
    assert!(told.contains("forebay datasets verify --repair") && code == Some(1), "{told}");
    assert!(told.contains(path.to_str().unwrap()), "{told}");
    said(&home, &["datasets", "verify", "--repair"]);
    let listed = said(&home, &["datasets", "list"]);
    assert_eq!(listed, ("Nothing has been kept yet.\n".to_owned(), String::new(), Some(0)));
}

#[test]
fn who_only_looks_makes_nothing() {
    let nowhere = home().join("rot").join("nowhere");
    let _ = fs::remove_dir_all(&nowhere);
    for (command, code) in [
        (&["datasets", "list"][..], 0),
        (&["datasets", "list", "--json"], 0),
        (&["datasets", "show", "k3v9x2ma"], 3),
        (&["datasets", "path", "k3v9x2ma"], 3),
        (&["datasets", "original", "k3v9x2ma"], 3),
        (&["datasets", "rm", "k3v9x2ma"], 3),
        (&["datasets", "gc"], 0),
        (&["datasets", "verify"], 0),
        (&["stats"], 0),
        (&["query", "SELECT 1"], 3),
        (&["read", "k3v9x2ma"], 3),
        (&["export", "k3v9x2ma", "--format", "csv"], 3),
    ] {
        let ended = said(&nowhere, command);
        assert_eq!(ended.2, Some(code), "{command:?}: {ended:?}");
        assert!(!nowhere.exists(), "{command:?}");
    }
}

/// Makes a folder and all in it readable for everyone, and writable for nobody.
fn make_read_only(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            make_read_only(&entry.unwrap().path());
        }
    }
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn where_nothing_can_be_written_what_was_kept_is_listed_read_and_queried() {
    const NOBODY: u32 = 65_534;
    let (kept, dataset) = with_orders("read_only");
    // Outside of directories that only this user may enter.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let (home, program) = (place.path().join("home"), place.path().join("forebay"));
    fs::remove_file(dataset.rows_path(0)).unwrap();
    assert!(Command::new("cp").arg("-r").args([&kept, &home]).status().unwrap().success());
    fs::copy(env!("CARGO_BIN_EXE_forebay"), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let temporary = place.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    fs::set_permissions(&temporary, Permissions::from_mode(0o777)).unwrap();
    make_read_only(&home);
    let said = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env_clear().env("FOREBAY_HOME", &home).env("TMPDIR", &temporary);
        // Nothing is read-only for the one who may do anything.
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        ended(&mut command)
    };
    let id = dataset.id().as_str();
    let (listed, told, code) = said(&["datasets", "list"]);
    assert!(listed.contains(id) && listed.contains("5,000"), "{listed}{told}");
    assert_eq!((told.as_str(), code), ("", Some(0)));
    assert_eq!(said(&["query", COUNT, "--csv"]), (ANSWER.to_owned(), String::new(), Some(0)));
    for command in [
        &["datasets", "show", id][..],
        &["datasets", "original", id],
        &["datasets", "path", id],
        &["datasets", "verify"],
        &["read", id, "--limit", "2"],
        &["read", id, "--grep", "delivered"],
        &["stats"],
    ] {
        let (shown, told, code) = said(command);
        assert!(!shown.is_empty() && code == Some(0), "{command:?}: {told}");
    }
}
