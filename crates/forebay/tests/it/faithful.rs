//! Sessions with real servers, byte for byte: what enters Forebay on one side leaves it on the other.
//!
//! `client → tap → forebay → tap → server`: each tap keeps a copy of the bytes in both directions,
//! and the copies on the two sides of Forebay must be equal. Where a server lists output schemas, or
//! has large results, nothing is kept.

use std::{fs, path::PathBuf, process::Command};

use forebay_testkit::{programs, real};

use crate::{home, without_settings};

/// Drives a session of `kind` with `server` and compares what the taps have seen.
fn passes_unchanged(kind: &str, options: &[&str], server: &[String], python: &real::Python) {
    let directory = home().join("faithful").join(kind);
    let _ = fs::remove_dir_all(&directory);
    let work = directory.join("work");
    fs::create_dir_all(&work).unwrap();
    let file = |name: &str| -> PathBuf { directory.join(name) };

    let mut client = python.script("clients/py_session.py").into_iter();
    let mut command = Command::new(client.next().unwrap());
    command
        .args(client)
        .arg(kind)
        .arg(&work)
        .arg("--")
        .arg(programs::tap())
        .args([file("client.in"), file("client.out")])
        .arg(env!("CARGO_BIN_EXE_forebay"))
        .arg("wrap")
        .args(options)
        .arg("--")
        .arg(programs::tap())
        .args([file("upstream.in"), file("upstream.out")])
        .args(server);
    let output = without_settings(&mut command).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["calls"].as_u64().unwrap() >= 6, "{report}");

    for name in ["in", "out"] {
        let at_client = fs::read(file(&format!("client.{name}"))).unwrap();
        let at_upstream = fs::read(file(&format!("upstream.{name}"))).unwrap();
        assert!(at_client.len() > 1000, "messages have passed");
        assert!(at_client == at_upstream, "{kind}: what went {name} differs");
    }
}

#[test]
fn a_session_with_server_everything_passes_unchanged() {
    let test = "a_session_with_server_everything_passes_unchanged";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let server = [node.server("server-everything"), vec!["stdio".to_owned()]].concat();
    passes_unchanged("everything", &["--no-capture"], &server, python);
}

#[test]
fn a_session_with_server_filesystem_passes_unchanged() {
    let test = "a_session_with_server_filesystem_passes_unchanged";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    let work = home().join("faithful/filesystem/work").display().to_string();
    let server = [node.server("server-filesystem"), vec![work]].concat();
    passes_unchanged("filesystem", &["--no-capture"], &server, python);
}

#[test]
fn a_session_with_server_memory_passes_unchanged() {
    let test = "a_session_with_server_memory_passes_unchanged";
    let (Some(node), Some(python)) = (real::node(test), real::python(test)) else { return };
    passes_unchanged("memory", &["--no-capture"], &node.server("server-memory"), python);
}

#[test]
fn a_session_with_mcp_server_git_passes_unchanged() {
    let Some(python) = real::python("a_session_with_mcp_server_git_passes_unchanged") else {
        return;
    };
    // No result of its is large, and its tools have no output schemas.
    passes_unchanged("git", &["--tools", "none"], &python.module("mcp_server_git"), python);
}

#[test]
fn a_session_with_mcp_server_time_passes_unchanged() {
    let Some(python) = real::python("a_session_with_mcp_server_time_passes_unchanged") else {
        return;
    };
    passes_unchanged("time", &["--no-capture"], &python.module("mcp_server_time"), python);
}
