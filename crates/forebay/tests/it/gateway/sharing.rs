//! Sessions of an endpoint share a server's process, or each has its own.

use std::path::Path;

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::json;

use super::{fixture, server, write_settings};
use crate::forebay;

fn serve(home: &Path, settings: &str) -> HttpPeer {
    write_settings(home, settings);
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--log-level", "info"]);
    HttpPeer::start(command.env("FOREBAY_HOME", home))
}

/// The processes that have been started, by what the log says.
fn started(peer: &HttpPeer) -> Vec<i32> {
    let said = peer.stderr();
    let pids = said.lines().filter(|line| line.contains("upstream started"));
    pids.map(|line| line.rsplit("pid=").next().unwrap().trim().parse().unwrap()).collect()
}

/// Calls the server of the settings, and sees to it that the answer is to this call.
fn echoes(client: &mut McpHttpClient, word: &str) {
    let answer = client.call_tool("one__echo", &json!({ "word": word }));
    assert!(answer["result"].to_string().contains(word), "{answer}");
}

#[test]
fn sessions_share_a_server_where_its_era_or_its_settings_allow() {
    for (era, sharing, processes) in [
        ("legacy", "auto", 3),
        ("modern", "auto", 1),
        ("legacy", "shared", 1),
        ("modern", "apart", 3),
    ] {
        let home = tempfile::tempdir().unwrap();
        let more = format!("sharing = \"{sharing}\"");
        let peer = serve(home.path(), &server("one", &fixture(&["--era", era]), &more));
        let mut clients: Vec<_> = (0..3).map(|_| McpHttpClient::legacy(&peer)).collect();
        for round in 0..3 {
            for (number, client) in clients.iter_mut().enumerate() {
                echoes(client, &format!("{number}-{round}"));
            }
        }
        assert_eq!(started(&peer).len(), processes, "{era}, {sharing}: {}", peer.stderr());
        // Who leaves does not take the server from the others.
        let mut last = clients.pop().unwrap();
        for mut client in clients {
            assert_eq!(client.delete(), 204);
        }
        echoes(&mut last, "alone");
        assert_eq!(started(&peer).len(), processes, "{era}, {sharing}");
    }
}

#[test]
fn a_shared_server_that_is_killed_is_started_once_for_all() {
    let home = tempfile::tempdir().unwrap();
    let settings = server("one", &fixture(&["--era", "legacy"]), "sharing = \"shared\"");
    let peer = serve(home.path(), &settings);
    let mut clients: Vec<_> = (0..3).map(|_| McpHttpClient::legacy(&peer)).collect();
    for client in &mut clients {
        echoes(client, "before");
    }
    let [pid] = started(&peer)[..] else { panic!("{}", peer.stderr()) };
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    eventually("it is started again", || started(&peer).len() == 2);
    for client in &mut clients {
        echoes(client, "after");
    }
    assert_eq!(started(&peer).len(), 2);
}
